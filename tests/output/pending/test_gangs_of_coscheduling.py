"""Pods of a gang of the coscheduling plugin (scheduler-plugins): none is tried before enough of them exist."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_dra.api.queues import gang_objects
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs import elsewhere
from kubectl_dra.diagnosis.gangs.elsewhere import placed_of
from kubectl_dra.diagnosis.gangs.one_by_one import Placed
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Agreement, Verdict
from kubectl_dra.diagnosis.remedies import find
from kubectl_dra.diagnosis.remedies.records import DeletePod
from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import features
from kubectl_dra.model.gang_objects import QUALIFIED
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.ways import remedies
from tests.output.pending.test_situations import first_line, page_of, refused

LABEL = "scheduling.x-k8s.io/pod-group"
VERSION = "scheduling.x-k8s.io/v1alpha1"
SENTENCE = "its group gang needs 4 pods at a time, and only 2 exist: w-0, w-1."
FEW = "pre-filter pod w-1 cannot find enough sibling pods, current pods number: 2, minMember of group: 4"


def member(name: str, said: str = "", **fields: Any) -> dict[str, Any]:
    pod = build.pod(name, claims=[f"{name}-gpu"], **fields)
    pod["metadata"]["labels"] = {LABEL: "gang"}
    return refused(pod, said) if said else pod


def group(least: int = 4, phase: str = "Pending") -> Source:
    meta = {"name": "gang", "namespace": build.NAMESPACE}
    body = {"apiVersion": VERSION, "kind": "PodGroup", "metadata": meta, "spec": {"minMember": least}}
    return Source(json.dumps({**body, "status": {"phase": phase} if phase else {}}).encode(), VERSION, "PodGroup")


def world_of(
    *pods: dict[str, Any], gang: Source | None = None, devices: int = 4, forbidden: tuple[str, ...] = ()
) -> ClusterState:
    claims = [build.claim(f"{pod['metadata']['name']}-gpu", build.request()) for pod in pods]
    gpus = [build.device(f"gpu-{number}") for number in range(devices)]
    there = facts.inventory([build.node(), build.device_class(), build.slice_("node-1", *gpus), *claims, *pods])
    gangs = gang_objects([gang] if gang is not None else [], () if forbidden else QUALIFIED, forbidden)
    return ClusterState(there.replace(gangs=gangs), facts.evidence(), features(), CLOCK)


def report_of(world: ClusterState, name: str = "w-1") -> PendingReport:
    return pending_report(Diagnoser(world).pod(Key(build.NAMESPACE, name)), world)


def test_a_gang_that_lacks_pods_is_the_reason_whatever_is_free() -> None:
    report = report_of(world_of(member("w-0"), member("w-1"), gang=group()))
    assert (report.verdict, report.code) == (Verdict.UNSCHEDULABLE, Code.POD_GROUP_INCOMPLETE)
    assert first_line(report) == f"Pod ml/w-1 is pending: {SENTENCE}"
    assert report.message == f"0/1 nodes are available: {FEW}."
    page = page_of(report)
    assert f"Create 2 more pods with the label {LABEL}: gang" in page
    assert f"kubectl get pods -n ml -l {LABEL}=gang" in page
    patch = """kubectl patch podgroups.scheduling.x-k8s.io/gang -n ml --type=merge -p '{"spec":{"minMember":2}}'"""
    assert f"To lower it: {patch}" in page
    assert "Assumed to admit the pod" not in page


def test_that_devices_are_lacking_too_comes_after_it() -> None:
    world = world_of(member("w-0"), member("w-1"), gang=group(), devices=0)
    report = report_of(world)
    assert report.code is Code.POD_GROUP_INCOMPLETE
    told = first_line(report)
    assert told.startswith(f"Pod ml/w-1 is pending: {SENTENCE}")
    assert "Besides, " in told
    assert find(world, Diagnoser(world).pod(Key(build.NAMESPACE, "w-1"))).proposals == ()


def test_the_words_of_the_plugin_still_hold() -> None:
    for said in (f"0/1 nodes are available: {FEW}.", f"rejected: {FEW}"):
        report = report_of(world_of(member("w-0"), member("w-1", said), gang=group(phase="")))
        assert (report.code, report.agreement) == (Code.POD_GROUP_INCOMPLETE, Agreement.AGREES)


def test_without_a_sign_of_the_plugin_the_label_is_only_told() -> None:
    """A scheduler without the plugin does not read the label."""
    report = report_of(world_of(member("w-0"), member("w-1"), gang=group(phase="")))
    assert report.code is Code.NOT_SIMULATED
    assert "Coscheduling" in page_of(report)


def test_pods_that_have_ended_count() -> None:
    pods = [member(f"w-{number}") for number in range(3)]
    ended = member("w-3", phase="Succeeded")
    assert report_of(world_of(*pods, ended, gang=group())).code is Code.NOT_SIMULATED
    assert report_of(world_of(*pods, gang=group())).code is Code.POD_GROUP_INCOMPLETE


def test_what_may_not_be_read_is_said() -> None:
    name = "PodGroup.scheduling.x-k8s.io"
    report = report_of(world_of(member("w-0"), member("w-1"), forbidden=(name,)))
    (found,) = [each for each in report.missing if each.kind == name]
    assert found.rule is not None
    assert (found.coverage, found.rule.resource) == ("forbidden", "podgroups")


def test_its_pods_do_not_come_before_others_for_what_goes_free() -> None:
    """They are older, and none of them is tried until the others of the gang exist."""
    holder = build.pod("web", claims=["web-gpu"], node_name="node-1", phase="Running")
    pods = [member("w-0"), member("w-1"), build.pod("late", claims=["late-gpu"])]
    for number, pod in enumerate(pods):
        pod["metadata"]["creationTimestamp"] = f"2026-01-01T00:0{number}:00Z"
    for least, before in ((4, 0), (2, 1)):
        world = world_of(*pods, gang=group(least), devices=1)
        held = build.claim("web-gpu", build.request(), held=[("node-1", "gpu-0")], by=["web"], on="node-1")
        extra = facts.inventory([holder, held])
        inventory = world.inventory.replace(
            pods={**world.inventory.pods, **extra.pods}, claims={**world.inventory.claims, **extra.claims}
        )
        there = ClusterState(inventory, facts.evidence(), features(), CLOCK)
        ways = remedies(there, Diagnoser(there).pod(Key(build.NAMESPACE, "late")))
        (way,) = (each for each in ways if isinstance(each.actions[0], DeletePod))
        assert (least, way.competition.before) == (least, before)


def test_a_large_gang_is_tried_where_that_takes_little() -> None:
    """More than 64 pods; on many nodes so many are not tried."""
    pods = [member(f"w-{number:02}") for number in range(80)]
    world = world_of(*pods, gang=group(80), devices=70)
    found = placed_of(world, world.inventory.pods[Key(build.NAMESPACE, "w-00")])
    assert found is not None
    assert found.number == 70


def of_two_gangs(said: str, devices: int = 4) -> PendingReport:
    """Two gangs of three pods; all of them waited for the rest of theirs."""
    pods = [member(f"{gang}-{number}", said) for gang in ("blue", "red") for number in range(3)]
    for pod in pods:
        pod["metadata"]["labels"] = {LABEL: pod["metadata"]["name"].partition("-")[0]}
        pod["spec"]["schedulerName"] = "with-plugins"
    return report_of(world_of(*pods, devices=devices), "red-1")


GAVE_UP = "0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s at plugin Coscheduling."
RIVAL = "but not together with those of group blue, which waits as well: as long as each gets a part, none can start"


def test_gangs_that_take_a_part_each_are_told_of() -> None:
    found = of_two_gangs(GAVE_UP)
    assert f"all 3 of its waiting pods find a node now, {RIVAL}." in first_line(found)
    page = page_of(found)
    assert "There is room for one of the groups red and blue at a time. Suspend or delete the others" in page
    assert "nothing has to be freed" not in page


def test_of_many_gangs_a_few_are_tried_beside_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, place = [], elsewhere.place_one_by_one

    def counted(state: ClusterState, namespace: str, pods: Sequence[Pod]) -> Placed | None:
        tried.append(len(pods))
        return place(state, namespace, pods)

    monkeypatch.setattr(elsewhere, "place_one_by_one", counted)
    gangs = [f"g{number:02}" for number in range(20)]
    pods = [member(f"{gang}-0", GAVE_UP) for gang in gangs]
    for gang, pod in zip(gangs, pods, strict=True):
        pod["metadata"]["labels"] = {LABEL: gang}
        pod["spec"]["schedulerName"] = "with-plugins"
    world = world_of(*pods, devices=2)
    for gang in gangs:
        assert "has to place it" in first_line(report_of(world, f"{gang}-0"))
    assert tried.count(1) == len(gangs)
    assert 0 < tried.count(2) < 10 * len(gangs)


def test_gangs_that_fit_together_or_did_not_give_up_are_no_rivals() -> None:
    lacks = "0/1 nodes are available: 1 Insufficient cpu."
    for found in (of_two_gangs(GAVE_UP, devices=6), of_two_gangs(lacks)):
        assert "all 3 of its waiting pods find a node now" in first_line(found)
        assert "as well" not in first_line(found)
