"""Writes the built-in demo cluster, kubectl_dra/source/demo/cluster.json: ``python tools/demo_cluster.py``.

One coherent cluster of Kubernetes 1.37 at one moment. Conditions and events are those that a real scheduler, claim
controller and kubelet write for this state.
"""

from __future__ import annotations

import json
import sys
import uuid
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "kubectl_dra" / "source" / "demo" / "cluster.json"
NOW = datetime.fromisoformat("2026-11-21T12:04:35+00:00")
GPU, NIC, MIG = "gpu.example.com", "nic.example.com", "mig.example.com"
# Names as cloud providers give them: what nobody can type and what no table can fold.
A, B = "gke-prod-h100-5f3a2b1c-k4tq", "gke-prod-h100-5f3a2b1c-x9zk"
C, D = "ip-192-168-153-160.ec2.internal", "ip-192-168-171-24.ec2.internal"
RACKS = {A: "rack-1", B: "rack-1", C: "rack-7", D: "rack-7"}
ALL_KINDS = (
    *("Pod", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule", "Node"),
    *("Namespace", "Event", "ResourceQuota", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob"),
    *("ReplicationController", "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver"),
    *("CSIStorageCapacity", "VolumeAttachment", "PriorityClass", "PodDisruptionBudget", "Service"),
    *("LimitRange", "RuntimeClass", "HorizontalPodAutoscaler"),
)
NOT_SERVED = (
    *("ResourcePoolStatusRequest", "ResourceClass", "PodSchedulingContext", "ResourceClaimParameters"),
    *("ResourceClassParameters", "PodGroup", "Workload", "CompositePodGroup"),
)

Json = dict[str, Any]
items: list[Json] = []
_FIRST_VERSION = 48_200
_version = _FIRST_VERSION


def ago(text: str) -> str:
    """The time that ``4m`` or ``3d`` ago was."""
    unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[text[-1]]
    return (NOW - timedelta(**{unit: int(text[:-1])})).strftime("%Y-%m-%dT%H:%M:%SZ")


def uid(*parts: str) -> str:
    """A uid that is the same in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, "/".join(("demo", *parts))))


def suffix(*parts: str) -> str:
    """Five letters and digits as the API server appends to generated names."""
    alphabet = "bcdfghjklmnpqrstvwxz2456789"
    number = uuid.uuid5(uuid.NAMESPACE_DNS, "/".join(parts)).int
    return "".join(alphabet[number // 27**i % 27] for i in range(5))


def add(api_version: str, kind: str, name: str, namespace: str = "", since: str = "30d", **fields: Any) -> Json:
    """Add an object; ``metadata`` among ``fields`` is merged."""
    global _version
    _version += 7
    metadata: Json = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata |= {"uid": uid(kind, namespace, name), "resourceVersion": str(_version), "creationTimestamp": ago(since)}
    metadata |= fields.pop("metadata", {})
    item = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
    items.append(item)
    return item


# --- nodes, classes, slices -------------------------------------------------------------------------------------------


def node(name: str, cpu: str, memory: str, taints: list[Json] | None = None) -> None:
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    if name in RACKS:
        labels["topology.example.com/rack"] = RACKS[name]
    amounts = {"cpu": cpu, "memory": memory, "pods": "110"}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": ago("29d"), "reason": "KubeletReady"}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
    add("v1", "Node", name, metadata={"labels": labels}, spec={"taints": taints} if taints else {}, status=status)


def device_class(name: str, *expressions: str, **spec: Any) -> None:
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    add("resource.k8s.io/v1", "DeviceClass", name, spec={**({"selectors": selectors} if selectors else {}), **spec})


def resource_slice(name: str, driver: str, pool: str, generation: int, count: int = 1, **spec: Any) -> None:
    pool_spec = {"name": pool, "generation": generation, "resourceSliceCount": count}
    add("resource.k8s.io/v1", "ResourceSlice", name, since="9d", spec={"driver": driver, "pool": pool_spec, **spec})


def gpu(node_name: str, index: int, model: str, driver_version: str, memory: str) -> Json:
    attributes: Json = {
        "model": {"string": model},
        "uuid": {"string": f"GPU-{uid('gpu', node_name, str(index))}"},
        "driverVersion": {"version": driver_version},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{0x10 + 0x10 * (index // 2):02x}"},
    }
    if model == "H100":
        attributes |= {"nvlinkGeneration": {"int": 4}, "nvlinkDomain": {"int": index // 4}}
    return {"name": f"gpu-{index}", "attributes": attributes, "capacity": {"memory": {"value": memory}}}


def nic(pool: str, index: int, **fields: Any) -> Json:
    policy = {"default": "10G", "validRange": {"min": "10G", "max": "100G", "step": "10G"}}
    attributes = {
        "speed": {"string": "100G"},
        "firmware": {"version": "22.41.1000"},
        "serial": {"string": f"{pool}-{index}-{suffix(pool, str(index))}"},
    }
    capacity = {"bandwidth": {"value": "100G", "requestPolicy": policy}}
    return {
        "name": f"nic-{index}",
        "attributes": attributes,
        "capacity": capacity,
        "allowMultipleAllocations": True,
        **fields,
    }


def partition(name: str, profile: str, memory: str, compute: str) -> Json:
    counters = {"memory": {"value": memory}, "compute": {"value": compute}}
    return {
        "name": name,
        "attributes": {"profile": {"string": profile}, "model": {"string": "A30"}},
        "capacity": {"memory": {"value": memory}},
        "consumesCounters": [{"counterSet": "card-0", "counters": counters}],
    }


def hardware() -> None:
    for name in RACKS:
        node(name, "128", "1Ti")
    node("cpu-1", "32", "256Gi", [{"key": "maintenance", "effect": "NoSchedule"}])
    node("cpu-2", "32", "256Gi")

    device_class(GPU, f'device.driver == "{GPU}"')
    device_class(
        "l40.example.com",
        f'device.driver == "{GPU}" && device.attributes["{GPU}"].model == "L40"',
        extendedResourceName="example.com/l40",
    )
    device_class(MIG, f'device.driver == "{MIG}"')
    mtu = {"opaque": {"driver": NIC, "parameters": {"mtu": 9000}}}
    device_class(NIC, f'device.driver == "{NIC}"', config=[mtu])
    device_class("any-device")

    models = {A: ("H100", "570.12.0", "80Gi"), B: ("H100", "550.90.7", "80Gi")}
    for name in RACKS:
        devices = [gpu(name, i, *models.get(name, ("L40", "550.90.7", "48Gi"))) for i in range(8)]
        resource_slice(f"{name}-{GPU}-{suffix(name)}", GPU, name, 7, nodeName=name, devices=devices)
    for rack, count in (("rack-1", 1), ("rack-7", 2)):
        term = {"key": "topology.example.com/rack", "operator": "In", "values": [rack]}
        selector = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
        down = {"taints": [{"key": "link", "value": "down", "effect": "NoSchedule", "timeAdded": ago("2h")}]}
        devices = [nic(rack, i, **(down if (rack, i) == ("rack-7", 3) else {})) for i in range(4)]
        resource_slice(f"{rack}-{NIC}-{suffix(rack)}", NIC, rack, 3, count, nodeSelector=selector, devices=devices)
    counters = {"memory": {"value": "24Gi"}, "compute": {"value": "4"}}
    card = [{"name": "card-0", "counters": counters}]
    resource_slice(f"cpu-2-{MIG}-counters", MIG, "cpu-2", 2, 2, nodeName="cpu-2", sharedCounters=card)
    partitions = [partition("card-0-whole", "whole", "24Gi", "4")]
    partitions += [partition(f"card-0-half-{i}", "half", "12Gi", "2") for i in range(2)]
    partitions += [partition(f"card-0-quarter-{i}", "quarter", "6Gi", "1") for i in range(4)]
    resource_slice(f"cpu-2-{MIG}-devices", MIG, "cpu-2", 2, 2, nodeName="cpu-2", devices=partitions)

    add(
        "resource.k8s.io/v1",
        "DeviceTaintRule",
        "ecc-errors",
        since="26h",
        metadata={"generation": 1},
        spec={
            "deviceSelector": {"driver": GPU, "pool": A, "device": "gpu-7"},
            "taint": {"key": "ecc", "effect": "NoSchedule", "timeAdded": ago("26h")},
        },
        status={
            "conditions": [
                {
                    "type": "EvictionInProgress",
                    "status": "False",
                    "observedGeneration": 1,
                    "lastTransitionTime": ago("26h"),
                    "reason": "OtherEffect",
                    "message": "Eviction only happens for the NoExecute effect.",
                }
            ]
        },
    )


# --- claims and pods --------------------------------------------------------------------------------------------------


def request(name: str, device_class_name: str = GPU, count: int = 1, **fields: Any) -> Json:
    """A request; ``selector`` is the CEL text."""
    selector = fields.pop("selector", None)
    exactly: Json = {"deviceClassName": device_class_name}
    if selector:
        exactly["selectors"] = [{"cel": {"expression": selector}}]
    mode = fields.pop("mode", "ExactCount")
    exactly["allocationMode"] = mode
    return {"name": name, "exactly": {**exactly, **({"count": count} if mode == "ExactCount" else {}), **fields}}


def bandwidth(amount: str) -> Json:
    return {"capacity": {"requests": {"bandwidth": amount}}}


def devices(*requests: Json, **fields: Any) -> Json:
    return {"devices": {"requests": list(requests), **fields}}


def result(request_name: str, driver: str, pool: str, device: str, **fields: Any) -> Json:
    return {"request": request_name, "driver": driver, "pool": pool, "device": device, **fields}


def share(holder: str, device: str, amount: str, **fields: Any) -> Json:
    """A share of a NIC of rack-1."""
    shared = {"shareID": uid("share", holder, device), "consumedCapacity": {"bandwidth": amount}}
    return result("nic", NIC, "rack-1", device, **fields, **shared)


def on_node(name: str) -> Json:
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]}


def on_rack(rack: str) -> Json:
    term = {"key": "topology.example.com/rack", "operator": "In", "values": [rack]}
    return {"nodeSelectorTerms": [{"matchExpressions": [term]}]}


def claim(
    name: str,
    namespace: str,
    spec: Json,
    since: str,
    *,
    results: list[Json] | None = None,
    selector: Json | None = None,
    config: list[Json] | None = None,
    pods: tuple[str, ...] = (),
    metadata: Json | None = None,
    status: Json | None = None,
) -> None:
    """A claim; ``pods`` are the names of the pods that have reserved it."""
    full: Json = {}
    meta = dict(metadata or {})
    if results is not None:
        found: Json = {"results": results, **({"config": config} if config else {})}
        allocation: Json = {"devices": found, "nodeSelector": selector, "allocationTimestamp": ago(since)}
        reserved = [{"resource": "pods", "name": pod, "uid": uid("Pod", namespace, pod)} for pod in pods]
        full = {"allocation": allocation, **({"reservedFor": reserved} if reserved else {}), **(status or {})}
        meta["finalizers"] = ["resource.kubernetes.io/delete-protection"]
    add("resource.k8s.io/v1", "ResourceClaim", name, namespace, since, metadata=meta, spec=spec, status=full)


def template(name: str, namespace: str, spec: Json, since: str = "20d") -> None:
    add("resource.k8s.io/v1", "ResourceClaimTemplate", name, namespace, since, spec={"spec": spec})


def generated(pod: str, entry: str, namespace: str) -> tuple[str, Json]:
    """Name and metadata of the claim that the controller makes from a template."""
    name = f"{pod}-{entry}-{suffix(namespace, pod, entry)}"
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid("Pod", namespace, pod)}
    meta = {
        "generateName": f"{pod}-{entry}-",
        "annotations": {"resource.kubernetes.io/pod-claim-name": entry},
        "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
    }
    return name, meta


def owner(api_version: str, kind: str, name: str, namespace: str) -> list[Json]:
    base = {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid(kind, namespace, name)}
    return [{**base, "controller": True, "blockOwnerDeletion": True}]


def event(about: Json, type_: str, reason: str, message: str, since: str, component: str, action: str = "") -> None:
    meta = about["metadata"]
    involved = {"kind": about["kind"], "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]}
    times: Json = {"eventTime": ago(since).replace("Z", ".000000Z"), "firstTimestamp": None, "lastTimestamp": None}
    if not action:
        times = {"eventTime": None, "firstTimestamp": ago(since), "lastTimestamp": ago(since), "count": 1}
    number = int(uid(meta["uid"], reason, since).replace("-", "")[:15], 16)
    add(
        "v1",
        "Event",
        f"{meta['name']}.{number:x}",
        meta["namespace"],
        since,
        involvedObject={**involved, "apiVersion": about["apiVersion"]},
        type=type_,
        reason=reason,
        message=message,
        **times,
        **({"action": action} if action else {}),
        reportingComponent=component,
    )


def pod(
    name: str,
    namespace: str,
    since: str,
    *,
    claims: tuple[tuple[str, str], ...] = (),
    templates: tuple[tuple[str, str], ...] = (),
    instantiated: bool = True,
    on: str = "",
    running: bool = True,
    cpu: str = "4",
    memory: str = "16Gi",
    limits: Json | None = None,
    owners: list[Json] | None = None,
    condition: Json | None = None,
    **spec: Any,
) -> Json:
    """A pod. ``claims`` are (entry, claim), ``templates`` (entry, template) with their claims made if instantiated."""
    entries = [{"name": entry, "resourceClaimName": named} for entry, named in claims]
    entries += [{"name": entry, "resourceClaimTemplateName": named} for entry, named in templates]
    resources: Json = {"requests": {"cpu": cpu, "memory": memory, **(limits or {})}}
    if limits:
        resources["limits"] = limits
    if entries:
        resources["claims"] = [{"name": entry["name"]} for entry in entries]
    full: Json = {
        "containers": [{"name": "main", "image": "registry.example.com/app:1", "resources": resources}],
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": f"node.kubernetes.io/{k}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for k in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        **spec,
    }
    if on:
        full["nodeName"] = on
    if entries:
        full["resourceClaims"] = entries
    status: Json = {"phase": "Running" if on and running else "Pending"}
    conditions = [condition] if condition else []
    if on:
        conditions = [
            {"type": "PodScheduled", "status": "True", "observedGeneration": 1, "lastTransitionTime": ago(since)}
        ]
    if conditions:
        status["conditions"] = conditions
    if instantiated and templates:
        status["resourceClaimStatuses"] = [
            {"name": entry, "resourceClaimName": generated(name, entry, namespace)[0]} for entry, _ in templates
        ]
    if on:
        state = {"running": {"startedAt": ago(since)}} if running else {"waiting": {"reason": "ContainerCreating"}}
        status["containerStatuses"] = [{"name": "main", "ready": running, "state": state}]
    metadata = {"generation": 1, **({"ownerReferences": owners} if owners else {})}
    return add("v1", "Pod", name, namespace, since, metadata=metadata, spec=full, status=status)


def refused(reason: str, message: str, since: str) -> Json:
    """The PodScheduled condition of a pod that could not be scheduled."""
    condition = {"type": "PodScheduled", "status": "False", "observedGeneration": 1, "lastTransitionTime": ago(since)}
    return {**condition, "reason": reason, "message": message}


def unschedulable(texts: str) -> str:
    """The scheduler's message for a cluster of six nodes where preemption can't help."""
    tail = "preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling."
    return f"0/6 nodes are available: {texts}. {tail}"


NO_DEVICES = unschedulable("1 node(s) had untolerated taint(s), 5 cannot allocate all claims")


def failed(waiting: Json, since: str) -> None:
    """The event beside a pod's PodScheduled condition."""
    message = waiting["status"]["conditions"][0]["message"]
    event(waiting, "Warning", "FailedScheduling", message, since, "default-scheduler", "Scheduling")


def workload(api_version: str, kind: str, name: str, namespace: str, since: str = "20d") -> list[Json]:
    add(api_version, kind, name, namespace, since)
    return owner(api_version, kind, name, namespace)


def deployment(name: str, replica_set: str, namespace: str, since: str = "20d") -> list[Json]:
    """A Deployment with its ReplicaSet, which owns the pods."""
    above = workload("apps/v1", "Deployment", name, namespace, since)
    owners = workload("apps/v1", "ReplicaSet", replica_set, namespace, since)
    items[-1]["metadata"]["ownerReferences"] = above
    return owners


# --- what runs --------------------------------------------------------------------------------------------------------


def system() -> None:
    for name, label in (("kube-system", {}), ("default", {}), ("ml", {}), ("ml-dev", {}), ("dev", {}), ("lab", {})):
        add("v1", "Namespace", name, metadata={"labels": {"kubernetes.io/metadata.name": name, **label}})
    admin = {"kubernetes.io/metadata.name": "ops", "resource.kubernetes.io/admin-access": "true"}
    add("v1", "Namespace", "ops", metadata={"labels": admin})
    for name in ("net", "edge"):
        add("v1", "Namespace", name, metadata={"labels": {"kubernetes.io/metadata.name": name}})
    for driver, nodes in (("gpu-driver", RACKS), ("nic-driver", RACKS), ("mig-driver", ("cpu-2",))):
        owners = workload("apps/v1", "DaemonSet", driver, "kube-system")
        for name in nodes:
            pod(
                f"{driver}-{suffix(driver, name)}",
                "kube-system",
                "9d",
                on=name,
                cpu="100m",
                memory="128Mi",
                owners=owners,
            )


def serving() -> None:
    """serve-0 still runs from the revision with two GPUs; serve-1 was recreated after the template asked for five."""
    owners = workload("apps/v1", "StatefulSet", "serve", "ml")
    h100 = f'device.attributes["{GPU}"].model == "H100"'
    template("serve-gpus", "ml", devices(request("gpus", count=5, selector=h100)), "2d")
    for name, on, chosen, net, since in (
        ("serve-0", A, (0, 1), ("nic-0", "80G"), "3d"),
        ("serve-1", B, (0, 1, 2, 3, 4), ("nic-3", "10G"), "2d"),
    ):
        named, meta = generated(name, "gpus", "ml")
        spec = devices(request("gpus", count=len(chosen), selector=h100))
        results = [result("gpus", GPU, on, f"gpu-{i}") for i in chosen]
        claim(named, "ml", spec, since, results=results, selector=on_node(on), pods=(name,), metadata=meta)
        status = None
        if name == "serve-0":
            data = {"interfaceName": "net1", "ips": ["10.8.1.20/16"], "hardwareAddress": "02:42:0a:08:01:14"}
            ready = {
                "type": "Ready",
                "status": "True",
                "reason": "LinkUp",
                "message": "",
                "lastTransitionTime": ago(since),
            }
            shared = {"shareID": uid("share", f"{name}-net", net[0])}
            device = {"driver": NIC, "pool": "rack-1", "device": net[0], **shared}
            status = {"devices": [{**device, "conditions": [ready], "networkData": data}]}
        claim(
            f"{name}-net",
            "ml",
            devices(request("nic", NIC, **bandwidth(net[1]))),
            since,
            results=[share(f"{name}-net", *net)],
            selector=on_rack("rack-1"),
            config=[{"source": "FromClass", "opaque": {"driver": NIC, "parameters": {"mtu": 9000}}}],
            pods=(name,),
            status=status,
        )
        entries = {"templates": (("gpus", "serve-gpus"),), "claims": (("net", f"{name}-net"),)}
        pod(name, "ml", since, on=on, cpu="16", memory="128Gi", owners=owners, **entries)


def notebook() -> None:
    patience = [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]
    timeslice = {"opaque": {"driver": GPU, "parameters": {"sharing": {"strategy": "TimeSlicing", "interval": "Long"}}}}
    claim(
        "nb-gpu",
        "dev",
        devices(request("gpu"), config=[timeslice]),
        "5h",
        results=[result("gpu", GPU, A, "gpu-4")],
        selector=on_node(A),
        config=[{"source": "FromClaim", **timeslice}],
        pods=("nb",),
    )
    claim(
        "nb-net",
        "dev",
        devices(request("nic", NIC, tolerations=patience, **bandwidth("10G"))),
        "5h",
        results=[share("nb-net", "nic-3", "10G", tolerations=patience)],
        selector=on_rack("rack-1"),
        config=[{"source": "FromClass", "opaque": {"driver": NIC, "parameters": {"mtu": 9000}}}],
        pods=("nb",),
    )
    pod("nb", "dev", "5h", on=A, claims=(("gpu", "nb-gpu"), ("net", "nb-net")))


def caches() -> None:
    owners = deployment("cache", "cache-6d4b9c7f5d", "net")
    template("cache-net", "net", devices(request("nic", NIC, **bandwidth("60G"))))
    for on, device in ((A, "nic-1"), (B, "nic-2")):
        name = f"cache-6d4b9c7f5d-{suffix('cache', on)}"
        named, meta = generated(name, "nic", "net")
        claim(
            named,
            "net",
            devices(request("nic", NIC, **bandwidth("60G"))),
            "8d",
            results=[share(named, device, "60G")],
            selector=on_rack("rack-1"),
            config=[{"source": "FromClass", "opaque": {"driver": NIC, "parameters": {"mtu": 9000}}}],
            pods=(name,),
            metadata=meta,
        )
        pod(name, "net", "8d", on=on, templates=(("nic", "cache-net"),), owners=owners)


def monitor() -> None:
    calm = [{"key": "link", "operator": "Exists", "effect": "NoExecute"}]
    seen = [share("monitor-nics", f"nic-{i}", "10G", adminAccess=True, tolerations=calm) for i in range(4)]
    for one in seen:
        one["request"] = "nics"
    claim(
        "monitor-nics",
        "ops",
        devices(request("nics", NIC, mode="All", adminAccess=True, tolerations=calm)),
        "6d",
        results=seen,
        selector=on_rack("rack-1"),
        config=[{"source": "FromClass", "opaque": {"driver": NIC, "parameters": {"mtu": 9000}}}],
        pods=("monitor",),
    )
    pod("monitor", "ops", "6d", on=B, cpu="500m", memory="1Gi", claims=(("nics", "monitor-nics"),))


def embedding() -> None:
    """A prioritized list: L40 where no H100 was free."""
    owners = workload("apps/v1", "StatefulSet", "embed", "ml")
    alternatives = [
        {
            "name": name,
            "deviceClassName": GPU,
            "selectors": [{"cel": {"expression": f'device.attributes["{GPU}"].model == "{model}"'}}],
            "allocationMode": "ExactCount",
            "count": 2,
        }
        for name, model in (("h100", "H100"), ("l40", "L40"))
    ]
    spec = devices({"name": "gpu", "firstAvailable": alternatives})
    template("embed-gpus", "ml", spec)
    for name, on, chosen in (("embed-0", C, (6, 7)), ("embed-1", D, (0, 1))):
        named, meta = generated(name, "gpus", "ml")
        results = [result("gpu/l40", GPU, on, f"gpu-{i}") for i in chosen]
        claim(named, "ml", spec, "30h", results=results, selector=on_node(on), pods=(name,), metadata=meta)
        pod(name, "ml", "30h", on=on, templates=(("gpus", "embed-gpus"),), owners=owners)


def rendering() -> None:
    """L40 as an extended resource: one pod has one; one asks for more than any node has free."""
    named = f"render-1-extended-resources-{suffix('render-1')}"
    mapped = {"containerName": "main", "resourceName": "example.com/l40", "requestName": "container-0-request-0"}
    meta = {
        "generateName": "render-1-extended-resources-",
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": "render-1",
                "uid": uid("Pod", "lab", "render-1"),
                "controller": True,
            }
        ],
    }
    claim(
        named,
        "lab",
        devices(request("container-0-request-0", "l40.example.com")),
        "7h",
        results=[result("container-0-request-0", GPU, D, "gpu-2")],
        selector=on_node(D),
        pods=("render-1",),
        metadata=meta,
    )
    has = pod("render-1", "lab", "7h", on=D, limits={"example.com/l40": "1"})
    has["status"]["extendedResourceClaimStatus"] = {"requestMappings": [mapped], "resourceClaimName": named}
    condition = refused("Unschedulable", NO_DEVICES, "25m")
    failed(pod("render-5", "lab", "25m", limits={"example.com/l40": "6"}, condition=condition), "25m")
    # Allocated for a pod that is gone before it was reserved: nobody frees it.
    claim(
        "leftover",
        "lab",
        devices(request("gpu")),
        "4d",
        results=[result("gpu", GPU, C, "gpu-5")],
        selector=on_node(C),
    )


# --- what waits -------------------------------------------------------------------------------------------------------


def waiting_ml() -> None:
    h100 = f'device.attributes["{GPU}"].model == "H100"'
    owners = workload("apps/v1", "StatefulSet", "trainer", "ml", "4m")
    same = [{"requests": ["gpus"], "matchAttribute": f"{GPU}/nvlinkDomain"}]
    spec = devices(request("gpus", count=4, selector=h100), constraints=same)
    template("gpus", "ml", spec)
    _wait("trainer-0", "ml", "4m", "gpus", "gpus", spec, NO_DEVICES, owners)

    fast = devices(request("gpu", selector=f'device.attributes["{GPU}"].nvlinkGeneration >= 4'))
    owners = deployment("infer", "infer-7c9f8d6b54", "ml", "2m")
    template("infer-gpu", "ml", fast, "2m")
    for name in sorted(f"infer-7c9f8d6b54-{suffix('infer', str(i))}" for i in range(3)):
        named, _ = generated(name, "gpu", "ml")
        message = (
            f'running "DynamicResources" filter plugin: claim ml/{named}: selector #0 on device {GPU}/{C}/gpu-0: '
            "CEL runtime error: no such key: nvlinkGeneration. consider using CEL optional chaining (.? followed by "
            "orValue()) or guarding the check with has() for optional fields"
        )
        _wait(name, "ml", "2m", "gpu", "infer-gpu", fast, message, owners)

    owners = workload("apps/v1", "StatefulSet", "sweep", "ml", "52m")
    spec = devices(request("gpus", count=6))
    template("sweep-gpus", "ml", spec, "52m")
    for i in range(4):
        _wait(f"sweep-{i}", "ml", f"{52 - i}m", "gpus", "sweep-gpus", spec, NO_DEVICES, owners)

    pod("train-x", "ml", "11m", claims=(("gpu", "gpu-pool"),))
    for name, namespace in (("gpu-pool-a", "ml"), ("gpu-pool-b", "ml"), ("gpu-pool", "ml-dev")):
        claim(name, namespace, devices(request("gpu")), "3d")
    used = {"count/resourceclaims.resource.k8s.io": "16", f"{GPU}.deviceclass.resource.k8s.io/devices": "44"}
    hard = {"count/resourceclaims.resource.k8s.io": "40", f"{GPU}.deviceclass.resource.k8s.io/devices": "64"}
    add("v1", "ResourceQuota", "devices", "ml", spec={"hard": hard}, status={"hard": hard, "used": used})


def _wait(
    name: str,
    namespace: str,
    since: str,
    entry: str,
    named: str,
    spec: Json,
    message: str,
    owners: list[Json] | None = None,
) -> None:
    """A pod with one claim from a template that can't be scheduled."""
    generated_name, meta = generated(name, entry, namespace)
    claim(generated_name, namespace, spec, since, metadata=meta)
    reason = "Unschedulable" if message.startswith("0/") else "SchedulerError"
    condition = refused(reason, message, since)
    failed(pod(name, namespace, since, templates=((entry, named),), owners=owners, condition=condition), since)


def waiting_dev() -> None:
    """Failed six minutes ago; what held the devices is gone, and the scheduler has not tried again yet."""
    l40 = f'device.attributes["{GPU}"].model == "L40"'
    claim("nb-2-gpus", "dev", devices(request("gpus", count=5, selector=l40)), "6m")
    failed(
        pod("nb-2", "dev", "6m", claims=(("gpus", "nb-2-gpus"),), condition=refused("Unschedulable", NO_DEVICES, "6m")),
        "6m",
    )


def waiting_net() -> None:
    claim("bulk-nic", "net", devices(request("nic", NIC, **bandwidth("90G"))), "18m")
    condition = refused("Unschedulable", NO_DEVICES, "18m")
    failed(pod("bulk", "net", "18m", claims=(("nic", "bulk-nic"),), condition=condition), "18m")

    claim("ingest-nic", "net", devices(request("nic", NIC, **bandwidth("20G"))), "15m")
    texts = (
        "1 node(s) had untolerated taint(s), 2 cannot allocate all claims, "
        "3 node(s) didn't match Pod's node affinity/selector"
    )
    condition = refused("Unschedulable", unschedulable(texts), "15m")
    rack = {"topology.example.com/rack": "rack-7"}
    failed(pod("ingest", "net", "15m", claims=(("nic", "ingest-nic"),), condition=condition, nodeSelector=rack), "15m")

    claim("fabric-test-nics", "net", devices(request("nics", NIC, mode="All")), "9m")
    message = (
        'running "DynamicResources" filter plugin: claim net/fabric-test-nics, request nics: asks for all devices, '
        f"but resource pool {NIC}/rack-7 is currently being updated"
    )
    condition = refused("SchedulerError", message, "9m")
    failed(pod("fabric-test", "net", "9m", claims=(("nics", "fabric-test-nics"),), condition=condition), "9m")


def waiting_edge() -> None:
    """Two partitions of the card are taken; the second pod is bound, but its driver can't prepare the partition."""
    half = f'device.attributes["{MIG}"].profile == "half"'
    quarter = f'device.attributes["{MIG}"].profile == "quarter"'
    claim(
        "split-0-part",
        "edge",
        devices(request("part", MIG, selector=half)),
        "2d",
        results=[result("part", MIG, "cpu-2", "card-0-half-0")],
        selector=on_node("cpu-2"),
        pods=("split-0",),
    )
    pod("split-0", "edge", "2d", on="cpu-2", claims=(("part", "split-0-part"),))
    claim(
        "split-1-part",
        "edge",
        devices(request("part", MIG, selector=quarter)),
        "3m",
        results=[result("part", MIG, "cpu-2", "card-0-quarter-2")],
        selector=on_node("cpu-2"),
        pods=("split-1",),
    )
    bound = pod("split-1", "edge", "3m", on="cpu-2", running=False, claims=(("part", "split-1-part"),))
    text = "Successfully assigned edge/split-1 to cpu-2"
    event(bound, "Normal", "Scheduled", text, "3m", "default-scheduler", "Binding")
    text = (
        "Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for ResourceClaim "
        "split-1-part: create partition card-0-quarter-2: device busy"
    )
    event(bound, "Warning", "FailedPrepareDynamicResources", text, "1m", "kubelet")
    claim("split-2-part", "edge", devices(request("part", MIG, selector=half)), "33m")
    condition = refused("Unschedulable", NO_DEVICES, "33m")
    failed(pod("split-2", "edge", "33m", claims=(("part", "split-2-part"),), condition=condition), "33m")


def waiting_lab() -> None:
    broken = f'device.attributes["{GPU}"].uuid == "GPU-{uid("gpu", A, "7")}"'
    claim("probe-gpu", "lab", devices(request("gpu", selector=broken)), "40m")
    condition = refused("Unschedulable", NO_DEVICES, "40m")
    failed(pod("probe", "lab", "40m", claims=(("gpu", "probe-gpu"),), condition=condition), "40m")

    claim("fpga-0-card", "lab", devices(request("card", "fpga.example.com")), "70m")
    message = unschedulable("request card: device class fpga.example.com does not exist")
    condition = refused("Unschedulable", message, "70m")
    failed(pod("fpga-0", "lab", "70m", claims=(("card", "fpga-0-card"),), condition=condition), "70m")

    asks = pod("eval-0", "lab", "8m", templates=(("gpus", "eval-gpus"),), instantiated=False)
    text = (
        'PodResourceClaim gpus: resource claim template "eval-gpus": '
        'resourceclaimtemplate.resource.k8s.io "eval-gpus" not found'
    )
    event(asks, "Warning", "FailedResourceClaimCreation", text, "8m", "resource_claim")
    template("eval-gpu", "lab", devices(request("gpu")))

    claim("finetune-gpu", "lab", devices(request("gpu")), "2h")
    condition = refused("SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates", "2h")
    gates = [{"name": "quota.example.com/approval"}]
    pod("finetune", "lab", "2h", claims=(("gpu", "finetune-gpu"),), condition=condition, schedulingGates=gates)

    claim("batch-7-gpu", "lab", devices(request("gpu")), "5m")
    pod("batch-7", "lab", "5m", claims=(("gpu", "batch-7-gpu"),), schedulerName="batch-scheduler")


def snapshot() -> Json:
    """The whole cluster, with the header of a complete snapshot."""
    global _version
    _version = _FIRST_VERSION
    items.clear()
    for part in (hardware, system, serving, notebook, caches, monitor, embedding, rendering):
        part()
    for part in (waiting_ml, waiting_dev, waiting_net, waiting_edge, waiting_lab):
        part()
    reads = [{"kind": kind, "coverage": "complete", "resourceVersion": str(_version)} for kind in ALL_KINDS]
    reads += [{"kind": kind, "coverage": "notServed"} for kind in NOT_SERVED]
    return {
        "apiVersion": "kubectl-dra/v1alpha1",
        "kind": "Snapshot",
        "taken": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "server": {"version": "v1.37.1"},
        "reads": reads,
        "items": items,
    }


def text() -> str:
    """The file's content: one object a line, so that changes can be read."""
    whole = snapshot()
    lines = ",\n".join(json.dumps(item, separators=(",", ":")) for item in whole.pop("items"))
    head = json.dumps(whole, separators=(",", ":"))
    return f'{head[:-1]},"items":[\n{lines}\n]}}\n'


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    sys.stdout.write(f"{TARGET}: {len(items)} objects\n")
