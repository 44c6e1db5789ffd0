"""Random devices: slices, classes, taints, and claims that wait, are held, shared, reserved or being deleted."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.whole.draw import Draw, Object
from tests.differential.whole.nodes import CARD, ZONE

Cluster = dict[str, Any]
_GPU: Final = "gpu.example.com"
_IS_GPU: Final = f"device.driver == '{_GPU}'"
_BIG: Final = f"{_IS_GPU} && device.capacity['{_GPU}'].memory.compareTo(quantity('40Gi')) >= 0"
_SELECTORS: Final = (
    f"device.attributes['{_GPU}'].model == 'h100'",
    f"device.attributes['{_GPU}'].numa == 0",
    f"device.attributes['{_GPU}'].healthy",
    f"has(device.attributes['{_GPU}'].healthy) && device.attributes['{_GPU}'].healthy",
)
_TAINTS: Final = (
    *({"key": "example.com/unhealthy", "effect": "NoSchedule"}, {"key": "example.com/broken", "effect": "NoExecute"}),
    {"key": "example.com/noted", "effect": "None"},
)
_POLICIES: Final = (
    {"default": "10Gi", "validRange": {"min": "10Gi", "step": "10Gi", "max": "40Gi"}},
    {"default": "20Gi", "validValues": ["20Gi", "40Gi"]},
    {"default": "5Gi", "validRange": {"min": "5Gi"}},
)


def equip(draw: Draw, cluster: Cluster) -> None:
    """Add slices, classes and device taint rules."""
    names = [node["metadata"]["name"] for node in cluster["nodes"]]
    cluster["resourceslices"] = []
    for name in names:
        if not draw.rarely(4, "node without devices"):
            cluster["resourceslices"] += _slices(draw, name, {"nodeName": name})
    if draw.rarely(6, "devices for all nodes"):
        cluster["resourceslices"] += _slices(draw, "rack", {"allNodes": True})
    if draw.rarely(6, "devices for nodes of a zone"):
        term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone-a"]}]}
        cluster["resourceslices"] += _slices(draw, "zonal", {"nodeSelector": {"nodeSelectorTerms": [term]}})
    cluster["deviceclasses"] = [_class(draw, "gpu", _IS_GPU), _class(draw, "big-gpu", _BIG)]
    if draw.rarely(2, "class with extended resource"):
        card = _class(draw, "card", _IS_GPU)
        card["spec"]["extendedResourceName"] = CARD
        cluster["deviceclasses"].append(card)
    cluster["resourceclaims"] = []
    cluster["devicetaintrules"] = [_rule(draw, names)] if draw.rarely(6, "device taint rule") else []


def _class(draw: Draw, name: str, expression: str) -> Object:
    return {"metadata": draw.metadata(name), "spec": {"selectors": [{"cel": {"expression": expression}}]}}


def _rule(draw: Draw, names: list[str]) -> Object:
    selector = draw.one(({"driver": _GPU}, {"pool": draw.one(names or ["x"])}, {"device": "gpu-0"}))
    taint = {**draw.one(_TAINTS), "key": "example.com/broken", "timeAdded": "2026-01-01T00:00:00Z"}
    return {"metadata": draw.metadata("rule"), "spec": {"deviceSelector": selector, "taint": taint}}


def _slices(draw: Draw, pool: str, where: Object) -> list[Object]:
    incomplete = draw.rarely(15, "incomplete pool")
    spec: Object = {
        "driver": _GPU,
        "pool": {"name": pool, "generation": 1, "resourceSliceCount": 2 if incomplete else 1},
        "devices": [_device(draw, number) for number in range(draw.number(1, 3))],
        **where,
    }
    if draw.rarely(8, "shared counters"):
        counters = {"slots": {"value": draw.one(("1", "2"))}}
        spec["pool"]["resourceSliceCount"] += 1
        spec["devices"] = [device | {"consumesCounters": _use_of_counters(draw)} for device in spec["devices"]]
        sets = {**spec, "sharedCounters": [{"name": "set", "counters": counters}]}
        del sets["devices"]
        return [_slice(draw, f"slice-{pool}-counters", sets), _slice(draw, f"slice-{pool}", spec)]
    return [_slice(draw, f"slice-{pool}", spec)]


def _use_of_counters(draw: Draw) -> list[Object]:
    slots = "2" if draw.rarely(4, "device of two slots") else "1"
    return [{"counterSet": "set", "counters": {"slots": {"value": slots}}}]


def _slice(draw: Draw, name: str, spec: Object) -> Object:
    return {"metadata": draw.metadata(name), "spec": spec}


def _device(draw: Draw, number: int) -> Object:
    device: Object = {
        "name": f"gpu-{number}",
        "attributes": {"model": {"string": draw.one(("t4", "h100"))}, "numa": {"int": draw.number(0, 1)}},
        "capacity": {"memory": {"value": draw.one(("16Gi", "80Gi"))}},
    }
    if draw.number(0, 5):
        device["attributes"]["healthy"] = {"bool": bool(draw.number(0, 4))}
    if draw.rarely(5, "device taint"):
        device["taints"] = [{**draw.one(_TAINTS), "timeAdded": "2026-01-01T00:00:00Z"}]
    if draw.rarely(6, "device for several claims"):
        device["allowMultipleAllocations"] = True
        if draw.rarely(2, "capacity by a policy"):
            device["capacity"]["memory"] = {"value": "80Gi", "requestPolicy": draw.one(_POLICIES)}
    if draw.rarely(8, "binding conditions"):
        device |= {"bindingConditions": ["example.com/attached"], "bindingFailureConditions": ["example.com/failed"]}
        if draw.number(0, 1):
            device["bindsToNode"] = True
    return device


# --- claims ---------------------------------------------------------------------------------------------------------


def want(draw: Draw, cluster: Cluster, namespace: str, shared: list[str], pod: Object) -> None:
    """Give a pending pod claims, new ones or those that others have, or the extended resource of a class."""
    if draw.rarely(5, "extended resource of a class"):
        name = draw.one((CARD, "deviceclass.resource.kubernetes.io/gpu"))
        limits = pod["spec"]["containers"][0].setdefault("resources", {}).setdefault("limits", {})
        limits[name] = str(draw.number(1, 2))
        return
    for number in range(draw.one((1, 1, 1, 2))):
        entry: Object = {"name": f"claim-{number}"}
        if draw.rarely(4, "claim by template"):
            entry["resourceClaimTemplateName"] = "template"
            _made(draw, cluster, namespace, pod, entry["name"])
        elif shared and draw.rarely(4, "shared device claim"):
            entry["resourceClaimName"] = draw.one(shared)
        elif draw.rarely(20, "absent device claim"):
            entry["resourceClaimName"] = "absent"
        else:
            entry["resourceClaimName"] = name = f"want-{draw.serial()}"
            shared.append(name)
            cluster["resourceclaims"].append(_waiting(draw, name, namespace))
        pod["spec"].setdefault("resourceClaims", []).append(entry)
        _use(pod, entry["name"])


def _use(pod: Object, name: str) -> None:
    pod["spec"]["containers"][0].setdefault("resources", {}).setdefault("claims", []).append({"name": name})


def _made(draw: Draw, cluster: Cluster, namespace: str, pod: Object, entry: str) -> None:
    """The claim made from a template; not always there yet, not always the pod's own."""
    if draw.rarely(4, "claim not made from its template yet"):
        return
    name, metadata = f"made-{draw.serial()}", pod["metadata"]
    found = _waiting(draw, name, namespace)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}
    found["metadata"]["annotations"] = {"resource.kubernetes.io/pod-claim-name": entry}
    if draw.rarely(4, "claim by template is another pod's"):
        owner["uid"] = "11111111-0000-4000-8000-000000000000"
    found["metadata"]["ownerReferences"] = [owner]
    cluster["resourceclaims"].append(found)
    statuses = pod.setdefault("status", {}).setdefault("resourceClaimStatuses", [])
    statuses.append({"name": entry, "resourceClaimName": name})


def _waiting(draw: Draw, name: str, namespace: str) -> Object:
    requests = [_request(draw, "a")]
    devices: Object = {"requests": requests}
    if draw.rarely(5, "two requests"):
        requests.append(_request(draw, "b"))
        kind = draw.one(("matchAttribute", "distinctAttribute"))
        devices["constraints"] = [{kind: f"{_GPU}/{draw.one(('numa', 'model'))}", "requests": ["a", "b"]}]
    found = {"metadata": draw.metadata(name, namespace), "spec": {"devices": devices}}
    if draw.rarely(20, "device claim being deleted"):
        found["metadata"] |= {
            "deletionTimestamp": "2026-01-01T00:59:59Z",
            "finalizers": ["resource.kubernetes.io/delete-protection"],
        }
    return found


def _request(draw: Draw, name: str) -> Object:
    if draw.rarely(6, "prioritized list"):
        number = draw.one((2, 2, 3))
        return {"name": name, "firstAvailable": [{"name": f"s{each}", **_exact(draw)} for each in range(number)]}
    exactly = _exact(draw)
    if draw.rarely(15, "admin access"):
        exactly["adminAccess"] = True
    return {"name": name, "exactly": exactly}


def _exact(draw: Draw) -> Object:
    exact: Object = {"deviceClassName": draw.one((*("gpu",) * 8, "big-gpu", "big-gpu", "absent"))}
    if draw.rarely(8, "all devices"):
        exact["allocationMode"] = "All"
    else:
        exact["count"] = draw.one((1, 1, 1, 2))
    if draw.rarely(4, "selector of devices"):
        exact["selectors"] = [{"cel": {"expression": draw.one(_SELECTORS)}}]
    if draw.rarely(6, "toleration of device taints"):
        exact["tolerations"] = [{"key": draw.one(_TAINTS)["key"], "operator": "Exists"}]
    if draw.rarely(10, "capacity of a device"):
        exact["capacity"] = {"requests": {"memory": draw.one(("1Gi", "20Gi", "15Gi", "40Gi"))}}
    return exact


def hold(draw: Draw, cluster: Cluster, pod: Object) -> None:
    """Let a bound pod hold a device of its node through a claim that is reserved for it."""
    node = pod["spec"]["nodeName"]
    free = [
        (each["spec"]["pool"]["name"], device["name"])
        for each in cluster["resourceslices"]
        if each["spec"].get("nodeName") == node
        for device in each["spec"].get("devices", ())
        if (each["spec"]["pool"]["name"], device["name"]) not in _taken(cluster)
        and not device.get("allowMultipleAllocations")
    ]
    if not free:
        return
    pool, device = draw.one(free)
    name = f"held-{draw.serial()}"
    claim = _waiting(draw, name, pod["metadata"]["namespace"])
    claim["spec"] = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    result = {"request": "r", "driver": _GPU, "pool": pool, "device": device}
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    allocation: Object = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
    claim["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
    claim["status"] = {"allocation": allocation}
    if not draw.rarely(8, "claim allocated and not reserved"):
        reserved = {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        claim["status"]["reservedFor"] = [reserved]
    cluster["resourceclaims"].append(claim)
    pod["spec"]["resourceClaims"] = [{"name": "claim-0", "resourceClaimName": name}]
    _use(pod, "claim-0")


def _taken(cluster: Cluster) -> set[tuple[str, str]]:
    return {
        (result["pool"], result["device"])
        for claim in cluster["resourceclaims"]
        for result in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
    }
