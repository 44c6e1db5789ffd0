"""Feature gates that show: a server drops the fields of a feature that is off, so whoever has them has it on.

Upstream: dropDisabledFields of the strategies in pkg/registry/resource, and storage_resource.go there; the strategies
in pkg/registry/scheduling, and dropDisabledSchedulingGroup of pods. It is the API server whose gates show; the
scheduler of the same cluster is taken to have the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.features import OLDEST_MINOR, WORKLOAD_REF_MINOR, gate_defaults
from kubectl_dra.model.forms import forms_of
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimSpec, ResourceSlice

_FIRST_MINOR: Final = 32
# Since 1.36 what is not on by default is used by too few to look through all devices for it.
_LAST_MINOR: Final = 35
# What pods are scheduled together had other shapes before, and other rules.
_GROUPS_MINOR: Final = 37
_TOGETHER: Final = "GenericWorkload"
#: Before 1.37 a gate of the scheduler alone.
_GANGS: Final = "GangScheduling"
_SHARED_CLAIMS: Final = "DRAWorkloadResourceClaims"
_TOPOLOGY: Final = "TopologyAwareWorkloadScheduling"
#: What the scheduler only says of groups while it tries placements, be it that of all nodes.
_PLACEMENTS: Final = ("placements are available", "no feasible placements found")
_COMPOSITE: Final = "CompositePodGroup"
_GROUP: Final = "scheduling.k8s.io"
_LISTS: Final = "DRAListTypeAttributes"
_LISTS_MINOR: Final = 36
_RULES: Final = "DRADeviceTaintRules"
_IN_SLICES: Final = frozenset(
    {"DRADeviceTaints", "DRAPartitionableDevices", "DRAConsumableCapacity", "DRADeviceBindingConditions"}
)
_IN_CLAIMS: Final = frozenset({"DRAPrioritizedList", "DRAAdminAccess", "DRAConsumableCapacity"})
_IN_CLASSES: Final = "DRAExtendedResource"
_SEVERAL: Final = attrgetter("bools", "ints", "strings", "versions")
_ONE_VALUE: Final = (None, None, None, None)
_VERSION: Final = re.compile(r"v1\.(\d{1,3})(?!\d)")


def newest_kubelet(inventory: Inventory) -> int | None:
    """The minor version of the newest kubelet; None where no node says one of those that are reproduced.

    No kubelet may be newer than its API server, and the newest is nearly always as new. What plays a kubelet may say
    anything, such as v1.0.0.
    """
    versions = {node.status.node_info.kubelet_version for node in inventory.nodes.values()}
    minors = (int(found[1]) for text in versions if (found := _VERSION.match(text)) is not None)
    return max((minor for minor in minors if minor >= OLDEST_MINOR), default=None)


def shown_gates(inventory: Inventory, minor: int, groups: Coverage = Coverage.NOT_READ) -> frozenset[str]:
    """The gates, off by default in Kubernetes 1.``minor``, that must be on for a server that holds these objects.

    ``groups``: what is known of PodGroups. A server that serves them has the feature; one that does not, although pods
    name some, had it once.
    """
    lists = {_LISTS} if minor >= _LISTS_MINOR and any(map(_has_lists, inventory.slices.values())) else set[str]()
    if minor >= _GROUPS_MINOR:
        if groups is Coverage.NOT_SERVED:
            return frozenset(lists)
        return frozenset((*lists, *_of_groups(inventory), *((_TOGETHER,) if groups is Coverage.COMPLETE else ())))
    if not _FIRST_MINOR <= minor < _GROUPS_MINOR:
        return frozenset()
    off = {gate for gate, on in gate_defaults(minor).items() if not on}
    found = {"DynamicResourceAllocation"} | set(_of_rules(inventory, minor)) | lists
    if minor > _LAST_MINOR:
        return frozenset(found & off)
    if minor == WORKLOAD_REF_MINOR and any(pod.spec.workload_ref is not None for pod in inventory.pods.values()):
        # That nobody names groups for a scheduler that takes no notice of them is an assumption, and told as one.
        found |= {_TOGETHER, _GANGS}
    if off & _IN_SLICES:
        found |= {gate for slice_ in inventory.slices.values() for gate in _of_slice(slice_)}
    if off & _IN_CLAIMS:
        found |= {gate for spec in _specs(inventory) for gate in _of_claim(spec)}
    if any(each.spec.extended_resource_name for each in inventory.classes.values()):
        found.add(_IN_CLASSES)
    return frozenset(found & off)


def _has_lists(slice_: ResourceSlice) -> bool:
    """Whether the first device has an attribute with several values; those of a slice have the same attributes."""
    found = [values for device in slice_.spec.devices[:1] for values in map(_SEVERAL, device.attributes.values())]
    return found.count(_ONE_VALUE) < len(found)


def _of_groups(inventory: Inventory) -> Iterator[str]:
    """None of them is on by default; each needs those before it."""
    groups = inventory.groups
    members = (pod for pod in inventory.pods.values() if pod.spec.scheduling_group is not None)
    if groups.pod_groups or groups.workloads or groups.composites or any(True for _ in members):
        yield _TOGETHER
    if any(map(_is_shared, inventory.claims.values())):
        yield from (_TOGETHER, _SHARED_CLAIMS)
    composite = bool(groups.composites)
    for group in groups.pod_groups.values():
        spec = group.spec
        if spec.resource_claims or group.status.resource_claim_statuses:
            yield _SHARED_CLAIMS
        told = (condition.message for condition in group.status.conditions)
        if spec.scheduling_constraints is not None or any(text in message for message in told for text in _PLACEMENTS):
            yield _TOPOLOGY
        if spec.preemption_policy is not None:
            yield "PodGroupPreemptionPolicy"
        composite = composite or spec.parent_composite_pod_group_name is not None
    if composite:
        yield from (_TOPOLOGY, _COMPOSITE)


def _is_shared(claim: ResourceClaim) -> bool:
    """Whether a claim is the claim of a PodGroup: made for it, or reserved for it."""
    owners = (owner for owner in claim.metadata.owner_references if owner.controller)
    return any(owner.kind == "PodGroup" and owner.api_version.startswith(f"{_GROUP}/") for owner in owners) or any(
        user.api_group == _GROUP and user.resource == "podgroups" for user in claim.status.reserved_for
    )


def _of_rules(inventory: Inventory, minor: int) -> Iterator[str]:
    if inventory.taint_rules:
        yield "DRADeviceTaints"
        # Until 1.34 they had no gate of their own.
        if minor >= _LAST_MINOR:
            yield _RULES


def _of_slice(slice_: ResourceSlice) -> Iterator[str]:
    spec = slice_.spec
    if spec.shared_counters or spec.per_device_node_selection is not None:
        yield "DRAPartitionableDevices"
    for device in spec.devices:
        if device.taints:
            yield "DRADeviceTaints"
        if device.consumes_counters:
            yield "DRAPartitionableDevices"
        if device.allow_multiple_allocations is not None:
            yield "DRAConsumableCapacity"
        if device.binding_conditions or device.binds_to_node is not None:
            yield "DRADeviceBindingConditions"


def _specs(inventory: Inventory) -> Iterator[ResourceClaimSpec]:
    yield from (claim.spec for claim in inventory.claims.values())
    yield from (template.spec.spec for template in inventory.templates.values())


def _of_claim(spec: ResourceClaimSpec) -> Iterator[str]:
    for request in spec.devices.requests:
        if request.first_available:
            yield "DRAPrioritizedList"
        if request.exactly is not None and request.exactly.admin_access is not None:
            yield "DRAAdminAccess"
        if any(form.capacity is not None for _, form in forms_of(request)):
            yield "DRAConsumableCapacity"
