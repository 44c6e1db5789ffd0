"""Pods that are placed together: what keeps a group, and each of its pods, from being placed."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import NotFound
from kubectl_dra.diagnosis.records import (
    Agreement,
    Cause,
    GroupError,
    GroupShortage,
    GroupWaits,
    NodeOutcome,
    ObjectRef,
    PodGroupName,
    Verdict,
)
from kubectl_dra.output.pending.gangs import origin
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import plain
from tests.diagnosis.gangs import cluster, gpus, group, member, members, of_group, of_pod
from tests.kit import build

TWO_ON_ONE = [*gpus("node-a", 1), *gpus("node-b", 1)]


def codes(found: Any) -> list[Code]:
    return [cause.code for cause in found.causes]


def sentence(cause: Cause) -> str:
    return plain(reason_sentence(cause))


# --- the whole group does not fit -------------------------------------------------------------------------------------


def test_one_pod_without_a_node_keeps_all_of_them() -> None:
    state = cluster(*TWO_ON_ONE, group(3), *members(3, devices=1))
    found = of_group(state)
    assert (found.verdict, found.placed, found.min_count) == (Verdict.UNSCHEDULABLE, 2, 3)
    assert found.blocking == ObjectRef("Pod", "ml", "train-2")
    assert codes(found) == [Code.POD_GROUP_UNPLACED]
    detail = found.causes[0].detail
    assert isinstance(detail, GroupShortage)
    assert (detail.running, detail.placed, detail.waiting) == (0, 2, 3)
    assert [each.verdict for each in found.members] == [Verdict.UNSCHEDULABLE] * 3
    assert [bool(each.causes) for each in found.members] == [True] * 3
    assert sentence(found.causes[0]) == (
        "PodGroup train needs 3 pods at the same time, and only 2 find a node. "
        "For train-2: no node has a device that matches and is not in use"
    )


def test_what_the_scheduler_said_of_a_group_that_is_short_of_a_pod_still_holds() -> None:
    objects = members(2, devices=1)
    said = "waiting for minCount pods from a gang to appear in scheduling queue"
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
    objects[0]["status"]["conditions"] = [condition]
    found = of_pod(cluster(*TWO_ON_ONE, group(3), *objects), "train-0")
    assert (found.verdict, codes(found)[0]) == (Verdict.GATED, Code.POD_GROUP_INCOMPLETE)
    assert found.agreement is Agreement.AGREES
    # Not where the pods are all there, and one of them is kept out for another reason.
    objects[2]["spec"]["schedulingGates"] = [{"name": "quota"}]
    found = of_pod(cluster(*TWO_ON_ONE, group(2), *objects), "train-0")
    assert (found.verdict, codes(found)[0]) == (Verdict.GATED, Code.POD_GROUP)
    assert found.agreement is Agreement.STALE


def test_a_pod_that_would_fit_says_what_is_in_the_way_of_the_other() -> None:
    state = cluster(*TWO_ON_ONE, group(3), *members(3, devices=1))
    first, last = of_pod(state, "train-0"), of_pod(state, "train-2")
    assert (first.verdict, last.verdict) == (Verdict.UNSCHEDULABLE, Verdict.UNSCHEDULABLE)
    assert codes(first) == codes(last) == [Code.POD_GROUP_UNPLACED, Code.DEVICES_IN_USE]
    assert first.nodes == last.nodes
    assert last.message == "0/2 nodes are available: 2 cannot allocate all claims."
    assert first.message
    assert first.message.startswith("pod group is unschedulable, minCount (3) cannot be satisfied: 2 scheduled, 0")


def test_a_group_that_is_no_gang_places_who_fits() -> None:
    state = cluster(*TWO_ON_ONE, group(None), *members(3, devices=1))
    found = of_group(state)
    assert (found.verdict, found.placed, found.min_count) == (Verdict.SCHEDULABLE, 2, None)
    assert [of_pod(state, f"train-{i}").verdict for i in range(3)] == [
        *(Verdict.SCHEDULABLE, Verdict.SCHEDULABLE, Verdict.UNSCHEDULABLE)
    ]
    # Who is left over is told what is in its own way.
    assert codes(of_pod(state, "train-2")) == [Code.DEVICES_IN_USE]


def test_pods_that_run_count() -> None:
    running = build.pod("train-9", node_name="node-a", phase="Running", schedulingGroup={"podGroupName": "train"})
    state = cluster(*gpus("node-a", 1), group(3), running, *members(2, devices=1))
    found = of_group(state)
    assert [each.node for each in found.running] == ["node-a"]
    assert sentence(found.causes[0]).startswith(
        "PodGroup train needs 3 pods at the same time, and only 2 find a node (1 of them already has one). For train-1:"
    )


def test_where_no_pod_fits_it_is_said_so() -> None:
    state = cluster(build.node("node-a"), group(2), *members(2, devices=1))
    assert sentence(of_group(state).causes[0]) == (
        "PodGroup train needs 2 pods at the same time, and none finds a node. "
        "For train-0: no node has a device of the class"
    )
    alone = cluster(build.node("node-a"), group(None), *members(2, devices=1))
    assert sentence(of_group(alone).causes[0]).startswith("no pod of PodGroup train finds a node. For train-0: ")


def test_a_domain_that_all_pods_share() -> None:
    racks = [build.node(f"node-{i}", labels={"rack": f"r{i}"}, cpu="1") for i in range(2)]
    constraint = {"topology": [{"key": "rack"}]}
    pods = members(2, requests={"cpu": "700m"})
    state = cluster(*racks, group(2, schedulingConstraints=constraint), *pods, TopologyAwareWorkloadScheduling=True)
    found = of_group(state)
    assert found.topology_key == "rack"
    assert sentence(found.causes[0]) == (
        "PodGroup train needs 2 pods in one rack at the same time, and only 1 finds a node. "
        "For train-1: node-0 has only 0.3 of the 0.7 requested CPUs free"
    )


def test_the_first_pod_takes_what_the_next_one_needs() -> None:
    """A claim that is shared is allocated by the first pod, and can't be used where the second has to run."""
    shared = build.claim("shared")
    pods = [
        build.pod(f"train-{i}", claims=["shared"], schedulingGroup={"podGroupName": "train"}, nodeSelector={"n": n})
        for i, n in enumerate("ab")
    ]
    nodes = [build.node(f"node-{n}", labels={"n": n}) for n in "ab"]
    devices = [build.slice_(f"node-{n}", build.device("gpu-0")) for n in "ab"]
    found = of_pod(cluster(*nodes, *devices, group(2), shared, *pods), "train-1")
    assert Code.CLAIM_ELSEWHERE in codes(found)
    cause = next(cause for cause in found.causes if cause.code is Code.CLAIM_ELSEWHERE)
    assert "node-a" in sentence(cause)


def test_preemption_of_others_is_told() -> None:
    low = build.pod("low", node_name="node-a", phase="Running", requests={"cpu": "3"}, priority=-5)
    pods = members(2, requests={"cpu": "2"}, priority=0)
    found = of_group(cluster(build.node("node-a"), group(2, priority=0), low, *pods))
    assert found.preemption is not None
    assert (found.preemption.victims, found.preemption.nodes) == (("ml/low",), ("node-a",))
    own = of_pod(cluster(build.node("node-a"), group(2, priority=0), low, *pods), "train-0").preemption
    assert own is not None
    assert own.victims == ("ml/low",)


# --- not tried --------------------------------------------------------------------------------------------------------


def test_a_group_that_does_not_exist() -> None:
    found = of_pod(cluster(build.node(), group(2, name="tain"), *members(1)), "train-0")
    assert (found.verdict, codes(found)) == (Verdict.GATED, [Code.POD_GROUP_MISSING])
    assert found.causes[0].detail == PodGroupName("train", ("tain",))
    assert sentence(found.causes[0]) == ('it waits for PodGroup "train", which does not exist (did you mean tain?)')
    with pytest.raises(NotFound):
        of_group(cluster())


def test_a_group_with_too_few_pods() -> None:
    state = cluster(build.node(), group(3), *members(2))
    assert [of_pod(state, f"train-{i}").verdict for i in range(2)] == [Verdict.GATED, Verdict.GATED]
    found = of_group(state)
    assert (found.verdict, codes(found)) == (Verdict.GATED, [Code.POD_GROUP_INCOMPLETE])
    assert found.causes == of_pod(state, "train-0").causes
    assert sentence(found.causes[0]) == "PodGroup train needs 3 pods at the same time, and only 2 exist"


def test_one_gated_pod_holds_all() -> None:
    gated = member(2, schedulingGates=[{"name": "example.com/quota"}])
    state = cluster(build.node(), group(2), *members(2), *gated)
    own, other, whole = of_pod(state, "train-2"), of_pod(state, "train-0"), of_group(state)
    assert (own.verdict, codes(own)) == (Verdict.GATED, [Code.SCHEDULING_GATES])
    assert (other.verdict, codes(other)) == (Verdict.GATED, [Code.POD_GROUP])
    assert whole.causes == other.causes
    detail = other.causes[0].detail
    assert isinstance(detail, GroupWaits)
    assert detail.held == (ObjectRef("Pod", "ml", "train-2"),)
    assert sentence(other.causes[0]) == (
        "all pods of PodGroup train wait for train-2: it has the scheduling gate example.com/quota, "
        "which the controller that set it has to remove"
    )


def test_a_missing_claim_of_one_pod_holds_all() -> None:
    missing = build.pod("train-1", claims=["nowhere"], schedulingGroup={"podGroupName": "train"})
    state = cluster(build.node(), group(2), *members(1), missing)
    assert codes(of_pod(state, "train-0")) == [Code.POD_GROUP]
    assert sentence(of_group(state).causes[0]) == (
        'all pods of PodGroup train wait for train-1: it waits for ResourceClaim "nowhere", '
        "which does not exist in its namespace"
    )


# --- errors -----------------------------------------------------------------------------------------------------------


def test_pods_of_different_priority_are_refused_as_a_whole() -> None:
    state = cluster(build.node(), group(2), *member(0), *member(1, priority=7))
    found = of_group(state)
    assert (found.verdict, codes(found)) == (Verdict.SCHEDULER_ERROR, [Code.POD_GROUP_MIXED])
    assert found.message == (
        "all pods in a single pod group should have the same priority as the pod group's priority, got 7 and 0"
    )
    pod = of_pod(state, "train-0")
    assert (pod.verdict, pod.reason, pod.message) == (Verdict.SCHEDULER_ERROR, "SchedulerError", found.message)


def test_an_error_about_one_pod_ends_it_for_all() -> None:
    broken = build.claim("broken", build.request(selector='device.attributes["x.example.com"].y == 1'))
    pods = [*members(2), build.pod("train-5", claims=["broken"], schedulingGroup={"podGroupName": "train"})]
    state = cluster(*gpus("node-a", 1), group(2), *pods, broken)
    found = of_group(state)
    assert codes(found) == [Code.POD_GROUP_ABORTED]
    detail = found.causes[0].detail
    assert isinstance(detail, GroupError)
    assert detail.pod == ObjectRef("Pod", "ml", "train-5")
    assert codes(of_pod(state, "train-5")) == [Code.SELECTOR_FAILS]
    assert codes(of_pod(state, "train-0"))[:2] == [Code.POD_GROUP_ABORTED, Code.SELECTOR_FAILS]


# --- what is open -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Pod", "ResourceClaim", "ResourceSlice", "Node", "PodGroup"])
def test_what_decides_and_was_not_read_leaves_it_open(kind: str) -> None:
    objects = [*TWO_ON_ONE, group(3), *members(3, devices=1)]
    state = cluster(*(each for each in objects if each["kind"] != kind or kind == "Pod"), withheld=(kind,))
    found = of_pod(state, "train-0")
    assert (found.verdict, codes(found)[0]) == (Verdict.UNKNOWN, Code.EVIDENCE_MISSING)
    assert kind in {each.kind for each in found.missing if each.decides}
    if kind != "PodGroup":
        assert of_group(state).verdict is Verdict.UNKNOWN


def test_groups_of_groups_are_named_and_left_open() -> None:
    nested = group(2, parentCompositePodGroupName="all")
    gates = {"TopologyAwareWorkloadScheduling": True, "CompositePodGroup": True}
    state = cluster(build.node(), nested, *members(2), **gates)
    found = of_group(state)
    assert (found.verdict, codes(found)) == (Verdict.UNKNOWN, [Code.NOT_SIMULATED])
    assert found.parent == ObjectRef("CompositePodGroup", "ml", "all")
    assert of_pod(state, "train-0").verdict is Verdict.UNKNOWN


def test_with_the_gates_off_a_group_means_nothing() -> None:
    objects = [*TWO_ON_ONE, group(3), *members(3, devices=1)]
    off = cluster(*objects, GenericWorkload=False, DRAWorkloadResourceClaims=False)
    assert [of_pod(off, f"train-{i}").verdict for i in range(3)] == [Verdict.SCHEDULABLE] * 3


# --- beside the scheduler's words -------------------------------------------------------------------------------------


def test_the_words_on_the_group_are_compared() -> None:
    objects = [*TWO_ON_ONE, *members(3, devices=1)]
    predicted = of_group(cluster(*objects, group(3))).message
    condition = {"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable"}
    agreed = of_group(cluster(*objects, group(3, status={"conditions": [{**condition, "message": predicted}]})))
    assert agreed.agreement is Agreement.AGREES
    once = {**condition, "status": "True", "message": ""}
    assert of_group(cluster(*objects, group(3, status={"conditions": [once]}))).agreement is Agreement.UNCHECKED


def test_nothing_waits() -> None:
    running = build.pod("train-0", node_name="node-a", phase="Running", schedulingGroup={"podGroupName": "train"})
    found = of_group(cluster(build.node("node-a"), group(1), running))
    assert (found.verdict, [each.node for each in found.running]) == (Verdict.NOT_PENDING, ["node-a"])


def test_nodes_where_a_pod_fits_are_named() -> None:
    state = cluster(*TWO_ON_ONE, group(2), *members(2, devices=1))
    found = of_group(state)
    assert (found.verdict, found.placed) == (Verdict.SCHEDULABLE, 2)
    assert sorted(name for each in found.members for name in each.nodes[:1])
    own = of_pod(state, "train-0")
    assert own.verdict is Verdict.SCHEDULABLE
    assert {name for each in own.nodes if each.outcome is NodeOutcome.FITS for name in each.nodes} == {
        "node-a",
        "node-b",
    }


# --- the Workload that explains a group -------------------------------------------------------------------------------


def workload(*templates: tuple[str, int | None], name: str = "job", of: str = "train") -> dict[str, Any]:
    """A Workload of a Job with templates, each of a minCount or none."""
    made = [
        {"name": each, "schedulingPolicy": {"basic": {}} if count is None else {"gang": {"minCount": count}}}
        for each, count in templates
    ]
    reference = {"apiGroup": "batch", "kind": "Job", "name": of}
    spec = {"controllerRef": reference, "podGroupTemplates": made}
    return {"kind": "Workload", "metadata": {"name": name, "namespace": build.NAMESPACE, "uid": name}, "spec": spec}


@pytest.mark.parametrize(
    ("there", "withheld", "state", "said"),
    [
        ([workload(("workers", 2))], (), "same", "Workload job (template workers)"),
        (
            [workload(("workers", 6))],
            (),
            "differs",
            "Workload job (template workers: minCount 6, which groups made later have again)",
        ),
        ([workload(("workers", None))], (), "differs", "Workload job (template workers, which has no minCount)"),
        ([workload(("others", 2))], (), "noTemplate", "Workload job, which has no template workers"),
        (
            [workload(("workers", 2), name="x")],
            (),
            "noWorkload",
            "Workload job (template workers), which does not exist",
        ),
        ([], ("Workload",), "notRead", "Workload job (template workers)"),
    ],
)
def test_the_template_of_a_group(there: list[dict[str, Any]], withheld: tuple[str, ...], state: str, said: str) -> None:
    made = group(2, workloadRef={"workloadName": "job", "templateName": "workers"})
    found = of_group(cluster(build.node("node-a"), made, *members(2), *there, withheld=withheld))
    assert found.template is not None
    assert found.workload is not None
    assert (found.template.name, found.template.state) == ("workers", state)
    assert plain(origin(found.workload, found.template)) == said
    assert of_group(cluster(build.node("node-a"), group(2), *members(2), *there)).template is None


def test_who_was_to_make_a_group_that_is_not_there() -> None:
    pod = build.pod("train-0", schedulingGroup={"podGroupName": "absent"})
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    foreign = workload(("workers", 2), name="foreign", of="other")
    (cause,) = of_pod(cluster(build.node("node-a"), pod, workload(("workers", 2)), foreign), "train-0").causes
    assert cause.detail == PodGroupName("absent", (), ("job",))
    assert plain(reason_sentence(cause)) == (
        'it waits for PodGroup "absent", which does not exist; Workload job of its controller has the templates, but '
        "the controller has made no group of this name"
    )


def test_who_is_evicted_is_open_where_nodes_are_equally_good() -> None:
    low = [build.pod(f"low-{n}", requests={"cpu": "3"}, node_name=f"node-{n}", phase="Running") for n in range(2)]
    waits = members(1, requests={"cpu": "3"}, priority=100)
    one = cluster(build.node("node-0"), group(1, priority=100), low[0], *waits)
    both = cluster(build.node("node-0"), build.node("node-1"), group(1, priority=100), *low, *waits)
    for state, certain in ((one, True), (both, False)):
        preemption = of_group(state).preemption
        assert preemption is not None
        assert (len(preemption.victims), preemption.certain) == (1, certain)


def test_a_pod_of_a_group_is_evicted_after_others_of_its_priority() -> None:
    """Also where its group may be evicted pod by pod, and although it started later (victimRank)."""
    started = {"plain": "2026-01-01T00:00:00Z", "train-9": "2026-01-01T01:00:00Z"}
    low = []
    for name, time in started.items():
        group_of = {"schedulingGroup": {"podGroupName": "train"}} if name == "train-9" else {}
        pod = build.pod(name, requests={"cpu": "2"}, node_name="node-a", phase="Running", priority=0, **group_of)
        pod["status"]["startTime"] = time
        low.append(pod)
    waits = build.pod("high", requests={"cpu": "2"}, priority=100)
    state = cluster(build.node("node-a"), group(1, disruptionMode={"single": {}}), *low, waits)
    preemption = of_pod(state, "high").preemption
    assert preemption is not None
    assert preemption.victims == ("ml/plain",)
