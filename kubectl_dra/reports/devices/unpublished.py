"""Devices that claims have and that no slice of the newest generation publishes: only the claims tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.claim_verdicts import is_unpublished, is_vanished, selected_names
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import Holding
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.devices.holders import Holder, holder_of
from kubectl_dra.reports.devices.open_pool import PoolFacts
from kubectl_dra.reports.find import pools_named


class AllocatedDevice(ReportRecord, frozen=True):
    """A device of which only claims tell: no slice has it, or none that was read."""

    driver: str
    pool: str
    device: str
    holders: tuple[Holder, ...]


def unpublished_of_node(node: str, state: ClusterState) -> Iterator[AllocatedDevice]:
    """By name; an allocation names the node that alone reaches all of its devices."""
    for where, device, here in unpublished(state):
        if where == node:
            yield _record(device, here, state)


def unpublished(state: ClusterState) -> Iterator[tuple[str, DeviceId, list[Holding]]]:
    """All of them, with the node of those who have them."""
    for device, holdings in sorted(state.inventory.holdings_by_device.items()):
        if not is_unpublished(state.inventory, device):
            continue
        by_node: dict[str, list[Holding]] = {}
        for each in _lasting(holdings):
            by_node.setdefault(_node_of(each.claim), []).append(each)
        yield from ((node, device, here) for node, here in by_node.items() if node)


def vanished(state: ClusterState) -> tuple[str, ...]:
    """What claims hold and certainly no slice publishes any more, by name: no list of published devices has it."""
    inventory = state.inventory
    return tuple(
        str(device)
        for device, holdings in sorted(inventory.holdings_by_device.items())
        if any(True for _ in _lasting(holdings)) and is_vanished(inventory, state.evidence, device)
    )


def unpublished_of_pool(opened: PoolFacts) -> Iterator[AllocatedDevice]:
    """Those of one pool, by name; none where not all of its slices could be read."""
    holdings = opened.state.inventory.holdings_by_device
    for name in unpublished_names(opened):
        device = DeviceId(opened.id.driver, opened.id.pool, name)
        yield _record(device, _lasting(holdings.get(device, ())), opened.state)


def held_in_pools(state: ClusterState, word: str = "") -> tuple[AllocatedDevice, ...]:
    """What claims have in the pools that ``word`` names (empty: in all), by name, whether or not slices publish it."""
    holdings = state.inventory.holdings_by_device
    named = {device.pool_id for device in holdings}
    pools = pools_named(word, named) if word else named
    found = (
        _record(device, _lasting(holdings[device]), state) for device in sorted(holdings) if device.pool_id in pools
    )
    return tuple(each for each in found if each.holders)


def unpublished_names(opened: PoolFacts) -> list[str]:
    if not opened.held or not opened.evidence.complete("ResourceSlice"):
        return []
    return sorted(opened.held.keys() - {device.name for _, device in opened.devices()})


def _record(device: DeviceId, holdings: Iterable[Holding], state: ClusterState) -> AllocatedDevice:
    holders = tuple(holder_of(each, state) for each in holdings)
    return AllocatedDevice(device.driver, device.pool, device.device, holders)


def _lasting(holdings: Iterable[Holding]) -> Iterator[Holding]:
    """With admin access nothing is taken."""
    return (each for each in holdings if not each.result.admin_access)


def _node_of(claim: ResourceClaim) -> str:
    allocation = claim.status.allocation
    names = selected_names(allocation.node_selector) if allocation is not None else ()
    return names[0] if len(names) == 1 else ""
