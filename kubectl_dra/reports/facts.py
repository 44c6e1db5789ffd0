"""What every view of pools and devices is computed from: the facts, and the allocator's own indexes over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from kubectl_dra.allocation import nodes
from kubectl_dra.allocation.allocated import AllocatedState
from kubectl_dra.allocation.pools import SliceIndex
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import DeviceTaintRule, ResourceSlice
from kubectl_dra.reports.health import Health, health_by_device
from kubectl_dra.reports.taints import rules_in_force


@dataclass(frozen=True)
class Facts:
    """One Inventory with its evidence and the features assumed; ``as_of`` is the time of the facts (RFC 3339)."""

    inventory: Inventory
    evidence: Evidence
    features: Features
    as_of: str = ""

    @cached_property
    def slices(self) -> SliceIndex:
        """All slices as the allocator indexes them."""
        return SliceIndex(self.inventory.slices.values(), self.features)

    @cached_property
    def allocated(self) -> AllocatedState:
        """What all claims hold."""
        return AllocatedState(self.inventory.claims.values(), self.features)

    @cached_property
    def rules(self) -> tuple[DeviceTaintRule, ...]:
        """The taint rules in force."""
        return rules_in_force(self.inventory, self.features)

    @cached_property
    def health(self) -> Mapping[DeviceId, tuple[Health, ...]]:
        """What kubelets report of devices."""
        return health_by_device(self.inventory)

    @cached_property
    def pools(self) -> tuple[PoolId, ...]:
        """All pools, sorted."""
        return tuple(sorted(self.inventory.slices_by_pool))

    def matching_nodes(self, selector: NodeSelector) -> frozenset[str] | None:
        """The names of the nodes that a selector matches; None where nodes were not read or it can't be parsed."""
        if selector not in self._matching:
            parsed = nodes.parse(selector)
            known = self.evidence.complete("Node") and not parsed.problems
            found = (name for name, node in self.inventory.nodes.items() if parsed.matches(node)) if known else ()
            self._matching[selector] = frozenset(found) if known else None
        return self._matching[selector]

    @cached_property
    def _matching(self) -> dict[NodeSelector, frozenset[str] | None]:
        return {}

    def newest(self, pool: PoolId) -> tuple[ResourceSlice, ...]:
        """The slices of a pool's newest generation, by name."""
        slices = self.inventory.slices_by_pool.get(pool, ())
        generation = max((slice_.spec.pool.generation for slice_ in slices), default=0)
        current = (slice_ for slice_ in slices if slice_.spec.pool.generation == generation)
        return tuple(sorted(current, key=lambda slice_: slice_.metadata.name))
