"""Groups of pods that Kueue makes one Workload of: none as long as pods are missing, and Kueue says why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_dra.api.queues import queue_objects
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from tests.diagnosis.test_queues import ALL, local, source, work
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import first_line, page_of

GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"


def member(name: str, total: str = "4", **labels: str) -> dict[str, Any]:
    pod = build.pod(name, schedulingGates=[{"name": "kueue.x-k8s.io/admission"}], requests={"cpu": "1"})
    pod["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team", GROUP: "llama", **labels}
    pod["metadata"]["annotations"] = {TOTAL: total}
    return pod


def composing(pod: str, words: str) -> dict[str, Any]:
    said = build.event(pod, "ErrWorkloadCompose", words)
    return said | {"type": "Warning", "reportingComponent": "pod-kueue-controller"}


def report_of(*objects: dict[str, Any], more: Sequence[Source] = ()) -> PendingReport:
    queues = queue_objects([local(), source("ClusterQueue", "research"), *more], ALL)
    there = facts.inventory([build.node(), build.device_class(), *objects]).replace(queues=queues)
    world = ClusterState(there, facts.evidence(), features(), CLOCK)
    return pending_report(Diagnoser(world).pod(Key("ml", "w-1")), world)


def test_a_group_that_lacks_pods() -> None:
    said = composing("w-0", "'llama' group has fewer runnable pods than expected")
    report = report_of(member("w-0"), member("w-1"), member("w-2"), said)
    assert first_line(report) == (
        "Pod ml/w-1 is pending: Kueue holds it in queue team: it queues pod group llama only when all 4 of its pods "
        "exist, and 3 do: w-0, w-1, w-2."
    )
    page = page_of(report)
    assert "Create 1 more pod with the label kueue.x-k8s.io/pod-group-name: llama" in page
    assert "create all of them again with the annotation kueue.x-k8s.io/pod-group-total-count: 3" in page
    assert "Kueue: 'llama' group has fewer runnable pods than expected" in page
    assert "Check that Kueue runs" not in page
    assert "Kueue's log" not in page
    assert "kubectl get pods -n ml -l kueue.x-k8s.io/pod-group-name=llama" in page
    assert "3 of 3 waiting pods would find a node now" in page


def test_a_group_that_is_complete_lacks_none() -> None:
    page = page_of(report_of(*(member(f"w-{each}") for each in range(4))))
    assert "Check that Kueue runs" in page


def test_what_kueue_says_of_a_group_that_it_cannot_queue() -> None:
    words = "'llama' group total count is less than the actual number of pods in the cluster"
    report = report_of(member("w-0", "1"), member("w-1", "1"), composing("w-0", words))
    assert f"Kueue cannot create a Workload for it: {words}" in first_line(report)
    assert "Check that Kueue runs" not in page_of(report)


@pytest.mark.parametrize("named", [True, False])
def test_pods_of_an_admitted_job_wait_for_their_place_in_the_topology(*, named: bool) -> None:
    """Their Workload is their job's: named on the pod, or found by its owner."""
    pod = build.pod("w-1", schedulingGates=[{"name": "kueue.x-k8s.io/topology"}], requests={"cpu": "1"})
    pod["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    if named:
        pod["metadata"]["annotations"] = {"kueue.x-k8s.io/workload": "job-train-1"}
    else:
        pod["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "train", "uid": "1", "controller": True}]
    report = report_of(pod, more=[work(("Admitted", "True", "Admitted", ""), owner="train")])
    assert "Kueue has not created a Workload" in first_line(report_of(pod, more=[work(owner="other")]))
    assert first_line(report) == (
        "Pod ml/w-1 is pending: Kueue has admitted it in queue team, and has not yet removed its scheduling gate "
        "kueue.x-k8s.io/topology."
    )
