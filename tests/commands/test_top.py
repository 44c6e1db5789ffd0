"""top on the demo cluster: rows add up, idle claims come with a command, and missing rights make numbers bounds."""

from __future__ import annotations

import json

import pytest

from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.devices.claim_page import claim_page
from kubectl_dra.output.top.page import top_page
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.claims.claim import claim_report
from kubectl_dra.reports.top import By, top_report
from kubectl_dra.source.demo import load_demo
from tests.commands.test_whatif import Ask, ask
from tests.diagnosis.gangs import group
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.state import inventory_of, state_of
from tests.output.pending.test_more_situations import holding

__all__ = ["ask"]


@pytest.mark.parametrize("by", By)
def test_the_rows_are_those_of_the_document_largest_first(ask: Ask, by: By) -> None:
    report = json.loads(ask("top", by.value, "-A", "-o", "json").out)
    held = [row["used"]["value"] + (row["partly"] or {"value": 0})["value"] for row in report["rows"]]
    assert held == sorted(held, reverse=True)
    page = ask("top", by.value, "-A").out
    for row in report["rows"]:
        assert (row["name"] or "(several nodes)") in page


def test_numbers_of_nodes_and_namespaces_agree_with_the_devices(ask: Ask) -> None:
    listed = json.loads(ask("get", "devices", "-o", "json").out)["items"]
    nodes = json.loads(ask("top", "nodes", "-o", "json").out)["rows"]
    assert sum(row["devices"]["value"] for row in nodes) == len(listed)
    for state, field in (("free", "free"), ("partly", "partly"), ("inUse", "used")):
        number = sum(each["device"]["state"] == state for each in listed)
        assert sum(row[field]["value"] for row in nodes) == number > 0


def test_what_nobody_uses_is_told_with_the_command_that_frees_it(ask: Ask) -> None:
    found = ask("top").out
    assert "1 device held for nobody, by 1 claim that no pod uses:" in found
    assert "kubectl delete resourceclaim/leftover -n lab" in found
    assert "leftover" not in ask("top", "-n", "ml").out


def test_claims_that_could_not_be_read_make_used_a_lower_bound() -> None:
    inventory, _ = load_demo()
    state = state_of(inventory, facts.evidence("ResourceClaim"))
    report = top_report(state, By.NODES, "")
    assert report.missing
    assert {row.used.bound for row in report.rows} == {Bound.AT_LEAST}
    assert {row.free.bound for row in report.rows if row.free is not None} == {Bound.AT_MOST}


def test_devices_for_pods_that_have_ended_are_idle_and_those_that_a_pod_waits_for_are_not() -> None:
    objects = [
        *(build.node(), build.device_class(), build.slice_("node-1", *(build.device(f"gpu-{n}") for n in range(4)))),
        *holding("runs", "gpu-0"),
        *(build.claim("left", held=[("node-1", "gpu-1")], by=["gone"], on="node-1"),),
        *(build.claim("wanted", held=[("node-1", "gpu-2")], on="node-1"), build.pod("waits", claims=["wanted"])),
        build.claim("forgotten", held=[("node-1", "gpu-3")], on="node-1"),
    ]
    state = state_of(inventory_of(objects), facts.evidence())
    report = top_report(state, By.PODS, "")
    assert [(row.name, row.used.value) for row in report.rows] == [("runs", 1)]
    assert [(each.claim.name, each.reserved) for each in report.idle] == [("forgotten", False), ("left", True)]
    page = " ".join(" ".join(top_page(report, CLOCK.now(), HERE)).split())
    assert "reserved for pods that have ended" in page
    assert page.count("kubectl delete") == 1
    assert "delete resourceclaim/forgotten" in page
    (row,) = top_report(state, By.NODES, "").rows
    assert (row.used.value, row.idle.value) == (4, 2)
    unread = top_report(state_of(inventory_of(objects), facts.evidence("Pod")), By.NAMESPACES, "")
    assert not unread.idle
    assert {row.idle.bound for row in unread.rows} == {Bound.AT_LEAST}


@pytest.mark.parametrize(("phase", "empty"), [("Running", False), ("Succeeded", True), ("", True)])
def test_a_group_without_pods_keeps_its_claims_until_it_is_deleted(phase: str, *, empty: bool) -> None:
    user = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "run", "uid": "g"}
    claim = build.claim("run-gpus", held=[("node-1", "gpu-0")], on="node-1")
    claim["status"]["reservedFor"] = [user]
    pod = build.pod("run-0", node_name="node-1", phase=phase, schedulingGroup={"podGroupName": "run"})
    objects = [build.node(), build.device_class(), build.slice_("node-1", build.device("gpu-0")), claim]
    state = state_of(inventory_of([*objects, *([pod] if phase else [])]), facts.evidence())
    report = top_report(state, By.NODES, "")
    assert [row.idle.value for row in report.rows] == [int(empty)]
    page = " ".join(" ".join(top_page(report, CLOCK.now(), HERE)).split())
    deleting = "kubectl delete podgroups.scheduling.k8s.io/run -n ml"
    assert ("of PodGroup run, which has no pods any more" in page and deleting in page) is empty
    assert "kubectl delete resourceclaim" not in page
    (found,) = state.inventory.claims.values()
    told = " ".join(" ".join(claim_page(claim_report(found, state), CLOCK.now())).split())
    assert (deleting in told) is empty
    assert ("podgroups.scheduling.k8s.io ml/run (has no pods any more)" in told) is empty


@pytest.mark.parametrize(("uid", "empty"), [("g", True), ("another", False)])
def test_a_group_that_was_made_anew_does_not_keep_the_claims_of_the_one_before(uid: str, *, empty: bool) -> None:
    used = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "run", "uid": "g"}
    claim = build.claim("run-gpus", held=[("node-1", "gpu-0")], on="node-1")
    claim["status"]["reservedFor"] = [used]
    there = group(name="run")
    there["metadata"]["uid"] = uid
    objects = [build.node(), build.device_class(), build.slice_("node-1", build.device("gpu-0")), claim, there]
    report = top_report(state_of(inventory_of(objects), facts.evidence()), By.NODES, "")
    page = " ".join(" ".join(top_page(report, CLOCK.now(), HERE)).split())
    assert ("kubectl delete podgroups" in page) is empty
