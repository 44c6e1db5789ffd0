"""Gathering the pools that a node sees: relevant slices, newest generation, completeness, validity, order.

Upstream: GatherPools of the structured allocator. A pool that is incomplete or invalid stays in the list without
devices; one whose newer generation shows up elsewhere is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kubectl_dra.allocation import nodes
from kubectl_dra.allocation.errors import Aborted, NodeSelectorUnparsable
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import CounterSet, Device, ResourceSlice


class PoolFault(StrEnum):
    """What makes a pool invalid."""

    DUPLICATE_DEVICE = "duplicateDevice"
    DUPLICATE_COUNTER_SET = "duplicateCounterSet"
    UNKNOWN_COUNTER_SET = "unknownCounterSet"
    UNKNOWN_COUNTER = "unknownCounter"


@dataclass(frozen=True, slots=True)
class InvalidReason:
    """The first fault found, the name that it is about, and for an unknown counter its counter set."""

    fault: PoolFault
    name: str
    counter_set: str = ""


@dataclass(slots=True)
class Pool:
    """One pool as one node sees it. ``slices`` hold the devices that target the node, in search order."""

    id: PoolId
    generation: int
    expected: int
    seen: int
    slices: list[ResourceSlice]
    elsewhere: Sequence[ResourceSlice] = ()
    counter_sets: dict[str, CounterSet] | None = None
    invalid: InvalidReason | None = None

    @property
    def incomplete(self) -> bool:
        """Whether not exactly the expected number of slices was seen."""
        return self.seen != self.expected

    @property
    def usable(self) -> bool:
        """Whether devices may be allocated from it."""
        return self.seen == self.expected and self.invalid is None

    @property
    def binding(self) -> bool:
        """Whether a device has binding conditions, so that the pool is tried after all others."""
        return self.usable and any(d.binding_conditions is not None for s in self.slices for d in s.spec.devices)


@dataclass(frozen=True, slots=True)
class ObsoletePool:
    """A pool that was dropped for a node: another node sees a newer generation."""

    id: PoolId
    generation: int
    newer: int


@dataclass(frozen=True, slots=True)
class Gathered:
    """The pools of a node in search order, those dropped, and slices that were ignored (feature off, unknown type)."""

    pools: tuple[Pool, ...]
    obsolete: tuple[ObsoletePool, ...] = ()
    ignored: tuple[ResourceSlice, ...] = ()


class SliceIndex:
    """All slices of one attempt, by node and by pool; made once, used for every node."""

    def __init__(self, slices: Iterable[ResourceSlice], features: Features) -> None:
        self.slices = tuple(slices)
        self.features = features
        self._local: dict[str, list[ResourceSlice]] = {}
        self._shared: list[ResourceSlice] = []
        self._pools: dict[tuple[str, str], list[ResourceSlice]] | None = None
        for slice_ in self.slices:
            name = slice_.spec.node_name
            if name:
                self._local.setdefault(name, []).append(slice_)
            else:
                self._shared.append(slice_)

    def candidates(self, node_name: str) -> Sequence[ResourceSlice]:
        """The slices that a node looks at: its own, then those of no node. The first implementation sees all."""
        if self.features.implementation == "stable":
            return self.slices
        own = self._local.get(node_name)
        if own is None:
            return self._shared
        return own + self._shared if self._shared else own

    def of_pool(self, pool: PoolId) -> Sequence[ResourceSlice]:
        """All slices of a pool, every generation, in the order given."""
        if self._pools is None:
            self._pools = {}
            for slice_ in self.slices:
                self._pools.setdefault((slice_.spec.driver, slice_.spec.pool.name), []).append(slice_)
        return self._pools.get(pool, ())


def device_on_node(device: Device, node: Node) -> bool:
    """Whether a device of a slice with per-device node selection is for the node; ignores unparsable selectors."""
    if device.node_name:
        return device.node_name == node.metadata.name
    if device.all_nodes:
        return True
    return device.node_selector is not None and nodes.matches(device.node_selector, node)


def check_selector(selector: NodeSelector, slice_name: str | None, device: Device | None = None) -> None:
    """Raise :class:`Aborted` if a node selector can't be parsed."""
    if problems := nodes.parse(selector).problems:
        raise Aborted(NodeSelectorUnparsable(selector, problems, slice_name, device))


def gather(index: SliceIndex, node: Node) -> Gathered:
    """The pools that a node sees. Raises :class:`Aborted` for a node selector that can't be parsed."""
    features = index.features
    newest: dict[tuple[str, str], list[ResourceSlice]] = {}
    ignored: list[ResourceSlice] = []
    for slice_ in index.candidates(node.metadata.name):
        if _unsupported(slice_, features):
            ignored.append(slice_)
        elif _relevant(slice_, node, features):
            _keep_newest(newest, slice_)
    pools: list[Pool] = []
    obsolete: list[ObsoletePool] = []
    for (driver, name), slices in newest.items():
        pool = _judge(PoolId(driver, name), slices, index)
        if isinstance(pool, ObsoletePool):
            obsolete.append(pool)
        else:
            pools.append(pool)
    return Gathered(_ordered(pools, features), tuple(obsolete), tuple(ignored))


def _ordered(pools: list[Pool], features: Features) -> tuple[Pool, ...]:
    if len(pools) > 1:
        last = (lambda pool: False) if features.implementation == "stable" else (lambda pool: pool.binding)
        pools.sort(key=lambda pool: (last(pool), pool.id))
    return tuple(pools)


# --- one slice ------------------------------------------------------------------------------------------------------


def _unsupported(slice_: ResourceSlice, features: Features) -> bool:
    """Whether the slice uses a feature that is off, so that it does not exist for the allocator."""
    spec = slice_.spec
    if not features.partitionable_devices and (spec.per_device_node_selection is not None or spec.shared_counters):
        return True
    return not features.compatibility_groups and uses_groups(slice_)


def uses_groups(slice_: ResourceSlice) -> bool:
    """Whether any device declares compatibility groups."""
    return any(
        consumption.compatibility_groups
        for device in slice_.spec.devices
        if device.consumes_counters
        for consumption in device.consumes_counters
    )


def _relevant(slice_: ResourceSlice, node: Node, features: Features) -> bool:
    spec = slice_.spec
    if spec.node_name:
        if spec.node_name == node.metadata.name:
            return True
        return bool(spec.shared_counters) and features.implementation == "stable"
    if spec.shared_counters and features.implementation == "stable":
        return True
    if spec.all_nodes:
        return True
    if spec.node_selector is not None:
        check_selector(spec.node_selector, slice_.metadata.name)
        return nodes.parse(spec.node_selector).matches(node)
    if spec.per_device_node_selection:
        return any(_selects(device, slice_, node) for device in spec.devices)
    # No known node selection: an extension of the future, which nobody can use yet.
    return False


def _selects(device: Device, slice_: ResourceSlice, node: Node) -> bool:
    if not device.node_name and not device.all_nodes and device.node_selector is not None:
        check_selector(device.node_selector, slice_.metadata.name, device)
    return device_on_node(device, node)


def _keep_newest(newest: dict[tuple[str, str], list[ResourceSlice]], slice_: ResourceSlice) -> None:
    spec = slice_.spec
    key = (spec.driver, spec.pool.name)
    collected = newest.get(key)
    if collected is None or spec.pool.generation > collected[0].spec.pool.generation:
        newest[key] = [slice_]
    elif spec.pool.generation == collected[0].spec.pool.generation:
        collected.append(slice_)


# --- one pool -------------------------------------------------------------------------------------------------------


def _judge(pool: PoolId, slices: list[ResourceSlice], index: SliceIndex) -> Pool | ObsoletePool:
    first = slices[0].spec.pool
    if len(slices) == first.resource_slice_count:
        return _build(pool, slices, (), index.features)
    everywhere = index.of_pool(pool)
    newer = max((s.spec.pool.generation for s in everywhere), default=first.generation)
    if newer > first.generation:
        return ObsoletePool(pool, first.generation, newer)
    current = [s for s in everywhere if s.spec.pool.generation == first.generation]
    if not index.features.compatibility_groups:
        current = [s for s in current if not uses_groups(s)]
    if len(current) != first.resource_slice_count:
        return Pool(pool, first.generation, first.resource_slice_count, len(current), [])
    names = {s.metadata.name for s in slices}
    others = [s for s in current if s.metadata.name not in names] if len(slices) < len(current) else []
    return _build(pool, slices, others, index.features)


def _build(pool: PoolId, slices: list[ResourceSlice], others: Sequence[ResourceSlice], features: Features) -> Pool:
    first = slices[0].spec.pool
    if len(slices) > 1 and features.implementation != "stable":
        slices.sort(key=lambda s: s.metadata.name)
    result = Pool(pool, first.generation, first.resource_slice_count, first.resource_slice_count, slices)
    counter_slices: list[ResourceSlice] = []
    if features.partitionable_devices:
        counter_slices = [s for s in (*slices, *others) if s.spec.shared_counters]
        if counter_slices:
            result.slices = [s for s in slices if not s.spec.shared_counters]
        result.elsewhere = [s for s in others if not s.spec.shared_counters] if others else ()
    result.invalid = _duplicate_device(result.slices)
    if result.invalid is None and features.partitionable_devices:
        result.counter_sets, result.invalid = _counter_sets(counter_slices)
        consuming = slices if features.implementation == "stable" else result.slices
        result.invalid = result.invalid or _bad_reference(result.counter_sets, (*consuming, *result.elsewhere))
    if result.invalid is not None:
        result.slices, result.elsewhere = [], ()
    return result


def _duplicate_device(slices: Sequence[ResourceSlice]) -> InvalidReason | None:
    names: set[str] = set()
    for slice_ in slices:
        for device in slice_.spec.devices:
            if device.name in names:
                return InvalidReason(PoolFault.DUPLICATE_DEVICE, device.name)
            names.add(device.name)
    return None


def _counter_sets(slices: Sequence[ResourceSlice]) -> tuple[dict[str, CounterSet], InvalidReason | None]:
    sets: dict[str, CounterSet] = {}
    for slice_ in slices:
        for counter_set in slice_.spec.shared_counters:
            if counter_set.name in sets:
                return sets, InvalidReason(PoolFault.DUPLICATE_COUNTER_SET, counter_set.name)
            sets[counter_set.name] = counter_set
    return sets, None


def _bad_reference(sets: dict[str, CounterSet], slices: Sequence[ResourceSlice]) -> InvalidReason | None:
    for slice_ in slices:
        for device in slice_.spec.devices:
            for consumption in device.consumes_counters:
                counter_set = sets.get(consumption.counter_set)
                if counter_set is None:
                    return InvalidReason(PoolFault.UNKNOWN_COUNTER_SET, consumption.counter_set)
                for name in consumption.counters:
                    if name not in counter_set.counters:
                        return InvalidReason(PoolFault.UNKNOWN_COUNTER, name, consumption.counter_set)
    return None
