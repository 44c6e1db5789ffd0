"""Requests that nobody wrote: a LimitRange's default and a RuntimeClass' overhead are named where they are too much."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.gates.pod_admission import LIMIT_RANGER, admitted
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.output.simulation.page import simulation_summary
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.reports.test_simulated_files import a_pod, cluster, page, simulated, thing

NS = build.NAMESPACE


def limit_range(name: str = "defaults", **items: Any) -> dict[str, Any]:
    spec = {"limits": [{"type": "Container", **items}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name, "namespace": NS}, "spec": spec}


def runtime(cpu: str) -> dict[str, Any]:
    overhead = {"podFixed": {"cpu": cpu}}
    meta = {"name": "kata"}
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": meta,
        "handler": "x",
        "overhead": overhead,
    }


def pod(**requests: str) -> dict[str, Any]:
    body = {"apiVersion": "v1", **a_pod("p")}
    body["spec"]["containers"][0]["resources"] = {"requests": requests} if requests else {}
    return body


def told(body: dict[str, Any], *more: dict[str, Any]) -> str:
    return page(simulated(body, world=cluster(*more)))


@pytest.mark.parametrize(
    "items", [{"default": {"cpu": "80"}}, {"defaultRequest": {"cpu": "80"}}, {"max": {"cpu": "80"}}]
)
def test_a_default_of_a_limit_range_is_named(items: dict[str, Any]) -> None:
    name = pod()["spec"]["containers"][0]["name"]
    text = told(pod(), limit_range(**items))
    assert f"(80 requested, the default of LimitRange defaults, as container {name} requests none)" in text
    assert "the default of a LimitRange, as" in told(pod(), limit_range(**items), limit_range("more", **items))


def test_what_is_written_is_no_default() -> None:
    assert "the default of" not in told(pod(cpu="80"), limit_range(default={"cpu": "4"}))


def test_the_overhead_of_a_runtime_class_is_named() -> None:
    body = pod(cpu="63")
    body["spec"]["runtimeClassName"] = "kata"
    assert "(65 requested, 2 of them the overhead of RuntimeClass kata" in told(body, runtime("2"))


def test_admission_leaves_the_words_of_the_plugin() -> None:
    """Upstream: limitranger/admission.go, mergePodResourceRequirements."""
    (stored,) = facts.inventory([pod(memory="1Gi")]).pods.values()
    given = limit_range(default={"cpu": "2", "memory": "2Gi"})
    words = admitted(stored, facts.inventory([given])).metadata.annotations[LIMIT_RANGER]
    name = stored.spec.containers[0].name
    assert words == f"LimitRanger plugin set: cpu request for container {name}; cpu, memory limit for container {name}"


def test_refused_pods_are_told_of_as_if_they_were_admitted() -> None:
    body = {"metadata": {"labels": {"app": "w"}}, "spec": pod(cpu="8")["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "w"}}, "template": body}
    limits = limit_range("caps", max={"cpu": "4"})
    report = simulated(thing("apps/v1", "Deployment", spec), world=cluster(limits))
    assert report.fits is Fits.NO
    text = page(report)
    assert "Deployment ml/w: its pods would be refused: maximum cpu usage per Container is 4" in text
    assert "but request is 8 (LimitRange caps)." in text
    assert "or the bounds in LimitRange caps. As if they were admitted: Deployment ml/w: both copies fit." in text
    summary = simulation_summary(report)
    assert "As if they were admitted: Deployment ml/w: both copies fit." in summary


def of_a_workload(body: dict[str, Any]) -> list[dict[str, Any]]:
    """A Deployment with a pod that waits, into which admission has put the request."""
    labels = {"app": "w", "pod-template-hash": "h"}
    template = {"metadata": {"labels": {"app": "w"}}, "spec": body["spec"]}
    made, owned = [], {"kind": "Deployment", "name": "w", "uid": "d", "apiVersion": "apps/v1", "controller": True}
    for kind, name, uid, owners in (("Deployment", "w", "d", []), ("ReplicaSet", "w-h", "r", [owned])):
        meta = {"name": name, "namespace": NS, "uid": uid, "ownerReferences": owners}
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": "w"}}, "template": template}
        made.append({"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec})
    amount = {"requests": {"cpu": "80"}, "limits": {"cpu": "80"}}
    container = {**body["spec"]["containers"][0], "resources": amount}
    name = container["name"]
    note = f"LimitRanger plugin set: cpu request for container {name}; cpu limit for container {name}"
    owner = {"kind": "ReplicaSet", "name": "w-h", "uid": "r", "apiVersion": "apps/v1", "controller": True}
    meta = {**body["metadata"], "labels": labels, "annotations": {LIMIT_RANGER: note}, "ownerReferences": [owner]}
    return [*made, {**body, "metadata": meta, "spec": {**body["spec"], "containers": [container]}}]


def test_a_request_takes_the_place_of_a_default() -> None:
    """The template has no request that could be lowered."""
    name = pod()["spec"]["containers"][0]["name"]
    objects = of_a_workload({**build.pod("p", claims=["claim"]), "apiVersion": "v1"})
    world = cluster(*objects, build.claim(), limit_range(default={"cpu": "80"}))
    found = find_remedies(world, Diagnoser(world).pod(Key(NS, "p")))
    (way, *_) = found.remedies
    assert [(step.commands[0][1], step.commands[0][-1]) for step in way.steps] == [
        (
            "patch",
            '[{"op": "add", "path": "/spec/template/spec/containers/0/resources/requests", "value": {"cpu": "64"}}]',
        )
    ]
    assert remedy_text(way).startswith(f"request 64 cpu in container {name}, in place of the default of 80 from the")
    # In a file as well, and the limit stays as the LimitRange has it.
    report = simulated(pod(), world=cluster(limit_range(default={"cpu": "80"})))
    (tried,) = report.pods
    assert tried.pending is not None
    edits = [step.edit for way in tried.pending.remedies for step in way.steps if step.edit is not None]
    assert [(each.field, str(each.value)) for each in edits][:1] == [
        ("spec.containers[0].resources.requests.cpu", "64")
    ]
    assert not any("limits" in each.field for each in edits)
    assert "LimitRange defaults gives this default to containers without a cpu request of their own" in page(report)


# --- bounds of requests that are lowered ------------------------------------------------------------------------------

LESS = "request 64 cpu instead of 80"


@pytest.mark.parametrize(
    ("items", "offered"),
    [
        ({"min": {"cpu": "64"}}, True),
        ({"min": {"cpu": "65"}}, False),
        ({"maxLimitRequestRatio": {"cpu": "1500m"}}, True),
        ({"maxLimitRequestRatio": {"cpu": "1400m"}}, False),
        ({"type": "Pod", "min": {"cpu": "65"}}, False),
        ({"type": "PersistentVolumeClaim", "min": {"cpu": "65"}}, True),
    ],
)
def test_a_request_that_a_limit_range_refuses_is_no_way_out(items: dict[str, Any], offered: bool) -> None:
    """The pod would be deleted, and the new one refused. Upstream: limitranger/admission.go, PodValidateLimitFunc."""
    body = pod(cpu="80")
    body["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "96"}
    bounds = limit_range("bounds", **items)
    assert (LESS in told(body, bounds)) is offered
    world = cluster(bounds, body)
    found = find_remedies(world, Diagnoser(world).pod(Key(NS, "p")))
    assert any(LESS in remedy_text(way) for way in found.remedies) is offered
    bounds["metadata"]["namespace"] = "other"
    assert LESS in told(body, bounds, build.namespace("other"))


def test_a_pod_that_a_new_limit_range_refuses_is_not_made_anew() -> None:
    """It was created before: any other change would have it created again."""
    body = build.pod("p", claims=["claim"], requests={"cpu": "1"})
    tainted = build.node("node-1")
    tainted["spec"] |= {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}
    for least, offered in (("1", True), ("2", False)):
        parts = (tainted, build.claim(), body, limit_range(min={"cpu": least}))
        world = cluster(*parts)
        ways = find_remedies(world, Diagnoser(world).pod(Key(NS, "p"))).remedies
        assert any("tolerate" in remedy_text(way) for way in ways) is offered
