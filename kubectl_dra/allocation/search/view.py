"""What a search can see of a node, in its order: use, shapes, taints, counters, what expressions say of devices.

Names, what is not read and the rest of the node don't matter. Order, boundaries of pools with counters, incomplete and
invalid pools, use and consumption do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from kubectl_dra.allocation.checks.checks import NODE_FEATURE
from kubectl_dra.allocation.checks.counters import PoolCounters
from kubectl_dra.allocation.checks.groups import PoolGroups
from kubectl_dra.allocation.input.allocated import AllocatedState, DeviceHold, PoolState
from kubectl_dra.allocation.input.pools import NodePool
from kubectl_dra.allocation.input.slices import device_on_node
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import Device, DeviceCapacity, ResourceSlice
from kubectl_dra.model.taint_text import PREVENTING

_END: Final = "end"
# What :meth:`View._more` tells of a device that is plain, behind its capacity.
_PLAIN: Final = (None, (), (), False, False)
_CAPACITY: Final = attrgetter("capacity")
_MORE: Final = attrgetter(
    "allow_multiple_allocations", "taints", "consumes_counters", "binding_conditions", "binds_to_node"
)
_NOTHING_MORE: Final = (None, (), (), None, None)
# A step along the path: what is seen, and the position of the last device that this includes.
Token = tuple[Hashable, int]


def is_shared(pool: NodePool) -> bool:
    """Whether other nodes see the same pool in the same way."""
    if not pool.slices or pool.slices[0].spec.node_name:
        return False
    return not any(s.spec.node_name or s.spec.per_device_node_selection for s in pool.slices)


def is_plain(device: Device) -> bool:
    """Whether a device has nothing but attributes and capacities."""
    return not (device.taints or device.consumes_counters or device.binding_conditions or device.binds_to_node)


class View:
    """What searches can see of nodes. ``seen`` tells it of a device's driver and content.

    ``asks_capacity``: requests ask for amounts, so that all capacities matter.
    """

    def __init__(
        self,
        allocated: AllocatedState,
        features: Features,
        seen: Callable[[str, Device], Hashable],
        asks_capacity: bool,
    ) -> None:
        self.features = features
        self.allocated = allocated
        self.seen = seen
        self.asks_capacity = asks_capacity
        # With the pool itself: the identity of one that is gone would pass to another.
        self._pools: dict[int, tuple[NodePool, Hashable, int]] = {}
        self._contents: dict[Hashable, int] = {}
        self._capacities: dict[int, tuple[Mapping[str, DeviceCapacity], frozenset[tuple[str, DeviceCapacity]]]] = {}

    def path(self, node: Node, pools: Sequence[NodePool]) -> Iterator[Token]:
        """What the search meets, in its order."""
        if self.features.optional_node_operations:
            yield NODE_FEATURE in node.status.declared_features, -1
        position = -1
        for pool in pools:
            if is_shared(pool):
                # Seen by many nodes: read once, and compared as a whole.
                _, token, size = self._whole(pool)
                position += size
                yield token, position
            else:
                for seen, step in self.steps(pool, node):
                    position += step
                    yield seen, position
        yield _END, position + 1

    def _whole(self, pool: NodePool) -> tuple[NodePool, Hashable, int]:
        found = self._pools.get(id(pool))
        if found is None:
            steps = list(self.steps(pool, None))
            content = ("pool", *(seen for seen, _ in steps))
            number = self._contents.setdefault(content, len(self._contents))
            found = self._pools[id(pool)] = (pool, ("pool", number), sum(step for _, step in steps))
        return found

    def at_once(self, pool: NodePool) -> Hashable | None:
        """All that can be met in an ordinary pool of one node, whatever expressions say; None for any other.

        Its devices have nothing but attributes and capacities, and each is allocated once.
        """
        if not pool.usable or not pool.slices or pool.counter_sets:
            return None
        held = self.allocated.pool(*pool.id)
        content: list[Hashable] = [pool.id.driver]
        for slice_ in pool.slices:
            devices = slice_.spec.devices
            ordinary = [*map(_MORE, devices)].count(_NOTHING_MORE) == len(devices)
            if not ordinary or slice_.spec.per_device_node_selection or self._shape(slice_) is not None:
                return None
            content += (len(devices), self._capacities_of(devices))
            for place, device in enumerate(devices) if held else ():
                if (state := held.get(device.name)) is not None:
                    content += (place, state.signature)
        return tuple(content)

    def _capacities_of(self, devices: Sequence[Device]) -> Hashable:
        """What :meth:`_capacity` says of each; of those that share one it is asked once."""
        alike = len(set(map(id, map(_CAPACITY, devices)))) == 1
        return self._capacity(devices[0]) if alike else tuple(map(self._capacity, devices))

    def steps(self, pool: NodePool, node: Node | None) -> Iterator[Token]:
        """What the search meets in a pool, each with 1 if it is a device and 0 if not."""
        held = self.allocated.pool(*pool.id)
        header = self._header(pool, held)
        if header is not None:
            yield header, 0
        driver, see, capacity_of = pool.id.driver, self.seen, self._capacity
        for slice_ in pool.slices:
            shape = self._shape(slice_)
            per_device = node if slice_.spec.per_device_node_selection else None
            for device in slice_.spec.devices:
                seen, capacity = see(driver, device), capacity_of(device)
                state = held.get(device.name) if held else None
                if state is None and per_device is None and is_plain(device):
                    # Nearly all devices: nothing but a capacity.
                    more: Hashable = None if capacity is None else (None, capacity, *_PLAIN)
                else:
                    more = self._more(device, state, per_device, capacity)
                yield (seen if shape is None and more is None else (seen, shape, more)), 1

    def _header(self, pool: NodePool, held: PoolState) -> Hashable:
        """What matters of a pool apart from its devices; None for the ordinary pool."""
        if not pool.usable:
            return "incomplete" if pool.incomplete else "invalid"
        if not pool.counter_sets:
            return None
        counters = PoolCounters(pool, held)
        shared = frozenset(PoolGroups(pool, held).shared.items()) if self.features.compatibility_groups else None
        return tuple(counters.names), tuple(counters.available), shared

    def _shape(self, slice_: ResourceSlice) -> Hashable:
        """What matters of a slice apart from its devices; None for the ordinary slice of one node."""
        spec = slice_.spec
        skips = bool(spec.skip_node_operations) and self.features.implementation == "experimental"
        terms = len(spec.node_selector.node_selector_terms) if spec.node_selector is not None else 0
        local = spec.node_name is not None
        return None if local and not skips and terms <= 1 else (local, skips, terms)

    def _more(self, device: Device, state: DeviceHold | None, node: Node | None, capacity: Hashable) -> Hashable:
        """What matters of a device apart from its attributes where that is more than its ``capacity``."""
        return (
            state.signature if state is not None else None,
            capacity,
            self._selection(device, node) if node is not None else None,
            tuple((t.key, t.value, t.effect) for t in device.taints if t.effect in PREVENTING),
            tuple(
                (c.counter_set, frozenset(c.counters.items()), c.compatibility_groups) for c in device.consumes_counters
            ),
            bool(device.binding_conditions),
            bool(device.binds_to_node),
        )

    def _capacity(self, device: Device) -> Hashable:
        if not self.features.consumable_capacity or not device.capacity:
            return None
        if self.asks_capacity or device.allow_multiple_allocations:
            return self._amounts(device.capacity)
        for capacity in device.capacity.values():
            if capacity.request_policy is not None or capacity.value.unscaled < 0:
                return frozenset(device.capacity.items())
        return None

    def _amounts(self, capacity: Mapping[str, DeviceCapacity]) -> Hashable:
        """What a capacity says, once for all devices that share it; it is kept, so that its identity stays its own."""
        known = self._capacities.get(id(capacity))
        if known is None:
            known = self._capacities[id(capacity)] = capacity, frozenset(capacity.items())
        return known[1]

    @staticmethod
    def _selection(device: Device, node: Node) -> Hashable:
        terms = len(device.node_selector.node_selector_terms) if device.node_selector is not None else 0
        return device_on_node(device, node), device.node_name is not None, terms
