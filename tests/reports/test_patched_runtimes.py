"""TrainJobs that patch the pods of their runtime, and kinds whose pods use claims that stand nowhere in them."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.base import Fits
from tests.kit import build
from tests.reports.test_simulated_files import cluster, page, template, thing
from tests.reports.test_strangers import simulated

GROUP = "trainer.kubeflow.org/v1alpha1"
TAINT = {"key": "nvidia.com/gpu", "effect": "NoSchedule", "value": "present"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


def runtime(**spec: Any) -> dict[str, Any]:
    container = {"name": "node", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
    entries = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    pod = {"containers": [container], "resourceClaims": entries, "tolerations": [{"key": "own"}], **spec}
    job = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}}
    job["spec"] = {"template": {"spec": pod}}
    jobs = [{"name": "node", "template": job}]
    body = thing(GROUP, "TrainingRuntime", {"template": {"spec": {"replicatedJobs": jobs}}})
    return {**body, "metadata": {**body["metadata"], "name": "torch"}}


def job(**spec: Any) -> dict[str, Any]:
    return thing(GROUP, "TrainJob", {"runtimeRef": {"kind": "TrainingRuntime", "name": "torch"}, **spec})


def patch(spec: dict[str, Any], name: str = "node") -> dict[str, Any]:
    """As Trainer 2.2 and later have it."""
    one = {"name": name, "template": {"spec": {"template": {"spec": spec}}}}
    return {
        "runtimePatches": [
            {"manager": "a.b/c", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [one]}}}}
        ]
    }


def override(spec: dict[str, Any], name: str = "node") -> dict[str, Any]:
    """As Trainer 2.0 and 2.1 have it."""
    return {"podTemplateOverrides": [{"targetJobs": [{"name": name}], "spec": spec}]}


def tainted(taint: dict[str, Any] = TAINT) -> Any:
    """One node with devices, which only pods with a toleration may use."""
    node = build.node("node-1", cpu="64")
    return cluster({**node, "spec": {"taints": [taint]}})


@pytest.mark.parametrize("written", [patch, override])
def test_what_is_patched_into_the_pods_counts(written: Any) -> None:
    world = tainted()
    files = template("one"), runtime()
    assert simulated(*files, job(), world=world).fits is Fits.NO
    report = simulated(*files, job(**written({"tolerations": [TOLERATION]})), world=world)
    assert (report.fits, [each.copies for each in report.pods]) == (Fits.YES, [1])
    elsewhere = written({"nodeSelector": {"zone": "b"}, "tolerations": [TOLERATION]})
    report = simulated(*files, job(**elsewhere), world=world)
    assert report.fits is Fits.NO
    assert "zone=b" in page(report)


@pytest.mark.parametrize("written", [patch, override])
def test_lists_are_replaced_and_those_with_names_merged(written: Any) -> None:
    """Upstream: core/v1, types.go: tolerations have no merge key, containers and volumes have their names."""
    old = tainted({"key": "own", "effect": "NoSchedule"})
    files = template("one"), runtime(tolerations=[{"key": "own", "operator": "Exists"}])
    assert simulated(*files, job(), world=old).fits is Fits.YES
    assert simulated(*files, job(**written({"tolerations": [TOLERATION]})), world=old).fits is Fits.NO
    context = {"containers": [{"name": "node", "securityContext": {"privileged": True}}]}
    report = simulated(*files, job(**written(context)), world=old)
    assert report.fits is Fits.YES
    assert report.pods[0].unseen == ()
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    kept = simulated(build.namespace(**labels), *files, job(**written(context)), world=old)
    assert 'privileged (container "node" must not set' in page(kept)


@pytest.mark.parametrize("written", [patch, override])
def test_what_cannot_be_patched_is_told(written: Any) -> None:
    """The server drops it: the types have neither claims nor resources."""
    entries = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    container = {"name": "node", "resources": {"claims": [{"name": "gpu"}]}}
    body = job(**written({"resourceClaims": entries, "containers": [container]}))
    report = simulated(template("one"), runtime(resourceClaims=[]), body, world=cluster())
    assert report.fits is Fits.NO
    told = page(report)
    assert ".spec.resourceClaims and spec." in told
    assert ".spec.containers[0].resources: a TrainJob cannot patch this field: set it in its runtime" in told


@pytest.mark.parametrize("written", [patch, override])
def test_a_patch_of_a_job_that_the_runtime_does_not_have(written: Any) -> None:
    report = simulated(template("one"), runtime(), job(**written({"tolerations": []}, "trainer")), world=cluster())
    assert report.fits is Fits.NO
    assert 'the runtime has no replicated job "trainer"' in page(report)


@pytest.mark.parametrize("wrong", [None, 1, "x", [1], {"a": 1}, [None], [{"name": 1}]])
def test_patches_of_any_type_are_read(wrong: Any) -> None:
    for spec in ({"tolerations": wrong}, {"containers": wrong}, {"nodeSelector": wrong}, {"volumes": wrong}):
        for written in (patch, override):
            simulated(template("one"), runtime(), job(**written(spec)), world=cluster())
    for field in ("podTemplateOverrides", "runtimePatches"):
        simulated(template("one"), runtime(), job(**{field: wrong}), world=cluster())


@pytest.mark.parametrize(
    ("api_version", "kind", "told"),
    [
        ("tekton.dev/v1", "TaskRun", "pods of Tekton have none, as its podTemplate has no resourceClaims"),
        ("acme.io/v1", "Runner", "is about claims of its pods, and these stand nowhere in it"),
    ],
)
def test_claims_that_steps_use_are_not_passed_over(api_version: str, kind: str, told: str) -> None:
    step = {"name": "run", "image": "x", "computeResources": {"claims": [{"name": "gpu"}]}}
    body = thing(api_version, kind, {"podTemplate": {"tolerations": []}, "taskSpec": {"steps": [step]}})
    report = simulated(template("one"), body, world=cluster())
    assert report.fits is Fits.UNKNOWN
    assert f"{kind} ml/w was not tried: spec.taskSpec.steps[0].computeResources.claims" in page(report)
    assert told in page(report)
    plain = simulated(template("one"), thing(api_version, kind, {"taskSpec": {"claims": [{"name": "a"}]}}))
    assert not any(each.untried for each in plain.manifests)
