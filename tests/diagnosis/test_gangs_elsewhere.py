"""Gangs of Kueue, Volcano, coscheduling and KAI: whose decision it is, what to look at, how many pods there are.

The pods are built after objects of real clusters: plain pods in a queue of Kueue, a Job of Volcano, a Deployment for
the coscheduling plugin, a pod group that KAI's grouper made.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Cause,
    GangElsewhere,
    OpenPlugin,
    OpenPlugins,
    PodDiagnosis,
    SchedulerName,
    Verdict,
)
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.evidence import evidence_lines
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import plain
from tests.diagnosis.gangs import Object, cluster, of_pod
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.kit.ways import remedies

KUEUE = {
    "labels": {
        "kueue.x-k8s.io/managed": "true",
        "kueue.x-k8s.io/queue-name": "user-queue",
        "kueue.x-k8s.io/pod-group-name": "sample-group",
    },
    "annotations": {"kueue.x-k8s.io/pod-group-total-count": "3", "kueue.x-k8s.io/retriable-in-group": "false"},
    "finalizers": ["kueue.x-k8s.io/managed"],
}
VOLCANO = {
    "labels": {"volcano.sh/job-name": "tf", "volcano.sh/queue-name": "research", "volcano.sh/job-namespace": "ml"},
    "annotations": {
        "scheduling.k8s.io/group-name": "tf-3f9a",
        "volcano.sh/job-name": "tf",
        "volcano.sh/task-spec": "worker",
        "volcano.sh/job-version": "0",
    },
}
COSCHEDULING = {"labels": {"app": "mpi", "scheduling.x-k8s.io/pod-group": "mpi"}}
KAI = {
    "labels": {"kai.scheduler/queue": "team-a", "training.kubeflow.org/job-name": "bert"},
    "annotations": {"pod-group-name": "pg-bert-1b9c"},
}


def pods(number: int, metadata: dict[str, Any], **spec: Any) -> list[Object]:
    """Some pods of one gang, each of which needs 3 of the 4 CPUs of a node."""
    found = []
    for index in range(number):
        pod = build.pod(f"worker-{index}", requests={"cpu": "3"}, **spec)
        pod["metadata"] |= metadata
        found.append(pod)
    return found


def gang(found: PodDiagnosis) -> GangElsewhere:
    detail = found.causes[0].detail
    assert isinstance(detail, GangElsewhere)
    return detail


def page(cause: Cause) -> list[str]:
    return [plain(line).strip() for line in evidence_lines(cause, build.NAMESPACE, CLOCK.now())]


def test_a_group_of_pods_in_a_queue_of_kueue() -> None:
    members = pods(2, KUEUE, schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])
    state = cluster(build.node(), *members)
    found = of_pod(state, "worker-0")
    assert (found.verdict, [cause.code for cause in found.causes]) == (Verdict.GATED, [Code.QUEUED])
    assert found.reason == "SchedulingGated"
    own = gang(found)
    assert (own.system, own.name, own.queue) == ("Kueue", "sample-group", "user-queue")
    assert (own.expected, own.members, own.waiting, own.fitting) == (3, 2, 2, 1)
    assert plain(reason_sentence(found.causes[0])) == (
        "Kueue holds it in queue user-queue (scheduling gate kueue.x-k8s.io/admission). "
        "Of its group sample-group, 2 of 3 pods exist, 2 of them without a node"
    )
    assert " ".join(page(found.causes[0])) == (
        "Kueue decides, and its object says what it waits for: "
        "kubectl get workloads.kueue.x-k8s.io/sample-group -n ml -o yaml "
        "By the default scheduler's rules 1 of 2 waiting pods would find a node now, one beside the other."
    )
    # The command is for the cluster that was asked.
    asked = evidence_lines(found.causes[0], build.NAMESPACE, CLOCK.now(), address=Address(flags=("--context", "prod")))
    assert "-o yaml --context prod" in " ".join(map(plain, asked))
    # Kueue would only set the gate again.
    assert RemedyKind.REMOVE_GATE not in {each.kind for each in remedies(state, found)}


def test_one_pod_in_a_queue_of_kueue() -> None:
    alone = {"labels": {"kueue.x-k8s.io/queue-name": "user-queue", "kueue.x-k8s.io/managed": "true"}}
    members = pods(1, alone, schedulingGates=[{"name": "kueue.x-k8s.io/topology"}, {"name": "example.com/mine"}])
    found = of_pod(cluster(build.node(), *members), "worker-0")
    assert (gang(found).name, gang(found).gates, gang(found).fitting) == ("", ("kueue.x-k8s.io/topology",), 1)
    assert page(found.causes[0])[1] == "kubectl get workloads.kueue.x-k8s.io -n ml"


def test_once_admitted_it_is_a_pod_like_any_other() -> None:
    found = of_pod(cluster(build.node(), *pods(1, KUEUE)), "worker-0")
    assert found.verdict is Verdict.SCHEDULABLE


@pytest.mark.parametrize(
    ("metadata", "scheduler", "system", "resource", "name", "queue"),
    [
        (VOLCANO, "volcano", "Volcano", "podgroups.scheduling.volcano.sh", "tf-3f9a", "research"),
        (COSCHEDULING, "scheduler-plugins-scheduler", "coscheduling", "podgroups.scheduling.x-k8s.io", "mpi", ""),
        (KAI, "kai-scheduler", "KAI", "podgroups.scheduling.run.ai", "pg-bert-1b9c", "team-a"),
    ],
)
def test_a_gang_of_another_scheduler(
    metadata: dict[str, Any], scheduler: str, system: str, resource: str, name: str, queue: str
) -> None:
    running = build.pod("worker-9", node_name="node-2", phase="Running")
    running["metadata"] |= metadata
    state = cluster(build.node(), build.node("node-2"), *pods(3, metadata, schedulerName=scheduler), running)
    found = of_pod(state, "worker-0")
    assert (found.verdict, found.causes[0].code) == (Verdict.OTHER_SCHEDULER, Code.OTHER_SCHEDULER)
    own = gang(found)
    assert (own.system, own.resource, own.name, own.queue) == (system, resource, name, queue)
    assert (own.scheduler, own.members, own.waiting, own.fitting) == (scheduler, 4, 3, 2)
    in_queue = f" in queue {queue}" if queue else ""
    assert plain(reason_sentence(found.causes[0])) == (
        f'{system} (scheduler "{scheduler}"){in_queue} places its group {name} as a whole, '
        "and by the default scheduler's rules only 2 of its 3 waiting pods find a node now"
    )
    assert not [line for line in page(found.causes[0]) if "default scheduler" in line]
    # The default scheduler would place the pods one by one.
    assert RemedyKind.EDIT_POD not in {each.kind for each in remedies(state, found)}


def test_a_scheduler_that_nobody_knows_stays_a_name() -> None:
    found = of_pod(cluster(build.node(), *pods(1, {}, schedulerName="mine")), "worker-0")
    assert (found.verdict, found.causes[0].detail) == (Verdict.OTHER_SCHEDULER, SchedulerName("mine", fitting=1))


def test_what_was_not_read_leaves_the_number_open() -> None:
    state = cluster(build.node(), *pods(2, VOLCANO, schedulerName="volcano"), withheld=("ResourceSlice",))
    found = of_pod(state, "worker-0")
    assert gang(found).fitting is None
    assert plain(reason_sentence(found.causes[0])) == (
        'Volcano (scheduler "volcano") in queue research has to place it. '
        "Of its group tf-3f9a, 2 pods exist, 2 of them without a node"
    )


def test_labels_of_another_namespace_are_another_gang() -> None:
    members = pods(2, VOLCANO, schedulerName="volcano")
    members[1]["metadata"]["namespace"] = "elsewhere"
    assert gang(of_pod(cluster(build.node(), *members), "worker-0")).members == 1


# --- coscheduling in the default scheduler ----------------------------------------------------------------------------

SIBLINGS = "pre-filter pod worker-0 cannot find enough sibling pods, current pods number: 2, minMember of group: 3"


@pytest.mark.parametrize(
    "text",
    [
        SIBLINGS,
        "pre-filter pod worker-0 cannot proceed due to gated pods in the same PodGroup",
        "podGroup ml/mpi failed recently",
    ],
)
def test_the_coscheduling_plugin_of_the_default_scheduler_says_why(text: str) -> None:
    members = pods(2, COSCHEDULING)
    message = f"0/1 nodes are available: {text}. preemption: 0/1 nodes are available: 1 Preemption is not helpful."
    members[0]["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    ]
    found = of_pod(cluster(build.node(), *members), "worker-0")
    own = gang(found)
    assert (found.causes[0].code, found.verdict) == (Code.OTHER_PLUGIN, Verdict.UNSCHEDULABLE)
    assert (own.system, own.name, own.says, own.members, own.fitting) == ("coscheduling", "mpi", text, 2, 1)
    assert plain(reason_sentence(found.causes[0])) == (
        f"the coscheduling plugin says: {text}. Of its group mpi, 2 pods exist, 2 of them without a node"
    )
    assert page(found.causes[0])[1] == "kubectl get podgroups.scheduling.x-k8s.io/mpi -n ml -o yaml"


def test_whether_the_default_scheduler_has_that_plugin_cannot_be_read() -> None:
    found = of_pod(cluster(build.node(), *pods(2, COSCHEDULING)), "worker-0")
    assert (found.verdict, found.causes[0].code) == (Verdict.UNKNOWN, Code.NOT_SIMULATED)
    assert found.causes[0].detail == OpenPlugins(
        (OpenPlugin("Coscheduling", ("label scheduling.x-k8s.io/pod-group",)),)
    )
    assert of_pod(cluster(build.node(cpu="1"), *pods(2, COSCHEDULING)), "worker-0").verdict is Verdict.UNSCHEDULABLE
