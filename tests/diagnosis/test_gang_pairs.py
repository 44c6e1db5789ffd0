"""Two changes together for a group: before fewer of its pods, or fewer devices, are all that is offered."""

from __future__ import annotations

from typing import Any, Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.remedies import Remedy
from kubectl_dra.diagnosis.remedies.actions import EditGroup, ScaleDown
from kubectl_dra.diagnosis.remedies.records import Action, DeletePod, EditClaim, EditPod, Uncordon
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.diagnosis.gangs import Object, cluster, gpus, group, of_pod
from tests.diagnosis.test_gang_remedies import from_template
from tests.kit import build
from tests.kit.ways import remedies
from tests.reports.test_renewal import owned

TAINT: Final = {"key": "team", "value": "research", "effect": "NoSchedule"}


def tainted(name: str, number: int) -> list[Object]:
    node, slice_ = gpus(name, number)
    return [{**node, "spec": {"taints": [TAINT]}}, slice_]


def cordoned(name: str, number: int) -> list[Object]:
    node, slice_ = gpus(name, number)
    return [{**node, "spec": {"unschedulable": True}}, slice_]


def serving(node: str) -> list[Object]:
    """The only pod of a workload, with a device of the node by a claim of its own."""
    claim_owner = {"apiVersion": "v1", "kind": "Pod", "name": "serve-x", "uid": "pod-serve-x", "controller": True}
    claim = build.claim(
        "serve-x-gpus",
        build.request(),
        held=[(node, "gpu-0")],
        by=["serve-x"],
        on=node,
        metadata={"ownerReferences": [claim_owner]},
    )
    pod = owned(build.pod("serve-x", templates=["one"], node_name=node, phase="Running"), "ReplicaSet", "serve")
    pod["status"] |= {
        "conditions": [{"type": "Ready", "status": "True"}],
        "resourceClaimStatuses": [{"name": "one", "resourceClaimName": "serve-x-gpus"}],
    }
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one", "namespace": build.NAMESPACE},
        "spec": {"spec": build.claim("x")["spec"]},
    }
    meta = {"name": "serve", "namespace": build.NAMESPACE, "uid": "ReplicaSet-serve"}
    return [
        pod,
        claim,
        template,
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": {"replicas": 1}},
    ]


def crowded() -> ClusterState:
    """Three pods with two devices each: node-a has them, node-b only for who tolerates it, node-c but for one."""
    nodes = (*gpus("node-a", 2), *tainted("node-b", 2), *gpus("node-c", 2))
    return cluster(*nodes, group(3), *from_template(3, 2), *serving("node-c"))


def kinds(found: Remedy) -> set[type[Any]]:
    return {type(each) for each in found.actions}


def with_all(found: tuple[Remedy, ...], *wanted: type[Action]) -> list[Remedy]:
    return [each for each in found if kinds(each) == set(wanted)]


def test_a_toleration_and_the_end_of_other_work() -> None:
    state = crowded()
    found = remedies(state, of_pod(state, "train-0"))
    (together,) = with_all(found, EditPod, ScaleDown)
    # It would be made again on node-a before the group has its turn.
    assert together.nodes
    assert not with_all(found, EditPod, DeletePod)
    told = [plain(remedy_text(each)) for each in find_remedies(state, of_pod(state, "train-0")).remedies]
    assert any(
        "tolerate the node taint team=research:NoSchedule" in each and "scale ReplicaSet" in each for each in told
    )
    assert told.index(next(each for each in told if "minCount" in each)) > told.index(
        next(each for each in told if "scale ReplicaSet" in each)
    )


def test_what_finds_room_elsewhere_is_deleted() -> None:
    """On node-d alone there is a device for it, and too few for a pod of the group."""
    disk = {"disk": "ssd"}
    node, slice_ = gpus("node-d", 1)
    node["metadata"]["labels"] = disk
    serving_there = serving("node-c")
    serving_there[0]["spec"]["nodeSelector"] = disk
    nodes = (*gpus("node-a", 2), *tainted("node-b", 2), *gpus("node-c", 2), node, slice_)
    state = cluster(*nodes, group(3), *from_template(3, 2), *serving_there)
    found = remedies(state, of_pod(state, "train-0"))
    assert with_all(found, EditPod, DeletePod)
    assert not with_all(found, EditPod, ScaleDown)


def test_a_toleration_and_fewer_devices_are_offered_once() -> None:
    nodes = (*gpus("node-a", 4), *tainted("node-b", 3), *tainted("node-c", 4))
    state = cluster(*nodes, group(3), *from_template(3, 4))
    assert len(with_all(remedies(state, of_pod(state, "train-0")), EditPod, EditClaim)) == 1


def test_an_uncordoned_node_and_the_end_of_other_work() -> None:
    nodes = (*gpus("node-a", 2), *cordoned("node-b", 2), *gpus("node-c", 2))
    state = cluster(*nodes, group(3), *from_template(3, 2), *serving("node-c"))
    assert with_all(remedies(state, of_pod(state, "train-0")), Uncordon, ScaleDown)


def test_no_pairs_where_one_change_starts_the_whole_group() -> None:
    nodes = (*gpus("node-a", 2), *tainted("node-b", 4))
    state = cluster(*nodes, group(3), *from_template(3, 2))
    found = remedies(state, of_pod(state, "train-0"))
    assert with_all(found, EditPod)
    assert all(len(each.actions) == 1 for each in found)
    assert with_all(found, EditGroup)
