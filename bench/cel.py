"""How long a selector takes on 80,000 devices, making the values included: ``python bench/cel.py [EXPRESSION]``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kubectl_dra.cel import SCHEDULER, Program, compile_expression, device_value
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity

DRIVER = "gpu.example.com"
SELECTOR = (
    f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].model == "H100"'
    f' && device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'
    f' && device.attributes["{DRIVER}"].driverVersion.isGreaterThan(semver("550.0.0"))'
)
DEVICES = 80_000
ROUNDS = 5


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


def main() -> None:
    """Print the best of some rounds."""
    program = compile_expression(sys.argv[1] if len(sys.argv) > 1 else SELECTOR, SCHEDULER)
    published = devices()
    rounds = [once(program, published) for _ in range(ROUNDS)]
    seconds, matching = min(rounds)
    sys.stdout.write(f"{DEVICES} devices, {matching} match: {seconds:.3f} s, {seconds / DEVICES * 1e6:.2f} µs each\n")


if __name__ == "__main__":
    main()
