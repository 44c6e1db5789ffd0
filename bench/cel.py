"""How long a selector takes on 80,000 devices, making the values included: ``python bench/cel.py [EXPRESSION]``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec

from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.cel import SCHEDULER, Program, compile_expression, device_value
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity
from tests.gobuild import BuildError
from tests.oracle.scheduler_oracle import Oracle, OracleError

DRIVER = "gpu.example.com"
SELECTOR = (
    f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].model == "H100"'
    f' && device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'
    f' && device.attributes["{DRIVER}"].driverVersion.isGreaterThan(semver("550.0.0"))'
)
DEVICES = 80_000
ROUNDS = 5
_PER_SLICE = 100


def devices() -> list[Device]:
    """Devices as drivers publish them: unique uuids and bus ids, the rest alike."""
    memory = Quantity.parse("80Gi")
    return [
        Device(
            name=f"gpu-{index}",
            attributes={
                "model": DeviceAttribute(string="H100"),
                "uuid": DeviceAttribute(string=f"GPU-{index:08x}-0000-0000-0000-000000000000"),
                "resource.kubernetes.io/pciBusID": DeviceAttribute(string=f"0000:{index:04x}:00.0"),
                "driverVersion": DeviceAttribute(version="560.35.3"),
                "numa": DeviceAttribute(int_value=index % 2),
                "healthy": DeviceAttribute(bool_value=True),
            },
            capacity={"memory": DeviceCapacity(value=memory), "cores": DeviceCapacity(value=Quantity(132))},
        )
        for index in range(DEVICES)
    ]


def once(program: Program, published: list[Device]) -> tuple[float, int]:
    """Seconds for one pass over all devices, and how many match."""
    matches = program.matches
    start = time.perf_counter()
    matching = sum(matches(device_value(DRIVER, device)) for device in published)
    return time.perf_counter() - start, matching


def real(expression: str, published: list[Device]) -> tuple[float, int] | str:
    """The same through k8s.io/dynamic-resource-allocation/cel: best of the rounds; or why that can't be had."""
    encoded: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(published, enc_hook=encode_hook))
    slices = [_slice(index, encoded[index : index + _PER_SLICE]) for index in range(0, len(encoded), _PER_SLICE)]
    try:
        with Oracle("time-selector") as oracle:
            timed = oracle.ask({"expression": expression, "slices": slices, "repeat": ROUNDS})
    except (BuildError, OracleError) as error:
        return str(error)
    return timed["seconds"], timed["matches"]


def _slice(index: int, devices: list[dict[str, Any]]) -> dict[str, Any]:
    pool = {"name": f"pool-{index}", "generation": 1, "resourceSliceCount": 1}
    return {
        "metadata": {"name": f"slice-{index}"},
        "spec": {"driver": DRIVER, "pool": pool, "allNodes": True, "devices": devices},
    }


def main() -> None:
    """Print the best of some rounds of each side."""
    expression = sys.argv[1] if len(sys.argv) > 1 else SELECTOR
    program = compile_expression(expression, SCHEDULER)
    published = devices()
    theirs = real(expression, published)
    seconds, matching = min(once(program, published) for _ in range(ROUNDS))
    sys.stdout.write(f"{DEVICES} devices, {matching} match: {seconds:.3f} s, {seconds / DEVICES * 1e6:.2f} µs each\n")
    if isinstance(theirs, str):
        sys.stdout.write(f"the real package was not measured: {theirs.splitlines()[0]}\n")
        return
    if theirs[1] != matching:
        sys.exit(f"the real package says that {theirs[1]} match")
    sys.stdout.write(f"the real package: {theirs[0]:.3f} s, {theirs[0] / DEVICES * 1e6:.2f} µs each\n")
    sys.stdout.write(f"ratio {seconds / theirs[0]:.2f} (budget 1.0)\n")


if __name__ == "__main__":
    main()
