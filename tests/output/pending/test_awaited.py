"""Pods that have to run beside others which have no node themselves, or which do not exist."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending import test_situations
from tests.output.pending.test_situations import first_line, report_of

ZONE = "topology.kubernetes.io/zone"
NOBODY = "Pod ml/pod is pending: node-1 has the device but has no pod with app=learner that its affinity requires"


def page_of(report: PendingReport) -> str:
    return " ".join(re.sub("\x1b\\[[0-9;]*m", "", test_situations.page_of(report)).split())


def beside(**term: Any) -> dict[str, Any]:
    """A pod with a claim that has to run in the zone of a pod with ``app=learner``."""
    wanted = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "learner"}}, **term}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [wanted]}}
    return build.pod(claims=["claim"], affinity=affinity)


def learner(name: str = "learner-0", **fields: Any) -> list[dict[str, Any]]:
    pod = build.pod(name, claims=[name], **fields)
    pod["metadata"]["labels"] = {"app": "learner"}
    return [pod, build.claim(name, build.request(count=4))]


def told(*more: dict[str, Any], pod: dict[str, Any] | None = None, **options: Any) -> PendingReport:
    node = build.node(labels={ZONE: "a"})
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    return report_of(pod or beside(), build.claim(), build.namespace(), node, slice_, *more, **options)


def test_the_pod_that_it_waits_for_is_named_and_why_that_one_is_pending() -> None:
    report = told(*learner())
    assert report.code is Code.NO_COMPANY
    assert first_line(report) == f"{NOBODY} (per {ZONE}): ml/learner-0 is pending, too."
    page = page_of(report)
    assert "ml/learner-0 itself is pending: no node has 4 gpu.example.com devices. Closest: node-1, with 1" in page
    assert "What helps that pod: kubectl dra why-pending pod/learner-0 -n ml" in page
    # That is what has to change: it comes before the requests and the ways out of the pod that waits for it.
    assert page.index("ml/learner-0 itself is pending") < page.index("It requests")


def test_several_that_wait_are_named() -> None:
    report = told(*(each for number in range(4) for each in learner(f"learner-{number}")))
    assert first_line(report).endswith(": ml/learner-0, ml/learner-1 and ml/learner-2 are pending, too.")
    assert report.awaited is not None
    assert report.awaited.pod.name == "learner-0"


def test_one_that_waits_for_something_else_is_named_without_a_reason() -> None:
    gated, claim = learner(schedulingGates=[{"name": "a/b"}])
    page = page_of(told(gated, claim))
    assert "ml/learner-0 is pending, too." in page
    assert "itself is pending" not in page
    assert "What helps that pod: kubectl dra why-pending pod/learner-0 -n ml" in page


def test_one_that_runs_elsewhere_is_not_waited_for() -> None:
    other = build.node("node-2", labels={ZONE: "b"})
    report = told(other, *learner(node_name="node-2", phase="Running"), *learner("learner-1"))
    assert "such pods run on node-2" in first_line(report)
    assert report.awaited is None


def test_there_may_be_no_such_pod() -> None:
    finished = learner("done", phase="Succeeded")
    assert first_line(told(*finished)) == f"{NOBODY} (per {ZONE}): there is no such pod."
    elsewhere, claim = learner()
    elsewhere["metadata"]["namespace"] = claim["metadata"]["namespace"] = "other"
    assert first_line(told(elsewhere, claim)).endswith("there is no such pod.")
    everywhere = beside(namespaceSelector={})
    assert "other/learner-0 is pending, too" in first_line(told(elsewhere, claim, pod=everywhere))


def test_where_pods_could_not_be_read_none_is_said_to_be_missing() -> None:
    assert "there is no such pod" not in page_of(told(withheld=["Pod"]))


@pytest.mark.parametrize("name", ["learner-0", "pod-2"])
def test_the_pods_that_wait_may_wait_for_each_other(name: str) -> None:
    pod = beside()
    other = {**beside(), "metadata": {**beside()["metadata"], "name": name, "uid": name, "labels": {"app": "learner"}}}
    pod["metadata"]["labels"] = {"app": "actor"}
    report = told(other, pod=pod)
    assert f"ml/{name} is pending, too" in first_line(report)
