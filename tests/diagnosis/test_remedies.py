"""Remedies: what a real control plane showed to help is found, and what is found helps."""

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef, PodDiagnosis, Verdict
from kubectl_dra.diagnosis.remedies import Proposal, RemedyKind, find
from kubectl_dra.diagnosis.remedies.records import (
    AddDevices,
    CreateObject,
    DeleteClaim,
    DeletePod,
    EditClaim,
    EditPod,
    RemoveGates,
    RemoveTaintRule,
    Wait,
)
from kubectl_dra.diagnosis.whatif.records import AddNode
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.snapshot import Snapshot
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.decisions import decide
from tests.kit.ways import proposals, remedies

POD = Key(build.NAMESPACE, "pod")
MODEL = f'device.attributes["{build.DRIVER}"].model'
CLASS = build.device_class()


def recorded(name: str) -> tuple[ClusterState, PodDiagnosis, dict[str, Any]]:
    inventory, result = facts.scenario(name)
    world = ClusterState(inventory, facts.evidence(), features(), CLOCK)
    return world, Diagnoser(world).pod(Key(*result["pod"].split("/"))), result


def found(*objects: dict[str, Any], withheld: tuple[str, ...] = ()) -> tuple[Proposal, ...]:
    world = ClusterState(facts.inventory([CLASS, *objects]), facts.evidence(*withheld), features(), CLOCK)
    return proposals(world, Diagnoser(world).pod(POD))


def actions(proposed: tuple[Proposal, ...]) -> list[Any]:
    return [action for proposal in proposed for action in proposal.remedy.actions]


def gpu(name: str, model: str = "H100", **fields: Any) -> dict[str, Any]:
    return build.device(name, attributes={"model": model}, **fields)


# --- against the real control plane ---------------------------------------------------------------------------------


def fixes() -> list[tuple[str, str, str, str]]:
    """Recorded single deletions that let the pod run: scenario, kind, name, node."""
    rows = []
    for name in sorted(EXPECTED):
        fix = facts.scenario(name)[1].get("fix")
        if fix is not None and len(fix["steps"]) == 1 and fix["steps"][0].startswith("delete "):
            _, kind, deleted = fix["steps"][0].split()
            rows.append((name, kind, deleted, fix["bound_to"]))
    return rows


@pytest.mark.parametrize(("name", "kind", "deleted", "node"), fixes())
def test_what_helped_in_a_real_cluster_is_among_the_remedies(name: str, kind: str, deleted: str, node: str) -> None:
    world, diagnosis, _ = recorded(name)
    for remedy in remedies(world, diagnosis):
        names = {a.pod.name for a in remedy.actions if isinstance(a, DeletePod)}
        names |= {a.rule for a in remedy.actions if isinstance(a, RemoveTaintRule)}
        if names == {deleted}:
            assert remedy.verified
            assert node in remedy.nodes
            return
    pytest.fail(f"deleting {kind} {deleted} is not among the remedies")


def test_there_are_such_records() -> None:
    assert len(fixes()) >= 7


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_what_is_verified_helps(name: str) -> None:
    """The changed cluster, diagnosed anew by the same rules as any other, schedules the pod."""
    world, diagnosis, _ = recorded(name)
    for proposal in proposals(world, diagnosis):
        if not proposal.remedy.verified:
            continue
        assert proposal.changed is not None
        changed = ClusterState(proposal.changed, world.evidence, world.features, CLOCK)
        assert Diagnoser(changed).pod(diagnosis.pod.key).verdict is Verdict.SCHEDULABLE
        scored = decide(Snapshot(changed), changed.inventory.pods[diagnosis.pod.key]).scores
        assert scored is not None
        assert set(proposal.remedy.nodes) == set(scored.best)


@pytest.mark.parametrize(
    ("more", "withheld", "nodes"),
    [
        # The emptier one of two that fit is the better one; of equal ones it is either.
        ({"cpu": "4"}, (), {"node-1"}),
        ({"cpu": "8"}, (), {"node-1", "node-2"}),
        # Pods of a Service are kept apart: where Services may not be read, any may be the best.
        ({"cpu": "4"}, ("Service",), {"node-1", "node-2"}),
    ],
)
def test_a_pod_runs_on_the_nodes_with_the_best_score(
    more: dict[str, str], withheld: tuple[str, ...], nodes: set[str]
) -> None:
    of_nodes = [build.node("node-1", cpu="8"), build.node("node-2", **more), build.node("node-3", cpu="8")]
    slices = [build.slice_(f"node-{number}", gpu("gpu-0", "A100")) for number in (1, 2)]
    claim = build.claim("claim", build.request(selector=f'{MODEL} == "H100"'))
    edits = [
        proposal.remedy.nodes
        for proposal in found(
            *of_nodes, *slices, claim, build.pod(claims=["claim"], requests={"cpu": "1"}), withheld=withheld
        )
        if any(isinstance(action, EditClaim) for action in proposal.remedy.actions)
    ]
    assert edits
    assert {frozenset(each) for each in edits} == {frozenset(nodes)}


# --- edits of claims ------------------------------------------------------------------------------------------------

CLAIM = ObjectRef("ResourceClaim", "ml", "claim")


def test_the_largest_count_that_works() -> None:
    claim = build.claim("claim", build.request(count=4))
    proposed = found(build.pod(claims=["claim"]), claim, build.node(), build.slice_("node-1", gpu("a"), gpu("b")))
    assert actions(proposed)[0] == EditClaim(CLAIM, "gpu", "count", "4", "2")
    changed = proposed[0].changed
    assert changed is not None
    assert changed.claims[CLAIM.key].spec.devices.requests[0].exactly.count == 2  # type: ignore[union-attr]


def test_a_value_that_was_seen_in_place_of_one_that_looks_like_it() -> None:
    claim = build.claim("claim", build.request(selector=f'{MODEL} == "h100"'))
    proposed = found(build.pod(claims=["claim"]), claim, build.node(), build.slice_("node-1", gpu("a")))
    edit = actions(proposed)[0]
    assert (edit.field, edit.after) == ("selectors[0]", f'{MODEL} == "H100"')


def test_only_the_condition_that_refuses_is_dropped() -> None:
    expression = f'{MODEL} == "H100" && device.driver == "other.example.com"'
    claim = build.claim("claim", build.request(selector=expression))
    proposed = found(build.pod(claims=["claim"]), claim, build.node(), build.slice_("node-1", gpu("a")))
    assert actions(proposed) == [EditClaim(CLAIM, "gpu", "selectors[0]", expression, f'{MODEL} == "H100"')]


@pytest.mark.parametrize("name", ["model", "modle"])
def test_a_selector_that_fails_is_corrected_and_guarded(name: str) -> None:
    expression = f'device.attributes["{build.DRIVER}"].{name} == "H100"'
    after = f'device.attributes["{build.DRIVER}"].?model.orValue("") == "H100"'
    bare = build.device("a")
    claim = build.claim("claim", build.request(selector=expression))
    nodes = [build.node("n1"), build.node("n2")]
    proposed = found(build.pod(claims=["claim"]), claim, *nodes, build.slice_("n1", bare), build.slice_("n2", gpu("b")))
    first = actions(proposed)[0]
    assert first.after == after


def test_a_misspelt_attribute() -> None:
    claim = build.claim("claim", build.request(selector=f'device.attributes["{build.DRIVER}"].modle == "H100"'))
    proposed = found(build.pod(claims=["claim"]), claim, build.node(), build.slice_("node-1", gpu("a")))
    assert actions(proposed)[0].after == f'{MODEL} == "H100"'


def test_tolerations_rules_and_constraints() -> None:
    rule = {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "ecc"},
        "spec": {"deviceSelector": {"device": "a"}, "taint": {"key": "ecc", "effect": "NoSchedule"}},
    }
    proposed = found(build.pod(claims=["claim"]), build.claim(), rule, build.node(), build.slice_("node-1", gpu("a")))
    assert actions(proposed)[:2] == [
        EditClaim(CLAIM, "gpu", "tolerations[0]", "", "ecc:NoSchedule"),
        RemoveTaintRule("ecc", "ecc:NoSchedule"),
    ]


def test_a_drivers_own_taint_can_not_be_removed() -> None:
    taint = {"key": "ecc", "value": "3", "effect": "NoExecute"}
    slice_ = build.slice_("node-1", gpu("a", taints=[taint]))
    proposed = found(build.pod(claims=["claim"]), build.claim(), build.node(), slice_)
    assert actions(proposed)[0] == EditClaim(CLAIM, "gpu", "tolerations[0]", "", "ecc=3:NoExecute")
    assert not any(isinstance(action, RemoveTaintRule) for action in actions(proposed))


def test_a_class_that_looks_like_the_missing_one() -> None:
    claim = build.claim("claim", build.request(cls="gpus.example.com"))
    proposed = found(build.pod(claims=["claim"]), claim, build.node(), build.slice_("node-1", gpu("a")))
    assert actions(proposed) == [
        CreateObject(ObjectRef("DeviceClass", "", "gpus.example.com")),
        EditClaim(CLAIM, "gpu", "deviceClassName", "gpus.example.com", build.DRIVER),
    ]
    assert [p.remedy.verified for p in proposed] == [False, True]


def test_two_changes_where_one_is_not_enough() -> None:
    taint = {"key": "ecc", "effect": "NoSchedule"}
    slice_ = build.slice_("node-1", gpu("a", model="L40", taints=[taint]))
    claim = build.claim("claim", build.request(selector=f'{MODEL} == "H100"'))
    proposed = found(build.pod(claims=["claim"]), claim, build.node(), slice_)
    assert [action.field for action in actions(proposed[:1])] == ["selectors[0]", "tolerations[0]"]
    assert all(len(proposal.remedy.actions) == 2 for proposal in proposed)


# --- devices that are given back ------------------------------------------------------------------------------------


def holder(name: str, *devices: str, node: str = "node-1") -> list[dict[str, Any]]:
    """A running pod with a claim of its own."""
    claim = build.claim(f"{name}-claim", held=[(node, d) for d in devices], on=node, by=[name])
    return [build.pod(name, claims=[f"{name}-claim"], node_name=node, phase="Running"), claim]


def test_the_fewest_pods_that_have_to_go() -> None:
    devices = [gpu(f"gpu-{i}") for i in range(6)]
    world = [build.node(), build.slice_("node-1", *devices)]
    wanted = [build.pod(claims=["claim"]), build.claim("claim", build.request(count=4))]
    holders = [
        *holder("a", "gpu-0", "gpu-1"),
        *holder("b", "gpu-2", "gpu-3"),
        *holder("c", "gpu-4"),
        *holder("d", "gpu-5"),
    ]
    proposed = [p for p in found(*world, *wanted, *holders) if p.remedy.kind is RemedyKind.FREE_DEVICES]
    assert len(proposed) == 1
    gone = [a.pod.name for a in proposed[0].remedy.actions if isinstance(a, DeletePod)]
    assert gone == ["a", "b"]


def test_a_shared_claim_is_released_only_with_its_last_consumer() -> None:
    shared = build.claim("shared", held=[("node-1", "gpu-0")], on="node-1", by=["a", "b"])
    users = [build.pod(name, claims=["shared"], node_name="node-1", phase="Running") for name in "ab"]
    proposed = found(
        build.pod(claims=["claim"]), build.claim(), shared, *users, build.node(), build.slice_("node-1", gpu("gpu-0"))
    )
    assert not any(isinstance(action, DeletePod) for action in actions(proposed))


def test_who_recreates_a_deleted_pod() -> None:
    pod, claim = holder("web-0", "gpu-0")
    pod["metadata"]["ownerReferences"] = [{"kind": "StatefulSet", "name": "web", "uid": "s", "controller": True}]
    proposed = found(
        build.pod(claims=["claim"]), build.claim(), pod, claim, build.node(), build.slice_("node-1", gpu("gpu-0"))
    )
    assert actions(proposed)[0] == DeletePod(
        ObjectRef("Pod", "ml", "web-0"),
        ("gpu.example.com/node-1/gpu-0",),
        ObjectRef("StatefulSet", "ml", "web"),
    )


@pytest.mark.parametrize(("kind", "ended"), [("LeaderWorkerSet", False), ("Deployment", True)])
def test_a_part_of_the_same_workload_is_not_ended_for_another_but_by_what_replaces_it(
    kind: str, *, ended: bool
) -> None:
    """To end one pod of a LeaderWorkerSet starts its whole replica again; a Deployment replaces its ReplicaSets."""

    def owned(made: dict[str, Any], by: str, name: str) -> dict[str, Any]:
        made["metadata"]["ownerReferences"] = [{"kind": by, "name": name, "uid": f"{by}-{name}", "controller": True}]
        return made

    def part(name: str) -> dict[str, Any]:
        made = {"apiVersion": "apps/v1", "kind": between, "metadata": {"name": name, "namespace": "ml"}, "spec": {}}
        made["metadata"]["uid"] = f"{between}-{name}"
        return owned(made, kind, "llama")

    between = "ReplicaSet" if ended else "StatefulSet"
    waiting = owned(build.pod(claims=["claim"]), between, "new")
    pod, claim = holder("old-0", "gpu-0")
    slice_ = build.slice_("node-1", gpu("gpu-0"))
    parts = (part("new"), part("old"))
    proposed = found(waiting, build.claim(), owned(pod, between, "old"), claim, *parts, build.node(), slice_)
    assert any(isinstance(action, DeletePod) for action in actions(proposed)) is ended


def test_idle_claims_go_before_pods_and_new_devices_come_last() -> None:
    idle = build.claim("idle", held=[("node-1", "gpu-0")], on="node-1")
    slice_ = build.slice_("node-1", gpu("gpu-0"), gpu("gpu-1"))
    proposed = found(build.pod(claims=["claim"]), build.claim(), idle, *holder("a", "gpu-1"), build.node(), slice_)
    assert [type(action) for action in actions(proposed)] == [DeleteClaim, DeletePod, AddDevices, AddNode]
    assert actions(proposed)[-2] == AddDevices(1, "gpu.example.com/node-1/gpu-0", "node-1")


# --- pods and gates -------------------------------------------------------------------------------------------------


def test_gates_are_removed_and_the_rest_is_tried_too() -> None:
    pod = build.pod(claims=["claim"], schedulingGates=[{"name": "g"}])
    proposed = found(pod, build.claim(), build.node(), build.slice_("node-1", gpu("a")))
    assert actions(proposed) == [RemoveGates(ObjectRef("Pod", "ml", "pod"), ("g",))]
    assert (proposed[0].remedy.verified, proposed[0].remedy.nodes) == (True, ("node-1",))


def test_a_missing_claim_is_created_or_another_one_named() -> None:
    proposed = found(build.pod(claims=["gpus"]), build.claim("gpus-a"), build.node(), build.slice_("node-1", gpu("a")))
    pod = ObjectRef("Pod", "ml", "pod")
    assert actions(proposed) == [
        CreateObject(ObjectRef("ResourceClaim", "ml", "gpus")),
        EditPod(pod, "resourceClaims[gpus]", "gpus", "gpus-a"),
    ]
    assert [p.remedy.verified for p in proposed] == [False, True]


def test_node_selector_taints_and_cordons() -> None:
    node = build.node()
    slice_ = build.slice_("node-1", gpu("a"))
    picky = build.pod(claims=["claim"], nodeSelector={"zone": "a"})
    assert actions(found(picky, build.claim(), node, slice_))[0].field == "nodeSelector[zone]"
    node["spec"] = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    edit = actions(found(build.pod(claims=["claim"]), build.claim(), node, slice_))[0]
    assert (edit.field, edit.after) == ("tolerations[0]", "k:NoSchedule")
    node["spec"] = {"unschedulable": True}
    assert [p.remedy.kind for p in found(build.pod(claims=["claim"]), build.claim(), node, slice_)] == [
        RemedyKind.UNCORDON
    ]


def test_of_many_cordoned_nodes_those_are_uncordoned_that_nothing_else_closes() -> None:
    objects = []
    for number in range(6):
        node = build.node(f"node-{number}")
        node["spec"] = {"unschedulable": True, "taints": [] if number == 5 else [{"key": "k", "effect": "NoSchedule"}]}
        objects += [node, build.slice_(f"node-{number}", gpu("a"))]
    proposed = found(build.pod(claims=["claim"]), build.claim(), *objects)
    verified = [p.remedy for p in proposed if p.remedy.verified and p.remedy.kind is RemedyKind.UNCORDON]
    assert [each.nodes for each in verified] == [("node-5",)]


def test_nothing_is_proposed_without_evidence_and_waiting_is_told() -> None:
    objects = [build.pod(claims=["claim"]), build.claim(), build.node(), build.slice_("node-1", gpu("a"))]
    assert found(*objects, withheld=("ResourceClaim", "ResourceSlice")) == ()
    assert actions(found(*objects)) == [Wait("kube-scheduler")]


# --- alternatives, several requests, what the pod asks of its node --------------------------------------------------


def test_an_alternative_of_first_available() -> None:
    options = [
        {"name": "many", "deviceClassName": build.DRIVER, "allocationMode": "ExactCount", "count": 8},
        {"name": "few", "deviceClassName": build.DRIVER, "allocationMode": "ExactCount", "count": 4},
    ]
    claim = build.claim("claim", {"name": "gpu", "firstAvailable": options})
    proposed = found(build.pod(claims=["claim"]), claim, build.node(), build.slice_("node-1", gpu("a"), gpu("b")))
    assert actions(proposed)[:2] == [
        EditClaim(CLAIM, "gpu/many", "count", "8", "2"),
        EditClaim(CLAIM, "gpu/few", "count", "4", "2"),
    ]


def test_one_of_several_requests_is_left_out_with_what_speaks_of_it() -> None:
    constraint = {"requests": ["b"], "matchAttribute": f"{build.DRIVER}/model"}
    claim = build.claim("claim", build.request("a"), build.request("b"), constraints=[constraint])
    objects = [claim, build.node(), build.slice_("node-1", gpu("x"))]
    proposed = found(build.pod(claims=["claim"]), *objects)
    first = next(p for p in proposed if actions((p,))[0] == EditClaim(CLAIM, "b", "requests", "b", "", several=True))
    assert first.changed is not None
    devices = first.changed.claims[CLAIM.key].spec.devices
    assert ([r.name for r in devices.requests], devices.constraints) == (["a"], ())
    named = build.pod(claims=["claim"])
    named["spec"]["containers"][0]["resources"]["claims"] = [{"name": "claim", "request": "b"}]
    assert not any(getattr(a, "before", "") == "b" for a in actions(found(named, *objects)))


def test_fewer_of_an_extended_resource() -> None:
    resource = "example.com/gpu"
    served = build.device_class("served", extendedResourceName=resource)
    pod = build.pod(requests={resource: "3"})
    pod["spec"]["containers"][0]["resources"]["limits"] = {resource: "3"}
    proposed = found(pod, served, build.node(), build.slice_("node-1", gpu("a"), gpu("b")))
    field = f"containers[main].resources[{resource}]"
    assert actions(proposed)[0] == EditPod(ObjectRef("Pod", "ml", "pod"), field, "3", "2")
    changed = proposed[0].changed
    assert changed is not None
    resources = changed.pods[POD].spec.containers[0].resources
    assert (str(resources.requests[resource]), str(resources.limits[resource])) == ("2", "2")


def test_a_misspelt_extended_resource_is_named_right() -> None:
    """A class for the wrong name would serve whatever the driver has, under a name that nobody meant."""
    served = build.device_class("served", extendedResourceName="example.com/gpu")
    pod = build.pod(requests={"example.com/gpus": "1"})
    proposed = found(pod, served, build.node(), build.slice_("node-1", gpu("a")))
    ref = ObjectRef("Pod", "ml", "pod")
    assert actions(proposed) == [EditPod(ref, "resources", "example.com/gpus", "example.com/gpu")]
    assert [p.remedy.verified for p in proposed] == [True]


@pytest.mark.parametrize(("resource", "asked", "left"), [("cpu", "6", "4"), ("memory", "20Gi", "16Gi")])
def test_as_much_of_a_node_as_is_left(resource: str, asked: str, left: str) -> None:
    pod = build.pod(claims=["claim"], requests={resource: asked})
    proposed = found(pod, build.claim(), build.node(), build.slice_("node-1", gpu("a")))
    field = f"containers[main].resources[{resource}]"
    assert actions(proposed)[0] == EditPod(ObjectRef("Pod", "ml", "pod"), field, asked, left)


# --- what is never proposed, or not first -----------------------------------------------------------------------------


def test_system_critical_pods_come_last_and_never_first() -> None:
    critical, its_claim = holder("critical", "gpu-0")
    critical["spec"]["priority"] = 2_000_000_000
    world = [build.node(), build.slice_("node-1", gpu("gpu-0"), gpu("gpu-1"))]
    wanted = [build.pod(claims=["claim"]), build.claim()]
    proposed = found(*world, *wanted, critical, its_claim, *holder("plain", "gpu-1"))
    names = [a.pod.name for a in actions(proposed) if isinstance(a, DeletePod)]
    assert names == ["plain", "critical"]
    alone = found(*world[:1], build.slice_("node-1", gpu("gpu-0")), *wanted, critical, its_claim)
    assert not any(isinstance(action, DeletePod) for action in actions(alone))  # rather new devices


def test_the_mirror_of_a_static_pod_is_not_deleted() -> None:
    static, its_claim = holder("static", "gpu-0")
    static["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    objects = [build.pod(claims=["claim"]), build.claim(), static, its_claim, build.node()]
    proposed = found(*objects, build.slice_("node-1", gpu("gpu-0")))
    assert not any(isinstance(action, DeletePod) for action in actions(proposed))


@pytest.mark.parametrize("kept", ["another consumer", "no finalizer"])
def test_what_a_deletion_does_not_release(kept: str) -> None:
    """An owned claim stays while somebody else uses it; the controller touches only claims with its finalizer."""
    pod, claim = holder("a", "gpu-0")
    if kept == "another consumer":
        owner = {"kind": "Pod", "name": "a", "uid": "pod-a", "controller": True}
        claim["metadata"]["ownerReferences"] = [owner]
        claim["status"]["reservedFor"].append({"resource": "pods", "name": "b", "uid": "pod-b"})
    else:
        claim["metadata"]["finalizers"] = []
    objects = [build.pod(claims=["claim"]), build.claim(), pod, claim, build.node()]
    proposed = found(*objects, build.slice_("node-1", gpu("gpu-0")))
    assert not any(isinstance(action, DeletePod) for action in actions(proposed))


def test_it_is_said_that_two_changes_do_not_help_either() -> None:
    world = ClusterState(
        facts.inventory([CLASS, build.pod(claims=["claim"]), build.claim(), build.node()]),
        facts.evidence(),
        features(),
        CLOCK,
    )
    nothing = find(world, Diagnoser(world).pod(POD))
    assert nothing.none_of_size_two
    assert [type(p.remedy.actions[0]) for p in nothing.additions] == [AddDevices]
    assert nothing.searched.singles == 0
    count = build.claim("claim", build.request(count=2))
    objects = [CLASS, build.pod(claims=["claim"]), count, build.node(), build.slice_("node-1", gpu("a"))]
    world = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    assert not find(world, Diagnoser(world).pod(POD)).none_of_size_two
