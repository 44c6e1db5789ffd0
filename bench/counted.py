"""What small runs of the parts do, counted instead of timed: the same on a busy machine, and on any.

``python -m bench.counted`` shows the counts beside those that were recorded, ``--write`` records them; a test fails
where one has grown by more than half. Calls are those of functions, in Python and in C.
"""

from __future__ import annotations

import contextlib
import cProfile
import gc
import io
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, Final

from bench import decode, world
from bench.frame import ROOT

RECORDED: Final = Path(__file__).with_name("counted.json")
GROWTH: Final = 1.5
#: The same of what one more node costs, in which nothing is but work: many small steps add up.
STEP: Final = 1.03
# What next to nothing becomes says little.
_FEW: Final = 100
NODES, WAITING = 120, 40
#: A list with what one more node adds to it, its ten pods and two slices included.
EACH_NODE: Final = "each node: why-pending -A"
#: Where all ways out of all pods are searched.
FEW_NODES = 20
#: One shape that takes half of a node.
SHAPE: Final = ("--class", world.GPU, "--count", "4", "-n", "team-0")
#: What is counted beside all calls: functions by file and name.
FUNCTIONS: Final[Mapping[str, frozenset[tuple[str, str]]]] = {
    "evaluations": frozenset({("cel/run/program.py", "test"), ("cel/run/program.py", "run")}),
    "comparisons": frozenset(
        {("allocation/search/classes.py", "_content"), ("allocation/search/classes.py", "_column")}
    ),
    "paths": frozenset({("allocation/search/alike.py", "_find"), ("allocation/search/alike.py", "_remember")}),
    "searches": frozenset({("allocation/search/allocator.py", "_answer")}),
    # At nodes or pods, for the sake of one that waits.
    "looks": frozenset({("reports/pending/kept_off_drivers.py", "has_nothing"), ("gangs/elsewhere.py", "_members")}),
    "decoded one by one": frozenset({("api/decode.py", "decode_object")}),
}
Counts = dict[str, int]


def counted(work: Callable[[], object]) -> Counts:
    """What ``work`` calls; a function that has no place in the counts is one of all calls."""
    profile, collecting = cProfile.Profile(), gc.isenabled()
    # What a collection ends in between was begun by others.
    gc.disable()
    try:
        profile.runcall(work)
    finally:
        if collecting:
            gc.enable()
    counts: Counts = {"calls": 0, **dict.fromkeys(FUNCTIONS, 0)}
    for entry in profile.getstats():
        counts["calls"] += entry.callcount
        if isinstance(entry.code, CodeType):
            for name, functions in FUNCTIONS.items():
                if any(entry.code.co_filename.endswith(file) and entry.code.co_name == own for file, own in functions):
                    counts[name] += entry.callcount
    return counts


def of_command(words: Sequence[str]) -> Counts:
    """What a command calls, and the bytes that it reads of files. Nothing that it imports is counted."""
    from kubectl_dra.commands.app import run
    from kubectl_dra.source.content import Content

    taken = 0
    read = Content.read

    def reading(self: Content, start: int, end: int) -> bytes:
        nonlocal taken
        data = read(self, start, end)
        taken += len(data)
        return data

    def work() -> None:
        code = run(list(words))
        assert code == 0, (words, code)

    with tempfile.TemporaryFile() as file, _stdout_to(file):
        work()
        Content.read = reading  # type: ignore[method-assign]
        try:
            taken = 0
            counts = counted(work)
        finally:
            Content.read = read  # type: ignore[method-assign]
    return {**counts, "bytes": taken}


@contextlib.contextmanager
def _stdout_to(file: Any) -> Iterator[None]:
    wrapped = io.TextIOWrapper(file, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(wrapped), contextlib.redirect_stderr(io.StringIO()):
        yield
    wrapped.detach()


def parts(folder: Path) -> dict[str, Counts]:
    """The counts of each part."""
    file = str(folder / "cluster.json")
    world.write_snapshot(Path(file), world.objects(NODES, WAITING))
    few = str(folder / "few.json")
    world.write_snapshot(Path(few), world.objects(FEW_NODES, WAITING))
    return (
        quick_parts()
        | each_node(folder)
        | {
            "completion": _modules("__complete", "get", "cl"),
            "pending: why-pending -A": of_command(["why-pending", "-A", "--from", file]),
            "pending: why-pending POD": of_command(["why-pending", "train-0008", "-n", "team-1", "--from", file]),
            "ways out: why-pending -A --remedies": of_command(["why-pending", "-A", "--remedies", "--from", few]),
            "pools: get pools": of_command(["get", "pools", "--from", file]),
            "large: get devices": of_command(["get", "devices", "--from", file]),
            "capacity: one shape": of_command(["capacity", *SHAPE, "--from", file]),
            "simulate: many copies": of_command(["simulate", "-f", str(_many_copies(folder)), "--from", few]),
            "selector: test-selector": of_command(["test-selector", f"{world.OURS}.model == 'H100'", "--from", file]),
        }
    )


def each_node(folder: Path) -> dict[str, Counts]:
    """What one node more costs a list of pods, on average: nothing of it is for what is met for the first time."""
    found = []
    for number in (NODES // 2, NODES):
        path = folder / f"{number}.json"
        world.write_snapshot(path, world.objects(number, WAITING))
        found.append(of_command(["why-pending", "-A", "--from", str(path)]))
    fewer, more = found
    return {EACH_NODE: {name: (more[name] - fewer[name]) // (NODES - NODES // 2) for name in more}}


def _many_copies(folder: Path) -> Path:
    """A Deployment of which a part fits, with several ways out."""
    claim = {"resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}]}
    container = {"name": "main", "image": "train", "resources": {"claims": [{"name": "gpus"}]}}
    labels = {"app": "train"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **claim}}
    spec = {"replicas": 400, "selector": {"matchLabels": labels}, "template": template}
    devices = {"spec": {"spec": {"devices": {"requests": [world.request()]}}}}
    objects = (
        {"apiVersion": world.KINDS["resourceclaims"][0], "kind": "ResourceClaimTemplate", **_named("gpus"), **devices},
        {"apiVersion": "apps/v1", "kind": "Deployment", **_named("train"), "spec": spec},
    )
    path = folder / "copies.yaml"
    path.write_text("\n---\n".join(map(json.dumps, objects)), encoding="utf-8")
    return path


def _named(name: str) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "team-0"}}


def quick_parts() -> dict[str, Counts]:
    """Those that take next to no time."""
    return {"cold start": _modules("--help"), "decode": _decoding(), "live: pods of a list": _reducing()}


def _modules(*words: str) -> Counts:
    """How many modules a start imports, by what Python itself says of each."""
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])}
    environment |= {"HOME": str(ROOT / ".cache"), "KUBECONFIG": os.devnull}
    call = [sys.executable, "-S", "-X", "importtime", "-m", "kubectl_dra", *words]
    done = subprocess.run(call, capture_output=True, encoding="utf-8", env=environment, check=True, cwd=ROOT)
    return {"modules": done.stderr.count("import time:") - 1}


def _decoding() -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slices.json"
        decode.write(path, 500)
        data = path.read_bytes()
    decode.decode_and_index(data)
    return counted(lambda: decode.decode_and_index(data))


def _reducing() -> Counts:
    """A list of pods as a live cluster sends it, in chunks: nothing but their part of nodes is kept of most."""
    from kubectl_dra.source.live.listing import CHUNK
    from kubectl_dra.source.live.pods import PodReducer

    pods = list(world.objects(NODES, WAITING)["pods"])
    chunks = [
        f'{{"kind":"PodList","items":[{",".join(pods[start : start + CHUNK])}]}}'.encode()
        for start in range(0, len(pods), CHUNK)
    ]

    def work() -> None:
        reducer = PodReducer()
        taken = [reducer.take(chunk, "v1") for chunk in chunks]
        assert None not in taken
        assert len(reducer.usage) == NODES

    work()
    return {**counted(work), "bytes": sum(map(len, chunks))}


def grown(now: Mapping[str, Counts], before: Mapping[str, Counts]) -> list[str]:
    """What has grown by more than half, or is not recorded."""
    found = []
    for part, counts in now.items():
        for name, count in counts.items():
            known = before.get(part, {}).get(name)
            if known is None:
                found.append(f"{part}, {name}: not recorded; python -m bench.counted --write")
            elif count > (known * STEP if part == EACH_NODE else known * GROWTH + _FEW):
                found.append(f"{part}, {name}: {count:,}, recorded {known:,}")
    return found


def measured() -> dict[str, Counts]:
    """The counts of all parts."""
    with tempfile.TemporaryDirectory() as folder:
        return parts(Path(folder))


def recorded() -> dict[str, Counts]:
    """The counts that were recorded."""
    found: dict[str, Counts] = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    return found


def main(words: Sequence[str]) -> int:
    """Show the counts, or record them."""
    now, before = measured(), recorded()
    for part, counts in now.items():
        for name, count in counts.items():
            known = before.get(part, {}).get(name)
            change = f"{count / known:6.2f} x" if known else ""
            print(f"{part:28} {name:20} {count:>12,} {change}")
    if "--write" in words:
        RECORDED.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return 0
    return 1 if grown(now, before) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
