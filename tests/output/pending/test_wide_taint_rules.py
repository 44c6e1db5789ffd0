"""A DeviceTaintRule that names a driver or pool and no device taints more than its name says."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.remedies.records import NarrowTaintRule, RemoveTaintRule
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import DRIVER, POD, first_line, page_of, report_of


def rule(name: str, value: str = "", **selector: str) -> dict[str, Any]:
    taint = {"key": "xid", "effect": "NoSchedule", **({"value": value} if value else {})}
    return {
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {"deviceSelector": selector, "taint": taint},
    }


def tainted(the_rule: dict[str, Any], *, count: int = 1, names: str = "gpu-1 gpu-3 gpu-31") -> PendingReport:
    slice_ = build.slice_("node-1", *map(build.device, names.split()))
    return report_of(build.node(), slice_, the_rule, POD, build.claim("claim", build.request(count=count)))


def actions(report: PendingReport) -> list[Any]:
    found = [action for remedy in report.remedies or () for action in remedy.actions]
    return [each for each in found if isinstance(each, NarrowTaintRule | RemoveTaintRule)]


@pytest.mark.parametrize(("name", "value"), [("drain-gpu3", ""), ("node-1-gpu-3-bad", ""), ("bad", "gpu-3")])
def test_a_rule_whose_name_says_its_device_is_narrowed_to_it(name: str, value: str) -> None:
    report = tainted(rule(name, value, driver=DRIVER, pool="node-1"), count=2)
    assert actions(report) == [NarrowTaintRule(name, DRIVER, "node-1", "gpu-3", 3)]
    remedy = next(each for each in report.remedies or () if isinstance(each.actions[0], NarrowTaintRule))
    assert remedy.verified
    (step,) = remedy.steps
    words = step.commands[0]
    assert words[:3] == ("kubectl", "patch", f"devicetaintrule/{name}")
    assert '"/spec/deviceSelector/device", "value": "gpu-3"' in " ".join(words)
    assert remedy_text(remedy) == f"narrow DeviceTaintRule {name} to device gpu-3 (it now taints 3 devices)"


@pytest.mark.parametrize(
    ("name", "selector", "told"),
    [
        (
            "maintenance",
            {"driver": DRIVER, "pool": "node-1"},
            "all 3 devices of pool node-1 that it selects are then used",
        ),
        ("maintenance", {"driver": DRIVER}, f"all 3 devices of driver {DRIVER} that it selects are then used again"),
        # Nothing says that it is about one of them: no number, another number, two of them.
        ("drain-gpu", {"driver": DRIVER}, "all 3 devices"),
        ("drain-gpu-7", {"driver": DRIVER}, "all 3 devices"),
        ("gpu-1-and-gpu-3", {"driver": DRIVER}, "all 3 devices"),
    ],
)
def test_who_deletes_a_wide_rule_learns_what_it_ends(name: str, selector: dict[str, str], told: str) -> None:
    report = tainted(rule(name, **selector))
    (action,) = actions(report)
    assert isinstance(action, RemoveTaintRule)
    assert action.selected == 3
    assert told in page_of(report)


def test_a_rule_for_one_device_needs_no_caution() -> None:
    report = tainted(rule("drain-gpu3", driver=DRIVER, pool="node-1", device="gpu-3"), names="gpu-3")
    assert actions(report) == [RemoveTaintRule("drain-gpu3", "xid:NoSchedule")]
    assert "used again" not in page_of(report)


def test_a_rule_is_deleted_where_the_device_that_it_names_is_needed_too() -> None:
    report = tainted(rule("drain-gpu3", driver=DRIVER), count=3)
    assert [type(each) for each in actions(report)] == [RemoveTaintRule]


# --- rules with an empty selector -------------------------------------------------------------------------------------

NODES = ("node-1", "node-7", "node-71")
EVERYWHERE = "whose empty deviceSelector selects all devices of all drivers"


def on_nodes(the_rule: dict[str, Any], *, count: int = 2) -> PendingReport:
    slices = [build.slice_(name, build.device("gpu-0"), build.device("gpu-1")) for name in NODES]
    claim = build.claim("claim", build.request(count=count))
    return report_of(*map(build.node, NODES), *slices, the_rule, POD, claim)


@pytest.mark.parametrize(("name", "value"), [("node-7-maintenance", ""), ("maintenance", "node-7")])
def test_a_rule_that_selects_everything_is_narrowed_to_the_node_that_it_names(name: str, value: str) -> None:
    report = on_nodes(rule(name, value))
    assert f"rule {name}, {EVERYWHERE})" in first_line(report)
    narrowed, deleted = actions(report)
    assert narrowed == NarrowTaintRule(name, "", "node-7", "", 6)
    assert isinstance(deleted, RemoveTaintRule)
    remedy = next(each for each in report.remedies or () if isinstance(each.actions[0], NarrowTaintRule))
    assert (remedy.verified, remedy.nodes) == (True, ("node-1", "node-71"))
    assert remedy_text(remedy) == f"narrow DeviceTaintRule {name} to pool node-7 (it now taints 6 devices)"
    (step,) = remedy.steps
    assert step.commands[0][-1] == '[{"op": "add", "path": "/spec/deviceSelector/pool", "value": "node-7"}]'


def test_it_is_narrowed_to_the_device_of_that_node_where_it_names_both() -> None:
    report = on_nodes(rule("node-7-gpu-1-bad"))
    assert actions(report) == [NarrowTaintRule("node-7-gpu-1-bad", DRIVER, "node-7", "gpu-1", 6)]


@pytest.mark.parametrize("name", ["maintenance", "node-7-and-node-1", "node-8-maintenance"])
def test_of_a_rule_that_names_no_node_it_is_said_how_to_narrow_it(name: str) -> None:
    report = on_nodes(rule(name))
    assert [type(each) for each in actions(report)] == [RemoveTaintRule]
    assert EVERYWHERE in first_line(report)
    assert "to keep the taint where it is meant, name its driver, pool or device in the rule" in page_of(report)


def test_a_rule_that_selects_by_something_does_not_select_everything() -> None:
    for selector in ({"driver": DRIVER}, {"device": "gpu-0"}):
        assert "selects all devices" not in first_line(on_nodes(rule("maintenance", **selector)))
