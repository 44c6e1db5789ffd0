"""Work in Kueue's queues beside a real API server that serves Kueue's kinds in both versions, and JobSet's.

What Kueue would have written is written by hand: of it only the objects are read.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, wait_for
from tests.e2e.conftest import OPERATOR, Explain
from tests.e2e.kinds import definition, serving
from tests.e2e.roles import grant
from tests.e2e.situations import clear, create, node_object

pytestmark = pytest.mark.controlplane

GROUP = "kueue.x-k8s.io"
VERSION = f"{GROUP}/v1beta2"
NAMESPACE = "e2e-queues"
DRIVER = "queued.example.com"
SCOPES = {"Workload": "Namespaced", "LocalQueue": "Namespaced", "ClusterQueue": "Cluster"}
RESOURCE = "example.com/gpu"
FLAVOR = "h100"
SHORT = f"couldn't assign flavors to pod set main: insufficient unused quota for {RESOURCE} in flavor {FLAVOR}"
MISSING = {f"{kind}.{GROUP}" for kind in SCOPES}


def definitions() -> list[Object]:
    kueue = [definition(GROUP, kind, scope, "v1beta1", "v1beta2") for kind, scope in SCOPES.items()]
    return [*kueue, definition("jobset.x-k8s.io", "JobSet", "Namespaced", "v1alpha2")]


def path_of(kind: str, group: str = VERSION, scope: str = "") -> str:
    within = f"namespaces/{NAMESPACE}/" if (scope or SCOPES.get(kind)) == "Namespaced" else ""
    return f"/apis/{group}/{within}{kind.lower()}s"


def put(client: Client, path: str, body: Object) -> Object:
    """Create an object, with its status as a controller writes it."""
    made: Object = client.request("POST", path, body)
    if "status" in body:
        at = f"{path}/{made['metadata']['name']}/status"
        made = client.request("PUT", at, {**made, "status": body["status"]})
    return made


def body(kind: str, name: str, spec: Object, **status: Any) -> Object:
    meta: Object = {"name": name}
    whole = {"apiVersion": VERSION, "kind": kind, "metadata": meta, "spec": spec}
    return {**whole, "status": status} if status else whole


@pytest.fixture(scope="module")
def served(plane: ControlPlane) -> Iterator[Client]:
    """A control plane with Kueue's kinds, a queue without quota left, and two suspended workloads in it."""
    client = plane.client()
    clear(client)
    if client.get("Namespace", NAMESPACE) is None:
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, "")
    with serving(client, definitions()):
        _fill(client, path_of("JobSet", "jobset.x-k8s.io/v1alpha2", "Namespaced"))
        yield client


def _fill(client: Client, jobsets: str) -> None:
    expression = f'device.driver == "{DRIVER}"'
    spec: Object = {"selectors": [{"cel": {"expression": expression}}]}
    create(client, {"kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": spec}, "")
    create(client, node_object("queued-1"), "")
    devices = [{"name": f"gpu-{number}"} for number in range(2)]
    pool = {"name": "queued-1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": "queued-1", "pool": pool, "devices": devices}
    create(client, {"kind": "ResourceSlice", "metadata": {"name": "queued-1"}, "spec": spec}, "")
    exactly = {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": 1}
    spec = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}}
    create(client, {"kind": "ResourceClaimTemplate", "metadata": {"name": "one"}, "spec": spec}, NAMESPACE)
    container = {"name": "main", "image": "example.com/app:1", "resources": {"claims": [{"name": "gpu"}]}}
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    pod = {"spec": {"restartPolicy": "Never", "containers": [container], "resourceClaims": claims}}
    labels = {f"{GROUP}/queue-name": "team"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "labels": labels}}
    owner = client.request(
        "POST", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", {**job, "spec": {"suspend": True, "template": pod}}
    )
    sets = {"suspend": True, "replicatedJobs": [{"name": "w", "template": {"spec": {"template": pod}}}]}
    meta = {"name": "sweep", "labels": labels}
    put(client, jobsets, {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta, "spec": sets})
    put(client, path_of("LocalQueue"), body("LocalQueue", "team", {"clusterQueue": "research"}))
    quota = {"name": RESOURCE, "nominalQuota": "4"}
    group = {"coveredResources": [RESOURCE], "flavors": [{"name": FLAVOR, "resources": [quota]}]}
    used = [{"name": FLAVOR, "resources": [{"name": RESOURCE, "total": "4", "borrowed": "0"}]}]
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    queue = body("ClusterQueue", "research", spec, flavorsReservation=used, pendingWorkloads=1)
    put(client, path_of("ClusterQueue"), queue)
    condition = {
        "type": "QuotaReserved",
        "status": "False",
        "reason": "Pending",
        "message": SHORT,
        "lastTransitionTime": "2026-11-23T00:00:00Z",
    }
    sets = {"queueName": "team", "podSets": [{"name": "main", "count": 1, "template": pod}]}
    work = body("Workload", "job-train", sets, conditions=[condition])
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": owner["metadata"]["uid"]}
    work["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    put(client, path_of("Workload"), work)


def _only(report: dict[str, Any]) -> dict[str, Any]:
    (found,) = report["items"]
    assert found["kind"] == "WorkloadPendingReport"
    return dict(found)


QUESTION = ("why-pending", "job/train", "-n", NAMESPACE)


def test_quota_and_devices_are_told_apart(served: Client, explain: Explain) -> None:
    found = _only(explain(*QUESTION))
    assert (found["verdict"], found["fits"], found["node"]) == ("Queued", "Yes", "queued-1")
    queue = found["queue"]
    assert (queue["heldBy"], queue["clusterQueue"], queue["message"]) == ("Quota", "research", SHORT)
    row = {"flavor": FLAVOR, "resource": RESOURCE, "nominal": "4", "reserved": "4", "borrows": False}
    assert queue["quota"] == [row]
    assert not MISSING & {each["kind"] for each in found["missing"]}


def test_a_job_set_that_kueue_has_not_seen(served: Client, explain: Explain) -> None:
    found = _only(explain("why-pending", "jobset/sweep", "-n", NAMESPACE))
    assert (found["verdict"], found["suspendedBy"], found["fits"]) == ("Queued", "spec.suspend", "Yes")
    assert found["queue"]["heldBy"] == "NoWorkload"


def test_a_snapshot_gives_the_same_answer(
    served: Client, explain: Explain, plane: ControlPlane, tmp_path: Path
) -> None:
    path = str(tmp_path / "snapshot.json")
    command = [str(plane.kubectl), "dra", "snapshot", "-f", path]
    subprocess.run(command, env=plane_environment(plane), capture_output=True, check=True)
    before, after = _only(explain(*QUESTION)), _only(explain(*QUESTION, "--from", path))
    assert (after["queue"], after["fits"]) == (before["queue"], before["fits"])


def test_simulate_compares_with_the_quota(served: Client, explain: Explain, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(
        f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: more, namespace: {NAMESPACE}, labels: {{{GROUP}/queue-name: team}}}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: example.com/app:1, resources: {{claims: [{{name: gpu}}]}}}}]
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: one}}]
---
apiVersion: config.{GROUP}/v1beta2
kind: Configuration
resources:
  deviceClassMappings: [{{name: {RESOURCE}, deviceClassNames: [{DRIVER}]}}]
""",
        encoding="utf-8",
    )
    report = explain("simulate", "-f", str(job))
    (found,) = (each for each in report["manifests"] if each["object"]["name"] == "more")
    assert found["waits"]["heldBy"] == "Quota"
    room = found["room"]
    told = [room[name] for name in ("room", "resource", "requested", "most", "unused")]
    assert told == ["Later", RESOURCE, "1", "4", "0"]
    assert (found["admits"], report["fits"]) == ("No", "No")


def test_without_rights_it_says_which(served: Client, explain: Explain) -> None:
    grant(served, "view", OPERATOR.name)
    found = _only(explain(*QUESTION, user=OPERATOR.name))
    assert (found["queue"]["heldBy"], found["fits"]) == ("Unknown", "Yes")
    rules = {each["kind"]: each["rule"] for each in found["missing"]}
    assert set(rules) >= MISSING
    assert {rules[kind]["apiGroup"] for kind in MISSING} == {GROUP}
    grant(served, "queues", OPERATOR.name)
    wait_for(
        lambda: not MISSING & {each["kind"] for each in _only(explain(*QUESTION, user=OPERATOR.name))["missing"]},
        "the role of deploy/rbac is enough",
    )
    assert _only(explain(*QUESTION, user=OPERATOR.name))["queue"]["heldBy"] == "Quota"


def test_a_workload_of_another_project_needs_its_right(served: Client, explain: Explain, plane: ControlPlane) -> None:
    command = [str(plane.kubectl), "dra", "why-pending", "jobset/sweep", "-n", NAMESPACE]
    grant(served, "view", OPERATOR.name)
    environment = plane_environment(plane, OPERATOR.name)
    refused = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert (refused.returncode, 'jobsets.jobset.x-k8s.io "sweep" is forbidden' in refused.stderr) == (1, True)
    grant(served, "workloads", OPERATOR.name)

    def answered() -> bool:
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
        return "JobSet e2e-queues/sweep is suspended" in " ".join(done.stdout.split())

    wait_for(answered, "the role of deploy/rbac is enough")
