"""The devices of one node's pools in search order, as far as the search may come to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.allocation.input.allocated import AllocatedState, DeviceHold
from kubectl_dra.allocation.input.pools import NodePool
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import Device, ResourceSlice


class Candidate:
    """One device at its place in the search; ``state`` says how claims hold it, None if nobody does.

    ``shareable``: may be allocated several times, which also needs DRAConsumableCapacity.
    """

    __slots__ = ("device", "pool", "position", "shareable", "slice", "state")

    def __init__(
        self,
        position: int,
        pool: NodePool,
        slice_: ResourceSlice,
        device: Device,
        state: DeviceHold | None,
        shareable: bool,
    ) -> None:
        self.position = position
        self.pool = pool
        self.slice = slice_
        self.device = device
        self.state = state
        self.shareable = shareable

    @property
    def id(self) -> DeviceId:
        return DeviceId(self.pool.id.driver, self.pool.id.pool, self.device.name)


def offering(pools: Sequence[NodePool], features: Features) -> Iterator[NodePool]:
    """The pools whose devices are candidates: the usable ones; until 1.34 the others, too."""
    return (pool for pool in pools if pool.usable or not features.judges_whole_pools)


def candidates(pools: Sequence[NodePool], allocated: AllocatedState, features: Features) -> list[Candidate]:
    """All devices of the pools that offer any, in search order."""
    result: list[Candidate] = []
    consumable = features.consumable_capacity
    for pool in offering(pools, features):
        held = allocated.pool(*pool.id)
        for slice_ in pool.slices:
            for device in slice_.spec.devices:
                shareable = consumable and bool(device.allow_multiple_allocations)
                state = held.get(device.name) if held else None
                result.append(Candidate(len(result), pool, slice_, device, state, shareable))
    return result
