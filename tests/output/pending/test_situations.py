"""What an expert would say of situations that people meet; docs/development/judged-answers.md tells them in words."""

from __future__ import annotations

from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.reports.pending import PendingReport, pending_report
from kubectl_dra.reports.remedies import find_remedies
from tests.diagnosis import build, facts
from tests.kit.clock import CLOCK

DRIVER = build.DRIVER
POD = build.pod(claims=["claim"])


def report_of(*objects: dict[str, Any], minor: int | None = None) -> PendingReport:
    classes = [] if any(each["kind"] == "DeviceClass" for each in objects) else [build.device_class()]
    supposed = features() if minor is None else features(minor)
    world = ClusterState(facts.inventory([*classes, *objects]), facts.evidence(), supposed, CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    return pending_report(found, world, ways=find_remedies(world, found))


def first_line(report: PendingReport) -> str:
    return " ".join(str(pending_summary(report)).split())


def page_of(report: PendingReport) -> str:
    """The whole page as one line."""
    return " ".join(" ".join(map(str, pending_page(report, CLOCK.now()))).split())


def refused(pod: dict[str, Any], message: str, reason: str = "Unschedulable") -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return pod | {"status": {**pod["status"], "conditions": [condition]}}


def version(record: dict[str, Any], number: int) -> dict[str, Any]:
    return record | {"metadata": {**record["metadata"], "resourceVersion": str(number)}}


SLICE = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
ALLOCATED = build.claim("fabric", held=[("node-1", "gpu-0")], by=["other"])
SCORING = 'running Score plugins: plugin "DynamicResources" failed with: number of allocations 1 is smaller than …'


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
    assert not any("resourceclaimtemplate" in str(step).lower() for step in way.steps or ())
    assert "recreate the pod" in page


def test_a_changed_template_that_does_not_fit_either_is_edited_as_it_is_now() -> None:
    objects = [template(MODEL.format("H100"), count=3), made_claim(MODEL.format("A100"))]
    report = report_of(build.node(), H100, *objects, from_template())
    (way,) = [remedy for remedy in report.remedies if remedy.verified][:1]
    manifests = [step.manifest for step in way.steps or () if step.manifest is not None]
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
