"""Pods that a scheduler bound without allocating their claims: it is blamed, not a spec.nodeName that nobody wrote."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from tests.kit import build
from tests.output.pending.test_situations import SLICE, first_line, page_of, report_of

WORDS = "Failed to prepare dynamic resources: prepare dynamic resources: pod pod(u) is not allowed to use resource "


def placed(scheduler: str = "volcano", **metadata: Any) -> dict[str, Any]:
    pod = build.pod(claims=["claim"], node_name="node-1", schedulerName=scheduler)
    pod["metadata"] |= metadata
    return pod


def owned(kind: str, api: str) -> dict[str, Any]:
    return {"ownerReferences": [{"apiVersion": api, "kind": kind, "name": "train", "uid": "w", "controller": True}]}


def deployed(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "main", "image": "i"}], **spec}}
    metadata = {"name": "train", "namespace": build.NAMESPACE, "uid": "w"}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": {"template": template}}


def scheduled(by: str) -> dict[str, Any]:
    return build.event("pod", "Scheduled", "Successfully assigned ml/pod to node-1") | {"reportingComponent": by}


def page(*objects: dict[str, Any]) -> tuple[str, str]:
    report = report_of(build.node(), SLICE, build.claim("claim"), *objects)
    assert report.code is Code.CLAIM_NOT_ALLOCATED
    return first_line(report), " ".join(page_of(report).split())


def test_a_scheduler_that_allocates_nothing_is_the_cause() -> None:
    said = build.event("pod", "FailedPrepareDynamicResources", f"{WORDS}claim claim(u2)")
    line, text = page(placed(**owned("Job", "batch.volcano.sh/v1alpha1")), scheduled("volcano"), said)
    assert line == (
        "Pod ml/pod is scheduled to node-1, but its ResourceClaim claim has no devices: its scheduler, volcano, put it "
        "there without allocating any, and nothing does so later."
    )
    assert "nodeName" not in text
    assert "predicate.DynamicResourceAllocationEnable: true" in text
    assert "kubectl edit configmap/volcano-scheduler-configmap -n volcano-system" in text
    assert "kubectl rollout restart deployment/volcano-scheduler -n volcano-system" in text
    assert text.count("is not allowed to use resource claim") == 1


def test_it_is_known_without_its_events_of_a_pod_whose_template_names_no_node() -> None:
    line, text = page(placed("yunikorn", **owned("ReplicaSet", "apps/v1")), deployed())
    assert "its scheduler, yunikorn, put it there" in line
    assert "nodeName" not in text
    assert "schedulerName" in text


def test_of_a_kind_that_is_not_known_the_schedulers_name_is_enough() -> None:
    line, _ = page(placed("yunikorn", **owned("SparkApplication", "sparkoperator.k8s.io/v1beta2")))
    assert "its scheduler, yunikorn, put it there" in line


def test_the_default_scheduler_without_its_plugin() -> None:
    line, text = page(placed("default-scheduler"), scheduled("default-scheduler"))
    assert "its scheduler, default-scheduler, put it there" in line
    assert "DynamicResourceAllocation" in text


@pytest.mark.parametrize("objects", [(placed("default-scheduler"),), (placed(**owned("ReplicaSet", "apps/v1")),)])
def test_a_node_that_somebody_wrote(objects: tuple[dict[str, Any], ...]) -> None:
    line, text = page(*objects, deployed(nodeName="node-1"))
    assert "without the scheduler (spec.nodeName)" in line
    assert "nodeName" in text
