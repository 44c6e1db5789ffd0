"""The list of pools, and one pool, of a server with 10,000 slices of 8 devices. ``python bench/pools.py [SLICES]``.

Budget: the list takes at most 1.5 times as long as ``kubectl get resourceslices -o json`` on the same server. Needs the
control plane of ``make e2e``; where that was not built, nothing is measured. Best of some rounds, in turns.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from decode import DRIVER, slice_  # noqa: E402 - beside this file

from tests.controlplane import ControlPlane, binaries  # noqa: E402
from tests.controlplane.__main__ import plane_environment  # noqa: E402
from tests.controlplane.build import module  # noqa: E402

SLICES = 10_000
THREADS = 4
ROUNDS = 3
MAX_RATIO = 1.5
PATH = "/apis/resource.k8s.io/v1/resourceslices"


def fill(plane: ControlPlane, count: int) -> None:
    """Create the slices, over a few connections that stay open."""
    numbers = iter(range(count))
    threads = [threading.Thread(target=create, args=(plane, numbers)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def create(plane: ControlPlane, numbers: Iterator[int]) -> None:
    """One connection's share of the slices."""
    context = ssl.create_default_context(cafile=str(plane.certificate))
    connection = http.client.HTTPSConnection(urlsplit(plane.server).netloc, timeout=60, context=context)
    headers = {"Authorization": f"Bearer {plane.users['admin'].token}", "Content-Type": "application/json"}
    for number in numbers:
        body = slice_(number)
        body["metadata"] = {"name": body["metadata"]["name"]}
        body["spec"]["pool"]["generation"] = 7
        connection.request("POST", PATH, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 201:
            raise SystemExit(f"can't create slice {number}: {text[:300]!r}")
    connection.close()


def run(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of one process, and its peak in MB."""
    start = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ends with {process.returncode}")
    return seconds, usage.ru_maxrss / 1024


def main() -> int:
    """Measure and compare with the budget."""
    if module().missing():
        print("skipped: the control plane was not built (python -m tests.controlplane build)")
        return 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SLICES
    with ControlPlane(binaries()) as plane:
        start = time.perf_counter()
        fill(plane, count)
        print(f"{count} slices on a real API server, created in {time.perf_counter() - start:.0f} s")
        ours = [sys.executable, "-m", "kubectl_dra", "describe-pool"]
        ways = {
            "kubectl get -o json": [str(plane.kubectl), "get", "resourceslices", "-o", "json"],
            "list of pools": ours,
            "one pool": [*ours, f"{DRIVER}/node-{count // 2:05d}"],
        }
        environment = plane_environment(plane)
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, command in ways.items():
                runs[name].append(run(command, environment))
    best = {name: min(seconds for seconds, _ in results) for name, results in runs.items()}
    for name, results in runs.items():
        ratio = best[name] / best["kubectl get -o json"]
        print(f"  {name:20} {best[name]:6.2f} s  {ratio:5.2f} x  {max(peak for _, peak in results):5.0f} MB")
    good = best["list of pools"] <= MAX_RATIO * best["kubectl get -o json"]
    print(f"budget of the list {MAX_RATIO} x: {'kept' if good else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
