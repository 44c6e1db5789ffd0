"""Simulating a recorded pod before it exists gives what the real scheduler then wrote about it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_planned
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import Copies, PodSimulation, SimulationReport, simulation_report
from kubectl_dra.scheduler.fit_error import without_preemption
from tests.diagnosis import build, facts
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit.clock import CLOCK
from tests.scenario_files import snapshot_items

WRITTEN = [name for name, (verdict, _) in EXPECTED.items() if verdict in ("Unschedulable", "SchedulerError")]


def before_the_pod(name: str) -> tuple[ClusterState, dict[str, object]]:
    """The recorded cluster without the pod in question, and the pod's manifest."""
    inventory, result = facts.scenario(name)
    key = Key(*result["pod"].split("/"))
    items = (item for item in snapshot_items(name) if item["kind"] == "Pod")
    body = dict(next(item for item in items if item["metadata"]["name"] == key.name))
    body["metadata"] = {"name": key.name, "namespace": key.namespace}
    body["apiVersion"] = "v1"
    body.pop("status")
    pods = {each: pod for each, pod in inventory.pods.items() if each != key}
    return ClusterState(inventory.replace(pods=pods), facts.evidence(), features(), CLOCK), body


def simulated(name: str, copies: Copies) -> PodSimulation:
    world, body = before_the_pod(name)
    report = simulation_report(world, [read_planned(Source(json.dumps(body).encode()), "default")], copies)
    return report.pods[0]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_scheduler_writes_what_was_foreseen(name: str) -> None:
    _, result = facts.scenario(name)
    if result["pod_scheduled"] is None or result["pod_scheduled"]["status"] != "False":
        pytest.skip("the scheduler wrote nothing")
    found = simulated(name, Copies())
    assert found.pending is not None
    verdict, code = EXPECTED[name]
    assert (found.pending.verdict, found.pending.causes[0].code) == (verdict, code)
    expected = without_preemption(result["pod_scheduled"]["message"])
    assert expected in (found.pending.message, *found.pending.alternatives)


def test_a_pod_that_was_bound_fits() -> None:
    found = simulated("00-ok-allocates-and-binds", Copies())
    assert found.fits is Fits.YES
    assert [node.node for node in found.nodes] == [facts.scenario("00-ok-allocates-and-binds")[1]["node"]]


# --- quota ----------------------------------------------------------------------------------------------------------

QUOTA = {
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": build.NAMESPACE},
    "status": {"hard": {"count/resourceclaims.resource.k8s.io": "2"}},
}


def with_quota(*bodies: dict[str, Any], copies: Copies) -> SimulationReport:
    devices = [build.device(f"gpu-{number}") for number in range(8)]
    namespace = {"kind": "Namespace", "metadata": {"name": build.NAMESPACE}}
    there = [QUOTA, namespace, build.device_class(), build.node(), build.slice_("node-1", *devices)]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)
    planned = [read_planned(Source(json.dumps(body).encode()), build.NAMESPACE) for body in bodies]
    return simulation_report(world, planned, copies)


def test_copies_beyond_the_quota_of_claims_are_not_counted() -> None:
    pod = {"apiVersion": "v1", **build.pod(templates=["one"])}
    del pod["status"]
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one", "namespace": build.NAMESPACE},
        "spec": {"spec": {"devices": {"requests": [build.request()]}}},
    }
    found = with_quota(template, pod, copies=Copies(as_many_as_fit=True)).pods[0]
    assert (found.copies, found.capped) == (2, False)
    assert found.pending is not None
    assert found.pending.code is Code.QUOTA_EXCEEDED


def test_a_pod_beyond_the_quota_of_an_extended_resource_would_be_refused() -> None:
    """The second of two; what is native to Kubernetes is none of ours."""
    resource, pods = "example.com/gpu", []
    for name in ("a", "b"):
        pod = {"apiVersion": "v1", **build.pod(name)}
        resources = {"requests": {"cpu": "1"}, "limits": {resource: "2"}}
        pod["spec"]["containers"] = [{"name": "main", "image": "example.com/app:1", "resources": resources}]
        del pod["status"]
        pods.append(pod)
    limits = {f"requests.{resource}": "3", "requests.cpu": "0"}
    there = [
        {**QUOTA, "status": {"hard": limits}},
        {"kind": "Namespace", "metadata": {"name": build.NAMESPACE}},
        build.device_class(extendedResourceName=resource),
        build.node(),
        build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(8))),
    ]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)
    planned = [read_planned(Source(json.dumps(body).encode()), build.NAMESPACE) for body in pods]
    found = simulation_report(world, planned, Copies())
    name = f"requests.{resource}"
    over = f"exceeded quota: few, requested: {name}=2, used: {name}=2, limited: {name}=3"
    assert [manifest.refused for manifest in found.manifests] == [(), (f'pods "b" is forbidden: {over}',)]
    assert [(pod.subject.name, pod.copies) for pod in found.pods] == [("a", 1)]


def test_a_claim_beyond_the_quota_would_be_refused() -> None:
    claims = [{"apiVersion": "resource.k8s.io/v1", **build.claim(name)} for name in ("a", "b", "c")]
    for claim in claims:
        claim.pop("status", None)
    name = "count/resourceclaims.resource.k8s.io"
    words = f"exceeded quota: few, requested: {name}=1, used: {name}=2, limited: {name}=2"
    found = with_quota(*claims, copies=Copies())
    assert [manifest.refused for manifest in found.manifests] == [
        (),
        (),
        (f'resourceclaims.resource.k8s.io "c" is forbidden: {words}',),
    ]
    assert [pod.subject.name for pod in found.pods] == ["a", "b"]
