"""What is allocated already: which devices are held, dedicated or shared, and how much of them is consumed.

Upstream: the dynamicresources plugin's foreachAllocatedDevice. The result decides between dedicated and shared, never
the slice; results with admin access do not count; consumption of a device is the sum over all claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import DeviceRequestAllocationResult, ResourceClaim

NANO: Final = -9


def nano(quantity: Quantity) -> int:
    """An amount in 1e-9 units: exact for every quantity that the API can hold."""
    return quantity.at_scale(NANO)[0]


class DeviceState:
    """How one device is held: ``consumed`` per capacity in 1e-9 units, ``holders`` the claims in the order read."""

    __slots__ = ("consumed", "dedicated", "holders", "shared")

    def __init__(self) -> None:
        self.dedicated = False
        self.shared = False
        self.consumed: dict[str, int] = {}
        self.holders: list[Key] = []

    @property
    def signature(self) -> tuple[object, ...]:
        """All that a search can see of it."""
        return self.dedicated, self.shared, tuple(sorted(self.consumed.items()))


PoolState = Mapping[str, DeviceState]
_NOTHING: Final[PoolState] = {}


class AllocatedState:
    """The state of all held devices, by pool and device name."""

    def __init__(self, claims: Iterable[ResourceClaim], features: Features) -> None:
        self._pools: dict[tuple[str, str], dict[str, DeviceState]] = {}
        for claim in claims:
            allocation = claim.status.allocation
            if allocation is not None:
                key = Key(claim.metadata.namespace, claim.metadata.name)
                for result in allocation.devices.results:
                    if not result.admin_access:
                        self._add(key, result, features.consumable_capacity)

    def _add(self, key: Key, result: DeviceRequestAllocationResult, consumable: bool) -> None:
        pool = self._pools.setdefault((result.driver, result.pool), {})
        state = pool.get(result.device)
        if state is None:
            state = pool[result.device] = DeviceState()
        state.holders.append(key)
        if result.share_id is None or not consumable:
            state.dedicated = True
            return
        state.shared = True
        for name, amount in result.consumed_capacity.items():
            state.consumed[name] = state.consumed.get(name, 0) + nano(amount)

    def pool(self, driver: str, pool: str) -> PoolState:
        """The held devices of a pool by name."""
        return self._pools.get((driver, pool), _NOTHING)

    def get(self, device: DeviceId) -> DeviceState | None:
        """The state of a device, None if nobody holds it."""
        return self.pool(device.driver, device.pool).get(device.device)
