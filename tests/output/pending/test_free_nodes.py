"""Where nodes may not be read, slices name those whose devices are free: what the scheduler says is about these."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.clock import PassingClock
from tests.reports.clusters import withheld

Ask = Callable[..., str]
CLASSIC = Path(__file__).parents[2] / "reports/classic.json"
SELECTOR = "node(s) didn't match Pod's node affinity/selector"
TAINTS = "node(s) had untolerated taint(s)"
DEVICES = "cannot allocate all claims"


@pytest.fixture
def ask(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Ask:
    """The page of a pod with a claim for one device, of a cluster whose nodes could not be read."""

    def page(
        message: str, *slices: dict[str, Any], held: list[tuple[str, str]], read_rules: bool = True, own: Any = None
    ) -> str:
        pod = build.pod("p", claims=["c"], nodeSelector={"pool": "big"})
        seen = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        pod["status"]["conditions"] = [{**seen, "lastTransitionTime": "2026-01-01T00:00:00Z"}]
        users = [build.claim(f"used-{number}", held=[each], by=["q"]) for number, each in enumerate(held)]
        items = [build.device_class(), *slices, pod, own or build.claim("c"), *users]
        for each in items:
            each["apiVersion"] = BY_NAME[each["kind"]].api_version
        document = withheld({"kind": "List", "items": items}, ("Node",))
        document["reads"] += [{"kind": "DeviceTaintRule", "coverage": "complete"}] if read_rules else []
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        assert run(["why-pending", "p", "-n", "ml", "--from", str(path), "--color", "never"], PassingClock()) == 0
        return " ".join(capfd.readouterr().out.split())

    return page


def _slices(*nodes: str) -> list[dict[str, Any]]:
    return [build.slice_(node, build.device("gpu-0")) for node in nodes]


def test_the_node_with_free_devices_is_rejected_for_the_only_other_reason(ask: Ask) -> None:
    message = f"0/3 nodes are available: 1 {DEVICES}, 2 {SELECTOR}."
    text = ask(message, *_slices("node-1", "node-2"), held=[("node-1", "gpu-0")])
    assert "node-2 has such devices free, but does not match its node selector pool=big. The exact cause is" in text
    assert "Let the pod run on node-2, where such devices are free. Relax the node selector or affinity" in text
    assert "start there" not in text


def test_of_several_other_reasons_it_is_one(ask: Ask) -> None:
    message = f"0/4 nodes are available: 1 {DEVICES}, 1 {TAINTS}, 2 {SELECTOR}."
    text = ask(message, *_slices("node-1", "node-2", "node-3"), held=[("node-1", "gpu-0")])
    assert "node-2 and node-3 have such devices free, but are rejected for another reason." in text
    told = "each of these nodes does not match its node selector pool=big or has taints that it does not tolerate"
    assert told in text
    assert "sees in: kubectl describe node node-2 node-3" in text


def test_nodes_that_were_rejected_before_devices_are_named(ask: Ask) -> None:
    text = ask(f"0/2 nodes are available: 2 {SELECTOR}.", *_slices("node-1", "node-2"), held=[("node-1", "gpu-0")])
    assert "on these nodes. node-2 has devices free for all its claims, but does not match its node selector" in text


def test_free_devices_that_the_words_leave_no_room_for_came_later(ask: Ask) -> None:
    """All nodes lacked devices when the scheduler wrote; now one has them."""
    text = ask(f"0/2 nodes are available: 2 {DEVICES}.", *_slices("node-1", "node-2"), held=[("node-1", "gpu-0")])
    assert "node-2 has such devices free. The exact cause" in text
    assert "Let the pod run" not in text


def test_where_none_are_free_elsewhere_the_advice_says_so(ask: Ask) -> None:
    message = f"0/3 nodes are available: 1 {DEVICES}, 2 {SELECTOR}."
    text = ask(message, *_slices("node-1"), held=[("node-1", "gpu-0")])
    assert "start there. No other node has them free either." in text


@pytest.mark.parametrize("field", [{"allNodes": True}, {"nodeSelector": {"nodeSelectorTerms": []}}])
def test_devices_that_name_no_node_leave_it_open(ask: Ask, field: dict[str, Any]) -> None:
    shared = build.slice_("", build.device("gpu-0"), pool="fabric")
    del shared["spec"]["nodeName"]
    shared["spec"] |= field
    message = f"0/3 nodes are available: 1 {DEVICES}, 2 {SELECTOR}."
    text = ask(message, *_slices("node-1", "node-2"), shared, held=[("node-1", "gpu-0")])
    assert "node-2" not in text
    assert "Whether the other 2 nodes have any is unknown" in text


def test_a_claim_whose_devices_nodes_with_a_label_reach_leaves_it_open(ask: Ask) -> None:
    """Which nodes have the label nobody could read."""
    own = build.claim("c", held=[("fabric", "gpu-0")])
    zone = {"key": "zone", "operator": "In", "values": ["a"]}
    own["status"]["allocation"]["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}
    message = f"0/3 nodes are available: 1 {DEVICES}, 2 {SELECTOR}."
    text = ask(message, *_slices("node-1"), held=[("node-1", "gpu-0")], own=own)
    assert "Whether the other 2 nodes have any is unknown" in text
    assert "No other node" not in text


def test_unread_taint_rules_leave_it_open(ask: Ask) -> None:
    message = f"0/3 nodes are available: 1 {DEVICES}, 2 {SELECTOR}."
    text = ask(message, *_slices("node-1", "node-2"), held=[("node-1", "gpu-0")], read_rules=False)
    assert "node-2 has" not in text


@pytest.mark.parametrize("pod", ["named", "excluded"])
def test_where_a_drivers_controller_decides_nothing_is_said(
    pod: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    document = withheld(json.loads(CLASSIC.read_text(encoding="utf-8")), ("Node",))
    document["reads"] += [{"kind": "DeviceTaintRule", "coverage": "complete"}]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    command = ["why-pending", f"pod/{pod}", "-n", "ml", "--from", str(path), "-o", "json"]
    assert run(command, PassingClock()) == 0
    assert json.loads(capfd.readouterr().out)["freeNodes"] is None
