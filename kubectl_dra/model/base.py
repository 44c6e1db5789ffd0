"""The common base of all API records; no API field lives here."""

from __future__ import annotations

from typing import Annotated, TypeVar

import msgspec

# What the API calls int64; a number beyond it makes the object unreadable, as it does for the API server.
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Record(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """An API object or a part of one: immutable, fields in snake_case, JSON in the API's camelCase.

    A field that is absent in JSON has its default and is left out again when encoded. Where the API distinguishes
    "absent" from "empty", the field is ``| None``. Lists are tuples; maps are dicts that nobody may change.
    """


RecordT = TypeVar("RecordT", bound=Record)


def with_spec(record: RecordT, **fields: object) -> RecordT:
    """The object with other ``fields`` of its ``spec``."""
    return msgspec.structs.replace(record, spec=msgspec.structs.replace(record.spec, **fields))  # type: ignore[attr-defined]


class ReportRecord(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Base of all records of ours that become JSON. Every field is always present, so that scripts can rely on it.

    Texts that say nothing are empty, lists and maps of nothing too; only numbers, truth values and records can be null.
    Not watched for cycles: a record is made of records that are there already.
    """

    def for_json(self) -> ReportRecord:
        """What becomes JSON: the same, unless evidence would stand in it twice."""
        return self
