"""Random clusters whose devices are in use here and there, in the form in which they are created; shapes for them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Final

Object = dict[str, Any]
DRIVER: Final = "gpu.example.com"
NAMESPACE: Final = "ml"
_MODEL: Final = f"device.attributes['{DRIVER}'].model == '{{}}'"
_TAINT: Final = {"key": "ecc", "effect": "NoSchedule"}


@dataclass(frozen=True)
class Shape:
    """A request of a bare pod; ``otherwise``: a second alternative, so many devices of whatever model."""

    count: int
    selector: str = ""
    same: str = ""
    cpu: str = ""
    otherwise: int = 0


def cluster(seed: str, *, small: bool = False) -> tuple[Object, Shape]:
    """The cluster of a seed, and a shape to count in it; ``small``: so small that every placement can be tried."""
    draw = random.Random(seed)
    if not small and draw.random() < 0.5:
        return _fragmented(draw)
    made = _Making(draw, small)
    for number in range(draw.randint(2, 3) if small else draw.randint(1, 5)):
        made.node(f"node-{number}")
    if not small and draw.random() < 0.15:
        made.slice("rack", 2, {"allNodes": True})
    for number in range(draw.randint(2, 4) if small else draw.randint(0, 9)):
        made.pod(f"run-{number}")
    selector = _MODEL.format(draw.choice("AB")) if draw.random() < 0.3 else ""
    same = f"{DRIVER}/domain" if draw.random() < 0.2 else ""
    cpu = draw.choice(("1", "2")) if draw.random() < 0.25 else ""
    return made.objects, Shape(draw.choice((1, 2, 2, 3, 4)), selector, same, cpu)


def _fragmented(draw: random.Random) -> tuple[Object, Shape]:
    """Nodes of one kind with small pods here and there, and copies that need much of a node."""
    made, devices = _Making(draw, small=False), draw.choice((2, 4, 4, 8))
    for number in range(draw.randint(2, 5)):
        made.node(f"node-{number}", devices)
    for number in range(draw.randint(2, 8)):
        made.pod(f"run-{number}")
    return made.objects, Shape(draw.choice((max(2, devices // 2), devices)))


class _Making:
    def __init__(self, draw: random.Random, small: bool) -> None:
        self._draw, self._small = draw, small
        self._free: dict[str, list[Object]] = {}
        self._serial = 0
        self.objects: Object = {
            "id": "capacity",
            "namespaces": [{"metadata": self._meta(NAMESPACE, "")}],
            "nodes": [],
            "resourceslices": [],
            "resourceclaims": [],
            "pods": [],
            "poddisruptionbudgets": [],
            "deviceclasses": [
                {
                    "metadata": self._meta(DRIVER, ""),
                    "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]},
                }
            ],
        }

    def _meta(self, name: str, namespace: str = NAMESPACE, **more: Any) -> Object:
        self._serial += 1
        found = {"name": name, "uid": f"00000000-0000-4000-8000-{self._serial:012}", **more}
        found["creationTimestamp"] = f"2026-01-01T00:{self._serial // 60:02}:{self._serial % 60:02}Z"
        return found | ({"namespace": namespace} if namespace else {})

    def node(self, name: str, devices: int = 0) -> None:
        draw = self._draw
        room = {"cpu": draw.choice(("2", "4", "8")), "memory": "16Gi", "pods": draw.choice(("3", "8", "110"))}
        spec: Object = {}
        if draw.random() < 0.08:
            spec["unschedulable"] = True
        if draw.random() < 0.1:
            spec["taints"] = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]
        labels = {"kubernetes.io/hostname": name}
        status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
        self.objects["nodes"].append({"metadata": self._meta(name, "", labels=labels), "spec": spec, "status": status})
        if draw.random() < 0.92:
            number = devices or (draw.randint(2, 4) if self._small else draw.randint(1, 8))
            self.slice(name, number, {"nodeName": name})

    def slice(self, pool: str, count: int, where: Object) -> None:
        draw = self._draw
        devices = []
        for number in range(count):
            attributes = {"model": {"string": draw.choice("AAB")}, "domain": {"int": number // 2}}
            device: Object = {"name": f"gpu-{number}", "attributes": attributes}
            if draw.random() < 0.06:
                device["taints"] = [_TAINT]
            devices.append(device)
        spec = {
            "driver": DRIVER,
            "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
            **where,
        }
        self.objects["resourceslices"].append({"metadata": self._meta(f"{pool}-slice", ""), "spec": spec})
        if "nodeName" in where:
            self._free[pool] = list(devices)

    def pod(self, name: str) -> None:
        """A running pod that holds devices of its node: of a controller, of a DaemonSet, of nobody, or protected."""
        draw = self._draw
        node = draw.choice(self.objects["nodes"])["metadata"]["name"]
        wanted = draw.choice("AB") if draw.random() < 0.3 else ""
        free = [
            each for each in self._free.get(node, ()) if not wanted or each["attributes"]["model"]["string"] == wanted
        ]
        count = min(draw.choice((1, 1, 1, 2, 2, 3)), len(free))
        if not count:
            return
        taken = draw.sample(free, count)
        for each in taken:
            self._free[node].remove(each)
        kind = draw.choice(("StatefulSet", "StatefulSet", "ReplicaSet", "ReplicaSet", "DaemonSet", ""))
        labels = {"app": name}
        meta = self._meta(name, labels=labels)
        if kind:
            owner = {"apiVersion": "apps/v1", "kind": kind, "name": "set", "uid": f"set-{kind}", "controller": True}
            meta["ownerReferences"] = [owner]
        exactly: Object = {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": count}
        if wanted:
            exactly["selectors"] = [{"cel": {"expression": _MODEL.format(wanted)}}]
        claim = self._claim(f"{name}-gpus", meta, [{"name": "gpus", "exactly": exactly}], node, taken)
        cpu = draw.choice(("0", "500m", "1"))
        container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
        pod = {
            "metadata": meta,
            "spec": {
                "nodeName": node,
                "containers": [container],
                "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": f"{name}-template"}],
            },
            "status": {
                "phase": "Running",
                "startTime": "2026-01-01T01:00:00Z",
                "resourceClaimStatuses": [{"name": "gpus", "resourceClaimName": claim}],
            },
        }
        self.objects["pods"].append(pod)
        if draw.random() < 0.1:
            self.objects["poddisruptionbudgets"].append(
                {
                    "metadata": self._meta(f"budget-{name}"),
                    "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
                    "status": {
                        "disruptionsAllowed": draw.choice((0, 1)),
                        "currentHealthy": 1,
                        "desiredHealthy": 1,
                        "expectedPods": 1,
                    },
                }
            )

    def _claim(self, name: str, pod: Object, requests: list[Object], node: str, devices: list[Object]) -> str:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["name"], "uid": pod["uid"], "controller": True}
        meta = self._meta(name, ownerReferences=[owner], finalizers=["resource.kubernetes.io/delete-protection"])
        results = [{"request": "gpus", "driver": DRIVER, "pool": node, "device": each["name"]} for each in devices]
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        allocation = {
            "devices": {"results": results},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
        }
        status = {
            "allocation": allocation,
            "reservedFor": [{"resource": "pods", "name": pod["name"], "uid": pod["uid"]}],
        }
        spec = {"devices": {"requests": requests}}
        self.objects["resourceclaims"].append({"metadata": meta, "spec": spec, "status": status})
        return name
