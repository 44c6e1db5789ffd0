"""A pod that names a claim which others use is offered one of its own, where that was tried."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies.records import CreateObject, EditPod
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.reports.pending.remedies import RemedyReport, find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK

NODES = [build.node("node-1"), build.node("node-2")]
HOLDER = build.pod("holder", claims=["claim"], node_name="node-1", phase="Running", requests={"cpu": "4"})
SHARED = build.claim("claim", held=[("node-1", "gpu-0")], by=["holder"], on="node-1")
POD = build.pod(claims=["claim"], requests={"cpu": "2"})


def own(*objects: dict[str, Any]) -> list[RemedyReport]:
    world = ClusterState(facts.inventory([build.device_class(), *objects]), facts.evidence(), features(), CLOCK)
    ways = find_remedies(world, Diagnoser(world).pod(Key("ml", "pod")))
    return [way for way in ways.remedies if any(isinstance(each, CreateObject) and each.like for each in way.actions)]


@pytest.mark.parametrize(("free", "nodes"), [("node-2", [("node-2",)]), ("node-1", [])])
def test_a_claim_of_its_own_is_offered_where_devices_are_free_for_it(free: str, nodes: list[tuple[str, ...]]) -> None:
    # node-1 has the CPU for nobody else: a free device there does not help.
    slices = [build.slice_("node-1", build.device("gpu-0")), build.slice_(free, build.device("gpu-1"), pool="more")]
    found = own(*NODES, *slices, HOLDER, SHARED, POD)
    assert [way.nodes for way in found if way.verified] == nodes


def test_instead_of_a_claim_that_is_being_deleted_it_is_offered_too() -> None:
    going = {**SHARED, "metadata": {**SHARED["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    (way,) = own(*NODES, *slices, HOLDER, going, POD)
    assert (way.verified, way.nodes) == (True, ("node-2",))
    # A claim that was made for the pod alone goes with it.
    own_pod = build.pod(templates=["claim"], requests={"cpu": "2"})
    own_pod["status"]["resourceClaimStatuses"] = [{"name": "claim", "resourceClaimName": "claim"}]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}
    going["metadata"]["ownerReferences"] = [owner]
    assert own(*NODES, *slices, HOLDER, going, own_pod) == []


def test_it_is_a_template_with_the_same_requests_which_the_pod_names() -> None:
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    taken = {"kind": "ResourceClaimTemplate", "metadata": {"name": "claim", "namespace": "ml"}, "spec": {"spec": {}}}
    (way,) = own(*NODES, *slices, HOLDER, SHARED, POD, taken)
    text = (
        'give the pod a claim of its own: make ResourceClaimTemplate "claim-2" from claim claim, '
        'and name "claim-2" as resourceClaimTemplateName, not as resourceClaimName (recreate the pod)'
    )
    assert remedy_text(way) == text
    made = way.steps[0].manifest
    assert made is not None
    assert made["metadata"] == {"name": "claim-2", "namespace": "ml"}
    assert made["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == build.DRIVER
    edit = next(each for each in way.actions if isinstance(each, EditPod))
    assert (edit.before, edit.after) == ("claim", "claim-2")
    assert "/spec/resourceClaims/0/resourceClaimTemplateName" in str(way.steps[-1].commands)


def test_a_claim_with_all_its_consumers_is_left_to_them() -> None:
    many = [{"resource": "jobs", "apiGroup": "batch", "name": f"j{n}", "uid": f"j{n}"} for n in range(256)]
    full = SHARED | {"status": {**SHARED["status"], "reservedFor": many}}
    slices = [build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))]
    (way,) = own(build.node("node-1"), *slices, full, POD)
    assert (way.verified, way.nodes) == (True, ("node-1",))


@pytest.mark.parametrize(("free", "offered"), [(1, False), (2, True)])
def test_with_a_claim_each_as_many_pods_of_the_workload_have_to_run_as_before(free: int, *, offered: bool) -> None:
    """Two replicas run by one device that they share; with a template all three are made anew and need one each."""
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": True}
    pods = [
        build.pod(name, claims=["claim"], node_name=where, phase="Running" if where else "Pending")
        for name, where in (("web-1", "node-1"), ("web-2", "node-1"), ("pod", ""))
    ]
    for each in pods:
        each["metadata"]["ownerReferences"] = [replica_set]
    shared = build.claim("claim", held=[("node-1", "gpu-0")], by=["web-1", "web-2"], on="node-1")
    cordoned = build.node("node-1")
    cordoned["spec"]["unschedulable"] = True
    more = build.slice_("node-2", *[build.device(f"gpu-{number}") for number in range(1 + free)])
    objects = [cordoned, build.node("node-2"), build.slice_("node-1", build.device("gpu-0")), more]
    assert bool(own(*objects, shared, *pods)) is offered
