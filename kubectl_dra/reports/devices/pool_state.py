"""Whether a pool can be allocated from, as each node sees it: what ``allocation.input.pools`` decides, for people.

A pool whose slices all have the same node selection looks the same from every node that can use it. Otherwise (slices
of other nodes, stale slices elsewhere) nodes may disagree, and the views that differ are listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input import nodes, pools
from kubectl_dra.allocation.input.pool_faults import PoolFault, undefined_sets
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Node
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.meta import NodeSelector, ObjectMeta
from kubectl_dra.model.resource import ResourceSlice
from kubectl_dra.reports.base import ReportRecord

_MAX_NAMES = 20


class PoolState(StrEnum):
    """What the scheduler makes of a pool."""

    READY = "ready"
    INCOMPLETE = "incomplete"  # not exactly the expected number of slices: skipped, fatal for mode All
    INVALID = "invalid"  # contradicts itself: skipped, fatal for mode All
    PARTIAL = "partial"  # incomplete, up to 1.34: requests for a count use it, fatal for mode All
    FATAL = "fatal"  # contradicts itself, up to 1.34: fatal for every pod whose search comes to it
    OBSOLETE = "obsolete"  # this node has only slices of an older generation
    IGNORED = "ignored"  # uses a feature that is off, or a node selection that is unknown
    UNPARSABLE = "unparsable"  # a node selector that can't be parsed: fatal for every pod


#: States of pools from which devices are allocated.
ALLOCATED_FROM: Final = frozenset({PoolState.READY, PoolState.PARTIAL})


class Fault(ReportRecord, frozen=True):
    """Why a pool is invalid: the kind of fault, the name it is about, the counter set of an unknown counter."""

    kind: PoolFault
    name: str
    counter_set: str


#: What is said of a pool that is invalid: of the name, and of the counter set of an unknown counter.
FAULTS: Final[Mapping[PoolFault, str]] = {
    PoolFault.DUPLICATE_DEVICE: "it publishes device {0} twice",
    PoolFault.DUPLICATE_COUNTER_SET: "it publishes counter set {0} twice",
    PoolFault.UNKNOWN_COUNTER_SET: "a device of it uses counter set {0}, which it does not publish",
    PoolFault.UNKNOWN_COUNTER: "a device of it uses counter {0} of counter set {1}, which has none of that name",
}


class PoolView(ReportRecord, frozen=True):
    """A pool as some nodes see it: ``nodes`` are the first 20 of ``count``; none and None: all that can use it.

    ``undefined``: of an incomplete pool the counter sets that its devices use and none of its slices has.
    """

    state: PoolState
    generation: int
    seen: int
    expected: int
    fault: Fault | None = None
    nodes: tuple[str, ...] = ()
    count: int | None = None
    undefined: tuple[str, ...] = ()


class PoolVerdict(msgspec.Struct, frozen=True):
    """A view with the allocator's own record of the pool, if there is one, and the names of slices that it ignored."""

    view: PoolView
    pool: pools.NodePool | None = None
    ignored: frozenset[str] = frozenset()


def whole_pool(pool: PoolId, state: ClusterState) -> PoolVerdict:
    """The pool as a node sees it that can use every slice."""
    slices = state.inventory.slices_by_pool.get(pool, ())
    name = slices[0].spec.node_name if slices else None
    if name and all(s.spec.node_name == name and not s.spec.per_device_node_selection for s in slices):
        # As most pools are: that node can, and no other.
        return _view(slices, Node(metadata=ObjectMeta(name=name)), state)
    return _view([_everywhere(slice_) for slice_ in slices], Node(), state)


class Views(msgspec.Struct, frozen=True):
    """How nodes see a pool: one view per group of nodes that agree, and the nodes that can allocate from it.

    ``differing`` is empty where all nodes see :func:`whole_pool`, and where that is not ``known`` because it needs
    nodes that were not read; ``ready`` is None in both cases.
    """

    differing: tuple[PoolView, ...] = ()
    ready: frozenset[str] | None = None
    known: bool = True


def node_views(pool: PoolId, state: ClusterState) -> Views:
    """How nodes see a pool whose slices have different node selections."""
    slices = state.inventory.slices_by_pool.get(pool, ())
    if _uniform(slices):
        return Views()
    selectors = set(_selectors(slices))
    if selectors and not state.evidence.complete("Node"):
        return Views(known=False)
    groups: dict[PoolView, list[str]] = {}
    for names in _alike_nodes(slices, selectors, state):
        node = state.inventory.nodes.get(names[0]) or Node(metadata=ObjectMeta(name=names[0]))
        groups.setdefault(_view(slices, node, state).view, []).extend(names)
    groups.pop(_NOTHING, None)
    if list(groups) == [whole_pool(pool, state).view]:
        return Views()
    views = [
        msgspec.structs.replace(view, nodes=tuple(sorted(names)[:_MAX_NAMES]), count=len(names))
        for view, names in groups.items()
    ]
    ready = frozenset(name for view, names in groups.items() if view.state in ALLOCATED_FROM for name in names)
    return Views(tuple(sorted(views, key=lambda view: view.nodes)), ready)


_NOTHING = PoolView(PoolState.IGNORED, 0, 0, 0)
_NONE: Final[frozenset[str]] = frozenset()


def _view(slices: Sequence[ResourceSlice], node: Node, state: ClusterState) -> PoolVerdict:
    try:
        gathered = pools.gather(pools.SliceIndex(slices, state.features), node)
    except Aborted:
        return PoolVerdict(PoolView(PoolState.UNPARSABLE, *_claimed(slices)))
    # An empty one for each pool would be another object each time.
    ignored = frozenset(slice_.metadata.name for slice_ in gathered.ignored) if gathered.ignored else _NONE
    for pool in gathered.pools:
        return PoolVerdict(_judged_view(slices, pool, state.features.judges_whole_pools), pool, ignored)
    for obsolete in gathered.obsolete:
        return PoolVerdict(PoolView(PoolState.OBSOLETE, obsolete.generation, 0, 0), None, ignored)
    return PoolVerdict(PoolView(PoolState.IGNORED, *_claimed(slices)) if ignored else _NOTHING, None, ignored)


def _judged_view(slices: Sequence[ResourceSlice], pool: pools.NodePool, skipped: bool) -> PoolView:
    """``skipped``: whether the scheduler avoids pools that it can't use for ``All``."""
    fault = pool.invalid
    if fault is not None and not skipped:
        state = PoolState.FATAL
    elif pool.incomplete:
        state = PoolState.INCOMPLETE if skipped else PoolState.PARTIAL
    else:
        state = PoolState.INVALID if fault else PoolState.READY
    record = Fault(fault.fault, fault.name, fault.counter_set) if fault is not None else None
    undefined = undefined_sets(slices, pool.generation) if pool.incomplete else ()
    return PoolView(state, pool.generation, pool.seen, pool.expected, record, undefined=undefined)


def _claimed(slices: Sequence[ResourceSlice]) -> tuple[int, int, int]:
    """Generation, number and expected number of the newest slices, of a pool that nobody judges."""
    newest = max(slice_.spec.pool.generation for slice_ in slices)
    current = [slice_ for slice_ in slices if slice_.spec.pool.generation == newest]
    return newest, len(current), current[0].spec.pool.resource_slice_count


def _everywhere(slice_: ResourceSlice) -> ResourceSlice:
    """The slice as if all nodes could use it; one whose node selection is unknown or unparsable stays as it is."""
    spec = slice_.spec
    local = bool(spec.node_name or spec.all_nodes)
    unparsable = spec.node_selector is not None and not local and nodes.parse(spec.node_selector).problems
    known = local or spec.node_selector is not None or spec.per_device_node_selection
    if unparsable or not known:
        return slice_
    # perDeviceNodeSelection stays: whether it is supported is the allocator's question.
    open_to_all = msgspec.structs.replace(spec, node_name=None, node_selector=None, all_nodes=True)
    return msgspec.structs.replace(slice_, spec=open_to_all)


def _uniform(slices: Sequence[ResourceSlice]) -> bool:
    if any(slice_.spec.per_device_node_selection for slice_ in slices):
        return False
    return len({(s.spec.node_name, s.spec.all_nodes, s.spec.node_selector) for s in slices}) < 2


def _selectors(slices: Sequence[ResourceSlice]) -> list[NodeSelector]:
    found = [slice_.spec.node_selector for slice_ in slices]
    found += [device.node_selector for slice_ in slices for device in slice_.spec.devices]
    return [selector for selector in found if selector is not None]


def _alike_nodes(slices: Sequence[ResourceSlice], selectors: set[NodeSelector], state: ClusterState) -> list[list[str]]:
    """Names of nodes in groups that see the same slices: nodes named one by one, the others by matching selectors."""
    named = {name for slice_ in slices for name in (slice_.spec.node_name, *_device_nodes(slice_)) if name}
    groups: dict[object, list[str]] = {name: [name] for name in sorted(named)}
    parsed = [nodes.parse(selector) for selector in selectors]
    for name, node in state.inventory.nodes.items():
        if name not in named:
            seen = tuple(not selector.problems and selector.matches(node) for selector in parsed)
            groups.setdefault(seen, []).append(name)
    return list(groups.values())


def _device_nodes(slice_: ResourceSlice) -> list[str | None]:
    return [device.node_name for device in slice_.spec.devices] if slice_.spec.per_device_node_selection else []
