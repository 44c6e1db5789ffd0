"""Manifests as strangers write them, in simulate: what other controllers and the API server make of them counts."""

from __future__ import annotations

from typing import Any

from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import SimulationReport
from tests.kit import build, facts
from tests.reports import test_simulated_files as files
from tests.reports.test_simulated_files import a_pod, cluster, page, pod_template, template, thing

NS = build.NAMESPACE


def simulated(*bodies: dict[str, Any], **options: Any) -> SimulationReport:
    return files.simulated(*({"apiVersion": "v1", **body} for body in bodies), **options)


def deployment(replicas: int | None = None, **meta: Any) -> dict[str, Any]:
    labelled = {"metadata": {"labels": {"app": "web"}}, **pod_template("one")}
    labelled["spec"] = {**labelled["spec"], "restartPolicy": "Always"}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": labelled}
    return thing("apps/v1", "Deployment", {**spec, **({} if replicas is None else {"replicas": replicas})}, **meta)


def priority_class(name: str, value: int) -> dict[str, Any]:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


# --- names of other namespaces ----------------------------------------------------------------------------------------


def test_a_template_of_another_namespace_of_the_files_is_named() -> None:
    there = template("one")
    there["metadata"]["namespace"] = "other"
    report = simulated(build.namespace("other"), there, deployment(1))
    assert "does not exist in its namespace (there is one in other, for pods of that namespace only)" in page(report)
    (pending,) = (each.pending for each in report.pods if each.pending is not None)
    (create,) = pending.remedies
    assert '"count":1' in str(create.steps).replace(" ", "").replace("'", '"')


# --- pods that the scheduler never sees -------------------------------------------------------------------------------


def test_a_pod_that_names_its_node_gets_no_devices() -> None:
    report = simulated(template("one"), a_pod("p", templates=["one"], node_name="node-1"))
    (pod,) = report.pods
    assert (pod.fits, pod.bypasses, report.fits) == (Fits.NO, "node-1", Fits.NO)
    assert "spec.nodeName bypasses the scheduler" in page(report)
    assert "kubernetes.io/hostname: node-1" in page(report)


def test_a_pod_that_names_its_node_takes_a_claim_that_has_devices() -> None:
    held = build.claim("gpus", held=[("node-1", "gpu-0")], on="node-1")
    report = simulated(a_pod("p", claims=["gpus"], node_name="node-1"), world=cluster(held))
    assert report.pods[0].bypasses == ""
    assert report.fits is Fits.YES


def test_a_node_that_does_not_exist_takes_no_pod() -> None:
    report = simulated(template("one"), a_pod("p", templates=["one"], node_name="node-7"))
    assert report.fits is Fits.NO
    assert "spec.nodeName is node-7, and there is no such node" in page(report)


# --- priorities -------------------------------------------------------------------------------------------------------


def test_a_priority_class_of_the_files_counts_for_pods_after_it() -> None:
    pod = a_pod("p", templates=["one"], priorityClassName="urgent")
    urgent = priority_class("urgent", 7)
    assert simulated(urgent, template("one"), pod).fits is Fits.YES
    late = simulated(template("one"), pod, urgent)
    assert late.fits is Fits.NO
    assert "PriorityClass urgent comes after it: put it first." in page(late)


def test_that_a_list_has_no_priority_classes_at_all_is_said() -> None:
    reads = (*facts.evidence().reads, Read("PriorityClass", coverage=Coverage.ASSUMED))
    world = cluster(evidence=Evidence(reads=reads))
    report = simulated(template("one"), a_pod("p", templates=["one"], priorityClassName="urgent"), world=world)
    assert "The cluster's file has no PriorityClass at all." in page(report)


def test_whom_a_pod_evicts_is_in_the_first_line() -> None:
    small = build.pod("small", node_name="node-1", phase="Running", requests={"cpu": "60"}, priority=0)
    pod = a_pod("p", templates=["one"], requests={"cpu": "60"}, priorityClassName="urgent")
    report = simulated(priority_class("urgent", 7), template("one"), pod, world=cluster(small))
    assert "does not fit as things are, and does once the scheduler has evicted ml/small from node-1: " in page(report)
