"""The search on clusters of two sizes, beside the real allocator in the same run: ``python bench/allocation.py``.

Devices carry unique uuids and bus ids, drivers are mixed. Ours starts with decoded records and includes the grouping of
nodes; the real one is made anew per attempt and asked about every node.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kubectl_dra.allocation import Budget, Cluster, allocate_many
from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.kinds import DEVICE_CLASS, NODE, RESOURCE_CLAIM, RESOURCE_SLICE
from kubectl_dra.model.features import Features
from tests.gobuild import BuildError
from tests.oracle.scheduler_oracle import Oracle, OracleError

DRIVERS = ("gpu.example.com", "nic.example.com")
DEFAULT_FEATURES = (
    "AdminAccess",
    "ConsumableCapacity",
    "DeviceBindingAndStatus",
    "DeviceTaints",
    "PartitionableDevices",
    "PrioritizedList",
)
ROUNDS = 3
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One measurement: ``make(size)`` is the cluster, ``budget`` the ratio to keep."""

    name: str
    make: Callable[[int], Row]
    sizes: tuple[int, ...]
    budget: float
    real: bool = True


def gpu(index: int, device: int) -> Row:
    """One published device."""
    return {
        "name": f"gpu-{device}",
        "attributes": {
            "model": {"string": "H100"},
            "uuid": {"string": f"GPU-{index:06x}-{device:02x}"},
            "resource.kubernetes.io/pciBusID": {"string": f"{index:06x}:{device:02x}:00.0"},
            "numa": {"int": device % 2},
            "driverVersion": {"version": "560.35.3"},
        },
        "capacity": {"memory": {"value": "80Gi"}},
    }


def slice_of(name: str, pool: str, devices: list[Row], **where: Any) -> Row:
    """A slice that is a whole pool."""
    spec = {"driver": DRIVERS[0], "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1}, "devices": devices}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": spec | where,
    }


def node(name: str) -> Row:
    """A node."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}


def claim(selector: str, count: int, **devices: Any) -> Row:
    """A claim with one request."""
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    if selector:
        exactly["selectors"] = [{"cel": {"expression": selector}}]
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}], **devices}}
    metadata = {"name": "c", "namespace": "default", "uid": "u"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def device_class() -> Row:
    """The class of the first driver."""
    spec = {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVERS[0]}"'}}]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": spec}


def cluster(nodes: int, asked: Row) -> Row:
    """``nodes`` nodes with eight GPUs and two NICs each."""
    slices = []
    for index in range(nodes):
        name = f"node-{index:05d}"
        slices.append(slice_of(f"gpu-{name}", name, [gpu(index, d) for d in range(8)], nodeName=name))
        nics = slice_of(f"nic-{name}", name, [gpu(index, d) for d in range(2)], nodeName=name)
        nics["spec"]["driver"] = DRIVERS[1]
        slices.append(nics)
    names = [f"node-{index:05d}" for index in range(nodes)]
    return {"nodes": [node(name) for name in names], "slices": slices, "classes": [device_class()], "claims": [asked]}


def model(value: str) -> str:
    """A selector by model."""
    return f'device.attributes["{DRIVERS[0]}"].model == "{value}"'


def pools_for_all(number: int) -> Row:
    """One node that sees ``number`` pools with one device, none of which fits."""
    slices = [slice_of(f"s-{i:05d}", f"p-{i:05d}", [gpu(i, 0)], allNodes=True) for i in range(number)]
    return {"nodes": [node("n")], "slices": slices, "classes": [device_class()], "claims": [claim(model("A100"), 1)]}


def impossible(devices: int) -> Row:
    """16 identical requests over interchangeable devices, with a constraint that no set satisfies."""
    published = [gpu(0, d) for d in range(devices)]
    for device in published:
        device["attributes"]["resource.kubernetes.io/pciBusID"] = {"string": "same"}
    requests = [
        {"name": f"r{i}", "exactly": claim("", 1)["spec"]["devices"]["requests"][0]["exactly"]} for i in range(16)
    ]
    asked = claim("", 1)
    asked["spec"]["devices"] = {
        "requests": requests,
        "constraints": [
            {"requests": ["r14", "r15"], "distinctAttribute": "resource.kubernetes.io/pciBusID"},
        ],
    }
    slices = [slice_of("s", "p", published, nodeName="n")]
    return {"nodes": [node("n")], "slices": slices, "classes": [device_class()], "claims": [asked]}


CASES = (
    Case("all fit", lambda n: cluster(n, claim(model("H100"), 4)), (1_000, 10_000), 1.0),
    Case("nothing fits", lambda n: cluster(n, claim(model("A100"), 4)), (1_000, 10_000), 1.0),
    Case("too few", lambda n: cluster(n, claim(model("H100"), 9)), (1_000, 10_000), 1.0),
    Case(
        "selector reads the uuid",
        lambda n: cluster(n, claim(f'device.attributes["{DRIVERS[0]}"].uuid.endsWith("zz")', 1)),
        (1_000, 10_000),
        5.0,
    ),
    Case("one node, pools for all nodes", pools_for_all, (1_000, 10_000), 2.0),
    Case("16 requests, 128 alike, impossible", impossible, (128,), 1.0, real=False),
)


def records(row: Row) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """The decoded objects of a row."""
    kinds = (("nodes", NODE), ("slices", RESOURCE_SLICE), ("classes", DEVICE_CLASS), ("claims", RESOURCE_CLAIM))
    nodes, slices, classes, claims = (
        [decode_object(json.dumps(item).encode(), kind.api_version, kind) for item in row[name]] for name, kind in kinds
    )
    return nodes, slices, classes, claims


def ours(row: Row) -> tuple[float, Counter[str]]:
    """Seconds, and what became of the nodes; the best of some rounds."""
    nodes, slices, classes, claims = records(row)
    best, outcomes = float("inf"), Counter[str]()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        prepared = Cluster.of(slices, classes, (), Features())
        answers = allocate_many(prepared, nodes, claims, budget=Budget())
        outcomes = Counter(type(answers[name]).__name__ for name in answers)
        best = min(best, time.perf_counter() - began)
    return best, outcomes


def theirs(row: Row) -> float | str:
    """Seconds of the real allocator, or why it was not measured."""
    try:
        with Oracle("time-allocator") as oracle:
            answer = oracle.ask({**row, "features": list(DEFAULT_FEATURES), "repeat": ROUNDS})
    except (BuildError, OracleError) as error:
        return str(error).splitlines()[0]
    return float(answer["seconds"])


def lines() -> Iterator[str]:
    """The table, line by line."""
    yield f"{'case':36} {'size':>6} {'ours':>9} {'Go':>9} {'ratio':>6} {'budget':>6}"
    for case in CASES:
        for size in case.sizes:
            row = case.make(size)
            mine, outcomes = ours(row)
            real = theirs(row) if case.real else "more than 10 s"
            told = f"{real:9.3f} {mine / real:6.2f}" if isinstance(real, float) else f"{real:>16}"
            yield f"{case.name:36} {size:6} {mine:9.3f} {told} {case.budget:6.1f}  {dict(outcomes)}"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
