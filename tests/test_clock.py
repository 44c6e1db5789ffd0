"""One clock: made where the program begins, asked where facts have no time of their own, and by nothing else."""

from __future__ import annotations

import ast
import json
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
    "commands/shared/options.py",
    "commands/completion/cache.py",
    "source/spec.py",
    "tui/settings.py",
}


def test_only_edges_know_the_clock_of_the_computer():
    found = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and {"SYSTEM", "SystemClock"} & {name.name for name in node.names}:
                found.add(file.relative_to(PACKAGE).as_posix())
    assert found == EDGES


def test_nobody_sleeps_but_by_the_clock():
    """But one thread, which lives and ends with the process."""
    sleeping = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_bytes()))
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
