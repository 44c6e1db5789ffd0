"""Gangs of Kubernetes 1.35: pods name a Workload, and each is tried by itself.

Upstream, release-1.35: plugins/gangscheduling/gangscheduling.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Agreement, Verdict
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.features import features
from kubectl_dra.model.signs import shown_gates
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import plain
from tests.diagnosis.gangs import gpus, of_pod
from tests.kit import build, facts
from tests.kit.state import state_of

WAITS = "0/1 nodes are available: 1 rejected due to timeout after waiting 5m0s at plugin GangScheduling."


def workload(least: int | None, group: str = "workers") -> dict[str, Any]:
    policy = {"basic": {}} if least is None else {"gang": {"minCount": least}}
    spec = {"podGroups": [{"name": group, "policy": policy}]}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "train", "namespace": build.NAMESPACE},
        "spec": spec,
    }


def pods(number: int, replica: str = "", **fields: Any) -> list[dict[str, Any]]:
    made = []
    for index in range(number):
        name = f"train{replica}-{index}"
        ref = {"name": "train", "podGroup": "workers", **({"podGroupReplicaKey": replica} if replica else {})}
        made += [build.pod(name, claims=[name], workloadRef=ref, **fields), build.claim(name, build.request(count=1))]
    return made


def cluster(*objects: dict[str, Any], withheld: tuple[str, ...] = (), minor: int = 35, **gates: bool) -> ClusterState:
    inventory = facts.inventory([build.device_class(), *objects])
    shown = shown_gates(inventory, minor, Coverage.NOT_SERVED)
    return state_of(inventory, facts.evidence(*withheld), features(minor, gates or None, shown))


def sentence(state: ClusterState, name: str) -> str:
    return plain(reason_sentence(of_pod(state, name).causes[0]))


def test_a_pod_that_finds_a_node_waits_there_for_enough_of_its_gang() -> None:
    state = cluster(*gpus("node-a", 2), workload(3), *pods(3))
    found = of_pod(state, "train-0")
    assert (found.verdict, found.causes[0].code) == (Verdict.UNSCHEDULABLE, Code.POD_GROUP_UNPLACED)
    assert (found.message, found.reason) == (WAITS, "Unschedulable")
    assert sentence(state, "train-0") == (
        "group workers of Workload train needs 3 pods at the same time, and only 2 find a node. "
        "For train-2: no node has a device that matches and is not in use"
    )


def test_enough_of_them_start() -> None:
    state = cluster(*gpus("node-a", 2), workload(2), *pods(3))
    assert of_pod(state, "train-0").verdict is Verdict.SCHEDULABLE


def test_pods_on_nodes_count() -> None:
    running = pods(2, nodeName="node-b")
    state = cluster(*gpus("node-a", 1), build.node("node-b"), workload(3), *running, *pods(3)[4:])
    assert of_pod(state, "train-2").verdict is Verdict.SCHEDULABLE


def test_too_few_pods_keep_all_out_of_the_queue() -> None:
    state = cluster(*gpus("node-a", 4), workload(4), *pods(3))
    found = of_pod(state, "train-0")
    assert (found.verdict, found.causes[0].code) == (Verdict.GATED, Code.POD_GROUP_INCOMPLETE)
    assert sentence(state, "train-0") == (
        "group workers of Workload train needs 4 pods at the same time, and only 3 exist"
    )


def test_what_the_scheduler_wrote_of_them_agrees() -> None:
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": WAITS}]
    short = pods(3)
    short[0]["status"] = {"phase": "Pending", "conditions": conditions}
    found = of_pod(cluster(*gpus("node-a", 2), workload(3), *short), "train-0")
    assert found.agreement is Agreement.AGREES


def test_replicas_of_a_group_count_by_themselves() -> None:
    state = cluster(*gpus("node-a", 8), workload(3), *pods(3, "a"), *pods(2, "b"))
    assert of_pod(state, "traina-0").verdict is Verdict.SCHEDULABLE
    assert sentence(state, "trainb-0").startswith("group workers (replica b) of Workload train needs 3 pods")


def test_a_workload_that_is_missing_and_one_without_the_group() -> None:
    state = cluster(*gpus("node-a", 8), *pods(1))
    assert of_pod(state, "train-0").verdict is Verdict.GATED
    assert sentence(state, "train-0") == 'it waits for Workload "train", which does not exist'
    other = cluster(*gpus("node-a", 8), workload(1, "worker"), *pods(1))
    assert of_pod(other, "train-0").verdict is Verdict.GATED
    assert sentence(other, "train-0") == (
        'its spec.workloadRef names group "workers", which Workload train does not have (did you mean worker?)'
    )


def test_a_workload_that_was_not_read_leaves_it_open() -> None:
    assert of_pod(cluster(*gpus("node-a", 8), *pods(1), withheld=("Workload",)), "train-0").verdict is Verdict.UNKNOWN


def test_pods_that_were_not_read_may_be_the_missing_ones() -> None:
    state = cluster(*gpus("node-a", 4), workload(4), *pods(3), withheld=("Pod",))
    assert of_pod(state, "train-0").causes[0].code is not Code.POD_GROUP_INCOMPLETE
    assert of_pod(state, "train-0").verdict is Verdict.UNKNOWN


def test_a_pod_with_a_gate_is_there_but_finds_no_node() -> None:
    held = pods(3)
    held[4]["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    state = cluster(*gpus("node-a", 4), workload(3), *held)
    assert "only 2 find a node. For train-2: " in sentence(state, "train-0")


@pytest.mark.parametrize(
    ("minor", "gates"), [(35, {"GenericWorkload": True, "GangScheduling": False}), (37, {}), (34, {})]
)
def test_elsewhere_each_pod_starts_by_itself(minor: int, gates: dict[str, bool]) -> None:
    state = cluster(*gpus("node-a", 2), workload(3), *pods(3), minor=minor, **gates)
    assert of_pod(state, "train-0").verdict is Verdict.SCHEDULABLE


def test_a_group_that_is_no_gang_means_nothing() -> None:
    assert of_pod(cluster(*gpus("node-a", 1), workload(None), *pods(3)), "train-0").verdict is Verdict.SCHEDULABLE
