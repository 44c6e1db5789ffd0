"""Pods whose devices go back to what is started again are ended by scaling down, where it is certain that these go."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies.actions import ScaleDown, SetDeletionCost
from kubectl_dra.diagnosis.remedies.records import DeletePod, Remedy
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.consequences import note_texts
from kubectl_dra.output.pending.remedies import lines_of_steps, remedy_text
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.remedies import Step, find_remedies
from kubectl_dra.reports.pending.remedy_commands import COMMANDS
from tests.diagnosis.test_competition import cluster, found, holder, ref, remade, waiting
from tests.kit import build, facts
from tests.kit.clock import CLOCK

ENDING = (DeletePod, ScaleDown)


def replica(name: str, owner: str, device: str, *, ready: str = "True", cost: str = "") -> list[dict[str, Any]]:
    parts = remade(name, owner, device)
    meta = parts[0]["metadata"]
    meta["ownerReferences"][0] |= {"name": "serve", "uid": "set-serve"}
    meta["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost} if cost else {}
    parts[0]["status"]["conditions"] = [{"type": "Ready", "status": ready}]
    return parts


def workload(kind: str, replicas: int = 2) -> dict[str, Any]:
    meta = {"name": "serve", "namespace": build.NAMESPACE, "uid": "set-serve"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": {"replicas": replicas}}


def scaled(*parts: Any, priority: int = 0, devices: str = "abc") -> list[Remedy]:
    """The ways out by scaling of a pod that wants both the free device and one of those in use."""
    ways = found(waiting("pod", 2, minute=2, priority=priority), *parts, devices=devices)
    return [way for way in ways if any(isinstance(action, ScaleDown) for action in way.actions)]


def test_the_pod_that_goes_is_made_the_first_and_nothing_is_started_again() -> None:
    parts = workload("ReplicaSet"), replica("serve-x", "ReplicaSet", "b"), replica("serve-y", "ReplicaSet", "c")
    ways = scaled(*parts)
    assert [way.competition.may_be_lost for way in ways] == [False, False]
    (cost, down), other = ways[0].actions, ways[1].actions
    assert (cost, other[0]) == (SetDeletionCost(ref("serve-x")), SetDeletionCost(ref("serve-y")))
    assert isinstance(down, ScaleDown)
    assert (down.workload.name, down.replicas, down.to, down.pods) == ("serve", 2, 1, (ref("serve-x"),))
    assert [COMMANDS[type(each)](each) for each in (cost, down)] == [
        (
            *("kubectl", "annotate", "pod/serve-x", "-n", "ml"),
            *("controller.kubernetes.io/pod-deletion-cost=-1000000000", "--overwrite"),
        ),
        ("kubectl", "scale", "replicaset/serve", "-n", "ml", "--current-replicas=2", "--replicas=1"),
    ]


def test_a_shell_does_not_scale_where_the_mark_before_it_failed() -> None:
    parts = workload("ReplicaSet"), replica("serve-x", "ReplicaSet", "b"), replica("serve-y", "ReplicaSet", "c")
    cost, down = scaled(*parts)[0].actions
    steps = tuple(Step((COMMANDS[type(each)](each) or (),)) for each in (cost, down))
    first, second = map(plain, lines_of_steps(steps))
    assert first.startswith("kubectl annotate pod/serve-x ")
    assert first.endswith(" &&")
    assert second == "kubectl scale replicaset/serve -n ml --current-replicas=2 --replicas=1"


def test_the_phrase_says_how_many_replicas_are_left() -> None:
    parts = workload("ReplicaSet"), replica("serve-x", "ReplicaSet", "b"), replica("serve-y", "ReplicaSet", "c")
    world = cluster(waiting("pod", 2, minute=2), *parts, devices="abc")
    told = [plain(remedy_text(way)) for way in find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies]
    assert "scale ReplicaSet ml/serve to 1 (now 2): frees 1 device" in told  # whichever of both ends
    assert not any("starts it again" in text for text in told)


@pytest.mark.parametrize(
    "parts",
    [
        # Another one would go first, or may.
        (workload("ReplicaSet"), replica("serve-y", "ReplicaSet", "c", ready="False")),
        (workload("ReplicaSet"), replica("serve-y", "ReplicaSet", "c", cost="-2000000000")),
        # A pod of it is not there yet, or was not read; how many it is to have is not known.
        (workload("ReplicaSet", 3), replica("serve-y", "ReplicaSet", "c")),
        (replica("serve-y", "ReplicaSet", "c"),),
    ],
)
def test_nothing_is_scaled_where_another_pod_may_go(parts: tuple[Any, ...]) -> None:
    ways = scaled(*parts, replica("serve-x", "ReplicaSet", "b"))
    ended = [pod for way in ways for each in way.actions if isinstance(each, ScaleDown) for pod in each.pods]
    assert ref("serve-x") not in ended


def test_a_workload_without_other_pods_is_scaled_to_none() -> None:
    (way,) = scaled(workload("ReplicaSet", 1), replica("serve-x", "ReplicaSet", "b"), devices="ab")
    assert [(type(each), each.to) for each in way.actions if isinstance(each, ScaleDown)] == [(ScaleDown, 0)]
    assert len(way.actions) == 1


def test_of_a_stateful_set_the_last_pods_go() -> None:
    parts = replica("serve-0", "StatefulSet", "b"), replica("serve-1", "StatefulSet", "c")
    ways = scaled(workload("StatefulSet"), *parts, priority=-10)
    assert [[each.pods for each in way.actions if isinstance(each, ScaleDown)] for way in ways] == [[(ref("serve-1"),)]]
    assert len(ways[0].actions) == 1


def waiting_alone(*parts: Any) -> list[tuple[str, tuple[str, ...]]]:
    """The ways out of a pod, made before those that run, for one device of which none is free; and their nodes."""
    world = cluster(waiting("pod", 1, minute=0), *parts, devices="abc")
    ways = find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies
    return [(plain(remedy_text(way)), way.nodes) for way in ways if any(isinstance(a, ENDING) for a in way.actions)]


def test_what_would_wait_when_it_is_started_again_is_scaled_down_instead() -> None:
    alone = [*replica("serve-x", "ReplicaSet", "b"), *holder("other", "a"), *holder("last", "c")]
    told = [text for text, _ in waiting_alone(workload("ReplicaSet", 1), *alone) if "serve" in text]
    assert told == ["scale ReplicaSet ml/serve to 0 (now 1): frees 1 device"]


def test_one_line_stands_for_any_of_a_workloads_pods() -> None:
    both = replica("serve-x", "ReplicaSet", "b"), replica("serve-y", "ReplicaSet", "c"), holder("bare", "a")
    told = [text for text, _ in waiting_alone(workload("ReplicaSet"), *both) if "serve" in text]
    assert told == ["scale ReplicaSet ml/serve to 1 (now 2): frees 1 device"]


def test_where_not_every_pod_would_do_the_one_that_goes_is_made_the_first() -> None:
    here = replica("serve-x", "ReplicaSet", "b"), holder("bare", "a"), holder("rest", "c")
    elsewhere = build.pod("serve-y", node_name="far", phase="Running")
    elsewhere["metadata"]["ownerReferences"] = here[0][0]["metadata"]["ownerReferences"]
    elsewhere["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    told = [text for text, _ in waiting_alone(workload("ReplicaSet"), *here, elsewhere) if "serve" in text]
    assert told == ["scale ReplicaSet ml/serve to 1 (now 2), which ends ml/serve-x: frees 1 device"]


def test_a_pod_without_a_condition_counts_as_not_ready() -> None:
    """Upstream: pkg/api/v1/pod/util.go, IsPodReady."""
    here = replica("serve-x", "ReplicaSet", "b"), holder("bare", "a"), holder("rest", "c")
    other = replica("serve-y", "ReplicaSet", "d")
    del other[0]["status"]["conditions"]
    told = [text for text, _ in waiting_alone(workload("ReplicaSet"), *here, other[0]) if "serve-x" in text]
    assert told == [
        "delete pod ml/serve-x: frees 1 device, but its ReplicaSet starts it again, and that one then waits"
    ]


def test_no_volumes_are_lost() -> None:
    """Upstream: pkg/controller/statefulset/stateful_set_utils.go, getPersistentVolumeClaimRetentionPolicy."""
    there = [*holder("other", "a"), *holder("rest", "c"), *replica("serve-0", "StatefulSet", "b")]
    made = workload("StatefulSet", 1)
    assert any("scale StatefulSet" in text for text, _ in waiting_alone(made, *there))
    made["spec"]["persistentVolumeClaimRetentionPolicy"] = {"whenScaled": "Delete", "whenDeleted": "Retain"}
    assert not any("scale" in text for text, _ in waiting_alone(made, *there))


@pytest.mark.parametrize(("owner", "replicas", "scales"), [("", 1, True), ("ScaledObject", 1, False), ("", 2, False)])
def test_what_an_autoscaler_scales_back_is_not_scaled(owner: str, replicas: int, scales: bool) -> None:
    """Upstream: pkg/controller/podautoscaler/horizontal.go, reconcileAutoscaler: disabled at 0."""
    both = replica("serve-x", "ReplicaSet", "b"), replica("serve-y", "ReplicaSet", "c")
    rest = (both[1],) if replicas == 2 else (holder("rest", "c"),)
    target = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "serve"}
    metadata: dict[str, Any] = {"name": "scaler", "namespace": build.NAMESPACE}
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "keda.sh/v1alpha1", "kind": owner, "name": "serve", "uid": "so", "controller": True}
        ]
    scaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata}
    scaler["spec"] = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 4}
    parts = workload("ReplicaSet", replicas), both[0], holder("other", "a"), *rest, scaler
    assert any("scale ReplicaSet" in text for text, _ in waiting_alone(*parts)) is scales


@pytest.mark.parametrize("unread", [(), ("HorizontalPodAutoscaler",)])
def test_an_autoscaler_that_was_not_read_may_undo_it(unread: tuple[str, ...]) -> None:
    both = replica("serve-x", "ReplicaSet", "b"), replica("serve-y", "ReplicaSet", "c"), holder("bare", "a")
    known = cluster(waiting("pod", 1, minute=0), workload("ReplicaSet"), *both, devices="abc")
    world = ClusterState(known.inventory, facts.evidence(*unread), features(), CLOCK)
    ways = find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies
    (way,) = [each for each in ways if isinstance(each.actions[0], ScaleDown)]
    told = "an autoscaler of that workload would undo it: autoscalers were not read"
    assert (told in map(plain, note_texts(way))) is bool(unread)
