"""A real API server takes and refuses, in a dry run, what the corpus says it does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.controlplane import Client, ControlPlane, binaries
from tests.controlplane.client import StatusError
from tests.corpus.case import Case
from tests.corpus.cases import CASES
from tests.corpus.shapes import NAMESPACE, Object

pytestmark = pytest.mark.controlplane
#: What a server has without anybody's help.
BUILT_IN = ("v1", "apps/v1", "batch/v1", "resource.k8s.io/v1", "resource.k8s.io/v1beta1")
_PLURALS = {
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "ReplicaSet": "replicasets",
    "ReplicationController": "replicationcontrollers",
    "DaemonSet": "daemonsets",
    "Job": "jobs",
    "CronJob": "cronjobs",
    "Pod": "pods",
    "ConfigMap": "configmaps",
    "ResourceClaim": "resourceclaims",
    "ResourceClaimTemplate": "resourceclaimtemplates",
}
_CLUSTER = {
    "Node": "nodes",
    "ResourceSlice": "resourceslices",
    "DeviceClass": "deviceclasses",
    "DeviceTaintRule": "devicetaintrules",
}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with ControlPlane(binaries()) as plane:
        client = plane.client()
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield client


def refused(client: Client, body: Object) -> str:
    """What the server says against creating an object as it is written; empty if nothing."""
    version, kind = body["apiVersion"], body["kind"]
    if kind in _PLURALS:
        path = f"/namespaces/{body['metadata'].get('namespace', NAMESPACE)}/{_PLURALS[kind]}"
    else:
        path = f"/{_CLUSTER[kind]}"
    prefix = "/apis" if "/" in version else "/api"
    try:
        client.request("POST", f"{prefix}/{version}{path}", body, dryRun="All", fieldValidation="Strict")
    except StatusError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_server_takes_what_is_said_to_be_taken(client: Client, case: Case) -> None:
    for body in case.objects:
        kind, version = body["kind"], body["apiVersion"]
        # The kinds of others, and groups that this server does not serve.
        known = kind in _PLURALS or kind in _CLUSTER
        if not known or (version not in BUILT_IN and not version.startswith("resource.k8s.io/")):
            continue
        name = body["metadata"].get("name", "")
        said = refused(client, body)
        assert bool(said) is (name in case.refused), (kind, name, said)
