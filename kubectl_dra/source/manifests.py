"""From the documents of a file to objects: lists in lists are taken apart, and the header of a snapshot is read.

Reads kubectl's ``List``, typed lists whose items don't repeat their kind, and ``items: null``. A broken document is an
error; a broken object only costs itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple, Protocol

import msgspec

from kubectl_dra.api.controllers import decode_owner, is_foreign, is_maker
from kubectl_dra.api.decode import DecodeError, bad_object, decode_alike, decode_object, read_header
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.kinds import BY_NAME, POD, RESOURCE_GROUP, Kind, find_kind
from kubectl_dra.api.queues import MAX_OBJECTS, is_gang_object, is_queue_object
from kubectl_dra.api.replicas import Replicas
from kubectl_dra.api.sources import Source
from kubectl_dra.model.base import Record
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.source.content import Content
from kubectl_dra.source.documents import Document, Piece, documents
from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.not_objects import FOREIGN, OBJECT, no_object
from kubectl_dra.source.queue_config import may_configure
from kubectl_dra.source.snapshot import SNAPSHOT_API_VERSION, SNAPSHOT_KIND, SnapshotHeader, decode_header

_MAX_LISTS: Final = 16
#: Broken objects beyond this number are only counted, and kinds of others beyond the second.
_MAX_BAD: Final = 10_000
_MAX_OTHER: Final = 1_000
_SPACE: Final = b" \t\r\n"
_KIND: Final = re.compile(rb'"kind"\s*:\s*"([A-Za-z]+)"')
_HEAD: Final = 128


class Loaded(NamedTuple):
    """An object and where it stood."""

    kind: Kind
    record: Record
    origin: str


class Keep(Protocol):
    """Takes objects of one kind, one at least; those that are ``finished`` are lean and share their parts already."""

    def __call__(self, kind: Kind, records: Sequence[Record], /, *, finished: bool = False) -> None:
        """Take them."""


class Manifests(msgspec.Struct):
    """What a file holds, in its order. ``other`` counts the kinds that are none of ours, ``kinds`` those of ours.

    Of very many broken objects the first are named one by one, and the last entry of a kind counts the others. Of
    ``several`` files together, ``plain`` are the kinds in those that are no snapshots. ``queued`` are Kueue's objects,
    ``gangs`` those of other schedulers;
    ``owners`` and ``makers`` those of other API groups that make pods, as owners of pods and as they are written;
    ``queue_config`` may be Kueue's own configuration. ``versions``: those of resource.k8s.io that occur.
    """

    name: str
    objects: list[Loaded] = msgspec.field(default_factory=list)
    bad_objects: list[BadObject] = msgspec.field(default_factory=list)
    header: SnapshotHeader | None = None
    other: Counter[str] = msgspec.field(default_factory=Counter)
    kinds: set[str] = msgspec.field(default_factory=set)
    versions: set[str] = msgspec.field(default_factory=set)
    plain: frozenset[str] = frozenset()
    notes: list[str] = msgspec.field(default_factory=list)
    queued: list[Source] = msgspec.field(default_factory=list)
    gangs: list[Source] = msgspec.field(default_factory=list)
    owners: list[WorkloadObject] = msgspec.field(default_factory=list)
    makers: list[Source] = msgspec.field(default_factory=list)
    queue_config: list[Source] = msgspec.field(default_factory=list)
    several: bool = False


class Origin(NamedTuple):
    """Where an object stands; lines count from 1."""

    file: str = ""
    document: int = 0
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}, document {self.document}, line {self.line}"


class Written(NamedTuple):
    """One object as it was written, with what a typed list around it says of it, and where it stands."""

    data: bytes
    api_version: str
    kind: str
    origin: Origin = Origin()


class _Envelope(msgspec.Struct, rename="camel"):
    """What tells an object from a list."""

    api_version: str | None = None
    kind: str | None = None
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


class _Leaf(NamedTuple):
    """An object that is not a list, or an item of a list that is not an object."""

    data: bytes
    api_version: str
    kind: str
    problem: str = ""


class _Found(NamedTuple):
    """A leaf, and where it stands: in a piece of a document, as the leaf of this number."""

    leaf: _Leaf
    document: int
    piece: Piece
    number: int


_envelope: Final = msgspec.json.Decoder(_Envelope)
_envelopes: Final = msgspec.json.Decoder(list[_Envelope])
_array: Final = msgspec.json.Decoder(list[msgspec.Raw])


def read_manifests(
    source: bytes | Content,
    name: str,
    keep: Keep | None = None,
    problems: list[ManifestError] | None = None,
    *,
    lean: bool = False,
) -> Manifests:
    """All objects of a file, defaulted as the server would. Raises :class:`ManifestError`.

    With ``keep`` they are handed over and not collected. Of equal keys in JSON the last counts, as the API
    server decodes it; in YAML they are an error, as for kubectl. With ``problems``, what is broken is noted there and
    costs only its document. ``lean``: of pods that run beside the devices what nobody reads may be left out.
    """
    manifests = Manifests(name)
    uncounted: Counter[str] = Counter()
    replicas = Replicas() if lean else None

    def take(kind: Kind, records: Sequence[Record], document: int, *, finished: bool = False) -> None:
        manifests.kinds.add(kind.name)
        if keep is None:
            manifests.objects += [Loaded(kind, record, f"{name}, document {document}") for record in records]
        else:
            keep(kind, records, finished=finished)

    def at_once(data: bytes, inside: _Place) -> bool:
        """Take the objects of a chunk if they are all alike and whole."""
        kind: Kind | None = POD
        pods = replicas.of(data, inside.api_version, inside.kind) if replicas is not None and _of_pods(data) else None
        records = pods
        if records is None:
            kind, records = _alike(data, inside)
        if kind is None:
            return False
        take(kind, records, inside.document.number, finished=pods is not None)
        return True

    for found in _leaves_of(source, manifests, problems, at_once):
        origin = f"{name}, document {found.document}"
        try:
            loaded = _loaded(found.leaf, origin, manifests)
        except DecodeError as error:
            _note_bad(_bad(found, f"{error}", origin), manifests, uncounted)
        else:
            if loaded is not None:
                take(loaded.kind, (loaded.record,), found.document)
    manifests.bad_objects += _more(uncounted, name)
    return manifests


def _note_bad(bad: BadObject, manifests: Manifests, uncounted: Counter[str]) -> None:
    """The first some are told one by one, the others by their number."""
    if len(manifests.bad_objects) < _MAX_BAD:
        manifests.bad_objects.append(bad)
    else:
        uncounted[bad.kind if bad.kind in BY_NAME else ""] += 1


def read_written(source: bytes | Content, name: str, problems: list[ManifestError] | None = None) -> Iterator[Written]:
    """All objects of a file, not decoded, lists taken apart; ``problems`` and errors as in :func:`read_manifests`."""
    for found in _leaves_of(source, Manifests(name), problems):
        leaf = found.leaf
        origin = Origin(name, found.document, found.piece.line_of(leaf.data, found.number))
        if leaf.problem and problems is not None:
            problem = f"is {leaf.problem}"
            foreign = leaf.problem.endswith(FOREIGN)
            what = f"{origin}: {problem}"
            problems.append(ManifestError(what, OBJECT, file=name, line=origin.line, problem=problem, foreign=foreign))
        else:
            yield Written(leaf.data, leaf.api_version, leaf.kind, origin)


def _bad(found: _Found, error: str, origin: str) -> BadObject:
    data, kind = found.leaf.data, found.leaf.kind
    return bad_object(data, kind, error, f"{origin}, line {found.piece.line_of(data, found.number)}")


def _more(uncounted: Counter[str], name: str) -> Iterator[BadObject]:
    problem = "can't be read either"
    return (BadObject(kind, "", f"and {number} more", problem, name) for kind, number in uncounted.items())


def _loaded(leaf: _Leaf, origin: str, manifests: Manifests) -> Loaded | None:
    """The object; None for a kind that is none of ours."""
    if leaf.problem:
        raise DecodeError(leaf.problem)
    kind = find_kind(leaf.api_version, leaf.kind)
    if kind is not None:
        _note_version(leaf.api_version, manifests)
        return Loaded(kind, defaulted(decode_object(leaf.data, leaf.api_version, kind)), origin)
    if leaf.kind in manifests.other or len(manifests.other) < _MAX_OTHER:
        manifests.other[leaf.kind] += 1
    if is_queue_object(leaf.api_version, leaf.kind) and len(manifests.queued) < MAX_OBJECTS:
        manifests.queued.append(Source(bytes(leaf.data), leaf.api_version, leaf.kind))
    if is_gang_object(leaf.api_version, leaf.kind) and len(manifests.gangs) < MAX_OBJECTS:
        manifests.gangs.append(Source(bytes(leaf.data), leaf.api_version, leaf.kind))
    if may_configure(leaf.api_version, leaf.kind, leaf.data) and len(manifests.queue_config) < MAX_OBJECTS:
        manifests.queue_config.append(Source(bytes(leaf.data), leaf.api_version, leaf.kind))
    if is_maker(leaf.api_version, leaf.kind) and len(manifests.makers) < MAX_OBJECTS:
        manifests.makers.append(Source(bytes(leaf.data), leaf.api_version, leaf.kind))
    if is_foreign(leaf.api_version, leaf.kind) and len(manifests.owners) < MAX_OBJECTS:
        manifests.owners.append(decode_owner(bytes(leaf.data), OwnerReference(leaf.api_version, leaf.kind)))
    return None


def _of_pods(data: bytes) -> bool:
    """Whether an array seems to be one of pods: kubectl says so first, and in a typed list nothing says anything."""
    said = _KIND.search(data, 0, _HEAD)
    return said is None or said[1] == b"Pod"


def _alike(data: bytes, inside: _Place) -> tuple[Kind | None, list[Record]]:
    """The objects of an array that are all of one kind and version; no kind where they have to be looked at singly."""
    try:
        envelopes = _envelopes.decode(data)
    except (ValueError, RecursionError):
        return None, []
    # An item with items may be a list.
    said = {(each.api_version, each.kind) for each in envelopes if each.items is msgspec.UNSET}
    if len(said) != 1 or not all(each.items is msgspec.UNSET for each in envelopes):
        return None, []
    api_version, name = said.pop()
    api_version = api_version or inside.api_version
    kind = find_kind(api_version, name or inside.kind)
    records = decode_alike(data, api_version, kind) if kind is not None else None
    if records is None:
        return None, []
    _note_version(api_version, inside.manifests)
    return kind, [defaulted(record) for record in records]


def _note_version(api_version: str, manifests: Manifests) -> None:
    group, _, version = api_version.rpartition("/")
    if group == RESOURCE_GROUP:
        manifests.versions.add(version)


# --- taking lists apart ---------------------------------------------------------------------------------------------


class _Place(msgspec.Struct, frozen=True):
    """Where something stands: in which document, how deep in lists, and what the list around it says of its items."""

    document: Document
    manifests: Manifests
    depth: int
    api_version: str = ""
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.manifests.name}, document {self.document.number}, line {self.document.line()}"

    def inside(self, envelope: _Envelope) -> _Place:
        """The place of the items of a list. Raises :class:`ManifestError` where that is too deep."""
        if self.depth >= _MAX_LISTS:
            what = f"{self}: lists are nested deeper than {_MAX_LISTS} levels"
            raise ManifestError(what, "take the inner lists out")
        kind = "" if _is_snapshot(envelope) else (envelope.kind or "").removesuffix("List")
        api_version = (envelope.api_version or "") if kind else ""
        return _Place(self.document, self.manifests, self.depth + 1, api_version, kind)


def _leaves_of(
    source: bytes | Content,
    manifests: Manifests,
    problems: list[ManifestError] | None = None,
    at_once: Callable[[bytes, _Place], bool] | None = None,
) -> Iterator[_Found]:
    """The leaves, but those of chunks that ``at_once`` takes."""
    content = Content.of(source, manifests.name) if isinstance(source, bytes) else source
    for document, depth in _deep(documents(content, manifests.name, problems)):
        try:
            for piece, leaves in _pieces(_Place(document, manifests, depth), at_once):
                for number, leaf in enumerate(leaves):
                    yield _Found(leaf, document.number, piece, number)
        except ManifestError as error:
            if problems is None:
                raise
            problems.append(error)


def _deep(found: Iterator[Document]) -> Iterator[tuple[Document, int]]:
    """Documents with the depth at which they stand: several of them are like the items of a list."""
    first, second = next(found, None), next(found, None)
    depth = 0 if second is None else 1
    known = (document for document in (first, second) if document is not None)
    return ((document, depth) for document in chain(known, found))


def _pieces(place: _Place, at_once: Callable[[bytes, _Place], bool] | None) -> Iterator[tuple[Piece, Iterator[_Leaf]]]:
    """The leaves of a document, piece by piece: only a long list has more than one."""
    document = place.document
    if document.chunks is None:
        yield document.head, _leaves(document.head.data, place)
        return
    envelope = _open_envelope(document.head.data)
    if not _is_list(envelope, place.kind):
        whole = Piece(document.whole(), document.line)
        yield whole, _leaves(whole.data, place)
        return
    _take_header(envelope, document.head.data, place)
    inside = place.inside(envelope)
    for piece in document.chunks:
        if at_once is None or not at_once(piece.data, inside):
            yield piece, _of_items(_array.decode(piece.data), inside)


def _leaves(data: bytes, place: _Place) -> Iterator[_Leaf]:
    """The objects of one value: itself, or the items of the list that it is, lists in lists included."""
    try:
        envelope = _open_envelope(data)
    except DecodeError as error:
        yield _no_object(data, str(error), place)
        return
    if _is_list(envelope, place.kind):
        _take_header(envelope, data, place)
        yield from _of_items(envelope.items or (), place.inside(envelope))
    elif envelope.kind or place.kind:
        yield _Leaf(data, envelope.api_version or place.api_version, envelope.kind or place.kind)
    else:
        yield _no_object(data, "it has no kind" if envelope.api_version else FOREIGN, place)


def _of_items(items: Iterable[msgspec.Raw], inside: _Place) -> Iterator[_Leaf]:
    return chain.from_iterable(_leaves(bytes(item), inside) for item in items)


def _is_list(envelope: _Envelope, expected: str) -> bool:
    """A value with items is a list if its kind says so, or if nothing says what it is."""
    if _is_snapshot(envelope):
        return True
    if envelope.items is msgspec.UNSET:
        return False
    return envelope.kind.endswith("List") if envelope.kind else not expected


def _is_snapshot(envelope: _Envelope) -> bool:
    return envelope.kind == SNAPSHOT_KIND and envelope.api_version == SNAPSHOT_API_VERSION


def _take_header(envelope: _Envelope, data: bytes, place: _Place) -> None:
    if _is_snapshot(envelope):
        place.manifests.header = decode_header(data, str(place))


def _no_object(data: bytes, problem: str, place: _Place) -> _Leaf:
    """A broken item costs only itself; a file that is not an object at all is an error."""
    if place.depth == 0:
        raise no_object(place.manifests.name, str(place), place.document.line(), problem)
    return _Leaf(data, "", place.kind, f"no Kubernetes object: {problem}")


def _open_envelope(data: bytes) -> _Envelope:
    """What the value is. Raises :class:`DecodeError` if it is neither an object nor a list."""
    try:
        return _envelope.decode(data)
    except (ValueError, RecursionError):
        if data.lstrip(_SPACE)[:1] == b"[":
            return _Envelope(items=_array.decode(data))
        header = read_header(data)
        return _Envelope(header.api_version, header.kind)
