"""``why-pending --node-groups cluster`` beside a real API server that serves the kinds of autoscalers.

A group that is said to take the pod does, once its node is there; what may not be read is named.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, wait_for
from tests.e2e.conftest import OPERATOR, Explain
from tests.e2e.kinds import definition, serving
from tests.e2e.roles import grant
from tests.e2e.situations import bound_to, clear, create, node_object, pod_object, scheduled_condition

pytestmark = pytest.mark.controlplane

DRIVER = "groups.example.com"
NAMESPACE = "e2e-node-groups"
KINDS = {
    ("cluster.x-k8s.io", "v1beta2"): {"MachineDeployment": "Namespaced", "MachineSet": "Namespaced"},
    ("karpenter.sh", "v1"): {"NodePool": "Cluster", "NodeClaim": "Cluster"},
    ("test.karpenter.sh", "v1alpha1"): {"DRAConfig": "Namespaced"},
}


def paths() -> dict[str, str]:
    return {
        kind: f"/apis/{group}/{version}/{f'namespaces/{NAMESPACE}/' if scope == 'Namespaced' else ''}{kind.lower()}s"
        for (group, version), kinds in KINDS.items()
        for kind, scope in kinds.items()
    }


@pytest.fixture(scope="module")
def served(plane: ControlPlane) -> Iterator[Client]:
    """A control plane that knows the kinds of autoscalers."""
    client = plane.client()
    made = [
        definition(group, kind, scope, version)
        for (group, version), kinds in KINDS.items()
        for kind, scope in kinds.items()
    ]
    clear(client)
    if client.get("Namespace", NAMESPACE) is None:
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, "")
    with serving(client, made):
        yield client


def put(client: Client, kind: str, body: Object) -> None:
    group = next(f"{g}/{v}" for (g, v), kinds in KINDS.items() if kind in kinds)
    client.request("POST", paths()[kind], {"apiVersion": group, "kind": kind, **body})


def test_groups_of_the_cluster_are_judged_as_the_scheduler_judges_their_nodes(served: Client, explain: Explain) -> None:
    _waiting(served)
    prefix = "capacity.cluster-autoscaler.kubernetes.io"
    sizes = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
    for name, cpu in (("big", "8"), ("small", "1")):
        annotations = {
            f"{prefix}/cpu": cpu,
            f"{prefix}/memory": "16Gi",
            f"{prefix}/dra-driver": DRIVER,
            f"{prefix}/gpu-count": "2",
            f"{sizes}-min-size": "0",
            f"{sizes}-max-size": "3",
        }
        meta = {"name": name, "namespace": NAMESPACE, "annotations": annotations}
        put(served, "MachineDeployment", {"metadata": meta, "spec": {"replicas": 0}})
    requirements = [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["cpu.1", "gpu.2"]}]
    for name, limit in (("pool", "64"), ("full", "0")):
        spec = {"template": {"spec": {"requirements": requirements}}, "limits": {"cpu": limit}}
        put(served, "NodePool", {"metadata": {"name": name}, "spec": spec})
    match = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["gpu.2"]}
    described = {
        "name": "p",
        "nodeSelectorTerms": [{"matchExpressions": [match]}],
        "resourceSlices": [{"devices": [{"name": "gpu-0"}, {"name": "gpu-1"}]}],
    }
    meta = {"name": "c", "namespace": NAMESPACE}
    put(served, "DRAConfig", {"metadata": meta, "spec": {"driver": DRIVER, "pools": [described]}})
    report = explain("why-pending", "waits", "-n", NAMESPACE, "--node-groups", "cluster")
    found = {(each["kind"], each["name"]): each for each in report["nodeGroups"]}
    assert {key: each["outcome"] == "Fits" for key, each in found.items()} == {
        ("MachineDeployment", "big"): True,
        ("MachineDeployment", "small"): False,
        ("NodePool", "pool"): True,
        ("NodePool", "full"): True,
    }
    assert "atLimit" in found["NodePool", "full"]["doubts"]
    assert "atLimit" not in found["NodePool", "pool"]["doubts"]
    assert not any(each["kind"] in paths() for each in report["missing"])
    # As the autoscaler would do it: the small one first, which the scheduler refuses as it was foreseen.
    _node(served, "new-small", cpu="1")
    told = wait_for(lambda: _message(served, "1 node"), "the scheduler has looked at the node")
    assert "Insufficient cpu" in told
    assert found["MachineDeployment", "small"]["causes"][0]["code"] == "DRA-415"
    _node(served, "new-big", cpu="8")
    assert wait_for(lambda: bound_to(served, NAMESPACE, "waits"), "the pod is bound") == "new-big"


def test_what_may_not_be_listed_is_named_with_its_right(served: Client, plane: ControlPlane, explain: Explain) -> None:
    _waiting(served)
    grant(served, "view", OPERATOR.name)
    question = ("why-pending", "waits", "-n", NAMESPACE, "--node-groups", "cluster")
    report = explain(*question, user=OPERATOR.name)
    lacking = {(each["kind"], each["rule"]["apiGroup"], each["rule"]["resource"]) for each in report["missing"]}
    assert ("NodePool", "karpenter.sh", "nodepools") in lacking
    assert ("MachineDeployment", "cluster.x-k8s.io", "machinedeployments") in lacking
    page = subprocess.run(
        [str(plane.kubectl), "dra", *question],
        env=plane_environment(plane, OPERATOR.name),
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert "nodepools.karpenter.sh" in " ".join(page.split())
    grant(served, "node-groups", OPERATOR.name)
    wait_for(
        lambda: not {each["kind"] for each in explain(*question, user=OPERATOR.name)["missing"]} & set(paths()),
        "the roles of deploy/rbac are enough",
    )


def _waiting(client: Client) -> None:
    """A pod that waits for two devices, in a cluster without nodes."""
    clear(client)
    for path in paths().values():
        for each in client.request("GET", path)["items"]:
            client.request("DELETE", f"{path}/{each['metadata']['name']}")
    expression = f'device.driver == "{DRIVER}"'
    create(client, {"kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": {"selectors": [_cel(expression)]}}, "")
    exactly = {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": 2}
    spec = {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "two"}, "spec": {"spec": spec}}
    create(client, template, NAMESPACE)
    create(client, pod_object("waits", template="two", requests={"cpu": "4"}), NAMESPACE)
    wait_for(lambda: scheduled_condition(client, NAMESPACE, "waits"), "the scheduler has a verdict")


def _cel(expression: str) -> dict[str, Any]:
    return {"cel": {"expression": expression}}


def _node(client: Client, name: str, cpu: str) -> None:
    create(client, node_object(name, cpu=cpu), "")
    spec = {
        "driver": DRIVER,
        "nodeName": name,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}],
    }
    create(client, {"kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}, "")


def _message(client: Client, part: str) -> str:
    condition = scheduled_condition(client, NAMESPACE, "waits") or {}
    message: str = condition.get("message", "")
    return message if part in message and "Insufficient" in message else ""
