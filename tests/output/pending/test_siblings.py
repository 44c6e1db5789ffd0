"""Pods of one workload that hold what another of its pods needs, or wait beside it."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import WhyUnread
from kubectl_dra.diagnosis.remedies.actions import ScaleDown
from kubectl_dra.diagnosis.remedies.records import DeletePod, RemedyKind
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import FoundRemedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import first_line, page_of, report_of

TEMPLATE = {
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "gpus", "namespace": "ml"},
    "spec": {"spec": {"devices": {"requests": [build.request()]}}},
}


def owner_of(kind: str, name: str) -> dict[str, Any]:
    version = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    return {"apiVersion": version, "kind": kind, "name": name, "uid": f"uid-{kind}-{name}", "controller": True}


def workload(kind: str, name: str, *owner: str) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, "namespace": "ml", "uid": f"uid-{kind}-{name}"}
    if owner:
        meta["ownerReferences"] = [owner_of(*owner)]
    return {"apiVersion": owner_of(kind, name)["apiVersion"], "kind": kind, "metadata": meta, "spec": {}}


def member(kind: str, owner: str, name: str, *held: str) -> list[dict[str, Any]]:
    """A pod with its claim; ``held`` are POOL and DEVICE, the pool being named after its node."""
    pod = build.pod(name, templates=["gpus"], node_name=held[0] if held else "", phase="Running" if held else "Pending")
    pod["metadata"]["ownerReferences"] = [owner_of(kind, owner)]
    pod["status"]["resourceClaimStatuses"] = [{"name": "gpus", "resourceClaimName": f"{name}-gpus"}]
    made_for = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"pod-{name}", "controller": True}
    annotations = {"resource.kubernetes.io/pod-claim-name": "gpus"}
    fields = {"held": [held], "by": [name]} if held else {}
    claim = build.claim(f"{name}-gpus", metadata={"ownerReferences": [made_for], "annotations": annotations}, **fields)
    return [pod, claim]


def bare(name: str, *held: str) -> list[dict[str, Any]]:
    pod = build.pod(name, claims=[f"of-{name}"], node_name=held[0], phase="Running")
    return [pod, build.claim(f"of-{name}", held=[held], by=[name])]


def gpus(number: int, node: str = "node-1") -> list[dict[str, Any]]:
    return [build.node(node), build.slice_(node, *(build.device(f"gpu-{i}") for i in range(number))), TEMPLATE]


JOB = "Job", "train"
HELD_BY_JOB = [*gpus(2), *member(*JOB, "train-0", "node-1", "gpu-0"), *member(*JOB, "train-1", "node-1", "gpu-1")]


def ended(report: PendingReport) -> set[str]:
    """The pods that ways out delete, or end by scaling their workload down."""
    actions = [each for way in report.remedies for each in way.actions]
    scaled = {pod.name for each in actions if isinstance(each, ScaleDown) for pod in each.pods}
    return scaled | {each.pod.name for each in actions if isinstance(each, DeletePod)}


def test_a_jobs_own_pods_hold_everything() -> None:
    report = report_of(*HELD_BY_JOB, workload(*JOB), *member(*JOB, "pod"))
    assert first_line(report) == (
        "Pod ml/pod is pending: no node has a free gpu.example.com device: on node-1, both are in use (train-0 1, "
        "train-1 1). Its own Job train holds all of them: 2 of its 3 pods have a node."
    )
    page = page_of(report)
    assert not ended(report)
    assert "Wait until one of these pods ends." in page
    assert """kubectl patch job/train -n ml --type=merge -p '{"spec":{"parallelism":2}}'""" in page
    assert "a controller that recreates the pod" not in page


@pytest.mark.parametrize(
    ("kind", "owner", "also", "command"),
    [
        ("StatefulSet", "web", [workload("StatefulSet", "web")], "kubectl scale statefulset/web -n ml --replicas=2"),
        (
            "ReplicaSet",
            "web-1",
            [workload("Deployment", "web"), workload("ReplicaSet", "web-1", "Deployment", "web")],
            "kubectl scale deployment/web -n ml --replicas=2",
        ),
    ],
)
def test_replicas_run_until_they_are_ended(kind: str, owner: str, also: list[dict[str, Any]], command: str) -> None:
    holders = [*member(kind, owner, "web-0", "node-1", "gpu-0"), *member(kind, owner, "web-1", "node-1", "gpu-1")]
    report = report_of(*gpus(2), *holders, *also, *member(kind, owner, "pod"))
    named = "Deployment web" if kind == "ReplicaSet" else "StatefulSet web"
    assert f"Its own {named} holds all of them: 2 of its 3 pods have a node." in first_line(report)
    page = page_of(report)
    assert command in page
    assert "run until they are deleted" in page
    assert not ended(report)


def test_what_another_object_makes_is_not_scaled() -> None:
    made = workload(*JOB, "JobSet", "set")
    page = page_of(report_of(*HELD_BY_JOB, made, *member(*JOB, "pod")))
    assert "Its own Job train holds all of them" in page
    assert "parallelism" not in page


def test_beside_others_only_these_are_ended() -> None:
    holders = [*member(*JOB, "train-0", "node-1", "gpu-0"), *bare("notebook", "node-1", "gpu-1")]
    report = report_of(*gpus(2), *holders, workload(*JOB), *member(*JOB, "pod"))
    assert "Its own Job train holds 1 of them (train-0): 1 of its 2 pods has a node." in first_line(report)
    assert ended(report) == {"notebook"}


def test_siblings_that_wait_are_counted() -> None:
    waiting = [*member(*JOB, "pod"), *member(*JOB, "train-1")]
    report = report_of(*gpus(1), *bare("notebook", "node-1", "gpu-0"), workload(*JOB), *waiting)
    assert first_line(report).endswith("2 pods of its own Job train wait.")


def test_on_nodes_that_are_alike_each_holder_counts() -> None:
    """The table knows the holders of one node; who has the devices of the other decides as well."""
    first = [*gpus(1), *member(*JOB, "train-0", "node-1", "gpu-0"), workload(*JOB), *member(*JOB, "pod")]
    own = [*gpus(1, "node-2"), *member(*JOB, "train-1", "node-2", "gpu-0")]
    other = [*gpus(1, "node-2"), *bare("notebook", "node-2", "gpu-0")]
    assert "Its own Job train holds all of them" in first_line(report_of(*first, *own))
    report = report_of(*first, *other)
    assert "Its own Job train holds 1 of them (train-0)" in first_line(report)
    assert ended(report) == {"notebook"}


def test_where_not_all_pods_were_read_none_are_counted() -> None:
    objects = [build.device_class(), *HELD_BY_JOB, workload(*JOB), *member(*JOB, "pod")]
    world = ClusterState(facts.inventory(objects), facts.evidence("Pod"), features(), CLOCK)
    found = pending_report(Diagnoser(world).pod(Key("ml", "pod")), world, ways=FoundRemedies())
    assert found.siblings is not None
    assert (found.siblings.placed, found.siblings.waiting) == (0, 0)
    assert " a node" not in first_line(found)


def test_pods_without_a_controller_have_no_siblings() -> None:
    holders = [*bare("one", "node-1", "gpu-0"), *bare("two", "node-1", "gpu-1")]
    report = report_of(*gpus(2), *holders, build.pod(claims=["claim"]), build.claim("claim"))
    assert report.siblings is None


def test_what_made_the_holders_too_is_named() -> None:
    """A pod of another Job of the same JobSet."""
    jobs = [workload("Job", name, "JobSet", "set") for name in ("set-w-0", "set-w-1")]
    objects = [*gpus(1), *jobs, *member("Job", "set-w-0", "leader", "node-1", "gpu-0")]
    report = report_of(*objects, *member("Job", "set-w-1", "pod"))
    assert first_line(report).endswith("Its own JobSet set holds all of them.")
    page = page_of(report)
    assert "let JobSet set run fewer pods at once" in page
    assert "parallelism" not in page


def test_tainted_devices_are_not_said_to_be_held() -> None:
    node, slice_, template = gpus(2)
    slice_["spec"]["devices"][1]["taints"] = [{"key": "ecc", "effect": "NoSchedule"}]
    holder = member(*JOB, "train-0", "node-1", "gpu-0")
    report = report_of(node, slice_, template, workload(*JOB), *holder, *member(*JOB, "pod"))
    assert "Its own Job train holds all of those in use:" in first_line(report)


def test_a_workload_that_was_not_read_is_not_scaled() -> None:
    """A ReplicaSet of which nothing else is known may be a Deployment's, which sets its number again."""
    own = "ReplicaSet", "web-1"
    holders = [*member(*own, "web-0", "node-1", "gpu-0"), *member(*own, "web-1", "node-1", "gpu-1")]
    report = report_of(*gpus(2), *holders, *member(*own, "pod"))
    assert "Its own ReplicaSet web-1 holds all of them" in first_line(report)
    assert "kubectl scale" not in page_of(report)


def test_a_device_that_several_nodes_reach_is_one() -> None:
    nodes = [build.node(), build.node("node-2"), TEMPLATE]
    net = build.slice_("", build.device("gpu-0"), pool="net", allNodes=True)
    report = report_of(*nodes, net, *member(*JOB, "train-0", "net", "gpu-0"), workload(*JOB), *member(*JOB, "pod"))
    assert report.siblings is not None
    assert (report.siblings.devices, report.siblings.used) == (1, 1)
    assert "Its own Job train holds all of them" in first_line(report)


def test_one_that_is_being_deleted_is_waited_for() -> None:
    going, claim = member(*JOB, "train-0", "node-1", "gpu-0")
    going["metadata"]["deletionTimestamp"] = "2026-11-21T12:30:00Z"
    report = report_of(*gpus(1), workload(*JOB), going, claim, *member(*JOB, "pod"))
    assert report.siblings is None
    assert "Its own Job" not in first_line(report)
    assert [way.kind for way in report.remedies] == [RemedyKind.WAIT]


def test_what_makes_the_holders_is_not_read_of_thousands() -> None:
    """Each read is one more request to the server."""
    objects = [build.device_class(), TEMPLATE, workload(*JOB, "JobSet", "set"), *member(*JOB, "pod")]
    for number in range(100):
        node = f"node-{number}"
        objects += [build.node(node), build.slice_(node, build.device("gpu-0"))]
        objects += member("Job", f"job-{number}", f"pod-{number}", node, "gpu-0")
    world = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    asked: list[str] = []

    def read(_namespace: str, reference: OwnerReference) -> WhyUnread:
        asked.append(reference.name)
        return WhyUnread.FORBIDDEN

    pending_report(Diagnoser(world).pod(Key("ml", "pod")), world, ways=FoundRemedies(), read_owner=read)
    assert len(asked) < 40


@pytest.mark.parametrize("owner", ["db", "other"])
def test_a_sibling_that_uses_the_same_claim_is_not_deleted_for_another(owner: str) -> None:
    held = build.claim("shared", held=[("node-1", "gpu-0")], by=["db-0"], on="node-1")
    apart = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    first = build.pod("db-0", claims=["shared"], node_name="node-1", phase="Running")
    pod = build.pod(claims=["shared"], affinity=affinity)
    for each, name in ((first, owner), (pod, "db")):
        each["metadata"] |= {"labels": {"app": "db"}, "ownerReferences": [owner_of("StatefulSet", name)]}
    nodes = [build.node(name, labels={"kubernetes.io/hostname": name}) for name in ("node-1", "node-2")]
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    report = report_of(
        *nodes, *slices, held, first, pod, workload("StatefulSet", "db"), workload("StatefulSet", "other")
    )
    assert report.code is Code.CLAIM_ELSEWHERE
    assert ended(report) == (set() if owner == "db" else {"db-0"})


def test_an_earlier_run_of_the_cron_job_ends_with_its_job() -> None:
    runs = [workload("Job", name, "CronJob", "nightly") for name in ("nightly-1", "nightly-2")]
    held = member("Job", "nightly-1", "old", "node-1", "gpu-0")
    report = report_of(*gpus(1), workload("CronJob", "nightly"), *runs, *held, *member("Job", "nightly-2", "pod"))
    assert first_line(report).endswith("Its own CronJob nightly holds all of them.")
    page = " ".join(page_of(report).split())
    assert "delete pod ml/old: frees 1 device, but its Job starts it again" in page
    assert "Job nightly-1 is another run of CronJob nightly, and starts its pod again" in page
    assert "kubectl delete job/nightly-1 -n ml" in page
    assert "Forbid keeps its runs apart" in page


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"concurrencyPolicy": "Forbid"},
            "starts no other (concurrencyPolicy Forbid): runs that come due are skipped.",
        ),
        ({"concurrencyPolicy": "Replace"}, "deletes this one for it (concurrencyPolicy Replace)."),
        ({"concurrencyPolicy": "Replace", "suspend": True}, ""),
        ({"concurrencyPolicy": "Allow"}, ""),
        ({}, ""),
    ],
)
def test_a_run_that_waits_decides_about_the_next(spec: dict[str, Any], told: str) -> None:
    cron_job, job = workload("CronJob", "nightly"), workload("Job", "nightly-2", "CronJob", "nightly")
    report = report_of(*gpus(0), cron_job | {"spec": spec}, job, *member("Job", "nightly-2", "pod"))
    page = " ".join(page_of(report).split())
    assert (f"CronJob nightly {told}" in page) if told else ("concurrencyPolicy" not in page)


def test_a_job_of_another_cron_job_is_not_a_run_of_the_same() -> None:
    runs = [workload("Job", "weekly-1", "CronJob", "weekly"), workload("Job", "nightly-2", "CronJob", "nightly")]
    owners = [workload("CronJob", name) for name in ("weekly", "nightly")]
    held = member("Job", "weekly-1", "old", "node-1", "gpu-0")
    page = page_of(report_of(*gpus(1), *owners, *runs, *held, *member("Job", "nightly-2", "pod")))
    assert "another run" not in page and "Its own" not in page
    assert "but its Job starts it" in page


def autoscaler(least: int, most: int, **meta: Any) -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "ml", **meta},
        "spec": {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most},
    }


KEDA = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": "queue", "uid": "u", "controller": True}


@pytest.mark.parametrize(
    ("scaler", "told", "command"),
    [
        (
            autoscaler(1, 9),
            "HorizontalPodAutoscaler web keeps StatefulSet web at 1 to 9 pods and undoes kubectl scale",
            """kubectl patch horizontalpodautoscaler/web -n ml --type=merge -p '{"spec":{"maxReplicas":2}}'""",
        ),
        (
            autoscaler(3, 3),
            "HorizontalPodAutoscaler web keeps StatefulSet web at 3 pods and undoes kubectl scale",
            """-p '{"spec":{"maxReplicas":2,"minReplicas":2}}'""",
        ),
        (
            autoscaler(1, 9, name="keda-hpa-queue", ownerReferences=[KEDA]),
            "ScaledObject queue keeps StatefulSet web at 1 to 9 pods and undoes kubectl scale",
            """kubectl patch scaledobject.keda.sh/queue -n ml --type=merge -p '{"spec":{"maxReplicaCount":2}}'""",
        ),
    ],
)
def test_an_autoscaler_would_undo_a_smaller_number(scaler: dict[str, Any], told: str, command: str) -> None:
    own = "StatefulSet", "web"
    holders = [*member(*own, "web-0", "node-1", "gpu-0"), *member(*own, "web-1", "node-1", "gpu-1")]
    there = [*gpus(2), *holders, workload(*own), *member(*own, "pod")]
    page = page_of(report_of(*there, scaler))
    assert told in page
    assert command in page
    assert "kubectl scale statefulset" not in page
    scaler["spec"]["scaleTargetRef"]["name"] = "another"
    assert "kubectl scale statefulset/web -n ml --replicas=2" in page_of(report_of(*there, scaler))


def test_autoscalers_are_read_only_for_advice_about_the_number() -> None:
    """Where they could not be, the advice says so."""
    own, asked = ("StatefulSet", "web"), []
    holders = [*member(*own, "web-0", "node-1", "gpu-0"), *member(*own, "web-1", "node-1", "gpu-1")]
    there = [build.device_class(), *gpus(2), *holders, workload(*own)]

    def report(*more: dict[str, Any]) -> PendingReport:
        evidence = facts.evidence("HorizontalPodAutoscaler")
        world = ClusterState(facts.inventory([*there, *more]), evidence, features(), CLOCK)

        def read() -> ClusterState:
            asked.append("autoscalers")
            return world

        found = Diagnoser(world).pod(Key("ml", "pod"))
        return pending_report(found, world, ways=FoundRemedies(), read_autoscalers=read)

    told = "Autoscalers were not read: one that scales it would undo that."
    assert told in page_of(report(*member(*own, "pod")))
    assert asked == ["autoscalers"]
    assert told not in page_of(report(build.pod("pod", templates=["gpus"])))
    assert asked == ["autoscalers"]
