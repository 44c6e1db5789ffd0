"""Encoding: a record as the JSON of its kind, in the best version that can hold it or in any other."""

from __future__ import annotations

from typing import Final

import msgspec

from kubectl_dra.api.generations import shape_of
from kubectl_dra.api.kinds import Kind
from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.api.shapes import Shape
from kubectl_dra.model import classic
from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import LocalObject

_encoder: Final = msgspec.json.Encoder(enc_hook=encode_hook)


def encode(record: Record, kind: Kind, api_version: str = "") -> bytes:
    """The object as JSON, ``apiVersion`` and ``kind`` first. Text is UTF-8; escaping is the writer's business.

    What ``api_version`` can't express is left out; ``convert`` names it. The default is the kind's best version, or the
    one that alone has what a classic object says. Raises
    :class:`~kubectl_dra.api.generations.UnsupportedVersionError` for a version without this kind.
    """
    if isinstance(record, LocalObject):
        # Items of a server's list don't say what they are.
        version = record.api_version or kind.api_version
        return _encoder.encode(msgspec.structs.replace(record, api_version=version, kind=record.kind or kind.name))
    api_version = api_version or _only_version(record, kind) or kind.api_version
    shape = shape_of(api_version, kind)
    body = _encoder.encode(_plain(record, shape) if shape.from_record is None else shape.from_record(record))
    head = _encoder.encode({"apiVersion": api_version, "kind": shape.kind or kind.name})
    return head[:-1] + (b"," if len(body) > 2 else b"") + body[1:]


def _only_version(record: Record, kind: Kind) -> str:
    """The version of an object with a part that no other version has; empty for all others."""
    if isinstance(record, classic.ClassicResourceClaim | classic.ClassicResourceClaimTemplate):
        return kind.api_version_of("v1alpha2" if record.classic.resource_class_name else "v1alpha3")
    if isinstance(record, classic.NamedResourcesSlice):
        return kind.api_version_of("v1alpha2")
    return kind.api_version_of("v1alpha3") if isinstance(record, classic.ClassicDeviceClass) else ""


def _plain(record: Record, shape: Shape) -> msgspec.Struct:
    """The record without what a subclass for an older generation adds."""
    if type(record) is shape.struct:
        return record
    return shape.struct(**{name: getattr(record, name) for name in shape.struct.__struct_fields__})


def encode_part(part: object) -> bytes:
    """Any part of an object (a selector, a result) as JSON."""
    return _encoder.encode(part)
