"""Which of the nodes that fit the scheduler takes one of: what decides is read where needed, or said to be open."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.attempt import AlikeNodes, NodeResult, PodAttempt
from kubectl_dra.diagnosis.pod.choice import NodeChoice, best, choice, choice_of
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import Owners, WhyUnread
from kubectl_dra.diagnosis.records import NodeOutcome
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import LabelSelector, ObjectMeta, OwnerReference
from kubectl_dra.model.workloads import MakerSpec, WorkloadObject
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.scheduler.rows import snapshot_of
from tests.vectors.rows import rows

NODES = ("node-1", "node-2")
SET = WorkloadObject(spec=MakerSpec(selector=LabelSelector(match_labels={"app": "db"})))


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
        (WhyUnread.GONE, ("node-1",)),
        (WhyUnread.FORBIDDEN, NODES),
        (WhyUnread.NOT_ASKED, NODES),
    ],
)
def test_the_controller_of_a_pod_is_read_where_it_decides(
    found: WorkloadObject | WhyUnread, expected: tuple[str, ...]
) -> None:
    asked: list[OwnerReference] = []

    def read(_namespace: str, reference: OwnerReference) -> WorkloadObject | WhyUnread:
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
    def read(_namespace: str, _reference: OwnerReference) -> WorkloadObject | WhyUnread:
        raise AssertionError

    state = world(*RUNNING, wants, withheld=("StatefulSet", "ReplicaSet", "DaemonSet"))
    assert choice(state, Key(build.NAMESPACE, "pod"), NODES, Owners(state.inventory, read)) == ("node-1",)


def test_of_more_nodes_than_the_scheduler_looks_at_any_may_be_taken() -> None:
    state = world(pod("x", "node-2"), pod("pod"), nodes=150)
    names = tuple(state.inventory.nodes)
    key, owners = Key(build.NAMESPACE, "pod"), Owners(state.inventory)
    assert choice(state, key, names, owners) == names
    assert set(choice(state, key, names[:100], owners)) == set(names[:100]) - {"node-2"}


def test_the_best_nodes_of_pods_that_fit_are_those_that_the_real_scheduler_names() -> None:
    chosen = 0
    for row in rows("sched")[::5]:
        state = snapshot_of(row).state
        diagnoser, owners = Diagnoser(state), Owners(state.inventory)
        for entry in row["expect"]:
            if entry["outcome"] == "fits":
                namespace, _, name = entry["pod"].partition("/")
                found = choice_of(state, diagnoser.pod(Key(namespace, name)), owners)
                assert sorted(found.best) == entry["best"], row["id"]
                chosen += len(entry["best"]) < len(entry["feasible"])
    assert chosen > 100


def found_for(state: ClusterState, owners: Owners | None = None) -> NodeChoice:
    diagnosis = Diagnoser(state).pod(Key(build.NAMESPACE, "pod"))
    return choice_of(state, diagnosis, owners or Owners(state.inventory))


def test_pods_alike_share_the_choice_and_others_have_their_own() -> None:
    same = [pod(name, labels={"app": "db"}, owner="ReplicaSet") for name in ("a", "b")]
    state = world(*RUNNING, *same, pod("c", labels={"app": "db"}), withheld=("ReplicaSet",))
    diagnoser, owners = Diagnoser(state), Owners(state.inventory, lambda *_: SET)
    found = [choice_of(state, diagnoser.pod(Key(build.NAMESPACE, name)), owners).best for name in "abc"]
    assert found[0] is found[1]
    assert found == [("node-2",), ("node-2",), ("node-1",)]


def test_what_is_not_read_leaves_the_choice_open() -> None:
    assert found_for(world(*RUNNING, pod("pod"), withheld=("Service",))) == NodeChoice()
    wants = pod("pod", labels={"app": "db", "role": "replica"}, owner="StatefulSet")
    state = world(*RUNNING, wants, withheld=("StatefulSet",))
    assert found_for(state) == NodeChoice()
    # What could not be read is asked for again.
    assert found_for(state, Owners(state.inventory, lambda *_: SET)) == NodeChoice(("node-2",))


def test_of_more_nodes_than_are_compared_the_number_is_told() -> None:
    assert found_for(world(pod("pod"), nodes=150)) == NodeChoice(compared=100)


def test_a_pod_that_does_not_fit_and_one_of_a_group_have_no_choice() -> None:
    large = build.pod("pod", requests={"cpu": "9"})
    assert found_for(world(large)) == NodeChoice()
    grouped = pod("pod")
    grouped["spec"]["schedulingGroup"] = {"podGroupName": "gang"}
    assert found_for(world(grouped)) == NodeChoice()


class Name(str):
    """A name that counts how often it is compared with another one."""

    compared = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


def test_nodes_that_fit_are_not_looked_through_for_each_of_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thousands with the same score that took as long as the attempt."""
    names = [Name(f"n{number}") for number in range(100)]
    nodes = [Node(ObjectMeta(name=name)) for name in names]
    alike = AlikeNodes(NodeResult(NodeOutcome.FITS), nodes, range(len(nodes)))
    found = SimpleNamespace(best=(*names[::-2], Name("elsewhere")))
    monkeypatch.setattr("kubectl_dra.diagnosis.pod.choice.scores", lambda engine: found)
    tried = PodAttempt((), None, None, (alike,), engine=cast("Any", object()))
    Name.compared = 0
    assert best(tried) == tuple(names[::-2])
    assert Name.compared < 100 + len(names)
