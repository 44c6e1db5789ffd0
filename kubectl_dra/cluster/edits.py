"""A cluster as it would be: changes of objects, applied one after the other to a ClusterState.

Everything that asks "what if" (objects of a file, nodes that are added, removed or drained, taints that end) says so as
a list of edits, so that all of them can be combined. Nothing here decides what a change is for; an edit of a kind that
no answer depends on changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from kubectl_dra.api.build import inventory_fields
from kubectl_dra.api.kinds import BY_NAME, GROUPS, STORAGE, WORKLOADS
from kubectl_dra.cluster.state import ClusterState
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.usage import NodeUsage, pod_usage, usage_by_node


class Put(msgspec.Struct, frozen=True):
    """An object comes into being, or stands in the place of the one with its kind, namespace and name."""

    kind: str
    record: Record

    @property
    def key(self) -> Key:
        """Namespace and name; a cluster-scoped object has no namespace, whatever its manifest says."""
        key = key_of(self.record.metadata)  # type: ignore[attr-defined]
        kind = BY_NAME.get(self.kind)
        return Key("", key.name) if kind is not None and not kind.namespaced else key


class Remove(msgspec.Struct, frozen=True):
    """An object is gone. What depends on it (a node's slices, a pod's claims) is not: that is for who asks to say."""

    kind: str
    key: Key


Edit = Put | Remove


def edited(state: ClusterState, edits: Iterable[Edit]) -> ClusterState:
    """The state after ``edits`` in their order; of several edits of one object the last one counts."""
    last: dict[str, dict[Key, Edit]] = {}
    for edit in edits:
        if edit.kind in BY_NAME:
            last.setdefault(edit.kind, {})[edit.key] = edit
    if not last:
        return state
    inventory = state.inventory
    objects = {kind: _objects(inventory, kind) for kind in _companions(last)}
    for kind, by_key in last.items():
        objects[kind] = _applied(objects[kind], by_key)
    fields = inventory_fields(objects, last)
    if "Pod" in last:
        fields["usage"] = _usage(inventory, last["Pod"])
    return state.changed(inventory.replace(**fields))


def find(inventory: Inventory, kind: str, key: Key) -> Any | None:  # noqa: ANN401 - the kind's record
    """The object with this kind, namespace and name; None if there is none, or no answer depends on its kind."""
    return _objects(inventory, kind).get(key) if kind in BY_NAME else None


def _applied(before: Mapping[Key, Any], edits: Mapping[Key, Edit]) -> dict[Key, Any]:
    after = dict(before)
    for key, edit in edits.items():
        if isinstance(edit, Put):
            after[key] = edit.record
        else:
            after.pop(key, None)
    return after


def _usage(inventory: Inventory, edits: Mapping[Key, Edit]) -> dict[str, NodeUsage]:
    """What pods take of nodes: counted anew only for pods that change, since not all others were kept one by one."""
    usage = dict(inventory.usage)
    for key in edits:
        pod = inventory.pods.get(key)
        node = pod.spec.node_name if pod is not None else ""
        if pod is not None and node in usage and any(each.key == key for each in usage[node].placed):
            usage[node] = usage[node].minus(pod_usage(pod))
    come = (edit.record for edit in edits.values() if isinstance(edit, Put))
    for node, more in usage_by_node(pod for pod in come if isinstance(pod, Pod)).items():
        usage[node] = usage.get(node, NodeUsage()).plus(more)
    return usage


# --- where objects of a kind are ------------------------------------------------------------------------------------

_BY_KEY: Final = {
    "Pod": "pods",
    "ResourceClaim": "claims",
    "ResourceClaimTemplate": "templates",
    "ResourceQuota": "quotas",
    "PodDisruptionBudget": "budgets",
    "Service": "services",
    "LimitRange": "limit_ranges",
    "HorizontalPodAutoscaler": "autoscalers",
}
_BY_NAME: Final = {
    "Node": "nodes",
    "Namespace": "namespaces",
    "DeviceClass": "classes",
    "ResourceSlice": "slices",
    "DeviceTaintRule": "taint_rules",
    "ResourcePoolStatusRequest": "pool_statuses",
    "PriorityClass": "priority_classes",
    "RuntimeClass": "runtime_classes",
}
#: Kinds that have one field of the Inventory together: who changes one of them needs all.
_TOGETHER: Final = (
    tuple(kind.name for kind in STORAGE),
    tuple(kind.name for kind in GROUPS),
    tuple(kind.name for kind in WORKLOADS),
    ("ResourceClass", "ResourceClassParameters", "ResourceClaimParameters", "PodSchedulingContext"),
    # What a claim of the prototype means depends on classes and slices.
    ("ResourceClaim", "DeviceClass", "ResourceSlice"),
)
_STORAGE: Final = {
    "PersistentVolumeClaim": "claims",
    "PersistentVolume": "volumes",
    "StorageClass": "classes",
    "CSINode": "csi_nodes",
    "CSIDriver": "csi_drivers",
    "CSIStorageCapacity": "capacities",
    "VolumeAttachment": "attachments",
}
_GROUPS: Final = {"PodGroup": "pod_groups", "Workload": "workloads", "CompositePodGroup": "composites"}
_CLASSIC: Final = {
    "ResourceClass": "classes",
    "ResourceClassParameters": "class_parameters",
    "ResourceClaimParameters": "claim_parameters",
    "PodSchedulingContext": "scheduling_contexts",
}


def _companions(kinds: Iterable[str]) -> set[str]:
    found = set(kinds)
    for group in _TOGETHER:
        if found.intersection(group):
            found.update(group)
    return found


def _objects(inventory: Inventory, kind: str) -> Mapping[Key, Any]:
    if kind in _BY_KEY:
        found: Mapping[Key, Any] = getattr(inventory, _BY_KEY[kind])
        return found
    if kind in _BY_NAME:
        return _keyed(getattr(inventory, _BY_NAME[kind]))
    for part, fields in ((inventory.storage, _STORAGE), (inventory.groups, _GROUPS), (inventory.classic, _CLASSIC)):
        if kind in fields:
            return _keyed(getattr(part, fields[kind]))
    if kind == "Event":
        return {key_of(event.metadata): event for event in inventory.events}
    return {Key(key[1], key[2]): record for key, record in inventory.workloads.items() if key[0] == kind}


def _keyed(objects: Mapping[Any, Any]) -> Mapping[Key, Any]:
    return {key if isinstance(key, Key) else Key("", key): record for key, record in objects.items()}
