"""What an expert would say of situations that people meet; docs/development/judged tells them in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef, Verdict
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.output.devices.parts import scope_cell
from kubectl_dra.output.devices.pool_page import pool_page
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.reports.devices.pool import pool_report
from kubectl_dra.reports.pending import failing_pods
from kubectl_dra.reports.pending.drivers import plugins
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK

DRIVER = build.DRIVER
POD = build.pod(claims=["claim"])


def report_of(*objects: dict[str, Any], minor: int | None = None, withheld: Sequence[str] = ()) -> PendingReport:
    classes = [] if any(each["kind"] == "DeviceClass" for each in objects) else [build.device_class()]
    supposed = features() if minor is None else features(minor)
    world = ClusterState(facts.inventory([*classes, *objects]), facts.evidence(*withheld), supposed, CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    return pending_report(found, world, ways=find_remedies(world, found))


def first_line(report: PendingReport) -> str:
    return " ".join(str(pending_summary(report)).split())


def page_of(report: PendingReport) -> str:
    """The whole page as one line."""
    return " ".join(" ".join(map(str, pending_page(report, CLOCK.now()))).split())


def refused(pod: dict[str, Any], message: str, reason: str = "Unschedulable") -> dict[str, Any]:
    """The pod with the scheduler's words, the last thing that was written to it."""
    time = "2026-01-01T00:04:00Z"
    said = {"manager": "kube-scheduler", "operation": "Update", "time": time, "subresource": "status"}
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return pod | {
        "metadata": {**pod["metadata"], "managedFields": [said]},
        "status": {**pod["status"], "conditions": [{**condition, "lastTransitionTime": time}]},
    }


def version(record: dict[str, Any], number: int) -> dict[str, Any]:
    return record | {"metadata": {**record["metadata"], "resourceVersion": str(number)}}


SLICE = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
ALLOCATED = build.claim("fabric", held=[("node-1", "gpu-0")], by=["other"])
SCORING = 'running Score plugins: plugin "DynamicResources" failed with: number of allocations 1 is smaller than …'


@pytest.mark.parametrize(("priority", "said"), [(5, True), (0, False)])
def test_devices_that_pods_of_lower_priority_hold_are_not_taken_from_them(priority: int, said: bool) -> None:
    """What everybody asks who has given a pod a priority: the scheduler does not even try it."""
    low = build.pod("low", node_name="node-1", phase="Running")
    theirs = build.claim("theirs", held=[("node-1", "gpu-0")], by=["low"])
    pod = build.pod(claims=["claim"], priority=priority)
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    report = report_of(build.node(), slice_, theirs, build.claim("claim"), low, pod)
    assert report.code is Code.DEVICES_IN_USE
    assert ("preemption does not free devices" in page_of(report)) is said


def test_who_would_make_room_but_for_devices_is_not_evicted() -> None:
    told = "The scheduler does not evict ml/low, of lower priority (0; its own is 5): preemption does not free devices."
    low = build.pod("low", node_name="node-1", phase="Running", requests={"cpu": "4"})
    theirs = build.claim("theirs", held=[("node-1", "gpu-0")], by=["low"])
    pod = build.pod(claims=["claim"], requests={"cpu": "1"}, priority=5)
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    report = report_of(build.node(), slice_, theirs, build.claim("claim"), low, pod)
    assert report.code is Code.NODE_RESOURCES
    assert told in " ".join(page_of(report).split())
    # A device that nobody who could go holds, or that is free, is another matter.
    others = build.claim("theirs", held=[("node-1", "gpu-0")], by=["elsewhere"])
    for claims in ([others], []):
        page = page_of(report_of(build.node(), slice_, *claims, build.claim("claim"), low, pod))
        assert "preemption does not free devices" not in page
    # So is what the node does not have, whoever holds its devices.
    two = build.claim("claim", build.request(count=2))
    assert told not in page_of(report_of(build.node(), slice_, theirs, two, low, pod))


@pytest.mark.parametrize(
    ("said", "fitting"),
    [
        # More nodes fit now than the other plugin has refused, or lack devices than did.
        ("0/3 nodes are available: 1 licence server says no, 2 cannot allocate all claims.", 2),
        ("0/3 nodes are available: 1 licence server says no, 2 cannot allocate all claims.", 3),
        ("0/2 nodes are available: 1 licence server says no, 1 cannot allocate all claims.", 1),
    ],
)
def test_one_reason_of_another_plugin_beside_too_few_nodes_leaves_the_verdict_open(said: str, fitting: int) -> None:
    nodes = [build.node(f"node-{number}") for number in (1, 2, 3)]
    devices = [build.device("gpu-0"), build.device("gpu-1")]
    slices = [build.slice_(f"node-{n}", *(devices if n <= fitting else devices[:1])) for n in (1, 2, 3)]
    pod = version(refused(build.pod(claims=["claim"]), said), 500)
    report = report_of(*nodes, *slices, build.claim("claim", build.request(count=2)), pod)
    assert (report.verdict, report.code) == (Verdict.UNKNOWN, Code.OTHER_PLUGIN)
    unknown = (
        "whether it can be scheduled is unknown: at the last attempt an unknown plugin says: licence server says no."
    )
    assert first_line(report).endswith(unknown)


def test_a_pod_that_may_be_being_bound_is_told() -> None:
    low = build.pod("low", claims=["other"], requests={"cpu": "4"}, priority=-1)
    low["status"]["nominatedNodeName"] = "node-1"
    pod = build.pod(claims=["claim"], requests={"cpu": "1"})
    report = report_of(build.node(), SLICE, build.claim("claim"), build.claim("other"), low, pod)
    assert report.verdict is Verdict.SCHEDULABLE
    text = "ml/low, with a lower priority, is nominated for the node: if the scheduler is binding it already, the pod"
    assert text in page_of(report)


# --- the scheduler's newest words contradict what the objects say -----------------------------------------------------


def test_an_error_of_scoring_is_the_verdict_and_no_reason_to_wait() -> None:
    pod = refused(build.pod(claims=["claim"]), SCORING, "SchedulerError")
    objects = [version(each, 5) for each in (build.device_class(), build.node(), SLICE, build.claim("claim"))]
    report = report_of(*objects, pod)
    assert (report.verdict, report.code) == (Verdict.SCHEDULER_ERROR, Code.SCORING_FAILED)
    assert "although it would fit on node-1" in first_line(report)
    page = page_of(report)
    assert "matches this diagnosis" in page
    assert "would fit now" not in page
    assert "nodeSelector" in page


def test_an_error_of_scoring_before_the_last_change_leaves_the_answer_open() -> None:
    pod = refused(build.pod(claims=["claim"]), SCORING, "SchedulerError")
    report = report_of(build.node(), SLICE, build.claim("claim"), pod)
    assert report.verdict is Verdict.UNKNOWN
    assert report.code is Code.SCORING_FAILED
    assert "would fit now" not in page_of(report)


SERVING = build.device_class(extendedResourceName="example.com/gpu")
ASKS = build.pod(requests={"example.com/gpu": "2"})
INSUFFICIENT = "0/1 nodes are available: 1 Insufficient example.com/gpu. preemption: 0/1 nodes are available: 1 No …"


def test_a_scheduler_that_counts_only_what_nodes_offer_is_named() -> None:
    objects = [version(each, 5) for each in (SERVING, build.node(), SLICE)]
    report = report_of(*objects, refused(ASKS, INSUFFICIENT))
    assert (report.verdict, report.code) == (Verdict.UNSCHEDULABLE, Code.EXTENDED_RESOURCE_IGNORED)
    text = first_line(report)
    assert "DeviceClass gpu.example.com serves example.com/gpu" in text
    assert "DRAExtendedResource" in text
    assert all(not remedy.verified for remedy in report.remedies)
    assert "matches this diagnosis" in page_of(report)


def test_where_the_order_is_not_known_both_explanations_are_given() -> None:
    report = report_of(SERVING, build.node(), SLICE, refused(ASKS, INSUFFICIENT))
    assert (report.verdict, report.code) == (Verdict.UNKNOWN, Code.EXTENDED_RESOURCE_IGNORED)
    assert "DRAExtendedResource" in page_of(report)


def test_where_nodes_came_or_went_since_both_explanations_are_given() -> None:
    objects = [version(each, 5) for each in (SERVING, build.node(), SLICE)]
    words = INSUFFICIENT.replace("0/1 nodes", "0/2 nodes").replace("1 Insufficient", "2 Insufficient")
    report = report_of(*objects, refused(ASKS, words))
    assert (report.verdict, report.code) == (Verdict.UNKNOWN, Code.EXTENDED_RESOURCE_IGNORED)


def test_a_node_that_offers_none_of_it_any_more_is_served_from_the_class() -> None:
    node = build.node(**{"example.com/gpu": "0"})
    report = report_of(*[version(each, 5) for each in (SERVING, node, SLICE)], refused(ASKS, INSUFFICIENT))
    assert (report.verdict, report.code) == (Verdict.UNSCHEDULABLE, Code.EXTENDED_RESOURCE_IGNORED)


def test_a_class_that_serves_it_since_makes_the_words_old() -> None:
    late = build.device_class(extendedResourceName="example.com/gpu")
    late["metadata"]["creationTimestamp"] = "2026-01-02T00:00:00Z"
    pod = refused(ASKS, INSUFFICIENT)
    pod["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    report = report_of(version(late, 200), build.node(), SLICE, pod)
    assert report.verdict is Verdict.SCHEDULABLE


def test_a_node_that_offers_the_resource_itself_may_have_been_full() -> None:
    offering = build.node(**{"example.com/gpu": "2"})
    report = report_of(version(SERVING, 5), offering, SLICE, refused(ASKS, INSUFFICIENT))
    assert report.verdict is Verdict.SCHEDULABLE


# --- objects that changed or are called otherwise ---------------------------------------------------------------------


def template(selector: str, **fields: Any) -> dict[str, Any]:
    spec = {"spec": {"devices": {"requests": [build.request(selector=selector, **fields)]}}}
    return {"kind": "ResourceClaimTemplate", "metadata": {"name": "gpus", "namespace": "ml"}, "spec": spec}


def from_template(**pod: Any) -> dict[str, Any]:
    made = build.pod(templates=["gpus"], **pod)
    statuses = [{"name": "gpus", "resourceClaimName": "pod-gpus"}]
    return made | {"status": {**made["status"], "resourceClaimStatuses": statuses}}


def made_claim(selector: str, **fields: Any) -> dict[str, Any]:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}
    metadata = {"ownerReferences": [owner], "annotations": {"resource.kubernetes.io/pod-claim-name": "gpus"}}
    return build.claim("pod-gpus", build.request(selector=selector, **fields), metadata=metadata)


MODEL = f'device.attributes["{DRIVER}"].model == "{{}}"'
H100 = build.slice_("node-1", *(build.device(f"gpu-{i}", attributes={"model": "H100"}) for i in range(2)))


def test_a_template_that_was_changed_since_is_taken_up_by_a_new_pod() -> None:
    objects = [template(MODEL.format("H100")), made_claim(MODEL.format("A100"))]
    report = report_of(build.node(), H100, *objects, from_template())
    page = page_of(report)
    assert "template gpus has changed since" in first_line(report)
    assert [remedy.kind for remedy in report.remedies] == [RemedyKind.RENEW_CLAIM]
    (way,) = report.remedies
    assert (way.verified, way.nodes) == (True, ("node-1",))
    # The template holds a change of somebody's: it is not written over with what the old claim says.
    assert not any("resourceclaimtemplate" in str(step).lower() for step in way.steps)
    assert "recreate the pod" in page


def test_a_changed_template_that_does_not_fit_either_is_edited_as_it_is_now() -> None:
    objects = [template(MODEL.format("H100"), count=3), made_claim(MODEL.format("A100"))]
    report = report_of(build.node(), H100, *objects, from_template())
    (way,) = [remedy for remedy in report.remedies if remedy.verified][:1]
    manifests = [step.manifest for step in way.steps if step.manifest is not None]
    (request,) = manifests[0]["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"]["count"] == 2
    assert "H100" in str(request)


def test_an_unchanged_template_is_not_spoken_of() -> None:
    objects = [template(MODEL.format("A100")), made_claim(MODEL.format("A100"))]
    report = report_of(build.node(), H100, *objects, from_template())
    assert "has changed" not in page_of(report)
    assert RemedyKind.RENEW_CLAIM not in {remedy.kind for remedy in report.remedies}


def test_a_class_that_exists_and_serves_the_driver_is_offered_instead_of_a_missing_one() -> None:
    other = build.device_class("cpus")
    other["spec"]["selectors"][0]["cel"]["expression"] = 'device.driver == "cpu.example.com"'
    objects = [build.device_class("fast-gpus"), other, build.node(), SLICE, POD, build.claim("claim")]
    report = report_of(*objects)
    page = page_of(report)
    assert report.code is Code.CLASS_MISSING
    (way,) = [remedy for remedy in report.remedies if remedy.verified]
    assert f"use class fast-gpus instead of {DRIVER}" in page
    assert way.nodes == ("node-1",)
    assert "fast-gpus (2 devices)" in page
    assert "cpus (no devices)" in page


def test_the_command_of_the_only_way_out_stands_on_the_page() -> None:
    cordoned = build.node()
    cordoned["spec"] = {"unschedulable": True}
    page = page_of(report_of(cordoned, SLICE, POD, build.claim("claim")))
    assert "Command: kubectl uncordon node/node-1" in page
    assert "--remedy" not in page


# --- the driver, the kubelet, autoscalers -----------------------------------------------------------------------------


def driver_pod(name: str = "gpu-dra-plugin-x7k2p", node: str = "node-1", **status: Any) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "gpu-dra-plugin", "uid": "ds", "controller": True}
    made = build.pod(name, node_name=node, phase="Running")
    made["metadata"] |= {"namespace": "gpu-dra-driver", "ownerReferences": [owner]}
    container = {"name": "gpus", "ready": False, **status}
    return made | {"status": {"phase": "Running", "containerStatuses": [container]}}


CRASHING = driver_pod(
    restartCount=12,
    state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
    lastState={"terminated": {"exitCode": 1, "reason": "Error", "message": "failed to initialize\nNVML"}},
)


def test_a_driver_that_crashes_is_why_nothing_is_published() -> None:
    report = report_of(build.node(), CRASHING, POD, build.claim("claim"))
    assert report.code is Code.NO_DEVICE_IN_CLASS
    assert "The driver does not run: gpu-dra-plugin-x7k2p (CrashLoopBackOff)" in first_line(report)
    page = page_of(report)
    assert "12 restarts: failed to initialize NVML" in page
    assert "kubectl logs pod/gpu-dra-plugin-x7k2p -n gpu-dra-driver --all-containers --previous" in page


def test_a_plugin_is_known_by_the_name_of_its_driver_without_dots() -> None:
    records = [driver_pod("dranet-q8w2z"), driver_pod("gpu-dra-plugin-b2")]
    assert [each.name for each in plugins("dra.net", "node-1", facts.inventory(records))] == ["dranet-q8w2z"]


def test_the_last_words_of_a_container_that_ended_are_one_line() -> None:
    ended = driver_pod(state={"terminated": {"exitCode": 1, "reason": "Error", "message": "failed to\ninitialize\n"}})
    (failing,) = report_of(build.node(), ended, POD, build.claim("claim")).failing
    assert (failing.state, failing.message) == ("Error", "failed to initialize")


def test_the_pods_of_a_driver_are_looked_for_once_for_all_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counting(driver: str, *others: Any) -> tuple[ObjectRef, ...]:
        asked.append(driver)
        return plugins(driver, *others)

    monkeypatch.setattr(failing_pods, "plugins", counting)
    records = [build.node(), build.device_class(), CRASHING, POD, build.claim("claim")]
    world = ClusterState(facts.inventory(records), facts.evidence(), features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    first, second = pending_report(found, world), pending_report(found, world)
    assert [each.pod.name for each in first.failing] == ["gpu-dra-plugin-x7k2p"]
    assert (second.failing, asked) == (first.failing, [DRIVER])


def test_a_driver_whose_pod_cannot_start_on_a_new_node_is_why_that_node_has_no_devices() -> None:
    """It has not run and so has not crashed; the kubelet's warning says what keeps it."""
    stuck = build.pod("gpu-dra-plugin-x7k2p", node_name="node-2")
    stuck["metadata"]["ownerReferences"] = driver_pod()["metadata"]["ownerReferences"]
    creating = {"name": "gpus", "ready": False, "state": {"waiting": {"reason": "ContainerCreating"}}}
    stuck["status"] = {"phase": "Pending", "containerStatuses": [creating]}
    warned = build.event(stuck["metadata"]["name"], "FailedMount", "hostPath type check failed: /opt/nvidia")
    warned |= {"type": "Warning", "source": {"component": "kubelet"}}
    held = [build.claim("held", held=[("node-1", "gpu-0")], by=["other"], on="node-1")]
    held.append(build.pod("other", claims=["held"], node_name="node-1", phase="Running"))
    objects = [build.node(), build.node("node-2"), build.slice_("node-1", build.device("gpu-0")), *held]
    report = report_of(*objects, stuck, warned, POD, build.claim("claim"))
    assert "On node-2 the driver does not run (FailedMount)" in first_line(report)
    page = page_of(report)
    assert "hostPath type check failed: /opt/nvidia" in page
    assert "kubectl describe pod/gpu-dra-plugin-x7k2p -n ml" in page
    # Its node has what lacks, as soon as it runs.
    assert "add hardware" not in page
    # Without the warning it is only starting.
    assert "does not run" not in first_line(report_of(*objects, stuck, POD, build.claim("claim")))


def test_a_driver_that_runs_is_not_blamed() -> None:
    running = driver_pod(ready=True, state={"running": {}})
    report = report_of(build.node(), running, POD, build.claim("claim"))
    assert report.failing == ()
    assert "does not run" not in page_of(report)


def test_a_driver_pod_that_is_not_ready_is_named_where_it_fails_to_prepare() -> None:
    waiting = driver_pod(state={"running": {}})
    held = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
    words = "Failed to prepare dynamic resources: NodePrepareResources failed for ResourceClaim claim: not ready yet"
    said = build.event("pod", "FailedPrepareDynamicResources", words)
    placed = build.pod(claims=["claim"], node_name="node-1")
    report = report_of(build.node(), SLICE, waiting, held, said, placed)
    assert report.code is Code.DRIVER_FAILED
    assert "gpu-dra-driver/gpu-dra-plugin-x7k2p on node-1: not ready" in page_of(report)
    # Its words are in the first line, and stand there only once.
    assert page_of(report).count("not ready yet") == 1


def test_a_driver_that_does_not_run_on_another_node_is_why_that_one_has_no_devices() -> None:
    pulling = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
    taken = build.claim("theirs", held=[("node-1", "gpu-0"), ("node-1", "gpu-1")], by=["theirs"])
    theirs = build.pod("theirs", claims=["theirs"], node_name="node-1", phase="Running")
    cluster = [build.node(), build.node("node-2"), SLICE, taken, theirs, POD, build.claim("claim")]
    report = report_of(*cluster, driver_pod(node="node-2", state=pulling))
    assert report.code is Code.DEVICES_IN_USE
    assert first_line(report).endswith(". On node-2 the driver does not run (ImagePullBackOff).")
    page = page_of(report)
    assert "gpu-dra-driver/gpu-dra-plugin-x7k2p on node-2: ImagePullBackOff: Back-off pulling image" in page
    repair = (
        "Correct the name of the image, or give the pod the Secret that its registry needs. Once it runs, it publishes"
    )
    assert f"{repair} the devices of node-2. kubectl describe pod/gpu-dra-plugin-x7k2p -n gpu-dra-driver" in page
    assert page.index(repair) < page.index("delete pod ml/theirs")
    crashed = page_of(report_of(*cluster, CRASHING | {"spec": driver_pod(node="node-2")["spec"]}))
    assert "kubectl logs pod/gpu-dra-plugin-x7k2p -n gpu-dra-driver --all-containers --previous" in crashed
    # What has devices is not for want of a driver, nor is a node that the pod may not run on.
    assert report_of(*cluster, driver_pod(node="node-1", state=pulling)).failing == ()
    bound = {**POD, "spec": {**POD["spec"], "nodeSelector": {"kubernetes.io/hostname": "node-1"}}}
    nodes = [build.node(name, labels={"kubernetes.io/hostname": name}) for name in ("node-1", "node-2")]
    rest = [SLICE, taken, theirs, bound, build.claim("claim"), driver_pod(node="node-2", state=pulling)]
    assert report_of(*nodes, *rest).failing == ()


def test_devices_of_a_node_that_is_gone_are_called_so() -> None:
    report = report_of(build.node("node-2"), SLICE, POD, build.claim("claim"))
    assert report.code is Code.DEVICES_OF_GONE_NODES
    assert "published for node-1, which no longer exists" in first_line(report)
    page = page_of(report)
    assert "kubectl get daemonsets -A" in page
    assert "kubectl delete resourceslices --field-selector spec.nodeName=node-1" in page
    assert "publish one more device" not in page


TWO_H100 = [build.device(name, attributes={"model": "H100"}) for name in ("gpu-0", "gpu-1")]
MISNAMED = build.slice_("node-1.corp", *TWO_H100)
H100_ONLY = 'device.attributes["gpu.example.com"].model == "H100"'
WANTS_H100 = build.claim("claim", build.request(selector=H100_ONLY))


def test_devices_that_match_and_are_published_for_a_node_by_another_name_are_not_called_missing() -> None:
    """Drivers that take the host's name: what matches is there, and the scheduler finds no node for it."""
    other = build.slice_("node-2", build.device("gpu-0", attributes={"model": "L4"}))
    report = report_of(build.node("node-1"), build.node("node-2"), MISNAMED, other, POD, WANTS_H100)
    assert report.code is Code.DEVICES_OF_GONE_NODES
    line = first_line(report)
    assert "both H100 devices are published for node-1.corp, which does not exist (node-1 may be meant)" in line
    assert "their model is" not in line
    page = page_of(report)
    assert "the driver has to publish them under its Kubernetes name, node-1, not under the host name" in page
    assert "kubectl delete resourceslices" not in page


def test_beside_devices_in_use_those_of_a_node_by_another_name_are_told_of() -> None:
    holder = build.pod("holder", node_name="node-2", phase="Running")
    taken = build.claim("taken", held=[("node-2", "gpu-0")], by=["holder"])
    own = build.slice_("node-2", build.device("gpu-0", attributes={"model": "H100"}))
    nodes = [build.node("node-1"), build.node("node-2")]
    report = report_of(*nodes, MISNAMED, own, holder, taken, POD, WANTS_H100)
    assert report.code is Code.DEVICES_IN_USE
    told = "In addition, 2 H100 devices are published for node-1.corp, which does not exist (node-1 may be meant)"
    assert told in first_line(report)
    assert "the driver has to publish them under its Kubernetes name, node-1" in page_of(report)
    # Of what no selector of the claim admits nothing is said.
    others = build.slice_("node-1.corp", build.device("gpu-0", attributes={"model": "L4"}))
    assert "node-1.corp" not in page_of(report_of(*nodes, others, own, holder, taken, POD, WANTS_H100))


def test_the_page_of_a_pool_of_a_node_by_another_name_says_what_the_driver_has_to_do() -> None:
    state = ClusterState(facts.inventory([build.node("node-1"), MISNAMED]), facts.evidence(), features(), CLOCK)
    told = " ".join(" ".join(pool_page(pool_report(PoolId(DRIVER, "node-1.corp"), state), CLOCK.now())).split())
    assert "has to publish them under its Kubernetes name, node-1, not under the host name" in told
    assert scope_cell(pool_report(PoolId(DRIVER, "node-1.corp"), state).scope) == "node-1.corp (no such node)"
    own = build.slice_("node-1", build.device("gpu-0"))
    state = ClusterState(facts.inventory([build.node("node-1"), own]), facts.evidence(), features(), CLOCK)
    assert "host name" not in " ".join(pool_page(pool_report(PoolId(DRIVER, "node-1"), state), CLOCK.now()))


def test_a_class_of_which_all_devices_are_published_by_a_host_name_names_the_node() -> None:
    report = report_of(build.node("node-1"), MISNAMED, POD, build.claim("claim"))
    assert "published for node-1.corp, which does not exist (node-1 may be meant)" in first_line(report)


def test_devices_of_another_node_that_exists_are_not() -> None:
    objects = [build.node("node-2"), build.node(), SLICE, build.claim("claim")]
    pod = build.pod(claims=["claim"], nodeName="", nodeSelector={"zone": "b"})
    assert report_of(*objects, pod).code is not Code.DEVICES_OF_GONE_NODES


def test_a_kubelet_that_is_older_than_the_api_is_named_with_its_version() -> None:
    node = build.node()
    node["status"]["nodeInfo"] = {"kubeletVersion": "v1.32.5"}
    text = (
        "Failed to prepare dynamic resources: failed to fetch ResourceClaim claim referenced by pod pod: the server "
        "could not find the requested resource"
    )
    said = build.event("pod", "FailedPrepareDynamicResources", text)
    held = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
    report = report_of(node, SLICE, held, said, build.pod(claims=["claim"], node_name="node-1"))
    assert report.code is Code.KUBELET_API
    assert "node-1 (kubelet v1.32.5)" in first_line(report)
    assert "v1beta1" in page_of(report)


def said_by(component: str, reason: str, message: str) -> dict[str, Any]:
    return {**build.event("pod", reason, message, time=CLOCK.now().isoformat()), "source": {"component": component}}


def test_what_an_autoscaler_says_of_the_pod_is_told() -> None:
    words = "Failed to schedule pod, pod has Dynamic Resource Allocation requirements"
    report = report_of(build.node(), POD, build.claim("claim"), said_by("karpenter", "FailedScheduling", words))
    assert "Karpenter adds no node for it" in first_line(report)
    assert words in page_of(report)


def test_an_autoscaler_that_adds_a_node_is_told_too() -> None:
    said = said_by("cluster-autoscaler", "TriggeredScaleUp", "pod triggered scale-up: [{group 0->1 (max: 4)}]")
    report = report_of(build.node(), POD, build.claim("claim"), said)
    assert "The cluster autoscaler is adding a node for it" in first_line(report)


@pytest.mark.parametrize(("minutes", "joined"), [(20, False), (2, True)])
def test_a_node_that_has_joined_since_is_not_being_added_any_more(minutes: int, joined: bool) -> None:
    node = build.node("node-2")
    node["metadata"]["creationTimestamp"] = (CLOCK.now() - timedelta(minutes=minutes)).isoformat()
    time = (CLOCK.now() - timedelta(minutes=8)).isoformat()
    said = build.event("pod", "TriggeredScaleUp", "pod triggered scale-up: [{group 0->1 (max: 4)}]", time=time)
    said |= {"source": {"component": "cluster-autoscaler"}}
    line = first_line(report_of(build.node(), node, POD, build.claim("claim"), said))
    assert ("is adding a node" in line) is not joined
    assert ("The cluster autoscaler added a node for it, and node-2 has joined since" in line) is joined


def test_where_to_look_at_a_node_that_an_autoscaler_added_and_that_is_not_ready() -> None:
    node = build.node("node-2")
    node["metadata"]["creationTimestamp"] = (CLOCK.now() - timedelta(minutes=2)).isoformat()
    node["spec"]["taints"] = [{"key": "node.cilium.io/agent-not-ready", "value": "true", "effect": "NoSchedule"}]
    said = build.event("pod", "TriggeredScaleUp", "pod triggered scale-up: [{group 0->1 (max: 4)}]")
    said |= {"source": {"component": "cluster-autoscaler"}, "lastTimestamp": CLOCK.now().isoformat()}
    held = build.claim("theirs", held=[("node-1", "gpu-0")], by=["other"])
    objects = [build.node(), node, build.slice_("node-1", build.device("gpu-0")), held, POD, build.claim("claim")]
    assert "kubectl describe node/node-2" in page_of(report_of(*objects, said))
    assert "kubectl describe node/node-2" not in page_of(report_of(*objects))


@pytest.mark.parametrize(("minutes", "adds"), [(14, True), (16, False)])
def test_a_node_that_did_not_come_in_time_is_not_being_added(minutes: int, adds: bool) -> None:
    """Autoscalers give up a node after 15 minutes."""
    time = (CLOCK.now() - timedelta(minutes=minutes)).isoformat()
    said = build.event("pod", "TriggeredScaleUp", "pod triggered scale-up: [{group 0->1 (max: 4)}]", time=time)
    report = report_of(build.node(), POD, build.claim("claim"), {**said, "source": {"component": "cluster-autoscaler"}})
    assert ("is adding a node for it" in first_line(report)) is adds
    assert "[{group 0->1 (max: 4)}]" in page_of(report)


def test_the_default_schedulers_events_are_not_an_autoscalers() -> None:
    said = said_by("default-scheduler", "FailedScheduling", "0/1 nodes are available")
    assert report_of(build.node(), POD, build.claim("claim"), said).autoscaler is None


def test_a_kubelet_that_is_too_old_gets_no_more_pods_meanwhile() -> None:
    text = "Failed to prepare dynamic resources: failed to fetch ResourceClaim claim referenced by pod pod: the server "
    said = build.event("pod", "FailedPrepareDynamicResources", text + "could not find the requested resource")
    held = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
    page = page_of(report_of(build.node(), SLICE, held, said, build.pod(claims=["claim"], node_name="node-1")))
    assert "the server could not find the requested resource" in page
    assert "kubectl cordon node/node-1" in page
    assert "kubectl logs" not in page


# --- shares, partitions, alternatives ---------------------------------------------------------------------------------


RANGE = {"validRange": {"min": "10Gi", "step": "10Gi", "max": "80Gi"}, "default": "10Gi"}


def share(number: int, requested: str, consumed: str) -> dict[str, Any]:
    made = build.claim(
        f"llm-{number}-gpu",
        build.request(capacity={"requests": {"memory": requested}}),
        held=[("node-1", "gpu-0")],
        by=[f"llm-{number}"],
        on="node-1",
    )
    (result,) = made["status"]["allocation"]["devices"]["results"]
    result |= {"shareID": f"00000000-0000-4000-8000-00000000000{number}", "consumedCapacity": {"memory": consumed}}
    return made


def sharing(*consumed: tuple[str, str]) -> list[dict[str, Any]]:
    capacity = {"memory": {"value": "80Gi", "requestPolicy": RANGE}}
    device = build.device("gpu-0", capacity=capacity, allowMultipleAllocations=True)
    claims = [share(i, *amounts) for i, amounts in enumerate(consumed)]
    pods = [build.pod(f"llm-{i}", claims=[f"llm-{i}-gpu"], node_name="node-1") for i in range(len(consumed))]
    return [build.node(cpu="64"), build.slice_("node-1", device), *claims, *pods]


def test_an_amount_that_the_device_rounds_up_is_told_with_who_uses_the_rest() -> None:
    asked = build.claim("claim", build.request(capacity={"requests": {"memory": "11Gi"}}))
    held = [("11Gi", "20Gi"), ("15Gi", "20Gi"), ("30Gi", "30Gi")]
    report = report_of(*sharing(*held), POD, asked)
    text = first_line(report)
    told = (
        "with 20Gi of memory left (11Gi rounded up by the device's request policy): on node-1, gpu-0 has 10Gi of 80Gi"
    )
    assert f"{told} left (llm-0, llm-1 and llm-2 use the rest)" in text
    page = page_of(report)
    assert "delete pod ml/llm-0: frees 20Gi memory of gpu-0" in page
    assert "request 10Gi of memory instead of 11Gi" in page


def test_of_nodes_that_are_alike_nobody_is_named_who_is_on_one_of_them() -> None:
    objects: list[dict[str, Any]] = []
    for number in (1, 2):
        node, name = f"node-{number}", f"llm-{number}"
        device = build.device("gpu-0", capacity={"memory": {"value": "80Gi"}}, allowMultipleAllocations=True)
        held = share(number, "70Gi", "70Gi")
        held["status"]["allocation"]["devices"]["results"][0] |= {"pool": node}
        held["status"]["reservedFor"] = [{"resource": "pods", "name": name, "uid": f"pod-{name}"}]
        objects += [build.node(node), build.slice_(node, device), build.pod(name, node_name=node), held]
    asked = build.claim("claim", build.request(capacity={"requests": {"memory": "20Gi"}}))
    text = first_line(report_of(*objects, POD, asked))
    assert "on node-1 and node-2" in text
    assert "10Gi of 80Gi left" in text
    assert "llm-" not in text


def partition(name: str, gpu: int, memory: str) -> dict[str, Any]:
    drawn = [{"counterSet": f"gpu-{gpu}-counters", "counters": {"memory": {"value": memory}}}]
    kind = "mig" if "mig" in name else "gpu"
    return build.device(name, attributes={"type": kind}, consumesCounters=drawn)


def test_partitions_in_use_are_named_with_their_pods() -> None:
    devices = [partition(f"gpu-{i}", i, "80Gi") for i in range(2)]
    devices += [partition(f"gpu-{i}-mig-0", i, "10Gi") for i in range(2)]
    counters = [{"name": f"gpu-{i}-counters", "counters": {"memory": {"value": "80Gi"}}} for i in range(2)]
    slices = build.slice_("node-1", *devices)
    declaring = build.slice_("node-1", sharedCounters=counters)
    declaring["metadata"]["name"] += "-counters"
    for each in (slices, declaring):
        each["spec"]["pool"]["resourceSliceCount"] = 2
    del declaring["spec"]["devices"]
    held = [build.claim(f"nb-{i}", held=[("node-1", f"gpu-{i}-mig-0")], by=[f"nb-{i}"], on="node-1") for i in range(2)]
    pods = [build.pod(f"nb-{i}", claims=[f"nb-{i}"], node_name="node-1") for i in range(2)]
    asked = build.claim("claim", build.request(selector=f'device.attributes["{DRIVER}"].type == "gpu"'))
    report = report_of(build.node(), declaring, slices, *held, *pods, POD, asked)
    assert report.code is Code.COUNTERS_EXHAUSTED
    text = first_line(report)
    assert "both are blocked by other partitions of the same hardware" in text
    assert "nb-0 uses the rest" in text
    assert "nb-1 uses the rest" in text


def slots(name: str, kind: str, **drawn: str) -> dict[str, Any]:
    """A partition that takes slots of one card, by their numbers."""
    counters = {f"slot-{slot.removeprefix('s')}": {"value": value} for slot, value in drawn.items()}
    consumed = [{"counterSet": "card", "counters": counters}]
    return build.device(name, attributes={"type": kind}, consumesCounters=consumed)


def test_only_those_who_use_a_counter_are_said_to_use_the_rest_of_it() -> None:
    """Of the same card nb-0 has slot 0 and nb-1 slot 2; each large partition lacks one of them."""
    small = [slots("small-0", "small", s0="1", s2="0"), slots("small-2", "small", s2="1")]
    large = [slots("large-0", "large", s0="1", s1="1"), slots("large-2", "large", s2="1", s3="1")]
    slices = build.slice_("node-1", *small, *large)
    counters = {f"slot-{number}": {"value": "1"} for number in range(4)}
    declaring = build.slice_("node-1", sharedCounters=[{"name": "card", "counters": counters}])
    declaring["metadata"]["name"] += "-counters"
    for each in (slices, declaring):
        each["spec"]["pool"]["resourceSliceCount"] = 2
    del declaring["spec"]["devices"]
    held = [
        build.claim(f"nb-{n}", held=[("node-1", f"small-{slot}")], by=[f"nb-{n}"], on="node-1")
        for n, slot in enumerate((0, 2))
    ]
    pods = [build.pod(f"nb-{n}", claims=[f"nb-{n}"], node_name="node-1") for n in range(2)]
    asked = build.claim("claim", build.request(selector=f'device.attributes["{DRIVER}"].type == "large"'))
    text = first_line(report_of(build.node(), declaring, slices, *held, *pods, POD, asked))
    assert "large-0: nb-0 uses card/slot-0" in text
    assert "large-2: nb-1 uses card/slot-2" in text


def test_alternatives_are_told_one_by_one_where_one_of_them_is_on_a_node_that_is_ruled_out() -> None:
    def model(name: str) -> str:
        return MODEL.format(name)

    def alternative(name: str, count: int = 1) -> dict[str, Any]:
        exactly = build.request(count=count, selector=model(name))["exactly"]
        return {"name": name.lower(), **exactly}

    def gpus(node: str, name: str) -> dict[str, Any]:
        return build.slice_(node, *(build.device(f"gpu-{i}", attributes={"model": name}) for i in range(2)))

    tainted = build.node("node-3")
    tainted["spec"] = {"taints": [{"key": "team", "value": "video", "effect": "NoSchedule"}]}
    busy = build.claim("busy", held=[("node-1", "gpu-0"), ("node-1", "gpu-1")], by=["serve"], on="node-1")
    wish = {"name": "gpu", "firstAvailable": [alternative("H100"), alternative("A100", 4), alternative("L40")]}
    report = report_of(
        build.node(),
        build.node("node-2"),
        tainted,
        *(gpus(node, name) for node, name in (("node-1", "H100"), ("node-2", "A100"), ("node-3", "L40"))),
        busy,
        build.pod("serve", claims=["busy"], node_name="node-1"),
        POD,
        build.claim("claim", wish),
    )
    text = first_line(report)
    assert "node-3 has the devices but has the taint team=video:NoSchedule" in text
    assert "h100: no node has a free H100 device" in text
    assert "a100: no node has 4 A100 devices" in text
    assert "has no free" not in text


def test_nodes_without_any_device_are_not_said_to_have_none_free() -> None:
    cordoned = build.node()
    cordoned["spec"] = {"unschedulable": True}
    text = first_line(report_of(cordoned, build.node("cpu-1"), SLICE, POD, build.claim("claim")))
    assert "node-1 has the device but is cordoned" in text
    assert "cpu-1" not in text


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("StatefulSet", "and that one then waits"),
        # It is made at once, and its claim is still allocated.
        ("Job", "the replacement is scheduled first and will probably take it"),
    ],
)
def test_a_controllers_pod_that_is_started_again_comes_later(kind: str, text: str) -> None:
    owner = {"apiVersion": "x/v1", "kind": kind, "name": "sweep", "uid": "job", "controller": True}
    batch = build.pod("batch", claims=["held"], node_name="node-1", priority=1)
    batch["metadata"]["ownerReferences"] = [owner]
    both = build.request(count=2)
    held = build.claim("held", both, held=[("node-1", "gpu-0"), ("node-1", "gpu-1")], by=["batch"], on="node-1")
    page = page_of(
        report_of(
            build.node(), SLICE, held, batch, POD | {"spec": {**POD["spec"], "priority": 10}}, build.claim("claim")
        )
    )
    assert text in " ".join(page.split())
    assert "1 other pod waits" not in page


def test_a_constraint_over_requests_is_one_sentence_with_all_its_values() -> None:
    devices = [build.device(f"gpu-{i}", attributes={"type": "gpu", "root": f"pci{i}"}) for i in range(4)]
    slices = build.slice_("node-1", *devices, build.device("nic-0", attributes={"type": "nic"}))
    kinds = {name: f'device.attributes["{DRIVER}"].type == "{name}"' for name in ("gpu", "nic")}
    requests = [build.request(name, selector=selector) for name, selector in kinds.items()]
    matching = [{"requests": ["gpu", "nic"], "matchAttribute": f"{DRIVER}/root"}]
    report = report_of(build.node(), slices, POD, build.claim("claim", *requests, constraints=matching))
    assert report.code is Code.CONSTRAINT
    text = first_line(report)
    assert "the gpu devices have pci0, pci1, pci2 or 1 other and the nic devices do not publish it" in text


NUMA_INT = [{"int": 0}, {"int": 1}]
NUMA_TEXT = [{"string": "0"}, {"string": "1"}]
NEVER = "values of different types never match"


def on_numa(gpus: list[dict[str, Any]], nics: list[dict[str, Any]], **constraint: str) -> PendingReport:
    def devices(kind: str, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made = [build.device(f"{kind}-{i}", attributes={"type": kind}) for i in range(len(nodes))]
        return [
            each | {"attributes": {**each["attributes"], "numa": numa}} for each, numa in zip(made, nodes, strict=True)
        ]

    kinds = {name: f'device.attributes["{DRIVER}"].type == "{name}"' for name in ("gpu", "nic")}
    requests = [build.request(name, selector=selector) for name, selector in kinds.items()]
    over = [{"requests": ["gpu", "nic"], **(constraint or {"matchAttribute": f"{DRIVER}/numa"})}]
    slices = build.slice_("node-1", *devices("gpu", gpus), *devices("nic", nics))
    return report_of(build.node(), slices, POD, build.claim("claim", *requests, constraints=over))


def test_values_of_different_types_are_told_apart_and_never_match() -> None:
    report = on_numa(NUMA_INT, NUMA_TEXT)
    assert report.code is Code.CONSTRAINT
    assert first_line(report).endswith(
        'On node-1, the gpu devices have 0 or 1 (int) and the nic devices have "0" or "1" (string); values of '
        "different types never match, so a driver has to publish another type, or the constraint has to go."
    )
    types = [each.type for group in report.nodes for r in group.requests if r.funnel for each in r.funnel.values]
    assert set(types) == {"int", "string"}
    assert "drop the constraint on numa" in page_of(report)


@pytest.mark.parametrize(
    ("gpus", "nics"),
    [
        (NUMA_INT, [{"int": 2}]),
        # Those of the same type could match, and do not.
        (NUMA_INT, [{"int": 2}, {"string": "1"}]),
    ],
)
def test_of_values_that_differ_no_type_is_told(gpus: list[dict[str, Any]], nics: list[dict[str, Any]]) -> None:
    line = first_line(on_numa(gpus, nics))
    assert "the gpu devices have 0 or 1 and the nic devices" in line
    assert NEVER not in line
    assert "(int)" not in line


def test_devices_of_one_request_with_values_of_two_types_are_not_alike() -> None:
    numas = [{"int": 0}, {"string": "0"}]
    devices = [build.device(f"gpu-{i}") | {"attributes": {"numa": numa}} for i, numa in enumerate(numas)]
    asked = build.claim("claim", build.request(count=2), constraints=[{"matchAttribute": f"{DRIVER}/numa"}])
    line = first_line(report_of(build.node(), build.slice_("node-1", *devices), POD, asked))
    assert '(numa: 0 (int) on 1 device, "0" (string) on 1 device)' in line


# --- claims that cannot be used, namespaces, tolerations --------------------------------------------------------------


def test_a_missing_label_is_named_with_the_template_and_the_servers_words() -> None:
    asking = template("true", adminAccess=True)
    del asking["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"]
    words = "PodResourceClaim gpus: create ResourceClaim: admin access to devices requires the label"
    said = build.event("pod", "FailedResourceClaimCreation", words)
    report = report_of(build.node(), SLICE, asking, said, build.namespace(), build.pod(templates=["gpus"]))
    assert report.code is Code.ADMIN_LABEL_MISSING
    assert 'its template "gpus" requests admin access' in first_line(report)
    assert "resource.kubernetes.io/admin-access=true" in first_line(report)
    page = page_of(report)
    assert words in page
    assert "Command: kubectl label namespace/ml resource.kubernetes.io/admin-access=true" in page


def test_a_claim_of_another_namespace_is_named_and_copied() -> None:
    other = build.claim("claim", build.request(count=2), namespace="team-b")
    report = report_of(build.node(), SLICE, POD, other, build.device_class("second"), build.device_class())
    assert "does not exist in its namespace (there is one in team-b" in first_line(report)
    (way,) = [each for each in report.remedies if each.kind is RemedyKind.CREATE_OBJECT]
    (step,) = way.steps
    assert step.manifest is not None
    assert step.manifest["metadata"] == {"name": "claim", "namespace": "ml"}
    assert step.manifest["spec"]["devices"]["requests"][0]["exactly"]["count"] == 2


def test_a_claim_that_is_deleted_says_since_when_and_agrees_with_the_scheduler() -> None:
    deleted = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    held = build.claim("claim", held=[("node-1", "gpu-0")], by=["nb"], on="node-1", metadata=deleted)
    user = build.pod("nb", claims=["claim"], node_name="node-1", phase="Running")
    words = '0/1 nodes are available: resourceclaim "claim" is being deleted.'
    report = report_of(build.node(), SLICE, held, user, refused(POD, words))
    assert "nb, which still uses it, keeps it from going" in first_line(report)
    page = page_of(report)
    assert "Deleted" in page
    assert "Do not remove its finalizer" in page
    assert "matches this diagnosis" in page


def test_a_toleration_with_nearly_the_key_of_the_taint_is_told_so() -> None:
    taint = {"key": "gpu.example.com/xid", "value": "79", "effect": "NoSchedule"}
    sick = build.slice_("node-1", build.device("gpu-0", taints=[taint]))
    asked = build.request(tolerations=[{"key": "example.com/xid", "operator": "Exists", "effect": "NoSchedule"}])
    text = first_line(report_of(build.node(), sick, POD, build.claim("claim", asked)))
    assert "did you mean gpu.example.com/xid?" in text


def test_devices_that_had_time_enough_to_become_ready_are_not_waited_for_longer() -> None:
    claim = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
    result = claim["status"]["allocation"]["devices"]["results"][0]
    result["bindingConditions"] = ["example.com/Attached"]
    result["bindingFailureConditions"] = ["example.com/Failed"]
    since = {"allocationTimestamp": (CLOCK.now() - timedelta(seconds=30)).strftime("%Y-%m-%dT%H:%M:%SZ")}
    claim["status"]["allocation"] |= since
    young = page_of(report_of(SLICE, POD, claim, build.node("node-1")))
    assert "Give it a minute or two." in young and "wait for the driver" in young
    words = (
        "0/1 nodes are available: 1 resourceclaim not available on the node. deallocation of ResourceClaim completed"
    )
    again = page_of(report_of(SLICE, refused(POD, words), claim, build.node("node-1")))
    assert "An earlier allocation was given up already" in again
    assert "its log says why it does not" in again and "Waiting longer is unlikely to help" in again
    assert "minute or two" not in again and "wait for the driver" not in again
    since["allocationTimestamp"] = (CLOCK.now() - timedelta(minutes=4)).strftime("%Y-%m-%dT%H:%M:%SZ")
    claim["status"]["allocation"] |= since
    within = page_of(report_of(SLICE, POD, claim, build.node("node-1")))
    assert "The scheduler waits about 6 minutes longer (10 minutes in all unless configured)" in within
    assert "unlikely to help" not in within and "minute or two" not in within
    again = page_of(report_of(SLICE, refused(POD, words), claim, build.node("node-1")))
    assert "Waiting longer is unlikely to help" in again
    since["allocationTimestamp"] = (CLOCK.now() - timedelta(minutes=9)).strftime("%Y-%m-%dT%H:%M:%SZ")
    claim["status"]["allocation"] |= since
    assert "Waiting longer is unlikely to help" in page_of(report_of(SLICE, POD, claim, build.node("node-1")))


def test_a_claim_of_a_pod_that_is_gone_says_that_it_is_being_deleted_and_since_when() -> None:
    held = build.claim("old-0-gpu", held=[("node-1", "gpu-0")], by=["old-0"])
    deleted = (CLOCK.now() - timedelta(minutes=7)).strftime("%Y-%m-%dT%H:%M:%SZ")
    held["metadata"] |= {"deletionTimestamp": deleted, "finalizers": ["resource.kubernetes.io/delete-protection"]}
    one = build.slice_("node-1", build.device("gpu-0"))
    report = report_of(one, POD, build.claim("claim"), held, build.node("node-1"))
    assert "(claim old-0-gpu (being deleted) held for pod old-0 that no longer exists)" in first_line(report)
    assert "Claim ml/old-0-gpu: deleted 7m ago, but it stays until its reservation is ended." in page_of(report)
    del held["metadata"]["deletionTimestamp"]
    assert "deleted" not in page_of(report_of(one, POD, build.claim("claim"), held, build.node("node-1")))


def test_a_node_without_the_csi_driver_of_a_volume_is_told_so_with_its_own_code() -> None:
    """Upstream: plugins/nodevolumelimits/csi.go, Filter, with the gate VolumeLimitScaling."""
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv-1", "uid": "pv-1"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": "disk.example.com", "volumeHandle": "1"},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "ml", "name": "data", "uid": "data"},
        },
        "status": {"phase": "Bound"},
    }
    claimed = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "data",
            "namespace": "ml",
            "uid": "data",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {"volumeName": "pv-1", "accessModes": ["ReadWriteMany"]},
        "status": {"phase": "Bound"},
    }
    driver = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": "disk.example.com"},
        "spec": {"preventPodSchedulingIfMissing": True},
    }
    pod = build.pod(claims=["claim"], volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    drivers = [{"name": "disk.example.com", "nodeID": "node-1"}]

    def asked(*installed: dict[str, str]) -> PendingReport:
        csi = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "node-1"}}
        csi["spec"] = {"drivers": list(installed)}  # type: ignore[assignment]
        objects = [pod, build.claim("claim"), SLICE, build.node("node-1"), volume, claimed, driver, csi]
        classes = [build.device_class()]
        gates = features(36, {"VolumeLimitScaling": True})
        world = ClusterState(facts.inventory([*classes, *objects]), facts.evidence(), gates, CLOCK)
        return pending_report(Diagnoser(world).pod(Key("ml", "pod")), world)

    report = asked()
    assert report.code is Code.VOLUME_DRIVER_MISSING and str(report.code) == "DRA-432"
    assert "CSI driver disk.example.com is not installed" in first_line(report)
    assert asked(*drivers).verdict is Verdict.SCHEDULABLE
