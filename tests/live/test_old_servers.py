"""A server of 1.30: everything of v1alpha2 is read where it is served, and what is not served is known to be none."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.features import features
from kubectl_dra.source.live import Needs, read
from kubectl_dra.source.spec import Connection
from tests.diagnosis.classic import build
from tests.kit.fake_api import PLURALS, Answer, FakeApi, connection_to
from tests.kit.state import diagnose_pod

KINDS = ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "ResourceClass", "PodSchedulingContext")
PARAMETERS = ("ResourceClaimParameters", "ResourceClassParameters")


@pytest.fixture
def old(api: FakeApi) -> FakeApi:
    """The server with a pod, its claim, the class and the negotiation about them."""
    api.routes["/version"] = Answer({"major": "1", "minor": "30", "gitVersion": "v1.30.14"})
    api.serve_versions({"v1alpha2": [PLURALS[kind] for kind in (*KINDS, *PARAMETERS)]})
    for kind in (*KINDS, *PARAMETERS):
        api.serve(kind, [], build.OLD)
    for served in (build.claim(), build.resource_class(), build.context("node-1", selected="node-1")):
        api.serve(served["kind"], [served], build.OLD)
    api.serve("Pod", [build.pod("claim")])
    api.serve("Node", [build.node()])
    return api


@pytest.fixture
def connection(tmp_path: Path, old: FakeApi) -> Connection:
    return connection_to(tmp_path, old)


def wanted(*namespaces: str) -> Needs:
    return Needs(frozenset(needs.kinds((*needs.POD, *needs.CLASSIC))), namespaces)


def test_what_is_served_is_read(connection: Connection, old: FakeApi) -> None:
    inventory, evidence = read(connection, wanted())
    lists = {request.path for request in old.requests if "limit" in request.query}
    assert {f"/apis/{build.OLD}/{PLURALS[kind]}" for kind in (*KINDS, *PARAMETERS)} <= lists
    assert (evidence.server_version, evidence.coverage("DeviceClass")) == ((1, 30), Coverage.NOT_SERVED)
    found = diagnose_pod(inventory, evidence, features(30), build.POD)
    assert [cause.code for cause in found.causes] == [Code.DRIVER_ALLOCATES]
    assert [item.kind for item in found.missing if item.decides] == []


def test_contexts_that_may_not_be_read_leave_it_open(connection: Connection, old: FakeApi) -> None:
    old.forbid(f"/apis/{build.OLD}/podschedulingcontexts")
    inventory, evidence = read(connection, wanted())
    found = diagnose_pod(inventory, evidence, features(30), build.POD)
    assert [cause.code for cause in found.causes] == [Code.EVIDENCE_MISSING]
    assert [item.kind for item in found.missing if item.decides] == ["PodSchedulingContext"]


def test_parameters_of_classes_are_read_wherever_they_are(connection: Connection, old: FakeApi) -> None:
    elsewhere = {**build.class_parameters("true"), "metadata": {"name": "all", "namespace": "system"}}
    reference = build.refers("ResourceClassParameters", "all", namespace="system")
    old.serve("ResourceClassParameters", [elsewhere], build.OLD)
    old.serve("ResourceClass", [build.resource_class(structured=True, parametersRef=reference)], build.OLD)
    old.serve("ResourceSlice", [build.slice_("node-1", build.instance("gpu-0"))], build.OLD)
    for kind in ("PodSchedulingContext", "ResourceClaimParameters", "ResourceClaimTemplate"):
        old.serve(kind, [], build.OLD, build.NAMESPACE)
    inventory, evidence = read(connection, wanted(build.NAMESPACE))
    found = diagnose_pod(inventory, evidence, features(30), build.POD)
    assert found.causes[0].code is Code.FITS_NOW
