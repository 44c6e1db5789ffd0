"""Groups on a real control plane: situations as data, bringing them about, carrying out what the plugin proposes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.controlplane import Client
from tests.controlplane.client import Object, object_path, wait_for
from tests.e2e.situations import bound_to, create, node_object, pod_object

GROUP_VERSION: Final = "scheduling.k8s.io/v1beta1"
CONDITION: Final = "PodGroupInitiallyScheduled"
_DRIVER: Final = "gpu.example.com"
_SETTLE_SECONDS: Final = 0.7
_CLEARED: Final = (
    *(("v1", "Pod"), (GROUP_VERSION, "PodGroup")),
    *(("resource.k8s.io/v1", kind) for kind in ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")),
    *(("resource.k8s.io/v1", "DeviceClass"), ("v1", "Node")),
)


@dataclass(frozen=True)
class Situation:
    """One situation; the fields are explained at the top of ``gangs.yaml``."""

    name: str
    nodes: Mapping[str, Any]
    pods: Mapping[str, Any]
    code: str
    bound: int
    group: Mapping[str, Any] | None = None
    late: bool = False
    evicts: bool = False
    holders: Mapping[str, Any] = field(default_factory=dict)
    objects: tuple[Object, ...] = ()
    classes: Mapping[str, int] = field(default_factory=dict)
    fix: Mapping[str, Any] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """Every situation has a namespace of its own."""
        return f"gang-{self.name}"


@cache
def situations() -> dict[str, Situation]:
    """All situations by name."""
    data = yaml.safe_load((Path(__file__).parent / "gangs.yaml").read_text(encoding="utf-8"))["cases"]
    return {name: Situation(name=name, **fields) for name, fields in data.items()}


class Stage:
    """Where one situation is brought about."""

    def __init__(self, client: Client, situation: Situation) -> None:
        self.client = client
        self.situation = situation
        self.namespace = situation.namespace

    def set(self) -> None:
        """Create everything, in an empty cluster; a group that comes late is not created."""
        for version, kind in _CLEARED:
            self.client.clear(version, kind)
        self._create({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": self.namespace}})
        for name, value in self.situation.classes.items():
            self._class(name, value)
        self._create({"kind": "DeviceClass", "metadata": {"name": _DRIVER}, "spec": {}})
        self.nodes(self.situation.nodes)
        for body in self.situation.objects:
            self._create(body)
        time.sleep(_SETTLE_SECONDS)
        for name, fields in self.situation.holders.items():
            self.pod(name, {**fields, "group": ""})
            wait_for(lambda name=name: bound_to(self.client, self.namespace, name), f"{name} is bound")  # type: ignore[misc]
        if self.situation.group is not None and not self.situation.late:
            self.group(self.situation.group)
            time.sleep(_SETTLE_SECONDS)
        for name, fields in self.situation.pods.items():
            self.pod(name, fields)
        time.sleep(_SETTLE_SECONDS)

    def nodes(self, nodes: Mapping[str, Any]) -> None:
        """Nodes with their devices."""
        for name, fields in nodes.items():
            spec = dict(fields)
            number = spec.pop("gpus", 0)
            if number:
                pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
                devices = [{"name": f"gpu-{i}"} for i in range(number)]
                body = {"driver": _DRIVER, "nodeName": name, "pool": pool, "devices": devices}
                self._create({"kind": "ResourceSlice", "metadata": {"name": name}, "spec": body})
            self._create(node_object(name, **spec))

    def group(self, fields: Mapping[str, Any]) -> None:
        """The PodGroup."""
        self.client.create(group_object(self.namespace, fields))

    def pod(self, name: str, fields: Mapping[str, Any]) -> None:
        """A pod, with a claim of its own if it wants devices."""
        spec = dict(fields)
        number, group, port = spec.pop("gpus", 0), spec.pop("group", "train"), spec.pop("port", 0)
        labels, finished = spec.pop("labels", {}), spec.pop("finished", False)
        claims = tuple(spec.pop("claims", ()))
        if number:
            request = {"name": "gpu", "exactly": {"deviceClassName": _DRIVER, "count": number}}
            own = {"kind": "ResourceClaim", "metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}}
            self._create(own)
            claims = (*claims, name)
        if group:
            spec["schedulingGroup"] = {"podGroupName": group}
        body = pod_object(name, claims, **spec)
        body["metadata"]["labels"] = labels
        if port:
            body["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
        self._create(body)
        if finished:
            path = f"{object_path('v1', 'Pod', self.namespace, name)}/status"
            self.client.request("PATCH", path, {"status": {"phase": "Succeeded"}})

    def spoken(self) -> bool:
        """Whether the scheduler has said something about the group."""
        return self.condition() is not None

    def condition(self) -> Object | None:
        """The condition of the group."""
        found = self.client.get("PodGroup", "train", self.namespace, GROUP_VERSION)
        conditions = [] if found is None else found.get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == CONDITION), None)

    def bound(self) -> int:
        """How many pods of the group that are not finished have a node."""
        pods = self.client.list("v1", "Pod", self.namespace)
        members = (pod for pod in pods if pod["spec"].get("schedulingGroup") and pod["status"]["phase"] == "Pending")
        return sum(bool(pod["spec"].get("nodeName")) for pod in members)

    def take(self, fix: Mapping[str, Any]) -> None:
        """Carry out steps that no command of the plugin prints."""
        if "delete" in fix:
            kind, name = fix["delete"]
            self.client.delete("v1", kind, name, self.namespace)
            wait_for(lambda: self.client.get(kind, name, self.namespace) is None, f"{name} is gone")
        if "create" in fix:
            self._create(fix["create"])
        self.nodes(fix.get("nodes", {}))
        for name, fields in fix.get("pods", {}).items():
            self.pod(name, fields)
        if "group" in fix:
            self.group(fix["group"])

    def pin(self, pods: Iterator[tuple[str, str]]) -> None:
        """Make pods anew that may only run on one node each."""
        for name, node in pods:
            fields = {key: value for key, value in self.situation.pods[name].items() if key != "affinity"}
            self.client.delete("v1", "Pod", name, self.namespace)
            claims = [name] if fields.pop("gpus", 0) else []
            self.pod(name, {**fields, "claims": claims, "nodeSelector": {"kubernetes.io/hostname": node}})

    def _class(self, name: str, value: int) -> None:
        if self.client.get("PriorityClass", name, version="scheduling.k8s.io/v1") is None:
            body = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
            policy = {"preemptionPolicy": "Never"} if name == "polite" else {}
            self.client.create({**body, "value": value, **policy})

    def _create(self, body: Mapping[str, Any]) -> None:
        create(self.client, dict(body), self.namespace)


def group_object(namespace: str, fields: Mapping[str, Any]) -> Object:
    """The PodGroup called train."""
    spec = dict(fields)
    count = spec.pop("minCount", None)
    policy = {"basic": {}} if count is None else {"gang": {"minCount": count}}
    metadata = {"name": "train", "namespace": namespace}
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": {"schedulingPolicy": policy, **spec},
    }
