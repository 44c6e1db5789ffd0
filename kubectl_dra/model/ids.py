"""Names of things: device ids, pool ids, object keys."""

from __future__ import annotations

from typing import NamedTuple


class PoolId(NamedTuple):
    """A pool: names of pools are unique only within a driver."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceId(NamedTuple):
    """A device: the triple that the scheduler identifies it by."""

    driver: str
    pool: str
    device: str

    @property
    def pool_id(self) -> PoolId:
        return PoolId(self.driver, self.pool)

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class Key(NamedTuple):
    """Namespace and name of an object; the namespace is empty for cluster-scoped kinds."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name
