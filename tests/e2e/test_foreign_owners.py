"""Owners of other API groups, with their CRDs on the control plane: the printed patch is accepted where it belongs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import wait_for
from tests.e2e.kinds import definition, serving
from tests.e2e.situations import clear, create, node_object, pod_object, scheduled_condition

pytestmark = pytest.mark.controlplane
_NAMESPACE: Final = "e2e-foreign-owners"
_POD: Final = {"containers": [{"name": "main", "image": "example.com/app:1"}]}
_TEMPLATE: Final = {"spec": _POD}
# Kind: group, version, plural, spec, labels of the pod, and where its template is.
_KINDS: Final[dict[str, tuple[str, str, str, dict[str, Any], dict[str, str], str]]] = {
    "JobSet": (
        "jobset.x-k8s.io",
        "v1alpha2",
        "jobsets",
        {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": _TEMPLATE}}}]},
        {"jobset.sigs.k8s.io/replicatedjob-name": "a"},
        "replicatedJobs.0.template.spec.template",
    ),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io",
        "v1",
        "leaderworkersets",
        {"leaderWorkerTemplate": {"workerTemplate": _TEMPLATE}},
        {"leaderworkerset.sigs.k8s.io/worker-index": "0"},
        "leaderWorkerTemplate.workerTemplate",
    ),
    "MPIJob": (
        "kubeflow.org",
        "v2beta1",
        "mpijobs",
        {"mpiReplicaSpecs": {"Worker": {"template": _TEMPLATE}}},
        {"training.kubeflow.org/job-role": "worker"},
        "mpiReplicaSpecs.Worker.template",
    ),
    "RayCluster": (
        "ray.io",
        "v1",
        "rayclusters",
        {"workerGroupSpecs": [{"groupName": "gpu", "template": _TEMPLATE}]},
        {"ray.io/node-type": "worker", "ray.io/group": "gpu"},
        "workerGroupSpecs.0.template",
    ),
}


@pytest.fixture(scope="module")
def _served(plane: ControlPlane) -> Iterator[None]:
    """The kinds, in the version that is asked about."""
    made = [definition(group, kind, "Namespaced", version) for kind, (group, version, *_) in _KINDS.items()]
    with serving(plane.client(), made):
        yield


@pytest.mark.usefixtures("_served")
@pytest.mark.parametrize("kind", _KINDS)
def test_the_patch_is_accepted_and_changes_the_template(
    plane: ControlPlane, client: Client, tmp_path: Path, kind: str
) -> None:
    group, version, plural, spec, labels, where = _KINDS[kind]
    clear(client)
    if client.get("Namespace", _NAMESPACE) is None:
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}, "")
    taint = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
    create(client, node_object("node-1", taints=[taint]), "")
    path = f"/apis/{group}/{version}/namespaces/{_NAMESPACE}/{plural}"
    body = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {"name": "train"}, "spec": spec}
    made = client.request("POST", path, body)
    reference = {"apiVersion": body["apiVersion"], "kind": kind, "name": "train", "uid": made["metadata"]["uid"]}
    pod = pod_object("pod")
    pod["metadata"] |= {"labels": labels, "ownerReferences": [{**reference, "controller": True}]}
    create(client, pod, _NAMESPACE)
    wait_for(lambda: scheduled_condition(client, _NAMESPACE, "pod"), "the scheduler has a verdict")

    asked = f"kubectl dra why-pending pod/pod -n {_NAMESPACE} --remedy 1"
    environment = plane_environment(plane)
    # A snapshot holds the owner, and leads to the same commands.
    recorded = _bash(f"kubectl dra snapshot -o {tmp_path}/s.json && {asked} --from {tmp_path}/s.json", environment)
    assert f"{kind.lower()}/train" in recorded.stdout, recorded.stderr
    tried = _bash(f"{asked} --dry-run=server", environment)
    assert tried.returncode == 0, f"{tried.stdout}\n{tried.stderr}"
    script = _bash(asked, environment).stdout
    assert f"{kind.lower()}/train" in script
    done = _bash(script, environment)
    assert done.returncode == 0, f"{script}\n{done.stderr}"
    changed = client.request("GET", f"{path}/train")["spec"]
    for step in where.split("."):
        changed = changed[int(step) if step.isdecimal() else step]
    assert changed["spec"]["tolerations"] == [
        {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    ]


def _bash(script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["timeout", "60", "bash", "-eu"]
    return subprocess.run(command, input=script, env=environment, capture_output=True, encoding="utf-8", check=False)
