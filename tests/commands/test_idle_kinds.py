"""Workloads of other projects, as arguments: who holds their pods back, and whether one of each kind would fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.corpus.shapes import CLUSTERS, NAMESPACE, devices, pod_spec, request, template, workload

EXAMPLE = "gpu.example.com"
QUEUE = {"kueue.x-k8s.io/queue-name": "user-queue"}
Object = dict[str, Any]


def body(name: str = "template") -> Object:
    return {"spec": pod_spec(templates=[name], restartPolicy="Never")}


def plain() -> Object:
    return {"spec": pod_spec(restartPolicy="Never")}


def job(**fields: Any) -> Object:
    return {"spec": {"template": body(), **fields}}


SUSPENDED: dict[str, tuple[str, Object, str]] = {
    "JobSet": ("jobset.x-k8s.io/v1alpha2", {"suspend": True, "replicatedJobs": [{"name": "w", "template": job()}]}, ""),
    "MPIJob": (
        "kubeflow.org/v2beta1",
        {
            "runPolicy": {"suspend": True},
            "mpiReplicaSpecs": {
                "Launcher": {"template": plain()},
                "Worker": {"replicas": 2, "template": body()},
            },
        },
        "spec.runPolicy.suspend",
    ),
    "PyTorchJob": (
        "kubeflow.org/v1",
        {"runPolicy": {"suspend": True}, "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": body()}}},
        "spec.runPolicy.suspend",
    ),
    "RayJob": (
        "ray.io/v1",
        {
            "suspend": True,
            "rayClusterSpec": {
                "headGroupSpec": {"template": plain()},
                "workerGroupSpecs": [{"groupName": "gpus", "replicas": 1, "template": body()}],
            },
        },
        "",
    ),
    "RayCluster": (
        "ray.io/v1",
        {
            "suspend": True,
            "headGroupSpec": {"template": body()},
            "workerGroupSpecs": [],
        },
        "",
    ),
}


def made(kind: str, **meta: Any) -> Object:
    version, spec, _ = SUSPENDED[kind]
    return workload(version, kind, spec, **meta)


def file(tmp_path: Path, *objects: Object, count: int = 1) -> str:
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE, count))), *objects]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def told(capfd: pytest.CaptureFixture[str], word: str, path: str, code: int = 0) -> str:
    assert run(["why-pending", word, "-n", NAMESPACE, "--from", path, "--color", "never"]) == code
    return " ".join("".join(capfd.readouterr()).split())


@pytest.mark.parametrize("kind", SUSPENDED)
def test_a_suspended_one_whose_devices_are_there(capfd: pytest.CaptureFixture[str], tmp_path: Path, kind: str) -> None:
    text = told(capfd, f"{kind.lower()}/work", file(tmp_path, made(kind)))
    field = SUSPENDED[kind][2] or "spec.suspend"
    assert f"{kind} demo/work is suspended: it has no pods until {field} is false." in text
    assert "would fit now" in text
    assert "It does not wait for devices yet" in text


@pytest.mark.parametrize("kind", SUSPENDED)
def test_a_suspended_one_whose_devices_are_not_there(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, kind: str
) -> None:
    text = told(capfd, f"{kind.lower()}/work", file(tmp_path, made(kind), count=9))
    assert "is suspended" in text
    assert "pods would fit now: no node has 9" in text


@pytest.mark.parametrize(
    ("replicas", "said"),
    [
        (2, "It does not wait for devices yet: all 3 of its pods would fit now at the same time."),
        (90, " of its 90 Worker pods would fit; the next one would not: "),
    ],
)
def test_all_pods_are_tried_at_once(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, replicas: int, said: str
) -> None:
    """Who raises the quota for them has to know."""
    version, spec, _ = SUSPENDED["MPIJob"]
    roles = {"Launcher": {"template": plain()}, "Worker": {"replicas": replicas, "template": body()}}
    text = told(capfd, "mpijob/work", file(tmp_path, workload(version, "MPIJob", {**spec, "mpiReplicaSpecs": roles})))
    assert said in text
    assert "was not tried" not in text


def test_every_template_is_tried(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = file(tmp_path, made("MPIJob"), count=9)
    assert run(["why-pending", "mpijob/work", "-n", NAMESPACE, "--from", path, "-o", "json", "--exit-code"]) == 0
    (found,) = json.loads(capfd.readouterr().out)["items"]
    assert (found["kind"], found["verdict"], found["fits"]) == ("WorkloadPendingReport", "Suspended", "No")
    assert (found["suspendedBy"], found["role"], list(found["nodes"])) == (
        "spec.runPolicy.suspend",
        "Worker",
        ["Launcher"],
    )
    assert found["causes"] == found["pending"]["causes"] != []
    assert found["code"] == found["causes"][0]["code"]
    assert (found["certainty"], found["assumed"]) == (found["pending"]["certainty"], found["pending"]["assumed"])


@pytest.mark.parametrize("kind", SUSPENDED)
def test_one_in_a_queue(capfd: pytest.CaptureFixture[str], tmp_path: Path, kind: str) -> None:
    local = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue"}
    other = {**local, "metadata": {"name": "other", "namespace": NAMESPACE}, "spec": {"clusterQueue": "all"}}
    text = told(capfd, f"{kind.lower()}/work", file(tmp_path, made(kind, labels=QUEUE), other))
    assert f"{kind} demo/work is suspended and waits in queue user-queue: LocalQueue user-queue doesn't exist." in text


@pytest.mark.parametrize("word", ["jobset/work", "jobsets/work", "jobsets.jobset.x-k8s.io/work", "JobSet/work"])
def test_words_for_a_kind(capfd: pytest.CaptureFixture[str], tmp_path: Path, word: str) -> None:
    assert "JobSet demo/work is suspended" in told(capfd, word, file(tmp_path, made("JobSet")))


def test_a_leader_worker_set_of_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = {"replicas": 0, "leaderWorkerTemplate": {"size": 2, "workerTemplate": body()}}
    path = file(tmp_path, workload("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec))
    assert "LeaderWorkerSet demo/work is scaled to 0." in told(capfd, "lws/work", path)


def test_a_train_job_without_its_runtime(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    spec = {"suspend": True, "runtimeRef": {"name": "torch"}}
    path = file(tmp_path, workload("trainer.kubeflow.org/v1alpha1", "TrainJob", spec))
    text = told(capfd, "trainjob/work", path)
    assert "TrainJob demo/work is suspended" in text
    assert "was not tried: its pods are described by ClusterTrainingRuntime torch" in text


def test_a_train_job_with_its_runtime(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    train = workload("trainer.kubeflow.org/v1alpha1", "TrainJob", {"suspend": True, "runtimeRef": {"name": "torch"}})
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {"template": {"spec": {"replicatedJobs": [{"name": "node", "template": job()}]}}},
    }
    assert "one of its pods would fit now" in told(capfd, "trainjob/work", file(tmp_path, train, runtime))


def test_its_pods_are_found_by_their_owners(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def owner(kind: str, name: str, version: str = "v1") -> list[Object]:
        return [{"apiVersion": version, "kind": kind, "name": name, "uid": "", "controller": True}]

    def pod(name: str, owners: list[Object]) -> Object:
        meta = {"name": name, "namespace": NAMESPACE, "ownerReferences": owners}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, **body(), "status": {"phase": "Pending"}}

    def sets(name: str, owners: list[Object]) -> Object:
        return workload("apps/v1", "StatefulSet", {"template": body()}, name, ownerReferences=owners)

    path = file(
        tmp_path,
        sets("work", owner("LeaderWorkerSet", "work", "leaderworkerset.x-k8s.io/v1")),
        pod("work-0", owner("StatefulSet", "work", "apps/v1")),
        sets("work-0", owner("Pod", "work-0")),
        pod("work-0-1", owner("StatefulSet", "work-0", "apps/v1")),
    )
    text = told(capfd, "lws/work", path)
    assert "Pod demo/work-0 is pending: its claim" in text
    assert "The same holds for 1 other pod: work-0-1." in text


def test_a_name_that_is_not_there(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, "jobset/wrok", file(tmp_path, made("JobSet")), code=1)
    assert 'jobsets.jobset.x-k8s.io "wrok" is not among what was read in namespace "demo", did you mean "work"?' in text


def test_a_name_that_stands_in_another_namespace(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = file(tmp_path, made("JobSet"))
    elsewhere = path.replace("cluster.json", "elsewhere.json")
    Path(elsewhere).write_text(
        Path(path).read_text(encoding="utf-8").replace('"namespace": "demo"', '"namespace": "other"'), encoding="utf-8"
    )
    text = told(capfd, "jobset/work", elsewhere, code=1)
    assert 'is not among what was read in namespace "demo"; there is other/work' in text


def test_other_commands_do_not_take_such_a_kind(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = file(tmp_path, made("JobSet"))
    assert run(["get", "jobsets", "-n", NAMESPACE, "--from", path, "--color", "never"]) == 2
    assert "jobsets" in capfd.readouterr().err


def test_a_job_of_a_suspended_set_says_whose_it_is(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    owned = [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "work", "controller": True}]
    spec = {"suspend": True, "template": body()}
    path = file(tmp_path, made("JobSet"), workload("batch/v1", "Job", spec, "work-w-0", ownerReferences=owned))
    text = told(capfd, "job/work-w-0", path)
    assert "It is a part of JobSet work, which resumes it: kubectl dra why-pending jobset/work -n demo" in text


def test_all_of_a_kind_that_are_held_back(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    label = {"team": "a"}
    path = file(tmp_path, made("JobSet", labels=label), made("MPIJob"), made("RayJob"))
    assert "JobSet demo/work is suspended" in told(capfd, "jobsets", path)
    assert run(["why-pending", "jobsets", "-A", "-l", "team=b", "--from", path, "--color", "never"]) == 0
    assert "is suspended" not in capfd.readouterr().out
    assert run(["why-pending", "jobsets", "-A", "-l", "team=a", "--from", path, "-o", "json"]) == 0
    assert [each["verdict"] for each in json.loads(capfd.readouterr().out)["items"]] == ["Suspended"]


def test_jobs_that_are_held_back_are_no_empty_list(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["why-pending", "jobs", "-n", "ml", "--from", "docs/examples/queue.yaml", "--color", "never"]
    assert run(words) == 0
    assert "Job ml/train is suspended and waits in queue team-a" in capfd.readouterr().out
    assert run([*words, "-o", "wide"]) == 0
    assert "Job ml/train is suspended and waits in queue team-a" in capfd.readouterr().err
