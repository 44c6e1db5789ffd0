"""How a pod is made anew: from its topmost owner, with all commands until new pods exist, or in words without any."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import Owners, ReadOwner, WhyUnread
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.reports.pending.remedies import RemedyReport, find_remedies
from kubectl_dra.reports.pending.renewal import CountsAsFailed, Hindrance, NoCommand, Renewal, Restarts, StartsOver
from tests.kit import build, facts
from tests.kit.clock import CLOCK

_GROUPS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "ReplicationController": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "MPIJob": "kubeflow.org/v2beta1",
    "RayCluster": "ray.io/v1",
    "TrainJob": "trainer.kubeflow.org/v1alpha1",
}
TOLERATION = EditPod(ObjectRef("Pod", "ml", "pod"), "tolerations[0]", "", "a=b:NoSchedule")
_VALUE = {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}


def owned(item: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    reference = {"apiVersion": _GROUPS[kind], "kind": kind, "name": name, "uid": f"{kind}-{name}", "controller": True}
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [reference]}}


def owner(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "namespace": "ml", "uid": f"{kind}-{name}"}, "spec": spec}


def template(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": spec.pop("labels", {})}, "spec": {"containers": [{"name": "main"}], **spec}}


def pod_of(kind: str, name: str, **labels: str) -> dict[str, Any]:
    pod = owned(build.pod(tolerations=[{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]), kind, name)
    return {**pod, "metadata": {**pod["metadata"], "labels": labels}}


def renewed(inventory: Inventory, *edits: EditPod, read: ReadOwner | None = None) -> Renewal:
    pod = inventory.pods[Key("ml", "pod")]
    return Renewal(pod, Owners(inventory, read).of(pod), edits)


def lines(renewal: Renewal) -> list[str]:
    return [" | ".join(" ".join(words) for words in pipe) for pipe in renewal.pipes]


def patch(path: str, value: Any = None) -> str:
    return json.dumps([{"op": "add", "path": path, "value": value or [_VALUE]}])


DELETE = "kubectl delete pod/pod -n ml --ignore-not-found"
REPLACE = "--dry-run=client -o yaml | kubectl replace --force -f -"

# The pod's owners, nearest first, and the commands for another toleration, and for the pod as it is.
_OF_TEMPLATE = patch("/spec/template/spec/tolerations")
_CASES: dict[str, tuple[list[dict[str, Any]], dict[str, str], list[str], list[str]]] = {
    "Deployment": (
        [
            owned(owner("ReplicaSet", "web-1", template=template()), "Deployment", "web"),
            owner("Deployment", "web", template=template()),
        ],
        {},
        [f"kubectl patch deployment/web -n ml --type=json -p {_OF_TEMPLATE}"],
        [DELETE],
    ),
    "Deployment-paused": (
        [owner("Deployment", "web", template=template(), paused=True)],
        {},
        [
            f"kubectl patch deployment/web -n ml --type=json -p {_OF_TEMPLATE}",
            "kubectl rollout resume deployment/web -n ml",
        ],
        [DELETE],
    ),
    "StatefulSet": (
        [owner("StatefulSet", "web", template=template())],
        {},
        [f"kubectl patch statefulset/web -n ml --type=json -p {_OF_TEMPLATE}", DELETE],
        [DELETE],
    ),
    "DaemonSet": (
        [owner("DaemonSet", "web", template=template(), updateStrategy={"type": "RollingUpdate"})],
        {},
        [f"kubectl patch daemonset/web -n ml --type=json -p {_OF_TEMPLATE}"],
        [DELETE],
    ),
    "DaemonSet-on-delete": (
        [owner("DaemonSet", "web", template=template(), updateStrategy={"type": "OnDelete"})],
        {},
        [f"kubectl patch daemonset/web -n ml --type=json -p {_OF_TEMPLATE}", DELETE],
        [DELETE],
    ),
    "ReplicaSet": (
        [owner("ReplicaSet", "web", template=template())],
        {},
        [f"kubectl patch replicaset/web -n ml --type=json -p {_OF_TEMPLATE}", DELETE],
        [DELETE],
    ),
    "Job": (
        [owner("Job", "fit", template=template(labels={"controller-uid": "x", "job-name": "fit", "app": "fit"}))],
        {},
        [
            "kubectl patch job/fit -n ml --type=json -p "
            + json.dumps(
                [
                    {"op": "remove", "path": "/spec/selector"},
                    {"op": "remove", "path": "/spec/template/metadata/labels/controller-uid"},
                    {"op": "remove", "path": "/spec/template/metadata/labels/job-name"},
                    {"op": "add", "path": "/spec/template/spec/tolerations", "value": [_VALUE]},
                ]
            )
            + f" {REPLACE}"
        ],
        [DELETE],
    ),
    "CronJob": (
        [
            owned(owner("Job", "fit-1", template=template()), "CronJob", "fit"),
            owner("CronJob", "fit", jobTemplate={"spec": {"template": template()}}),
        ],
        {},
        [
            "kubectl patch cronjob/fit -n ml --type=json -p "
            + patch("/spec/jobTemplate/spec/template/spec/tolerations"),
            "kubectl delete job/fit-1 -n ml",
            "kubectl create job fit-1 -n ml --from=cronjob/fit",
        ],
        [DELETE],
    ),
    "JobSet": (
        [
            owned(owner("Job", "set-b-0", template=template()), "JobSet", "set"),
            owner(
                "JobSet",
                "set",
                replicatedJobs=[
                    {"name": "a", "template": {}},
                    {"name": "b", "template": {"spec": {"template": template()}}},
                ],
            ),
        ],
        {"jobset.sigs.k8s.io/replicatedjob-name": "b"},
        [
            "kubectl patch jobset/set -n ml --type=json -p "
            + patch("/spec/replicatedJobs/1/template/spec/template/spec/tolerations")
            + f" {REPLACE}"
        ],
        ["kubectl get jobset/set -n ml -o yaml | kubectl replace --force -f -"],
    ),
    "LeaderWorkerSet": (
        [
            owned(owner("StatefulSet", "lws-0", template=template()), "LeaderWorkerSet", "lws"),
            owner(
                "LeaderWorkerSet",
                "lws",
                leaderWorkerTemplate={"leaderTemplate": template(), "workerTemplate": template()},
            ),
        ],
        {"leaderworkerset.sigs.k8s.io/worker-index": "2"},
        [
            "kubectl patch leaderworkerset/lws -n ml --type=json -p "
            + patch("/spec/leaderWorkerTemplate/workerTemplate/spec/tolerations")
        ],
        [DELETE],
    ),
    "MPIJob": (
        [owner("MPIJob", "mpi", mpiReplicaSpecs={"Worker": {"template": template()}})],
        {"training.kubeflow.org/job-role": "worker"},
        [
            "kubectl patch mpijob/mpi -n ml --type=json -p "
            + patch("/spec/mpiReplicaSpecs/Worker/template/spec/tolerations")
            + f" {REPLACE}"
        ],
        ["kubectl get mpijob/mpi -n ml -o yaml | kubectl replace --force -f -"],
    ),
    "RayCluster": (
        [owner("RayCluster", "ray", workerGroupSpecs=[{"groupName": "gpu", "template": template()}])],
        {"ray.io/node-type": "worker", "ray.io/group": "gpu"},
        [
            "kubectl patch raycluster/ray -n ml --type=json -p "
            + patch("/spec/workerGroupSpecs/0/template/spec/tolerations"),
            DELETE,
        ],
        [DELETE],
    ),
    "RayCluster that recreates": (
        [
            owner(
                "RayCluster",
                "ray",
                headGroupSpec={"template": template()},
                upgradeStrategy={"type": "Recreate"},
            )
        ],
        {"ray.io/node-type": "head"},
        ["kubectl patch raycluster/ray -n ml --type=json -p " + patch("/spec/headGroupSpec/template/spec/tolerations")],
        [DELETE],
    ),
    "MPIJob of the training operator": (
        [owner("MPIJob", "mpi", mpiReplicaSpecs={"Launcher": {"template": template()}})],
        {"training.kubeflow.org/replica-type": "launcher"},
        [
            "kubectl patch mpijob/mpi -n ml --type=json -p "
            + patch("/spec/mpiReplicaSpecs/Launcher/template/spec/tolerations")
            + f" {REPLACE}"
        ],
        ["kubectl get mpijob/mpi -n ml -o yaml | kubectl replace --force -f -"],
    ),
}


@pytest.mark.parametrize("case", _CASES)
def test_the_topmost_owner_is_patched_and_the_pod_made_anew(case: str) -> None:
    chain, labels, edited, as_it_is = _CASES[case]
    nearest = chain[0]
    pod = pod_of(nearest["kind"], nearest["metadata"]["name"], **labels)
    # Owners of other groups are read one by one.
    inventory = facts.inventory([pod, *(item for item in chain if item["kind"] in BY_NAME)])
    others = {item["kind"]: msgspec.convert(item, WorkloadObject) for item in chain}

    def read(_: str, reference: OwnerReference) -> WorkloadObject | WhyUnread:
        return others[reference.kind]

    assert lines(renewed(inventory, TOLERATION, read=read)) == edited
    assert lines(renewed(inventory, read=read)) == as_it_is


def test_two_edits_are_one_patch() -> None:
    other = EditPod(ObjectRef("Pod", "ml", "pod"), "nodeSelector[zone]", "a", "")
    chain = [owner("Deployment", "web", template=template(nodeSelector={"zone": "a"}))]
    found = renewed(facts.inventory([pod_of("Deployment", "web"), *chain]), TOLERATION, other)
    assert len(found.pipes) == 1
    assert json.loads(found.pipes[0][0][-1]) == [
        {"op": "add", "path": "/spec/template/spec/tolerations", "value": [_VALUE]},
        {"op": "remove", "path": "/spec/template/spec/nodeSelector/zone"},
    ]
    assert found.notes == [Restarts(ObjectRef("Deployment", "ml", "web"))]


def test_a_pod_that_nobody_owns_is_replaced() -> None:
    inventory = facts.inventory([build.pod()])
    assert lines(renewed(inventory, TOLERATION)) == [
        f"kubectl patch pod/pod -n ml --type=json -p {patch('/spec/tolerations')} {REPLACE}"
    ]
    assert lines(renewed(inventory)) == ["kubectl get pod/pod -n ml -o yaml | kubectl replace --force -f -"]


# --- jobs -------------------------------------------------------------------------------------------------------------

JOB = ObjectRef("Job", "ml", "fit")


def test_a_job_that_may_not_fail_again_starts_over() -> None:
    job = {**owner("Job", "fit", template=template(), backoffLimit=2), "status": {"failed": 2}}
    found = renewed(facts.inventory([pod_of("Job", "fit"), job]))
    assert "replace --force" in lines(found)[0]
    assert found.notes == [StartsOver(JOB)]
    job["status"] = {"failed": 1}
    found = renewed(facts.inventory([pod_of("Job", "fit"), job]))
    assert (lines(found), found.notes) == ([DELETE], [CountsAsFailed(JOB, 2, 2)])


# --- no command -------------------------------------------------------------------------------------------------------


def test_an_unknown_owner_is_named_with_the_field() -> None:
    found = renewed(facts.inventory([pod_of("TrainJob", "x")]), TOLERATION)
    reference = ObjectRef("TrainJob", "ml", "x")
    assert (found.pipes, found.notes) == ((), [NoCommand(reference, "tolerations[0]", Hindrance.UNKNOWN_KIND)])
    # Whoever owns a pod makes it anew when it is deleted.
    assert lines(renewed(facts.inventory([pod_of("TrainJob", "x")]))) == [DELETE]


def test_an_owner_that_may_not_be_read_is_not_passed_over_for_the_one_below() -> None:
    """A patch of the ReplicaSet of a Deployment has no lasting effect."""
    replica_set = owned(owner("ReplicaSet", "web-1", template=template()), "Deployment", "web")
    inventory = facts.inventory([pod_of("ReplicaSet", "web-1"), replica_set])
    for why, hindrance in ((WhyUnread.FORBIDDEN, Hindrance.NOT_READABLE), (WhyUnread.NOT_ASKED, Hindrance.NOT_READ)):
        found = renewed(inventory, TOLERATION, read=lambda *_, why=why: why)
        deployment = ObjectRef("Deployment", "ml", "web")
        assert (found.pipes, found.notes) == ((), [NoCommand(deployment, "tolerations[0]", hindrance)])


def test_what_the_template_does_not_have_is_no_patch() -> None:
    selector = EditPod(ObjectRef("Pod", "ml", "pod"), "nodeSelector[zone]", "a", "")
    inventory = facts.inventory([pod_of("Deployment", "web"), owner("Deployment", "web", template=template())])
    found = renewed(inventory, selector)
    expected = [NoCommand(ObjectRef("Deployment", "ml", "web"), "nodeSelector[zone]", Hindrance.NOT_IN_TEMPLATE)]
    assert (found.pipes, found.notes) == ((), expected)


def test_owners_that_the_inventory_lacks_are_read_once() -> None:
    asked = []

    def read(namespace: str, reference: OwnerReference) -> WorkloadObject | WhyUnread:
        asked.append((namespace, reference.kind, reference.name))
        found = facts.inventory([owner("StatefulSet", "web", template=template())]).workloads
        return next(iter(found.values()))

    inventory = facts.inventory([pod_of("StatefulSet", "web")])
    owners = Owners(inventory, read)
    pod = inventory.pods[Key("ml", "pod")]
    for _ in range(2):
        assert [each.ref.name for each in owners.of(pod)] == ["web"]
    assert asked == [("ml", "StatefulSet", "web")]


# --- whole ways out ---------------------------------------------------------------------------------------------------


def found(*objects: dict[str, Any]) -> tuple[RemedyReport, ...]:
    inventory = facts.inventory([build.device_class(), *objects])
    world = ClusterState(inventory, facts.evidence(), features(), CLOCK)
    return find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies


def test_another_template_comes_with_another_pod_and_no_claim_is_deleted() -> None:
    """resourceclaim-controller does not make a claim again that was deleted under a pod."""
    metadata = {"ownerReferences": [{"kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}]}
    request = build.request(count=2)
    pod = owned(build.pod(templates=["gpus"]), "StatefulSet", "trainer")
    pod["status"]["resourceClaimStatuses"] = [{"name": "gpus", "resourceClaimName": "pod-gpus"}]
    claim_template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpus", "namespace": "ml"},
        "spec": {"spec": build.claim("x", request)["spec"]},
    }
    first, *_ = found(
        pod,
        owner("StatefulSet", "trainer", template=template()),
        claim_template,
        build.claim("pod-gpus", request, metadata=metadata),
        build.node(),
        build.slice_("node-1", build.device("a")),
    )
    texts = [" ".join(words) for step in first.steps for words in step.commands]
    assert texts == ["kubectl replace --force -f -", DELETE]
    assert first.steps[0].manifest is not None
    assert first.steps[0].manifest["kind"] == "ResourceClaimTemplate"
