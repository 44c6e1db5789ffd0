"""Decoding and indexing 10,000 slices of 8 devices, one bad object among them. ``python bench/decode.py [SLICES]``.

Budget: at most 0.6 of the time that ``json.loads`` needs for the same bytes, and at most 230 MB at the peak. Each way
runs in processes of its own, in turns; the best of each counts.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

DRIVER = "gpu.example.com"
SLICES = 10_000
ROUNDS = 5
MAX_RATIO = 0.6
MAX_MEGABYTES = 230


def device(node: int, index: int) -> dict[str, Any]:
    """A device as drivers publish it: unique uuid and bus id."""
    return {
        "name": f"gpu-{index}",
        "attributes": {
            "model": {"string": "H100" if node % 3 else "L40"},
            "uuid": {"string": f"GPU-{uuid.UUID(int=node * 8 + index)}"},
            "driverVersion": {"version": "570.12.0"},
            "nvlinkDomain": {"int": index // 4},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{node % 256:02x}"},
            "busID": {"string": f"{node:04x}:{index:02x}:00.0"},
        },
        "capacity": {"memory": {"value": "80Gi"}, "cores": {"value": "132"}},
    }


def slice_(node: int) -> dict[str, Any]:
    """One slice; one of them has a text where a number belongs."""
    name = f"node-{node:05d}"
    generation: Any = "seven" if node == 4711 else 7
    metadata = {"name": f"{name}-{DRIVER}-x7k2p", "uid": str(uuid.UUID(int=node)), "resourceVersion": str(node)}
    return {
        "metadata": {**metadata, "creationTimestamp": "2026-11-21T10:00:00Z", "generation": 1},
        "spec": {
            "driver": DRIVER,
            "nodeName": name,
            "pool": {"name": name, "generation": generation, "resourceSliceCount": 1},
            "devices": [device(node, index) for index in range(8)],
        },
    }


def write(path: Path, count: int) -> None:
    """The list as a server sends it."""
    head = b'{"kind":"ResourceSliceList","apiVersion":"resource.k8s.io/v1","metadata":{"resourceVersion":"9"},"items":['
    items = b",".join(json.dumps(slice_(node), separators=(",", ":")).encode() for node in range(count))
    path.write_bytes(head + items + b"]}")


def decode_and_index(data: bytes) -> None:
    """What a command does with the list."""
    from kubectl_dra.api.build import InventoryBuilder
    from kubectl_dra.api.decode import decode_page
    from kubectl_dra.api.kinds import RESOURCE_SLICE

    page = decode_page(data, RESOURCE_SLICE.api_version, RESOURCE_SLICE)
    builder = InventoryBuilder()
    for record in page.records:
        builder.add(RESOURCE_SLICE, record)
    inventory = builder.inventory()
    assert len(inventory.slices_by_node) == len(inventory.slices_by_pool) == len(page.records)
    assert len(page.bad_objects) == (1 if len(page.records) > 4711 else 0)


def read_as_file(data: bytes) -> None:
    """The same bytes as a file of unknown content."""
    from kubectl_dra.source.file import assemble
    from kubectl_dra.source.manifests import read_manifests

    assemble(read_manifests(data, "slices.json"))


WAYS = {"json.loads": json.loads, "decode and index": decode_and_index, "as a file": read_as_file}


def child(way: str, path: str) -> None:
    """Run one way once; prints seconds and the peak in MB."""
    if way != "json.loads":
        pass
    data = Path(path).read_bytes()
    # Processor time, so that a busy machine does not change the ratio.
    start = time.process_time()
    kept = WAYS[way](data)
    seconds = time.process_time() - start
    del kept
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure(way: str, path: Path) -> tuple[float, float]:
    """Seconds and peak MB of one run."""
    command = [sys.executable, __file__, "--child", way, str(path)]
    seconds, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(peak)


def main() -> int:
    """Measure and compare with the budget."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SLICES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slices.json"
        write(path, count)
        size = path.stat().st_size / 1e6
        runs = {way: [measure(way, path) for way in [way]] for way in WAYS}
        for _ in range(ROUNDS - 1):
            for way, results in runs.items():
                results.append(measure(way, path))
    best = {way: min(seconds for seconds, _ in results) for way, results in runs.items()}
    peak = {way: min(megabytes for _, megabytes in results) for way, results in runs.items()}
    print(f"{count} slices, {size:.1f} MB")
    for way in WAYS:
        print(f"  {way:18} {best[way]:6.3f} s  {best[way] / best['json.loads']:5.2f} x  {peak[way]:5.0f} MB")
    good = best["decode and index"] <= MAX_RATIO * best["json.loads"] and peak["decode and index"] <= MAX_MEGABYTES
    print(f"budget {MAX_RATIO} x, {MAX_MEGABYTES} MB: {'kept' if good else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(*sys.argv[2:])
    else:
        sys.exit(main())
