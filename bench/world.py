"""A cluster like the world as JSON text: unique uuids and bus ids, two drivers on each node, ten running pods on each.

Every object comes from a template into which only names and numbers are put, so that making the data costs little
beside what is measured with it. Lists are kept as a server keeps them: items without ``apiVersion`` and ``kind``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

GPU, NIC = "gpu.example.com", "nic.example.com"
DEVICES, NICS, PODS_PER_NODE = 8, 2, 10
NAMESPACE = "serving"
KINDS = {
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
    "resourceslices": ("resource.k8s.io/v1", "ResourceSlice"),
    "resourceclaims": ("resource.k8s.io/v1", "ResourceClaim"),
    "deviceclasses": ("resource.k8s.io/v1", "DeviceClass"),
}
Json = dict[str, Any]
_CREATED = "2026-11-21T10:00:00Z"


def dumps(value: object) -> str:
    """JSON without spaces, as servers send it."""
    return json.dumps(value, separators=(",", ":"))


def _template(value: object) -> Callable[..., str]:
    """``value`` with ``%(name)s`` in its texts filled in; a text of that alone in ``<>`` becomes a number."""
    text = dumps(value).replace('"<', "").replace('>"', "")
    return lambda **names: text % names


def _meta(name: str, uid: str, **more: Any) -> Json:
    manager = {
        "manager": "kubelet",
        "operation": "Update",
        "apiVersion": "v1",
        "time": _CREATED,
        "fieldsType": "FieldsV1",
    }
    fields: Json = {
        "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
        "f:spec": {"f:containers": {".": {}, "f:name": {}}},
    }
    return {
        "name": name,
        "uid": f"00000000-0000-4000-{uid}",
        "resourceVersion": "%(number)d",
        "creationTimestamp": _CREATED,
        **more,
        "managedFields": [{**manager, "fieldsV1": fields}],
    }


# --- nodes and devices ----------------------------------------------------------------------------------------------

_AMOUNTS = {"cpu": "192", "memory": "2048Gi", "pods": "110", "ephemeral-storage": "3Ti", "hugepages-2Mi": "0"}
_CONDITIONS = [
    {"type": kind, "status": status, "lastHeartbeatTime": _CREATED, "lastTransitionTime": _CREATED, "reason": "Kubelet"}
    for kind, status in (
        ("MemoryPressure", "False"),
        ("DiskPressure", "False"),
        ("PIDPressure", "False"),
        ("Ready", "True"),
    )
]
_LABELS = {"kubernetes.io/hostname": "%(name)s", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
_node = _template(
    {
        "metadata": _meta("%(name)s", "8000-%(number)012x", labels={**_LABELS, "zone": "%(zone)s"}),
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": "metal:///%(name)s"},
        "status": {
            "capacity": _AMOUNTS,
            "allocatable": _AMOUNTS,
            "conditions": _CONDITIONS,
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": "%(name)s"}],
            "nodeInfo": {"kubeletVersion": "v1.37.1", "architecture": "amd64", "operatingSystem": "linux"},
            "images": [{"names": [f"registry.example/team/image-{i}:v1"], "sizeBytes": 10**8} for i in range(10)],
        },
    }
)
_ROOT = {"resource.kubernetes.io/pcieRoot": {"string": "pci0000:%(root)02x"}}
_BUS = {"resource.kubernetes.io/pciBusID": {"string": "%(bus)06x:%(index)02x:00.0"}}
_gpu = _template(
    {
        "name": "gpu-%(index)d",
        "attributes": {
            "model": {"string": "%(model)s"},
            "uuid": {"string": "GPU-%(bus)08x-5ca1-4b1e-a000-%(index)012x"},
            "driverVersion": {"version": "570.12.0"},
            "nvlinkDomain": {"int": "<%(half)d>"},
            **_ROOT,
            **_BUS,
        },
        "capacity": {"memory": {"value": "80Gi"}, "cores": {"value": "132"}},
    }
)
_h100 = _template({"nvlinkGeneration": {"int": 4}})()
_nic = _template(
    {
        "name": "nic-%(index)d",
        "attributes": {"mac": {"string": "02:00:%(bus)08x:%(index)02x"}, "speed": {"string": "400Gb"}, **_ROOT, **_BUS},
        "capacity": {"bandwidth": {"value": "400G"}},
    }
)
_slice = _template(
    {
        "metadata": _meta("%(node)s-%(driver)s-x7k2p", "9%(tag)s-%(number)012x", generateName="%(node)s-"),
        "spec": {
            "driver": "%(driver)s",
            "nodeName": "%(node)s",
            "pool": {"name": "%(node)s", "generation": "<%(generation)s>", "resourceSliceCount": 1},
            "devices": ["<%(devices)s>"],
        },
    }
)


def node_name(number: int) -> str:
    """The name of a node."""
    return f"node-{number:05d}"


def model(number: int) -> str:
    """The GPUs of a node."""
    return "H100" if number % 3 else "L40"


def nodes(count: int) -> Iterator[str]:
    """The nodes."""
    return (_node(name=node_name(i), number=i, zone="abc"[i % 3]) for i in range(count))


def gpu_slice(number: int, driver: str = GPU, generation: str = "1") -> str:
    """Eight GPUs; only one of the models knows its NVLink."""
    kind, root = model(number), number % 256
    parts = [_gpu(index=i, bus=number, model=kind, half=i // 4, root=root) for i in range(DEVICES)]
    if kind == "H100":
        parts = [part.replace('"attributes":{', f'"attributes":{{{_h100[1:-1]},', 1) for part in parts]
    devices = ",".join(parts)
    return _slice(
        node=node_name(number), driver=driver, number=number, tag="000", generation=generation, devices=devices
    )


def nic_slice(number: int) -> str:
    """Two network interfaces."""
    devices = ",".join(_nic(index=i, bus=number, root=number % 256) for i in range(NICS))
    return _slice(node=node_name(number), driver=NIC, number=number, tag="100", generation="1", devices=devices)


def slices(count: int) -> Iterator[str]:
    """The slices of all nodes."""
    for number in range(count):
        yield gpu_slice(number)
        yield nic_slice(number)


def classes() -> Iterator[str]:
    """A class per driver."""
    for driver in (GPU, NIC):
        selectors = [{"cel": {"expression": f'device.driver == "{driver}"'}}]
        yield dumps({"metadata": {"name": driver, "uid": driver}, "spec": {"selectors": selectors}})


# --- what runs ------------------------------------------------------------------------------------------------------

_ENVIRONMENT = [{"name": f"SETTING_{i}", "value": f"value-{i}"} for i in range(6)]
# Random in each pod, as the service account controller names it.
_TOKEN = "kube-api-access-%(number)05x"
_MOUNT = {"name": _TOKEN, "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]
_OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "serve-7d9f", "uid": "rs", "controller": True}
_POD_CONDITIONS = [
    {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": _CREATED}
    for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
]
_POD_LABELS = {"app": "serve", "pod-template-hash": "7d9f", "team": "inference", "version": "v1"}
_CONTAINER = {
    "name": "main",
    "image": "registry.example/team/serve:v1",
    "args": ["--model", "large", "--port", "8080"],
    "env": _ENVIRONMENT,
    "ports": [{"containerPort": 8080, "protocol": "TCP"}],
    "volumeMounts": [_MOUNT],
    "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePath": "/dev/termination-log",
}
_RUNNING_SPEC: Json = {
    "volumes": [{"name": _TOKEN, "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "serviceAccountName": "default",
    "nodeName": "%(node)s",
    "schedulerName": "default-scheduler",
    "tolerations": _TOLERATIONS,
    "priority": 0,
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
}
_RUNNING_STATUS: Json = {
    "phase": "Running",
    "conditions": _POD_CONDITIONS,
    "hostIP": "10.0.0.1",
    "podIP": "10.0.1.%(index)d",
    "startTime": _CREATED,
    "containerStatuses": [
        {
            "name": "main",
            "state": {"running": {"startedAt": _CREATED}},
            "ready": True,
            "restartCount": 0,
            "image": "registry.example/team/serve:v1",
            "imageID": "registry.example/team/serve@sha256:" + "0" * 64,
            "containerID": "containerd://" + "0" * 51 + "%(number)013x",
        }
    ],
    "qosClass": "Burstable",
}


def _running(requests: Json, more: Json, status: Json) -> Callable[..., str]:
    metadata = _meta(
        "%(name)s", "a000-%(number)012x", namespace=NAMESPACE, labels=_POD_LABELS, ownerReferences=[_OWNER]
    )
    containers = [{**_CONTAINER, "resources": requests}]
    spec = {**_RUNNING_SPEC, **more, "containers": containers}
    return _template({"metadata": metadata, "spec": spec, "status": {**_RUNNING_STATUS, **status}})


_REQUESTS = {"cpu": "2", "memory": "8Gi"}
_plain = _running({"requests": _REQUESTS, "limits": {"memory": "8Gi"}}, {}, {})
_holding = _running(
    {"requests": _REQUESTS, "claims": [{"name": "gpus"}]},
    {"resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}]},
    {"resourceClaimStatuses": [{"name": "gpus", "resourceClaimName": "%(name)s-gpus"}]},
)
_EXACTLY = {"deviceClassName": GPU, "allocationMode": "ExactCount"}
_held = _template(
    {
        "metadata": _meta(
            "%(user)s-gpus",
            "b000-%(number)012x",
            namespace=NAMESPACE,
            finalizers=["resource.kubernetes.io/delete-protection"],
        ),
        "spec": {"devices": {"requests": [{"name": "gpus", "exactly": {**_EXACTLY, "count": "<%(count)d>"}}]}},
        "status": {
            "allocation": {
                "devices": {"results": ["<%(results)s>"]},
                "nodeSelector": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["%(node)s"]}]}
                    ]
                },
            },
            "reservedFor": [{"resource": "pods", "name": "%(user)s", "uid": "00000000-0000-4000-a000-%(pod)012x"}],
        },
    }
)
_result = _template({"request": "gpus", "driver": GPU, "pool": "%(node)s", "device": "gpu-%(index)d"})


def in_use(number: int) -> int:
    """How many GPUs of a node are in use: a third of all."""
    return number % 6


def running(count: int) -> Iterator[str]:
    """Ten pods on each node; the first holds a claim where GPUs are in use."""
    for number in range(count):
        node = node_name(number)
        for index in range(PODS_PER_NODE):
            make = _holding if index == 0 and in_use(number) else _plain
            at = number * PODS_PER_NODE + index
            yield make(name=f"serve-{number}-{index}", node=node, number=at, index=index)


def held(count: int) -> Iterator[str]:
    """The claims of the pods that hold GPUs."""
    for number in range(count):
        if used := in_use(number):
            node, user = node_name(number), f"serve-{number}-0"
            results = ",".join(_result(node=node, index=i) for i in range(used))
            pod = number * PODS_PER_NODE
            yield _held(user=user, node=node, number=number, count=used, results=results, pod=pod)


# --- what waits -----------------------------------------------------------------------------------------------------

OURS = f'device.attributes["{GPU}"]'


def request(count: int = 1, selector: str = "", **fields: Any) -> Json:
    """A request for GPUs."""
    selectors = {"selectors": [{"cel": {"expression": selector}}]} if selector else {}
    return {"name": "gpus", "exactly": {**_EXACTLY, "count": count, **selectors, **fields}}


def asks() -> list[Json]:
    """Specs of claims that can't be allocated, each for another reason; two read what is unique on every device."""
    domain = [{"matchAttribute": f"{GPU}/nvlinkDomain"}]
    return [
        {"requests": [request(9)]},
        {"requests": [request(6, f'{OURS}.model == "B200"')]},
        {"requests": [request(1, f'{OURS}.uuid == "GPU-nowhere"')]},
        {"requests": [request(1, f"{OURS}.nvlinkGeneration >= 4")]},
        {"requests": [request(5, f'{OURS}.model == "H100"')], "constraints": domain},
        {"requests": [request(3, f'{OURS}.driverVersion.isGreaterThan(semver("580.0.0"))')]},
        {"requests": [request(1, capacity={"requests": {"memory": "96Gi"}})]},
        {"requests": [{**request(4), "name": "a"}, {**request(5), "name": "b"}]},
        {"requests": [request(1, f'{OURS}.model == "H100" && device.driver == "other.example.com"')]},
        {"requests": [request(1, f'{OURS}.uuid.endsWith("zz") && {OURS}.model == "H100"')]},
    ]


_PLACES: tuple[Json, ...] = ({}, {"nodeSelector": {"zone": "a"}})
WAITING_KINDS = 2 * len(asks())


def waiting(number: int, kinds: int = WAITING_KINDS) -> tuple[str, str]:
    """A pod that waits, and its own claim; ``number`` modulo ``kinds`` is its kind.

    Beyond ``WAITING_KINDS`` they differ in what they ask of processors, too.
    """
    kind = number % kinds % WAITING_KINDS
    processors = str(4 + number % kinds // WAITING_KINDS)
    name, namespace = f"train-{number:04d}", f"team-{number % 7}"
    devices, place = asks()[kind // 2], _PLACES[kind % 2]
    uid = f"00000000-0000-4000-c000-{number:012x}"
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": True}
    meta = {"namespace": namespace, "resourceVersion": str(number), "creationTimestamp": _CREATED}
    claim = {**meta, "name": f"{name}-gpus-x7k2p", "uid": f"claim-{number}", "ownerReferences": [owner]}
    containers = [{**_CONTAINER, "resources": {"requests": {"cpu": processors}, "claims": [{"name": "gpus"}]}}]
    spec = {
        **_RUNNING_SPEC,
        "containers": containers,
        "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}],
        **place,
    }
    del spec["nodeName"]
    statuses = [{"name": "gpus", "resourceClaimName": claim["name"]}]
    status = {"phase": "Pending", "resourceClaimStatuses": statuses}
    pod = {"metadata": {**meta, "name": name, "uid": uid, "labels": _POD_LABELS}, "spec": spec, "status": status}
    return dumps(pod).replace(_TOKEN, _TOKEN % {"number": number}), dumps(
        {"metadata": claim, "spec": {"devices": devices}}
    )


# --- files ----------------------------------------------------------------------------------------------------------


def objects(count: int, pending: int, kinds: int = WAITING_KINDS) -> dict[str, Iterable[str]]:
    """A whole cluster of ``count`` nodes: items by plural name."""
    pairs = [waiting(number, kinds) for number in range(pending)]
    return {
        "deviceclasses": classes(),
        "nodes": nodes(count),
        "resourceslices": slices(count),
        "resourceclaims": [*held(count), *(claim for _, claim in pairs)],
        "pods": _chain(running(count), (pod for pod, _ in pairs)),
    }


def _chain(*parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        yield from part


def write_snapshot(path: Path, cluster: dict[str, Iterable[str]]) -> None:
    """The cluster as one ``List``, as ``kubectl get -o json`` writes it."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"apiVersion":"v1","kind":"List","items":[')
        between = "\n"
        for plural, items in cluster.items():
            version, kind = KINDS[plural]
            for item in items:
                file.write(f'{between}{{"apiVersion":"{version}","kind":"{kind}",{item[1:]}')
                between = ",\n"
        file.write("]}")


def write_list(path: Path, plural: str, items: Iterable[str]) -> None:
    """One kind as a server sends it in one piece."""
    version, kind = KINDS[plural]
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{{"kind":"{kind}List","apiVersion":"{version}","metadata":{{"resourceVersion":"9"}},"items":[')
        file.write(",".join(items))
        file.write("]}")
