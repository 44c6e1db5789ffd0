"""What Kueue has decided leads, and nothing beneath it advises as if only devices, or a quota, were in the way."""

from __future__ import annotations

import pytest

from kubectl_dra.api.queues import queue_objects
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.diagnosis.test_queues import ALL, NS, local, source
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import first_line, page_of

GATED = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
RESERVED = "QuotaReserved", "True", "QuotaReserved", ""
TOO_OFTEN = "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
LATE = "Exceeded the PodsReady timeout ml/w"


def report_of(*conditions: tuple[str, str, str, str], gated: bool = True, **status: object) -> PendingReport:
    listed = [dict(zip(("type", "status", "reason", "message"), each, strict=True)) for each in conditions]
    meta = {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod"}]}
    work = source("Workload", "w", NS, meta=meta, status={"conditions": listed, **status})
    pod = build.pod(claims=["claim"], **(GATED if gated else {}))
    pod["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    held = build.claim("held", held=[("node-1", "gpu-0")], by=["other"])
    other = build.pod("other", claims=["held"], node_name="node-1", phase="Running")
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    objects = [build.node(), slice_, build.device_class(), pod, build.claim("claim"), other, held]
    queues = queue_objects([work, local(), source("ClusterQueue", "research")], ALL)
    world = ClusterState(facts.inventory(objects).replace(queues=queues), facts.evidence(), features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    return pending_report(found, world, ways=find_remedies(world, found))


def test_what_is_admitted_lacks_no_quota() -> None:
    admission = {"clusterQueue": "research"}
    report = report_of(RESERVED, ("Admitted", "True", "Admitted", ""), admission=admission)
    assert "Kueue has admitted it in queue team, and has not yet removed its scheduling gate" in first_line(report)
    page = page_of(report)
    assert "quota" not in page
    assert "kubectl logs deployment/kueue-controller-manager -n kueue-system" in page


def test_an_open_check_is_named_and_more_quota_is_no_advice() -> None:
    check = {"name": "provision", "state": "Pending", "message": "Waiting for nodes"}
    report = report_of(RESERVED, admission={"clusterQueue": "research"}, admissionChecks=[check])
    assert first_line(report) == (
        "Pod ml/pod is pending: Kueue holds it in queue team: its quota in ClusterQueue research is reserved, but "
        "admission check provision is Pending: Waiting for nodes."
    )
    page = page_of(report)
    assert "  Kueue: " not in page
    # The only device is in use.
    assert (
        "Once Kueue lets it go, it waits for a node: by the default scheduler's rules it would find none now. What "
        "would be in the way then: no node has a free gpu.example.com device: on node-1, the only one is in use "
        "(other)." in page
    )
    assert "which quota is short" not in page
    assert "kubectl describe workload.kueue.x-k8s.io/w -n ml" in page


@pytest.mark.parametrize(
    ("reason", "message", "told"),
    [
        ("Deactivated", "The workload is deactivated", "its Workload w is deactivated."),
        (
            "DeactivatedDueToRequeuingLimitExceeded",
            TOO_OFTEN,
            "its Workload w is deactivated due to exceeding the maximum number of re-queuing retries.",
        ),
    ],
)
def test_work_that_is_switched_off_waits_for_no_queue(reason: str, message: str, told: str) -> None:
    pending = ("QuotaReserved", "False", "Inactive", "The workload is inactive")
    report = report_of(pending, ("Evicted", "True", reason, message))
    assert first_line(report) == f"Pod ml/pod is pending: Kueue holds it in queue team: {told}"
    page = page_of(report)
    assert "the queue is stopped" not in page
    assert """kubectl patch workload.kueue.x-k8s.io/w -n ml --type=merge -p '{"spec":{"active":true}}'""" in page


def test_a_pod_whose_admission_was_taken_back_has_no_ways_out_of_devices() -> None:
    evicted = "Evicted", "True", "PodsReadyTimeout", LATE
    report = report_of(("QuotaReserved", "False", "Pending", LATE), evicted, gated=False)
    assert first_line(report) == (
        f"Pod ml/pod is pending, and Kueue has evicted its Workload w (PodsReadyTimeout: {LATE}), which ends this pod. "
        "Besides, no node has a free gpu.example.com device: on node-1, the only one is in use (other)."
    )
    page = page_of(report)
    assert "delete pod" not in page
    assert "make it fit" not in page
    assert "Kueue has to admit its Workload again first" in page


def test_an_eviction_of_before_is_over_once_it_is_admitted_again() -> None:
    conditions = [RESERVED, ("Admitted", "True", "Admitted", ""), ("Evicted", "False", "PodsReadyTimeout", LATE)]
    report = report_of(*conditions, gated=False, admission={"clusterQueue": "research"})
    assert "evicted" not in page_of(report)
    assert "delete pod ml/other" in page_of(report)
