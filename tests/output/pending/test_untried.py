"""Pods that nothing has tried to schedule, nodes that are about to go, and kubelets that may not read a claim."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

DEVICES = build.slice_("node-1", build.device("gpu-0"))
UNTRIED = "No scheduler has tried it since it was created: kube-scheduler probably does not run."


def waiting(created: str, **status: Any) -> dict[str, Any]:
    pod = build.pod(claims=["claim"])
    pod["metadata"]["creationTimestamp"] = created
    pod["status"] |= status
    return pod


def test_a_pod_that_fits_and_was_never_tried_tells_that_no_scheduler_runs() -> None:
    pod = waiting("2026-11-21T12:30:00Z")
    report = report_of(build.node(), DEVICES, pod, build.claim())
    assert first_line(report) == f"Pod ml/pod is pending, but would fit now on node-1. {UNTRIED}"
    page = " ".join(page_of(report).split())
    assert "has no condition PodScheduled, which the scheduler sets after each attempt" in page
    assert "kubectl get pods -n kube-system -l component=kube-scheduler" in page
    assert "kubectl get lease/kube-scheduler -n kube-system -o yaml" in page
    assert "retries within" not in page


@pytest.mark.parametrize("why", ["new", "new claim", "tried", "told", "claim told", "events unread"])
def test_of_other_pods_that_fit_it_is_not_told(why: str) -> None:
    """A pod or claim that has just been made has its turn soon; one that has a condition or an event was tried."""
    said = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 cannot allocate all claims.",
    }
    pod = waiting(
        "2026-11-21T12:59:00Z" if why == "new" else "2026-11-21T12:30:00Z",
        **({"conditions": [said]} if why == "tried" else {}),
    )
    events = (
        [build.event("pod", "FailedScheduling", "0/1 nodes are available: 1 cannot allocate all claims.")]
        if why == "told"
        else []
    )
    if why == "claim told":
        words = 'resource claim template "t" not found'
        events = [build.event("pod", "FailedResourceClaimCreation", words, time="2026-11-21T12:59:00Z")]
    claim = build.claim()
    claim["metadata"]["creationTimestamp"] = f"2026-11-21T12:{59 if why == 'new claim' else 30}:00Z"
    unread = ("Event",) if why == "events unread" else ()
    report = report_of(build.node(), DEVICES, pod, claim, *events, withheld=unread)
    assert UNTRIED not in first_line(report)
    assert "retries within 5 minutes" in page_of(report)


@pytest.mark.parametrize("leaving", [True, False])
def test_a_cordoned_node_that_is_being_removed_is_told_as_such(*, leaving: bool) -> None:
    node = build.node()
    taint = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1764436000", "effect": "NoSchedule"}
    node["spec"] = {"unschedulable": True, "taints": [taint] if leaving else []}
    report = report_of(node, DEVICES, build.pod(claims=["claim"]), build.claim())
    told = "being removed by the cluster autoscaler (taint ToBeDeletedByClusterAutoscaler=1764436000:NoSchedule)"
    assert (told in first_line(report)) is leaving
    assert ("is cordoned" in first_line(report)) is not leaving


def test_a_kubelet_that_may_not_read_the_claim_leads_to_the_api_servers() -> None:
    claim = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"], on="node-1")
    words = (
        "Failed to prepare dynamic resources: prepare dynamic resources: fetch ResourceClaim claim: "
        'resourceclaims.resource.k8s.io "claim" is forbidden: User "system:node:node-1" cannot get resource '
        '"resourceclaims" in API group "resource.k8s.io" in the namespace "ml": no relationship found between node '
        "'node-1' and this object"
    )
    said = build.event("pod", "FailedPrepareDynamicResources", words)
    page = " ".join(
        page_of(report_of(build.node(), DEVICES, build.pod(claims=["claim"], node_name="node-1"), claim, said)).split()
    )
    assert "API servers let a kubelet read only the claims of pods on its node" in page
    assert "one may be left that is older" in page


@pytest.mark.parametrize("gone", [False, True])
def test_a_pod_whose_node_is_lost_before_it_started_is_told_so(*, gone: bool) -> None:
    """Its driver's log and its events would say nothing."""
    ready = {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-11-21T12:44:00Z"}
    lost = build.node("node-2")
    lost["status"]["conditions"] = [ready]
    claim = build.claim("claim", held=[("node-2", "gpu-0")], by=["pod"], on="node-2")
    nodes = [build.node()] if gone else [build.node(), lost]
    report = report_of(*nodes, build.pod(claims=["claim"], node_name="node-2"), claim)
    page = re.sub(r"\x1b\[\d+m", "", page_of(report))
    why = "node node-2 no longer exists" if gone else "the kubelet of its node node-2 has not reported for 16m"
    assert f"is scheduled to node-2, but nothing starts its containers there: {why}." in page
    assert ("kube-controller-manager deletes pods of nodes that are gone" in page) is gone
    assert ("kubectl describe node/node-2" in page) is not gone
    assert "no failure was reported" not in page


def test_a_pod_that_does_not_fit_and_was_never_tried_asks_for_the_scheduler() -> None:
    pod = waiting("2026-11-21T12:30:00Z")
    page = " ".join(page_of(report_of(build.node(), pod, build.claim())).split())
    assert (
        "The scheduler has written nothing since the pod was created 30m ago: does kube-scheduler run? It would" in page
    )
    pod["metadata"]["creationTimestamp"] = "2026-11-21T12:59:00Z"
    assert "The scheduler has written nothing yet; it would write:" in page_of(
        report_of(build.node(), pod, build.claim())
    )
