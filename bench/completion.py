"""How long a TAB takes, through the ``__complete`` of the real kubectl. ``python bench/completion.py [SLICES]``.

Budget: 250 ms for a live name with a kept answer; the median of many, which counts kubectl's own start as well. Needs
the control plane of ``make e2e``. It holds 10,000 slices of 8 devices, so that pools come step by step and devices are
asked for pool by pool.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from decode import DRIVER  # noqa: E402 - beside this file
from pools import SLICES, fill  # noqa: E402

from tests.controlplane import ControlPlane, binaries  # noqa: E402
from tests.controlplane.__main__ import plane_environment  # noqa: E402
from tests.controlplane.build import module  # noqa: E402

ROUNDS = 15
MAX_MILLISECONDS = 250
# What is completed, the words, and what must be among the candidates.
LIVE = {
    "a class": (("get", "classes", ""), "bench-class"),
    "drivers, as there are very many pools": (("describe-pool", ""), f"{DRIVER}/"),
    "a device of a pool": (("taint-device", f"{DRIVER}/node-00042/"), f"{DRIVER}/node-00042/gpu-7\t"),
    # All slices of a driver are the one thing that may take longer than the second that completion waits.
    "a pool of a driver": (("describe-pool", f"{DRIVER}/node-0004"), ""),
    "an attribute in a selector": (
        ("test-selector", f'device.attributes["{DRIVER}"].mo'),
        f'device.attributes["{DRIVER}"].model\t',
    ),
}


def milliseconds(command: list[str], environment: dict[str, str], expected: str = "") -> float:
    """One process."""
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    took = (time.perf_counter() - start) * 1000
    if expected not in done.stdout:
        print(f"  not offered: {expected.strip()}, by {command[3:]}: {done.stdout[:80]!r}")
    return took


def measured(kubectl: str, environment: dict[str, str], folder: str) -> dict[str, list[float]]:
    """Milliseconds by what was measured, each with an empty cache first and then with the answer kept."""
    times: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        fresh = environment | {"XDG_CACHE_HOME": f"{folder}/{number}"}
        rows = {
            "kubectl version --client": (("version", "--client"), ""),
            "kubectl's own: get deviceclasses": (("__complete", "get", "deviceclasses", ""), "bench-class"),
            "commands": (("__complete", "dra", ""), "why-pending"),
        }
        for name, (words, expected) in LIVE.items():
            rows[f"{name}, asked for"] = (("__complete", "dra", *words), expected)
            rows[f"{name}, kept"] = (("__complete", "dra", *words), expected)
        for name, (words, expected) in rows.items():
            times.setdefault(name, []).append(milliseconds([kubectl, *words], fresh, expected))
    return times


def main() -> int:
    """Measure and compare with the budget."""
    if module().missing():
        print("skipped: the control plane was not built (python -m tests.controlplane build)")
        return 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SLICES
    with ControlPlane(binaries()) as plane, tempfile.TemporaryDirectory() as folder:
        fill(plane, count)
        kind = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "bench-class"}}
        plane.client().request("POST", "/apis/resource.k8s.io/v1/deviceclasses", kind | {"spec": {}})
        environment = plane_environment(plane)
        kubectl = str(plane.kubectl)
        subprocess.run([kubectl, "get", "deviceclasses"], env=environment, capture_output=True, check=True)
        times = measured(kubectl, environment, folder)
    for name, values in times.items():
        print(f"  {name:50} best {min(values):4.0f} ms, median {statistics.median(values):4.0f} ms")
    late = [name for name in LIVE if statistics.median(times[f"{name}, kept"]) > MAX_MILLISECONDS]
    print(f"budget {MAX_MILLISECONDS} ms for what is kept: {'MISSED by ' + ', '.join(late) if late else 'kept'}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
