"""What is allocated already: which devices are held, dedicated or shared, and how much of them is consumed.

Upstream: the dynamicresources plugin's foreachAllocatedDevice. The result decides between dedicated and shared, never
the slice; results with admin access do not count; consumption of a device is the sum over all claims.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from itertools import compress
from typing import Final

from kubectl_dra.model import differences
from kubectl_dra.model.edited import edited
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import DeviceRequestAllocationResult, ResourceClaim

NANO: Final = -9


def nano(quantity: Quantity) -> int:
    """An amount in 1e-9 units: exact for every quantity that the API can hold."""
    return quantity.at_scale(NANO)[0]


_NONE_CONSUMED: Final[Mapping[str, int]] = {}


class DeviceHold:
    """How one device is held: ``consumed`` per capacity in 1e-9 units, ``holders`` the claims in the order read."""

    __slots__ = ("consumed", "dedicated", "holders", "shared")

    def __init__(self) -> None:
        self.dedicated = False
        self.shared = False
        self.consumed: Mapping[str, int] = _NONE_CONSUMED
        self.holders: list[Key] = []

    @property
    def signature(self) -> tuple[object, ...]:
        """All that a search can see of it."""
        return self.dedicated, self.shared, tuple(sorted(self.consumed.items()))


PoolState = Mapping[str, DeviceHold]
_NOTHING: Final[PoolState] = {}


class AllocatedState:
    """The state of all held devices, by pool and device name."""

    def __init__(self, claims: Iterable[ResourceClaim], features: Features) -> None:
        self._consumable = features.consumable_capacity
        #: Pools in which it is not what it was before, where it was made from an earlier state.
        self.changed: Collection[tuple[str, str]] = ()
        # Of a later state an edited copy, which knows what differs.
        self._pools: dict[tuple[str, str], dict[str, DeviceHold]] = {}
        #: Devices held with admin access, by pool.
        self._admin: dict[tuple[str, str], set[str]] = {}
        for claim in claims:
            self._add_claim(claim, None)

    def later(self, before: Mapping[Key, ResourceClaim], after: Mapping[Key, ResourceClaim]) -> AllocatedState:
        """The state when the claims ``before``, which this one was made of, have become those ``after``.

        Pools in which nobody's allocation has changed have the same state object.
        """
        changed = changed_allocations(before, after)
        pools = {pool for key in changed for pool in _pools_of(before.get(key), after.get(key))}
        other = AllocatedState.__new__(AllocatedState)
        other.changed = pools
        other._consumable = self._consumable
        other._pools, other._admin = {}, {}
        # Those with admin access are not among the holders.
        admins = any(pool in self._admin for pool in pools)
        holders = (
            before if admins else (key for pool in pools for held in self.pool(*pool).values() for key in held.holders)
        )
        # In the order of the claims, as if nothing had been before.
        wanted = {*holders, *changed}
        for claim in compress(after.values(), map(wanted.__contains__, after)) if wanted else ():
            other._add_claim(claim, pools)
        other._pools = edited(self._pools, other._pools, pools)
        other._admin = edited(self._admin, other._admin, pools)
        return other

    def _add_claim(self, claim: ResourceClaim, pools: Container[tuple[str, str]] | None) -> None:
        """Add what a claim holds, in these ``pools`` only if there are any."""
        if claim.status.allocation is None:
            return
        key = Key(claim.metadata.namespace, claim.metadata.name)
        for result in claim.status.allocation.devices.results:
            pool = result.driver, result.pool
            if pools is not None and pool not in pools:
                continue
            if result.admin_access:
                self._admin.setdefault(pool, set()).add(result.device)
            else:
                self._add(key, result, self._consumable)

    def _add(self, key: Key, result: DeviceRequestAllocationResult, consumable: bool) -> None:
        pool = self._pools.setdefault((result.driver, result.pool), {})
        state = pool.get(result.device)
        if state is None:
            state = pool[result.device] = DeviceHold()
        state.holders.append(key)
        if result.share_id is None or not consumable:
            state.dedicated = True
            return
        state.shared = True
        more = {name: state.consumed.get(name, 0) + nano(each) for name, each in result.consumed_capacity.items()}
        state.consumed = {**state.consumed, **more}

    def pool(self, driver: str, pool: str) -> PoolState:
        """The held devices of a pool by name."""
        return self._pools.get((driver, pool), _NOTHING)

    def differing(self, other: AllocatedState) -> Collection[tuple[str, str]]:
        """The pools that have not the same state object in both."""
        if self is other:
            return ()
        return {*differences.changed(other._pools, self._pools), *differences.gone(other._pools, self._pools)}

    def admin(self, driver: str, pool: str) -> Collection[str]:
        """The names of the devices of a pool that are held with admin access."""
        return self._admin.get((driver, pool), ())


def changed_allocations(before: Mapping[Key, ResourceClaim], after: Mapping[Key, ResourceClaim]) -> list[Key]:
    """The claims whose allocation is not what it was, those that have come or gone included."""
    others = (key for key in differences.changed(before, after) if _differs(before.get(key), after[key]))
    return [*differences.gone(before, after), *others]


def _differs(old: ResourceClaim | None, new: ResourceClaim) -> bool:
    return old is None or old.status.allocation != new.status.allocation


def _pools_of(*claims: ResourceClaim | None) -> Iterator[tuple[str, str]]:
    for claim in claims:
        if claim is not None and claim.status.allocation is not None:
            for result in claim.status.allocation.devices.results:
                yield result.driver, result.pool
