"""The prototype devmgmtproto.k8s.io/v1alpha1: its three kinds as written, and the v1 records that carry them.

Two tags of the prototype's class are malformed, so that Go writes ``Driver`` and ``DeviceType``; both spellings are
read.
"""

from __future__ import annotations

import msgspec
from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import Condition, ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceSlice


class ConfigReference(Record, frozen=True):
    """``configs[]``: an object of a vendor's own kind; only a class's reference has a namespace."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""


# --- classes --------------------------------------------------------------------------------------------------------


class ProtoClassSpec(Record, frozen=True):
    driver: str = ""
    driver_by_go: str = field(default="", name="Driver")
    device_type: str = ""
    device_type_by_go: str = field(default="", name="DeviceType")
    constraints: str | None = None
    admin_access: bool | None = None
    configs: tuple[ConfigReference, ...] = ()

    @property
    def driver_name(self) -> str:
        """The driver, however it is spelled."""
        return self.driver or self.driver_by_go

    @property
    def type_name(self) -> str:
        """The device type, however it is spelled."""
        return self.device_type or self.device_type_by_go


class ProtoClass(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ProtoClassSpec = ProtoClassSpec()


# --- claims ---------------------------------------------------------------------------------------------------------


class ProtoClaimDetail(Record, frozen=True):
    """One request: devices of a class or of a type, until their sum satisfies ``requests``."""

    device_type: str | None = None
    device_class: str | None = None
    constraints: str | None = None
    requests: dict[str, Quantity] = field(default_factory=dict)
    limits: dict[str, Quantity] = field(default_factory=dict)
    match_attributes: tuple[str, ...] = ()
    configs: tuple[ConfigReference, ...] = ()


class ProtoClaimInstance(ProtoClaimDetail, frozen=True):
    """``claims[]``: a request, or alternatives in order of preference."""

    one_of: tuple[ProtoClaimDetail, ...] = ()


class ProtoClaimSpec(Record, frozen=True):
    """``spec`` of a claim; ``match_attributes`` here hold across all of its requests."""

    match_attributes: tuple[str, ...] = ()
    claims: tuple[ProtoClaimInstance, ...] = ()


class ProtoResourceAllocation(Record, frozen=True):
    """``allocations[]`` of a device: an amount of one of its resources."""

    name: str = ""
    allocation: Quantity = Quantity(0, text="0")


class ProtoDeviceAllocation(Record, frozen=True):
    """``status.allocations[]``: one device."""

    device_pool_name: str = ""
    device_name: str = ""
    allocations: tuple[ProtoResourceAllocation, ...] = ()


class ProtoDeviceIP(Record, frozen=True):
    """``deviceIPs[]``."""

    ip: str = ""


class ProtoDeviceStatus(Record, frozen=True):
    """``status.deviceStatuses[]``: what the driver reports of an allocated device."""

    device_pool_name: str = ""
    device_name: str = ""
    conditions: tuple[Condition, ...] = ()
    device_ip: str | None = field(default=None, name="deviceIP")
    device_ips: tuple[ProtoDeviceIP, ...] = field(default=(), name="deviceIPs")
    device_info: tuple[msgspec.Raw, ...] = ()
    allocations: tuple[ProtoResourceAllocation, ...] = ()


class ProtoClaimStatus(Record, frozen=True):
    class_configs: tuple[msgspec.Raw, ...] = ()
    claim_configs: tuple[msgspec.Raw, ...] = ()
    allocations: tuple[ProtoDeviceAllocation, ...] = ()
    device_statuses: tuple[ProtoDeviceStatus, ...] = ()
    pod_names: tuple[str, ...] = ()


class ProtoClaim(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ProtoClaimSpec = ProtoClaimSpec()
    status: ProtoClaimStatus = ProtoClaimStatus()


# --- pools ----------------------------------------------------------------------------------------------------------


class ProtoAttribute(Record, frozen=True):
    """An attribute; valid objects have exactly one value."""

    name: str = ""
    string_value: str | None = None
    int_value: int | None = None
    quantity_value: Quantity | None = None
    sem_ver_value: str | None = None


class ProtoResourceCapacity(Record, frozen=True):
    """An amount that is consumed in blocks of ``block_size`` (default 1)."""

    name: str = ""
    capacity: Quantity = Quantity(0, text="0")
    block_size: Quantity | None = None


class ProtoDevice(Record, frozen=True):
    """``devices[]``: ``requests`` draws on the pool's resources, ``resources`` are its own."""

    name: str = ""
    attributes: tuple[ProtoAttribute, ...] = ()
    requests: dict[str, Quantity] = field(default_factory=dict)
    resources: tuple[ProtoResourceCapacity, ...] = ()


class ProtoPoolSpec(Record, frozen=True):
    """``spec`` of a pool; where an attribute's name occurs twice the device's wins."""

    node_name: str | None = None
    driver: str = ""
    attributes: tuple[ProtoAttribute, ...] = ()
    resources: tuple[ProtoResourceCapacity, ...] = ()
    devices: tuple[ProtoDevice, ...] = ()


class ProtoPoolStatus(Record, frozen=True):
    available_devices: int = 0


class ProtoPool(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ProtoPoolSpec = ProtoPoolSpec()
    status: ProtoPoolStatus = ProtoPoolStatus()


# --- as v1 records --------------------------------------------------------------------------------------------------


class PrototypeClass(DeviceClass, frozen=True):
    """A class of the prototype in the v1 shape, with the original."""

    prototype: ProtoClass = ProtoClass()


class PrototypeClaim(ResourceClaim, frozen=True):
    """A claim of the prototype in the v1 shape, with the original."""

    prototype: ProtoClaim = ProtoClaim()


class PrototypeSlice(ResourceSlice, frozen=True):
    """A pool of the prototype as one slice, with the original."""

    prototype: ProtoPool = ProtoPool()
