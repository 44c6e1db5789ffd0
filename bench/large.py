"""Commands on a file as large as clusters get: as many small slices as nodes, every device with a uuid and an address.

Written piece by piece from numbers alone, so that the same count always gives the same bytes: a ``List`` without line
breaks, two thirds of it slices. 100,000 of each are 204 MB.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.frame import Budget, Measure, Row, child, hand_over, run

COUNT = 100_000
# A minute each is what people wait for; the memory is the budget.
_SECONDS = 60
_MEGABYTES = 1200
COMMANDS = {
    "snapshot -o FILE": 1500,
    "snapshot --redact -o FILE": 1500,
    "get pools": _MEGABYTES,
    "get devices": _MEGABYTES,
    "get devices -o json": _MEGABYTES,
    "get classes": _MEGABYTES,
    "describe-pool": _MEGABYTES,
    "why-pending -A": _MEGABYTES,
    "test-selector device.driver=='gpu.example.com'": _MEGABYTES,
}
DEVICES = 4
DRIVER = "gpu.example.com"
_CREATED = "2026-11-21T10:00:00Z"
_AMOUNTS = '{"cpu":"192","ephemeral-storage":"3Ti","memory":"2048Gi","pods":"110"}'
_NODE = (
    '{"apiVersion":"v1","kind":"Node","metadata":{"creationTimestamp":"' + _CREATED + '","labels":{'
    '"kubernetes.io/arch":"amd64","kubernetes.io/hostname":"%(node)s","topology.kubernetes.io/zone":"%(zone)s"},'
    '"name":"%(node)s","resourceVersion":"%(number)d","uid":"6f1c2d3e-0000-4000-8000-%(number)012x"},"spec":{},'
    '"status":{"allocatable":'
    + _AMOUNTS
    + ',"capacity":'
    + _AMOUNTS
    + ',"conditions":[{"lastTransitionTime":"'
    + _CREATED
    + '","status":"True","type":"Ready"}]}}'
)
_DEVICE = (
    '{"attributes":{"driverVersion":{"version":"570.12.0"},"model":{"string":"%(model)s"},'
    '"resource.kubernetes.io/pciBusID":{"string":"%(bus)06x:%(index)02x:00.0"},'
    '"uuid":{"string":"GPU-%(bus)08x-5ca1-4b1e-a000-%(index)012x"}},'
    '"capacity":{"memory":{"value":"80Gi"}},"name":"gpu-%(index)d"}'
)
_SLICE = (
    '{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"creationTimestamp":"' + _CREATED + '",'
    '"generateName":"%(node)s-","name":"%(node)s-gpu-x7k2p","resourceVersion":"%(number)d",'
    '"uid":"6f1c2d3e-0000-4000-9000-%(number)012x"},"spec":{"devices":[%(devices)s],"driver":"' + DRIVER + '",'
    '"nodeName":"%(node)s","pool":{"generation":1,"name":"%(node)s","resourceSliceCount":1}}}'
)
_CLASS = (
    '{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"' + DRIVER + '"},"spec":{"selectors":'
    '[{"cel":{"expression":"device.driver == \'' + DRIVER + "'\"}}]}}"
)


def node_name(number: int) -> str:
    """The name of a node, as clouds give them."""
    return f"gke-prod-gpu-{number:06d}"


def node(number: int) -> str:
    """One node."""
    return _NODE % {"node": node_name(number), "number": number, "zone": "abc"[number % 3]}


def slice_(number: int, devices: int = DEVICES) -> str:
    """The slice of one node."""
    model = "H100" if number % 3 else "L40"
    parts = (_DEVICE % {"model": model, "bus": number, "index": index} for index in range(devices))
    return _SLICE % {"node": node_name(number), "number": number, "devices": ",".join(parts)}


def items(count: int) -> Iterator[str]:
    """A class, ``count`` nodes, and the slice of each."""
    yield _CLASS
    yield from map(node, range(count))
    yield from map(slice_, range(count))


def write(path: Path, count: int) -> None:
    """The file, as ``kubectl get nodes,resourceslices,deviceclasses -o json`` orders it: what it is comes last."""
    with path.open("w", encoding="ascii") as file:
        file.write('{"apiVersion":"v1","items":[')
        for number, item in enumerate(items(count)):
            file.write("," + item if number else item)
        file.write('],"kind":"List","metadata":{"resourceVersion":""}}\n')


def rows() -> Iterator[Row]:
    """Each command once: what counts is the memory, which differs little from one run to the next."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        child("large", str(path), str(COUNT))
        size = f"{COUNT} slices and nodes, {path.stat().st_size / 1e6:.0f} MB"
        for command, most in COMMANDS.items():
            words = command.replace("FILE", str(path.with_name("written.json"))).split()
            ours = run([sys.executable, "-m", "kubectl_dra", *words, "--from", str(path)])
            yield Row(command, size, ours, budget=Budget(Measure.TIME, _SECONDS * 1000, peak=most))


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
    hand_over(cpu=0.0, clock=0.0)
