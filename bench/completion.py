"""How long a TAB takes, through the ``__complete`` of the real kubectl. ``python bench/completion.py`` (see make e2e).

Budget: 250 ms for a live name with a kept answer; the median of many, which counts kubectl's own start as well.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.controlplane import ControlPlane, binaries
from tests.controlplane.__main__ import plane_environment

ROUNDS = 15
MAX_MILLISECONDS = 250
LIVE = ("get", "classes", "")


def milliseconds(command: list[str], environment: dict[str, str]) -> float:
    """One process."""
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    took = (time.perf_counter() - start) * 1000
    if LIVE[0] in command and "bench-class" not in done.stdout:
        raise SystemExit(f"no live name: {done.stdout}{done.stderr}")
    return took


def main() -> int:
    """Measure and compare with the budget."""
    with ControlPlane(binaries()) as plane, tempfile.TemporaryDirectory() as folder:
        kind = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "bench-class"},
            "spec": {},
        }
        plane.client().request("POST", "/apis/resource.k8s.io/v1/deviceclasses", kind)
        environment = plane_environment(plane)
        kubectl = str(plane.kubectl)
        subprocess.run([kubectl, "get", "deviceclasses"], env=environment, capture_output=True, check=True)
        times: dict[str, list[float]] = {}
        for number in range(ROUNDS):
            fresh = environment | {"XDG_CACHE_HOME": f"{folder}/{number}"}
            for name, words in (
                ("kubectl version --client", ["version", "--client"]),
                ("kubectl's own: __complete get deviceclasses", ["__complete", "get", "deviceclasses", ""]),
                ("commands", ["__complete", "dra", ""]),
                ("a live name, asked for", ["__complete", "dra", *LIVE]),
                ("a live name, kept", ["__complete", "dra", *LIVE]),
            ):
                times.setdefault(name, []).append(milliseconds([kubectl, *words], fresh))
    for name, values in times.items():
        print(f"  {name:45} best {min(values):4.0f} ms, median {statistics.median(values):4.0f} ms")
    kept = statistics.median(times["a live name, kept"]) <= MAX_MILLISECONDS
    print(f"budget {MAX_MILLISECONDS} ms: {'kept' if kept else 'MISSED'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
