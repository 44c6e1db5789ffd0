"""One search for all nodes that it can't tell apart.

A search reads the devices of a node in a fixed order and usually stops early. The devices, reduced to what this attempt
can see of them, are therefore the path through a tree; where an earlier search ended, its answer holds for every node
that comes along the same path. Names, unique attributes and the rest of the node don't matter. Order, boundaries of
pools with counters, incomplete and invalid pools, use and consumption do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kubectl_dra.allocation.allocated import DeviceState, PoolState
from kubectl_dra.allocation.allocator import Attempt, Walk
from kubectl_dra.allocation.candidates import candidates
from kubectl_dra.allocation.checks import NODE_FEATURE
from kubectl_dra.allocation.counters import PoolCounters
from kubectl_dra.allocation.errors import Aborted, AllocationError
from kubectl_dra.allocation.groups import PoolGroups
from kubectl_dra.allocation.outcome import Allocated, Fatal, Outcome
from kubectl_dra.allocation.pools import Gathered, Pool, gather
from kubectl_dra.allocation.result import Solution, allocations
from kubectl_dra.allocation.slices import device_on_node
from kubectl_dra.allocation.steps import Budget
from kubectl_dra.allocation.taints import PREVENTING
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import AllocationResult, Device, ResourceSlice

_END: Final = "end"
# Beyond so many different searches a cluster's nodes are hardly alike, and remembering more only costs memory.
_REMEMBERED: Final = 2_000
# A step along the path: what is seen, and the position of the last device that this includes.
Token = tuple[Hashable, int]


@dataclass(slots=True, eq=False)
class Group:
    """Nodes that share one search, in the order asked; ``outcome`` is that of the first, with its names."""

    outcome: Outcome
    nodes: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Found:
    """A search that was made, as far as its answer serves other nodes."""

    group: Group
    solution: Solution | None
    names_devices: bool


@dataclass(slots=True, eq=False)
class _Place:
    """A place on the paths: the answer that ends here, or where it goes on."""

    found: _Found | None = None
    further: dict[Hashable, _Place] = field(default_factory=dict)


class Answers(Mapping[str, Outcome]):
    """Outcomes by node name, and the nodes grouped by the search that they share.

    Nodes of a group have the same object as outcome, except where it names devices of the node (allocations, errors):
    such an outcome is made anew whenever it is asked for, and its names are looked up when somebody reads them.
    """

    def __init__(self, attempt: Attempt, nodes: Iterable[Node], budget: Budget) -> None:
        self._nodes = {node.metadata.name: node for node in nodes}
        self._attempt = attempt
        self._budget = budget
        sharing = _Sharing(attempt, budget)
        self._found = {name: sharing.on(node) for name, node in self._nodes.items()}
        self.groups = tuple(found.group for found in sharing.made)
        attempt.selection.forget()

    def __getitem__(self, name: str) -> Outcome:
        found = self._found[name]
        outcome = found.group.outcome
        if not found.names_devices or name == found.group.nodes[0]:
            return outcome
        node, solution = self._nodes[name], found.solution
        if solution is not None:
            return Allocated(steps=outcome.steps, allocations=lambda: self._allocations(solution, node))
        return Fatal(steps=outcome.steps, error=lambda: self._error(outcome, node))

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _allocations(self, solution: Solution, node: Node) -> tuple[AllocationResult, ...]:
        attempt = self._attempt
        devices = candidates(gather(attempt.cluster.index, node).pools, attempt.cluster.allocated, attempt.features)
        return allocations(solution, attempt.plan, devices, node, attempt.features)

    def _error(self, outcome: Outcome, node: Node) -> AllocationError:
        own = self._attempt.on(node, self._budget)
        found = own if isinstance(own, Fatal) else outcome
        assert isinstance(found, Fatal)  # noqa: S101 - only errors name devices without a solution
        return found.error


class _Sharing:
    """The searches of one attempt so far."""

    def __init__(self, attempt: Attempt, budget: Budget) -> None:
        self.attempt = attempt
        self.budget = budget
        self.made: list[_Found] = []
        self.effort = 0
        self._root = _Place()
        self._view = _View(attempt)

    def on(self, node: Node) -> _Found:
        """The search that answers for a node."""
        try:
            gathered = gather(self.attempt.cluster.index, node)
        except Aborted as aborted:
            return self._keep(Fatal(steps=0, error=aborted.error), node)
        found = self._find(node, gathered)
        if found is not None:
            found.group.nodes.append(node.metadata.name)
            return found
        walk = Walk(self.attempt, node, gathered, self._budget())
        self.effort += walk.effort
        found = self._keep(walk.outcome, node, walk.solution, isinstance(walk.outcome, Fatal) and walk.reach != -1)
        if len(self.made) <= _REMEMBERED:
            self._remember(found, walk.reach, node, gathered)
        return found

    def _budget(self) -> Budget:
        if self.effort < self.budget.in_all:
            return self.budget
        last = self.budget.last
        return dataclasses.replace(self.budget, first=last, steps=last, combinations=last)

    def _keep(
        self, outcome: Outcome, node: Node, solution: Solution | None = None, names_devices: bool = False
    ) -> _Found:
        found = _Found(Group(outcome, [node.metadata.name]), solution, names_devices or solution is not None)
        self.made.append(found)
        return found

    def _find(self, node: Node, gathered: Gathered) -> _Found | None:
        place = self._root
        if place.found is not None:
            return place.found
        for token, _ in self._view.path(node, gathered.pools):
            following = place.further.get(token)
            if following is None:
                return None
            if following.found is not None:
                return following.found
            place = following
        return None

    def _remember(self, found: _Found, reach: int | None, node: Node, gathered: Gathered) -> None:
        place = self._root
        if reach is None or reach >= 0:
            for token, position in self._view.path(node, gathered.pools):
                place = place.further.setdefault(token, _Place())
                if reach is not None and position >= reach:
                    break
        place.found = found


# --- what a search can see ------------------------------------------------------------------------------------------


def _is_shared(pool: Pool) -> bool:
    """Whether other nodes see the same pool in the same way."""
    if not pool.slices or pool.slices[0].spec.node_name:
        return False
    return not any(s.spec.node_name or s.spec.per_device_node_selection for s in pool.slices)


class _View:
    """What the searches of one attempt can see of a node."""

    def __init__(self, attempt: Attempt) -> None:
        self.features = attempt.features
        self.allocated = attempt.cluster.allocated
        self.seen = attempt.selection.seen
        self.asks_capacity = any(request.capacity for request in attempt.plan.requests)
        # With the pool itself: the identity of one that is gone would pass to another.
        self._pools: dict[int, tuple[Pool, Hashable, int]] = {}
        self._contents: dict[Hashable, int] = {}

    def path(self, node: Node, pools: Sequence[Pool]) -> Iterator[Token]:
        """What the search meets, in its order."""
        if self.features.optional_node_operations:
            yield NODE_FEATURE in node.status.declared_features, -1
        position = -1
        for pool in pools:
            if _is_shared(pool):
                # Seen by many nodes: read once, and compared as a whole.
                _, token, size = self._whole(pool)
                position += size
                yield token, position
            else:
                for seen, step in self._steps(pool, node):
                    position += step
                    yield seen, position
        yield _END, position + 1

    def _whole(self, pool: Pool) -> tuple[Pool, Hashable, int]:
        found = self._pools.get(id(pool))
        if found is None:
            steps = list(self._steps(pool, None))
            content = ("pool", *(seen for seen, _ in steps))
            number = self._contents.setdefault(content, len(self._contents))
            found = self._pools[id(pool)] = (pool, ("pool", number), sum(step for _, step in steps))
        return found

    def _steps(self, pool: Pool, node: Node | None) -> Iterator[Token]:
        """What the search meets in a pool, each with 1 if it is a device and 0 if not."""
        held = self.allocated.pool(*pool.id)
        header = self._header(pool, held)
        if header is not None:
            yield header, 0
        for slice_ in pool.slices:
            shape = self._shape(slice_)
            per_device = node if slice_.spec.per_device_node_selection else None
            for device in slice_.spec.devices:
                seen = self.seen(pool.id.driver, device)
                more = self._more(device, held.get(device.name) if held else None, per_device)
                yield (seen if shape is None and more is None else (seen, shape, more)), 1

    def _header(self, pool: Pool, held: PoolState) -> Hashable:
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

    def _more(self, device: Device, state: DeviceState | None, node: Node | None) -> Hashable:
        """What matters of a device apart from its attributes; None for the ordinary free device."""
        capacity = self._capacity(device)
        if (
            state is None
            and capacity is None
            and node is None
            and not device.taints
            and not device.consumes_counters
            and not device.binding_conditions
            and not device.binds_to_node
        ):
            return None
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
            return frozenset(device.capacity.items())
        for capacity in device.capacity.values():
            if capacity.request_policy is not None or capacity.value.unscaled < 0:
                return frozenset(device.capacity.items())
        return None

    @staticmethod
    def _selection(device: Device, node: Node) -> Hashable:
        terms = len(device.node_selector.node_selector_terms) if device.node_selector is not None else 0
        return device_on_node(device, node), device.node_name is not None, terms
