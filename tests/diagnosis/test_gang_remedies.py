"""Ways out for groups: each is tried on the whole group."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.assignment import search
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies import Remedy
from kubectl_dra.diagnosis.remedies.actions import EditGroup
from kubectl_dra.diagnosis.remedies.records import (
    CreateObject,
    DeletePod,
    EditClaim,
    EditPod,
    PinPods,
    RemedyKind,
    RemoveGates,
)
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.consequences import note_texts
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.diagnosis.gangs import GROUP, Object, cluster, gpus, group, member, members, of_pod
from tests.kit import build
from tests.kit.ways import proposals, remedies


def ways_out(state: ClusterState, pod: str = "train-0") -> dict[RemedyKind, Remedy]:
    """The cheapest of each kind."""
    found = remedies(state, of_pod(state, pod))
    return {remedy.kind: remedy for remedy in reversed(found)}


def from_template(number: int, devices: int) -> list[Object]:
    """Pods of a group with claims made from one template."""
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpus", "namespace": build.NAMESPACE},
        "spec": {"spec": build.claim("x", build.request(count=devices))["spec"]},
    }
    made: list[Object] = [template]
    for index in range(number):
        name = f"train-{index}"
        pod = build.pod(name, templates=["gpus"], schedulingGroup={"podGroupName": "train"})
        pod["status"]["resourceClaimStatuses"] = [{"name": "gpus", "resourceClaimName": f"{name}-gpus"}]
        owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"pod-{name}", "controller": True}
        claim = build.claim(f"{name}-gpus", build.request(count=devices), metadata={"ownerReferences": [owner]})
        made += [pod, claim]
    return made


def test_as_many_nodes_as_the_group_needs_and_no_more() -> None:
    state = cluster(*gpus("node-a", 2), group(3), *members(3, devices=2))
    found = find_remedies(state, of_pod(state, "train-0"))
    texts = [plain(remedy_text(each)) for each in (*found.remedies, *found.additions)]
    assert "add 2 nodes like node-a (fewer are not enough)" in texts
    state = cluster(*gpus("node-a", 4), group(3), *members(3, devices=2))
    found = find_remedies(state, of_pod(state, "train-0"))
    texts = [plain(remedy_text(each)) for each in (*found.remedies, *found.additions)]
    assert "add a node like node-a" in texts


def test_bare_pods_are_changed_together() -> None:
    """Nobody makes them anew but a person: what one of them needs, those like it need too."""
    wanted = {"nodeSelector": {"disk": "ssd"}}
    state = cluster(build.node("node-a"), group(3), *members(3, devices=0, **wanted))
    report = find_remedies(state, of_pod(state, "train-1")).remedies[0]
    (action,) = report.actions
    assert isinstance(action, EditPod)
    changed = [action.pod.name, *(pod.name for pod in action.also)]
    assert sorted(changed) == ["train-0", "train-1", "train-2"]
    assert plain(remedy_text(report)).endswith("node selector (recreate 3 pods of the group)")
    commands = [" ".join(step.commands[0]) for step in report.steps]
    assert all(any(f" pod/{name} " in command for command in commands) for name in changed)


def test_a_pod_that_is_not_like_the_others_is_changed_alone() -> None:
    odd = member(2, nodeSelector={"disk": "ssd"})
    state = cluster(build.node("node-a"), group(3), *members(2), *odd)
    (action,) = ways_out(state)[RemedyKind.EDIT_POD].actions
    assert isinstance(action, EditPod)
    assert (action.pod.name, action.also) == ("train-2", ())


def test_what_a_pod_names_of_its_own_is_its_own() -> None:
    """Each of the pods names a claim that does not exist, with a name like that of the one that does."""
    pods = [build.pod(f"train-{i}", claims=[f"gpu-{i}"], schedulingGroup={"podGroupName": "train"}) for i in range(2)]
    state = cluster(*gpus("node-a", 2), group(1), *pods, build.claim("gpu-1"), build.claim("gpu-00"))
    edits = [
        action
        for proposal in proposals(state, of_pod(state, "train-0"))
        for action in proposal.remedy.actions
        if isinstance(action, EditPod) and action.field.startswith("resourceClaims")
    ]
    assert edits
    assert all(not action.also for action in edits)


def test_fewer_devices_for_every_pod() -> None:
    state = cluster(*gpus("node-a", 3), group(2), *from_template(2, 2))
    for pod in ("train-0", "train-1"):
        found = ways_out(state, pod)[RemedyKind.EDIT_CLAIM]
        (action,) = found.actions
        assert isinstance(action, EditClaim)
        assert (action.field, action.before, action.after) == ("count", "2", "1")
        assert action.template == ObjectRef("ResourceClaimTemplate", "ml", "gpus")
        assert found.nodes == ("node-a",)


def test_fewer_devices_than_the_last_pod_finds_left() -> None:
    """Nothing is left for the last pod; if each took less, something would be."""
    state = cluster(*gpus("node-a", 4), *gpus("node-b", 2), group(4), *from_template(4, 2))
    (action,) = ways_out(state)[RemedyKind.EDIT_CLAIM].actions
    assert isinstance(action, EditClaim)
    assert (action.before, action.after) == ("2", "1")


def test_of_many_devices_halves_are_tried() -> None:
    """With seven of eight devices no more pods fit on a node; with four, two do."""
    state = cluster(*gpus("node-a", 8), *gpus("node-b", 8), group(4), *from_template(4, 8))
    (action,) = ways_out(state)[RemedyKind.EDIT_CLAIM].actions
    assert isinstance(action, EditClaim)
    assert (action.before, action.after) == ("8", "4")


def test_who_may_have_four_devices_is_not_offered_three() -> None:
    """Four are what the third node has; half of six would do, too."""
    nodes = [*gpus("node-a", 8), *gpus("node-b", 8), *gpus("node-c", 4)]
    state = cluster(*nodes, group(3), *from_template(3, 6))
    found = [way.actions[0] for way in remedies(state, of_pod(state, "train-0")) if way.kind is RemedyKind.EDIT_CLAIM]
    assert [each.after for each in found if isinstance(each, EditClaim)] == ["4"]


def test_all_pods_of_the_template_are_made_anew() -> None:
    state = cluster(*gpus("node-a", 3), group(2), *from_template(2, 2))
    reports = find_remedies(state, of_pod(state, "train-0")).remedies
    edit = next(each for each in reports if each.kind is RemedyKind.EDIT_CLAIM)
    words = [" ".join(word for word in command if isinstance(word, str)) for s in edit.steps for command in s.commands]
    assert sum("train-0" in text for text in words) >= 1
    assert sum("train-1" in text for text in words) >= 1


def test_a_lower_min_count_where_some_fit() -> None:
    state = cluster(*gpus("node-a", 2), group(3), *members(3, devices=1))
    found = ways_out(state)[RemedyKind.EDIT_GROUP]
    assert found.actions == (EditGroup(ObjectRef("PodGroup", "ml", "train"), "minCount", "3", "2", waiting=1),)
    report = next(
        each for each in find_remedies(state, of_pod(state, "train-2")).remedies if each.kind is RemedyKind.EDIT_GROUP
    )
    assert plain(remedy_text(report)) == "lower minCount of PodGroup train from 3 to 2"
    assert "1 of its pods goes on waiting, and the others start without it" in map(plain, note_texts(report))
    (step,) = report.steps
    assert step.commands[0][:2] == ("kubectl", "patch")


def test_of_a_larger_group_more_pods_go_on_waiting() -> None:
    state = cluster(*gpus("node-a", 2), group(3), *members(5, devices=1))
    found = ways_out(state)[RemedyKind.EDIT_GROUP]
    assert found.actions == (EditGroup(ObjectRef("PodGroup", "ml", "train"), "minCount", "3", "2", waiting=3),)


def test_a_lower_min_count_where_pods_are_missing() -> None:
    state = cluster(build.node(), group(3), *members(2))
    found = ways_out(state)[RemedyKind.EDIT_GROUP]
    assert found.actions == (EditGroup(ObjectRef("PodGroup", "ml", "train"), "minCount", "3", "2"),)
    # That they are tried is no promise that they fit.
    small = cluster(build.node(cpu="1"), group(3), *members(2, requests={"cpu": "3"}))
    assert ways_out(small)[RemedyKind.EDIT_GROUP].actions == found.actions


def test_no_lower_min_count_where_none_fits() -> None:
    state = cluster(build.node(), group(2), *members(2, devices=1))
    assert RemedyKind.EDIT_GROUP not in ways_out(state)


def test_devices_that_somebody_else_holds() -> None:
    holder = [
        build.pod("other", claims=["other"], node_name="node-a", phase="Running"),
        build.claim("other", build.request(), held=[("node-a", "gpu-0")], by=["other"], on="node-a"),
    ]
    state = cluster(*gpus("node-a", 2), group(2), *members(2, devices=1), *holder)
    found = ways_out(state)[RemedyKind.FREE_DEVICES]
    (action,) = found.actions
    assert isinstance(action, DeletePod)
    assert action.pod == ObjectRef("Pod", "ml", "other")


def test_pods_of_the_group_itself_are_never_deleted_for_it() -> None:
    running = build.pod(
        "train-9", claims=["own"], node_name="node-a", phase="Running", schedulingGroup={"podGroupName": "train"}
    )
    own = build.claim("own", build.request(), held=[("node-a", "gpu-0")], by=["train-9"], on="node-a")
    state = cluster(*gpus("node-a", 2), group(3), running, own, *members(2, devices=1))
    assert RemedyKind.FREE_DEVICES not in ways_out(state)


def test_the_gate_of_another_pod() -> None:
    gated = member(2, schedulingGates=[{"name": "example.com/quota"}])
    state = cluster(build.node(), group(2), *members(2), *gated)
    found = ways_out(state)[RemedyKind.REMOVE_GATE]
    assert found.actions == (RemoveGates(ObjectRef("Pod", "ml", "train-2"), ("example.com/quota",)),)
    assert found.verified


def test_a_group_that_is_missing_is_created() -> None:
    state = cluster(build.node(), *members(2))
    found = ways_out(state)[RemedyKind.CREATE_OBJECT]
    assert found.actions == (CreateObject(ObjectRef("PodGroup", "ml", "train")),)
    assert not found.verified


def test_a_way_out_of_a_pod_that_is_left_over_is_about_that_pod() -> None:
    state = cluster(*gpus("node-a", 2), group(1), *members(3, devices=1))
    assert RemedyKind.EDIT_GROUP not in ways_out(state, "train-2")
    added = ways_out(state, "train-2")[RemedyKind.ADD_DEVICES]
    assert added.nodes == ("node-a",)


# --- another assignment -----------------------------------------------------------------------------------------------


def greedy(**fields: Any) -> ClusterState:
    """The first pod is drawn to the only node on which the second one fits."""
    nodes = [*gpus("node-a", 1, cpu="64"), build.node("node-b", cpu="8")]
    first = build.pod("train-0", requests={"cpu": "4"}, schedulingGroup={"podGroupName": "train"})
    prefers = {
        "weight": 100,
        "preference": {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]},
    }
    first["spec"]["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefers]}}
    second = [
        build.pod("train-1", claims=["train-1"], requests={"cpu": "62"}, schedulingGroup={"podGroupName": "train"}),
        build.claim("train-1"),
    ]
    return cluster(*nodes, group(2), first, *second, **fields)


def test_an_assignment_that_the_scheduler_does_not_find() -> None:
    state = greedy()
    found = ways_out(state)[RemedyKind.PIN_PODS]
    (action,) = found.actions
    assert isinstance(action, PinPods)
    assert {each.pod.name: each.node for each in action.pods} == {"train-0": "node-b", "train-1": "node-a"}
    assert set(found.nodes) == {"node-a", "node-b"}


def test_where_there_is_none_none_is_named() -> None:
    state = cluster(*gpus("node-a", 1), group(2), *members(2, devices=1))
    found = search(state, GROUP)
    assert (dict(found.nodes), found.searched) == ({}, True)


def test_the_search_ends() -> None:
    found = search(greedy(), GROUP, limit=1)
    assert (dict(found.nodes), found.searched) == ({}, False)


def test_pods_that_run_and_domains_are_respected() -> None:
    running = build.pod("train-9", node_name="node-a", phase="Running", schedulingGroup={"podGroupName": "train"})
    nodes = [build.node(name, labels={"rack": rack}, cpu="4") for name, rack in (("node-a", "r1"), ("node-b", "r2"))]
    constraint = {"topology": [{"key": "rack"}]}
    state = cluster(
        *nodes,
        group(3, schedulingConstraints=constraint),
        running,
        *members(2, requests={"cpu": "3"}),
        TopologyAwareWorkloadScheduling=True,
    )
    assert not search(state, GROUP).nodes


@pytest.mark.parametrize("name", ["train-0", "train-1"])
def test_every_way_out_does_what_it_says(name: str) -> None:
    """The cluster that a verified way out leads to places the group."""
    state = greedy()
    found = [each for each in proposals(state, of_pod(state, name)) if each.remedy.verified]
    assert found
    for proposal in found:
        assert proposal.changed is not None
        after = Diagnoser(state.changed(proposal.changed)).pod(Key(build.NAMESPACE, "train-0"))
        assert after.verdict.value == "Schedulable"
