"""Changed clusters: pure functions from an Inventory to the one that an action would lead to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

import msgspec

from kubectl_dra.diagnosis.remedies.detaching import detached
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod
from kubectl_dra.model.edited import edited
from kubectl_dra.model.forms import Form
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ManagedFields
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.resource import (
    Device,
    DeviceAttribute,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceSlice,
)
from kubectl_dra.model.storage import (
    CLASS_ANNOTATION,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
)
from kubectl_dra.model.usage import NodeUsage, pod_usage, usage_of
from kubectl_dra.model.volumes import PersistentVolumeClaimSpec
from kubectl_dra.scheduler.claims import FINALIZER
from kubectl_dra.scheduler.storage import VolumeOwner

T = TypeVar("T")
K = TypeVar("K")
Change = Callable[[Inventory], Inventory]
SpecEdit = Callable[[ResourceClaimSpec], ResourceClaimSpec]
#: Of what would be written: later than everything that anybody has said.
_WRITTEN_LAST: Final = (ManagedFields("9999-12-31T23:59:59Z"),)


def put(objects: Mapping[K, T], key: K, value: T) -> Mapping[K, T]:
    return edited(objects, {key: value})


class ClaimEdit(msgspec.Struct, frozen=True):
    """A change: the claim with another spec."""

    key: Key
    edit: SpecEdit

    def __call__(self, inventory: Inventory) -> Inventory:
        claim = inventory.claims[self.key]
        edited = msgspec.structs.replace(claim, spec=self.edit(claim.spec))
        return inventory.replace(claims=put(inventory.claims, self.key, edited))


class PodEdit(msgspec.Struct, frozen=True):
    """A change: the pod with another spec."""

    key: Key
    edit: Callable[[Pod], Pod]

    def __call__(self, inventory: Inventory) -> Inventory:
        return inventory.replace(pods=put(inventory.pods, self.key, self.edit(inventory.pods[self.key])))


class VolumeClaimRenewal(msgspec.Struct, frozen=True):
    """A change: the claim as a new one with another spec, and without the ``volume`` of the old one."""

    key: Key
    edit: Callable[[PersistentVolumeClaimSpec], PersistentVolumeClaimSpec]
    volume: str = ""

    def __call__(self, inventory: Inventory) -> Inventory:
        storage = inventory.storage
        claim = storage.claims[self.key]
        own = {name: text for name, text in claim.metadata.annotations.items() if name == CLASS_ANNOTATION}
        metadata = msgspec.structs.replace(claim.metadata, annotations=own, deletion_timestamp=None)
        new = PersistentVolumeClaim(metadata, self.edit(claim.spec), PersistentVolumeClaimStatus("Pending"))
        volumes = {name: each for name, each in storage.volumes.items() if name != self.volume}
        claims = put(storage.claims, self.key, new)
        return inventory.replace(storage=replace(storage, claims=claims, volumes=volumes))


def having(**fields: object) -> Callable[[T], T]:
    return lambda record: msgspec.structs.replace(record, **fields)  # type: ignore[type-var]


def both(first: Change, second: Change) -> Change:
    return lambda inventory: second(first(inventory))


def renew_claim(key: Key, template: Key) -> Change:
    """The claim as it is made anew from its template."""

    def change(inventory: Inventory) -> Inventory:
        claim, spec = inventory.claims[key], inventory.templates[template].spec.spec
        renewed = msgspec.structs.replace(claim, spec=spec, status=ResourceClaimStatus())
        return inventory.replace(claims=put(inventory.claims, key, renewed))

    return change


def as_new(claim: ResourceClaim) -> ResourceClaim:
    """A claim of which nothing has come yet."""
    return msgspec.structs.replace(claim, status=ResourceClaimStatus())


def released_claim(key: Key) -> Change:
    """The claim without its devices, which the scheduler gives back where nobody uses them."""
    return edit_object("claims", key, as_new)


def edit_request(name: str, edit: Callable[[Form], Form]) -> SpecEdit:
    """A claim's spec with one request changed, or with one alternative (``REQUEST/ALTERNATIVE``)."""
    parent, _, alternative = name.partition("/")

    def one(request: DeviceRequest) -> DeviceRequest:
        if request.name != parent:
            return request
        if not alternative:
            return msgspec.structs.replace(request, exactly=edit(request.exactly) if request.exactly else None)
        options = tuple(edit(each) if each.name == alternative else each for each in request.first_available)
        return msgspec.structs.replace(request, first_available=options)

    return lambda spec: _with_devices(spec, requests=tuple(map(one, spec.devices.requests)))


def drop_request(name: str) -> SpecEdit:
    """A claim's spec without one request, and without what only spoke of it."""

    def change(spec: ResourceClaimSpec) -> ResourceClaimSpec:
        requests = tuple(request for request in spec.devices.requests if request.name != name)
        return _keeping(spec, requests, lambda each: each.partition("/")[0] != name)

    return change


def drop_alternative(parent: str, name: str) -> SpecEdit:
    """A claim's spec without one alternative of a request, and without what only spoke of it."""

    def without(request: DeviceRequest) -> DeviceRequest:
        if request.name != parent:
            return request
        left = tuple(each for each in request.first_available if each.name != name)
        return msgspec.structs.replace(request, first_available=left)

    def change(spec: ResourceClaimSpec) -> ResourceClaimSpec:
        requests = tuple(map(without, spec.devices.requests))
        return _keeping(spec, requests, lambda each: each != f"{parent}/{name}")

    return change


def _keeping(
    spec: ResourceClaimSpec, requests: tuple[DeviceRequest, ...], keeps: Callable[[str], bool]
) -> ResourceClaimSpec:
    """The spec with these requests; constraints and configurations lose the names that are not kept."""

    def kept(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(filter(keeps, names))

    devices = spec.devices
    return _with_devices(
        spec,
        requests=requests,
        constraints=tuple(
            msgspec.structs.replace(c, requests=kept(c.requests))
            for c in devices.constraints
            if not c.requests or kept(c.requests)
        ),
        config=tuple(
            msgspec.structs.replace(c, requests=kept(c.requests))
            for c in devices.config
            if not c.requests or kept(c.requests)
        ),
    )


def _with_devices(spec: ResourceClaimSpec, **changes: object) -> ResourceClaimSpec:
    return msgspec.structs.replace(spec, devices=msgspec.structs.replace(spec.devices, **changes))


def drop_constraint(index: int) -> SpecEdit:
    """A claim's spec without one constraint."""

    def change(spec: ResourceClaimSpec) -> ResourceClaimSpec:
        kept = tuple(c for i, c in enumerate(spec.devices.constraints) if i != index)
        return _with_devices(spec, constraints=kept)

    return change


def compare_in_constraint(index: int, attribute: str) -> SpecEdit:
    """A claim's spec with another attribute in one constraint."""

    def compared(constraint: DeviceConstraint) -> DeviceConstraint:
        if constraint.match_attribute is not None:
            return msgspec.structs.replace(constraint, match_attribute=attribute)
        return msgspec.structs.replace(constraint, distinct_attribute=attribute)

    def change(spec: ResourceClaimSpec) -> ResourceClaimSpec:
        found = tuple(compared(c) if i == index else c for i, c in enumerate(spec.devices.constraints))
        return _with_devices(spec, constraints=found)

    return change


def edit_object(table: str, key: K, edit: Callable[[T], T]) -> Change:
    """One object of a table of the Inventory changed; a table of what belongs to storage is ``storage.NAME``."""
    part, _, name = table.rpartition(".")

    def change(inventory: Inventory) -> Inventory:
        whole = getattr(inventory, part) if part else inventory
        objects: Mapping[K, T] = getattr(whole, name)
        if key not in objects:
            return inventory
        changed = {name: put(objects, key, edit(objects[key]))}
        return inventory.replace(**({part: replace(whole, **changed)} if part else changed))

    return change


def edit_class(name: str, edit: Callable[[DeviceClass], DeviceClass]) -> Change:
    """A class changed, later than anything that was said of it."""

    def written(old: DeviceClass) -> DeviceClass:
        new = edit(old)
        metadata = msgspec.structs.replace(new.metadata, resource_version="", managed_fields=_WRITTEN_LAST)
        return msgspec.structs.replace(new, metadata=metadata)

    return edit_object("classes", name, written)


def without_rule(name: str) -> Change:
    return lambda inv: inv.replace(taint_rules={n: rule for n, rule in inv.taint_rules.items() if n != name})


def without_claims(keys: Collection[Key]) -> Change:
    """Without claims that nobody uses."""
    return lambda inv: inv.replace(claims=edited(inv.claims, without=keys))


# --- pods that go away ----------------------------------------------------------------------------------------------


class WithoutPods(msgspec.Struct, frozen=True):
    """A change: without these pods, and with everything released that nobody else uses."""

    keys: frozenset[Key]

    def __call__(self, inventory: Inventory) -> Inventory:
        gone = [inventory.pods[key] for key in self.keys if key in inventory.pods]
        usage = _unused(inventory.usage, gone)
        going = (
            (pod.spec.node_name, VolumeOwner(key_of(pod.metadata), pod.metadata.uid), pod.spec.volumes) for pod in gone
        )
        return inventory.replace(
            pods=edited(inventory.pods, without=self.keys),
            claims=_released(inventory, {pod.metadata.uid for pod in gone}),
            usage=usage,
            storage=detached(inventory.storage, usage, going),
        )


def without_pods(keys: Collection[Key]) -> Change:
    """Without these pods, and with everything released that nobody else uses."""
    return WithoutPods(frozenset(keys))


def without_placed(node: str, info: PodInfo) -> Change:
    """Without a pod of which perhaps no more is known than what it takes of its node."""

    def change(inventory: Inventory) -> Inventory:
        if info.key in inventory.pods:
            return without_pods({info.key})(inventory)
        usage = inventory.usage.get(node)
        left = edited(inventory.usage, {} if usage is None else {node: usage.minus(usage_of(info))})
        going = [(node, VolumeOwner(info.key, info.uid), info.shape.volumes)]
        return inventory.replace(usage=left, storage=detached(inventory.storage, left, going))

    return change


def _released(inventory: Inventory, uids: Collection[str]) -> Mapping[Key, ResourceClaim]:
    affected = {key_of(claim.metadata): claim for uid in uids for claim in inventory.claims_by_user.get(uid, ())}
    then = {key: after_deletion(claim, uids) for key, claim in affected.items()}
    left = {key: claim for key, claim in then.items() if claim is not None}
    return edited(inventory.claims, left, then.keys() - left.keys())


def after_deletion(claim: ResourceClaim, uids: Collection[str]) -> ResourceClaim | None:
    """What becomes of a claim when pods go: None if it goes with its owner, which it does without other consumers.

    Others are deallocated by the claim controller when it drops their last consumer, if they have its finalizer.
    """
    users = claim.status.reserved_for
    left = tuple(consumer for consumer in users if consumer.uid not in uids)
    controller = claim.metadata.controller
    if not left and controller is not None and controller.uid in uids:
        return None
    if len(left) == len(users):
        return claim
    if not left and FINALIZER in claim.metadata.finalizers:
        return msgspec.structs.replace(claim, status=ResourceClaimStatus())
    return msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, reserved_for=left))


def _unused(usage: Mapping[str, NodeUsage], pods: Iterable[Pod]) -> Mapping[str, NodeUsage]:
    sums: dict[str, NodeUsage] = {}
    for pod in pods:
        node = pod.spec.node_name
        if node in usage:
            sums[node] = sums.get(node, usage[node]).minus(pod_usage(pod))
    return edited(usage, sums)


# --- devices --------------------------------------------------------------------------------------------------------


def add_devices(slice_name: str, like: Device, count: int, differing: str = "") -> Change:
    """More devices like one of a slice; what it draws on counters is not added.

    ``differing``: an attribute of which each has a value of its own.
    """

    def one(driver: str, number: int) -> Device:
        name, written = f"{like.name}-added-{number}", (differing, differing.removeprefix(f"{driver}/"))
        attributes = {
            key: DeviceAttribute(string=name) if key in written and value.string is not None else value
            for key, value in like.attributes.items()
        }
        return msgspec.structs.replace(like, name=name, taints=(), attributes=attributes)

    def change(inventory: Inventory) -> Inventory:
        slice_ = inventory.slices[slice_name]
        more = tuple(one(slice_.spec.driver, number) for number in range(count))
        return inventory.replace(slices=put(inventory.slices, slice_name, with_devices(slice_, more)))

    return change


def with_devices(slice_: ResourceSlice, more: tuple[Device, ...]) -> ResourceSlice:
    return with_spec(slice_, devices=(*slice_.spec.devices, *more))


def repaired_pool(driver: str, pool: str) -> Change:
    """A pool whose slices of the newest generation are all there are and have each device only once."""

    def change(inventory: Inventory) -> Inventory:
        mine = inventory.slices_by_pool.get(PoolId(driver, pool), ())
        newest = max((slice_.spec.pool.generation for slice_ in mine), default=0)
        current = [slice_ for slice_ in mine if slice_.spec.pool.generation == newest]
        seen: set[str] = set()
        repaired = {slice_.metadata.name: _repaired(slice_, len(current), seen) for slice_ in current}
        return inventory.replace(slices={**inventory.slices, **repaired})

    return change


def _repaired(slice_: ResourceSlice, count: int, seen: set[str]) -> ResourceSlice:
    spec = slice_.spec
    devices = tuple(device for device in spec.devices if device.name not in seen)
    seen.update(device.name for device in devices)
    pool = msgspec.structs.replace(spec.pool, resource_slice_count=count)
    return with_spec(slice_, pool=pool, devices=devices)
