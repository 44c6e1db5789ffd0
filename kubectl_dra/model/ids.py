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

    @classmethod
    def of(cls, text: str) -> DeviceId:
        """The device that is written as ``DRIVER/POOL/DEVICE``; the pool may itself have slashes.

        Of a text with fewer slashes the driver and the device are what is there, and the rest is empty.
        """
        driver, _, rest = text.partition("/")
        pool, _, device = rest.rpartition("/")
        return cls(driver, pool, device)

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
