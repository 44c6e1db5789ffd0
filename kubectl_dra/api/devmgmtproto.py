"""devmgmtproto.k8s.io/v1alpha1: the prototype's classes, claims and pools, and what they mean in the v1 shape.

What has no equal there goes to :class:`Losses`.
Upstream: k8srm-prototype of kubernetes-sigs/wg-device-management, pkg/api and pkg/schedule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.api.devmgmtproto_pools import pool_to_record
from kubectl_dra.api.losses import Losses
from kubectl_dra.api.names import AS_WRITTEN, WrittenNames
from kubectl_dra.api.oldcel import UntranslatableError, prototype_selector, quoted, written_selector
from kubectl_dra.api.shapes import Shape
from kubectl_dra.model.proto import (
    ProtoClaim,
    ProtoClaimDetail,
    ProtoClaimInstance,
    ProtoClaimStatus,
    ProtoClass,
    ProtoDeviceStatus,
    ProtoPool,
    PrototypeClaim,
    PrototypeClass,
    PrototypeSlice,
)
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    AllocatedDeviceStatus,
    AllocationResult,
    CapacityRequirements,
    DeviceAllocationResult,
    DeviceClaim,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceRequest,
    DeviceRequestAllocationResult,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
    NetworkDeviceData,
    ResourceClaimSpec,
    ResourceClaimStatus,
)

COUNT: Final = "count"


@dataclass(frozen=True)
class Surroundings:
    """The objects that a claim's types, classes and pools refer to, as far as they are known, and how names change."""

    classes: tuple[ProtoClass, ...] = ()
    pools: tuple[ProtoPool, ...] = ()
    names: WrittenNames = AS_WRITTEN

    @cached_property
    def class_by_name(self) -> Mapping[str, ProtoClass]:
        return {c.metadata.name: c for c in self.classes}

    @cached_property
    def driver_by_pool(self) -> Mapping[str, str]:
        return {pool.metadata.name: pool.spec.driver for pool in self.pools}

    @cached_property
    def quantities(self) -> frozenset[str]:
        """The names of attributes that are quantities, which v1 has as capacity."""
        specs = [pool.spec for pool in self.pools]
        lists = [spec.attributes for spec in specs] + [d.attributes for spec in specs for d in spec.devices]
        return frozenset(a.name for attributes in lists for a in attributes if a.quantity_value is not None)

    def classes_of_type(self, device_type: str) -> tuple[ProtoClass, ...]:
        """The classes that provide a device type, in the order in which they were read."""
        return tuple(c for c in self.classes if c.spec.type_name == device_type)


NOTHING_ELSE: Final = Surroundings()


# --- classes --------------------------------------------------------------------------------------------------------


def class_to_record(
    class_: ProtoClass, surroundings: Surroundings = NOTHING_ELSE, losses: Losses | None = None
) -> PrototypeClass:
    """The v1 record of a class: its driver and its constraints become selectors."""
    spec, losses = class_.spec, (losses or Losses()).at("spec")
    selectors = []
    if spec.driver_name:
        selectors.append(written_selector(f"device.driver == {quoted(surroundings.names.driver(spec.driver_name))}"))
    selectors += _constraints(spec.constraints, spec.driver_name, surroundings, losses)
    if spec.type_name:
        losses.at("deviceType").add("v1 classes have no device type; claims by type are resolved to classes")
    if spec.admin_access:
        losses.at("adminAccess").add("v1 grants admin access per request, in namespaces labelled for it")
    for index, config in enumerate(spec.configs):
        losses.at(f"configs[{index}]").add(_config_loss(config.kind, config.name))
    return PrototypeClass(class_.metadata, DeviceClassSpec(tuple(selectors)), class_)


def _constraints(
    expression: str | None, driver: str, surroundings: Surroundings, losses: Losses
) -> Iterator[DeviceSelector]:
    if not expression:
        return
    try:
        yield written_selector(prototype_selector(expression, driver, surroundings.names, surroundings.quantities))
    except UntranslatableError as error:
        losses.at("constraints").add(f"{error}; devices are not restricted by it")


def _config_loss(kind: str, name: str) -> str:
    return f"v1 holds a driver's parameters in the object itself; copy them from {kind} {name}"


# --- claims ---------------------------------------------------------------------------------------------------------


def claim_to_record(
    claim: ProtoClaim, surroundings: Surroundings = NOTHING_ELSE, losses: Losses | None = None
) -> PrototypeClaim:
    """The v1 record of a claim: one request per entry of ``claims``, ``oneOf`` as alternatives."""
    losses = losses or Losses()
    requests: list[DeviceRequest] = []
    constraints: list[DeviceConstraint] = []
    for index, instance in enumerate(claim.spec.claims):
        here = losses.at(f"spec.claims[{index}]")
        name = f"request-{index}"
        choices = _choices(instance, surroundings, here)
        requests.append(_request(name, [choice for _, choice in choices], bool(instance.one_of), here))
        constraints += _matching(instance, (name,), surroundings, here)
        for number, detail in enumerate(instance.one_of):
            targets = tuple(f"{name}/option-{i}" for i, (origin, _) in enumerate(choices) if origin == number)
            constraints += _matching(detail, targets, surroundings, here.at(f"oneOf[{number}]"))
    everything = [d for instance in claim.spec.claims for d in (instance.one_of or (instance,))]
    constraints += _across(claim.spec.match_attributes, everything, surroundings, losses.at("spec"))
    spec = ResourceClaimSpec(DeviceClaim(tuple(requests), tuple(constraints)))
    status = _status(claim.status, surroundings, losses.at("status"))
    return PrototypeClaim(claim.metadata, spec, status, claim)


def _choices(
    instance: ProtoClaimInstance, surroundings: Surroundings, losses: Losses
) -> list[tuple[int, ExactDeviceRequest]]:
    """One request per alternative and class, with the alternative's index: a device type may have several classes."""
    choices: list[tuple[int, ExactDeviceRequest]] = []
    if instance.one_of:
        _note_overruled(instance, losses)
    for number, detail in enumerate(instance.one_of or (instance,)):
        here = losses.at(f"oneOf[{number}]") if instance.one_of else losses
        choices += [
            (number, _exactly(detail, name, surroundings, here)) for name in _classes(detail, surroundings, here)
        ]
    return choices


def _note_overruled(instance: ProtoClaimInstance, losses: Losses) -> None:
    """What an entry says itself beside the alternatives that it lists."""
    own: dict[str, object] = {
        "deviceType": instance.device_type,
        "deviceClass": instance.device_class,
        "constraints": instance.constraints,
        "requests": instance.requests,
        "limits": instance.limits,
        "configs": instance.configs,
    }
    for name in (name for name, value in own.items() if value):
        losses.at(name).add("the alternatives of oneOf count instead")


def _classes(detail: ProtoClaimDetail, surroundings: Surroundings, losses: Losses) -> list[str]:
    if detail.device_class:
        if detail.device_type:
            losses.at("deviceType").add("the class that is named counts instead")
        return [detail.device_class]
    if not detail.device_type:
        losses.add("neither deviceClass nor deviceType is set")
        return [""]
    names = [c.metadata.name for c in surroundings.classes_of_type(detail.device_type)]
    if not names:
        losses.at("deviceType").add(
            f"no class of type {detail.device_type!r} is known; a class of that name is assumed"
        )
    elif len(names) > 1:
        losses.at("deviceType").add(f"becomes a choice of the classes known today, in this order: {', '.join(names)}")
    return names or [detail.device_type]


def _exactly(
    detail: ProtoClaimDetail, class_name: str, surroundings: Surroundings, losses: Losses
) -> ExactDeviceRequest:
    class_ = surroundings.class_by_name.get(class_name)
    driver = class_.spec.driver_name if class_ else ""
    count = _count(detail.requests, losses.at("requests"))
    names = surroundings.names
    amounts = {names.attribute(name): amount for name, amount in detail.requests.items() if name != COUNT}
    if amounts and count > 1:
        losses.at("requests").add("amounts held for all devices together; in v1 they hold for each device")
    _limits(detail.limits, detail.requests, losses)
    for index, config in enumerate(detail.configs):
        losses.at(f"configs[{index}]").add(_config_loss(config.kind, config.name))
    return ExactDeviceRequest(
        device_class_name=surroundings.names.object(class_name),
        selectors=tuple(_constraints(detail.constraints, driver, surroundings, losses)),
        allocation_mode="ExactCount",
        count=count,
        admin_access=True if class_ is not None and class_.spec.admin_access else None,
        capacity=CapacityRequirements(amounts) if amounts else None,
    )


def _count(requests: Mapping[str, Quantity], losses: Losses) -> int:
    asked = requests.get(COUNT)
    if asked is None:
        return 1
    whole = asked.ceil()
    if asked.cmp(Quantity(whole)) != 0 or whole < 1:
        losses.at(COUNT).add(f"{asked} is not a number of devices; {max(whole, 1)} is taken")
    return max(whole, 1)


def _limits(limits: Mapping[str, Quantity], requests: Mapping[str, Quantity], losses: Losses) -> None:
    for name, limit in limits.items():
        asked = requests.get(name, Quantity(1) if name == COUNT else Quantity(0))
        if limit.cmp(asked) != 0:
            losses.at("limits").at(name).add("v1 requests an exact count, and amounts without an upper limit")


def _request(name: str, choices: list[ExactDeviceRequest], alternatives: bool, losses: Losses) -> DeviceRequest:
    if len(choices) == 1 and not alternatives:
        return DeviceRequest(name, choices[0])
    if any(choice.admin_access for choice in choices):
        losses.add("admin access of the class: v1 has none for alternatives")
    return DeviceRequest(name, None, tuple(_option(f"option-{i}", choice) for i, choice in enumerate(choices)))


def _option(name: str, choice: ExactDeviceRequest) -> DeviceSubRequest:
    return DeviceSubRequest(
        name, choice.device_class_name, choice.selectors, choice.allocation_mode, choice.count, (), choice.capacity
    )


def _matching(
    detail: ProtoClaimDetail, targets: tuple[str, ...], surroundings: Surroundings, losses: Losses
) -> list[DeviceConstraint]:
    return [
        DeviceConstraint(targets, match_attribute=name)
        for name in _qualified(detail.match_attributes, [detail], surroundings, losses)
    ]


def _across(
    attributes: tuple[str, ...], details: list[ProtoClaimDetail], surroundings: Surroundings, losses: Losses
) -> list[DeviceConstraint]:
    return [
        DeviceConstraint((), match_attribute=name) for name in _qualified(attributes, details, surroundings, losses)
    ]


def _qualified(
    attributes: tuple[str, ...], details: list[ProtoClaimDetail], surroundings: Surroundings, losses: Losses
) -> Iterator[str]:
    drivers = {driver for detail in details for driver in _drivers(detail, surroundings)}
    for index, attribute in enumerate(attributes):
        if "/" in attribute:
            yield surroundings.names.attribute(attribute)
        elif len(drivers) == 1 and "" not in drivers:
            yield surroundings.names.attribute(f"{next(iter(drivers))}/{attribute}")
        else:
            why = "devices of several drivers" if len(drivers) > 1 else "an unknown driver"
            losses.at(f"matchAttributes[{index}]").add(f"v1 matches attributes of one domain, this is for {why}")


def _drivers(detail: ProtoClaimDetail, surroundings: Surroundings) -> list[str]:
    if detail.device_class:
        class_ = surroundings.class_by_name.get(detail.device_class)
        return [class_.spec.driver_name if class_ is not None else ""]
    return [c.spec.driver_name for c in surroundings.classes_of_type(detail.device_type or "")] or [""]


# --- status ---------------------------------------------------------------------------------------------------------


def _status(status: ProtoClaimStatus, surroundings: Surroundings, losses: Losses) -> ResourceClaimStatus:
    names = surroundings.names
    drivers = {pool: names.driver(driver) for pool, driver in surroundings.driver_by_pool.items()}
    for name in ("class_configs", "claim_configs"):
        if getattr(status, name):
            losses.at(name.replace("_c", "C")).add("v1 records parameters with their driver, which is not known here")
    if status.pod_names:
        losses.at("podNames").add("v1 records consumers with their uid, which is not known here")
    results = tuple(
        DeviceRequestAllocationResult(
            driver=drivers.get(allocation.device_pool_name, ""),
            pool=names.object(allocation.device_pool_name),
            device=names.device(allocation.device_name),
            consumed_capacity={names.attribute(amount.name): amount.allocation for amount in allocation.allocations},
        )
        for allocation in status.allocations
    )
    return ResourceClaimStatus(
        allocation=AllocationResult(DeviceAllocationResult(results)) if results else None,
        devices=tuple(_device_status(device, drivers, names) for device in status.device_statuses),
    )


def _device_status(status: ProtoDeviceStatus, drivers: Mapping[str, str], names: WrittenNames) -> AllocatedDeviceStatus:
    ips = tuple(entry.ip for entry in status.device_ips) or ((status.device_ip,) if status.device_ip else ())
    return AllocatedDeviceStatus(
        driver=drivers.get(status.device_pool_name, ""),
        pool=names.object(status.device_pool_name),
        device=names.device(status.device_name),
        conditions=status.conditions,
        data=status.device_info[0] if status.device_info else msgspec.UNSET,
        network_data=NetworkDeviceData(ips=ips) if ips else None,
    )


# --- shapes ---------------------------------------------------------------------------------------------------------


def _original(record: PrototypeClass | PrototypeClaim | PrototypeSlice) -> ProtoClass | ProtoClaim | ProtoPool:
    return replace(record.prototype, metadata=record.metadata)


SHAPES: Final[Mapping[str, Shape]] = {
    "DeviceClass": Shape(ProtoClass, class_to_record, _original),
    "ResourceClaim": Shape(ProtoClaim, claim_to_record, _original, kind="DeviceClaim"),
    "ResourceSlice": Shape(ProtoPool, pool_to_record, _original, kind="DevicePool"),
}
