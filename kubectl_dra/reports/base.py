"""What all reports share: the base record, references to objects, how sure a number is, and what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec

from kubectl_dra.diagnosis.records import Bound as DiagnosisBound
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.features import Features, gates_of

T_co = TypeVar("T_co", covariant=True)


class Series(Iterable[T_co]):
    """What is made anew, one by one, each time somebody goes through it, because there may be too many to hold."""

    def __init__(self, make: Callable[[], Iterator[T_co]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[T_co]:
        """All of them, from the first."""
        return self._make()


class ReportRecord(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Part of a report. Every field is always present in JSON, so that scripts can rely on it.

    Not watched for cycles: a record is made of records that are there already.
    """


class Bound(StrEnum):
    """How a number relates to the truth."""

    EXACT = "="
    AT_LEAST = ">="
    AT_MOST = "<="
    UNKNOWN = "?"


class Count(ReportRecord, frozen=True):
    """A number and how sure it is."""

    value: int
    bound: Bound = Bound.EXACT


class ObjectRef(ReportRecord, frozen=True):
    """An object; the namespace is empty for cluster-scoped kinds."""

    kind: str
    name: str
    namespace: str = ""
    uid: str = ""


class ReadRecord(ReportRecord, frozen=True):
    """One list that the report rests on."""

    kind: str
    namespace: str
    coverage: Coverage
    resource_version: str
    time: str


def reads_of(evidence: Evidence) -> tuple[ReadRecord, ...]:
    """What was read, in the order in which it was read."""
    return tuple(ReadRecord(r.kind, r.namespace, r.coverage, r.resource_version, r.time) for r in evidence.reads)


def assumptions_of(evidence: Evidence) -> tuple[str, ...]:
    """Kinds that were taken as having no objects because a plain list does not mention them."""
    return tuple(sorted({read.kind for read in evidence.reads if read.coverage is Coverage.ASSUMED}))


def feature_record(features: Features) -> Mapping[str, bool | int | str]:
    """The gates that the answer assumes, the minor version behind them, and the allocator that they choose."""
    return {**gates_of(features), "minor": features.minor, "implementation": features.implementation}


# How a number of a diagnosis is written before it.
BOUND_SIGNS: Final[Mapping[DiagnosisBound, str]] = MappingProxyType(
    {
        DiagnosisBound.EXACT: "",
        DiagnosisBound.AT_LEAST: "≥",
        DiagnosisBound.AT_MOST: "≤",
        DiagnosisBound.UNKNOWN: "?",
    }
)
