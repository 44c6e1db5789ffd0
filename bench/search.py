"""The search on whole clusters beside the real allocator, which is made anew and asked about every node.

Ours starts with decoded records and includes preparing the cluster and grouping nodes that are alike.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bench import real, world
from bench.frame import Budget, Measure, Row, child, report

ROUNDS = 2
Json = dict[str, Any]
Lists = dict[str, Iterable[str]]
_FEATURES = (
    "AdminAccess",
    "ConsumableCapacity",
    "DeviceBindingAndStatus",
    "DeviceTaints",
    "PartitionableDevices",
    "PrioritizedList",
)
_BUS_ID = "resource.kubernetes.io/pciBusID"


@dataclass(frozen=True, slots=True)
class Case:
    """``make(size)`` gives nodes, slices, classes and claims; ``real``: the real one ends within its ten seconds."""

    make: Callable[[int], Lists]
    sizes: tuple[int, ...]
    unit: str
    most: float | None
    real: bool = True


def claim(*requests: Json, **devices: Any) -> list[str]:
    """One claim."""
    metadata = {"name": "c", "namespace": "default", "uid": "u"}
    return [world.dumps({"metadata": metadata, "spec": {"devices": {"requests": requests, **devices}}})]


def cluster(*requests: Json) -> Callable[[int], Lists]:
    """Nodes with eight GPUs and two network interfaces each."""

    def make(nodes: int) -> Lists:
        return {
            "nodes": world.nodes(nodes),
            "slices": world.slices(nodes),
            "classes": world.classes(),
            "claims": claim(*requests),
        }

    return make


def pools_for_all(request: Json) -> Callable[[int], Lists]:
    """One node that sees many pools with a slice of eight devices."""

    def make(pools: int) -> Lists:
        slices = (_for_all(world.gpu_slice(i), world.node_name(i)) for i in range(pools))
        return {
            "nodes": world.nodes(1),
            "slices": slices,
            "classes": world.classes(),
            "claims": claim(request),
        }

    return make


def _for_all(text: str, node: str) -> str:
    return text.replace(f'"nodeName":"{node}"', '"allNodes":true')


def impossible(devices: int) -> Lists:
    """16 equal requests over interchangeable devices, and a constraint that no set satisfies."""
    names = [f"r{i}" for i in range(16)]
    requests = [{**world.request(), "name": name} for name in names]
    alike = [{"name": f"gpu-{i}", "attributes": {_BUS_ID: {"string": "same"}}} for i in range(devices)]
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": world.GPU, "nodeName": world.node_name(0), "pool": pool, "devices": alike}
    return {
        "nodes": world.nodes(1),
        "slices": [world.dumps({"metadata": {"name": "s"}, "spec": spec})],
        "classes": world.classes(),
        "claims": claim(*requests, constraints=[{"requests": names[-2:], "distinctAttribute": _BUS_ID}]),
    }


_SIZES = (1_000, 10_000)
_NODES = f"nodes x {world.DEVICES}+{world.NICS} devices"
_POOLS = "pools x 8 devices"
_UNKNOWN = f'{world.OURS}.model == "A100"'
_ALL = {"name": "gpus", "exactly": {"deviceClassName": world.GPU, "allocationMode": "All"}}
CASES = {
    "search, all fit": Case(cluster(world.request(4, f'{world.OURS}.model != "A100"')), _SIZES, _NODES, 1.0),
    "search, nothing fits": Case(cluster(world.request(4, _UNKNOWN)), _SIZES, _NODES, 1.0),
    "search, too few": Case(cluster(world.request(9, f'{world.OURS}.model != "A100"')), _SIZES, _NODES, 1.0),
    "search, selector reads the uuid": Case(
        cluster(world.request(1, f'{world.OURS}.uuid.endsWith("zz")')), _SIZES, _NODES, 5.0
    ),
    "search, one node sees all pools": Case(pools_for_all(world.request(1, _UNKNOWN)), _SIZES, _POOLS, 1.0),
    "search, All from all pools": Case(pools_for_all(_ALL), _SIZES, _POOLS, 1.0),
    "search, 16 equal requests, impossible": Case(impossible, (128,), "devices", None, real=False),
}


def rows() -> Iterator[Row]:
    """Every case at its sizes."""
    for name, case in CASES.items():
        budget = Budget(Measure.RATIO, case.most) if case.most is not None else None
        for number in case.sizes:
            size = f"{number} {case.unit}"
            if case.real:
                yield from real.beside("search", name, size, budget, name, str(number))
            else:
                ours = child("search", "ours", name, str(number))
                yield Row(name, size, ours, "Go", None, budget, "the real allocator gives up after ten seconds")


def ours(name: str, size: int) -> None:
    """One case, some rounds."""
    from kubectl_dra.allocation import Allocated, Answers, Budget, ClaimSearch, Cluster, Fatal, Unsatisfiable
    from kubectl_dra.allocation.input.allocated import AllocatedState
    from kubectl_dra.allocation.input.pools import SliceIndex
    from kubectl_dra.api.decode import decode_object
    from kubectl_dra.api.kinds import DEVICE_CLASS, NODE, RESOURCE_CLAIM, RESOURCE_SLICE, Kind
    from kubectl_dra.model.features import Features

    words = {Allocated: "allocated", Unsatisfiable: "unsatisfiable", Fatal: "error"}
    kinds = {"nodes": NODE, "slices": RESOURCE_SLICE, "classes": DEVICE_CLASS, "claims": RESOURCE_CLAIM}
    lists = CASES[name].make(size)

    def records(name: str, kind: Kind) -> list[Any]:
        return [decode_object(item.encode(), kind.api_version, kind) for item in lists[name]]

    nodes, slices, classes, claims = (records(name, kind) for name, kind in kinds.items())

    def search() -> str:
        by_name = {device_class.metadata.name: device_class for device_class in classes}
        prepared = Cluster(SliceIndex(slices, Features()), by_name, AllocatedState((), Features()), Features())
        answers = Answers(ClaimSearch(prepared, claims), nodes, Budget())
        counts: Counter[str] = Counter()
        for group in answers.groups:
            counts[words[type(group.outcome)]] += len(group.nodes)
        return world.dumps(dict(sorted(counts.items())))

    report(search, ROUNDS)


def theirs(name: str, size: int) -> None:
    """The same question to the real code."""
    lists = (f'"{field}":[{",".join(items)}]' for field, items in CASES[name].make(size).items())
    more = world.dumps({"features": _FEATURES, "repeat": ROUNDS})[:-1]
    real.ask("time-allocator", f"{more},{','.join(lists)}}}", lambda answer: world.dumps(answer["outcomes"]))


if __name__ == "__main__":
    (ours if sys.argv[1] == "ours" else theirs)(sys.argv[2], int(sys.argv[3]))
