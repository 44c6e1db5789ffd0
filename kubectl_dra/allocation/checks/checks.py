"""The checks that do not depend on what the attempt has chosen so far: one device, one request, one node.

Upstream: isSelectable, the static part of allocateDevice, and the enumeration of ``All``. Every answer is kept, because
the search asks again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kubectl_dra.allocation.checks.capacity import Amounts, NotComputableError, resolve
from kubectl_dra.allocation.checks.constraints import Value, lookup
from kubectl_dra.allocation.checks.counters import PoolCounters
from kubectl_dra.allocation.checks.groups import PoolGroups
from kubectl_dra.allocation.checks.requests import Plan, Request
from kubectl_dra.allocation.checks.selection import SelectorMemo
from kubectl_dra.allocation.errors import Aborted, CapacityNotComputable, InvalidPoolMet, PoolNotUsableForAll
from kubectl_dra.allocation.input import taints
from kubectl_dra.allocation.input.allocated import AllocatedState
from kubectl_dra.allocation.input.candidates import Candidate, candidates
from kubectl_dra.allocation.input.pools import NodePool
from kubectl_dra.allocation.input.slices import check_selector, device_on_node
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import DeviceTaint

NODE_FEATURE: Final = "DRAOptionalNodeOperations"


class Unsupported(NamedTuple):
    """A feature gate that a device needs, off in the scheduler or (``on_node``) on the node."""

    feature: str
    on_node: bool = False


class Checks:
    """All that one attempt can say about the devices of one node before it chooses any."""

    def __init__(
        self,
        plan: Plan,
        selection: SelectorMemo,
        features: Features,
        allocated: AllocatedState,
        node: Node,
        pools: Sequence[NodePool],
    ) -> None:
        self.plan = plan
        self.selection = selection
        self.features = features
        self.allocated = allocated
        self.node = node
        self.pools = pools
        self.candidates = candidates(pools, allocated, features)
        self._unselected: dict[tuple[int, int], bool] = {}
        self._amounts: dict[tuple[int, int], Amounts] = {}
        self._offered: dict[tuple[int, int], bool] = {}
        self._values: dict[tuple[int, str, int], Value | None] = {}

    # --- per pool ---------------------------------------------------------------------------------------------------

    def counters(self, pool: NodePool) -> PoolCounters:
        """The pool's counters as allocated devices leave them."""
        return PoolCounters(pool, self.allocated.pool(*pool.id))

    def groups(self, pool: NodePool) -> PoolGroups:
        return PoolGroups(pool, self.allocated.pool(*pool.id))

    # --- per request ------------------------------------------------------------------------------------------------

    def enumerate(self, request: Request) -> list[int]:
        """The positions that ``All`` means. Raises :class:`Aborted`."""
        chosen: list[int] = []
        position = 0
        for pool in self.pools:
            if not pool.usable:
                error = PoolNotUsableForAll(
                    request.claim, request.name, pool.id, pool.incomplete, pool.seen, pool.expected
                )
                raise Aborted(error)
            count = sum(len(slice_.spec.devices) for slice_ in pool.slices)
            chosen += [c.position for c in self.candidates[position : position + count] if self._belongs(request, c)]
            position += count
        return chosen

    def _belongs(self, request: Request, candidate: Candidate) -> bool:
        if self.unselected(request, candidate):
            return False
        if not self.features.consumable_capacity:
            return True
        key = (request.number, id(candidate.device.capacity))
        found = self._offered.get(key)
        if found is None:
            amounts = self.amounts(request, candidate, enumerating=True)
            found = amounts.missing is None and amounts.violated is None and amounts.lacking() is None
            self._offered[key] = found
        return found

    # --- per device and request -------------------------------------------------------------------------------------

    def rejects(self, request: Request, candidate: Candidate) -> bool:
        """Whether the device can't serve an ``ExactCount`` request whatever else is chosen. Raises :class:`Aborted`."""
        invalid = candidate.pool.invalid
        if invalid is not None and self.features.looks_at_pools_first:
            raise Aborted(InvalidPoolMet(candidate.pool.id, invalid.name))
        if self.in_use(request, candidate) or self.unselected(request, candidate):
            return True
        if invalid is not None:
            raise Aborted(InvalidPoolMet(candidate.pool.id, invalid.name))
        if self.features.consumable_capacity and self.short(request, candidate):
            return True
        return self.unsupported(candidate) is not None or self.tainted(request, candidate) is not None

    def refuses(self, request: Request, candidate: Candidate) -> bool:
        """Whether a device that ``All`` means is not available, whatever else is chosen; capacity comes later."""
        return (
            self.in_use(request, candidate)
            or self.unsupported(candidate) is not None
            or self.tainted(request, candidate) is not None
        )

    @staticmethod
    def in_use(request: Request, candidate: Candidate) -> bool:
        """Whether somebody holds the device as a whole; admin access does not mind."""
        return not request.admin and candidate.state is not None and candidate.state.dedicated

    def unselected(self, request: Request, candidate: Candidate) -> bool:
        """Whether class, selectors or node selection leave the device out. Raises :class:`Aborted`."""
        key = (request.number, candidate.position)
        found = self._unselected.get(key)
        if found is None:
            found = self._unselected[key] = (
                self.unbindable(candidate) is not None
                or self.selection.refusing(request, candidate) is not None
                or self._elsewhere(candidate)
            )
        return found

    def unbindable(self, candidate: Candidate) -> Unsupported | None:
        """A device with binding conditions while they are off."""
        if not candidate.device.binding_conditions or self.features.device_binding_and_status:
            return None
        return Unsupported("DRADeviceBindingConditions")

    def _elsewhere(self, candidate: Candidate) -> bool:
        """Whether a slice with per-device node selection says that its device is for other nodes."""
        if not candidate.slice.spec.per_device_node_selection:
            return False
        device = candidate.device
        if not device.node_name and not device.all_nodes and device.node_selector is not None:
            check_selector(device.node_selector, None)
        return not device_on_node(device, self.node)

    def amounts(self, request: Request, candidate: Candidate, enumerating: bool = False) -> Amounts:
        """What the request takes of the device. Raises :class:`Aborted`."""
        # Devices of one model share their capacities, which alone count here; candidates keep them.
        key = (request.number, id(candidate.device.capacity))
        found = self._amounts.get(key)
        if found is None:
            try:
                found = resolve(request.capacity, candidate.device, self.features.fractional_capacity_range)
            except NotComputableError as error:
                at = (request.claim, request.name, candidate.id)
                raise Aborted(
                    CapacityNotComputable(*at, error.capacity, error.fault, error.amount, enumerating)
                ) from None
            self._amounts[key] = found
        return found

    def short(self, request: Request, candidate: Candidate) -> bool:
        """Whether capacity or its policy refuse, next to what is allocated. Raises :class:`Aborted`."""
        amounts = self.amounts(request, candidate)
        if amounts.missing is not None or amounts.violated is not None:
            return True
        return amounts.lacking(candidate.state.consumed if candidate.state is not None else {}) is not None

    def unsupported(self, candidate: Candidate) -> Unsupported | None:
        """A feature that the device needs and that scheduler or node do not have."""
        # Only the experimental implementation looks at skipNodeOperations; the others allocate such devices.
        if candidate.slice.spec.skip_node_operations and self.features.implementation == "experimental":
            if not self.features.optional_node_operations:
                return Unsupported(NODE_FEATURE)
            if NODE_FEATURE not in self.node.status.declared_features:
                return Unsupported(NODE_FEATURE, on_node=True)
        if candidate.device.consumes_counters and not self.features.partitionable_devices:
            return Unsupported("DRAPartitionableDevices")
        return None

    def tainted(self, request: Request, candidate: Candidate) -> DeviceTaint | None:
        """The first taint that the request does not tolerate."""
        if not self.features.device_taints or not candidate.device.taints:
            return None
        return taints.preventing(candidate.device.taints, request.tolerations)

    def value(self, request: Request, attribute: str, candidate: Candidate) -> Value | None:
        """The value that a constraint sees, None if the device lacks it. Raises :class:`Aborted`."""
        key = (request.number, attribute, candidate.position)
        if key not in self._values:
            if attribute in request.derived:
                found = self.selection.derived(request, attribute, candidate)
            else:
                published = lookup(candidate.device, candidate.pool.id.driver, attribute)
                if published is None:
                    self._values[key] = None
                    return None
                found = published
            self._values[key] = Value(found)
        return self._values[key]
