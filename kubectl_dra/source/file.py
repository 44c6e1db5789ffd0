"""Files, stdin and gzip: bytes in, an Inventory and what it proves out.

A snapshot's header says what was read. In a plain list a kind that does not occur is taken as having no objects,
except nodes, without which nothing can be said about scheduling.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from kubectl_dra.api.build import InventoryBuilder
from kubectl_dra.api.kinds import BY_NAME, KINDS, Kind
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.source.errors import FileError
from kubectl_dra.source.manifests import Manifests, read_manifests
from kubectl_dra.source.spec import STDIN

MAX_BYTES: Final = 1 << 30
_CHUNK: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
# The kinds that decide about scheduling: one note names those of them that were taken as none.
_DECISIVE: Final = ("Pod", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule")


def load_file(path: str) -> tuple[Inventory, Evidence]:
    """The Inventory of a file or of stdin (``-``). Raises :class:`FileError`."""
    return assemble(read_file(path))


def read_file(path: str) -> Manifests:
    """The objects of a file or of stdin (``-``), one by one. Raises :class:`FileError`."""
    name = "stdin" if path == STDIN else path
    return read_manifests(read_bytes(path, "name a file, - for stdin, or demo"), name)


def read_bytes(path: str, hint: str = "name a file, or - for stdin") -> bytes:
    """The bytes of a file or of stdin, unpacked if they are gzip. Raises :class:`FileError` with ``hint``."""
    name = "stdin" if path == STDIN else path
    try:
        if path == STDIN:
            data = _limited(sys.stdin.buffer, name)
        else:
            with Path(path).open("rb") as stream:
                data = _limited(stream, name)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileError(f"{name}: {reason}", hint) from error
    return _unzipped(data, name) if data.startswith(_GZIP) else data


def assemble(manifests: Manifests) -> tuple[Inventory, Evidence]:
    """The Inventory of decoded objects, and how complete it is. Raises :class:`FileError` if there is nothing in it."""
    builder = InventoryBuilder()
    for loaded in manifests.objects:
        builder.add(loaded.kind, loaded.record)
    if manifests.header is None and not manifests.objects and not any(bad.kind for bad in manifests.bad_objects):
        raise _nothing(manifests)
    notes = list(_notes(manifests, builder))
    header = manifests.header
    reads = header.evidence_reads() if header is not None else _plain_reads(builder.kinds())
    evidence = Evidence(
        reads=_with_bad(reads, manifests),
        bad_objects=tuple(manifests.bad_objects),
        server_version=header.server_version() if header is not None else None,
        origin=manifests.name,
        notes=tuple(notes),
    )
    return builder.inventory(), evidence


def _notes(manifests: Manifests, builder: InventoryBuilder) -> Iterable[str]:
    if manifests.header is not None:
        yield from manifests.header.notes
    else:
        seen = builder.kinds()
        absent = [kind for kind in _DECISIVE if kind not in seen]
        if absent:
            yield f"{manifests.name} has no {', '.join(absent)}: taken as if the cluster had none"
        if "Node" not in seen:
            yield f"{manifests.name} has no Node: what a scheduler would do can't be said"
    for kind, key in builder.replaced:
        yield f"{manifests.name} has {kind.singular} {key} more than once: the last one counts"


def _plain_reads(kinds: frozenset[str]) -> tuple[Read, ...]:
    def coverage(kind: Kind) -> Coverage:
        if kind.name in kinds:
            return Coverage.COMPLETE
        if "v1" not in kind.versions:
            # Kinds of withdrawn or alpha versions: a list without them says nothing special.
            return Coverage.NOT_SERVED
        return Coverage.NOT_READ if kind.name == "Node" else Coverage.ASSUMED

    return tuple(Read(kind.name, coverage=coverage(kind)) for kind in KINDS)


def _with_bad(reads: tuple[Read, ...], manifests: Manifests) -> tuple[Read, ...]:
    """A kind of which an object is missing is not complete, whatever the header says.

    An object that does not even say its kind may have been any.
    """
    broken = {bad.kind for bad in manifests.bad_objects}
    anything = not broken <= BY_NAME.keys()
    return tuple(
        Read(r.kind, r.namespace, Coverage.PARTIAL, r.resource_version, r.time, r.note)
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


def _limited(stream: BinaryIO, name: str) -> bytes:
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _too_big(name)
    return data


def _unzipped(data: bytes, name: str) -> bytes:
    unpacked = BytesIO()
    try:
        while data:
            unpacker = zlib.decompressobj(wbits=31)
            while data and not unpacker.eof:
                unpacked.write(unpacker.decompress(data, _CHUNK))
                data = unpacker.unconsumed_tail or unpacker.unused_data
                if unpacked.tell() > MAX_BYTES:
                    raise _too_big(name)
            if not unpacker.eof:
                raise FileError(f"{name}: the gzip file is cut off", "copy or download it again")
    except zlib.error as error:
        raise FileError(f"{name}: broken gzip file: {error}", "copy or download it again") from error
    return unpacked.getvalue()


def _too_big(name: str) -> FileError:
    return FileError(f"{name}: has more than {MAX_BYTES >> 30} GiB", "leave out kinds that don't matter, or namespaces")
