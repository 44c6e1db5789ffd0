"""The checks that do not depend on what the attempt has chosen so far: one device, one request, one node.

Upstream: isSelectable, the static part of allocateDevice, and the enumeration of ``All``. Every answer is kept, because
the search asks again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.allocation import taints
from kubectl_dra.allocation.allocated import AllocatedState
from kubectl_dra.allocation.candidates import Candidate, candidates
from kubectl_dra.allocation.capacity import Amounts, NotComputableError, resolve
from kubectl_dra.allocation.causes import (
    CapacityMissing,
    CapacityPolicyRefuses,
    CapacityShort,
    Cause,
    FeatureOff,
    InUse,
    NotInClass,
    NotSelected,
    OtherNode,
    Tainted,
)
from kubectl_dra.allocation.constraints import Value, lookup
from kubectl_dra.allocation.counters import PoolCounters
from kubectl_dra.allocation.errors import Aborted, CapacityNotComputable, InvalidPoolMet, PoolNotUsableForAll
from kubectl_dra.allocation.groups import PoolGroups
from kubectl_dra.allocation.pools import Pool
from kubectl_dra.allocation.requests import Plan, Request
from kubectl_dra.allocation.selectors import Selection
from kubectl_dra.allocation.slices import check_selector, device_on_node
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features

NODE_FEATURE: Final = "DRAOptionalNodeOperations"


class Checks:
    """All that one attempt can say about the devices of one node before it chooses any."""

    def __init__(
        self,
        plan: Plan,
        selection: Selection,
        features: Features,
        allocated: AllocatedState,
        node: Node,
        pools: Sequence[Pool],
    ) -> None:
        self.plan = plan
        self.selection = selection
        self.features = features
        self.allocated = allocated
        self.node = node
        self.pools = pools
        self.candidates = candidates(pools, allocated, features)
        self._selected: dict[tuple[int, int], Cause | None] = {}
        self._amounts: dict[tuple[int, int], Amounts] = {}
        self._values: dict[tuple[int, str, int], Value | None] = {}

    # --- per pool ---------------------------------------------------------------------------------------------------

    def counters(self, pool: Pool) -> PoolCounters:
        """The pool's counters as allocated devices leave them."""
        return PoolCounters(pool, self.allocated.pool(*pool.id))

    def groups(self, pool: Pool) -> PoolGroups:
        """The compatibility groups of allocated devices."""
        return PoolGroups(pool, self.allocated.pool(*pool.id))

    # --- per request ------------------------------------------------------------------------------------------------

    def enumerate(self, request: Request) -> list[int]:
        """The positions that ``All`` means. Raises :class:`Aborted`."""
        chosen: list[int] = []
        position = 0
        for pool in self.pools:
            if not pool.usable:
                raise Aborted(PoolNotUsableForAll(request.claim, request.name, pool.id, pool.incomplete))
            count = sum(len(slice_.spec.devices) for slice_ in pool.slices)
            chosen += [c.position for c in self.candidates[position : position + count] if self._belongs(request, c)]
            position += count
        return chosen

    def _belongs(self, request: Request, candidate: Candidate) -> bool:
        if self.unselected(request, candidate) is not None:
            return False
        if not self.features.consumable_capacity:
            return True
        amounts = self.amounts(request, candidate, enumerating=True)
        return amounts.missing is None and amounts.violated is None and amounts.lacking() is None

    # --- per device and request -------------------------------------------------------------------------------------

    def rejection(self, request: Request, candidate: Candidate) -> Cause | None:
        """Why the device can't serve an ``ExactCount`` request, whatever else is chosen. Raises :class:`Aborted`."""
        invalid = candidate.pool.invalid
        if invalid is not None and self.features.looks_at_pools_first:
            raise Aborted(InvalidPoolMet(candidate.pool.id, invalid.name))
        cause = self.in_use(request, candidate) or self.unselected(request, candidate)
        if cause is None and invalid is not None:
            raise Aborted(InvalidPoolMet(candidate.pool.id, invalid.name))
        if cause is None and self.features.consumable_capacity:
            cause = self.short(request, candidate)
        return cause or self.unsupported(request, candidate) or self.tainted(request, candidate)

    def refusal(self, request: Request, candidate: Candidate) -> Cause | None:
        """Why a device that ``All`` means can't be had, whatever else is chosen; capacity comes later."""
        return (
            self.in_use(request, candidate) or self.unsupported(request, candidate) or self.tainted(request, candidate)
        )

    def in_use(self, request: Request, candidate: Candidate) -> InUse | None:
        """Who holds the device as a whole; admin access does not mind."""
        if request.admin or candidate.state is None or not candidate.state.dedicated:
            return None
        return InUse(candidate.id, request.claim, request.full_name, tuple(candidate.state.holders))

    def unselected(self, request: Request, candidate: Candidate) -> Cause | None:
        """Why class, selectors or node selection leave the device out. Raises :class:`Aborted`."""
        key = (request.number, candidate.position)
        if key not in self._selected:
            self._selected[key] = self._unselected(request, candidate)
        return self._selected[key]

    def _unselected(self, request: Request, candidate: Candidate) -> Cause | None:
        unbindable = self.unbindable(request, candidate)
        if unbindable is not None:
            return unbindable
        refusing = self.selection.refusing(request, candidate)
        if refusing is not None:
            at = (candidate.id, request.claim, request.full_name)
            if refusing.device_class is not None:
                return NotInClass(*at, refusing.device_class, refusing.index, refusing.expression)
            return NotSelected(*at, refusing.index, refusing.expression)
        return self.elsewhere(request, candidate)

    def unbindable(self, request: Request, candidate: Candidate) -> FeatureOff | None:
        """A device with binding conditions while they are off."""
        if not candidate.device.binding_conditions or self.features.device_binding_and_status:
            return None
        return FeatureOff(candidate.id, request.claim, request.full_name, "DRADeviceBindingConditions")

    def elsewhere(self, request: Request, candidate: Candidate) -> OtherNode | None:
        """A device of a slice with per-device node selection that is not for the node. Raises :class:`Aborted`."""
        if not candidate.slice.spec.per_device_node_selection:
            return None
        device = candidate.device
        if not device.node_name and not device.all_nodes and device.node_selector is not None:
            check_selector(device.node_selector, None)
        if device_on_node(device, self.node):
            return None
        return OtherNode(candidate.id, request.claim, request.full_name)

    def amounts(self, request: Request, candidate: Candidate, enumerating: bool = False) -> Amounts:
        """What the request takes of the device. Raises :class:`Aborted`."""
        key = (request.number, candidate.position)
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

    def short(self, request: Request, candidate: Candidate) -> Cause | None:
        """Why capacity or its policy refuse, next to what is allocated. Raises :class:`Aborted`."""
        amounts = self.amounts(request, candidate)
        at = (candidate.id, request.claim, request.full_name)
        if amounts.missing is not None:
            return CapacityMissing(*at, amounts.missing)
        if amounts.violated is not None:
            return CapacityPolicyRefuses(*at, amounts.violated, str(amounts.quantities[amounts.violated]))
        state = candidate.state
        lacking = amounts.lacking() if state is None else amounts.lacking(state.consumed)
        return None if lacking is None else self.capacity_short(request, candidate, lacking)

    def capacity_short(self, request: Request, candidate: Candidate, lacking: tuple[str, int, int]) -> CapacityShort:
        """The cause for what :meth:`Amounts.lacking` found."""
        name, needs, left = lacking
        total = next(total for need, _, total in self.amounts(request, candidate).needs if need == name)
        holders = tuple(candidate.state.holders) if candidate.state is not None else ()
        return CapacityShort(candidate.id, request.claim, request.full_name, name, needs, left, total, holders)

    def unsupported(self, request: Request, candidate: Candidate) -> FeatureOff | None:
        """A feature that the device needs and that scheduler or node do not have."""
        at = (candidate.id, request.claim, request.full_name)
        # Only the experimental implementation looks at skipNodeOperations; the others allocate such devices.
        if candidate.slice.spec.skip_node_operations and self.features.implementation == "experimental":
            if not self.features.optional_node_operations:
                return FeatureOff(*at, NODE_FEATURE)
            if NODE_FEATURE not in self.node.status.declared_features:
                return FeatureOff(*at, NODE_FEATURE, on_node=True)
        if candidate.device.consumes_counters and not self.features.partitionable_devices:
            return FeatureOff(*at, "DRAPartitionableDevices")
        return None

    def tainted(self, request: Request, candidate: Candidate) -> Cause | None:
        """A taint that the request does not tolerate."""
        if not self.features.device_taints or not candidate.device.taints:
            return None
        taint = taints.preventing(candidate.device.taints, request.tolerations)
        return None if taint is None else Tainted(candidate.id, request.claim, request.full_name, taint)

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
