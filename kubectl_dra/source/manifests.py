"""From the bytes of a file to objects: JSON, JSON streams, YAML documents, lists in lists, and snapshots.

Reads kubectl's ``List``, typed lists whose items don't repeat their kind, and ``items: null``. A broken document is an
error; a broken object only costs itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec

from kubectl_dra.api.decode import DecodeError, bad_object, decode_object, read_header
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.kinds import Kind, find_kind
from kubectl_dra.model.base import Record
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.snapshot import SNAPSHOT_API_VERSION, SNAPSHOT_KIND, SnapshotHeader, decode_header

_MAX_LISTS: Final = 16
_SPACE: Final = b" \t\r\n"
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Loaded(NamedTuple):
    """An object and where it stood."""

    kind: Kind
    record: Record
    origin: str


@dataclass(slots=True)
class Manifests:
    """What a file holds, in its order. ``other`` counts the kinds that are none of ours."""

    name: str
    objects: list[Loaded] = field(default_factory=list)
    bad_objects: list[BadObject] = field(default_factory=list)
    header: SnapshotHeader | None = None
    other: Counter[str] = field(default_factory=Counter)


class Written(NamedTuple):
    """One object as it was written, with what a typed list around it says of it."""

    data: bytes
    api_version: str
    kind: str


class _Envelope(msgspec.Struct, rename="camel"):
    """What tells an object from a list."""

    api_version: str | None = None
    kind: str | None = None
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


class _Document(NamedTuple):
    """One JSON value of the file: its number, the line where it starts, and the lines of its leaves if known."""

    data: bytes
    number: int
    line: int
    leaf_lines: Sequence[int] | None = None


class _Leaf(NamedTuple):
    """An object that is no list, or an item of a list that is no object."""

    data: bytes
    api_version: str
    kind: str
    problem: str = ""


_envelope: Final = msgspec.json.Decoder(_Envelope)
_array: Final = msgspec.json.Decoder(list[msgspec.Raw])


def read_manifests(data: bytes, name: str) -> Manifests:
    """All objects of a file's bytes, defaulted as the server would. Raises :class:`ManifestError`.

    Of equal keys in JSON the last counts, as the API server decodes it; in YAML they are an error, as for kubectl.
    """
    manifests = Manifests(name)
    data = _utf8(data)
    for document, depth in _deep(_documents(data, name)):
        _read_document(document, manifests, depth)
    return manifests


def read_written(data: bytes, name: str) -> list[Written]:
    """All objects of a file's bytes, not decoded, lists taken apart. Raises :class:`ManifestError`."""
    written: list[Written] = []
    for document, depth in _deep(_documents(_utf8(data), name)):
        place = f"{name}, document {document.number}, line {document.line}"
        leaves = _leaves(document.data, "", "", place, Manifests(name), depth)
        written += [Written(leaf.data, leaf.api_version, leaf.kind) for leaf in leaves]
    return written


def _deep(documents: Iterator[_Document]) -> Iterator[tuple[_Document, int]]:
    """Documents with the depth at which they stand: several of them are like the items of a list."""
    first, second = next(documents, None), next(documents, None)
    depth = 0 if second is None else 1
    known = (document for document in (first, second) if document is not None)
    return ((document, depth) for document in chain(known, documents))


def _read_document(document: _Document, manifests: Manifests, depth: int) -> None:
    place = f"{manifests.name}, document {document.number}"
    leaves = _leaves(document.data, "", "", f"{place}, line {document.line}", manifests, depth)
    for index, leaf in enumerate(leaves):
        try:
            _read_leaf(leaf, place, manifests)
        except DecodeError as error:
            origin = f"{place}, line {_line(document, leaf.data, index)}"
            manifests.bad_objects.append(bad_object(leaf.data, leaf.kind, str(error), origin))


def _read_leaf(leaf: _Leaf, place: str, manifests: Manifests) -> None:
    if leaf.problem:
        raise DecodeError(leaf.problem)
    kind = find_kind(leaf.api_version, leaf.kind)
    if kind is None:
        manifests.other[leaf.kind] += 1
        return
    manifests.objects.append(Loaded(kind, defaulted(decode_object(leaf.data, leaf.api_version, kind)), place))


def _leaves(data: bytes, api_version: str, kind: str, place: str, manifests: Manifests, depth: int) -> Iterator[_Leaf]:
    """The objects of one document: itself, or the items of the list that it is, lists in lists included."""
    try:
        envelope = _open_envelope(data)
    except DecodeError as error:
        yield _no_object(data, kind, str(error), place, depth)
        return
    if envelope.kind == SNAPSHOT_KIND and envelope.api_version == SNAPSHOT_API_VERSION:
        manifests.header = decode_header(data, place)
        api_version = kind = ""
    elif envelope.items is msgspec.UNSET or not _is_list(envelope.kind, kind):
        if not (envelope.kind or kind):
            yield _no_object(data, kind, "it has no kind", place, depth)
        else:
            yield _Leaf(data, envelope.api_version or api_version, envelope.kind or kind)
        return
    else:
        kind = (envelope.kind or "").removesuffix("List")
        api_version = (envelope.api_version or "") if kind else ""
    if depth >= _MAX_LISTS:
        raise ManifestError(f"{place}: lists are nested deeper than {_MAX_LISTS} levels", "take the inner lists out")
    for item in envelope.items or ():
        yield from _leaves(bytes(item), api_version, kind, place, manifests, depth + 1)


def _is_list(kind: str | None, expected: str) -> bool:
    """A value with items is a list if its kind says so, or if nothing says what it is."""
    return kind.endswith("List") if kind else not expected


def _no_object(data: bytes, kind: str, problem: str, place: str, depth: int) -> _Leaf:
    """A broken item costs only itself; a file that is no object at all is an error."""
    if depth == 0:
        hint = "kubectl get NAME -o yaml shows what one looks like"
        raise ManifestError(f"{place}: is no Kubernetes object: {problem}", hint)
    return _Leaf(data, "", kind, f"no Kubernetes object: {problem}")


def _open_envelope(data: bytes) -> _Envelope:
    """What the value is. Raises :class:`DecodeError` if it is no object and no list."""
    try:
        return _envelope.decode(data)
    except _UNREADABLE:
        if data.lstrip(_SPACE)[:1] == b"[":
            return _Envelope(items=_array.decode(data))
        header = read_header(data)
        return _Envelope(header.api_version, header.kind)


def _documents(data: bytes, name: str) -> Iterator[_Document]:
    if data.lstrip(_SPACE)[:1] in (b"{", b"["):
        yield from _json_documents(data, name)
    else:
        yield from _yaml_documents(data, name)


def _json_documents(data: bytes, name: str) -> Iterator[_Document]:
    if _is_json(data):
        yield _Document(data, 1, 1)
        return
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    if all(_is_json(line) for _, line in lines):
        for index, (number, line) in enumerate(lines, 1):
            yield _Document(line, index, number)
        return
    yield from _json_stream(data, name)


def _json_stream(data: bytes, name: str) -> Iterator[_Document]:
    """JSON values one after the other, each over several lines; else YAML that only looks like JSON."""
    text = data.decode("utf-8", "replace")
    decoder, position = json.JSONDecoder(), 0
    found: list[_Document] = []
    while match := re.compile(r"\S").search(text, position):
        start = match.start()
        try:
            _, position = decoder.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError) as error:
            yield from _yaml_instead(data, name, error)
            return
        line = text.count("\n", 0, start) + 1
        found.append(_Document(text[start:position].encode(), len(found) + 1, line))
    yield from found


def _yaml_instead(data: bytes, name: str, error: Exception) -> Iterator[_Document]:
    try:
        documents = list(_yaml_documents(data, name))
    except ManifestError:
        if isinstance(error, json.JSONDecodeError):
            what = f"{name}, line {error.lineno}: not JSON: {error.msg} (column {error.colno})"
        else:
            what = f"{name}: nested too deeply"
        raise ManifestError(what, f"jq . {name}") from error
    yield from documents


def _yaml_documents(data: bytes, name: str) -> Iterator[_Document]:
    from kubectl_dra.source.yaml_reader import YAMLError, read_documents  # JSON needs no PyYAML

    try:
        for number, document in enumerate(read_documents(data.decode("utf-8", "replace")), 1):
            encoded = msgspec.json.encode(document.value)
            leaf_lines = list(_leaf_lines(document.value, document.lines, document.line))
            yield _Document(encoded, number, document.line, leaf_lines)
    except YAMLError as error:
        place = f"{name}, document {error.document}, line {error.line}"
        raise ManifestError(f"{place}: {error.problem}", error.hint or f"look at line {error.line}") from error


def _leaf_lines(value: Any, lines: dict[int, int], line: int) -> Iterator[int]:  # noqa: ANN401 - any JSON value
    """The lines of the objects of a YAML document, in the order of :func:`_leaves`."""
    items = value.get("items") if isinstance(value, dict) else value
    if isinstance(value, dict) and not isinstance(items, list):
        yield lines.get(id(value), line)
        return
    if not isinstance(items, list):
        yield line
        return
    for item in items:
        yield from _leaf_lines(item, lines, line)


def _line(document: _Document, leaf: bytes, index: int) -> int:
    if document.leaf_lines is not None:
        return document.leaf_lines[index] if index < len(document.leaf_lines) else document.line
    offset = max(document.data.find(leaf), 0)
    return document.line + document.data.count(b"\n", 0, offset)


def _is_json(data: bytes) -> bool:
    try:
        _raw.decode(data)
    except _UNREADABLE:
        return False
    return True


_raw: Final = msgspec.json.Decoder(msgspec.Raw)


def _utf8(data: bytes) -> bytes:
    """Without a byte order mark, and from UTF-16 as some Windows shells redirect it."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(b"\xef\xbb\xbf")
