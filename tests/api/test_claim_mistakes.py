"""Claims of pods under wrong names and in wrong places: corrected as they are meant, and nothing else is touched."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from kubectl_dra.api.lint import Mistake, lint
from kubectl_dra.api.planned import read_planned
from kubectl_dra.api.sources import Source

ENTRY = {"name": "gpu", "resourceClaimTemplateName": "t"}
RIGHT = {
    "resourceClaims": [ENTRY],
    "containers": [{"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
}
#: How a spec is written wrongly, and where that stands.
WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "pod field": ({"resourceClaim": [ENTRY], "resourceClaims": None}, ["resourceClaim"]),
    "not a list": ({"resource_claims": ENTRY, "resourceClaims": None}, ["resource_claims"]),
    "entry": (
        {"resourceClaims": [{"name": "gpu", "resourceClaimTemplate": "t"}]},
        ["resourceClaims[0].resourceClaimTemplate"],
    ),
    "limits": ({"resources": {"limits": {"claims": [{"name": "gpu"}]}}}, ["containers[0].resources.limits.claims"]),
    "requests": (
        {"resources": {"requests": {"claims": [{"name": "gpu"}]}}},
        ["containers[0].resources.requests.claims"],
    ),
    "container": ({"resources": None, "claims": [{"name": "gpu"}]}, ["containers[0].claims"]),
    "singular": ({"resources": {"claim": [{"name": "gpu"}]}}, ["containers[0].resources.claim"]),
    "text": ({"resources": {"claims": ["gpu"]}}, ["containers[0].resources.claims[0]"]),
    "twice": (
        {"resources": {"claims": [{"name": "gpu"}], "limits": {"claims": [{"name": "gpu"}]}}},
        ["containers[0].resources.limits.claims"],
    ),
}
KINDS = {
    "Pod": ("v1", "spec"),
    "Deployment": ("apps/v1", "spec.template.spec"),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1", "spec.leaderWorkerTemplate.workerTemplate.spec"),
}


def spec_with(changes: dict[str, Any]) -> dict[str, Any]:
    spec = copy.deepcopy(RIGHT)
    for name, value in changes.items():
        holder: Any = spec if name.startswith("resourceClaim") or name == "resource_claims" else spec["containers"][0]
        if value is None:
            del holder[name]
        else:
            holder[name] = value
    return spec


def manifest(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    version, path = KINDS[kind]
    body: dict[str, Any] = spec
    for step in reversed(path.split(".")):
        body = {step: body}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "p"}, **body}


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: found for key, each in value.items() if (found := without_empty(each)) != {}}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WRONG)
def test_each_mistake_is_corrected_and_told_where_it_stands(kind: str, name: str) -> None:
    changes, places = WRONG[name]
    found = lint(json.dumps(manifest(kind, spec_with(changes))).encode())
    prefix = KINDS[kind][1]
    assert [each.path for each in found.findings] == [f"{prefix}.{place}" for place in places]
    assert {each.code for each in found.findings} == {Mistake.MISPLACED}
    assert found.corrected is not None
    assert without_empty(json.loads(found.corrected)) == manifest(kind, RIGHT)


@pytest.mark.parametrize(
    "spec",
    [
        RIGHT,
        {**RIGHT, "nodeSelector": {"claims": "yes"}},
        {"containers": [{"name": "c", "resources": {"limits": {"claims": "2", "example.com/claims": "1"}}}]},
        {"containers": [{"name": "c", "env": [{"name": "claims", "value": "x"}]}]},
        {"containers": "none"},
        {"containers": [None, "x", {"resources": "x"}], "resourceClaim": "x"},
    ],
)
def test_what_is_right_or_means_something_else_stays(spec: dict[str, Any]) -> None:
    found = lint(json.dumps(manifest("LeaderWorkerSet", spec)).encode())
    assert (found.findings, found.corrected) == ((), None)


def test_where_both_names_stand_the_right_one_counts() -> None:
    spec = {**RIGHT, "resourceClaim": [{"name": "other", "resourceClaimTemplateName": "u"}]}
    found = lint(json.dumps(manifest("Pod", spec)).encode())
    assert [(each.path, each.corrected) for each in found.findings] == [("spec.resourceClaim", False)]


@pytest.mark.parametrize(
    ("version", "kind", "right"),
    [
        ("v1", "Deployment", "apps/v1"),
        ("extensions/v1beta1", "DaemonSet", "apps/v1"),
        ("batch/v1beta1", "CronJob", "batch/v1"),
        ("apps/v1", "Pod", "v1"),
        ("batch.volcano.sh/v1alpha1", "Job", ""),
        ("apps/v1", "Deployment", ""),
        ("v1", "ResourceClaim", "resource.k8s.io/v1"),
        ("example.com/v1", "ResourceClaim", ""),
        ("scheduling.k8s.io/v1alpha2", "PodGroup", ""),
    ],
)
def test_a_workload_in_a_version_that_does_not_have_it(version: str, kind: str, right: str) -> None:
    """Kinds of the same name in other groups are theirs."""
    found = lint(json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}).encode())
    told = [each.message for each in found.findings if each.path == "apiVersion"]
    assert told == ([f"there is no {kind} in {version}; {right} has it"] if right else [])


@pytest.mark.parametrize(("kind", "right"), [("Pod", "v1"), ("ResourceClaim", "resource.k8s.io/v1"), ("Node", "")])
def test_a_version_that_is_missing_is_added_unless_a_list_says_it(kind: str, right: str) -> None:
    data = json.dumps({"kind": kind, "metadata": {"name": "x"}}).encode()
    told = [(each.code, each.message) for each in lint(data).findings]
    assert told == ([(Mistake.NO_VERSION, f"apiVersion is missing; {kind} has {right}")] if right else [])
    assert lint(data, listed=True).findings == ()


def test_the_corrected_pod_is_what_is_planned() -> None:
    spec = spec_with({"resourceClaim": [ENTRY], "resourceClaims": None, "resources": {"limits": {"claims": ["gpu"]}}})
    planned = read_planned(Source(json.dumps(manifest("Pod", spec)).encode()), "ml")
    (plan,) = planned.pods
    assert [each.resource_claim_template_name for each in plan.pod.spec.resource_claims] == ["t"]
    assert [each.name for each in plan.pod.spec.containers[0].resources.claims] == ["gpu"]
    assert not planned.error
