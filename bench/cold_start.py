"""How long help, a usage error and an offline answer take beyond a bare interpreter. ``python bench/cold_start.py``.

Budget: help and usage errors at most 80 ms. Best of many runs, each in turn with the bare interpreter.
"""

from __future__ import annotations

import subprocess
import sys
import time

ROUNDS = 15
MAX_MILLISECONDS = 80
CASES = {
    "--help": (["--help"], True),
    "why-pending --help": (["why-pending", "--help"], True),
    "unknown option": (["why-pending", "--nope"], True),
    "unknown output": (["why-pending", "-o", "jsonpath"], True),
    "version": (["version"], False),
    "why-pending of the demo": (["why-pending", "-A", "--from", "demo"], False),
}


def run(*arguments: str) -> float:
    """Milliseconds of one process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], capture_output=True, check=False)
    return (time.perf_counter() - start) * 1000


def main() -> int:
    """Measure and compare with the budget."""
    bare = min(run("-c", "pass") for _ in range(ROUNDS))
    print(f"bare interpreter {bare:.0f} ms")
    missed = False
    for name, (arguments, budgeted) in CASES.items():
        best = min(run("-m", "kubectl_dra", *arguments) for _ in range(ROUNDS)) - bare
        late = budgeted and best > MAX_MILLISECONDS
        missed |= late
        print(f"  {name:24} {best:4.0f} ms more{'  MISSED' if late else ''}")
    print(f"budget {MAX_MILLISECONDS} ms: {'MISSED' if missed else 'kept'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
