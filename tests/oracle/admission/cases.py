"""Objects for the real API server to judge: valid ones of every kind, and each of them with one thing changed.

The changes are systematic (every leaf, list and map), so that no rule depends on somebody having thought of it.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from typing import Any

Tree = Any
Path = tuple[str | int, ...]

DOMAIN = "dra.example.com"
TEXTS: tuple[str, ...] = (
    "",
    "Upper",
    "under_score",
    "-edge",
    "a.b",
    "a/b",
    "a/b/c",
    "a//b",
    "/b",
    "a/",
    "x" * 33,
    "x" * 64,
    "x" * 254,
    "ä",
    "1.2.3",
    "true",
    "nosuch",
    "with space",
    f"{DOMAIN}/id",
    f"{DOMAIN}/9",
    f"{'d' * 64}/id",
)
NUMBERS: tuple[int, ...] = (0, -1, 1, 2, 2**31, 2**63 - 1)
QUANTITIES: tuple[str, ...] = ("0", "-1", "1500m", "7", "3Gi", "1e30", "9223372036854775808")
EXPRESSIONS: tuple[str, ...] = (
    "true",
    "1",
    "device.name",
    "device.driver ==",
    f'device.attributes["{DOMAIN}"].model == "a"',
    f'device.attributes["{DOMAIN}"].model',
    'device.attributes.all(x, device.attributes.all(y, device.attributes.all(z, device.attributes.all(w, "a" in w))))',
    "x" * 10241,
)
_NOT_AMOUNTS = {"tolerations", "taints", "taint", "constraints", "config"}
SIZES: tuple[int, ...] = (0, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 49, 64, 65, 128, 129)


def _selectors(*expressions: str) -> list[Tree]:
    return [{"cel": {"expression": expression}} for expression in expressions]


def _opaque() -> Tree:
    return {"opaque": {"driver": DOMAIN, "parameters": {"kind": "Config", "size": 3}}}


def _toleration() -> Tree:
    return {
        "key": "example.com/taint",
        "operator": "Equal",
        "value": "v",
        "effect": "NoExecute",
        "tolerationSeconds": 60,
    }


def _claim_spec() -> Tree:
    exactly = {
        "deviceClassName": "gpu.example.com",
        "selectors": _selectors('device.driver == "a"', "true"),
        "allocationMode": "ExactCount",
        "count": 2,
        "adminAccess": True,
        "tolerations": [_toleration(), {"operator": "Exists"}],
        "capacity": {"requests": {"memory": "1Gi"}},
        "derivedAttributes": [{"name": f"{DOMAIN}/derived", "expression": "1"}],
    }
    option = {key: value for key, value in exactly.items() if key not in ("adminAccess", "derivedAttributes")}
    return {
        "devices": {
            "requests": [
                {"name": "req-0", "exactly": exactly},
                {
                    "name": "req-1",
                    "firstAvailable": [
                        {"name": "sub-0", **option},
                        {"name": "sub-1", "deviceClassName": "b", "allocationMode": "All"},
                    ],
                },
            ],
            "constraints": [
                {"requests": ["req-0", "req-1/sub-0"], "matchAttribute": f"{DOMAIN}/numa"},
                {"requests": [], "matchAttribute": f"{DOMAIN}/derived"},
                {"distinctAttribute": f"{DOMAIN}/uuid"},
            ],
            "config": [{"requests": ["req-0"], **_opaque()}, _opaque()],
        }
    }


def _device() -> Tree:
    return {
        "name": "dev-0",
        "attributes": {
            "model": {"string": "a"},
            f"{DOMAIN}/version": {"version": "1.2.3-rc.1+b"},
            "numa": {"int": 1},
            "ecc": {"bool": False},
        },
        "capacity": {
            "memory": {
                "value": "10Gi",
                "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "max": "9Gi", "step": "1Gi"}},
            },
            "cores": {"value": "8", "requestPolicy": {"default": "2", "validValues": ["1", "2", "4"]}},
            "plain": {"value": "5"},
        },
        "allowMultipleAllocations": True,
        "consumesCounters": [{"counterSet": "set-0", "counters": {"memory": {"value": "5Gi"}}}],
        "taints": [
            {"key": "example.com/taint", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
        ],
        "bindsToNode": True,
        "bindingConditions": ["example.com/ready"],
        "bindingFailureConditions": ["example.com/failed"],
    }


def _slice(name: str, **spec: Tree) -> Tree:
    pool = {"name": "pool-0/part", "generation": 1, "resourceSliceCount": 1}
    return _object("ResourceSlice", name, "", {"driver": DOMAIN, "pool": pool, **spec})


def _object(kind: str, name: str, namespace: str, spec: Tree) -> Tree:
    metadata = {"name": name, "labels": {"a": "b"}, "annotations": {"example.com/note": "text"}}
    metadata |= {"namespace": namespace} if namespace else {}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def bases() -> dict[str, Tree]:
    """Valid objects by a short name."""
    selector = {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}],
            }
        ]
    }
    plain = {"name": "dev-1", "attributes": {"model": {"string": "a"}}}
    class_spec = {
        "selectors": _selectors("true"),
        "config": [_opaque()],
        "extendedResourceName": "example.com/gpu",
    }
    rule_spec = {
        "deviceSelector": {"driver": DOMAIN, "pool": "pool-0", "device": "dev-0"},
        "taint": {"key": "example.com/taint", "value": "v", "effect": "NoExecute"},
    }
    template_spec = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": _claim_spec()}
    return {
        "class": _object("DeviceClass", "gpu.example.com", "", class_spec),
        "claim": _object("ResourceClaim", "claim-0", "admin", _claim_spec()),
        "template": _object("ResourceClaimTemplate", "template-0", "admin", template_spec),
        "rule": _object("DeviceTaintRule", "rule-0", "", rule_spec),
        "slice": _slice("slice-0", nodeName="node-0", devices=[_device(), plain]),
        "lists": _slice(
            "slice-1",
            nodeSelector=selector,
            devices=[
                {
                    "name": "dev-0",
                    "attributes": {
                        "a": {"ints": [1, 2]},
                        "b": {"bools": [True]},
                        "c": {"strings": ["x"]},
                        "d": {"versions": ["1.2.3"]},
                    },
                    "nodeAllocatableResources": {
                        "cpu": {"mapping": {"deviceMultiplier": "2"}, "overhead": {"perPod": "1", "perContainer": "1"}},
                        "memory": {"mapping": {"capacityKey": "m", "capacityMultiplier": "1"}},
                    },
                    "capacity": {"m": {"value": "1"}},
                }
            ],
        ),
        "counters": _slice(
            "slice-2",
            allNodes=True,
            sharedCounters=[
                {"name": "set-0", "counters": {"memory": {"value": "10Gi"}}},
                {"name": "set-1", "counters": {"cores": {"value": "8"}}},
            ],
        ),
        "pernode": _slice(
            "slice-3",
            perDeviceNodeSelection=True,
            devices=[
                {"name": "dev-0", "nodeName": "node-0"},
                {"name": "dev-1", "allNodes": True},
                {"name": "dev-2", "nodeSelector": selector},
            ],
        ),
        "partitions": _slice(
            "slice-4",
            nodeName="node-0",
            partitionTypeAttribute=f"{DOMAIN}/model",
            skipNodeOperations=["*"],
            devices=[_device()],
        ),
    }


def cases() -> Iterator[tuple[str, Tree]]:
    """Names and objects: each base, and each base with one change. Names are unique."""
    seen: Counter[str] = Counter()
    for name, changed in _cases():
        seen[name] += 1
        yield (name if seen[name] == 1 else f"{name} #{seen[name]}"), changed


def _cases() -> Iterator[tuple[str, Tree]]:
    for name, base in bases().items():
        yield name, base
        for path, node in _nodes(base["spec"], ("spec",)):
            for label, value in _changes(path, node):
                yield f"{name} {_text(path)} {label}", _with(base, path, value)
        for text in TEXTS:
            yield f"{name} name {text[:20]}", _with(base, ("metadata", "name"), text)
        yield f"{name} label", _with(base, ("metadata", "labels"), {"-": "b", "a": "-", "c": "d" * 64})
        yield f"{name} annotation", _with(base, ("metadata", "annotations"), {"-": "b", "A/b": ""})
        yield f"{name} namespace", _with(base, ("metadata", "namespace"), "default")
    yield from _combinations()


def _combinations() -> Iterator[tuple[str, Tree]]:
    all_bases = bases()
    for setting in (
        {"nodeName": "n", "allNodes": True},
        {"allNodes": False},
        {"nodeName": ""},
        {"perDeviceNodeSelection": False},
        {},
    ):
        spec = {key: value for key, value in all_bases["slice"]["spec"].items() if key != "nodeName"}
        yield f"slice nodes {setting}", _with(all_bases["slice"], ("spec",), spec | setting)
    both = all_bases["slice"]["spec"] | {"sharedCounters": all_bases["counters"]["spec"]["sharedCounters"]}
    yield "slice with both", _with(all_bases["slice"], ("spec",), both)
    policies = [
        {"default": "1", "validValues": ["1"], "validRange": {"min": "1"}},
        {"validValues": ["1"]},
        {"validRange": {"min": "1"}},
        {"default": "3", "validValues": ["1", "2"]},
        {"default": "2", "validValues": ["2", "1"]},
        {"default": "1", "validValues": ["1", "1"]},
        {"default": "1", "validValues": ["1", "1000m"]},
        {"default": "500m", "validValues": ["500m", "600m"]},
        {"default": "1", "validValues": [str(n) for n in range(1, 12)]},
        {"default": "2", "validRange": {"min": "1", "step": "2"}},
        {"default": "1", "validRange": {"min": "1", "max": "4", "step": "2"}},
        {"default": "1500m", "validRange": {"min": "1", "step": "1"}},
        {"default": "1500m", "validRange": {"min": "500m", "max": "2500m", "step": "500m"}},
        {"default": "1", "validRange": {"min": "1", "step": "0"}},
        {"default": "1", "validRange": {"min": "1", "step": "-1"}},
        {"default": "1", "validRange": {"min": "-1", "step": "1"}},
        {"default": "1", "validRange": {"min": "1", "step": "18446744073709551616"}},
        {"default": "1", "validRange": {"min": "1", "step": "1e30"}},
        {"default": "1", "validRange": {"max": "3"}},
        {"default": "5", "validRange": {"min": "1", "max": "3"}},
        {"default": "0", "validRange": {"min": "1", "max": "3"}},
        {"default": "2", "validRange": {"min": "3", "max": "2"}},
        {"default": "20", "validRange": {"min": "20", "max": "30", "step": "5"}},
        {"default": "1"},
        {},
    ]
    for number, policy in enumerate(policies):
        device = {
            "name": "d",
            "allowMultipleAllocations": True,
            "capacity": {"m": {"value": "10", "requestPolicy": policy}},
        }
        yield f"policy {number}", _slice("s", nodeName="n", devices=[device])
        yield (
            f"policy {number} alone",
            _slice("s", nodeName="n", devices=[device | {"allowMultipleAllocations": False}]),
        )
    for values in (
        {},
        {"int": 1, "bool": True},
        {"int": 1, "string": "x" * 65},
        {"ints": []},
        {"strings": ["x" * 65, "y"]},
        {"versions": ["1"]},
    ):
        yield f"attribute {values}", _slice("s", nodeName="n", devices=[{"name": "d", "attributes": {"a": values}}])
    for version in (
        "1.2",
        "v1.2.3",
        "1.2.3-",
        "1.2.3+",
        "01.2.3",
        "1.2.3-01",
        "1.2.3-a.b+c.d",
        "1.2.3-" + "a" * 60,
        "99999999999999999999.0.0",
    ):
        yield (
            f"version {version}",
            _slice("s", nodeName="n", devices=[{"name": "d", "attributes": {"a": {"version": version}}}]),
        )
    for count in (31, 32, 33):
        attributes = {f"a{n}": {"int": n} for n in range(count)}
        yield f"attributes {count}", _slice("s", nodeName="n", devices=[{"name": "d", "attributes": attributes}])
    for count in (48, 49):
        device = {"name": "d", "attributes": {"a": {"ints": list(range(count))}}}
        yield f"attribute values {count}", _slice("s", nodeName="n", devices=[device])
    for conditions in (["a"], ["a", "a"], ["a", "b", "c", "d", "e"], ["-"]):
        for failures in ([], ["a"], ["f", "f"], ["f"]):
            device = {"name": "d", "bindingConditions": conditions, "bindingFailureConditions": failures}
            yield f"binding {conditions} {failures}", _slice("s", nodeName="n", devices=[device])
    for operations in (
        ["NodePrepareResources"],
        ["NodePrepareResources", "NodeUnprepareResources"],
        ["*", "*"],
        ["Other"],
    ):
        yield f"skip {operations}", _slice("s", nodeName="n", skipNodeOperations=operations, devices=[])
    for parameters in (None, [], "text", 1, {}, {"a": "x" * 10240}):
        opaque = {"opaque": {"driver": DOMAIN, "parameters": parameters}}
        yield f"parameters {str(parameters)[:20]}", _object("DeviceClass", "c", "", {"config": [opaque]})
    for toleration in (
        {"operator": "Exists", "value": "v"},
        {"operator": "Other"},
        {"effect": "Other"},
        {"key": "-"},
        {"value": "-"},
        {},
    ):
        request = {"name": "r", "exactly": {"deviceClassName": "c", "tolerations": [toleration]}}
        yield f"toleration {toleration}", _object("ResourceClaim", "c", "default", {"devices": {"requests": [request]}})
    for exactly in (
        {"allocationMode": "All", "count": 1},
        {"allocationMode": "Other"},
        {"count": -1},
        {"adminAccess": True},
        {"adminAccess": False},
    ):
        request = {"name": "r", "exactly": {"deviceClassName": "c", **exactly}}
        yield f"exactly {exactly}", _object("ResourceClaim", "c", "default", {"devices": {"requests": [request]}})
    request = {
        "name": "r",
        "exactly": {"deviceClassName": "c"},
        "firstAvailable": [{"name": "s", "deviceClassName": "c"}],
    }
    yield "both forms", _object("ResourceClaim", "c", "default", {"devices": {"requests": [request]}})
    for name in (
        "kubernetes.io/gpu",
        "requests.example.com/gpu",
        "example.com/",
        "gpu",
        "example.com/" + "g" * 64,
        "x.kubernetes.io/gpu",
        "a" * 246 + ".b/g",
    ):
        yield f"extended {name[:30]}", _object("DeviceClass", "c", "", {"extendedResourceName": name})


def _nodes(node: Tree, path: Path) -> Iterator[tuple[Path, Tree]]:
    yield path, node
    children: Iterator[tuple[str | int, Tree]] = iter(())
    if isinstance(node, dict):
        children = iter(node.items())
    elif isinstance(node, list):
        children = iter(enumerate(node))
    for key, child in children:
        if key != "parameters":
            yield from _nodes(child, (*path, key))


def _changes(path: Path, node: Tree) -> Iterator[tuple[str, Tree]]:
    if path[-1] != "spec":
        yield "removed", _REMOVED
    if isinstance(node, bool):
        yield "negated", not node
    elif isinstance(node, int):
        yield from ((str(number), number) for number in NUMBERS)
    elif isinstance(node, str):
        yield from ((f"= {text[:20]}", text) for text in _texts(path))
    elif isinstance(node, list) and node:
        yield "twice", [node[0], node[0]]
        yield from ((f"x {size}", [_numbered(node[0], index) for index in range(size)]) for size in SIZES)
    elif isinstance(node, dict) and _is_map(path):
        value = next(iter(node.values()))
        yield from ((f"key {text[:20]}", {text: value}) for text in TEXTS)
        yield from ((f"x {size}", {f"k{n}": value for n in range(size)}) for size in (0, 31, 32, 33))


def _texts(path: Path) -> tuple[str, ...]:
    if path[-1] == "expression":
        return EXPRESSIONS
    if path[-1] == "timeAdded":
        return ()
    in_map = len(path) > 1 and path[-2] in ("requests", "overhead", "mapping", "validRange", "validValues")
    amount = path[-1] in ("value", "default", "min", "max", "step") or in_map
    if amount and not _NOT_AMOUNTS & set(path):
        return () if path[-1] == "capacityKey" else QUANTITIES
    return TEXTS


def _is_map(path: Path) -> bool:
    return (
        path[-1] in ("attributes", "capacity", "counters", "nodeAllocatableResources")
        and "exactly" not in path
        and "firstAvailable" not in path
    )


def _numbered(item: Tree, index: int) -> Tree:
    if isinstance(item, dict):
        for key in ("name", "counterSet"):
            if key in item:
                return {**item, key: f"{item[key]}-{index}" if "/" not in item[key] else f"{item[key]}{index}"}
        return item
    return f"{item}{index}" if isinstance(item, str) else item


_REMOVED = object()


def _with(base: Tree, path: Path, value: Tree) -> Tree:
    changed = copy.deepcopy(base)
    node = changed
    for key in path[:-1]:
        node = node[key]
    if value is _REMOVED:
        del node[path[-1]]
    else:
        node[path[-1]] = copy.deepcopy(value)
    return changed


def _text(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path[1:])
