"""Files and stdin: bytes in, an Inventory and what it proves out.

A snapshot's header says what was read. In a plain list a kind that does not occur is taken as having no objects,
except nodes, without which nothing can be said about scheduling.

Several files as one cluster: what each of them proves, put together. What one file could not read, another may have
read; a kind that a plain list does not hold says nothing beside a snapshot that tells what was read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

import msgspec

from kubectl_dra.api.build import InventoryBuilder
from kubectl_dra.api.controllers import MAKERS
from kubectl_dra.api.kinds import BY_NAME, KINDS, Kind
from kubectl_dra.api.lean import lean
from kubectl_dra.api.queues import gangs_of_files, objects_of
from kubectl_dra.model.evidence import TAKEN_AS_NONE, Coverage, Evidence, Read
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.source.content import Content, open_content
from kubectl_dra.source.errors import FileError, SourceError
from kubectl_dra.source.inputs import SNAPSHOT_EXTENSIONS, Inputs, Skipped, opened
from kubectl_dra.source.limits import MAX_BYTES
from kubectl_dra.source.manifests import Manifests, read_manifests
from kubectl_dra.source.queue_config import queue_config
from kubectl_dra.source.snapshot import SnapshotHeader, SnapshotRead, SnapshotServer
from kubectl_dra.source.spec import Told

# The kinds that decide about scheduling: one note names those of them that were taken as none.
_DECISIVE: Final = ("Pod", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
#: What every cluster with DRA has beside nodes, outside of namespaces.
_OF_CLUSTERS: Final = frozenset({"DeviceClass", "ResourceSlice"})
_UNREAD: Final = " and ".join(sorted(_OF_CLUSTERS))
_OF_NO_NAMESPACE: Final = frozenset(kind.name for kind in KINDS if not kind.namespaced)
_MAKERS: Final = frozenset(kind.name for kind in MAKERS)
_HINT: Final = "name a file, - for stdin, or demo"
#: More objects than these that come twice are counted.
_NAMED: Final = 5
#: The more a coverage proves, the further ahead it stands.
_BEST: Final = (
    Coverage.COMPLETE,
    Coverage.PARTIAL,
    Coverage.FILTERED,
    Coverage.NOT_SERVED,
    Coverage.ASSUMED,
    Coverage.FORBIDDEN,
    Coverage.FAILED,
    Coverage.NOT_READ,
)


def load_file(
    path: str, max_bytes: int = MAX_BYTES, told: Told | None = None, *, whole: bool = True
) -> tuple[Inventory, Evidence]:
    """The Inventory of a file or of stdin (``-``). Raises :class:`FileError`.

    ``told`` is called with the share that was read. Not ``whole``: without what no answer needs.
    """
    with open_content(path, max_bytes, _HINT) as content:
        content.told = told
        return load_content(content, whole=whole)


def load_files(
    words: Sequence[str], max_bytes: int = MAX_BYTES, told: Told | None = None, *, whole: bool = True
) -> tuple[Inventory, Evidence]:
    """The Inventory of several files, or of those of folders, as of one cluster. Raises :class:`FileError`."""
    if len(words) == 1 and not os.path.isdir(words[0]):
        return load_file(words[0], max_bytes, told, whole=whole)
    builder, parts = _builder(whole), []
    for content in opened(Inputs(tuple(words), max_bytes=max_bytes, extensions=SNAPSHOT_EXTENSIONS)):
        if isinstance(content, SourceError):
            raise content
        if isinstance(content, Skipped):
            parts.append(Manifests(content.name, notes=[str(content)]))
            continue
        with content:
            content.told = told
            parts.append(_read(content, builder, whole=whole))
    return assemble(merged(parts), builder)


def load_content(content: Content, *, whole: bool = True) -> tuple[Inventory, Evidence]:
    """The Inventory of a content, with no object in memory but its own. Raises :class:`FileError`."""
    builder = _builder(whole)
    return assemble(_read(content, builder, whole=whole), builder)


def _read(content: Content, builder: InventoryBuilder, *, whole: bool) -> Manifests:
    """Hand the objects of a content to the builder; the rest of what it holds."""
    return read_manifests(content, content.name, builder.extend, lean=not whole)


def _builder(whole: bool) -> InventoryBuilder:
    return InventoryBuilder() if whole else InventoryBuilder(lean)


def assemble(manifests: Manifests, builder: InventoryBuilder | None = None) -> tuple[Inventory, Evidence]:
    """The Inventory of decoded objects, and how complete it is. Raises :class:`FileError` if there is nothing in it.

    ``builder`` has what was decoded already while it was read.
    """
    if builder is None:
        builder = InventoryBuilder()
        for loaded in manifests.objects:
            builder.add(loaded.kind, loaded.record)
    if manifests.header is None and not builder.kinds() and not any(bad.kind for bad in manifests.bad_objects):
        raise _nothing(manifests)
    inventory, header = builder.inventory(), manifests.header
    left_out = _left_out(inventory, builder.kinds()) if header is None else frozenset()
    notes = list(_notes(manifests, builder, left_out))
    reads = header.evidence_reads() if header is not None else _plain_reads(builder.kinds(), left_out)
    if manifests.plain and header is not None:
        # What plain files beside a snapshot hold was listed by somebody, completely as far as they say.
        reads = joined(reads, (Read(kind) for kind in sorted(manifests.plain)))
    evidence = Evidence(
        reads=_with_bad(reads, manifests),
        bad_objects=tuple(manifests.bad_objects),
        server_version=header.server_version() if header is not None else None,
        origin=manifests.name,
        notes=tuple(notes),
        written_in=frozenset(manifests.versions) if header is None else frozenset(),
        address=header.address() if header is not None else Address(),
    )
    if manifests.queued or manifests.queue_config or manifests.header is not None:
        known = replace(objects_of(manifests.queued, evidence), config=queue_config(manifests.queue_config))
        inventory = inventory.replace(queues=known)
    if manifests.gangs or manifests.header is not None:
        inventory = inventory.replace(gangs=gangs_of_files(manifests.gangs, evidence))
    if manifests.owners:
        found = {(each.kind, *key_of(each.metadata)): each for each in manifests.owners}
        inventory = inventory.replace(workloads={**inventory.workloads, **found})
    if manifests.makers:
        from kubectl_dra.api.makers import Makers  # few files hold any

        inventory = inventory.replace(makers=Makers(manifests.makers))
    return inventory, evidence


def _left_out(inventory: Inventory, kinds: frozenset[str]) -> frozenset[str]:
    """Kinds of which there is nothing, though other objects show that the cluster has some."""
    found = set[str]()
    # Every cluster has nodes: a list without anything that is outside of namespaces was read in namespaces only.
    if not kinds & _OF_NO_NAMESPACE:
        found |= _OF_CLUSTERS
    # A class is needed to allocate, and a claim to prepare the devices of a pod that has a node.
    if any(claim.status.allocation is not None for claim in inventory.claims.values()):
        found.add("DeviceClass")
    placed = (pod for pod in inventory.pods.values() if pod.spec.node_name and not is_terminal(pod))
    if any(status.resource_claim_name for pod in placed for status in pod.status.resource_claim_statuses):
        found.add("ResourceClaim")
    return frozenset(found - kinds)


def _notes(manifests: Manifests, builder: InventoryBuilder, left_out: frozenset[str]) -> Iterable[str]:
    yield from manifests.notes
    if manifests.header is not None:
        yield from manifests.header.notes
    have = "have" if manifests.several else "has"
    if manifests.header is None:
        seen = builder.kinds()
        absent = [kind for kind in _DECISIVE if kind not in seen and kind not in left_out]
        if absent:
            yield f"{manifests.name} {have} no {', '.join(absent)}: {TAKEN_AS_NONE}"
        if "Node" not in seen:
            yield f"{manifests.name} {have} no Node: what a scheduler would do can't be said"
        shown = sorted(left_out) if seen & _OF_NO_NAMESPACE else sorted(left_out - _OF_CLUSTERS)
        for kind in shown:
            yield f"{manifests.name} {have} no {kind}, which other objects in it show to exist: taken as not read"
        if not seen & _OF_NO_NAMESPACE:
            yield f"{manifests.name} {have} objects of namespaces only: {_UNREAD} are taken as not read"
    yield from _twice(manifests.name, have, builder)


def _twice(name: str, have: str, builder: InventoryBuilder) -> Iterable[str]:
    """Which objects came more than once, and which state of them counts; not each of very many."""
    found = dict.fromkeys(builder.replaced)
    for which, told in (("the newest resourceVersion", True), ("the last one", False)):
        names = [f"{kind.singular} {key}" for kind, key in found if ((kind.name, key) in builder.by_version) is told]
        if len(names) > _NAMED:
            yield f"{name} {have} {len(names)} objects more than once, {names[0]} among them: {which} of each counts"
        else:
            yield from (f"{name} {have} {each} more than once: {which} counts" for each in names)


def _plain_reads(kinds: frozenset[str], left_out: frozenset[str]) -> tuple[Read, ...]:
    def coverage(kind: Kind) -> Coverage:
        if kind.name in kinds:
            return Coverage.COMPLETE
        if "v1" not in kind.versions:
            # Kinds of withdrawn or alpha versions: a list without them says nothing special.
            return Coverage.NOT_SERVED
        return Coverage.NOT_READ if kind.name == "Node" or kind.name in left_out else Coverage.ASSUMED

    return tuple(Read(kind.name, coverage=coverage(kind)) for kind in KINDS)


def _with_bad(reads: tuple[Read, ...], manifests: Manifests) -> tuple[Read, ...]:
    """A kind of which an object is missing is not complete, whatever the header says.

    An object that does not even say its kind may have been any; one of another project's is none of ours.
    """
    broken = {bad.kind for bad in manifests.bad_objects} - _MAKERS
    anything = not broken <= BY_NAME.keys()
    return tuple(
        msgspec.structs.replace(r, coverage=Coverage.PARTIAL)
        if (anything or r.kind in broken) and r.coverage in (Coverage.COMPLETE, Coverage.ASSUMED, Coverage.NOT_SERVED)
        else r
        for r in reads
    )


def _nothing(manifests: Manifests) -> FileError:
    if manifests.bad_objects:
        return FileError(f"{manifests.name}: {manifests.bad_objects[0].error}", "kubectl dra snapshot > cluster.json")
    if not manifests.other:
        return FileError(f"{manifests.name}: holds no objects", "kubectl dra snapshot > cluster.json")
    kinds = ", ".join(sorted(manifests.other)[:5])
    return FileError(
        f"{manifests.name}: holds no nodes, pods, claims or slices, only {kinds}",
        "kubectl get nodes,pods,resourceclaims,resourceslices,deviceclasses -A -o json > cluster.json",
    )


def merged(parts: Sequence[Manifests]) -> Manifests:
    """What several files hold, all but their objects."""
    files = [part for part in parts if not part.notes]
    headers = [part.header for part in files if part.header is not None]
    whole = Manifests(_name(files), several=len(files) > 1)
    whole.header = _header(headers) if headers else None
    whole.plain = frozenset(kind for part in files if part.header is None for kind in part.kinds)
    whole.notes = [note for part in parts for note in part.notes]
    for part in files:
        whole.versions |= part.versions
        whole.bad_objects += part.bad_objects
        whole.other += part.other
        whole.queued += part.queued
        whole.gangs += part.gangs
        whole.owners += part.owners
        whole.makers += part.makers
        whole.queue_config += part.queue_config
    versions = {header.server.version for header in headers if header.server.version}
    if len(versions) > 1:
        told = ", ".join(sorted(versions))
        whole.notes.append(f"the snapshots are of servers of different versions ({told}): the newest one counts")
    return whole


def joined(*reads: Iterable[Read]) -> tuple[Read, ...]:
    """Of several reads of one kind and namespace that which proves most, in the order in which they come."""
    best: dict[tuple[str, str], Read] = {}
    for read in chain(*reads):
        key = read.kind, read.namespace
        known = best.get(key)
        if known is None or _BEST.index(read.coverage) < _BEST.index(known.coverage):
            best[key] = read
    return tuple(best.values())


def _name(files: Sequence[Manifests]) -> str:
    names = [part.name for part in files]
    return " and ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} more files"


def _header(headers: Sequence[SnapshotHeader]) -> SnapshotHeader:
    newest = max(headers, key=lambda header: header.server_version() or (0, 0))
    reads = joined(*(header.evidence_reads() for header in headers))
    return SnapshotHeader(
        reads=tuple(map(SnapshotRead.of, reads)),
        taken=max(header.taken for header in headers),
        server=SnapshotServer(newest.server.version, _one(header.server.url for header in headers)),
        context=_one(header.context for header in headers),
        notes=tuple(dict.fromkeys(note for header in headers for note in header.notes)),
    )


def _one(texts: Iterable[str]) -> str:
    """What all say; nothing where they differ: commands must not go to one of several clusters."""
    found = set(texts)
    return found.pop() if len(found) == 1 else ""
