"""Objects whose pods have claims and stand nowhere in them as whole pods: never without devices, never "fits"."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.simulation.records import Role
from tests.corpus.case import Case
from tests.corpus.run import report_of
from tests.corpus.shapes import NAMESPACE, Object, devices, request, template, workload

EXAMPLE = "gpu.example.com"
ONE = template(devices(request(EXAMPLE)))
SEEN = {"image": "busybox", "resources": {"claims": [{"name": "gpu"}]}}
CLAIMS = [{"name": "gpu", "resourceClaimTemplateName": "template"}]
POD = "apiVersion: v1\nkind: Pod\nspec:\n  resourceClaims:\n  - name: gpu\n    resourceClaimName: c\n"


def argo(*templates: Object, kind: str = "Workflow", **spec: Any) -> Object:
    return workload("argoproj.io/v1alpha1", kind, {"templates": list(templates), **spec})


def told(*objects: Object) -> tuple[str, list[int], list[str]]:
    """Whether they fit, the copies, and why objects were not tried."""
    report = report_of(Case("", "", "example", objects, ""))
    untried = [each.untried for each in report.manifests if each.role is Role.UNTRIED]
    assert not [each for each in report.manifests if each.error]
    return str(report.fits), [pod.copies for pod in report.pods], untried


STEPS: Object = {"name": "main", "steps": [[{"name": "a", "template": "small"}]]}
SMALL: Object = {"name": "small", "container": SEEN}
SET: Object = {"name": "set", "containerSet": {"containers": [{"name": "a", **SEEN}, {"name": "b", "image": "x"}]}}


@pytest.mark.parametrize(
    "body",
    [
        argo(STEPS, SMALL, resourceClaims=CLAIMS),
        argo(STEPS, {**SMALL, "resourceClaims": CLAIMS}),
        argo(SET, resourceClaims=CLAIMS),
        argo(SMALL, kind="WorkflowTemplate", resourceClaims=CLAIMS),
        argo(SMALL, kind="ClusterWorkflowTemplate", resourceClaims=CLAIMS),
        workload("argoproj.io/v1alpha1", "CronWorkflow", {"workflowSpec": argo(SMALL, resourceClaims=CLAIMS)["spec"]}),
    ],
    ids=["workflow", "template", "containerSet", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"],
)
def test_a_workflow_is_answered_per_pod(body: Object) -> None:
    # How often a template runs is decided while the workflow runs.
    assert told(ONE, body) == ("Unknown", [1], [])
    nine = template(devices(request(EXAMPLE, 9)))
    assert told(nine, body)[:2] == ("No", [0])


def test_what_a_template_takes_over_from_its_workflow() -> None:
    nowhere = {"nodeSelector": {"pool": "none"}}
    assert told(ONE, argo(SMALL, resourceClaims=CLAIMS, **nowhere))[:2] == ("No", [0])
    own = {**SMALL, "nodeSelector": {"kubernetes.io/os": "linux"}}
    assert told(ONE, argo(own, resourceClaims=CLAIMS, **nowhere))[0] == told(ONE, argo(own, resourceClaims=CLAIMS))[0]


def test_a_patch_of_pods_is_applied_the_one_of_the_workflow_first() -> None:
    anywhere, nowhere = "nodeSelector: null", '{"nodeSelector": {"kubernetes.io/os": "none"}}'
    bare = {"name": "small", "container": {"image": "x"}}
    named = "containers: [{name: main, resources: {claims: [{name: gpu}]}}]"
    assert told(ONE, argo(SMALL, resourceClaims=CLAIMS, podSpecPatch=nowhere)) == ("No", [0], [])
    own = {**SMALL, "podSpecPatch": anywhere}
    assert told(ONE, argo(own, resourceClaims=CLAIMS, podSpecPatch=nowhere)) == ("Unknown", [1], [])
    assert told(ONE, argo(bare, resourceClaims=CLAIMS, podSpecPatch=named)) == ("Unknown", [1], [])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            argo({**SMALL, "podSpecPatch": "priority: {{inputs.parameters.p}}"}),
            "spec.templates[0].podSpecPatch changes its pods",
        ),
        (argo(SMALL, podSpecPatch="priority: {{workflow.parameters.p}}"), "spec.podSpecPatch changes its pods"),
        (argo(workflowTemplateRef={"name": "train"}), "its pods are described by WorkflowTemplate train"),
        (
            workload("example.com/v1", "Service", {"draResources": [{"resourceClaimTemplateName": "t"}]}),
            "spec.draResources[0].resourceClaimTemplateName is about claims of its pods",
        ),
        (
            workload("example.com/v1", "Llm", {"claims": [{"devices": [{"deviceClassName": EXAMPLE}]}]}),
            "spec.claims[0].devices[0].deviceClassName is about claims of its pods",
        ),
        (
            workload(
                "tekton.dev/v1",
                "TaskRun",
                {"taskSpec": {"steps": [{"computeResources": {"limits": {"cpu": 1, "nvidia.com/gpu": 1}}}]}},
            ),
            "spec.taskSpec.steps[0].computeResources.limits has nvidia.com/gpu for its pods",
        ),
        (
            workload("tekton.dev/v1", "TaskRun", {"podTemplate": {"resourceClaims": CLAIMS}}),
            "spec.podTemplate.resourceClaims is not a field of Tekton's, whose webhook refuses it",
        ),
        (workload("kaito.sh/v1beta1", "Workspace", {}), "KAITO makes its pods, and nodes for them"),
        (
            workload("helm.toolkit.fluxcd.io/v2", "HelmRelease", {"values": {"resourceClaims": CLAIMS}}),
            "spec.values.resourceClaims is about claims of its pods",
        ),
        (
            workload("argoproj.io/v1alpha1", "Application", {"source": {"helm": {"values": POD}}}),
            "the text in spec.source.helm.values is about claims",
        ),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": NAMESPACE}}
            | {"data": {"pod.yaml": POD}},
            'the text in data["pod.yaml"] is about claims',
        ),
    ],
)
def test_what_is_not_known_is_unknown(body: Object, words: str) -> None:
    fits, copies, untried = told(body)
    assert (fits, copies, len(untried)) == ("Unknown", [], 1)
    assert untried[0].startswith(words)


@pytest.mark.parametrize(
    "body",
    [
        workload("example.com/v1", "Llm", {"model": "x", "resourceClaims": []}),
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "m"},
            "data": {"a": "we like resourceClaims: yes"},
        },
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "x"},
            "spec": {
                "versions": [{"schema": {"openAPIV3Schema": {"properties": {"deviceClassName": {"type": "string"}}}}}]
            },
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "x"},
            "rules": [{"resources": ["resourceclaims"], "verbs": ["get"]}],
        },
    ],
    ids=["empty", "prose", "definition", "rights"],
)
def test_others_still_play_no_part(body: Object) -> None:
    report = report_of(Case("", "", "example", (body,), ""))
    assert [each.ignored for each in report.manifests] == [True]
