"""What DynamicResources reads of a node: the devices that its search sees, and what decides about allocated claims."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial

import msgspec

from kubectl_dra.allocation import ClaimSearch
from kubectl_dra.allocation.checks.checks import NODE_FEATURE
from kubectl_dra.allocation.input import nodes as node_selectors
from kubectl_dra.model.classic import is_searched
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.resource import AllocationResult, ResourceClaim
from kubectl_dra.scheduler.kinds import NOTHING, Reading, of_devices
from kubectl_dra.scheduler.plugins.node_resources_fit import allocatable_of
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot


class DeviceReads(msgspec.Struct, frozen=True):
    """What DynamicResources reads of nodes for one pod: ``asked`` are the extended resources that it asks for.

    ``mapped``: those that classes serve; ``made_up``: the claim for all of them, as which are needed differs from node
    to node.
    """

    snapshot: Snapshot
    claims: Sequence[ResourceClaim]
    asked: tuple[str, ...] = ()
    mapped: frozenset[str] = frozenset()
    made_up: ResourceClaim | None = None

    @property
    def searched(self) -> list[ResourceClaim]:
        """The claims for which devices are searched on some node."""
        return [*filter(is_searched, self.claims), *((self.made_up,) if self.made_up is not None else ())]

    def prepared(self) -> ClaimSearch | None:
        """The search that tells which nodes are alike; None where none is made."""
        claims = self.searched
        return (
            ClaimSearch(self.snapshot.state.devices, claims) if claims and can_search(self.snapshot, claims) else None
        )

    def reading(self, prepared: ClaimSearch | None) -> Reading | None:
        """None: of a cluster that is asked about once it is not worked out which nodes are alike."""
        key, parts = list[Hashable](), list[_Part]()
        if prepared is not None:
            if not prepared.cluster.alike.compares:
                return None
            key.append(prepared.selection.identity)
            parts.append(partial(_numbers, prepared))
        if self.mapped:
            key.append((self.asked, self.mapped))
            parts.append(partial(_offers, self.asked))
        for allocation in filter(None, (claim.status.allocation for claim in self.claims)):
            key.append((allocation.node_selector, _skips(allocation)))
            parts.append(partial(_usable, allocation))
        if not parts:
            return NOTHING
        return Reading(of_devices, tuple(key), partial(_together, parts))


_Part = Callable[[Sequence[NodeInfo]], Iterable[Hashable]]


def _together(parts: Sequence[_Part], nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
    return list(zip(*(part(nodes) for part in parts), strict=True))


def _numbers(prepared: ClaimSearch, nodes: Sequence[NodeInfo]) -> Iterator[Hashable]:
    found = prepared.cluster.alike.seen_by(prepared.selection).of({node.name: node.node for node in nodes})
    return (node.metadata.name if number is None else number for node, number in found)


def _offers(names: Sequence[str], nodes: Sequence[NodeInfo]) -> Iterator[Hashable]:
    """Of each resource whether the node knows it, and whether it offers any."""
    for node in nodes:
        known = node.node.status.allocatable
        yield tuple([(name in known, allocatable_of(node.node, name) == 0) for name in names])


def _usable(allocation: AllocationResult, nodes: Sequence[NodeInfo]) -> Iterator[Hashable]:
    return (usable_on(allocation, node) for node in nodes)


def usable_on(allocation: AllocationResult, node: NodeInfo) -> bool:
    """Whether a claim with this allocation can be used on the node."""
    if _skips(allocation) and NODE_FEATURE not in node.node.status.declared_features:
        return False
    selector = allocation.node_selector
    return selector is None or node_selectors.matches(selector, node.node)


def _skips(allocation: AllocationResult) -> bool:
    return any(result.skip_node_operations for result in allocation.devices.results)


def can_search(snapshot: Snapshot, claims: Sequence[ResourceClaim]) -> bool:
    """Whether everything was read that a search for these claims reads."""
    return snapshot.complete("ResourceSlice") and classes_known(snapshot, claims)


def classes_known(snapshot: Snapshot, claims: Sequence[ResourceClaim]) -> bool:
    """Whether every class that the claims name was read."""
    known = snapshot.inventory.classes
    missing = any(name not in known for claim in claims for name in class_names(claim.spec))
    return not missing or snapshot.complete("DeviceClass")
