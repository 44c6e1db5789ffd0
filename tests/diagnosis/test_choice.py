"""Which of the nodes that fit the scheduler takes one of: what decides is read where needed, or said to be open."""

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.choice import choice
from kubectl_dra.diagnosis.workloads import Owners, Unread
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import LabelSelector, OwnerReference
from kubectl_dra.model.workloads import WorkloadObject, WorkloadSpec
from tests.diagnosis import build, facts
from tests.kit.clock import CLOCK

NODES = ("node-1", "node-2")
SET = WorkloadObject(spec=WorkloadSpec(selector=LabelSelector(match_labels={"app": "db"})))


def pod(name: str, on: str = "", labels: dict[str, str] | None = None, owner: str = "") -> dict[str, Any]:
    made = build.pod(name, requests={"cpu": "1"}, node_name=on)
    made["metadata"]["labels"] = labels or {}
    if owner:
        reference = {"apiVersion": "apps/v1", "kind": owner, "name": "db", "uid": "u", "controller": True}
        made["metadata"]["ownerReferences"] = [reference]
    return made


def world(*objects: dict[str, Any], withheld: tuple[str, ...] = (), nodes: int = 2) -> ClusterState:
    names = (f"node-{number}" for number in range(1, nodes + 1))
    of_nodes = [build.node(name, labels={"kubernetes.io/hostname": name}, cpu="8") for name in names]
    return ClusterState(facts.inventory([*of_nodes, *objects]), facts.evidence(*withheld), features(), CLOCK)


#: On node-1 is one more pod of the set, on node-2 two of nobody.
RUNNING = (
    pod("db-0", "node-1", {"app": "db"}),
    pod("x", "node-2"),
    pod("y", "node-2"),
)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (SET, ("node-2",)),
        (Unread.GONE, ("node-1",)),
        (Unread.FORBIDDEN, NODES),
        (Unread.NOT_ASKED, NODES),
    ],
)
def test_the_controller_of_a_pod_is_read_where_it_decides(
    found: WorkloadObject | Unread, expected: tuple[str, ...]
) -> None:
    asked: list[OwnerReference] = []

    def read(_namespace: str, reference: OwnerReference) -> WorkloadObject | Unread:
        asked.append(reference)
        return found

    # Another label than that of its set: the labels would not do in place of the selector.
    wants = pod("pod", labels={"app": "db", "role": "replica"}, owner="StatefulSet")
    state = world(*RUNNING, wants, withheld=("StatefulSet",))
    assert choice(state, Key(build.NAMESPACE, "pod"), NODES, Owners(state.inventory, read)) == expected
    assert [each.kind for each in asked] == ["StatefulSet"]


@pytest.mark.parametrize(
    "wants",
    [
        pod("pod"),
        pod("pod", labels={"app": "db"}, owner="DaemonSet"),
        # A ReplicaSet of a Deployment selects by this hash, which no other pods have.
        pod("pod", labels={"app": "web", "pod-template-hash": "6d4b9c7f5d"}, owner="ReplicaSet"),
    ],
)
def test_no_controller_is_read_where_none_decides(wants: dict[str, Any]) -> None:
    def read(_namespace: str, _reference: OwnerReference) -> WorkloadObject | Unread:
        raise AssertionError

    state = world(*RUNNING, wants, withheld=("StatefulSet", "ReplicaSet", "DaemonSet"))
    assert choice(state, Key(build.NAMESPACE, "pod"), NODES, Owners(state.inventory, read)) == ("node-1",)


def test_of_more_nodes_than_the_scheduler_looks_at_any_may_be_taken() -> None:
    state = world(pod("x", "node-2"), pod("pod"), nodes=150)
    names = tuple(state.inventory.nodes)
    key, owners = Key(build.NAMESPACE, "pod"), Owners(state.inventory)
    assert choice(state, key, names, owners) == names
    assert set(choice(state, key, names[:100], owners)) == set(names[:100]) - {"node-2"}
