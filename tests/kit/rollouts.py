"""A Deployment in the middle of a rolling update, as ``kubectl get -o json`` gives its objects."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
NAMESPACE = "ml"
NAME = "web"
OLD = "web-5c8b7d9f44"
NEW = "web-7d9f6c5b88"
DRIVER = "gpu.example.com"
_REVISION = "deployment.kubernetes.io/revision"
_HASH = "pod-template-hash"


def objects(
    *,
    replicas: int = 1,
    strategy: Object | None = None,
    old: int = 1,
    pending: int = 1,
    running: int = 0,
    per_node: int = 1,
    kind: str = "Deployment",
    **spec: Any,
) -> list[Object]:
    """``old`` pods of the old ReplicaSet hold a device each, as ``running`` of the new one do; ``pending`` wait.

    Devices that nobody holds there are none: each node publishes ``per_node`` of them.
    """
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    holders = [*(f"{OLD}-{n}" for n in range(old)), *(f"{NEW}-r{n}" for n in range(running))]
    nodes = -(-len(holders) // per_node)
    made = [item for number in range(nodes) for item in _node(f"node-{number}", per_node)]
    for number, name in enumerate(holders):
        made += _pod(name, f"node-{number // per_node}", f"gpu-{number % per_node}")
    for number in range(pending):
        made += _pod(f"{NEW}-p{number}", "", "")
    owner = _deployment(replicas, strategy or rolling, old, running, pending) | {"kind": kind}
    owner["spec"] |= spec
    return [
        *made,
        owner,
        _replica_set(OLD, "1", old, old, kind),
        _replica_set(NEW, "2", running + pending, running, kind),
        *_around(),
    ]


def _around() -> list[Object]:
    return [
        {
            **_head("DeviceClass", DRIVER, "", "resource.k8s.io/v1"),
            "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]},
        },
        {**_head("Namespace", NAMESPACE, "", "v1"), "status": {"phase": "Active"}},
        {
            **_head("ResourceClaimTemplate", NAME, NAMESPACE, "resource.k8s.io/v1"),
            "spec": {"spec": _CLAIM},
        },
    ]


def daemon_objects(nodes: int = 1, surge: int | str = 1, **status: Any) -> list[Object]:
    """A DaemonSet whose new pod on the first node waits beside the old one, which holds the node's only device."""
    made = [item for number in range(nodes) for item in _node(f"node-{number}", 1)]
    for number in range(nodes):
        made += _daemon(f"{NAME}-old{number}", f"node-{number}", "1", placed=True)
    made += _daemon(f"{NAME}-new", "node-0", "2", placed=False)
    daemons = _head("DaemonSet", NAME, NAMESPACE, "apps/v1")
    daemons["metadata"] |= {"generation": 2}
    daemons["spec"] = {
        "selector": {"matchLabels": {"app": NAME}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}},
        "template": _template(),
    }
    daemons["status"] = {"observedGeneration": 2, "desiredNumberScheduled": nodes, "numberAvailable": nodes, **status}
    return [*made, daemons, *_around()]


def _daemon(name: str, node: str, revision: str, *, placed: bool) -> list[Object]:
    pod, claim = _pod(f"{name}-0", node if placed else "", "gpu-0")
    pod["metadata"]["ownerReferences"] = [{"controller": True, **_reference("DaemonSet", NAME)}]
    pod["metadata"]["labels"] = {"app": NAME, "controller-revision-hash": revision}
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    pod["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return [pod, claim]


_CLAIM: Object = {
    "devices": {
        "requests": [
            {"name": "gpu", "exactly": {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": 1}}
        ]
    }
}


def _head(kind: str, name: str, namespace: str, version: str, owner: Object | None = None) -> Object:
    meta: Object = {"name": name, "uid": f"uid-{kind}-{name}".lower(), "creationTimestamp": "2026-05-01T10:00:00Z"}
    if namespace:
        meta["namespace"] = namespace
    if owner is not None:
        meta["ownerReferences"] = [{"controller": True, "blockOwnerDeletion": True, **owner}]
    return {"apiVersion": version, "kind": kind, "metadata": meta}


def _reference(kind: str, name: str) -> Object:
    return {
        "apiVersion": "v1" if kind == "Pod" else "apps/v1",
        "kind": kind,
        "name": name,
        "uid": f"uid-{kind}-{name}".lower(),
    }


def _node(name: str, devices: int) -> list[Object]:
    node = _head("Node", name, "", "v1")
    node["metadata"]["labels"] = {"kubernetes.io/hostname": name}
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    node["spec"], node["status"] = {}, {"capacity": amounts, "allocatable": amounts}
    slice_ = _head("ResourceSlice", f"{name}-gpu", "", "resource.k8s.io/v1")
    slice_["spec"] = {
        "driver": DRIVER,
        "nodeName": name,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{number}"} for number in range(devices)],
    }
    return [node, slice_]


def _pod(name: str, node: str, device: str) -> list[Object]:
    owner = name.rpartition("-")[0]
    pod = _head("Pod", name, NAMESPACE, "v1", _reference("ReplicaSet", owner))
    pod["metadata"]["labels"] = {"app": NAME, _HASH: owner.removeprefix(f"{NAME}-")}
    claim = _head("ResourceClaim", f"{name}-gpu", NAMESPACE, "resource.k8s.io/v1", _reference("Pod", name))
    claim["metadata"]["annotations"] = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    claim["spec"] = _CLAIM
    pod["spec"] = _template()["spec"] | ({"nodeName": node} if node else {})
    pod["status"] = {
        "phase": "Running" if node else "Pending",
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}],
        "conditions": [{"type": "Ready", "status": "True"}] if node else [],
    }
    if node:
        result = {"request": "gpu", "driver": DRIVER, "pool": node, "device": device}
        claim["status"] = {
            "allocation": {"devices": {"results": [result]}},
            "reservedFor": [{"resource": "pods", "name": name, "uid": f"uid-pod-{name}"}],
        }
        claim["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
    return [pod, claim]


def _template() -> Object:
    return {
        "metadata": {"labels": {"app": NAME}},
        "spec": {
            "containers": [{"name": "main", "image": "example.com/web:2", "resources": {"claims": [{"name": "gpu"}]}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": NAME}],
            "schedulerName": "default-scheduler",
        },
    }


def _deployment(replicas: int, strategy: Object, old: int, running: int, pending: int) -> Object:
    made = _head("Deployment", NAME, NAMESPACE, "apps/v1")
    made["metadata"] |= {"generation": 2, "annotations": {_REVISION: "2"}}
    made["spec"] = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": NAME}},
        "strategy": strategy,
        "template": _template(),
    }
    made["status"] = {
        "observedGeneration": 2,
        "replicas": old + running + pending,
        "updatedReplicas": running + pending,
        "readyReplicas": old + running,
        "availableReplicas": old + running,
        "unavailableReplicas": pending,
    }
    return made


def _replica_set(name: str, revision: str, replicas: int, available: int, kind: str) -> Object:
    made = _head("ReplicaSet", name, NAMESPACE, "apps/v1", _reference("Deployment", NAME) | {"kind": kind})
    made["metadata"]["annotations"] = {_REVISION: revision}
    labels = {"app": NAME, _HASH: name.removeprefix(f"{NAME}-")}
    made["spec"] = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": _template()}
    made["status"] = {"replicas": replicas, "availableReplicas": available, "readyReplicas": available}
    return made
