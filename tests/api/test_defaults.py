"""Server-side defaults of manifests (pkg/apis/resource/v1/defaults.go, pkg/apis/core/v1/defaults.go)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate


def made(kind: str, **fields: Any) -> Any:
    found = BY_NAME[kind]
    data = json.dumps({"metadata": {"name": "x"}, **fields}).encode()
    return defaulted(decode_object(data, found.api_version, found))


def claim(*requests: dict[str, Any], **fields: Any) -> ResourceClaim:
    record = made("ResourceClaim", spec={"devices": {"requests": list(requests)}}, **fields)
    assert isinstance(record, ResourceClaim)
    return record


def pod(**spec: Any) -> Pod:
    record = made("Pod", spec=spec)
    assert isinstance(record, Pod)
    return record


@pytest.mark.parametrize(
    ("given", "mode", "count"),
    [
        ({}, "ExactCount", 1),
        ({"count": 3}, "ExactCount", 3),
        ({"allocationMode": "ExactCount"}, "ExactCount", 1),
        ({"allocationMode": "All"}, "All", 0),
        ({"allocationMode": "Other"}, "Other", 0),
    ],
)
def test_mode_and_count(given: dict[str, Any], mode: str, count: int) -> None:
    exact = claim({"name": "r", "exactly": given}).spec.devices.requests[0].exactly
    assert exact is not None
    assert (exact.allocation_mode, exact.count) == (mode, count)
    sub = claim({"name": "r", "firstAvailable": [{"name": "s", **given}]}).spec.devices.requests[0].first_available[0]
    assert (sub.allocation_mode, sub.count) == (mode, count)


def test_a_request_of_neither_form_stays_as_it_is() -> None:
    request = claim({"name": "r"}).spec.devices.requests[0]
    assert request.exactly is None
    assert request.first_available == ()


def test_tolerations_get_the_operator_equal_in_requests_and_results() -> None:
    tolerations = [{"key": "a"}, {"key": "b", "operator": "Exists"}]
    allocation = {"devices": {"results": [{"request": "r", "tolerations": tolerations}]}}
    record = claim({"name": "r", "exactly": {"tolerations": tolerations}}, status={"allocation": allocation})
    assert record.spec.devices.requests[0].exactly is not None
    assert record.status.allocation is not None
    for found in (record.spec.devices.requests[0].exactly, record.status.allocation.devices.results[0]):
        assert [t.operator for t in found.tolerations] == ["Equal", "Exists"]


def test_templates_are_defaulted_inside() -> None:
    record = made("ResourceClaimTemplate", spec={"spec": {"devices": {"requests": [{"name": "r", "exactly": {}}]}}})
    assert isinstance(record, ResourceClaimTemplate)
    assert record.spec.spec.devices.requests[0].exactly.count == 1  # type: ignore[union-attr]


def test_taints_keep_an_unset_time() -> None:
    record = made("DeviceTaintRule", spec={"taint": {"key": "k", "effect": "NoSchedule"}})
    assert record.spec.taint.time_added is None


def test_pods_are_pending_and_belong_to_the_default_scheduler() -> None:
    assert pod().spec.scheduler_name == "default-scheduler"
    assert pod().status.phase == "Pending"
    assert pod(schedulerName="volcano").spec.scheduler_name == "volcano"


def test_limits_imply_requests() -> None:
    resources = {"limits": {"cpu": "2", "example.com/gpu": "1"}, "requests": {"cpu": "1"}}
    record = pod(
        containers=[{"name": "c", "resources": resources}], initContainers=[{"name": "i", "resources": resources}]
    )
    for container in (*record.spec.containers, *record.spec.init_containers):
        assert {name: str(value) for name, value in container.resources.requests.items()} == {
            "cpu": "1",
            "example.com/gpu": "1",
        }


def test_host_network_takes_the_container_ports() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]
    assert [p.host_port for p in pod(containers=[{"ports": ports}], hostNetwork=True).spec.containers[0].ports] == [
        80,
        8081,
    ]
    assert [p.host_port for p in pod(containers=[{"ports": ports}]).spec.containers[0].ports] == [0, 8081]


def test_pod_level_limits_imply_pod_level_requests() -> None:
    """The containers' sum where they ask for the resource, else the limit."""
    containers = [
        {"name": "a", "resources": {"requests": {"cpu": "500m"}}},
        {"name": "b", "resources": {"limits": {"cpu": "1"}}},
    ]
    record = pod(containers=containers, resources={"limits": {"cpu": "4", "memory": "1Gi"}})
    assert record.spec.resources is not None
    assert {n: str(q) for n, q in record.spec.resources.requests.items()} == {"cpu": "1500m", "memory": "1Gi"}
    assert defaulted(record) == record


def test_a_node_without_allocatable_offers_its_capacity() -> None:
    record = made("Node", status={"capacity": {"cpu": "4"}})
    assert isinstance(record, Node)
    assert record.status.allocatable == record.status.capacity


def old(version: str, kind: str, **fields: Any) -> Any:
    data = json.dumps({"metadata": {"name": "x"}, **fields}).encode()
    return defaulted(decode_object(data, f"resource.k8s.io/{version}", BY_NAME[kind]))


def test_a_claim_for_a_drivers_controller_has_the_same_defaults() -> None:
    spec = {"controller": "gpu.example.com", "devices": {"requests": [{"name": "r", "deviceClassName": "c"}]}}
    plain = old("v1alpha3", "ResourceClaim", spec=spec)
    template = old("v1alpha3", "ResourceClaimTemplate", spec={"spec": spec})
    for devices in (plain.spec.devices, template.spec.spec.devices):
        exact = devices.requests[0].exactly
        assert (exact.allocation_mode, exact.count) == ("ExactCount", 1)
    assert plain.classic.allocation_mode == ""


@pytest.mark.parametrize("given", ["", "Immediate", "WaitForFirstConsumer"])
def test_a_classic_claim_waits_for_its_first_consumer(given: str) -> None:
    spec = {"resourceClassName": "c", **({"allocationMode": given} if given else {})}
    expected = given or "WaitForFirstConsumer"
    assert old("v1alpha2", "ResourceClaim", spec=spec).classic.allocation_mode == expected
    assert old("v1alpha2", "ResourceClaimTemplate", spec={"spec": spec}).classic.allocation_mode == expected
