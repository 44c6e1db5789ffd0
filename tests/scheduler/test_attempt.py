"""The attempt around the plugins: merging of PreFilter, nominated nodes, the order in which nodes are looked at."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.scheduler.attempt import attempt, visiting_order
from kubectl_dra.scheduler.fit_error import parse_fit_error, without_preemption
from kubectl_dra.scheduler.plugins.deferred_pod_scheduling import DeferredPodScheduling
from tests.kit.decisions import Decision, Outcome, decide
from tests.scheduler.edges import objects as edges
from tests.scheduler.rows import pod_of, snapshot_of

NAME = "metadata.name"


def node(name: str, cpu: str = "4", **labels: str) -> dict[str, Any]:
    return edges.node(name, labels=labels, cpu=cpu)


def pod(**spec: Any) -> dict[str, Any]:
    return edges.pod("pod", cpu="1", memory="1Gi", metadata={"uid": "pod"}, **spec)


def named(*names: str) -> dict[str, Any]:
    term = {"matchFields": [{"key": NAME, "operator": "In", "values": list(names)}]}
    return edges.node_affinity(term)


def decided(subject: dict[str, Any], *nodes: dict[str, Any]) -> Decision:
    snapshot = snapshot_of({"nodes": list(nodes), "pods": [subject]})
    return decide(snapshot, pod_of(snapshot, "default/pod"))


def test_names_of_nodes_from_two_plugins_are_intersected() -> None:
    subject = pod(nodeName="b", affinity=named("a", "b"), nodeSelector={"none": "here"})
    found = decided(subject, node("a"), node("b"), node("c"))
    assert found.base == (
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "2 node(s) didn't satisfy plugin(s) [NodeAffinity NodeName]."
    )


def test_names_that_exclude_each_other_end_the_attempt() -> None:
    found = decided(pod(nodeName="c", affinity=named("a", "b")), node("a"), node("b"), node("c"))
    text = "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously"
    assert found.message == f"0/3 nodes are available: {text}. not found"


def test_a_nominated_node_is_taken_even_if_another_is_better() -> None:
    subject = pod()
    assert decided(subject, node("a", "2"), node("b", "64")).scores.best == ("b",)  # type: ignore[union-attr]
    subject["status"]["nominatedNodeName"] = "a"
    found = decided(subject, node("a", "2"), node("b", "64"))
    assert (found.outcome, found.scores.best) == (Outcome.FITS, ("a",))  # type: ignore[union-attr]


def test_a_nominated_node_that_does_not_fit_is_no_nomination() -> None:
    subject = pod()
    subject["status"]["nominatedNodeName"] = "a"
    found = decided(subject, node("a", "500m"), node("b"))
    assert found.scores.best == ("b",)  # type: ignore[union-attr]


def test_a_nominated_node_that_names_exclude_says_itself_why_it_does_not_fit() -> None:
    subject = pod(affinity=named("b"))
    subject["status"]["nominatedNodeName"] = "a"
    assert decided(subject, node("a"), node("b", "500m"), node("c")).base == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_who_refuses_the_nominated_node_is_named_among_those_that_left_others_out() -> None:
    subject = pod(affinity=named("b"))
    subject["status"]["nominatedNodeName"] = "b"
    assert decided(subject, node("a"), node("b", "500m"), node("c")).base == (
        "0/3 nodes are available: 1 Insufficient cpu, "
        "2 node(s) didn't satisfy plugin(s) [NodeAffinity NodeResourcesFit]."
    )


def test_nodes_are_looked_at_zone_by_zone_in_turn() -> None:
    zone = "topology.kubernetes.io/zone"
    nodes = [node(name, **{zone: value}) for name, value in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "z"))]
    snapshot = snapshot_of({"nodes": nodes})
    order = visiting_order(tuple(snapshot.nodes.values()))
    assert order == ["a", "c", "d", "b"]
    assert visiting_order(tuple(snapshot.nodes.values()), 2) == ["d", "b", "a", "c"]


def test_where_the_next_attempt_starts() -> None:
    nodes = [node("a", "500m"), node("b"), node("c", "500m")]
    assert decided(pod(), *nodes).processed == 3
    only = pod(affinity=named("b"))
    assert decided(only, *nodes).processed == 1
    only["status"]["nominatedNodeName"] = "a"
    assert decided(only, *nodes).processed == 2
    only["status"]["nominatedNodeName"] = "b"
    assert decided(only, *nodes).processed == 0


def test_an_error_ends_the_attempt_before_other_nodes_are_looked_at() -> None:
    driver = "gpu.example.com"

    def pool(name: str) -> dict[str, Any]:
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        return {
            "metadata": {"name": name},
            "spec": {"driver": driver, "pool": pool, "nodeName": name, "devices": devices},
        }

    devices = [{"name": "gpu-0"}]
    selectors = [{"cel": {"expression": f"device.attributes['{driver}'].healthy"}}]
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1, "selectors": selectors}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    claim = {"metadata": {"name": "c", "namespace": "default", "uid": "c"}, "spec": spec}
    row = {
        "nodes": [node("a", "500m"), node("b"), node("c", "500m"), node("d")],
        "pods": [pod(resourceClaims=[{"name": "c", "resourceClaimName": "c"}])],
        "resourceslices": [pool(name) for name in "abcd"],
        "deviceclasses": [{"metadata": {"name": "any"}, "spec": {}}],
        "resourceclaims": [claim],
    }
    snapshot = snapshot_of(row)
    for start, device, processed in ((0, "b", 1), (1, "b", 0), (2, "d", 1), (3, "d", 0)):
        found = decide(snapshot, pod_of(snapshot, "default/pod"), start)
        assert f"{driver}/{device}/gpu-0" in found.message
        assert (found.outcome, found.processed) == (Outcome.ERROR, processed)


def test_a_cluster_without_nodes() -> None:
    found = decided(pod())
    assert (found.outcome, found.message) == (Outcome.UNSCHEDULABLE, "no nodes available to schedule pods")


@pytest.mark.parametrize(
    ("resize", "status", "left"),
    [
        ("Deferred", None, "0"),
        # What the kubelet will never give counts as nothing where it reports nothing.
        ("Infeasible", None, "4"),
        ("Infeasible", "1", "3"),
        ("Deferred", "1", "0"),
    ],
)
def test_a_resize_that_is_infeasible_counts_what_was_allocated(resize: str, status: str | None, left: str) -> None:
    running = pod(nodeName="a")
    running["metadata"] = {"name": "running", "namespace": "default", "uid": "running"}
    running["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "4"}}
    running["status"] = {"phase": "Running", "conditions": [{"type": "PodResizePending", "reason": resize}]}
    if status is not None:
        running["status"]["containerStatuses"] = [{"name": "main", "allocatedResources": {"cpu": status}}]
    snapshot = snapshot_of({"nodes": [node("a")], "pods": [running]})
    used = snapshot.nodes["a"].usage.requests.get("cpu", 0)
    assert 4000 - used == int(left) * 1000


def test_the_tail_of_a_gang_is_taken_off_whole() -> None:
    said = "0/2 nodes are available: 2 Insufficient cpu., pod group preemption: No preemption victims found"
    assert without_preemption(said) == "0/2 nodes are available: 2 Insufficient cpu."
    found = parse_fit_error(said)
    assert found is not None
    assert found.reasons == {"Insufficient cpu": 2}


def test_a_pod_that_waits_for_a_resize_stays_on_its_node() -> None:
    """Other plugins are left out: upstream they skip such a pod."""
    running = pod(nodeName="a")
    running["status"] = {"phase": "Running", "conditions": [{"type": "PodResizePending", "reason": "Deferred"}]}
    closed = node("b")
    closed["spec"] = {"podPreemptionPolicy": {"disableResizePreemption": True}}
    gate = {"InPlacePodVerticalScalingSchedulerPreemption": True}
    elsewhere = "pod assigned to different node"
    for own, said in (("a", ("", elsewhere)), ("b", (elsewhere, "node had resize preemption disabled"))):
        running["spec"]["nodeName"] = own
        snapshot = snapshot_of({"nodes": [node("a"), closed], "pods": [running], "featureGates": gate})
        found = attempt(snapshot, pod_of(snapshot, "default/pod"), (DeferredPodScheduling(),))
        for name, text in zip(("a", "b"), said, strict=True):
            assert found.status_of(name).message.startswith(text)
            assert found.status_of(name).ok is not bool(text)
    plain = snapshot_of({"nodes": [node("a")], "pods": [running]})
    skipped = attempt(plain, pod_of(plain, "default/pod"), (DeferredPodScheduling(),))
    assert skipped.feasible == ("a",)


def _away(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchExpressions": [expression]}}
        for expression in expressions
    ]
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


_EVERYONE = {"key": "app", "operator": "DoesNotExist"}


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ({"key": "app", "operator": "Wrong"}, '"Wrong" is not a valid label selector operator'),
        (
            {"key": "app", "operator": "In"},
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            {"key": "app", "operator": "Exists", "values": ["a"]},
            'values: Invalid value: ["a"]: values set must be empty for exists and does not exist',
        ),
    ],
)
def test_a_term_that_cannot_be_parsed(expression: dict[str, Any], told: str) -> None:
    """A pod that runs loses all its required anti-affinity by it, a pod that waits is refused."""
    running = {**pod(nodeName="a", affinity=_away(_EVERYONE, expression)), "status": {"phase": "Running"}}
    running["metadata"] = {"name": "run", "namespace": "default", "uid": "run"}
    there = node("a", **{"kubernetes.io/hostname": "a"})
    for keeps_away, affinity in ((False, running["spec"]["affinity"]), (True, _away(_EVERYONE))):
        running["spec"]["affinity"] = affinity
        snapshot = snapshot_of({"nodes": [there], "pods": [pod(), running]})
        found = decide(snapshot, pod_of(snapshot, "default/pod"))
        assert (found.outcome is Outcome.UNSCHEDULABLE) is keeps_away
    found = decided(pod(affinity=_away(_EVERYONE, expression)), there)
    text = f"parsing pod: requiredAntiAffinityTerms: {told}"
    assert found.message == f"0/1 nodes are available: {text}. not found"
