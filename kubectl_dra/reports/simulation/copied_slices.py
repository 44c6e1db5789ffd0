"""ResourceSlices of the files that look like copies in which a field was left as it was, and what to write there.

Who plans nodes copies the slice of a node. A pool's name, its node and its number of slices are what the scheduler goes
by (upstream: GatherPools and DeviceID of the structured allocator); left as they were, the new node has no devices, or
what one node has in use counts as in use on another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import chain

import msgspec

from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input.pools import gather
from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.whatif.nodes import renamed_for
from kubectl_dra.model.resource import ResourceSlice
from kubectl_dra.reports.base import ReportRecord

_NAME = "metadata.name"
_NODE = "spec.nodeName"
_POOL = "spec.pool.name"
_COUNT = "spec.pool.resourceSliceCount"
_GENERATION = "spec.pool.generation"


class Forgotten(StrEnum):
    """What was left as it was in the slice that was copied."""

    #: Another node has a pool of this name, with devices of the same names.
    POOL = "pool"
    #: The node has devices of its driver already, and a new node has none.
    NODE = "node"
    #: The slice of another node has this name, and is replaced.
    NAME = "name"
    #: The pool has more or fewer slices than this one says.
    COUNT = "count"
    #: Other slices of the pool are of a newer generation.
    GENERATION = "generation"


class FieldEdit(ReportRecord, frozen=True):
    """A value to write into the manifest."""

    field: str
    value: str


class CopiedSlice(ReportRecord, frozen=True):
    """A slice of the files, what was forgotten, and the edit.

    ``node``: its own, empty if it is of none; ``other``: the node that has the same pool or slice already, or the new
    node that has no devices. ``seen`` of the ``expected`` slices of the pool are there.
    """

    slice: str
    forgotten: Forgotten
    pool: str
    node: str
    other: str
    edits: tuple[FieldEdit, ...]
    seen: int = 0
    expected: int = 0


def copied_slices(
    before: ClusterState, after: ClusterState, objects: Sequence[Planned], without_slices: Sequence[str]
) -> tuple[CopiedSlice, ...]:
    """Each slice of the files with its first mistake; ``without_slices``: new nodes that have no devices."""
    if not after.evidence.complete("ResourceSlice"):
        return ()
    mine = [each.record for each in objects if isinstance(each.record, ResourceSlice)]
    found: dict[str, CopiedSlice] = {}
    for each in chain(
        _of_names(before, mine),
        _of_nodes(before, after, mine, without_slices),
        _of_pools(before, after, mine),
        _of_counts(after, mine),
    ):
        found.setdefault(each.slice, each)
    # What follows from another mistake in the same pool goes once that is mended.
    counts = (Forgotten.COUNT, Forgotten.GENERATION)
    mended = {each.pool for each in found.values() if each.forgotten not in counts}
    return tuple(each for each in found.values() if each.pool not in mended or each.forgotten not in counts)


def _told(
    slice_: ResourceSlice, forgotten: Forgotten, other: str, *edits: tuple[str, str], seen: int = 0, expected: int = 0
) -> CopiedSlice:
    made = tuple(FieldEdit(field, value) for field, value in edits)
    node = slice_.spec.node_name or ""
    return CopiedSlice(slice_.metadata.name, forgotten, str(slice_.spec.pool_id), node, other, made, seen, expected)


def _of_names(before: ClusterState, mine: Sequence[ResourceSlice]) -> Iterator[CopiedSlice]:
    """Those that take the place of another node's slice; the server would refuse that (nodeName is immutable)."""
    for each in mine:
        known, node = before.inventory.slices.get(each.metadata.name), each.spec.node_name
        if known is not None and node and known.spec.node_name and known.spec.node_name != node:
            name = renamed_for(each.metadata.name, known.spec.node_name, node)
            yield _told(each, Forgotten.NAME, known.spec.node_name, (_NAME, name))


def _of_nodes(
    before: ClusterState, after: ClusterState, mine: Sequence[ResourceSlice], empty: Sequence[str]
) -> Iterator[CopiedSlice]:
    """Those that name a node which has the devices already, or none that there is, where a new node lacks some."""
    for each in mine:
        node, pool = each.spec.node_name, each.spec.pool.name
        if not node or each.metadata.name in before.inventory.slices:
            continue
        meant = _meant(each, empty, after)
        if meant:
            moved = ((_POOL, renamed_for(pool, node, meant)),) if node in pool and meant not in pool else ()
            yield _told(each, Forgotten.NODE, meant, (_NODE, meant), *moved)


def _meant(slice_: ResourceSlice, empty: Sequence[str], after: ClusterState) -> str:
    """The new node without devices that its names speak of; the only one, if the slice is a copy or of no node."""
    node = slice_.spec.node_name or ""
    others = [
        each
        for each in after.inventory.slices_by_node.get(node, ())
        if each is not slice_ and each.spec.driver == slice_.spec.driver
    ]
    unknown = node not in after.inventory.nodes
    if not (unknown or others):
        return ""
    texts = (slice_.metadata.name, slice_.spec.pool.name)
    named = [each for each in empty if any(each in text for text in texts)]
    copy = any(_names(each) == _names(slice_) for each in others)
    alone = empty if len(empty) == 1 and (copy or unknown) else ()
    return max(named, key=len) if named else next(iter(alone), "")


def _names(slice_: ResourceSlice) -> frozenset[str]:
    return frozenset(device.name for device in slice_.spec.devices)


def _of_pools(before: ClusterState, after: ClusterState, mine: Sequence[ResourceSlice]) -> Iterator[CopiedSlice]:
    """Those whose pool another node has, with devices of the same names."""
    old = before.inventory.slices
    for each in mine:
        node, name = each.spec.node_name, each.spec.pool.name
        if not node or each.metadata.name in old:
            continue
        others = [
            other
            for other in after.inventory.slices_by_pool.get(each.spec.pool_id, ())
            if other.spec.node_name not in ("", None, node) and _names(other) & _names(each)
        ]
        # Of several new ones that whose node the pool is named after is the one that was copied.
        if others and not (node in name and all(other.metadata.name not in old for other in others)):
            first = min(others, key=lambda one: ((one.spec.node_name or "") not in name, one.metadata.name))
            copied = first.spec.node_name or ""
            yield _told(each, Forgotten.POOL, copied, (_POOL, renamed_for(name, copied, node)))


def _of_counts(after: ClusterState, mine: Sequence[ResourceSlice]) -> Iterator[CopiedSlice]:
    """Those of pools that are not complete."""
    for each in mine:
        generation, seen, expected = _counted(after, each)
        if seen == expected:
            continue
        its = [other.spec.pool.generation for other in mine if other.spec.pool_id == each.spec.pool_id]
        if each.spec.pool.generation < generation and len(its) == expected:
            yield _told(each, Forgotten.GENERATION, "", (_GENERATION, str(generation)))
        elif set(its) == {generation}:
            yield _told(each, Forgotten.COUNT, "", (_COUNT, str(seen)), seen=seen, expected=expected)


def _counted(after: ClusterState, slice_: ResourceSlice) -> tuple[int, int, int]:
    """The generation of its pool, as its node sees it, with the number of slices that are there and should be."""
    node, pool = after.inventory.nodes.get(slice_.spec.node_name or ""), slice_.spec.pool_id
    if node is None:
        newest = after.newest(pool)
        return newest[0].spec.pool.generation, len(newest), newest[0].spec.pool.resource_slice_count
    try:
        pools = gather(after.slices, node).pools
    except Aborted:
        pools = ()
    found = ((each.generation, each.seen, each.expected) for each in pools if each.id == pool)
    return next(found, (0, 0, 0))


def as_planned(objects: Iterable[Planned], found: Iterable[CopiedSlice]) -> Iterator[Planned]:
    """The objects with the slices as they are probably meant."""
    edits = {each.slice: {edit.field: edit.value for edit in each.edits} for each in found}
    for planned in objects:
        slice_, own = planned.record, edits.get(planned.name)
        yield planned if own is None or not isinstance(slice_, ResourceSlice) else _rewritten(planned, slice_, own)


def _rewritten(planned: Planned, slice_: ResourceSlice, edits: Mapping[str, str]) -> Planned:
    spec, pool, name = slice_.spec, slice_.spec.pool, edits.get(_NAME, planned.name)
    pool = msgspec.structs.replace(
        pool,
        name=edits.get(_POOL, pool.name),
        generation=int(edits.get(_GENERATION, pool.generation)),
        resource_slice_count=int(edits.get(_COUNT, pool.resource_slice_count)),
    )
    spec = msgspec.structs.replace(spec, pool=pool, node_name=edits.get(_NODE, spec.node_name))
    meta = msgspec.structs.replace(slice_.metadata, name=name)
    return replace(planned, name=name, record=msgspec.structs.replace(slice_, metadata=meta, spec=spec))
