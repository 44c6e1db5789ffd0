"""For people: ``python -m tests.ways_out [--first SEED] [--clusters N] [--folder DIR] [--kinds KIND ...]``.

It can be resumed. With ``--kinds JobSet LeaderWorkerSet MPIJob RayCluster`` their real controllers run as well, which
are built once (`tests/controlplane/foreign.py`).

Each way out leaves a file in the folder, and what has one is not done again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.controlplane import ControlPlane, binaries
from tests.controlplane.foreign import CONTROLLERS, run_controller
from tests.controlplane.helpers import run_kwok
from tests.ways_out.clusters import random_cluster
from tests.ways_out.table import read, table
from tests.ways_out.trial import Taken, all_ways, take


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.ways_out", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--clusters", type=int, default=40)
    parser.add_argument("--folder", type=Path, default=Path(".cache/ways-out"))
    parser.add_argument("--kinds", nargs="*", default=[], help="what waits; other groups' controllers are built once")
    parser.add_argument("--write", type=Path, help="write the table to this file")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with ControlPlane(binaries(), backoff_seconds=1) as plane:
        run_kwok(plane)
        for kind in options.kinds:
            if kind in CONTROLLERS:
                run_controller(plane, kind)
        for seed in range(options.first, options.first + options.clusters):
            run_cluster(plane, seed, options.folder, options.kinds)
    text = table(read(options.folder))
    print(text)
    if options.write is not None:
        options.write.write_text(text, encoding="utf-8")
    return 0


def run_cluster(plane: ControlPlane, seed: int, folder: Path, kinds: Sequence[str] = ()) -> list[Taken]:
    """All ways out of one cluster; what was done before is read."""
    cluster = random_cluster(seed, kinds)

    def one(number: int) -> Taken:
        path = folder / f"{seed}-{number}.json"
        if path.exists():
            return next(read_one for read_one in read(folder, f"{seed}-{number}.json"))
        taken = take(plane, cluster, number)
        path.write_text(taken.as_json(), encoding="utf-8")
        print(seed, number, taken.cause, taken.waiting, taken.kind, taken.outcome, f"{taken.seconds} s", flush=True)
        return taken

    return list(all_ways(one))


if __name__ == "__main__":
    sys.exit(main())
