"""One clock: made where the program begins, asked where facts have no time of their own, and by nothing else."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.app import run
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.model.clock import timestamp
from kubectl_dra.model.features import Features
from kubectl_dra.source.file import load_file
from tests.kit.clock import CLOCK, FixedClock

PACKAGE = Path(__file__).parents[1] / "kubectl_dra"
# Where the program begins, or what it is begun with.
EDGES = {
    "commands/app.py",
    "commands/completion/cache.py",
    "source/spec.py",
    "tui/settings.py",
}


def _that_say(*names: str) -> Iterator[tuple[Path, ast.Module]]:
    """The modules of the program that hold one of the names; parsing all of them takes seconds."""
    for file in PACKAGE.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        if any(name in source for name in names):
            yield file, ast.parse(source)


def test_only_edges_know_the_clock_of_the_computer():
    found = set()
    for file, tree in _that_say("SYSTEM", "SystemClock"):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and {"SYSTEM", "SystemClock"} & {name.name for name in node.names}:
                found.add(file.relative_to(PACKAGE).as_posix())
    assert found == EDGES


def test_nobody_sleeps_but_by_the_clock():
    """But one thread, which lives and ends with the process."""
    sleeping = {
        file.relative_to(PACKAGE).as_posix()
        for file, tree in _that_say("sleep")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "sleep" and getattr(node.value, "id", "") == "time"
    }
    assert sleeping == {"model/clock.py", "tui/start.py"}


def test_times_are_written_as_the_api_writes_them():
    assert timestamp(CLOCK) == "2026-11-21T13:00:00Z"


@pytest.fixture
def undated(tmp_path):
    """A claim and a pod that waits for it, in a file that does not say when it was read."""
    created = timestamp(CLOCK)
    metadata = {"name": "x", "namespace": "default", "uid": "u", "creationTimestamp": created}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {}}
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": created}
    spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": [{"name": "r", "resourceClaimName": "x"}]}
    status = {"phase": "Pending", "conditions": [{**said, "message": "0/1 nodes are available."}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}
    path = tmp_path / "undated.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [claim, pod]}), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("command", ["get claims", "describe-claim x", "why-pending x"])
def test_ages_in_a_document_without_time_are_those_of_the_clock(command, undated, capfd):
    for days in (3, 403):
        run([*command.split(), "--from", undated], FixedClock(CLOCK.now() + timedelta(days=days)))
        out = capfd.readouterr().out
        assert f" {days}d" in out, out


def test_the_clock_of_the_command_reaches_the_ui(undated):
    settings = settings_of(Options(from_=undated, clock=CLOCK))
    inventory, evidence = load_file(undated)
    assert ClusterState(inventory, evidence, Features(), settings.clock).now == CLOCK.now()


# --- tests --------------------------------------------------------------------------------------------------------

TESTS = Path(__file__).parent
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time"}
#: Where an assertion compares what a clock says all the same.
TIMED = {
    "live/test_feed.py::test_many_changes_are_published_together_and_none_is_lost": "longer may have more",
    "fuzz/__main__.py::fuzz": "no test runs it, and its inputs are small",
    "faults/running.py::run": "how long it waits for what must come, three minutes",
    "e2e/test_tui.py::holds": "how long it waits for what must come, as its callers say",
}
#: A machine that stops for a while is no fault of the program: nothing that must come is waited for less long.
PATIENCE = 30


def _is_clock(node: ast.AST) -> bool:
    name = node.func if isinstance(node, ast.Call) else None
    text = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    return text.removesuffix("_ns") in CLOCKS


def _timed(function: ast.AST) -> Iterator[ast.Assert]:
    """The assertions that compare a difference of two times with anything."""
    times, lengths = set(), set()

    def is_length(node: ast.AST) -> bool:
        if isinstance(node, ast.Name) and node.id in lengths:
            return True
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
            return False
        return any(_is_clock(side) or getattr(side, "id", "") in times for side in (node.left, node.right))

    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            names = {each.id for each in ast.walk(ast.Tuple(node.targets)) if isinstance(each, ast.Name)}
            times |= names if _is_clock(node.value) else set()
            lengths |= names if any(map(is_length, ast.walk(node.value))) else set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            compared = [each for each in ast.walk(node.test) if isinstance(each, ast.Compare)]
            if any(is_length(part) for each in compared for part in ast.walk(each)):
                yield node


def _impatient(function: ast.AST) -> Iterator[ast.BinOp]:
    """The deadlines that are nearer than any machine may need."""
    for node in ast.walk(function):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or not _is_clock(node.left):
            continue
        if isinstance(node.right, ast.Constant) and node.right.value < PATIENCE:
            yield node


def _functions(file: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_test_fails_because_a_machine_is_slow():
    """What is done is counted (``tests/kit/work.py``), how long it takes is measured by ``make bench``."""
    found = {
        f"{file.relative_to(TESTS).as_posix()}::{function.name}"
        for file in TESTS.rglob("*.py")
        if any(name in file.read_text(encoding="utf-8") for name in CLOCKS)
        for function in _functions(file)
        if any(_timed(function)) or any(_impatient(function))
    }
    assert found == set(TIMED)


@pytest.mark.parametrize(
    "line",
    [
        "assert time.monotonic() - began < 5",
        "assert 5 > monotonic() - began, 'too long'",
        "spent = time.process_time_ns() - began; assert not spent > 5",
        "began = perf_counter(); ended = perf_counter(); assert round(ended - began) <= 5",
        "until = time.monotonic() + 10",
    ],
)
def test_what_depends_on_the_machine_is_told(line: str):
    [function] = [node for node in ast.walk(ast.parse(f"def test(): {line}")) if isinstance(node, ast.FunctionDef)]
    assert [*_timed(function), *_impatient(function)]


@pytest.mark.parametrize(
    "line",
    [
        "assert time.monotonic() < deadline, 'never idle'",
        "assert news.wait(deadline - time.monotonic())",
        "deadline = time.monotonic() + 60",
        "assert len(seen) - len(before) < 5",
    ],
)
def test_what_does_not_is_left_alone(line: str):
    [function] = [node for node in ast.walk(ast.parse(f"def test(): {line}")) if isinstance(node, ast.FunctionDef)]
    assert not [*_timed(function), *_impatient(function)]
