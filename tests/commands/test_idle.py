"""A workload without pods says who holds them back, and whether devices would be there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.app import run
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.why_pending import lists
from kubectl_dra.diagnosis.pod import idle
from kubectl_dra.diagnosis.pod.placing import PlacedCopies, place
from kubectl_dra.model.core import Pod
from tests.corpus.shapes import CLUSTERS, NAMESPACE, devices, pod_spec, request, template, workload
from tests.kit import build

EXAMPLE = "gpu.example.com"
QUEUE = {"kueue.x-k8s.io/queue-name": "user-queue"}


def job(labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    body = pod_spec(templates=["template"], restartPolicy="Never")
    meta = {"labels": labels} if labels else {}
    return workload("batch/v1", "Job", {"template": {"spec": body}, **spec}, **meta)


def told(capfd: pytest.CaptureFixture[str], tmp_path: Path, body: dict[str, Any], count: int = 1) -> str:
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE, count))), body]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    kind = body["kind"].lower()
    assert run(["why-pending", f"{kind}/work", "-n", NAMESPACE, "--from", str(path), "--color", "never"]) == 0
    return " ".join("".join(capfd.readouterr()).split())


def test_a_job_in_a_queue_whose_devices_are_there(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, job(QUEUE, suspend=True))
    assert "Job demo/work is suspended and waits in queue user-queue" in text
    assert "kubectl get workloads.kueue.x-k8s.io -n demo" in text
    assert "one of its pods would fit now, on dra-example-driver-cluster-worker" in text


def test_no_command_holds_a_namespace_that_the_shell_would_read(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = job(QUEUE, suspend=True)
    body["metadata"]["namespace"] = "x;touch $(id)"
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": [*CLUSTERS["example"](), body]}), encoding="utf-8")
    assert run(["why-pending", "jobs", "-A", "--from", str(path), "--color", "never"]) == 0
    out = "".join(capfd.readouterr())
    assert "is suspended and waits in queue user-queue" in " ".join(out.split())
    assert "kubectl get" not in out


def test_a_job_in_a_queue_whose_devices_are_not_there(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "Not even one of its pods would fit now: no node has 9" in told(capfd, tmp_path, job(QUEUE, suspend=True), 9)


@pytest.mark.parametrize(
    ("spec", "told_of_all"),
    [
        ({"parallelism": 2, "completions": 2}, "both of its pods would fit now at the same time"),
        # No more run at the same time than are to be done.
        ({"parallelism": 900, "completions": 2}, "both of its pods would fit now at the same time"),
        ({"parallelism": 900}, "If it were started now, "),
        ({"parallelism": 1, "completions": 9}, "one of its pods would fit now"),
    ],
)
def test_all_pods_that_a_job_runs_at_once_are_tried(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, spec: dict[str, int], told_of_all: str
) -> None:
    assert told_of_all in told(capfd, tmp_path, job(QUEUE, suspend=True, **spec))


def test_pods_of_a_job_that_have_succeeded_do_not_run_again(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = job(QUEUE, suspend=True, parallelism=900, completions=900) | {"status": {"succeeded": 898}}
    assert "both of its pods would fit now at the same time" in told(capfd, tmp_path, body)


def test_a_job_that_somebody_suspended(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, job(suspend=True))
    assert "it has no pods until spec.suspend is false" in text
    patch = """kubectl patch job/work -n demo --type=merge -p '{"spec":{"suspend":false}}'"""
    assert f"To start it: {patch}" in text


def test_a_deployment_of_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = {**job(replicas=0), "apiVersion": "apps/v1", "kind": "Deployment"}
    text = told(capfd, tmp_path, body)
    assert "Deployment demo/work is scaled to 0" in text
    assert "To start it: kubectl scale deployment/work -n demo --replicas=1" in text


def test_one_that_is_only_idle(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "Job demo/work has no pending pods" in told(capfd, tmp_path, job())


def test_a_set_whose_pod_does_not_end(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Until it has ended, nothing else has its name."""
    body = {**job(replicas=1), "apiVersion": "apps/v1", "kind": "StatefulSet"}
    body["metadata"]["uid"] = "set"
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "work", "uid": "set", "controller": True}
    pod = {"apiVersion": "v1", **build.pod("work-0", node_name="dra-example-driver-cluster-worker", phase="Running")}
    pod["metadata"] |= {"namespace": NAMESPACE, "ownerReferences": [owner], "deletionTimestamp": "2026-01-01T00:03:00Z"}
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": [*CLUSTERS["example"](), body, pod]}), encoding="utf-8")
    assert run(["why-pending", "statefulset/work", "-n", NAMESPACE, "--from", str(path), "--color", "never"]) == 0
    assert "Pod demo/work-0 should have ended" in " ".join(capfd.readouterr().out.split())


def queue(nominal: str = "4") -> list[dict[str, Any]]:
    flavor = {"name": "h100", "resources": [{"name": "cpu", "nominalQuota": nominal}]}
    local = {"kind": "LocalQueue", "metadata": {"name": "user-queue", "namespace": NAMESPACE}}
    return [
        {"apiVersion": "kueue.x-k8s.io/v1beta1", **local, "spec": {"clusterQueue": "research"}},
        {
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "kind": "ClusterQueue",
            "metadata": {"name": "research"},
            "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}]},
        },
    ]


def test_a_job_that_waits_for_quota_as_a_document(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["why-pending", "job/train", "-n", "ml", "--from", "docs/examples/queue.yaml"]
    assert run([*words, "-o", "json", "--exit-code"]) == 3
    (found,) = json.loads(capfd.readouterr().out)["items"]
    assert (found["kind"], found["verdict"], found["fits"]) == ("WorkloadPendingReport", "Queued", "Yes")
    assert (found["code"], found["causes"]) == (None, [])
    assert (found["queue"]["heldBy"], found["queue"]["clusterQueue"]) == ("Quota", "research")
    assert run(words) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "waits in queue team-a: 3 of 4 example.com/gpu (flavor h100) of ClusterQueue research are reserved" in out
    assert out.count("3 of 4 example.com/gpu") == 1
    assert "It does not wait for devices yet: both of its pods would fit now at the same time." in out


def test_who_has_the_quota(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def admitted(name: str, amount: str, queue: str = "research", **conditions: str) -> str:
        said = [{"type": kind, "status": status} for kind, status in {"Admitted": "True", **conditions}.items()]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": name, "controller": True}
        given = {"name": "main", "flavors": {"example.com/gpu": "h100"}, "resourceUsage": {"example.com/gpu": amount}}
        return json.dumps(
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "Workload",
                "metadata": {"name": f"job-{name}", "namespace": "ml", "ownerReferences": [owner]},
                "status": {"conditions": said, "admission": {"clusterQueue": queue, "podSetAssignments": [given]}},
            }
        )

    others = (admitted("elsewhere", "3", "other"), admitted("over", "3", Finished="True"), admitted("small", "500m"))
    text = Path("docs/examples/queue.yaml").read_text(encoding="utf-8")
    path = tmp_path / "all.yaml"
    path.write_text("\n---\n".join((text, admitted("serve", "2"), *others)), encoding="utf-8")
    assert run(["why-pending", "job/train", "-n", "ml", "--from", str(path), "--color", "never"]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "In use: Job ml/serve 2, Job ml/small 500m, 500m by workloads that were not read" in out
    assert "kubectl get workloads.kueue.x-k8s.io -A" in out
    patch = 'kubectl patch workload.kueue.x-k8s.io/job-serve -n ml --type=merge -p \'{"spec":{"active":false}}\''
    assert f"To have Job serve give it back (Kueue ends its pods; active: true lets it queue again): {patch}" in out


def test_a_pod_that_kueue_gates_says_what_it_waits_for(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    gated = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": NAMESPACE, "labels": {"kueue.x-k8s.io/queue-name": "nosuch"}},
        "spec": pod_spec(templates=["template"], schedulingGates=[{"name": "kueue.x-k8s.io/admission"}]),
        "status": {"phase": "Pending"},
    }
    path = tmp_path / "cluster.json"
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE))), gated, *queue()]
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    assert run(["why-pending", "p", "-n", NAMESPACE, "--from", str(path), "--color", "never"]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "Kueue holds it in queue nosuch: LocalQueue nosuch doesn't exist" in out
    assert f"LocalQueues of namespace {NAMESPACE}: user-queue" in out


@pytest.mark.parametrize(
    ("nominal", "words"),
    [
        ("4", "Job demo/work will never be admitted by Kueue: it requests 5 cpu (5 × 1), and ClusterQueue research"),
        ("5", "reserved in research: 0 of 5 cpu in flavor h100"),
    ],
)
def test_simulate_tells_quota_from_devices(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, nominal: str, words: str
) -> None:
    body = job(QUEUE, suspend=True, parallelism=5, completions=5)
    container = body["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["requests"] = {"cpu": "1"}
    path = tmp_path / "all.json"
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "h100"}}
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE))), body, *queue(nominal), flavor]
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    assert run(["simulate", "-f", str(path), "-n", NAMESPACE, "--from", "demo", "--color", "never"]) == 0
    out = " ".join(capfd.readouterr().out.split())
    # How Kueue counts the devices was not read.
    verdict = "would find a node." if nominal == "4" else "fit if Kueue admits them."
    assert f"Job demo/work: all 5 copies {verdict}" in out
    assert words in out
    assert ("will never be admitted" in out) is (nominal == "4")
    assert "Not involved in scheduling devices: LocalQueue" not in out


def test_of_many_jobs_in_queues_the_queues_are_read_once(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counting(_options: Options, state: ClusterState, namespace: str) -> ClusterState:
        asked.append(namespace)
        return state

    monkeypatch.setattr(lists, "with_queues", counting)
    jobs = [job(QUEUE, suspend=True) for _ in range(3)]
    for number, each in enumerate(jobs):
        each["metadata"] |= {"name": f"work-{number}", "uid": f"uid-{number}"}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "work-2", "uid": "uid-2", "controller": True}
    # Of the first there was another one of the same name, whose pod is still there.
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE, "uid": name, "ownerReferences": [owner | reference]},
            "spec": pod_spec(templates=[]),
            "status": {"phase": "Running"},
        }
        for name, reference in (("own", {}), ("other", {"name": "work-0", "uid": "earlier"}))
    ]
    path = tmp_path / "cluster.json"
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE))), *jobs, *pods]
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    assert run(["why-pending", "jobs", "-n", NAMESPACE, "--from", str(path), "--color", "never"]) == 0
    out = "".join(capfd.readouterr())
    assert ["Job demo/work-0" in out, "Job demo/work-1" in out, "Job demo/work-2" in out] == [True, True, False]
    assert asked == [NAMESPACE]


def simulated_in_queue(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, resource: str, nominal: str, *more: dict[str, Any]
) -> str:
    """A Job of five pods with a device each, in a queue with a quota of ``resource``."""
    local, cluster = queue()
    (group,) = cluster["spec"]["resourceGroups"]
    group["coveredResources"] = [resource]
    group["flavors"][0]["resources"] = [{"name": resource, "nominalQuota": nominal}]
    body = job(QUEUE, suspend=True, parallelism=5, completions=5)
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE))), body, local, cluster, *more]
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    assert run(["simulate", "-f", str(path), "--from", "demo", "--color", "never"]) == 0
    return " ".join("".join(capfd.readouterr()).split())


MAPPING = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": [EXAMPLE]}]},
}
IN_CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
    "data": {"controller_manager_config.yaml": json.dumps(MAPPING), "other": "config.kueue.x-k8s.io: [", "text": "a"},
}


@pytest.mark.parametrize("mapping", [MAPPING, IN_CONFIG_MAP])
def test_devices_count_as_the_mapping_of_kueue_says(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, mapping: dict[str, Any]
) -> None:
    out = simulated_in_queue(capfd, tmp_path, "whole-gpus", "4", mapping)
    assert f"Job demo/work will never be admitted by Kueue: it requests 5 whole-gpus (5 × 1 {EXAMPLE})" in out
    enough = simulated_in_queue(capfd, tmp_path, "whole-gpus", "5", mapping)
    assert "admitted by Kueue" not in enough
    assert "not compared with a quota" not in out + enough


@pytest.mark.parametrize("mapping", [(), ({**MAPPING, "resources": {"deviceClassMappings": [3, {"name": "a"}]}},)])
def test_devices_without_a_mapping_are_said_to_be_open(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, mapping: tuple[dict[str, Any], ...]
) -> None:
    out = simulated_in_queue(capfd, tmp_path, "whole-gpus", "1", *mapping)
    assert f"not compared with a quota: devices of {EXAMPLE}; how Kueue counts them is in deviceClassMappings" in out
    assert f"Whether Kueue admits Job demo/work is unknown: how it counts devices of {EXAMPLE} was not read." in out
    assert "never be admitted" not in out


@pytest.mark.parametrize("mapping", [MAPPING, IN_CONFIG_MAP])
def test_the_mapping_may_be_in_the_file_of_the_cluster(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, mapping: dict[str, Any]
) -> None:
    local, cluster = queue()
    (group,) = cluster["spec"]["resourceGroups"]
    group["coveredResources"] = ["whole-gpus"]
    group["flavors"][0]["resources"] = [{"name": "whole-gpus", "nominalQuota": "4"}]
    there, path = tmp_path / "cluster.json", tmp_path / "job.json"
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE))), local, cluster, mapping]
    there.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    path.write_text(json.dumps(job(QUEUE, suspend=True, parallelism=5, completions=5)), encoding="utf-8")
    assert run(["simulate", "-f", str(path), "--from", str(there), "--color", "never"]) == 0
    out = " ".join("".join(capfd.readouterr()).split())
    assert "will never be admitted by Kueue: it requests 5 whole-gpus" in out


def test_of_many_that_differ_in_their_names_only_one_is_tried(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = [job(suspend=True) for _ in range(4)]
    for number, body in enumerate(bodies):
        body["metadata"]["name"] = f"work-{number}"
    bodies[3]["spec"]["template"]["spec"]["priorityClassName"] = "other"
    path = tmp_path / "cluster.json"
    items = [*CLUSTERS["example"](), template(devices(request(EXAMPLE, 9))), *bodies]
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    tried: list[str] = []

    def counted(state: ClusterState, pods: Iterable[Pod]) -> PlacedCopies:
        made = list(pods)
        tried.extend(pod.metadata.name for pod in made)
        return place(state, made)

    monkeypatch.setattr(idle, "place", counted)
    assert run(["why-pending", "jobs", "-n", NAMESPACE, "--from", str(path), "-o", "json"]) == 0
    found = json.loads(capfd.readouterr().out)["items"]
    assert tried == ["work-0-simulated", "work-3-simulated"]
    assert [(each["workload"]["name"], (each["like"] or {}).get("name")) for each in found] == [
        ("work-0", None),
        ("work-1", "work-0"),
        ("work-2", "work-0"),
        ("work-3", None),
    ]
    assert {each["fits"] for each in found} == {"No"}
    assert [each["pending"]["pod"]["name"] for each in found] == 3 * ["work-0-simulated"] + ["work-3-simulated"]


@pytest.mark.parametrize(
    ("condition", "count", "told_of_it"),
    [
        (
            {
                "type": "Failed",
                "reason": "DeadlineExceeded",
                "message": "Job was active longer than specified deadline",
            },
            1,
            [
                "Job demo/work has failed (DeadlineExceeded): Job was active longer than specified deadline.",
                "A longer spec.activeDeadlineSeconds",
                "one of its pods would fit now, on dra-example-driver-cluster-worker",
            ],
        ),
        (
            {"type": "Failed", "reason": "BackoffLimitExceeded", "message": "Job has reached the limit"},
            9,
            ["kubectl logs job/work -n demo", "Not even one of its pods would fit now: no node has 9"],
        ),
        (
            {"type": "Complete", "reason": "CompletionsReached"},
            9,
            ["Job demo/work is complete: it creates no more pods."],
        ),
    ],
)
def test_a_job_that_has_ended_says_how(
    condition: dict[str, str], count: int, told_of_it: list[str], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = job() | {"status": {"conditions": [{**condition, "status": "True"}]}}
    text = told(capfd, tmp_path, body, count)
    assert [each for each in told_of_it if each not in text] == []
    assert "has no pending pods" not in text
    assert ("fit now" in text) == (condition["type"] == "Failed")
