"""Random small clusters and claims as the API server would store them, defaults filled in: rows for the allocator.

Small on purpose: few names and values, so that things collide, run out and contradict each other.
"""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

Row = dict[str, Any]

RUNS: Final = (
    (
        "default-1.37",
        (
            "AdminAccess",
            "ConsumableCapacity",
            "DeviceBindingAndStatus",
            "DeviceTaints",
            "PartitionableDevices",
            "PrioritizedList",
        ),
    ),
    (
        "all",
        (
            "AdminAccess",
            "CompatibilityGroups",
            "ConsumableCapacity",
            "DerivedAttributes",
            "DeviceBindingAndStatus",
            "DeviceTaints",
            "FractionalCapacityRange",
            "ListTypeAttributes",
            "OptionalNodeOperations",
            "PartitionableDevices",
            "PrioritizedList",
        ),
    ),
)
_DRIVERS: Final = ("gpu.example.com", "nic.example.com")
_ZONES: Final = ("a", "b")
_MODELS: Final = ("A100", "H100")
_AMOUNTS: Final = ("10Gi", "20Gi", "40Gi", "15Gi")
_ODD_AMOUNTS: Final = ("0", "1", "-1", "1.5", "1500m", "0.5Gi", "+5Gi", "10240Mi", "1e3", "12E6", "5e-10", "16Ei")
_OPERATIONS: Final = ("NodePrepareResources", "NodeUnprepareResources")
_DERIVED: Final = "x.example.com/derived"
_SHARE: Final = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbb{}"


def _sometimes(draw: st.DrawFn, one_in: int) -> bool:
    """Rarely true, and false when shrunk."""
    return draw(st.integers(0, one_in - 1)) == one_in - 1


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """A question to the allocator about every node, in the scheduler's default run and with every feature on."""
    nodes = [f"node-{number}" for number in range(draw(st.integers(1, 3)))]
    slices = [each for driver in _DRIVERS for each in _pools(draw, driver, nodes)]
    devices = [
        (each["spec"]["driver"], each["spec"]["pool"]["name"], device)
        for each in slices
        for device in each["spec"].get("devices", ())
    ]
    results = [{"node": node} for node in nodes]
    runs = (*RUNS, ("some", _some_features(draw)))
    return {
        "id": "random",
        "nodes": [_node(draw, name) for name in nodes],
        "slices": draw(st.permutations(slices)),
        "classes": _classes(draw),
        "claims": [_claim(draw, number) for number in range(draw(st.integers(1, 2)))],
        "allocatedClaims": _allocated(draw, devices),
        "expect": [{"name": name, "impl": "", "features": list(each), "results": results} for name, each in runs],
    }


def _some_features(draw: st.DrawFn) -> list[str]:
    """Never so few that the allocator is the one that walks pools in random order."""
    off = draw(st.lists(st.sampled_from(RUNS[1][1]), max_size=4, unique=True))
    return [name for name in RUNS[1][1] if name not in off or name == "ConsumableCapacity"]


def _amount(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(_ODD_AMOUNTS if _sometimes(draw, 25) else _AMOUNTS))


def _node(draw: st.DrawFn, name: str) -> Row:
    labels = {"kubernetes.io/hostname": name, "zone": draw(st.sampled_from(_ZONES))}
    node: Row = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    if _sometimes(draw, 4):
        node["status"] = {"declaredFeatures": ["DRAOptionalNodeOperations"]}
    return node


# --- slices ---------------------------------------------------------------------------------------------------------


def _pools(draw: st.DrawFn, driver: str, nodes: list[str]) -> list[Row]:
    slices: list[Row] = []
    if driver == _DRIVERS[0] or draw(st.booleans()):
        for node in nodes:
            if not _sometimes(draw, 5):
                slices += _pool(draw, driver, node, {"nodeName": node}, nodes)
    if _sometimes(draw, 3):
        where: Row = draw(st.sampled_from(({"allNodes": True}, {"nodeSelector": _selector(draw)})))
        slices += _pool(draw, driver, "rack", where, nodes)
    return slices


def _pool(draw: st.DrawFn, driver: str, name: str, where: Row, nodes: list[str]) -> list[Row]:
    count = draw(st.integers(1, 2))
    partitioned, shared = _sometimes(draw, 4), _sometimes(draw, 4)
    total = count + partitioned + _sometimes(draw, 12)
    prefix = f"{driver.partition('.')[0]}-{name}"

    def spec(generation: int = 1) -> Row:
        pool = {"name": name, "generation": generation, "resourceSliceCount": total}
        return {"driver": driver, "pool": pool, **where}

    slices = []
    per_device = not partitioned and _sometimes(draw, 8)
    for number in range(count):
        devices = [
            _device(draw, f"dev-{number}{position}", partitioned, shared)
            for position in range(draw(st.sampled_from((3, 4, 2, 1, 0))))
        ]
        body = {**spec(2 if _sometimes(draw, 15) else 1), "devices": devices}
        if per_device:
            body = {**{key: value for key, value in body.items() if key not in where}, "perDeviceNodeSelection": True}
            for device in devices:
                chosen = {"nodeSelector": _selector(draw)}
                device |= draw(
                    st.sampled_from(({"nodeName": nodes[0]}, {"allNodes": True}, {"nodeName": nodes[-1]}, chosen))
                )
        if _sometimes(draw, 10):
            body["skipNodeOperations"] = draw(st.sampled_from((["*"], list(_OPERATIONS), [_OPERATIONS[1]])))
        slices.append(_object("ResourceSlice", f"{prefix}-{number}", body))
    if partitioned:
        sets = [
            {"name": name, "counters": {"mem": {"value": draw(st.sampled_from(_AMOUNTS))}}} for name in _COUNTER_SETS
        ]
        slices.append(_object("ResourceSlice", f"{prefix}-counters", {**spec(), "sharedCounters": sets}))
    return slices


def _object(kind: str, name: str, spec: Row, **metadata: str) -> Row:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def _selector(draw: st.DrawFn) -> Row:
    terms = [_term(draw)]
    if _sometimes(draw, 12):
        terms.append(_term(draw))
    return {"nodeSelectorTerms": terms}


def _term(draw: st.DrawFn) -> Row:
    if _sometimes(draw, 6):
        return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-0"]}]}
    operator = draw(st.sampled_from(("In", "In", "NotIn", "Exists")))
    zone = {"key": "zone", "operator": operator}
    if operator != "Exists":
        zone["values"] = [draw(st.sampled_from(_ZONES))]
    return {"matchExpressions": [zone]}


def _device(draw: st.DrawFn, name: str, partitioned: bool, shared: bool) -> Row:
    device: Row = {"name": name, "attributes": _attributes(draw)}
    memory: Row = {"value": _amount(draw)}
    if shared and draw(st.booleans()):
        device["allowMultipleAllocations"] = True
        memory |= draw(st.sampled_from(({}, {}, _RANGE, _VALUES)))
        memory["value"] = "40Gi"
    if not _sometimes(draw, 4):
        device["capacity"] = {"memory": memory}
    if partitioned:
        device["consumesCounters"] = [_consumption(draw, "set-0")]
        if _sometimes(draw, 3):
            device["consumesCounters"].append(_consumption(draw, "set-1" if not _sometimes(draw, 20) else "none"))
    if _sometimes(draw, 8):
        effect = draw(st.sampled_from(("NoSchedule", "NoExecute", "None")))
        added = "2026-01-01T00:00:00Z"
        device["taints"] = [{"key": "example.com/bad", "value": "x", "effect": effect, "timeAdded": added}]
    if _sometimes(draw, 8):
        device |= {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Failed"]}
        if draw(st.booleans()):
            device["bindsToNode"] = True
    return device


_COUNTER_SETS: Final = ("set-0", "set-1")


def _consumption(draw: st.DrawFn, name: str) -> Row:
    consumption: Row = {"counterSet": name, "counters": {"mem": {"value": draw(st.sampled_from(_AMOUNTS))}}}
    if _sometimes(draw, 5):
        consumption["compatibilityGroups"] = draw(st.sampled_from((["a"], ["b"], ["a", "b"])))
    return consumption


_RANGE: Final = {"requestPolicy": {"default": "10Gi", "validRange": {"min": "10Gi", "step": "10Gi", "max": "40Gi"}}}
_VALUES: Final = {"requestPolicy": {"default": "10Gi", "validValues": ["10Gi", "20Gi"]}}


def _attributes(draw: st.DrawFn) -> Row:
    choices: dict[str, tuple[Row | None, ...]] = {
        "model": (*({"string": model} for model in _MODELS * 3), {"strings": list(_MODELS)}, None),
        "numa": (*({"int": 0}, {"int": 1}) * 4, {"ints": [0, 1]}, {"ints": [1, 2]}, None),
        "resource.kubernetes.io/pcieRoot": ({"string": "pci0000:00"}, {"string": "pci0000:01"}, None),
        "driverVersion": ({"version": "1.2.3"}, {"version": "2.0.0"}, None),
    }
    drawn = {name: draw(st.sampled_from(values)) for name, values in choices.items()}
    return {name: value for name, value in drawn.items() if value is not None}


# --- classes and claims ---------------------------------------------------------------------------------------------


def _classes(draw: st.DrawFn) -> list[Row]:
    classes = []
    for driver in _DRIVERS:
        expressions = [f'device.driver == "{driver}"']
        if _sometimes(draw, 6):
            expressions.append(draw(st.sampled_from(_EXPRESSIONS)).replace("DRIVER", driver))
        spec: Row = {"selectors": [{"cel": {"expression": text}} for text in expressions]}
        if _sometimes(draw, 6):
            spec["config"] = [{"opaque": {"driver": driver, "parameters": {"class": driver}}}]
        classes.append(
            {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": driver}, "spec": spec}
        )
    any_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}
    return [*classes, any_class]


_EXPRESSIONS: Final = (
    'device.attributes["DRIVER"].?model.orValue("") == "A100"',
    'has(device.attributes["DRIVER"].numa) && device.attributes["DRIVER"].numa == 0',
    'device.capacity["DRIVER"].?memory.orValue(quantity("0")).compareTo(quantity("20Gi")) >= 0',
    "device.allowMultipleAllocations",
    "true",
    "false",
    # Fails on devices that lack it.
    'device.attributes["DRIVER"].model == "A100"',
)


def _claim(draw: st.DrawFn, number: int) -> Row:
    requests = [_request(draw, f"req-{position}") for position in range(draw(st.sampled_from((1, 1, 2, 3))))]
    devices: Row = {"requests": requests}
    names = [request["name"] for request in requests]
    if _sometimes(draw, 3):
        devices["constraints"] = [_constraint(draw, requests)]
        if _sometimes(draw, 4):
            devices["constraints"].append(_constraint(draw, requests))
    if _sometimes(draw, 6):
        config: Row = {"opaque": {"driver": _DRIVERS[0], "parameters": {"claim": number}}}
        if draw(st.booleans()):
            config["requests"] = [names[0]]
        devices["config"] = [config]
    uid = f"00000000-0000-4000-8000-00000000000{number}"
    metadata = {"name": f"claim-{number}", "namespace": "default", "uid": uid}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": devices},
    }


def _constraint(draw: st.DrawFn, requests: list[Row]) -> Row:
    kind = draw(st.sampled_from(("matchAttribute", "matchAttribute", "distinctAttribute")))
    attributes = ("gpu.example.com/numa", "gpu.example.com/model", "resource.kubernetes.io/pcieRoot", _DERIVED)
    constraint: Row = {kind: draw(st.sampled_from(attributes))}
    if draw(st.booleans()):
        parts = [
            f"{request['name']}/{sub['name']}" for request in requests for sub in request.get("firstAvailable", ())
        ]
        names = [request["name"] for request in requests] + parts
        constraint["requests"] = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    return constraint


_DERIVATIONS: Final = (
    "device.driver",
    'device.attributes["DRIVER"].?numa.orValue(7)',
    '["a", device.driver]',
    "[1].filter(x, x > 1)",
    # Fails on devices that lack it.
    'device.attributes["DRIVER"].model',
)


def _request(draw: st.DrawFn, name: str) -> Row:
    if _sometimes(draw, 5):
        alternatives = [{"name": f"sub-{number}", **_exact(draw)} for number in range(draw(st.integers(1, 3)))]
        return {"name": name, "firstAvailable": alternatives}
    exactly = _exact(draw)
    if _sometimes(draw, 10):
        exactly["adminAccess"] = not _sometimes(draw, 8)
    return {"name": name, "exactly": exactly}


_TOLERATIONS: Final = ({"operator": "Exists"}, {"key": "example.com/bad", "operator": "Equal", "value": "x"})


def _exact(draw: st.DrawFn) -> Row:
    name = "any" if _sometimes(draw, 8) else draw(st.sampled_from((_DRIVERS[0], _DRIVERS[0], _DRIVERS[1])))
    exact: Row = {"deviceClassName": name}
    if _sometimes(draw, 6):
        exact["allocationMode"] = "All"
    else:
        exact |= {"allocationMode": "ExactCount", "count": draw(st.sampled_from((1, 1, 1, 2, 3)))}
    if _sometimes(draw, 4):
        driver = _DRIVERS[0] if name == "any" else name
        expression = draw(st.sampled_from(_EXPRESSIONS)).replace("DRIVER", driver)
        exact["selectors"] = [{"cel": {"expression": expression}}]
    if _sometimes(draw, 5):
        exact["tolerations"] = [
            draw(
                st.sampled_from(({"operator": "Exists"}, {"key": "example.com/bad", "operator": "Equal", "value": "x"}))
            )
        ]
    if _sometimes(draw, 5):
        key = "memory" if not _sometimes(draw, 10) else "gpu.example.com/memory"
        exact["capacity"] = {"requests": {key: "5Gi" if _sometimes(draw, 5) else _amount(draw)}}
    if _sometimes(draw, 25):
        expression = draw(st.sampled_from(_DERIVATIONS)).replace("DRIVER", _DRIVERS[0])
        exact["derivedAttributes"] = [{"name": _DERIVED, "expression": expression}]
    return exact


# --- what is in use -------------------------------------------------------------------------------------------------


def _allocated(draw: st.DrawFn, devices: list[tuple[str, str, Row]]) -> list[Row]:
    claims: list[Row] = []
    taken: set[tuple[str, str, str]] = set()
    for driver, pool, device in devices:
        key = (driver, pool, device["name"])
        if key in taken or not _sometimes(draw, 6):
            continue
        taken.add(key)
        result: Row = {"request": "req-0", "driver": driver, "pool": pool, "device": device["name"]}
        if device.get("allowMultipleAllocations"):
            if not _sometimes(draw, 8):
                result["shareID"] = _SHARE.format(len(claims) % 10)
            if not _sometimes(draw, 6):
                result["consumedCapacity"] = {"memory": _amount(draw)}
        elif _sometimes(draw, 6):
            result["adminAccess"] = True
        claims.append(_holder(len(claims), result))
    return claims


def _holder(number: int, result: Row) -> Row:
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    spec = {"devices": {"requests": [{"name": "req-0", "exactly": exactly}]}}
    uid = f"22222222-2222-4222-8222-{number:012}"
    status = {"allocation": {"devices": {"results": [result]}}}
    return {**_object("ResourceClaim", f"done-{number}", spec, namespace="default", uid=uid), "status": status}
