"""Decoding and indexing ResourceSlices, one bad object among them, beside ``json.loads`` of the same bytes."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import world
from bench.frame import Budget, Measure, Row, child, in_turns, report

SIZES = (1_000, 10_000)
ROUNDS = 5
BUDGET = Budget(Measure.RATIO, 0.6, peak=230)
_BAD = 471


def write(path: Path, count: int) -> None:
    """Slices of two drivers; one of them has a text where a number belongs."""
    drivers = (world.GPU, "npu.example.com")
    items = (world.gpu_slice(i, drivers[i % 2], '"seven"' if i == _BAD else "7") for i in range(count))
    world.write_list(path, "resourceslices", items)


def decode_and_index(data: bytes) -> object:
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
    assert len(page.bad_objects) == 1
    return inventory


def read_as_file(data: bytes) -> object:
    """The same bytes as a file of unknown content."""
    from kubectl_dra.source.file import assemble
    from kubectl_dra.source.manifests import read_manifests

    return assemble(read_manifests(data, "slices.json"))


WAYS: dict[str, Callable[[bytes], object]] = {
    "json.loads": json.loads,
    "decode and index": decode_and_index,
    "the same from a file": read_as_file,
}


def rows() -> Iterator[Row]:
    """Both ways in, at two sizes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slices.json"
        for count in SIZES:
            write(path, count)
            costs = in_turns({way: partial(child, "decode", way, str(path)) for way in WAYS}, ROUNDS)
            peer = costs.pop("json.loads")
            for way, cost in costs.items():
                budget = BUDGET if count == SIZES[-1] else None
                yield Row(way, f"{count} slices x 8 devices", cost, "json.loads", peer, budget)


if __name__ == "__main__":
    way, path = WAYS[sys.argv[1]], Path(sys.argv[2])
    data = path.read_bytes()
    if way is not json.loads:
        # Importing is part of starting a command, and measured there.
        import kubectl_dra.api.build
        import kubectl_dra.source.file  # noqa: F401
    report(lambda: way(data))
