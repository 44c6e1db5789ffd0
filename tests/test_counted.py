"""Speed as counts that are the same on every machine: calls, evaluations, comparisons of nodes, bytes that are read.

No part does more than half more than when it was recorded (``python -m bench.counted --write``), and what a command
does grows with the cluster and not with its square.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from bench import counted, world
from tests.kit.sample import sampled

SIZES = (8, 16, 32, 64, 128)
WAITING = 20
#: How much more each further node may cost in the largest cluster than in the smallest ones.
STEEPER = 1.25
COMMANDS = {
    "why-pending -A": ("why-pending", "-A"),
    "why-pending POD": ("why-pending", "train-0008", "-n", "team-1"),
    "get pools": ("get", "pools"),
    "get devices": ("get", "devices"),
    "get claims": ("get", "claims", "-A"),
    "capacity": ("capacity", *counted.SHAPE),
}


@pytest.mark.one_in(5)
def test_no_part_does_half_more_than_was_recorded() -> None:
    assert counted.grown(counted.measured(), counted.recorded()) == []


def test_what_grows_is_told() -> None:
    before = {"a": {"calls": 1000, "few": 0}}
    assert counted.grown({"a": {"calls": 1599, "few": 99}}, before) == []
    assert counted.grown({"a": {"calls": 1601}}, before) == ["a, calls: 1,601, recorded 1,000"]
    assert counted.grown({"b": {"calls": 1}}, before) == ["b, calls: not recorded; python -m bench.counted --write"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Clusters in which the same pods wait; each has twice the nodes of the one before."""
    folder = tmp_path_factory.mktemp("growth")
    paths = [folder / f"{size}.json" for size in SIZES]
    for path, size in zip(paths, SIZES, strict=True):
        world.write_snapshot(path, world.objects(size, WAITING))
    return paths


@pytest.mark.parametrize("command", sampled(COMMANDS, 2))
def test_nothing_grows_with_the_square_of_the_cluster(command: str, files: list[Path]) -> None:
    found = [counted.of_command([*COMMANDS[command], "--from", str(file)]) for file in files]
    for name in found[0]:
        counts = [each[name] for each in found]
        per_node = [
            (after - before) / (b - a)
            for (before, after), (a, b) in zip(pairwise(counts), pairwise(SIZES), strict=True)
        ]
        # The first steps meet what is new: models, shapes of pods, other reasons.
        usual = max(per_node[:3])
        assert per_node[-1] <= max(usual, 1.0) * STEEPER, (name, counts)


@pytest.mark.one_in(3)
def test_more_pods_of_the_same_kinds_compare_nothing_more(tmp_path: Path) -> None:
    compared = []
    for waiting in (world.WAITING_KINDS, 4 * world.WAITING_KINDS):
        path = tmp_path / f"{waiting}.json"
        world.write_snapshot(path, world.objects(20, waiting))
        compared.append(counted.of_command(["why-pending", "-A", "--from", str(path)]))
    for name in ("comparisons", "evaluations", "searches", "paths"):
        assert compared[0][name] == compared[1][name], name


@pytest.mark.one_in(3)
def test_more_kinds_of_pods_compare_nothing_more(tmp_path: Path) -> None:
    """Other kinds that ask for the same devices: nodes are compared once."""
    compared = []
    for kinds in (world.WAITING_KINDS, 5 * world.WAITING_KINDS):
        path = tmp_path / f"{kinds}.json"
        world.write_snapshot(path, world.objects(20, 5 * world.WAITING_KINDS, kinds))
        compared.append(counted.of_command(["why-pending", "-A", "--from", str(path)]))
    assert compared[0]["comparisons"] == compared[1]["comparisons"]
    assert compared[1]["searches"] > compared[0]["searches"]
