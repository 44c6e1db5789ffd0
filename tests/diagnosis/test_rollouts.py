"""Rollouts that wait for themselves, by the tables of upstream's tests and by whole clusters."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import Owners, WhyUnread
from kubectl_dra.diagnosis.remedies import Proposals, find
from kubectl_dra.diagnosis.rollouts import EditRollout, fenceposts, stuck_rollout
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import MakerSpec, RollingUpdate, UpdateStrategy, WorkloadObject
from tests.kit.facts import evidence, inventory
from tests.kit.rollouts import NAME, NAMESPACE, NEW, OLD, daemon_objects, objects
from tests.kit.state import state_of

PENDING = Key(NAMESPACE, f"{NEW}-p0")


def deployment(replicas: int | None, surge: int | str | None, unavailable: int | str | None) -> WorkloadObject:
    strategy = UpdateStrategy("RollingUpdate", RollingUpdate(surge, unavailable))
    return WorkloadObject(spec=MakerSpec(replicas=replicas, strategy=strategy))


# Upstream: pkg/controller/deployment/util/deployment_util_test.go, TestResolveFenceposts, and the comment above
# ResolveFenceposts.
@pytest.mark.parametrize(
    ("surge", "unavailable", "desired", "found"),
    [
        ("0%", "0%", 0, (0, 1)),
        ("39%", "39%", 10, (4, 3)),
        ("oops", "39%", 10, None),
        ("55%", "urg", 10, None),
        (None, "39%", 10, (0, 3)),
        ("39%", None, 10, (4, 0)),
        (None, None, 10, (0, 1)),
        ("0%", "1%", 2, (0, 1)),
        ("0%", "1%", 1, (0, 1)),
        ("1%", "25%", 2, (1, 0)),
        ("1%", "25%", 1, (1, 0)),
        ("1%", "0%", 2, (1, 0)),
        ("25%", "25%", None, (1, 0)),
        (3, 2, 10, (3, 2)),
        ("5", "1", 7, None),
    ],
)
def test_limits_are_those_of_upstream(
    surge: int | str | None, unavailable: int | str | None, desired: int | None, found: tuple[int, int] | None
) -> None:
    assert fenceposts(deployment(desired, surge, unavailable)) == found


def test_a_strategy_without_limits_has_the_defaults() -> None:
    assert fenceposts(WorkloadObject(spec=MakerSpec(replicas=8))) == (2, 2)


# --- whether it goes on ---------------------------------------------------------------------------------------------


def rolling(surge: int | str, unavailable: int | str) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def facts(*items: dict[str, Any]) -> Inventory:
    return inventory(list(items))


def is_stuck(*items: dict[str, Any]) -> bool:
    known = facts(*items)
    return stuck_rollout(known, Owners(known), known.pods[PENDING]) is not None


# The rows are (replicas, maxUnavailable, old pods, new pods with a node, new pods that wait). Upstream:
# pkg/controller/deployment/rolling_test.go, TestDeploymentController_reconcileOldReplicaSets, and what follows from
# maxScaledDown there.
@pytest.mark.parametrize(
    ("replicas", "unavailable", "old", "running", "pending", "stuck"),
    [
        (10, 2, 8, 0, 2, True),
        (10, 2, 10, 0, 1, False),
        (10, 2, 9, 0, 1, False),
        (1, 0, 1, 0, 1, True),
        (1, "25%", 1, 0, 1, True),
        (1, 1, 1, 0, 1, False),
        (4, "25%", 3, 0, 2, True),
        (4, "25%", 4, 0, 1, False),
        (4, "25%", 3, 1, 1, False),
        (4, 0, 3, 1, 1, True),
        (4, 0, 4, 1, 1, False),
        (1, 5, 1, 0, 1, False),
    ],
)
def test_a_rollout_is_stuck_when_no_old_pod_may_go(
    replicas: int, unavailable: int | str, old: int, running: int, pending: int, stuck: bool
) -> None:
    made = objects(replicas=replicas, strategy=rolling(3, unavailable), old=old, running=running, pending=pending)
    assert is_stuck(*made) is stuck


def changed(name: str, kind: str, **fields: Any) -> list[dict[str, Any]]:
    return changed_in(objects(), name, kind, **fields)


def changed_in(made: list[dict[str, Any]], name: str, kind: str, **fields: Any) -> list[dict[str, Any]]:
    """The cluster with other fields of one object, by their path with ``__`` between the steps."""
    item = next(each for each in made if each["kind"] == kind and each["metadata"]["name"] == name)
    for path, value in fields.items():
        at, *steps = item, *path.split("__")
        for step in steps[:-1]:
            at = at[step]
        at[steps[-1]] = value
    return made


@pytest.mark.parametrize(
    "made",
    [
        changed(NAME, "Deployment", spec__paused=True),
        changed(NAME, "Deployment", spec__strategy={"type": "Recreate"}),
        changed(NAME, "Deployment", spec__replicas=0),
        changed(NAME, "Deployment", spec__strategy=rolling("many", 0)),
        changed(NAME, "Deployment", metadata__generation=3),
        changed(NAME, "Deployment", metadata__annotations={"deployment.kubernetes.io/revision": "3"}),
        changed(NAME, "Deployment", metadata__annotations={}),
        changed(NAME, "Deployment", metadata__deletionTimestamp="2026-05-01T10:00:00Z"),
        changed(f"{OLD}-0", "Pod", metadata__deletionTimestamp="2026-05-01T10:00:00Z"),
        changed(f"{OLD}-0", "Pod", status__phase="Failed"),
        changed(f"{OLD}-0", "Pod", metadata__labels={}),
        objects(kind="StatefulSet"),
    ],
)
def test_nothing_is_said_of_what_is_no_rollout_or_goes_on(made: list[dict[str, Any]]) -> None:
    assert is_stuck(*objects())
    assert not is_stuck(*made)


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet"])
def test_nothing_is_said_of_what_was_not_read(kind: str) -> None:
    assert not is_stuck(*(item for item in objects() if item["kind"] != kind))


def test_owners_are_read_where_the_inventory_lacks_them() -> None:
    """Live nothing but pods is listed; of other pods of the namespace no owners are read."""
    known = facts(*objects())
    others = [item for item in objects() if item["kind"] not in ("Deployment", "ReplicaSet")]
    other = next(item for item in others if item["metadata"]["name"] == f"{OLD}-0")
    stranger = msgspec.json.decode(msgspec.json.encode(other))
    stranger["metadata"] |= {"name": "other", "uid": "other", "labels": {"app": "other"}}
    stranger["metadata"]["ownerReferences"][0] |= {"name": "other-1", "uid": "other-1"}
    less, asked = facts(*others, stranger), []

    def read(namespace: str, reference: OwnerReference) -> WorkloadObject | WhyUnread:
        asked.append(reference.name)
        return known.workloads.get((reference.kind, namespace, reference.name)) or WhyUnread.GONE

    found = stuck_rollout(less, Owners(less, read), less.pods[PENDING])
    assert found is not None
    assert [pod.metadata.name for pod in found.old] == [f"{OLD}-0"]
    assert sorted(asked) == [NAME, OLD, NEW]


# --- ways out -------------------------------------------------------------------------------------------------------


def ways(*items: dict[str, Any], key: Key = PENDING) -> Proposals:
    diagnoser = Diagnoser(state_of(facts(*items), evidence()))
    return find(diagnoser.state, diagnoser.pod(key))


def edits(found: Proposals) -> list[tuple[EditRollout, tuple[str, ...], bool]]:
    return [
        (action, proposal.remedy.nodes, proposal.remedy.verified)
        for proposal in found.proposals
        for action in proposal.remedy.actions
        if isinstance(action, EditRollout)
    ]


def test_the_only_old_pod_goes_first() -> None:
    """All that it has may be missing then, which strategy Recreate says more plainly."""
    found = ways(*objects())
    [(action, nodes, verified)] = edits(found)
    assert (action.replicas, action.max_unavailable, nodes, verified) == (1, 0, ("node-0",), True)
    assert [ref.name for ref in action.pods] == [f"{OLD}-0"]
    assert action.frees == ("gpu.example.com/node-0/gpu-0",)
    assert found.proposals[0].remedy.actions == (action,)


@pytest.mark.parametrize(
    ("replicas", "old", "running", "unavailable", "limit"),
    [(3, 3, 0, 0, 1), (4, 3, 0, 1, 2), (4, 3, 1, 0, 1)],
)
def test_so_many_may_be_missing_that_one_more_goes(
    replicas: int, old: int, running: int, unavailable: int, limit: int
) -> None:
    """Which of them goes is not known: the pod may get the place of each, all of which are named."""
    made = objects(replicas=replicas, old=old, running=running, strategy=rolling(1, unavailable))
    [(action, nodes, _)] = edits(ways(*made))
    assert action.max_unavailable == limit
    assert sorted(nodes) == [f"node-{number}" for number in range(old)]


def test_where_one_old_pod_less_is_not_enough_all_go() -> None:
    made = objects(replicas=2, old=2, per_node=2)
    for item in made:
        if item["metadata"]["name"] == f"{PENDING.name}-gpu":
            item["spec"] = msgspec.json.decode(msgspec.json.encode(item["spec"]))
            item["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2
    [(action, nodes, _)] = edits(ways(*made))
    assert (action.max_unavailable, nodes) == (0, ("node-0",))


def test_where_not_all_old_pods_are_known_all_go() -> None:
    made = objects(replicas=2, old=2)
    hidden = [item for item in made if item["metadata"]["name"] != f"{OLD}-1"]
    [(action, _, _)] = edits(ways(*hidden))
    assert action.max_unavailable == 0


def test_old_pods_that_are_not_in_the_way_are_not_told() -> None:
    """The pod asks for more than the node has: another rollout would not help."""
    made = objects()
    for item in made:
        if item["metadata"]["name"] == f"{PENDING.name}-gpu":
            item["spec"] = msgspec.json.decode(msgspec.json.encode(item["spec"]))
            item["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2
    assert is_stuck(*made)
    assert edits(ways(*made)) == []


# --- DaemonSets with a surge ----------------------------------------------------------------------------------------

DAEMON = Key(NAMESPACE, f"{NAME}-new-0")


def with_others(**fields: Any) -> list[dict[str, Any]]:
    return changed_in(daemon_objects(), NAME, "DaemonSet", **fields)


@pytest.mark.parametrize(
    ("made", "stuck"),
    [
        (daemon_objects(), True),
        (daemon_objects(3, "10%"), True),
        (daemon_objects(surge=0), False),
        (daemon_objects(surge="0%"), False),
        (with_others(spec__updateStrategy={"type": "OnDelete"}), False),
        (with_others(spec__updateStrategy={"type": "RollingUpdate"}), False),
        (with_others(metadata__generation=3), False),
        # Upstream: podsShouldBeOnNode ends an old pod that is not ready.
        (changed_in(daemon_objects(), f"{NAME}-old0-0", "Pod", status__conditions=[]), False),
        (
            changed_in(daemon_objects(), f"{NAME}-old0-0", "Pod", metadata__deletionTimestamp="2026-05-01T10:00:00Z"),
            False,
        ),
        (changed_in(daemon_objects(2), f"{NAME}-old0-0", "Pod", spec__nodeName="node-1"), False),
    ],
)
def test_a_surge_of_a_daemon_set_waits_for_its_node(made: list[dict[str, Any]], stuck: bool) -> None:
    known = facts(*made)
    assert (stuck_rollout(known, Owners(known), known.pods[DAEMON]) is not None) is stuck


@pytest.mark.parametrize(("nodes", "unavailable"), [(1, 0), (3, 1)])
def test_without_a_surge_the_old_pod_of_the_node_goes_first(nodes: int, unavailable: int) -> None:
    found = ways(*daemon_objects(nodes, numberUnavailable=unavailable), key=DAEMON)
    [(action, where, verified)] = edits(found)
    assert (action.workload.kind, action.max_unavailable, action.replicas) == ("DaemonSet", unavailable + 1, nodes)
    assert (where, verified) == (("node-0",), True)
    assert [ref.name for ref in action.pods] == [f"{NAME}-old0-0"]
