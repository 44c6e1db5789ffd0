"""What a pod needs and does not exist: the names that do exist, and an object to start from where it is unambiguous."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, Final

import msgspec

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import (
    DEVICE_CLASS,
    PERSISTENT_VOLUME_CLAIM,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
)
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.class_facts import offers
from kubectl_dra.diagnosis.records import Cause, ClassProblem, ExtendedResource, ObjectRef
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.forms import class_names, forms
from kubectl_dra.model.public_classes import PUBLIC_CLASSES
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimSpec
from kubectl_dra.model.storage import PersistentVolumeClaim
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.renewal import ComesWith, OneOfSeveral
from kubectl_dra.scheduler.extended import served_resources
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX
from kubectl_dra.selectors.compiling import domains_of

_SHOWN: Final = 10
_DRIVER: Final = "driver"
#: Letters from which on a part of a name tells what is meant.
_TELLING: Final = 3
#: What a new claim for a volume asks for, which somebody has to think about.
_SIZE: Final = "1Gi"
#: How many pods of a new group have to start together, which somebody has to think about.
MIN_COUNT: Final = "minCount"
#: Stands in a new claim where nobody could read which classes there are.
UNREAD_CLASS: Final = "CLASS"
_KINDS: Final = {
    Code.CLASS_MISSING: "DeviceClass",
    Code.CLAIM_MISSING: "ResourceClaim",
    Code.TEMPLATE_MISSING: "ResourceClaimTemplate",
    Code.EXTENDED_RESOURCE_UNSERVED: "DeviceClass",
}


class Existing(ReportRecord, frozen=True):
    """The objects of a ``kind`` that exist where a missing one is looked for: the first ten ``names`` of ``count``.

    ``devices``: of classes, how many published devices each of ``names`` selects. ``published``: where there is no
    class at all, how many devices each driver publishes. ``comes_with``: the public driver that has the missing class.
    ``left_out``: a plain list has none at all, perhaps because nobody asked for the kind.
    """

    kind: str
    namespace: str
    names: tuple[str, ...]
    count: int
    devices: tuple[int, ...] = ()
    published: dict[str, int] = msgspec.field(default_factory=dict)
    comes_with: ComesWith | None = None
    left_out: bool = False


def existing(cause: Cause | None, namespace: str, state: ClusterState) -> Existing | None:
    """What exists of the kind that the first cause misses; None where nothing is missing, or not all was read."""
    kind = _KINDS.get(cause.code) if cause is not None else None
    if cause is None or kind is None or not state.evidence.complete(kind, namespace):
        return None
    inventory = state.inventory
    if kind == "DeviceClass":
        namespace, names = "", list(inventory.classes)
        if cause.code is Code.EXTENDED_RESOURCE_UNSERVED:
            resource = cause.detail.resource if isinstance(cause.detail, ExtendedResource) else ""
            if resource.startswith(DEVICE_CLASS_PREFIX):
                return _with_published(_made(kind, "", names, state), state)
            served = served_resources(state)
            others = (name for name in served if not name.startswith(DEVICE_CLASS_PREFIX))
            return _made("extended resource", "", others, state)
    elif kind == "ResourceClaim":
        names = [key.name for key in inventory.claims if key.namespace == namespace]
    else:
        names = [key.name for key in inventory.templates if key.namespace == namespace]
    found = _made(kind, namespace, names, state)
    if isinstance(cause.detail, ClassProblem):
        found = msgspec.structs.replace(found, comes_with=_comes_with(cause.detail.device_class, state))
    if kind != "DeviceClass" or not state.evidence.complete("ResourceSlice", ""):
        return found
    if not names:
        return _with_published(found, state)
    selected = (offers(state).of(name) for name in found.names)
    return msgspec.structs.replace(found, devices=tuple(len(each.devices) if each else 0 for each in selected))


def _with_published(found: Existing, state: ClusterState) -> Existing:
    """With what a class could select, where none exists."""
    if found.count or not state.evidence.complete("ResourceSlice", ""):
        return found
    devices: Counter[str] = Counter()
    for slice_ in state.inventory.slices.values():
        devices[slice_.spec.driver] += len(slice_.spec.devices)
    return msgspec.structs.replace(found, published={name: devices[name] for name in sorted(devices) if devices[name]})


def _made(kind: str, namespace: str, names: Iterable[str], state: ClusterState) -> Existing:
    # Claims and templates belong to a namespace, which may well have none.
    left_out = kind == DEVICE_CLASS.name and state.evidence.coverage(kind) is Coverage.ASSUMED
    found = sorted(names)
    return Existing(kind, namespace, tuple(found[:_SHOWN]), len(found), left_out=left_out)


def _namesake(ref: ObjectRef, state: ClusterState, version: str) -> dict[str, Any] | None:
    """The spec of the object of that name in another namespace, if there is only one: most likely what was meant."""
    inventory = state.inventory
    objects = inventory.claims if ref.kind == RESOURCE_CLAIM.name else inventory.templates
    found = [each for key, each in objects.items() if key.name == ref.name and key.namespace != ref.namespace]
    if len(found) != 1:
        return None
    like, kind = found[0], RESOURCE_CLAIM_TEMPLATE
    if isinstance(like, ResourceClaim):
        like, kind = ResourceClaim(metadata=like.metadata, spec=like.spec), RESOURCE_CLAIM
    spec: dict[str, Any] = json.loads(encode(like, kind, kind.api_version_of(version)))["spec"]
    return spec


def skeleton(
    ref: ObjectRef, extended_resource: str, state: ClusterState, version: str
) -> tuple[dict[str, Any], OneOfSeveral | ComesWith | None] | None:
    """An object to create under the missing name, and what of it is a guess; None where there is nothing to name."""
    if ref.kind in _OF_KINDS:
        return _OF_KINDS[ref.kind](ref, state)
    meta: dict[str, Any] = {"name": ref.name}
    head = {"apiVersion": f"resource.k8s.io/{version}", "kind": ref.kind, "metadata": meta}
    if ref.kind == "DeviceClass":
        selector, note = _selector(ref.name, state)
        if not selector:
            return None
        spec: dict[str, Any] = {"selectors": [{"cel": {"expression": selector}}]}
        if extended_resource:
            spec["extendedResourceName"] = extended_resource
        return {**head, "spec": spec}, note
    if ref.kind not in ("ResourceClaim", "ResourceClaimTemplate"):
        return None
    meta["namespace"] = ref.namespace
    like = _namesake(ref, state, version)
    if like is not None:
        return {**head, "spec": like}, None
    name, guess = _likeliest("class", ref.name, _devices_by_class(state) or _named_classes(state))
    if not name and state.evidence.complete(DEVICE_CLASS.name):
        return None
    if not name:
        name, guess = UNREAD_CLASS, OneOfSeveral("class", UNREAD_CLASS, 0)
    exact: dict[str, Any] = {"deviceClassName": name, "allocationMode": "ExactCount", "count": 1}
    request = {"name": "devices", **exact} if version == "v1beta1" else {"name": "devices", "exactly": exact}
    devices = {"devices": {"requests": [request]}}
    return {**head, "spec": {"spec": devices} if ref.kind == "ResourceClaimTemplate" else devices}, guess


def _selector(name: str, state: ClusterState) -> tuple[str, OneOfSeveral | ComesWith | None]:
    """What a new class selects: as its public driver has it, else all devices of one driver.

    Of the driver whose attributes the requests for the class read, or that it is named after.
    """
    known = _comes_with(name, state)
    if name in PUBLIC_CLASSES:
        return PUBLIC_CLASSES[name].selector, known
    driver, note = (known.driver, known) if known is not None else _likeliest(_DRIVER, name, _devices_by_driver(state))
    return f'device.driver == "{driver}"' if driver else "", note


@derived("claims", "templates", "classes")
def _domains_read(state: ClusterState) -> Mapping[str, Set[str]]:
    """By missing class the domains of the attributes and capacities that selectors of its requests read."""
    inventory, found = state.inventory, defaultdict[str, set[str]](set)
    for _, form in (each for spec in _specs(state) for each in forms(spec)):
        if form.device_class_name not in inventory.classes:
            found[form.device_class_name].update(*(domains_of(each.expression) for each in form.selectors))
    return found


def _comes_with(name: str, state: ClusterState) -> ComesWith | None:
    devices, complete = _devices_by_driver(state), state.evidence.complete("ResourceSlice", "")
    if (known := PUBLIC_CLASSES.get(name)) is not None:
        return ComesWith(known.project, known.driver, devices[known.driver] if complete else None, known.setting)
    read = [each for each in _domains_read(state).get(name, ()) if devices[each]]
    return ComesWith("", read[0], devices[read[0]] if complete else None) if len(read) == 1 else None


def _volume_claim(ref: ObjectRef, state: ClusterState) -> tuple[dict[str, Any], OneOfSeveral | None]:
    """As one of that name in another namespace, if there is only one; else the class is the cluster's default one."""
    known = [c.spec for key, c in state.inventory.storage.claims.items() if key.name == ref.name]
    if len(known) == 1:
        like = PersistentVolumeClaim(spec=msgspec.structs.replace(known[0], volume_name=""))
        spec = json.loads(encode(like, PERSISTENT_VOLUME_CLAIM))["spec"]
        guess = None
    else:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": _SIZE}}}
        guess = OneOfSeveral("size", _SIZE, 0)
    meta = {"name": ref.name, "namespace": ref.namespace}
    return {"apiVersion": "v1", "kind": ref.kind, "metadata": meta, "spec": spec}, guess


def _storage_class(ref: ObjectRef, state: ClusterState) -> tuple[dict[str, Any], OneOfSeveral | None] | None:
    """Volumes of the cluster's driver, made where the pod goes."""
    storage = state.inventory.storage
    known = Counter([*storage.csi_drivers, *(each.provisioner for each in storage.classes.values())])
    driver, guess = _likeliest("provisioner", ref.name, known)
    if not driver:
        return None
    head = {"apiVersion": "storage.k8s.io/v1", "kind": ref.kind, "metadata": {"name": ref.name}}
    return {**head, "provisioner": driver, "volumeBindingMode": "WaitForFirstConsumer"}, guess


def _pod_group(ref: ObjectRef, state: ClusterState) -> tuple[dict[str, Any], OneOfSeveral | None] | None:
    """A gang of the pods that name it so far; None where a controller may have yet to make it from a Workload."""
    inventory = state.inventory
    if any(key.namespace == ref.namespace for key in inventory.groups.workloads):
        return None
    named = (pod.spec.scheduling_group for key, pod in inventory.pods.items() if key.namespace == ref.namespace)
    number = max(sum(each is not None and each.pod_group_name == ref.name for each in named), 1)
    meta = {"name": ref.name, "namespace": ref.namespace}
    spec = {"schedulingPolicy": {"gang": {MIN_COUNT: number}}}
    head = {"apiVersion": POD_GROUP.api_version, "kind": ref.kind, "metadata": meta}
    return {**head, "spec": spec}, OneOfSeveral(MIN_COUNT, str(number), 0)


_OF_KINDS: Final = {
    "PersistentVolumeClaim": _volume_claim,
    "StorageClass": _storage_class,
    POD_GROUP.name: _pod_group,
}


def _likeliest(kind: str, wanted: str, devices: Mapping[str, int]) -> tuple[str, OneOfSeveral | None]:
    """The name that stands in ``wanted``, else the one with most ``devices``; empty where there is none.

    A class that resembles no driver is most likely that of a driver which is not installed yet: it has its name.
    """
    ranked = sorted(devices, key=lambda each: (-devices[each], each))
    near = [each for each in ranked if each in wanted or wanted in each or _first_label(each) in wanted]
    if len(ranked) > 1 and not near and kind == _DRIVER and "." in wanted:
        return wanted, OneOfSeveral(kind, wanted, 0)
    chosen = next(iter((*near, *ranked)), "")
    return chosen, OneOfSeveral(kind, chosen, len(ranked)) if len(ranked) > 1 else None


def _first_label(name: str) -> str:
    """``gpu`` of ``gpu.example.com``; the whole name where it is too short to say anything."""
    label = name.partition(".")[0]
    return label if len(label) >= _TELLING else name


@derived("slices")
def _devices_by_driver(state: ClusterState) -> Counter[str]:
    counts = Counter[str]()
    for pool in state.pools:
        counts[pool.driver] += sum(1 for _ in state.published(pool))
    return counts


def _named_classes(state: ClusterState) -> Counter[str]:
    """The classes that claims and templates name, by how often, where classes could not be read."""
    if state.evidence.complete(DEVICE_CLASS.name):
        return Counter()
    return Counter(name for spec in _specs(state) for name in class_names(spec) if name)


def _specs(state: ClusterState) -> Iterator[ResourceClaimSpec]:
    """Of all claims and templates."""
    inventory = state.inventory
    yield from (claim.spec for claim in inventory.claims.values() if isinstance(claim, ResourceClaim))
    yield from (template.spec.spec for template in inventory.templates.values())


def _devices_by_class(state: ClusterState) -> dict[str, int]:
    found = offers(state)
    return {name: len(each.devices) if (each := found.of(name)) else 0 for name in state.inventory.classes}
