"""Fields and rules of pods and of what makes them, as a server of the newest version has them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from kubectl_dra.api.builtin import is_builtin, refusals, unknown
from kubectl_dra.api.lint import lint

CONTAINER = {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
SPEC: dict[str, Any] = {"containers": [CONTAINER], "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}
POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": SPEC}


def pod(*path: str | int, value: Any = None) -> dict[str, Any]:
    """The pod with another value at a path below ``spec``; without one the field is gone."""
    body = deepcopy(POD)
    place: Any = body["spec"]
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return body


def refused(body: dict[str, Any]) -> list[str]:
    return refusals(body, body["apiVersion"], body["kind"])


def workload(kind: str, **spec: Any) -> dict[str, Any]:
    version = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    template = {"metadata": {"labels": {"app": "x"}}, "spec": SPEC}
    body = {"selector": {"matchLabels": {"app": "x"}}, "template": template}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "w"}, "spec": {**body, **spec}}


JOB = workload("Job")["spec"]
NEGATIVE = "must be greater than or equal to 0"


def amounts(requests: dict[str, Any], limits: dict[str, Any] | None = None) -> dict[str, Any]:
    return pod("containers", 0, "resources", value={"requests": requests, "limits": limits or {}})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (amounts({"cpu": "-5"}), f'spec.containers[0].resources.requests[cpu]: Invalid value: "-5": {NEGATIVE}'),
        (amounts({"cpu": -5}), f'spec.containers[0].resources.requests[cpu]: Invalid value: "-5": {NEGATIVE}'),
        (
            amounts({}, {"memory": "-1Gi"}),
            f'spec.containers[0].resources.limits[memory]: Invalid value: "-1Gi": {NEGATIVE}',
        ),
        (
            amounts({"cpu": "4"}, {"cpu": "2"}),
            'spec.containers[0].resources.requests: Invalid value: "4": must be less than or equal to cpu limit of 2',
        ),
        (
            amounts({"hugepages-2Mi": "2Mi"}, {"hugepages-2Mi": "4Mi"}),
            'spec.containers[0].resources.requests: Invalid value: "2Mi": must be equal to hugepages-2Mi limit of 4Mi',
        ),
        (
            pod("resources", value={"requests": {"cpu": "4"}, "limits": {"cpu": "2"}}),
            'spec.resources.requests: Invalid value: "4": must be less than or equal to cpu limit of 2',
        ),
        (workload("Deployment", replicas=-1), f"spec.replicas: Invalid value: -1: {NEGATIVE}"),
        (
            {**workload("CronJob"), "spec": {"schedule": "@daily", "jobTemplate": {"spec": JOB | {"parallelism": -2}}}},
            f"spec.jobTemplate.spec.parallelism: Invalid value: -2: {NEGATIVE}",
        ),
    ],
)
def test_amounts_and_numbers_that_a_server_refuses(body: dict[str, Any], expected: str) -> None:
    assert expected in refused(body)


def as_a_whole(requests: dict[str, Any], limits: dict[str, Any]) -> dict[str, Any]:
    """A pod whose container and sidecar request 3 CPUs, the container at most 6."""
    body = amounts({"cpu": "2"}, {"cpu": "6"})
    beside = {"name": "proxy", "image": "x", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
    body["spec"] |= {"initContainers": [beside], "resources": {"requests": requests, "limits": limits}}
    return body


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (as_a_whole({"cpu": "3"}, {"cpu": "6"}), []),
        (
            as_a_whole({"cpu": "2500m"}, {}),
            [
                'spec.resources.requests[cpu]: Invalid value: "2500m": must be greater than or equal to aggregate '
                "container requests of 3"
            ],
        ),
        (
            as_a_whole({"cpu": "3"}, {"cpu": "4"}),
            [
                'spec.resources.containers[0][cpu].limits: Invalid value: "6": must be less than or equal to pod '
                "limits of 4"
            ],
        ),
    ],
)
def test_a_pod_requests_no_less_than_its_containers(body: dict[str, Any], expected: list[str]) -> None:
    assert refused(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        amounts({"cpu": "1"}, {"cpu": "1000m"}),
        amounts({"cpu": "1", "example.com/fpga": 2}, {"cpu": 2, "example.com/fpga": "2"}),
        amounts({"cpu": 0}),
        workload("Deployment", replicas=0),
    ],
)
def test_amounts_and_numbers_that_a_server_takes(body: dict[str, Any]) -> None:
    assert refused(body) == []


def test_a_good_pod_has_nothing() -> None:
    assert refused(POD) == []
    assert unknown(POD, "v1", "Pod") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            pod("resources", value={"requests": {"cpu": "1"}, "claims": []}),
            "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level "
            "(name them under resources.claims of a container)",
        ),
        (
            pod("resources", value={"limits": {"nvidia.com/gpu": 1}}),
            'spec.resources.limits[nvidia.com/gpu]: Unsupported value: "nvidia.com/gpu": supported values: "cpu", '
            '"hugepages-", "memory" (request it in a container)',
        ),
        (
            pod("containers", 0, "resources", value={"limits": {"nvidia.com/gpu": "0.5"}}),
            'spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer',
        ),
        (
            pod("containers", 0, "resources", value={"requests": {"nvidia.com/gpu": 1}}),
            "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources "
            "(nvidia.com/gpu)",
        ),
        (
            pod("containers", 0, "resources", "claims", 0, "request", value="gpu/h100"),
            'spec.containers[0].resources.claims[0].request: Invalid value: "gpu/h100": must be a DNS label '
            "(a request of the claim, not one of its alternatives)",
        ),
        (
            pod("containers", 0, "resources", "claims", value=[{"name": "gpu", "request": "a"}, {"name": "gpu"}]),
            'spec.containers[0].resources.claims[1]: Duplicate value: "gpu"',
        ),
        (pod("containers"), "spec.containers: Required value"),
        (pod("containers", value=[]), "spec.containers: Required value"),
        (pod("containers", 0, "image"), "spec.containers[0].image: Required value"),
        (pod("containers", 0, "name"), "spec.containers[0].name: Required value"),
        (pod("containers", value="x"), "spec.containers: expected a list, got a text"),
        (pod("priority", value="high"), "spec.priority: expected a number, got a text"),
        (pod("hostNetwork", value="yes"), "spec.hostNetwork: expected true or false, got a text"),
        (pod("nodeSelector", value={"a": 5}), "spec.nodeSelector.a: expected a text, got a number"),
        (pod("affinity", value=[]), "spec.affinity: expected an object, got a list"),
        (
            pod("resourceClaims"),
            'spec.containers[0].resources.claims[0].name: Not found: "gpu" (resourceClaims of the pod: none)',
        ),
        (
            pod("resourceClaims", 0, "resourceClaimTemplateName", value="t"),
            "spec.resourceClaims[0]: Invalid value: at most one of `resourceClaimName` or `resourceClaimTemplateName` "
            "may be set",
        ),
        (
            pod("resourceClaims", 0, "resourceClaimName"),
            "spec.resourceClaims[0]: Invalid value: must specify one of: `resourceClaimName`, "
            "`resourceClaimTemplateName`",
        ),
        (
            pod("resourceClaims", value=[SPEC["resourceClaims"][0]] * 2),
            'spec.resourceClaims[1].name: Duplicate value: "gpu"',
        ),
        (
            pod("containers", 0, "resources", value={"limits": {"a.b/c": 1}, "requests": {"a.b/c": 2}}),
            'spec.containers[0].resources.requests: Invalid value: "2": must be equal to a.b/c limit of 1',
        ),
        (
            workload("Deployment", selector={"matchLabels": {"app": "y"}}),
            "spec.template.metadata.labels: Invalid value: `selector` does not match template `labels`",
        ),
        (
            workload("Job"),
            'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
        ),
        (
            workload(
                "Deployment",
                template={"metadata": {"labels": {"app": "x"}}, "spec": {**SPEC, "restartPolicy": "Never"}},
            ),
            'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_every_server_refuses(body: dict[str, Any], expected: str) -> None:
    assert refused(body) == [expected]


def test_quantities_and_other_open_types_are_left_alone() -> None:
    body = pod("containers", 0, "resources", value={"limits": {"cpu": 1, "memory": "1Gi"}})
    body["spec"].pop("resourceClaims")
    assert refused(body) == []


@pytest.mark.parametrize(
    ("body", "path", "hint"),
    [
        (pod("resourceclaims", value=[]), "spec.resourceclaims", "resourceClaims"),
        (pod("containers", 0, "resource", value={}), "spec.containers[0].resource", "resources"),
        (pod("spec", value={}), "spec.spec", ""),
        (workload("Job", paralelism=4), "spec.paralelism", "parallelism"),
    ],
)
def test_fields_that_no_server_knows(body: dict[str, Any], path: str, hint: str) -> None:
    (finding,) = lint(json.dumps(body).encode()).findings
    assert (finding.path, finding.corrected) == (path, False)
    assert finding.message.endswith(f"did you mean {hint}?" if hint else "the server drops it")


def test_kinds_of_others_are_not_looked_at() -> None:
    assert not is_builtin("example.com/v1", "Pod")
    assert unknown({"apiVersion": "example.com/v1", "kind": "Pod", "x": 1}, "example.com/v1", "Pod") == []


@pytest.mark.parametrize("body", [{}, {"spec": 5}, {"spec": {"containers": [5]}}, {"spec": {"template": {"spec": []}}}])
def test_nothing_is_too_broken(body: dict[str, Any]) -> None:
    for kind, version in (("Pod", "v1"), ("Deployment", "apps/v1"), ("CronJob", "batch/v1")):
        assert refusals(body, version, kind)
