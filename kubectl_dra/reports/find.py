"""Pools and devices by the names that people type: ``[DRIVER/]POOL`` and ``[[DRIVER/]POOL/]DEVICE``.

Names of pools may contain slashes, so a word may mean several things; all of them are found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.evidence import POOL_FIELD, Fields, pool_fields
from kubectl_dra.model.ids import DeviceId, PoolId

_POOL: Final = ("pool", "pools")
_DEVICE: Final = ("device", "devices")


def find_pools(word: str, state: ClusterState) -> tuple[PoolId, ...]:
    """The pools that ``word`` names, sorted; ``pool/NAME`` is one as well, unless a pool is called so."""
    return pools_named(word, state.pools)


def pools_named(word: str, pools: Collection[PoolId]) -> tuple[PoolId, ...]:
    """Those of ``pools`` that ``word`` names, in their order."""
    found = tuple(pool for pool in pools if word in (pool.pool, str(pool)))
    name = _without_type(word, _POOL)
    return found or (pools_named(name, pools) if name != word else ())


def pool_selections(word: str) -> frozenset[Fields]:
    """Selections of slices, of which each one that ``word`` may name as a pool matches one."""
    name = _without_type(word, _POOL)
    return _pool_selections(word) | (_pool_selections(name) if name != word else frozenset())


def _pool_selections(word: str) -> frozenset[Fields]:
    driver, slash, pool = word.partition("/")
    whole: Fields = frozenset({(POOL_FIELD, word)})
    return frozenset({pool_fields(PoolId(driver, pool)), whole} if slash else {whole})


def device_selections(word: str) -> frozenset[Fields]:
    """As :func:`pool_selections` for the name of a device; none where any pool may have it."""
    pools = [name.rpartition("/")[0] for name in {word, _without_type(word, _DEVICE)}]
    return frozenset().union(*map(pool_selections, pools)) if all(pools) else frozenset()


def find_devices(word: str, state: ClusterState) -> tuple[DeviceId, ...]:
    """The devices of the newest generations that ``word`` names, sorted by pool, in their order in it."""
    found = tuple(dict.fromkeys(device for device in _devices(state, word) if word in _names(device)))
    name = _without_type(word, _DEVICE)
    return found or (find_devices(name, state) if name != word else ())


def _without_type(word: str, types: Sequence[str]) -> str:
    type_, slash, name = word.partition("/")
    return name if slash and type_.lower() in types else word


def _devices(state: ClusterState, word: str) -> Iterator[DeviceId]:
    last = word.rpartition("/")[2]
    for pool in state.pools:
        for slice_ in state.newest(pool):
            for device in slice_.spec.devices:
                if device.name == last:
                    yield DeviceId(*pool, device.name)


def _names(device: DeviceId) -> tuple[str, str, str]:
    return device.device, f"{device.pool}/{device.device}", str(device)


def pool_names(state: ClusterState) -> tuple[str, ...]:
    """Every word that names a pool, for near misses."""
    return tuple(dict.fromkeys(name for pool in state.pools for name in (pool.pool, str(pool))))


def devices_of(pool: PoolId, state: ClusterState) -> tuple[DeviceId, ...]:
    return tuple(DeviceId(*pool, device.name) for slice_ in state.newest(pool) for device in slice_.spec.devices)
