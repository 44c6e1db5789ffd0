"""Random whole clusters on a real control plane: bringing one about, holding its pods back, letting one of them go."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tests.controlplane import Client
from tests.controlplane.client import Object, StatusError, object_path, wait_for

#: Fields of a generated cluster in the order in which objects are created, with kind and apiVersion. Claims come after
#: the pods that own them.
_ORDER: Final = (
    ("namespaces", "Namespace", "v1"),
    ("priorityclasses", "PriorityClass", "scheduling.k8s.io/v1"),
    ("nodes", "Node", "v1"),
    ("storageclasses", "StorageClass", "storage.k8s.io/v1"),
    ("csidrivers", "CSIDriver", "storage.k8s.io/v1"),
    ("csinodes", "CSINode", "storage.k8s.io/v1"),
    ("csistoragecapacities", "CSIStorageCapacity", "storage.k8s.io/v1"),
    ("volumeattachments", "VolumeAttachment", "storage.k8s.io/v1"),
    ("poddisruptionbudgets", "PodDisruptionBudget", "policy/v1"),
    ("replicasets", "ReplicaSet", "apps/v1"),
    ("services", "Service", "v1"),
    ("deviceclasses", "DeviceClass", "resource.k8s.io/v1"),
    ("resourceslices", "ResourceSlice", "resource.k8s.io/v1"),
    ("devicetaintrules", "DeviceTaintRule", "resource.k8s.io/v1"),
    ("pods", "Pod", "v1"),
    ("persistentvolumeclaims", "PersistentVolumeClaim", "v1"),
    ("persistentvolumes", "PersistentVolume", "v1"),
    ("resourceclaims", "ResourceClaim", "resource.k8s.io/v1"),
)
_KEPT: Final = ("Namespace", "PriorityClass")
_OF_SERVER: Final = "kubernetes"
_CHANGING: Final = tuple(each for each in _ORDER if each[1] not in _KEPT)
_VERSIONS: Final = {kind: version for _, kind, version in _ORDER}
#: Keeps a pod out of the queue until it is its turn; the generator knows no such gate.
HOLD: Final = "e2e.example.com/hold"
_KATA: Final = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "128Mi"}},
}
#: What a whole server writes and nobody gives it.
_SERVERS_OWN: Final = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


class WholeCluster:
    """One generated cluster on the server. ``refused``: what the API server did not take, by kind.

    ``pause``: seconds that the scheduler has for seeing what was made.
    """

    def __init__(self, client: Client, pause: float) -> None:
        self._client, self._pause = client, pause
        self.refused: Counter[str] = Counter()
        self._uids: dict[str, str] = {}

    def bring_about(self, cluster: Object) -> list[tuple[str, str]]:
        """Replace what is on the server; namespace and name of the pods that wait, each held back."""
        self.clear()
        self._uids.clear()
        self._once(_KATA, "/apis/node.k8s.io/v1/runtimeclasses")
        waiting = []
        for plural, kind, version in _ORDER:
            for body in cluster.get(plural, ()):
                held = kind == "Pod" and not body["spec"].get("nodeName")
                if self._create({"apiVersion": version, "kind": kind, **(_held(body) if held else body)}) and held:
                    waiting.append((body["metadata"]["namespace"], body["metadata"]["name"]))
        time.sleep(self._pause)
        return waiting

    def clear(self) -> None:
        """Remove everything but namespaces and PriorityClasses, which are the same in all clusters."""
        for _, kind, version in reversed(_CHANGING):
            for item in self._made(version, kind):
                meta = item["metadata"]
                self.remove(kind, meta.get("namespace", ""), meta["name"])
        for _, kind, version in _CHANGING:
            wait_for(lambda v=version, k=kind: not self._made(v, k), f"all {kind} objects are gone", 180)  # type: ignore[misc]

    def _made(self, version: str, kind: str) -> list[Object]:
        """The objects of a kind, without the API server's own Service, which it makes again."""
        return [each for each in self._client.list(version, kind) if each["metadata"]["name"] != _OF_SERVER]

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """Delete an object at once, whatever waits for it."""
        version = _VERSIONS[kind]
        found = self._client.get(kind, name, namespace, version)
        if found is not None and found["metadata"].get("finalizers"):
            self._client.request(
                "PATCH", object_path(version, kind, namespace, name), {"metadata": {"finalizers": None}}
            )
        self._client.delete(version, kind, name, namespace)

    def let_go(self, namespace: str, name: str) -> None:
        """Take the held pod's hold away: the scheduler tries it unless it has other gates."""
        pod = self._client.get("Pod", name, namespace)
        assert pod is not None
        left = [gate for gate in pod["spec"].get("schedulingGates", ()) if gate["name"] != HOLD]
        path = object_path("v1", "Pod", namespace, name)
        self._client.request("PATCH", path, {"spec": {"schedulingGates": left or None}})

    def _create(self, body: Object) -> bool:
        meta = body["metadata"]
        deleted, uid = meta.get("deletionTimestamp"), meta.get("uid")
        text = json.dumps({**body, "metadata": {k: v for k, v in meta.items() if k not in _SERVERS_OWN}})
        for old, new in self._uids.items():
            text = text.replace(old, new)
        kind, namespace, name = body["kind"], meta.get("namespace", ""), meta["name"]
        path = object_path(body["apiVersion"], kind, namespace)
        if kind in _KEPT and self._client.get(kind, name, version=body["apiVersion"]) is not None:
            if kind == "Namespace":
                self._client.request("PATCH", f"{path}/{name}", {"metadata": {"labels": meta.get("labels")}})
            return True
        try:
            made = self._client.create(json.loads(text))
        except StatusError as error:
            if error.code != 422:
                raise
            self.refused[kind] += 1
            # Its status may be what is refused; an object without one is another than the one that was asked for.
            self.remove(kind, namespace, name)
            return False
        if uid:
            self._uids[uid] = made["metadata"]["uid"]
        if deleted:
            self._client.request("DELETE", f"{path}/{name}")
        return True

    def _once(self, body: Object, path: str) -> None:
        try:
            self._client.request("POST", path, body)
        except StatusError as error:
            if error.code != 409:
                raise


def _held(pod: Object) -> Object:
    gates = [*pod["spec"].get("schedulingGates", ()), {"name": HOLD}]
    return {**pod, "spec": {**pod["spec"], "schedulingGates": gates}}


def without_hold(snapshot: Object, namespace: str, name: str) -> Object:
    """A snapshot in which a held pod waits like any other, and nothing was written about it yet."""
    return {**snapshot, "items": [_let_go(item, namespace, name) for item in snapshot["items"]]}


def _let_go(item: Object, namespace: str, name: str) -> Object:
    meta = item["metadata"]
    if item["kind"] != "Pod" or (meta.get("namespace"), meta["name"]) != (namespace, name):
        return item
    left = [gate for gate in item["spec"].get("schedulingGates", ()) if gate["name"] != HOLD]
    status = {field: value for field, value in item.get("status", {}).items() if field != "conditions"}
    return {**item, "spec": {**item["spec"], "schedulingGates": left}, "status": status}


def ties(message: str, nodes: Sequence[str]) -> Iterator[str]:
    """The message for each of several nodes among which preemption chooses by chance."""
    yield message
    for one in nodes:
        for other in nodes:
            yield message.replace(f" on node {one},", f" on node {other},")


def state_of_pod(pod: Any) -> tuple[str, Object | None]:
    """The node of a pod, also one that is only chosen so far, and what the scheduler wrote about it."""
    conditions = pod["status"].get("conditions", [])
    told = next((each for each in conditions if each["type"] == "PodScheduled"), None)
    # A pod that has its node is told so without a reason.
    spoken = told if told is not None and told.get("reason", "") not in ("SchedulingGated", "") else None
    return pod["spec"].get("nodeName", ""), spoken
