"""Pools of devmgmtproto.k8s.io/v1alpha1 as slices of the v1 shape; what has no equal there goes to :class:`Losses`."""

from __future__ import annotations

from typing import Final

from kubectl_dra.api.losses import Losses
from kubectl_dra.api.names import AS_WRITTEN, WrittenNames
from kubectl_dra.model.proto import ProtoAttribute, ProtoDevice, ProtoPool, ProtoResourceCapacity, PrototypeSlice
from kubectl_dra.model.resource import (
    CapacityRange,
    CapacityRequestPolicy,
    Counter,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    ResourcePool,
    ResourceSliceSpec,
)
from kubectl_dra.model.semver import Semver, SemverError

POOL_RESOURCES: Final = "pool"  # name of the counter set that a pool's resources become


def pool_to_record(pool: ProtoPool, names: WrittenNames = AS_WRITTEN, losses: Losses | None = None) -> PrototypeSlice:
    """The v1 record of a pool: one slice; its shared resources become a counter set that its devices draw on."""
    spec, losses = pool.spec, (losses or Losses()).at("spec")
    for index, resource in enumerate(spec.resources):
        if resource.block_size is not None:
            losses.at(f"resources[{index}].blockSize").add("v1 counters have no block size")
    counters = {names.device(resource.name): Counter(resource.capacity) for resource in spec.resources}
    devices = tuple(
        _device(device, spec.attributes, names, losses.at(f"devices[{index}]"))
        for index, device in enumerate(spec.devices)
    )
    v1 = ResourceSliceSpec(
        driver=names.driver(spec.driver),
        pool=ResourcePool(names.object(pool.metadata.name), resource_slice_count=1),
        node_name=spec.node_name or None,
        all_nodes=None if spec.node_name else True,
        devices=devices,
        shared_counters=(CounterSet(POOL_RESOURCES, counters),) if counters else (),
    )
    return PrototypeSlice(pool.metadata, v1, pool)


def _device(device: ProtoDevice, shared: tuple[ProtoAttribute, ...], names: WrittenNames, losses: Losses) -> Device:
    attributes = {names.attribute(attribute.name): attribute for attribute in (*shared, *device.attributes)}
    amounts = {name: a.quantity_value for name, a in attributes.items() if a.quantity_value is not None}
    consumed = {names.device(name): Counter(amount) for name, amount in device.requests.items()}
    own = {names.attribute(resource.name): _capacity(resource, losses) for resource in device.resources}
    for name in amounts.keys() & own.keys():
        losses.at("attributes").at(name).add("the device's resource of the same name is kept instead")
    return Device(
        name=names.device(device.name),
        attributes={
            name: _attribute(attribute, losses.at("attributes").at(name))
            for name, attribute in attributes.items()
            if attribute.quantity_value is None
        },
        capacity={name: DeviceCapacity(amount) for name, amount in amounts.items()} | own,
        consumes_counters=(CounterConsumption(POOL_RESOURCES, consumed),) if consumed else (),
        allow_multiple_allocations=True if device.resources else None,
    )


def _attribute(attribute: ProtoAttribute, losses: Losses) -> DeviceAttribute:
    version = attribute.sem_ver_value
    if version is None:
        return DeviceAttribute(int_value=attribute.int_value, string=attribute.string_value)
    try:
        Semver.parse(version)
    except SemverError:
        losses.add(f"{version!r} is not a semantic version 2.0.0; it becomes a string")
        return DeviceAttribute(string=version)
    return DeviceAttribute(version=version)


def _capacity(resource: ProtoResourceCapacity, losses: Losses) -> DeviceCapacity:
    block = resource.block_size
    if block is None:
        return DeviceCapacity(resource.capacity)
    if block.sign <= 0 or block.add(block).cmp(resource.capacity) > 0:
        losses.at("resources").at(resource.name).add(f"a capacity of {resource.capacity} has no blocks of {block}")
        return DeviceCapacity(resource.capacity)
    policy = CapacityRequestPolicy(default=block, valid_range=CapacityRange(min=block, step=block))
    return DeviceCapacity(resource.capacity, policy)
