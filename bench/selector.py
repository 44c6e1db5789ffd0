"""A selector on many devices, making their values included, beside ``k8s.io/dynamic-resource-allocation/cel``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from bench import real, world
from bench.frame import Budget, Measure, Row, report

SIZES = (8_000, 80_000)
ROUNDS = 3
BUDGET = Budget(Measure.RATIO, 1.0)
_MEMORY = f'device.capacity["{world.GPU}"].memory'
EXPRESSION = (
    f'device.driver == "{world.GPU}" && {world.OURS}.model in ["H100", "L40"]'
    f' && {_MEMORY}.compareTo(quantity("40Gi")) >= 0'
    f' && {world.OURS}.driverVersion.isGreaterThan(semver("550.0.0"))'
)


def slices(devices: int) -> Iterator[str]:
    """Slices with so many devices in all."""
    return map(world.gpu_slice, range(devices // world.DEVICES))


def rows() -> Iterator[Row]:
    """One expression at two sizes."""
    for devices in SIZES:
        yield from real.beside("selector", "selector", f"{devices} devices", BUDGET, str(devices))


def ours(devices: int) -> None:
    """All devices once, some rounds."""
    from kubectl_dra.api.decode import decode_object
    from kubectl_dra.api.kinds import RESOURCE_SLICE
    from kubectl_dra.cel import SCHEDULER, compile_expression, device_value

    version = RESOURCE_SLICE.api_version
    records: list[Any] = [decode_object(item.encode(), version, RESOURCE_SLICE) for item in slices(devices)]
    published = [device for record in records for device in record.spec.devices]
    test = compile_expression(EXPRESSION, SCHEDULER).test
    report(lambda: str(sum(test(device_value(world.GPU, device))[0] for device in published)), ROUNDS)


def theirs(devices: int) -> None:
    """The same question to the real code."""
    text = world.dumps({"expression": EXPRESSION, "repeat": ROUNDS})[:-1]
    line = f'{text},"slices":[{",".join(slices(devices))}]}}'
    real.ask("time-selector", line, lambda answer: str(answer["matches"]))


if __name__ == "__main__":
    (ours if sys.argv[1] == "ours" else theirs)(int(sys.argv[2]))
