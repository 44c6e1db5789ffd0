"""Pools that are not used on a node, where devices of theirs are what a request lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.requests import Request
from kubectl_dra.allocation.input.candidates import Candidate
from kubectl_dra.allocation.input.pool_faults import undefined_sets
from kubectl_dra.allocation.input.pools import Gathered, NodePool, SliceIndex, gather
from kubectl_dra.allocation.input.slices import uses_groups
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, PoolProblem
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import ResourceSlice
from kubectl_dra.selectors.evaluate import Outcome


def causes(
    gathered: Gathered,
    index: SliceIndex,
    checks: Checks,
    requests: Sequence[Request],
    invalid_blamed: bool,
    nodes: Mapping[str, Node],
) -> Iterator[Cause]:
    """Causes for the pools that matter to one of ``requests``; all invalid ones if the scheduler blames them.

    ``nodes``: those of the cluster; what one of them uses of a pool is not outdated, whatever others see.
    """
    for code, pool, detail in _left_out(gathered, checks.features):
        if (invalid_blamed and code is Code.POOL_INVALID) or _matter(index.of_pool(pool), checks, requests):
            yield Cause(code, _dated(detail, index.of_pool(pool)))
    for used in checks.pools:
        older = [s for s in index.of_pool(used.id) if s.spec.pool.generation < used.generation]
        outdated = [s for s in older if not _is_used(s, index, nodes)]
        if used.usable and outdated and _matter(outdated, checks, requests):
            last = max(s.spec.pool.generation for s in outdated)
            problem = PoolProblem(str(used.id), last, detail=f"generation {used.generation}")
            yield Cause(Code.POOL_OUTDATED, _dated(problem, index.of_pool(used.id)))


def _is_used(slice_: ResourceSlice, index: SliceIndex, nodes: Mapping[str, Node]) -> bool:
    """Whether the scheduler uses a slice for the node that it is of: two nodes may publish pools of one name.

    Each node sees the newest generation among its own slices. Upstream: GatherPools, which looks at those of other
    nodes only where slices are missing.
    """
    node = nodes.get(slice_.spec.node_name or "")
    if node is None:
        return False
    return any(each is slice_ for pool in gather(index, node).pools if pool.usable for each in pool.slices)


def _dated(problem: PoolProblem, slices: Sequence[ResourceSlice]) -> PoolProblem:
    """With the number of devices that are not used, when the newest slice was made, and what missing ones have."""
    since = max((slice_.metadata.creation_timestamp or "" for slice_ in slices), default="")
    generation = problem.generation or max((slice_.spec.pool.generation for slice_ in slices), default=0)
    devices = sum(len(slice_.spec.devices) for slice_ in slices if slice_.spec.pool.generation == generation)
    undefined = undefined_sets(slices, generation) if problem.seen < problem.expected else ()
    return msgspec.structs.replace(problem, devices=devices, since=since or "", undefined=undefined)


def _left_out(gathered: Gathered, features: Features) -> Iterator[tuple[Code, PoolId, PoolProblem]]:
    """The pools of the node, or slices of them, that the allocator leaves out."""
    for pool in gathered.pools if features.judges_whole_pools else ():
        name = str(pool.id)
        if pool.incomplete:
            yield Code.POOL_INCOMPLETE, pool.id, PoolProblem(name, pool.generation, pool.seen, pool.expected)
        elif pool.invalid is not None:
            where = f"{pool.invalid.counter_set}/" if pool.invalid.counter_set else ""
            detail = f"{pool.invalid.fault} {where}{pool.invalid.name}"
            yield Code.POOL_INVALID, pool.id, PoolProblem(name, detail=detail)
    for obsolete in gathered.obsolete:
        problem = PoolProblem(str(obsolete.id), obsolete.generation, detail=f"generation {obsolete.newer}")
        yield Code.POOL_OUTDATED, obsolete.id, problem
    for slice_ in gathered.ignored:
        grouped = uses_groups(slice_) and not features.compatibility_groups
        feature = "DRADeviceCompatibilityGroups" if grouped else "DRAPartitionableDevices"
        ignored = slice_.spec.pool_id
        yield Code.DEVICES_UNUSABLE, ignored, PoolProblem(str(ignored), detail=f"{feature} {slice_.metadata.name}")


def _matter(slices: Iterable[ResourceSlice], checks: Checks, requests: Sequence[Request]) -> bool:
    """Whether any device of the slices would pass the selectors of a request."""
    for slice_ in slices:
        spec = slice_.spec
        stand_in = NodePool(spec.pool_id, spec.pool.generation, 0, 0, [slice_])
        for device in spec.devices:
            candidate = Candidate(-1, stand_in, slice_, device, None, False)
            decisions = (checks.selection.decision(request, candidate) for request in requests)
            if any(decision.outcome is not Outcome.NO for decision in decisions):
                return True
    return False
