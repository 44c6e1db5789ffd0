"""Decoding: bytes of an object or of a list into records of the v1 shape, straight from the bytes.

A list is read as its header plus the raw bytes of each item, so that one bad object costs only itself: it becomes a
:class:`BadObject` that says which it was and what is wrong where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.generations import UnsupportedVersionError, shape_of
from kubectl_dra.api.kinds import Kind, find_kind
from kubectl_dra.api.shapes import Shape
from kubectl_dra.api.sharing import share
from kubectl_dra.api.trees import in_utf8, read_fields, read_tree
from kubectl_dra.model.base import Record
from kubectl_dra.model.evidence import BadObject

#: A list of more bytes than these is decoded item by item, so that other threads have their turn.
_AT_ONCE: Final = 4 << 20


class ListMeta(Record, frozen=True):
    """``metadata`` of a list: where it stands, and how to get its next chunk."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int = 0


class _Metadata(msgspec.Struct):
    name: str | None = None
    namespace: str | None = None


class _Header(msgspec.Struct, rename="camel"):
    api_version: str | None = None
    kind: str | None = None
    metadata: _Metadata | None = None


class _ListHeader(msgspec.Struct, rename="camel"):
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | None = None


class ListPage(msgspec.Struct, frozen=True):
    """A decoded list or one chunk of it."""

    metadata: ListMeta
    records: tuple[Record, ...]
    bad_objects: tuple[BadObject, ...]


class DecodeError(ValueError):
    """Raised for one object that can't be decoded; the text starts with the path that is wrong."""


_header: Final = msgspec.json.Decoder(_Header)
_list_header: Final = msgspec.json.Decoder(_ListHeader)


def decode_object(data: bytes, api_version: str, kind: Kind) -> Record:
    """Decode one object of a known kind and version. Raises :class:`DecodeError`."""
    try:
        shape = shape_of(api_version, kind)
    except UnsupportedVersionError as error:
        raise DecodeError(str(error)) from error
    record = _decode(data, shape)
    if not record.metadata.name:
        raise DecodeError("metadata.name: missing")
    record = record if shape.to_record is None else shape.to_record(record)
    share(record)
    return record


def decode_alike(data: bytes, api_version: str, kind: Kind) -> list[Record] | None:
    """Decode an array of objects of one kind and version at once; None where one of them needs a closer look."""
    try:
        shape = shape_of(api_version, kind)
        return _finished(_at_once(data, list[shape.struct]), shape)  # type: ignore[name-defined]
    except (ValueError, RecursionError):
        return None


def _at_once(data: bytes, form: Any) -> Any:  # noqa: ANN401 - what the form says
    if not data.isascii():
        data.decode()  # the decoder does not look into parts that are kept raw
    return _decoder(form).decode(data)


def _finished(records: list[Any], shape: Shape) -> list[Record] | None:
    """The records of what was decoded at once; None where one has no name."""
    if not all(record.metadata.name for record in records):
        return None
    if shape.to_record is not None:
        records = [shape.to_record(record) for record in records]
    for record in records:
        share(record)
    return records


def decode_page(data: bytes, api_version: str, kind: Kind) -> ListPage:
    """Decode a typed list as a server sends it. Raises :class:`DecodeError` if it is no list at all."""
    whole = _whole_page(data, api_version, kind) if len(data) <= _AT_ONCE else None
    if whole is not None:
        return whole
    try:
        header = _list_header.decode(data)
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"not a list of {kind.plural}: {error}") from error
    records: list[Record] = []
    bad: list[BadObject] = []
    for outcome in decode_items(header.items or (), api_version, kind):
        (bad if isinstance(outcome, BadObject) else records).append(outcome)  # type: ignore[arg-type]
    return ListPage(header.metadata or ListMeta(), tuple(records), tuple(bad))


def _whole_page(data: bytes, api_version: str, kind: Kind) -> ListPage | None:
    """The list decoded at once; None where one of its items needs a closer look."""
    try:
        shape = shape_of(api_version, kind)
        found = _at_once(data, _list_of(shape.struct))
        records = _finished(found.items or [], shape)
    except (ValueError, RecursionError):
        return None
    return None if records is None else ListPage(found.metadata or ListMeta(), tuple(records), ())


@cache
def _list_of(struct: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The form of a list of such objects."""
    fields = [("metadata", ListMeta | None, None), ("items", list[struct] | None, None)]  # type: ignore[valid-type]
    return msgspec.defstruct("ListOf", fields)


def decode_items(items: Iterable[msgspec.Raw], api_version: str, kind: Kind) -> Iterator[Record | BadObject]:
    """Decode the items of a typed list one by one, in order."""
    for index, item in enumerate(items):
        data = bytes(item)
        try:
            yield decode_object(data, api_version, kind)
        except DecodeError as error:
            yield bad_object(data, kind.name, str(error), f"item {index}")


def decode_any(data: bytes, api_version: str = "", kind_name: str = "") -> tuple[Kind, Record] | BadObject | None:
    """Decode an object that says itself what it is, or else is what the arguments say; None if it is none of ours."""
    try:
        header = read_header(data)
    except DecodeError as error:
        return bad_object(data, kind_name, str(error))
    api_version, kind_name = header.api_version or api_version, header.kind or kind_name
    kind = find_kind(api_version, kind_name)
    if kind is None:
        return None
    try:
        return kind, decode_object(data, api_version, kind)
    except DecodeError as error:
        return bad_object(data, kind.name, str(error))


def read_header(data: bytes) -> _Header:
    """``apiVersion``, ``kind`` and the name of any object. Raises :class:`DecodeError`."""
    try:
        return _header.decode(data)
    except (ValueError, RecursionError):
        return _header.decode(_repaired(data, _Header))


def bad_object(data: bytes, kind: str, error: str, origin: str = "") -> BadObject:
    """The record of an object that could not be decoded, named as far as its bytes tell."""
    try:
        header = read_header(data)
    except DecodeError:
        header = _Header(kind=_kind(data))
    metadata = header.metadata or _Metadata()
    return BadObject(kind or header.kind or "", metadata.namespace or "", metadata.name or "", error, origin)


def _kind(data: bytes) -> str:
    """The kind of an object whose header is broken elsewhere."""
    fields = read_fields(in_utf8(data))
    kind = read_tree(bytes(fields["kind"])) if "kind" in fields else ""
    return kind if isinstance(kind, str) else ""


def _decode(data: bytes, shape: Shape) -> Any:  # noqa: ANN401 - the shape's struct
    decoder = _decoder(shape.struct)
    try:
        if not data.isascii():
            data.decode()  # the decoder does not look into parts that are kept raw
        return decoder.decode(data)
    except (ValueError, RecursionError):
        return _decode_repaired(data, shape.struct)


def _decode_repaired(data: bytes, struct: type[msgspec.Struct]) -> Any:  # noqa: ANN401
    try:
        return _decoder(struct).decode(_repaired(data, struct))
    except (ValueError, RecursionError) as error:
        raise DecodeError(str(error)) from error


def _repaired(data: bytes, struct: type[msgspec.Struct]) -> bytes:
    from kubectl_dra.api.repair import ShapeError, repaired  # only broken objects need it

    try:
        return repaired(data, struct)
    except ShapeError as error:
        raise DecodeError(str(error)) from error


@cache
def _decoder(form: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 - a struct, or a list of one
    return make_decoder(form, numbers_as_text=True)
