"""``why-pending -A`` with 1,000 pending pods of 20 kinds. ``python bench/pending.py [NODES [PODS [KINDS]]]``.

10,000 nodes with 8 devices each (unique uuids and bus ids, two models, a third of the devices in use) and running pods
on every node, read from a snapshot file. Budget for the whole command: 10 s of processor time and 500 MB. That the cost
grows with the kinds of pods and not with their number shows in the second line: ten times fewer pods.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

DRIVER = "gpu.example.com"
NODES, PODS, KINDS = 10_000, 1_000, 20
RUNNING = 3
MAX_SECONDS = 10.0
MAX_MEGABYTES = 500
OURS = f'device.attributes["{DRIVER}"]'
Json = dict[str, Any]


def request(count: int = 1, selector: str = "", **fields: Any) -> Json:
    """A request for devices of the one class."""
    selectors = {"selectors": [{"cel": {"expression": selector}}]} if selector else {}
    return {"name": "gpus", "exactly": {"deviceClassName": DRIVER, "count": count, **selectors, **fields}}


def asks() -> list[Json]:
    """Specs of claims that can't be allocated, each for another reason."""
    domain = [{"matchAttribute": f"{DRIVER}/nvlinkDomain"}]
    return [
        {"requests": [request(9)]},
        {"requests": [request(6)]},
        {"requests": [request(1, f'{OURS}.model == "B200"')]},
        {"requests": [request(1, f"{OURS}.nvlinkGeneration >= 4")]},
        {"requests": [request(5, f'{OURS}.model == "H100"')], "constraints": domain},
        {"requests": [request(3, f'{OURS}.driverVersion.isGreaterThan(semver("580.0.0"))')]},
        {"requests": [request(1, capacity={"requests": {"memory": "96Gi"}})]},
        {"requests": [{**request(4), "name": "a"}, {**request(4), "name": "b"}]},
        {"requests": [request(1, f'{OURS}.model == "H100" && device.driver == "other.example.com"')]},
        {"requests": [request(1, "device.driver == 'gpu.example.com' && false")]},
    ]


PLACES: list[Json] = [{}, {"nodeSelector": {"zone": "a"}}]


def devices(node: int) -> list[Json]:
    """Devices as drivers publish them: unique uuid and bus id; only one of the models knows its NVLink."""
    model, generation = ("H100", {"nvlinkGeneration": {"int": 4}}) if node % 3 else ("L40", {})
    return [
        {
            "name": f"gpu-{index}",
            "attributes": {
                "model": {"string": model},
                "uuid": {"string": f"GPU-{uuid.UUID(int=node * 8 + index)}"},
                "driverVersion": {"version": "570.12.0"},
                "busID": {"string": f"{node:04x}:{index:02x}:00.0"},
                "nvlinkDomain": {"int": index // 4},
                **generation,
            },
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for index in range(8)
    ]


def meta(name: str, number: int, namespace: str = "") -> Json:
    """Metadata with a uid and a resource version."""
    scope = {"namespace": namespace} if namespace else {}
    return {"name": name, **scope, "uid": str(uuid.UUID(int=number)), "resourceVersion": str(number)}


def objects(nodes: int, pods: int, kinds: int) -> Iterator[Json]:
    """The whole cluster."""
    selector = [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]
    yield {"kind": "DeviceClass", "metadata": meta(DRIVER, 1), "spec": {"selectors": selector}}
    for number in range(nodes):
        yield from node(number)
    specs, places = asks(), PLACES
    for number in range(pods):
        kind = number % kinds
        yield from pending(number, specs[kind % len(specs)], places[kind // len(specs) % len(places)])


def node(number: int) -> Iterator[Json]:
    """A node with its slice, its pods, and the claim that one of them holds."""
    name = f"node-{number:05d}"
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", "ephemeral-storage": "1Ti"}
    yield {
        "kind": "Node",
        "metadata": {**meta(name, 10 + number), "labels": {"kubernetes.io/hostname": name, "zone": "abc"[number % 3]}},
        "status": {"allocatable": amounts, "capacity": amounts},
    }
    spec = {
        "driver": DRIVER,
        "nodeName": name,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": devices(number),
    }
    yield {"kind": "ResourceSlice", "metadata": meta(f"{name}-{DRIVER}-x7k2p", 20_000 + number), "spec": spec}
    for index in range(RUNNING):
        yield running(number, index, name)
    held = [{"request": "gpus", "driver": DRIVER, "pool": name, "device": f"gpu-{i}"} for i in range(number % 6)]
    if held:
        allocation = {"devices": {"results": held}}
        user = {"resource": "pods", "name": f"serve-{number}-0", "uid": str(uuid.UUID(int=100_000 + number * RUNNING))}
        yield {
            "kind": "ResourceClaim",
            "metadata": meta(f"serve-{number}", 50_000 + number, "serving"),
            "spec": {"devices": {"requests": [request(len(held))]}},
            "status": {"allocation": allocation, "reservedFor": [user]},
        }


def running(number: int, index: int, node_name: str) -> Json:
    """A pod that runs."""
    containers = [{"name": "main", "resources": {"requests": {"cpu": "2", "memory": "8Gi"}}}]
    return {
        "kind": "Pod",
        "metadata": meta(f"serve-{number}-{index}", 100_000 + number * RUNNING + index, "serving"),
        "spec": {"nodeName": node_name, "containers": containers},
        "status": {"phase": "Running"},
    }


def pending(number: int, spec: Json, place: Json) -> Iterator[Json]:
    """A pod that waits, and its own claim."""
    name, namespace = f"train-{number:04d}", f"team-{number % 7}"
    uid = str(uuid.UUID(int=900_000 + number))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": True}
    claim = {**meta(f"{name}-gpus-x7k2p", 800_000 + number, namespace), "ownerReferences": [owner]}
    yield {"kind": "ResourceClaim", "metadata": claim, "spec": {"devices": spec}}
    yield {
        "kind": "Pod",
        "metadata": {**meta(name, 900_000 + number, namespace), "uid": uid},
        "spec": {
            "containers": [{"name": "main", "resources": {"requests": {"cpu": "4"}, "claims": [{"name": "gpus"}]}}],
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}],
            "schedulerName": "default-scheduler",
            **place,
        },
        "status": {
            "phase": "Pending",
            "resourceClaimStatuses": [{"name": "gpus", "resourceClaimName": f"{name}-gpus-x7k2p"}],
        },
    }


def write(path: Path, nodes: int, pods: int, kinds: int) -> None:
    """The snapshot as a ``List``."""
    versions = {"Node": "v1", "Pod": "v1"}
    with path.open("w") as file:
        file.write('{"apiVersion":"v1","kind":"List","items":[')
        for position, item in enumerate(objects(nodes, pods, kinds)):
            version = versions.get(item["kind"], "resource.k8s.io/v1")
            line = json.dumps({"apiVersion": version, **item}, separators=(",", ":"))
            file.write(f"{',' if position else ''}\n{line}")
        file.write("]}")


def run(arguments: list[str]) -> tuple[float, float, str]:
    """Processor seconds, peak megabytes and output of a process of its own."""
    command = [sys.executable, __file__, "--child", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *output, figures = done.stdout.splitlines()
    seconds, peak = figures.split()
    return float(seconds), float(peak), "\n".join(output)


def child(arguments: list[str], command: Callable[[list[str]], int]) -> None:
    """Run the command in this process, then print what it took."""
    code = command(arguments)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
    sys.stdout.flush()
    sys.exit(code)


def main() -> int:
    """Measure and compare with the budget."""
    numbers = [int(word) for word in sys.argv[1:]]
    nodes, pods, kinds = (*numbers, *(NODES, PODS, KINDS)[len(numbers) :])
    with tempfile.TemporaryDirectory() as folder:
        figures = []
        for count in (pods, max(pods // 10, kinds)):
            path = Path(folder) / "cluster.json"
            write(path, nodes, count, kinds)
            seconds, peak, output = run(["why-pending", "-A", "--from", str(path)])
            figures.append((seconds, peak))
            first = output.partition("\n")[0]
            print(f"{nodes} nodes, {count:5} pods of {kinds} kinds  {seconds:6.2f} s  {peak:5.0f} MB  {first}")
    (seconds, peak), _ = figures
    good = seconds <= MAX_SECONDS and peak <= MAX_MEGABYTES
    print(f"budget {MAX_SECONDS:.0f} s, {MAX_MEGABYTES} MB: {'kept' if good else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    if "--child" in sys.argv:
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        from kubectl_dra.commands.app import run as command

        child(sys.argv[2:], command)
    else:
        sys.exit(main())
