"""The order in which a file holds its objects changes nothing: neither a page nor a byte of JSON or YAML."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from tests import scenario_files
from tests.kit.sample import sampled
from tests.reports.clusters import DEMO, FULL, SMALL

TESTS = Path(__file__).parents[1]
CLAIM = str(TESTS / "simulations" / "claim.yaml")
EXPRESSION = 'device.driver.endsWith(".com")'
COMMANDS = (
    ["why-pending", "-A"],
    ["why-pending", "claims", "-A"],
    ["why-pending", "-A", "-o", "wide"],
    ["why-pending", "-A", "-o", "json"],
    ["why-pending", "claims", "-A", "-o", "json"],
    ["describe-pool"],
    ["describe-pool", "-o", "json"],
    *(["get", kind, *form] for kind in ("pools", "devices", "taints") for form in ([], ["-o", "json"])),
    *(["get", kind, "-A", *form] for kind in ("claims", "classes") for form in ([], ["-o", "json"], ["-o", "yaml"])),
    ["test-selector", EXPRESSION],
    ["test-selector", EXPRESSION, "-o", "json"],
    ["simulate", "-f", CLAIM],
    ["simulate", "-f", CLAIM, "-o", "json"],
    ["taint-device", "--list", "-o", "json"],
    ["snapshot"],
    ["snapshot", "--redact"],
)
CLUSTERS = [
    SMALL,
    FULL,
    DEMO,
    TESTS / "reports" / "classic.json",
    # The node that is called the closest was another one in another order.
    scenario_files.snapshot_path("53-mixed-three-nodes"),
    scenario_files.snapshot_path("66-mixed-device-reasons"),
]


def answers(path: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, tuple[int, str, str]]:
    found = {}
    for command in COMMANDS:
        code = run([*command, "--from", str(path)])
        found[" ".join(command)] = (code, *capfd.readouterr())
    return found


@pytest.mark.parametrize("cluster", sampled(CLUSTERS, 4))
def test_shuffled_objects_give_the_same_bytes(cluster: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    document = json.loads(cluster.read_text(encoding="utf-8"))
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    before = answers(path, capfd)
    assert {code for code, *_ in before.values()} == {0}
    for seed in range(2):
        random.Random(seed).shuffle(document["items"])
        path.write_text(json.dumps(document), encoding="utf-8")
        after = answers(path, capfd)
        assert [command for command in before if before[command] != after[command]] == []
