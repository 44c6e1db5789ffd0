"""Several files as one cluster: what each of them proves, put together.

What one file could not read, another may have read; a kind that a plain list does not hold says nothing beside a
snapshot that tells what was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from kubectl_dra.model.evidence import Coverage, Read
from kubectl_dra.source.manifests import Manifests
from kubectl_dra.source.snapshot import SnapshotHeader, SnapshotRead, SnapshotServer

#: The more a coverage proves, the further ahead it stands.
_BEST: Final = (
    Coverage.COMPLETE,
    Coverage.PARTIAL,
    Coverage.FILTERED,
    Coverage.NOT_SERVED,
    Coverage.ASSUMED,
    Coverage.FORBIDDEN,
    Coverage.NOT_READ,
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
