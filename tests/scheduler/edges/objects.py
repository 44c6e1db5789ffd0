"""Objects of the small clusters: short to write, whole enough for the real scheduler.

``tests.kit.build`` makes what only this program reads: its objects lack what an API server asks for (images, capacity,
labels of nodes), and stand in one list; here each resource has a list of its own, as in the recorded rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Object = dict[str, Any]
ZONE: Final = "topology.kubernetes.io/zone"
HOST: Final = "kubernetes.io/hostname"
DEFAULTS: Final[Object] = {"metadata": {"name": "default", "labels": {"kubernetes.io/metadata.name": "default"}}}
CLASSES: Final[list[Object]] = [
    {"metadata": {"name": "higher"}, "value": 20},
    {"metadata": {"name": "high"}, "value": 10},
    {"metadata": {"name": "meek"}, "value": 10, "preemptionPolicy": "Never"},
]
HIGH: Final = {"priorityClassName": "high"}


@dataclass(frozen=True)
class Edge:
    """One situation. ``told``: per pending pod ``fits NODES``, ``best NODES``, an outcome, or words of the message."""

    number: int
    cluster: Object
    told: dict[str, str] = field(default_factory=dict)

    def row(self) -> Object:
        """As a row of the recorded answers, without what is expected."""
        row = {"namespaces": [DEFAULTS], "priorityclasses": CLASSES, "featureGates": {}, **self.cluster}
        serial = 0
        for objects in row.values():
            for each in objects if isinstance(objects, list) else ():
                serial += 1
                own = {"uid": f"00000000-0000-4000-8000-{serial:012}", "creationTimestamp": "2026-01-01T00:00:00Z"}
                each["metadata"] = own | each["metadata"]
        return {"id": f"edge-{self.number}", "category": "edge", **row}


def meta(name: str, namespace: str = "", **more: Any) -> Object:
    """Metadata."""
    return {"name": name, **({"namespace": namespace} if namespace else {}), **more}


def node(name: str, zone: str = "", *, labels: Object | None = None, spec: Object | None = None, **has: str) -> Object:
    """A node with four processors, and what else it ``has``; ``_`` stands for a slash in names of resources."""
    own = {HOST: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110", **{key.replace("_", "/"): each for key, each in has.items()}}
    status = {"allocatable": amounts, "capacity": amounts}
    return {"metadata": meta(name, labels=own), "spec": dict(spec or {}), "status": status}


def nodes(*names: str, **more: Any) -> list[Object]:
    """Several alike."""
    return [node(name, **more) for name in names]


def pod(
    name: str,
    on: str = "",
    *,
    cpu: str = "",
    memory: str = "",
    labels: Object | None = None,
    container: Object | None = None,
    namespace: str = "default",
    status: Object | None = None,
    metadata: Object | None = None,
    **spec: Any,
) -> Object:
    """A pod, pending unless it is ``on`` a node."""
    requests = {**({"cpu": cpu} if cpu else {}), **({"memory": memory} if memory else {})}
    main = {"name": "main", "image": "image", **({"resources": {"requests": requests}} if requests else {})}
    body = {"containers": [{**main, **(container or {})}], **({"nodeName": on} if on else {}), **spec}
    own = meta(name, namespace, labels=labels or {}, **(metadata or {}))
    phase = {"phase": "Running" if on else "Pending"}
    return {"metadata": own, "spec": body, "status": {**phase, **(status or {})}}


def named(*names: str) -> Object:
    """A term of node affinity that asks for nodes by their names."""
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [each]} for each in names]}


def node_affinity(*terms: Object) -> Object:
    """Required node affinity."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def term(key: str, selector: Object | None, **more: Any) -> Object:
    """A term of pod affinity or anti-affinity."""
    return {"topologyKey": key, **({} if selector is None else {"labelSelector": selector}), **more}


def near(*terms: Object) -> Object:
    """Required pod affinity."""
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def away(*terms: Object) -> Object:
    """Required pod anti-affinity."""
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def app(name: str) -> Object:
    """A selector of pods by their label ``app``."""
    return {"matchLabels": {"app": name}}


def spread(key: str, selector: Object | None, **more: Any) -> Object:
    """A constraint with maxSkew 1 that must hold."""
    own = {} if selector is None else {"labelSelector": selector}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", **own, **more}


# --- volumes --------------------------------------------------------------------------------------------------------


def uses(*claims: str) -> list[Object]:
    """Volumes of a pod that are claims."""
    return [{"name": f"v-{each}", "persistentVolumeClaim": {"claimName": each}} for each in claims]


def claim(name: str, volume: str = "", cls: str = "late", size: str = "5Gi", **more: Any) -> Object:
    """A PersistentVolumeClaim, bound where it has a volume. ``more``: of its spec, ``annotations``, ``phase``."""
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    annotations, phase = more.pop("annotations", bound), more.pop("phase", "Bound" if volume else "Pending")
    asks = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "volumeMode": "Filesystem"}
    spec = {**asks, "storageClassName": cls, **({"volumeName": volume} if volume else {}), **more}
    return {"metadata": meta(name, "default", annotations=annotations), "spec": spec, "status": {"phase": phase}}


def volume(name: str, *, size: str = "10Gi", cls: str = "late", of: str = "", phase: str = "", **more: Any) -> Object:
    """A PersistentVolume, bound where it is ``of`` a claim. ``more``: of its spec, and ``labels`` and ``where``."""
    labels, where = more.pop("labels", {}), more.pop("where", None)
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem", **more}
    spec |= {"storageClassName": cls, **({} if "csi" in more else {"local": {"path": "/data"}})}
    spec |= {"claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": of}} if of else {}
    spec |= {"nodeAffinity": {"required": {"nodeSelectorTerms": where}}} if where is not None else {}
    state = phase or ("Bound" if of else "Available")
    return {"metadata": meta(name, labels=labels), "spec": spec, "status": {"phase": state}}


def at(key: str, *values: str) -> Object:
    """A term that asks for a label."""
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def storage_class(name: str, provisioner: str = "", mode: str = "WaitForFirstConsumer") -> Object:
    """A StorageClass; without a provisioner its volumes are made by hand."""
    maker = provisioner or "kubernetes.io/no-provisioner"
    return {"metadata": meta(name), "provisioner": maker, "volumeBindingMode": mode}


# --- devices --------------------------------------------------------------------------------------------------------


def pool(on: str, *devices: str, driver: str = "gpu.example.com") -> Object:
    """The devices of a node."""
    held = [{"name": each} for each in devices]
    own = {"name": on, "generation": 1, "resourceSliceCount": 1}
    return {"metadata": meta(f"slice-{on}"), "spec": {"driver": driver, "nodeName": on, "pool": own, "devices": held}}


def device_class(name: str = "gpu", **spec: Any) -> Object:
    """A class of all devices."""
    return {"metadata": meta(name), "spec": spec}


def device_claim(name: str, *, cls: str = "gpu", device: str = "", on: str = "", by: str = "", **more: Any) -> Object:
    """A ResourceClaim for one device; with a ``device`` it has that one ``on`` a node, for the pod ``by``."""
    requests = [{"name": "r", "exactly": {"deviceClassName": cls, "allocationMode": "ExactCount", "count": 1, **more}}]
    found: Object = {"metadata": meta(name, "default"), "spec": {"devices": {"requests": requests}}}
    if device:
        result = {"request": "r", "driver": "gpu.example.com", "pool": on, "device": device}
        terms = {"nodeSelectorTerms": [named(on)]}
        found["status"] = {"allocation": {"devices": {"results": [result]}, "nodeSelector": terms}}
        found["status"]["reservedFor"] = [{"resource": "pods", "name": by, "uid": by}] if by else []
    return found


def devices(*claims: str) -> list[Object]:
    """A pod's entries for its claims."""
    return [{"name": each, "resourceClaimName": each} for each in claims]


def budget(name: str, selector: Object, allowed: int = 0) -> Object:
    """A PodDisruptionBudget."""
    status = {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    return {"metadata": meta(name, "default"), "spec": {"minAvailable": 1, "selector": selector}, "status": status}


# --- groups ---------------------------------------------------------------------------------------------------------


def group(name: str, least: int = 0, **spec: Any) -> Object:
    """A PodGroup that needs at least so many pods, or none together."""
    policy: Object = {"gang": {"minCount": least}} if least else {"basic": {}}
    return {"metadata": meta(name, "default"), "spec": {"schedulingPolicy": policy, **spec}}


def member(name: str, of: str, **more: Any) -> Object:
    """A pod of a PodGroup."""
    return pod(name, schedulingGroup={"podGroupName": of}, **more)


def gang(cluster: Object, *groups: Object, pods: Sequence[Object]) -> Object:
    """A cluster whose scheduler knows groups."""
    return {**cluster, "featureGates": {"GenericWorkload": True}, "podgroups": list(groups), "pods": list(pods)}
