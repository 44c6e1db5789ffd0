"""A minimal JSON client of the API server for tests: independent of the code under test."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

T = TypeVar("T")
Object = dict[str, Any]
# Plurals of the kinds that tests write; the value says whether the kind is namespaced.
_PLURALS: Mapping[str, tuple[str, bool]] = {
    "DeviceClass": ("deviceclasses", False),
    "DeviceTaintRule": ("devicetaintrules", False),
    "ResourceSlice": ("resourceslices", False),
    "ResourceClaim": ("resourceclaims", True),
    "ResourceClaimTemplate": ("resourceclaimtemplates", True),
    "ResourceClass": ("resourceclasses", False),
    "ResourceClassParameters": ("resourceclassparameters", True),
    "ResourceClaimParameters": ("resourceclaimparameters", True),
    "PodSchedulingContext": ("podschedulingcontexts", True),
    "Event": ("events", True),
    "Node": ("nodes", False),
    "Namespace": ("namespaces", False),
    "Pod": ("pods", True),
    "ResourceQuota": ("resourcequotas", True),
    "PersistentVolumeClaim": ("persistentvolumeclaims", True),
    "PriorityClass": ("priorityclasses", False),
    "PodGroup": ("podgroups", True),
    "StorageClass": ("storageclasses", False),
    "PersistentVolume": ("persistentvolumes", False),
    "CSIDriver": ("csidrivers", False),
    "CSINode": ("csinodes", False),
    "CSIStorageCapacity": ("csistoragecapacities", True),
    "VolumeAttachment": ("volumeattachments", False),
    "LimitRange": ("limitranges", True),
    "RuntimeClass": ("runtimeclasses", False),
    "HorizontalPodAutoscaler": ("horizontalpodautoscalers", True),
    "PodDisruptionBudget": ("poddisruptionbudgets", True),
    "Service": ("services", True),
    "Deployment": ("deployments", True),
    "ReplicaSet": ("replicasets", True),
    "StatefulSet": ("statefulsets", True),
    "DaemonSet": ("daemonsets", True),
    "Job": ("jobs", True),
    "CronJob": ("cronjobs", True),
    "JobSet": ("jobsets", True),
    "LeaderWorkerSet": ("leaderworkersets", True),
    "MPIJob": ("mpijobs", True),
    "RayCluster": ("rayclusters", True),
    "Role": ("roles", True),
    "RoleBinding": ("rolebindings", True),
    "ClusterRole": ("clusterroles", False),
    "ClusterRoleBinding": ("clusterrolebindings", False),
}


class StatusError(Exception):
    """Raised for every answer of 400 and above, with the code, the body, and the beginning of its text."""

    def __init__(self, code: int, body: bytes) -> None:
        self.code = code
        self.body = body
        super().__init__(f"{code}: {body[:500].decode(errors='replace')}")


@dataclass(frozen=True)
class Client:
    """One user's requests to one API server."""

    server: str
    certificate: Path
    token: str

    def request(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """One request on a connection of its own; the decoded JSON answer, or text where it is none."""
        connection = http.client.HTTPSConnection(
            urlsplit(self.server).netloc, timeout=30, context=ssl.create_default_context(cafile=str(self.certificate))
        )
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        try:
            target = f"{path}?{urlencode(query)}" if query else path
            connection.request(method, target, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if answer.status >= 400:
            raise StatusError(answer.status, data)
        return json.loads(data) if "json" in answer.headers.get("Content-Type", "") else data.decode()

    def get(self, kind: str, name: str, namespace: str = "", version: str = "v1") -> Object | None:
        """One object, or None where it does not exist."""
        try:
            found: Object = self.request("GET", object_path(version, kind, namespace, name))
        except StatusError as error:
            if error.code == 404:
                return None
            raise
        return found

    def list(self, version: str, kind: str, namespace: str = "") -> list[Object]:
        """All objects of a kind; without a namespace those of the whole cluster."""
        items: list[Object] = self.request("GET", object_path(version, kind, namespace))["items"] or []
        return items

    def create(self, body: Object) -> Object:
        """Create an object; a status in it is written too, which needs a second request."""
        meta = body["metadata"]
        path = object_path(body["apiVersion"], body["kind"], meta.get("namespace", ""))
        created: Object = self.request("POST", path, body)
        if body.get("status"):
            created["status"] = body["status"]
            # Controllers write to new objects as well; without a version the write can't conflict with theirs.
            del created["metadata"]["resourceVersion"]
            created = self.request("PUT", f"{path}/{meta['name']}/status", created)
        return created

    def delete(self, version: str, kind: str, name: str, namespace: str = "") -> None:
        """Delete an object at once; one that is already gone is fine."""
        try:
            self.request("DELETE", object_path(version, kind, namespace, name), gracePeriodSeconds="0")
        except StatusError as error:
            if error.code != 404:
                raise

    def clear(self, version: str, kind: str) -> None:
        """Delete all objects of a kind in all namespaces, and wait until they are gone."""
        for item in self.list(version, kind):
            self.delete(version, kind, item["metadata"]["name"], item["metadata"].get("namespace", ""))
        wait_for(lambda: not self.list(version, kind), f"all {kind} objects are gone")


def object_path(version: str, kind: str, namespace: str = "", name: str = "") -> str:
    """The URL path of an object, or of its list."""
    plural, namespaced = _PLURALS[kind]
    scope = f"/namespaces/{namespace}" if namespace and namespaced else ""
    return f"/{'apis' if '/' in version else 'api'}/{version}{scope}/{plural}" + (f"/{name}" if name else "")


def wait_for(probe: Callable[[], T], what: str, seconds: float = 30) -> T:
    """The first true value of ``probe``; AssertionError when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s until {what}")
        time.sleep(0.05)
