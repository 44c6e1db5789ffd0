"""A cluster as it would be: nodes that come, go or are drained, more devices, taints; and where displaced pods go."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import whatif
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import WhyUnread
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.diagnosis.whatif.records import About, Because, PodFate, Switch
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import LabelSelector
from kubectl_dra.model.workloads import MakerSpec, WorkloadObject
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.output.whatif.page import whatif_lines
from tests.kit import build
from tests.kit.build import NAMESPACE
from tests.kit.facts import evidence
from tests.kit.state import inventory_of, state_of

GPU = build.DRIVER


def gpus(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [build.device(f"gpu-{number}", **fields) for number in range(count)]


def template(name: str = "gpu", count: int = 1) -> dict[str, Any]:
    spec = {"devices": {"requests": [build.request(count=count)]}}
    return {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": NAMESPACE, "uid": f"template-{name}"},
        "spec": {"spec": spec},
    }


def owned(
    name: str, node: str, *devices: tuple[str, str], kind: str = "StatefulSet", **spec: Any
) -> list[dict[str, Any]]:
    """A running pod of a controller with a claim from the template ``gpu``, and the claim."""
    pod = build.pod(name, templates=["gpu"] if devices else [], node_name=node, phase="Running", **spec)
    pod["metadata"] |= {
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": "x", "uid": "x", "controller": True}],
        "labels": {"app": name},
    }
    if not devices:
        return [pod]
    pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"pod-{name}", "controller": True}
    held = build.claim(
        f"{name}-gpu",
        build.request(count=len(devices)),
        held=devices,
        by=[name],
        on=node,
        metadata={"ownerReferences": [owner]},
    )
    return [pod, held]


def cluster(*more: dict[str, Any]) -> ClusterState:
    """Two nodes with two GPUs each, and a pod that waits for two."""
    waits = build.pod("waits", claims=["two"])
    objects = [
        build.namespace(),
        build.device_class(),
        build.node("a"),
        build.node("b"),
        build.slice_("a", *gpus(2)),
        build.slice_("b", *gpus(2)),
        template(),
        build.claim("two", build.request(count=2)),
        waits,
        *more,
    ]
    return state_of(inventory_of(objects), evidence())


def verdict(world: ClusterState) -> Verdict:
    return Diagnoser(world).pod(Key(NAMESPACE, "waits")).verdict


def full() -> ClusterState:
    """One GPU of each node is taken."""
    return cluster(*owned("x", "a", ("a", "gpu-0")), *owned("y", "b", ("b", "gpu-0")))


@pytest.mark.parametrize(
    ("switch", "fits"),
    [
        (whatif.AddNode("a"), True),
        (whatif.AddNode("a", 3, True), True),
        (whatif.MoreDevices(f"{GPU}/a/gpu-0"), True),
        (whatif.Drain("a"), False),
        (whatif.RemoveNode("a"), False),
    ],
)
def test_a_switch_changes_the_answer(switch: Switch, fits: bool) -> None:
    assert verdict(full()) is Verdict.UNSCHEDULABLE
    changed, _ = whatif.what_if(full(), [switch])
    assert verdict(changed) is (Verdict.SCHEDULABLE if fits else Verdict.UNSCHEDULABLE)


def test_new_nodes_have_names_slices_and_devices_of_their_own() -> None:
    changed, found = whatif.what_if(full(), [whatif.AddNode("a", 2)])
    assert found.added_nodes == ("a-new-1", "a-new-2")
    inventory = changed.inventory
    assert {s.spec.node_name for s in inventory.slices.values()} == {"a", "b", "a-new-1", "a-new-2"}
    assert len({(s.spec.driver, s.spec.pool.name) for s in inventory.slices.values()}) == 4
    groups = {name for group in Diagnoser(changed).pod(Key(NAMESPACE, "waits")).nodes for name in group.nodes}
    assert groups == {"a", "b", "a-new-1", "a-new-2"}


def test_a_new_node_has_what_daemon_sets_put_there_unless_it_is_free() -> None:
    agent = owned("agent", "a", ("a", "gpu-0"), kind="DaemonSet")
    other = owned("other", "b", ("b", "gpu-0"))
    node = build.node("a", labels={"kubernetes.io/hostname": "a"})
    node["spec"] = {"unschedulable": True, "taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    world = cluster(*agent, *other, node)
    changed, _ = whatif.what_if(world, [whatif.AddNode("a")])
    new = changed.inventory.nodes["a-new-1"]
    assert not new.spec.unschedulable
    assert [taint.key for taint in new.spec.taints] == ["gpu"]
    assert new.metadata.labels == {"kubernetes.io/hostname": "a-new-1"}
    assert changed.inventory.usage["a-new-1"].pods == 1
    assert len([id_ for id_ in changed.inventory.holdings_by_device if id_.pool == "a-new-1"]) == 1
    free, _ = whatif.what_if(world, [whatif.AddNode("a", 1, True)])
    assert not free.inventory.nodes["a-new-1"].spec.taints
    assert "a-new-1" not in free.inventory.usage
    assert verdict(free) is Verdict.SCHEDULABLE


def test_a_drained_node_gives_its_pods_to_others() -> None:
    world = cluster(
        *owned("x", "a", ("a", "gpu-0")), *owned("y", "a", ("a", "gpu-1")), *owned("z", "b", ("b", "gpu-1"))
    )
    changed, found = whatif.what_if(world, [whatif.Drain("a")])
    fates = {each.pod.name: (each.fate, each.node, each.devices) for each in found.displaced}
    assert fates == {
        "x": (PodFate.MOVES, "b", (f"{GPU}/b/gpu-0",)),
        "y": (PodFate.PENDING, "", ()),
    }
    assert "cannot allocate all claims" in next(each.message for each in found.of(PodFate.PENDING))
    assert changed.inventory.nodes["a"].spec.unschedulable
    held = {str(id_) for id_ in changed.inventory.holdings_by_device}
    assert held == {f"{GPU}/b/gpu-0", f"{GPU}/b/gpu-1"}


def test_the_most_important_pod_is_placed_first() -> None:
    low = owned("low", "a", ("a", "gpu-0"), priority=1)
    high = owned("high", "a", ("a", "gpu-1"), priority=2)
    world = cluster(*low, *high, *owned("z", "b", ("b", "gpu-1")))
    _, found = whatif.what_if(world, [whatif.Drain("a")])
    assert {each.pod.name: each.fate for each in found.displaced} == {
        "low": PodFate.PENDING,
        "high": PodFate.MOVES,
    }


@pytest.mark.parametrize(("kind", "refused"), [("Service", True), ("StatefulSet", True), ("Event", False)])
def test_where_a_displaced_pod_goes_is_a_bound_where_what_keeps_it_apart_was_not_read(kind: str, refused: bool) -> None:
    """Where it fits at all does not depend on them, which of two nodes it gets does."""
    world = cluster(
        *owned("x", "a", ("a", "gpu-0")),
        *(build.node("c"), build.slice_("c", *gpus(1))),
        build.pod("beside", node_name="c", phase="Running", requests={"cpu": "2"}),
    )
    world = replace(world, evidence=evidence(kind))
    _, found = whatif.what_if(world, [whatif.Drain("a")])
    (moved,) = found.displaced
    assert (moved.fate, moved.node) == (PodFate.MOVES, "b")
    assert moved.equal == (("b", "c") if refused else ())
    assert moved.because is (Because.NOT_READ if refused else Because.NONE)
    page = " ".join(plain(Safe(" ").join(whatif_lines(found))).split())
    assert ("b or c" in page) is refused
    assert ("not all of these could be read" in page) is refused


@pytest.mark.parametrize(("found", "node"), [(True, "c"), (False, "b")])
def test_the_controller_of_a_displaced_pod_is_read_where_it_decides(found: bool, node: str) -> None:
    """A bare ReplicaSet, which keeps its pods apart; one that is gone does not, and then the emptier node is better."""
    mate = build.pod("mate", node_name="b", phase="Running")
    mate["metadata"]["labels"] = {"set": "x"}
    (pod,) = owned("x", "a", kind="ReplicaSet", requests={"cpu": "1"})
    others = [build.pod(f"other-{i}", node_name="c", phase="Running") for i in range(2)]
    nodes = [build.node(name, labels={"kubernetes.io/hostname": name}) for name in "abc"]
    made = [build.namespace(), *nodes, pod, mate, *others]
    world = state_of(inventory_of(made), evidence("ReplicaSet"))
    selector = LabelSelector(match_labels={"set": "x"})
    owner = WorkloadObject(spec=MakerSpec(selector=selector)) if found else WhyUnread.GONE

    _, read = whatif.what_if(world, [whatif.Drain("a")], lambda *_: owner)
    assert [(each.node, each.equal, each.because) for each in read.displaced] == [(node, (), Because.NONE)]
    _, unread = whatif.what_if(world, [whatif.Drain("a")])
    assert [(set(each.equal), each.because) for each in unread.displaced] == [({"b", "c"}, Because.NOT_READ)]


def test_of_more_nodes_than_the_scheduler_compares_a_displaced_pod_may_get_any() -> None:
    nodes = [build.node(f"node-{number}") for number in range(105)]
    made = [build.namespace(), *nodes, *owned("x", "node-0", kind="DaemonSetLike", requests={"cpu": "1"})]
    world = state_of(inventory_of(made), evidence())
    _, found = whatif.what_if(world, [whatif.Drain("node-0")])
    (moved,) = found.displaced
    assert (moved.because, len(moved.equal)) == (Because.SOME_COMPARED, 104)
    page = " ".join(plain(Safe(" ").join(whatif_lines(found))).split())
    assert f"{moved.node} or 103 other nodes" in page
    assert "compares only some of the nodes that fit" in page


def budget(app: str, allowed: int, name: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name or app, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed},
    }


def test_who_stays_and_who_is_lost_when_a_node_is_drained() -> None:
    mirror = build.pod("static", node_name="a", phase="Running")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "1"}
    ends = owned("ends", "a")[0]
    ends["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    world = cluster(
        *owned("agent", "a", kind="DaemonSet"),
        mirror,
        build.pod("bare", node_name="a", phase="Running"),
        *owned("kept", "a"),
        ends,
        build.pod("done", node_name="a", phase="Succeeded"),
        *owned("twice", "a"),
        budget("kept", 0),
        budget("twice", 1),
        budget("twice", 1, "again"),
    )
    _, found = whatif.what_if(world, [whatif.Drain("a")])
    assert {each.pod.name: (each.fate, each.because, each.budget) for each in found.displaced} == {
        "agent": (PodFate.STAYS, Because.DAEMON_SET, ""),
        "static": (PodFate.STAYS, Because.STATIC, ""),
        "bare": (PodFate.GONE, Because.NO_CONTROLLER, ""),
        "kept": (PodFate.STAYS, Because.BUDGET, "ml/kept"),
        "ends": (PodFate.GONE, Because.BEING_DELETED, ""),
        "twice": (PodFate.STAYS, Because.BUDGET, "ml/again, ml/twice"),
    }
    _, removed = whatif.what_if(world, [whatif.RemoveNode("a")])
    fates = {each.pod.name: each.fate for each in removed.displaced}
    assert fates == {
        "agent": PodFate.GONE,
        "static": PodFate.GONE,
        "bare": PodFate.GONE,
        "kept": PodFate.MOVES,
        "ends": PodFate.GONE,
        "twice": PodFate.MOVES,
    }


def test_a_budget_lets_the_next_pod_go_when_the_one_before_runs_elsewhere() -> None:
    pods = [each for name in ("p", "q") for each in owned(name, "a")]
    for each in pods:
        each["metadata"]["labels"] = {"app": "web"}
    _, found = whatif.what_if(cluster(*pods, budget("web", 1)), [whatif.Drain("a")])
    assert [each.fate for each in found.displaced] == [PodFate.MOVES, PodFate.MOVES]
    stuck = [each for name in ("p", "q") for each in owned(name, "a", ("a", f"gpu-{name == 'q':d}"))]
    for each in stuck:
        each["metadata"]["labels"] = {"app": "web"}
    busy = [*owned("y", "b", ("b", "gpu-0")), *owned("z", "b", ("b", "gpu-1"))]
    _, found = whatif.what_if(cluster(*stuck, *busy, budget("web", 1)), [whatif.Drain("a")])
    assert [(each.fate, each.because) for each in found.displaced] == [
        (PodFate.PENDING, Because.NONE),
        (PodFate.STAYS, Because.BUDGET),
    ]


def test_what_a_budget_holds_is_told_with_what_would_become_of_it() -> None:
    pods = [each for name in ("p", "q") for each in owned(name, "a", ("a", f"gpu-{name == 'q':d}"))]
    for each in pods:
        each["metadata"]["labels"] = {"app": "web"}
    world = cluster(*pods, *owned("y", "b", ("b", "gpu-0")), budget("web", 0))
    changed, found = whatif.what_if(world, [whatif.Drain("a")])
    assert [(each.fate, each.budget, each.released, each.node) for each in found.displaced] == [
        (PodFate.STAYS, "ml/web", PodFate.MOVES, "b"),
        (PodFate.STAYS, "ml/web", PodFate.PENDING, ""),
    ]
    # They stay: nothing is taken elsewhere.
    assert {pod.spec.node_name for key, pod in changed.inventory.pods.items() if key.name in ("p", "q")} == {"a"}
    told = " ".join(" ".join(map(str, whatif_lines(found))).split())
    assert "If the budget let go: ml/p would run on b; ml/q" in told
    assert "would stay pending" in told


def test_taints_begin_and_end() -> None:
    node = build.node("a")
    node["spec"] = {"taints": [{"key": "gpu", "value": "x", "effect": "NoSchedule"}], "unschedulable": True}
    world = cluster(node, *owned("y", "b", ("b", "gpu-0")))
    assert verdict(world) is Verdict.UNSCHEDULABLE
    key = "node.kubernetes.io/unschedulable"
    ends: list[Switch] = [whatif.EndTaint("a", "gpu"), whatif.EndTaint("a", key)]
    changed, found = whatif.what_if(world, ends)
    assert verdict(changed) is Verdict.SCHEDULABLE
    assert found.notes == ()
    for target in ("a", f"{GPU}/a", f"{GPU}/a/gpu-1"):
        taint = whatif.AddTaint(target, "ecc", "", "NoSchedule")
        assert verdict(whatif.what_if(world, [*ends, taint])[0]) is Verdict.UNSCHEDULABLE
    _, found = whatif.what_if(world, [whatif.EndTaint("b", "gpu")])
    assert [note.about for note in found.notes] == [About.NO_SUCH_TAINT]


def test_the_end_of_a_rules_taint_leaves_the_rules_other_devices_tainted() -> None:
    rule = {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "ecc"},
        "spec": {"deviceSelector": {"driver": GPU}, "taint": {"key": "ecc", "effect": "NoSchedule"}},
    }
    world = cluster(rule)
    assert verdict(world) is Verdict.UNSCHEDULABLE
    one, _ = whatif.what_if(world, [whatif.EndTaint(f"{GPU}/a/gpu-0", "ecc")])
    assert verdict(one) is Verdict.UNSCHEDULABLE
    pool, _ = whatif.what_if(world, [whatif.EndTaint(f"{GPU}/a", "ecc", "NoSchedule")])
    diagnosis = Diagnoser(pool).pod(Key(NAMESPACE, "waits"))
    assert [group.nodes for group in diagnosis.nodes if group.outcome == "Fits"] == [("a",)]


def test_no_execute_evicts_who_does_not_tolerate_it() -> None:
    tolerant = owned("calm", "a", tolerations=[{"key": "ecc", "operator": "Exists"}])
    world = cluster(*tolerant, *owned("x", "a", ("a", "gpu-0")), *owned("y", "a", ("a", "gpu-1")))
    _, found = whatif.what_if(world, [whatif.AddTaint("a", "ecc", "", "NoExecute")])
    assert {each.pod.name: (each.fate, each.node) for each in found.displaced} == {
        "x": (PodFate.MOVES, "b"),
        "y": (PodFate.MOVES, "b"),
    }
    _, found = whatif.what_if(world, [whatif.AddTaint(f"{GPU}/a/gpu-0", "ecc", "", "NoExecute")])
    assert [each.pod.name for each in found.displaced] == ["x"]


def test_the_order_of_switches_plays_no_part() -> None:
    world = full()
    switches: list[Switch] = [
        whatif.AddNode("a", 1),
        whatif.Drain("a"),
        whatif.RemoveNode("b"),
        whatif.MoreDevices(f"{GPU}/a/gpu-0", 2),
        whatif.AddTaint("a-new-1", "k", "", "NoSchedule"),
        whatif.EndTaint("a", "x"),
    ]
    expected = whatif.what_if(world, switches)
    for order in itertools.islice(itertools.permutations(switches), 0, None, 97):
        changed, found = whatif.what_if(world, order)
        assert found == expected[1]
        assert changed.inventory == expected[0].inventory


def test_what_is_added_twice_is_twice_as_much() -> None:
    switches = [whatif.AddNode("a"), whatif.AddNode("a", free=True), whatif.AddNode("a", 2), whatif.Drain("b")]
    more = [whatif.MoreDevices(f"{GPU}/a/gpu-0"), whatif.MoreDevices(f"{GPU}/a/gpu-0"), whatif.Drain("b")]
    _, found = whatif.what_if(full(), [*switches, *more])
    assert found.switches == (
        whatif.AddNode("a", 1, free=True),
        whatif.AddNode("a", 3),
        whatif.MoreDevices(f"{GPU}/a/gpu-0", 2),
        whatif.Drain("b"),
    )
    assert found.added_nodes == ("a-new-1", "a-new-2", "a-new-3", "a-new-4")
    assert len(found.added_devices) == 2
    head = " ".join(plain(line) for line in whatif_lines(found))
    assert (
        "1 more node like a with all devices free (a-new-1), 3 more nodes like a (a-new-2, a-new-3 and a-new-4)" in head
    )


def test_devices_that_draw_on_counters_bring_no_more_of_them() -> None:
    drawing = gpus(1, consumesCounters=[{"counterSet": "set", "counters": {"memory": {"value": "1Gi"}}}])
    world = cluster(build.slice_("a", *drawing, sharedCounters=[]))
    _, found = whatif.what_if(world, [whatif.MoreDevices(f"{GPU}/a/gpu-0")])
    assert [(note.about, note.detail) for note in found.notes] == [(About.SHARED_COUNTERS, "set")]


@pytest.mark.parametrize(
    ("switch", "kind"),
    [
        (whatif.AddNode("c"), "node"),
        (whatif.Drain("c"), "node"),
        (whatif.RemoveNode("c"), "node"),
        (whatif.MoreDevices(f"{GPU}/a/x"), "device"),
        (whatif.AddTaint(f"{GPU}/c", "k", "", "NoSchedule"), "device"),
        (whatif.EndTaint("c", "k"), "node"),
    ],
)
def test_what_is_not_there_is_an_error(switch: Switch, kind: str) -> None:
    with pytest.raises(whatif.WhatIfError) as failed:
        whatif.what_if(full(), [switch])
    assert failed.value.kind == kind
    assert failed.value.known
