"""Random clusters by seed: nodes with devices, workloads that hold them, one that waits for some reason, and rivals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from tests.e2e.situations import node_object
from tests.ways_out.foreign import FOREIGN

Object = dict[str, Any]
DRIVER: Final = "gpu.example.com"
#: The workload whose pods wait; all its pods carry the label ``app`` with this value.
WAITING: Final = "waiting"
KINDS: Final = ("Deployment", "StatefulSet", "Job", "ReplicaSet", "Pod")
CAUSES: Final = (
    "taken",
    "too-many",
    "selector-typo",
    "selector-clause",
    "constraint",
    "capacity",
    "all-mode",
    "node-selector",
    "node-taint",
    "cordoned",
    "cpu",
    "gate",
    "taint-rule",
    "spread",
)
_MODEL: Final = f'device.attributes["{DRIVER}"].model'
_GROUPS: Final = {"Deployment": "apps/v1", "StatefulSet": "apps/v1", "ReplicaSet": "apps/v1", "Job": "batch/v1"}


@dataclass
class Workload:
    """Something that makes pods, with the template of its claims: ``request`` None for pods without devices."""

    name: str
    kind: str
    replicas: int = 1
    request: Object | None = None
    constraints: list[Object] = field(default_factory=list)
    cpu: str = "1"
    priority: str = ""
    spec: Object = field(default_factory=dict)

    def objects(self) -> list[Object]:
        """What is created, in its order."""
        made = []
        if self.request is not None:
            devices = {"requests": [{"name": "gpu", "exactly": self.request}], "constraints": self.constraints}
            made.append(
                {
                    "apiVersion": "resource.k8s.io/v1",
                    "kind": "ResourceClaimTemplate",
                    "metadata": {"name": self.name},
                    "spec": {"spec": {"devices": devices}},
                }
            )
        return [*made, self._workload()]

    def _workload(self) -> Object:
        labels, pod = {"app": self.name}, self._pod()
        if self.kind == "Pod":
            return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": self.name, "labels": labels}, "spec": pod}
        template = {"metadata": {"labels": labels}, "spec": pod}
        if self.kind in FOREIGN:
            version, make = FOREIGN[self.kind]
            made = make(template, self.replicas)
            return {"apiVersion": version, "kind": self.kind, "metadata": {"name": self.name}, "spec": made}
        spec: Object = {"template": template}
        if self.kind == "Job":
            pod["restartPolicy"] = "Never"
            spec |= {"parallelism": self.replicas, "completions": self.replicas}
        else:
            spec |= {"replicas": self.replicas, "selector": {"matchLabels": labels}}
        if self.kind == "StatefulSet":
            spec["serviceName"] = self.name
        return {"apiVersion": _GROUPS[self.kind], "kind": self.kind, "metadata": {"name": self.name}, "spec": spec}

    def _pod(self) -> Object:
        resources: Object = {"requests": {"cpu": self.cpu}}
        pod: Object = {"containers": [{"name": "main", "image": "example.com/app:1", "resources": resources}]}
        if self.request is not None:
            resources["claims"] = [{"name": "gpu"}]
            pod["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": self.name}]
        if self.priority:
            pod["priorityClassName"] = self.priority
        return {**pod, **self.spec}


@dataclass
class Cluster:
    """What is created before pods, who holds devices, what happens then, and who waits, in that order."""

    seed: int
    cause: str
    base: list[Object]
    holders: list[Workload]
    later: list[Object]
    cordoned: list[str]
    waiting: list[Workload]


def request(count: int = 1, selector: str = "", **fields: Any) -> Object:
    """An exact request for devices."""
    selectors = [{"cel": {"expression": selector}}] if selector else []
    return {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": count, "selectors": selectors, **fields}


def random_cluster(seed: int, kinds: Sequence[str] = ()) -> Cluster:
    """The cluster of a seed. Causes take turns, so that few clusters show all of them.

    ``kinds``: what may wait, in turns; by default any of :data:`KINDS`.
    """
    random = Random(seed)
    cause = CAUSES[seed % len(CAUSES)]
    names = [f"node-{number}" for number in range(1, random.randint(2, 4) + 1)]
    nodes = [node_object(name, cpu="8", labels={"zone": random.choice("ab"), "pool": "gpu"}) for name in names]
    sizes = {name: random.randint(2, 4) for name in names}
    base = [*nodes, *(_slice(name, sizes[name], random) for name in names), *_classes(), *_priorities()]
    holders = list(_holders(random, cause, sum(sizes.values())))
    first = _waiting(random, cause, max(sizes.values()))
    first.kind = kinds[seed % len(kinds)] if kinds else first.kind
    rivals = list(_rivals(random, cause))
    waiting = [first, *rivals]
    random.shuffle(waiting)
    later = [_rule()] if cause == "taint-rule" else []
    if cause == "node-taint":
        for node in nodes:
            node["spec"]["taints"] = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]
        for each in (*holders, *rivals):
            each.spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    return Cluster(seed, cause, base, holders, later, names if cause == "cordoned" else [], waiting)


def _slice(node: str, size: int, random: Random) -> Object:
    model = random.choice(("A100", "H100"))
    devices = [
        {
            "name": f"gpu-{number}",
            "attributes": {
                "model": {"string": model},
                "domain": {"int": number // 2},
                "uuid": {"string": f"{node}-{number}"},
            },
            "capacity": {"memory": {"value": f"{random.choice((40, 80))}Gi"}},
        }
        for number in range(size)
    ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-gpu"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


def _classes() -> list[Object]:
    expression = f'device.driver == "{DRIVER}"'
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": DRIVER},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        }
    ]


def _priorities() -> list[Object]:
    return [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("important", 1000), ("whenever", -1000))
    ]


def _rule() -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "maintenance"},
        "spec": {
            "deviceSelector": {"driver": DRIVER},
            "taint": {"key": "example.com/maintenance", "effect": "NoSchedule"},
        },
    }


def _holders(random: Random, cause: str, devices: int) -> Sequence[Workload]:
    """Workloads that take some of the devices; all of them where that is the cause."""
    found = []
    left = devices if cause == "taken" else random.randint(0, devices // 2)
    number = 0
    while left > 0 and number < 8:
        kind, size = random.choice(KINDS), random.randint(1, min(2, left))
        replicas = random.randint(1, max(1, min(3, left // size))) if kind != "Pod" else 1
        found.append(Workload(f"holder-{number}", kind, replicas, request(size)))
        left -= size * replicas
        number += 1
    if cause == "cpu":
        kind = random.choice(("Deployment", "StatefulSet", "Pod"))
        spread = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_APART]}}
        found += [Workload(f"busy-{n}", kind, 1, None, cpu="5", spec={"affinity": spread}) for n in range(4)]
    return found


_APART: Final = {
    "topologyKey": "kubernetes.io/hostname",
    "labelSelector": {
        "matchExpressions": [{"key": "app", "operator": "In", "values": [f"busy-{n}" for n in range(4)]}]
    },
}


def _waiting(random: Random, cause: str, largest: int) -> Workload:
    kind = random.choice(KINDS)
    made = Workload(WAITING, kind, 1 if kind == "Pod" else random.randint(1, 2), request())
    match cause:
        case "taken":
            made.request = request(random.randint(1, 2))
        case "too-many":
            made.request = request(largest + random.randint(1, 2))
        case "selector-typo":
            made.request = request(1, f'{_MODEL} == "{random.choice(("h100", "a100", "H-100"))}"')
        case "selector-clause":
            capacity = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("100Gi")) >= 0'
            made.request = request(1, f'{_MODEL} != "" && {capacity}')
        case "constraint":
            made.request = request(random.randint(3, 4))
            made.constraints = [{"requests": ["gpu"], "matchAttribute": f"{DRIVER}/domain"}]
        case "capacity":
            made.request = request(1, capacity={"requests": {"memory": "100Gi"}})
        case "all-mode":
            made.request = request() | {"allocationMode": "All"}
            del made.request["count"]
        case "node-selector":
            made.spec["nodeSelector"] = {"zone": "c"} if random.random() < 0.5 else {"pool": "cpu"}
        case "cpu":
            made.cpu = "7"
        case "gate":
            made.spec["schedulingGates"] = [{"name": "example.com/quota"}]
        case "spread":
            made.replicas, made.kind = 2, random.choice(("Deployment", "StatefulSet", "ReplicaSet"))
            constraint = {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}
            made.spec["topologySpreadConstraints"] = [
                {**constraint, "labelSelector": {"matchLabels": {"app": WAITING}}}
            ]
    made.priority = random.choice(("", "", "important"))
    return made


def _rivals(random: Random, cause: str) -> Sequence[Workload]:
    """Others that wait for devices as well, where those that are free are of no use to them."""
    if cause in ("cordoned", "gate", "node-taint", "node-selector"):
        return []
    found = []
    for number in range(random.randint(0, 2)):
        kind = random.choice(KINDS)
        made = Workload(f"rival-{number}", kind, 1, request(random.randint(1, 3)))
        made.priority = random.choice(("", "", "important", "whenever"))
        found.append(made)
    return found
