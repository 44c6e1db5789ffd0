"""One pending pod on a whole cluster, all plugins of the default profile, beside the real scheduler in process.

The real one gets the cluster ready: its snapshot holds the sums per node before the clock starts. Ours starts with
decoded records, read as commands read them; what it derives from them once, for all pods, counts in the first round,
and that it compares the nodes, as soon as a second pod asks, in the second: the third is what each pod costs from then
on. The best of three counts on both sides. Both work with one thread, and look at all nodes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from bench import real, world
from bench.frame import Budget, Measure, Row, report

ROUNDS = 3
NODES = 10_000
Json = dict[str, Any]
_ZONE: Final = "topology.kubernetes.io/zone"
_HOST: Final = "kubernetes.io/hostname"
_DRIVER: Final = "disk.example.com"
_LABELS: Final = {"app": "train", "team": "vision"}
_AMOUNTS: Final = {"cpu": "64", "memory": "512Gi", "pods": "110", "ephemeral-storage": "3Ti"}
_CREATED: Final = "2026-11-21T10:00:00Z"


def _meta(name: str, number: int, kind: int, **more: Any) -> Json:
    return {"name": name, "uid": f"00000000-0000-4000-{kind:04}-{number:012x}", "creationTimestamp": _CREATED, **more}


def _node(number: int) -> Json:
    name = world.node_name(number)
    labels = {_HOST: name, _ZONE: f"zone-{number % 12}", "rack": f"rack-{number % 400}", "disk": "ssd"}
    taints = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}] if number % 20 == 0 else []
    images = [{"names": [f"registry.example.com/app-{i}:v1"], "sizeBytes": 10**8 + i} for i in range(3)]
    return {
        "metadata": _meta(name, number, 1, labels=labels),
        "spec": {"taints": taints} if taints else {},
        "status": {
            "capacity": _AMOUNTS,
            "allocatable": _AMOUNTS,
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": images,
        },
    }


def _csi_node(number: int) -> Json:
    name = world.node_name(number)
    driver = {"name": _DRIVER, "nodeID": name, "topologyKeys": [_ZONE], "allocatable": {"count": 16}}
    return {"metadata": _meta(name, number, 2), "spec": {"drivers": [driver]}}


def _running(number: int, *, company: bool) -> Json:
    """The pods of each node: of ten, one holds a port, one wants no other beside it, and a third of the fourth ones are
    kept away from by the pod that waits.

    With ``company`` two more on every node concern it: one is counted by its constraints, one keeps it away; and two
    have a volume.
    """
    index = number % world.PODS_PER_NODE
    container: Json = {"name": "main", "image": f"registry.example.com/app-{index % 3}:v1"}
    container["resources"] = {"requests": {"cpu": "2", "memory": "8Gi"}}
    if index == 1:
        container["ports"] = [{"containerPort": 9100, "hostPort": 9100, "protocol": "TCP"}]
    spec: Json = {
        "nodeName": world.node_name(number // world.PODS_PER_NODE),
        "schedulerName": "default-scheduler",
        "priority": index % 2,
        "containers": [container],
    }
    if index == 2:
        spec["affinity"] = {"podAntiAffinity": _required("other", _HOST)}
    app = "train" if index == 3 and number % 3 == 0 else f"app-{number % 97}"
    labels = {"app": app, "team": f"t-{index}"}
    if company and index == 4:
        labels = dict(_LABELS)
    if company and index == 5:
        spec["affinity"] = {"podAntiAffinity": _required("train", _HOST)}
    if company and index in (6, 7):
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{number}"}}]
    meta = _meta(f"run-{number}", number, 3, namespace=world.NAMESPACE, labels=labels)
    return {"metadata": meta, "spec": spec, "status": {"phase": "Running", "startTime": _CREATED}}


def _required(app: str, key: str) -> Json:
    return {"requiredDuringSchedulingIgnoredDuringExecution": [_term(app, key)]}


def _term(app: str, key: str) -> Json:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}


def _pending(cpu: str, *, company: bool) -> Json:
    wanted = [(_ZONE, 5, "DoNotSchedule"), ("rack", 1, "ScheduleAnyway")]
    if company:
        wanted.append((_HOST, 1, "DoNotSchedule"))
    spread = [
        {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": how, "labelSelector": {"matchLabels": _LABELS}}
        for key, skew, how in wanted
    ]
    claims = {"claims": [{"name": "gpus"}]}
    ports = [{"containerPort": 8080, "hostPort": 8080, "protocol": "TCP"}]
    main: Json = {"name": "main", "image": "registry.example.com/app-1:v1", "ports": ports}
    main["resources"] = {"requests": {"cpu": cpu, "memory": "16Gi"}, **claims}
    disk = {"key": "disk", "operator": "In", "values": ["ssd"]}
    rack = {"weight": 10, "preference": {"matchExpressions": [{"key": "rack", "operator": "Exists"}]}}
    near = {"weight": 5, "podAffinityTerm": _term("app-7", "rack")}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [disk]}]},
            "preferredDuringSchedulingIgnoredDuringExecution": [rack],
        },
        "podAntiAffinity": _required("train", _HOST),
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [near]},
    }
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("bound", "late")]
    spec = {
        "schedulerName": "default-scheduler",
        "priority": 1000,
        "preemptionPolicy": "PreemptLowerPriority",
        "containers": [main],
        "affinity": affinity,
        "topologySpreadConstraints": spread,
        "tolerations": [{"key": "other", "operator": "Exists"}],
        "volumes": volumes,
        "resourceClaims": [{"name": "gpus", "resourceClaimName": "gpus"}],
    }
    meta = _meta("wanted", 0, 4, namespace=world.NAMESPACE, labels=_LABELS)
    return {"metadata": meta, "spec": spec, "status": {"phase": "Pending"}}


def _storage(nodes: int, *, company: bool) -> dict[str, list[Json]]:
    """A volume that is bound in three zones, and a claim for which one is made where the pod goes.

    With ``company`` also what pods on nodes use.
    """

    def claim(name: str, number: int, volume: str) -> Json:
        spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "late"}
        resources = {"requests": {"storage": "1Gi"}}
        done = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}} if volume else {}
        named = {"volumeName": volume} if volume else {}
        meta = _meta(name, number, 5, namespace=world.NAMESPACE, **done)
        phase = {"phase": "Bound" if volume else "Pending"}
        return {"metadata": meta, "spec": {**spec, **named, "resources": resources}, "status": phase}

    bound = claim("bound", 0, "volume")
    zones = {"key": _ZONE, "operator": "In", "values": [f"zone-{i}" for i in range(9)]}
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "late",
        "csi": {"driver": _DRIVER, "volumeHandle": "volume"},
        "claimRef": {"namespace": world.NAMESPACE, "name": "bound", "uid": bound["metadata"]["uid"]},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}},
    }
    used: list[Json] = []
    volumes = [{"metadata": _meta("volume", 0, 8), "spec": volume, "status": {"phase": "Bound"}}]
    for number in range(nodes * world.PODS_PER_NODE if company else 0):
        if number % world.PODS_PER_NODE in (6, 7):
            used.append(claim(f"data-{number}", number + 2, f"data-{number}"))
            source = {"csi": {"driver": _DRIVER, "volumeHandle": f"data-{number}"}}
            spec = {**volume, **source, "claimRef": {"namespace": world.NAMESPACE, "name": f"data-{number}"}}
            meta = _meta(f"data-{number}", number + 1, 8)
            volumes.append({"metadata": meta, "spec": spec, "status": {"phase": "Bound"}})
    late = {"metadata": _meta("late", 0, 6), "provisioner": _DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}
    return {
        "storageclasses": [late],
        "csidrivers": [{"metadata": _meta(_DRIVER, 0, 7), "spec": {"attachRequired": True}}],
        "csinodes": [_csi_node(number) for number in range(nodes)],
        "persistentvolumes": volumes,
        "persistentvolumeclaims": [bound, claim("late", 1, ""), *used],
    }


def cluster(cpu: str, selector: str, *, company: bool = False) -> Callable[[int], dict[str, Iterator[str]]]:
    """Items by plural: a pod that asks for ``cpu``, and for four GPUs that a selector selects.

    ``company``: every node has pods that play a part in where it may go, and volumes.
    """

    def make(nodes: int) -> dict[str, Iterator[str]]:
        meta = _meta("gpus", 0, 9, namespace=world.NAMESPACE)
        claim = {"metadata": meta, "spec": {"devices": {"requests": [world.request(4, selector)]}}}
        pods = (
            *(_running(number, company=company) for number in range(nodes * world.PODS_PER_NODE)),
            _pending(cpu, company=company),
        )
        spaces = [{"metadata": _meta(world.NAMESPACE, 0, 10)}]
        plain = {
            "namespaces": spaces,
            "nodes": [_node(number) for number in range(nodes)],
            "pods": pods,
            "resourceclaims": [claim],
            **_storage(nodes, company=company),
        }
        found = {plural: map(world.dumps, items) for plural, items in plain.items()}
        return {**found, "resourceslices": world.slices(nodes), "deviceclasses": world.classes()}

    return make


_MOST: Final = f'{world.OURS}.model != "A100"'
CASES: Final = {
    "whole pod, fits": cluster("4", _MOST),
    "whole pod, no devices": cluster("4", f'{world.OURS}.model == "A100"'),
    "whole pod, too little cpu": cluster("63", _MOST),
    "whole pod, in company": cluster("63", _MOST, company=True),
}


def rows() -> Iterator[Row]:
    """Every case."""
    size = f"{NODES} nodes, {NODES * world.PODS_PER_NODE} pods"
    for name in CASES:
        yield from real.beside("scheduler", name, size, Budget(Measure.RATIO, 0.5), name, str(NODES), kind="time-pod")


def ours(name: str, size: int) -> None:
    """One case, some rounds."""
    from kubectl_dra.api.decode import decode_object
    from kubectl_dra.api.kinds import KINDS
    from kubectl_dra.cluster import ClusterState
    from kubectl_dra.commands.shared.cluster import unwatched
    from kubectl_dra.model.clock import SYSTEM
    from kubectl_dra.model.evidence import Coverage, Evidence, Read
    from kubectl_dra.model.features import Features
    from kubectl_dra.model.ids import Key
    from kubectl_dra.scheduler.snapshot import Snapshot
    from tests.kit.decisions import decide
    from tests.kit.state import build_inventory

    kinds = {kind.plural: kind for kind in KINDS}
    with unwatched():
        objects = [
            (kinds[plural], decode_object(item.encode(), kinds[plural].api_version, kinds[plural]))
            for plural, items in CASES[name](size).items()
            for item in items
        ]
        inventory = build_inventory(objects)
        del objects
    evidence = Evidence(tuple(Read(kind.name, coverage=Coverage.COMPLETE) for kind in KINDS))
    state = ClusterState(inventory, evidence, Features(), SYSTEM)
    pod = inventory.pods[Key(world.NAMESPACE, "wanted")]

    def search() -> str:
        found = decide(Snapshot(state), pod)
        return _found(found.outcome.value, found.message)

    report(search, ROUNDS)


def theirs(name: str, size: int) -> None:
    """The same question to the real scheduler."""
    lists = (f'"{plural}":[{",".join(items)}]' for plural, items in CASES[name](size).items())
    line = f'{{"repeat":{ROUNDS},{",".join(lists)}}}'
    real.ask("time-pod", line, lambda answer: _found(str(answer["outcome"]), str(answer["message"])))


def _found(outcome: str, message: str) -> str:
    """Which of several equally good nodes is cleared for the pod is chance."""
    return world.dumps({"outcome": outcome, "message": re.sub(r" on node \S+,", " on a node,", message)})


if __name__ == "__main__":
    (ours if sys.argv[1] == "ours" else theirs)(sys.argv[2], int(sys.argv[3]))
