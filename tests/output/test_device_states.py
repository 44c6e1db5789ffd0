"""A device has two states at once where it is in use and tainted: neither hides the other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from kubectl_dra.output.devices.state_columns import DEVICES, TITLES
from tests.kit import build
from tests.kit.clock import PassingClock

XID = {"key": "xid", "value": "79", "effect": "NoExecute"}


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    devices = [build.device("gpu-0", taints=[XID]), build.device("gpu-1", taints=[XID]), build.device("gpu-2")]
    held = build.claim("held", held=[("node-1", "gpu-0"), ("node-1", "gpu-2")], on="node-1", by=["user"])
    user = build.pod("user", claims=["held"], node_name="node-1", phase="Running")
    items = [build.node(), build.device_class(), build.slice_("node-1", *devices), held, user]
    for each in items:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
    return str(path)


def out(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert run([*words, "--color", "never"], PassingClock()) == 0
    return capfd.readouterr().out


def test_a_device_in_use_shows_its_taint(capfd: pytest.CaptureFixture[str], cluster: str) -> None:
    rows = [line.split() for line in out(capfd, "get", "devices", "--from", cluster).splitlines()[1:]]
    states = {row[2]: " ".join(row[3:-2]) or row[3] for row in rows}
    assert states == {"gpu-0": "in use, xid=79:NoExecute", "gpu-1": "xid=79:NoExecute", "gpu-2": "in use"}


def test_a_taint_that_only_tells_something_is_shown_too(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, cluster: str
) -> None:
    """With the effect None a driver reports what keeps nobody away: the narrow list would hide it."""
    read = json.loads(Path(cluster).read_text(encoding="utf-8"))
    devices = next(each for each in read["items"] if each["kind"] == "ResourceSlice")["spec"]["devices"]
    devices[2]["taints"] = [XID | {"effect": "None"}]
    devices.append(build.device("gpu-3", taints=[XID | {"effect": "None"}]))
    path = tmp_path / "told.json"
    path.write_text(json.dumps(read), encoding="utf-8")
    rows = [line.split() for line in out(capfd, "get", "devices", "--from", str(path)).splitlines()[1:]]
    states = {row[2]: " ".join(row[3:-2] if row[-2] == "pod" else row[3:-1]) for row in rows}
    assert states["gpu-2"] == "in use, xid=79:None"
    assert states["gpu-3"] == "free, xid=79:None"
    told = out(capfd, "describe-node", "node-1", "--from", str(path))
    assert "free (xid=79:None)" in told


def test_a_node_counts_the_tainted_ones_in_use(capfd: pytest.CaptureFixture[str], cluster: str) -> None:
    told = out(capfd, "describe-node", "node-1", "--from", cluster)
    assert "3 devices of its own: 2 in use (1 of them tainted) and 1 tainted." in " ".join(told.split())


def test_every_list_calls_states_the_same_in_the_same_order(capfd: pytest.CaptureFixture[str]) -> None:
    columns = {DEVICES, *TITLES.values()}
    order = [DEVICES, *TITLES.values()]
    for call in ("get pools", "get nodes", "get classes", "describe-pool", "top nodes", "top classes"):
        lines = out(capfd, *call.split(), "--from", "demo").splitlines()
        heads = [re.split(" {2,}", line.strip()) for line in lines if f"  {DEVICES}" in line]
        assert heads
        for titles in heads:
            shown = [each for each in titles if each in columns]
            assert shown == sorted(shown, key=order.index), call
            assert "IN USE" not in titles
        assert any("USED" in titles for titles in heads), call
