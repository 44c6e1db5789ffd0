"""Small clusters of 1.30 and 1.31 in a few words, decoded from the objects that such servers send.

Pods, claims and slices of that time have other shapes than those of v1, which ``tests.kit.build`` makes.
"""

from __future__ import annotations

from typing import Any

from kubectl_dra.diagnosis.records import ClaimDiagnosis, PodDiagnosis
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from tests.kit import build
from tests.kit.state import diagnose_claim, diagnose_pod, inventory_of

Json = dict[str, Any]
DRIVER = "gpu.example.com"
NAMESPACE = "ml"
POD = Key(NAMESPACE, "pod")
OLD, NEWER = "resource.k8s.io/v1alpha2", "resource.k8s.io/v1alpha3"
_IN_TREE = {"apiGroup": "resource.k8s.io"}
KINDS = (
    *("Node", "Pod", "Namespace", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "ResourceClass"),
    *("DeviceClass", "DeviceTaintRule", "PodSchedulingContext", "ResourceClaimParameters", "ResourceClassParameters"),
    *("ResourceQuota", "Event"),
)


def node(name: str = "node-1", **labels: str) -> Json:
    return {"apiVersion": "v1", **build.node(name, labels={"kubernetes.io/hostname": name, **labels})}


def pod(*claims: str, name: str = "pod", **spec: Any) -> Json:
    """A pod whose entries are named after the claims, in the nested form of that time."""
    entries = [{"name": f"use-{claim}", "source": {"resourceClaimName": claim}} for claim in claims]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _meta(name, uid=f"pod-{name}", resourceVersion="100"),
        "spec": {"containers": [{"name": "main"}], "resourceClaims": entries, **spec},
        "status": {"phase": "Pending"},
    }


def condition(of: Json, message: str, reason: str = "Unschedulable") -> Json:
    """The pod with what the scheduler said of it."""
    said = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return {**of, "status": {"phase": "Pending", "conditions": [said]}}


def resource_class(name: str = "gpu", *, structured: bool = False, **fields: Any) -> Json:
    marked = {"structuredParameters": True} if structured else {}
    return {"apiVersion": OLD, "kind": "ResourceClass", "metadata": {"name": name}, "driverName": DRIVER, **marked} | (
        fields
    )


def claim(name: str = "claim", *, by: tuple[str, ...] = (), mode: str = "WaitForFirstConsumer", **fields: Any) -> Json:
    """A v1alpha2 claim; ``status`` is merged with the consumers ``by``."""
    consumers = [{"resource": "pods", "name": user, "uid": f"pod-{user}"} for user in by]
    status = {**({"reservedFor": consumers} if consumers else {}), **fields.pop("status", {})}
    spec = {"resourceClassName": "gpu", "allocationMode": mode, **fields}
    metadata = _meta(name, uid=f"claim-{name}", resourceVersion="50")
    return {"apiVersion": OLD, "kind": "ResourceClaim", "metadata": metadata, "spec": spec, "status": status}


def on(*nodes: str, **fields: Any) -> Json:
    """A status with an allocation that can be used on ``nodes``."""
    terms = [
        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]},
    ]
    return {"allocation": {"availableOnNodes": {"nodeSelectorTerms": terms}, **fields}, "driverName": DRIVER}


def held(name: str, node_name: str, *instances: str) -> Json:
    """A claim that structured parameters allocated."""
    results = [{"namedResources": {"name": instance}} for instance in instances]
    handle = {"driverName": DRIVER, "structuredData": {"nodeName": node_name, "results": results}}
    status = on(node_name, resourceHandles=[handle], shareable=True)
    return claim(name, by=("somebody",), status=status)


def context(
    *potential: str,
    selected: str = "",
    unsuitable: dict[str, list[str]] | None = None,
    owner: str = "pod-pod",
    version: str = OLD,
) -> Json:
    """The negotiation about the pod; ``unsuitable`` has the nodes by claim."""
    answers = [{"name": f"use-{name}", "unsuitableNodes": nodes} for name, nodes in (unsuitable or {}).items()]
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": owner, "controller": True}]
    return {
        "apiVersion": version,
        "kind": "PodSchedulingContext",
        "metadata": _meta("pod", uid="context", ownerReferences=owners, creationTimestamp="2026-01-01T00:00:00Z"),
        "spec": {"potentialNodes": list(potential), "selectedNode": selected},
        "status": {"resourceClaims": answers},
    }


def claim_parameters(*selectors: str, name: str = "some", driver: str = DRIVER, **fields: Any) -> Json:
    requests = [{"namedResources": {"selector": selector}} for selector in selectors]
    return {
        "apiVersion": OLD,
        "kind": "ResourceClaimParameters",
        "metadata": _meta(name),
        "driverRequests": [{"driverName": driver, "requests": requests}],
        **fields,
    }


def class_parameters(selector: str, name: str = "all", **fields: Any) -> Json:
    filters = [{"driverName": DRIVER, "namedResources": {"selector": selector}}]
    return {
        "apiVersion": OLD,
        "kind": "ResourceClassParameters",
        "metadata": _meta(name),
        "filters": filters,
        **fields,
    }


def refers(kind: str, name: str, **fields: str) -> Json:
    """A reference to parameters; in-tree ones by default."""
    return {**_IN_TREE, "kind": kind, "name": name, **fields}


def slice_(node_name: str, *instances: Json, name: str = "") -> Json:
    return {
        "apiVersion": OLD,
        "kind": "ResourceSlice",
        "metadata": {"name": name or f"{node_name}-slice"},
        "nodeName": node_name,
        "driverName": DRIVER,
        "namedResources": {"instances": list(instances)},
    }


def instance(name: str, **attributes: str) -> Json:
    """An instance with string attributes."""
    return {"name": name, "attributes": [{"name": key, "string": value} for key, value in attributes.items()]}


def _meta(name: str, **fields: Any) -> Json:
    return {"name": name, "namespace": NAMESPACE, **fields}


def cluster(*objects: Json) -> Inventory:
    return inventory_of(objects)


def evidence(*withheld: str, minor: int = 30) -> Evidence:
    coverage = {kind: Coverage.FORBIDDEN if kind in withheld else Coverage.COMPLETE for kind in KINDS}
    return Evidence(tuple(Read(kind, coverage=found) for kind, found in coverage.items()), server_version=(1, minor))


def diagnose(*objects: Json, withheld: tuple[str, ...] = (), minor: int = 30, **gates: bool) -> PodDiagnosis:
    return diagnose_pod(cluster(*objects), evidence(*withheld, minor=minor), features(minor, gates), POD)


def diagnose_a_claim(*objects: Json, name: str = "claim") -> ClaimDiagnosis:
    return diagnose_claim(cluster(*objects), evidence(), features(30), Key(NAMESPACE, name))
