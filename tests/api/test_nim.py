"""Services of the NIM operator: the pods that it makes, and the templates of claims that it writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import Planned, read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.api.workloads import expand
from kubectl_dra.api.workloads.expand import Expansion
from kubectl_dra.model.resource import ResourceClaimTemplate

GROUP = "apps.nvidia.com"
CLAIM = [{"resourceClaimTemplateName": "one"}]


def tree(**spec: Any) -> dict[str, Any]:
    image = {"repository": "nvcr.io/nim/x", "tag": "1"}
    meta = {"name": "llama", "namespace": "ml"}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "NIMService", "metadata": meta, "spec": {"image": image, **spec}}


def expanded(**spec: Any) -> Expansion:
    return expand(tree(**spec), GROUP, "NIMService")


def pod(**spec: Any) -> dict[str, Any]:
    (made,) = expanded(**spec).templates
    found: dict[str, Any] = made.body["spec"]
    return found


def test_claims_are_for_all_containers_and_those_of_its_resources_are_ignored() -> None:
    resources = {"requests": {"cpu": "4"}, "claims": [{"name": "other"}]}
    made = pod(draResources=[{**CLAIM[0], "requests": ["gpu"]}], resources=resources, sidecarContainers=[{"name": "s"}])
    assert made["resourceClaims"] == [{"name": "claim-0", "resourceClaimTemplateName": "one"}]
    assert [each["resources"]["claims"] for each in made["containers"]] == [[{"name": "claim-0", "request": "gpu"}]] * 2
    assert made["containers"][0]["resources"]["requests"] == {"cpu": "4"}


def test_where_its_pods_may_run_is_that_of_the_service() -> None:
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    made = pod(draResources=CLAIM, tolerations=tolerations, nodeSelector={"a": "b"})
    assert (made["tolerations"], made["nodeSelector"]) == (tolerations, {"a": "b"})


@pytest.mark.parametrize(
    ("spec", "roles", "field"),
    [
        ({}, [("", 1)], "spec.replicas"),
        ({"replicas": 3}, [("", 3)], "spec.replicas"),
        ({"scale": {"enabled": True, "hpa": {"minReplicas": 2}}}, [("", 2)], "spec.scale.hpa.minReplicas"),
        (
            {"replicas": 2, "multiNode": {"parallelism": {"pipeline": 4}}},
            [("leader", 2), ("worker", 6)],
            "spec.replicas",
        ),
    ],
)
def test_numbers(spec: dict[str, Any], roles: list[tuple[str, int]], field: str) -> None:
    found = expanded(draResources=CLAIM, **spec).templates
    assert [(each.role, each.copies) for each in found] == roles
    assert {each.counted_by.fields[0][0] for each in found} == {field}


def test_without_claims_a_node_of_several_has_the_gpus_of_its_tensor_parallelism() -> None:
    leader, worker = expanded(multiNode={"parallelism": {"pipeline": 2, "tensor": 8}}).templates
    for each in (leader, worker):
        assert each.body["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "8"}


def test_without_claims_one_alone_has_those_of_the_models_profile_which_nobody_knows() -> None:
    assert "from the profile of its model" in expanded().untried
    assert not expanded(resources={"limits": {"nvidia.com/gpu": "1"}}).untried


def planned(**spec: Any) -> list[Planned]:
    return read_all([Source(json.dumps(tree(**spec)).encode())], "default")


def expressions(**device: Any) -> list[str]:
    wanted = {"claimCreationSpec": {"devices": [{"name": "gpu", **device}]}}
    found = planned(draResources=[wanted])
    service, made = found
    assert isinstance(made.record, ResourceClaimTemplate)
    assert made.made_by == "NIMService llama"
    (entry,) = service.pods[0].pod.spec.resource_claims
    assert entry.resource_claim_template_name == made.name
    assert made.key.namespace == "ml"
    exactly = made.record.spec.spec.devices.requests[0].exactly
    assert exactly is not None
    assert exactly.device_class_name == "gpu.nvidia.com"
    return [each.cel.expression for each in exactly.selectors if each.cel is not None]


def test_the_template_of_a_claim_that_the_operator_creates() -> None:
    assert expressions() == []
    assert expressions(celExpressions=["true"]) == ["true"]


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"key": "index", "op": "LessThan", "value": {"intValue": 2}}, 'device.attributes["gpu.nvidia.com"].index < 2'),
        (
            {"key": "x.org/model", "op": "NotEqual", "value": {"stringValue": "a"}},
            'device.attributes["x.org"].model != "a"',
        ),
        (
            {"key": "v", "op": "GreaterThanOrEqual", "value": {"versionValue": "1.2.3"}},
            '(device.attributes["gpu.nvidia.com"].v).compareTo(semver("1.2.3")) >= 0',
        ),
    ],
)
def test_selectors_of_attributes_are_expressions(selector: dict[str, Any], text: str) -> None:
    assert expressions(attributeSelectors=[selector]) == [text]


def test_selectors_of_amounts_are_expressions() -> None:
    selector = {"key": "memory", "op": "GreaterThan", "value": "40Gi"}
    text = '(device.capacity["gpu.nvidia.com"].memory).compareTo(quantity("40Gi")) > 0'
    assert expressions(capacitySelectors=[selector]) == [text]
