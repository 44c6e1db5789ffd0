"""The names by which slices publish devices, collected once for all the rules of a page."""

from __future__ import annotations

from functools import cached_property

from kubectl_dra.cluster import ClusterState
from kubectl_dra.selectors.mistyped import KnownNames


class PublishedNames:
    """Drivers, pools and devices. The name of a node is a right name of a pool, whether it has slices now or not."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._pools: dict[str | None, KnownNames] = {}

    @cached_property
    def drivers(self) -> KnownNames:
        return KnownNames(pool.driver for pool in self._state.pools)

    @cached_property
    def devices(self) -> KnownNames:
        facts = self._state
        return KnownNames(device.name for pool in facts.pools for _, device in facts.published(pool))

    def pools(self, driver: str | None = None) -> KnownNames:
        """Those of one driver, or of all."""
        if driver not in self._pools:
            names = (pool.pool for pool in self._state.pools if driver in (None, pool.driver))
            self._pools[driver] = KnownNames(names, self._state.inventory.nodes)
        return self._pools[driver]
