"""Pods of a StatefulSet that are of an older template, and that it does not replace before they are ready."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

OLD, NEW = "pod-1111", "pod-2222"
NOT_REPLACED = "It was created from an older template of its StatefulSet trainer, which does not replace it by itself"
AGAIN = "To recreate it from the current template: kubectl delete pod/pod -n ml"
MODEL = f'device.attributes["{build.DRIVER}"].model == '


def template(name: str, model: str) -> dict[str, Any]:
    requests = [build.request(selector=f'{MODEL}"{model}"')]
    body = {"devices": {"requests": requests}}
    return {"kind": "ResourceClaimTemplate", "metadata": {"name": name, "namespace": "ml"}, "spec": {"spec": body}}


def report(
    revision: str = OLD,
    model: str = "H100",
    node: str = "",
    given: str = "",
    resources: dict[str, Any] | None = None,
    runtime: str = "",
    **spec: Any,
) -> PendingReport:
    """A pod that asks for what no device is; its StatefulSet asks for ``model`` on ``node`` by now.

    ``given``: so much cpu a LimitRange gave it. ``resources`` and ``runtime`` are those of the template.
    """
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "trainer", "uid": "t", "controller": True}
    pod = build.pod(templates=["old"])
    pod["metadata"] |= {
        "ownerReferences": [owner],
        "labels": {"controller-revision-hash": revision, "apps.kubernetes.io/pod-index": "1"},
    }
    pod["status"]["resourceClaimStatuses"] = [{"name": "old", "resourceClaimName": "pod-old-x"}]
    of_pod = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": pod["metadata"]["uid"], "controller": True}
    made = build.claim("pod-old-x", build.request(selector=f'{MODEL}"A100"'), metadata={"ownerReferences": [of_pod]})
    if given:
        said = "LimitRanger plugin set: cpu request for container main"
        pod["metadata"]["annotations"] = {"kubernetes.io/limit-ranger": said}
        pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": given}
    wanted = build.pod(templates=["new"])["spec"] | ({"nodeSelector": {"pool": node}} if node else {})
    wanted["containers"][0]["resources"] |= resources or {}
    wanted |= {"runtimeClassName": runtime} if runtime else {}
    workload = {
        "kind": "StatefulSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": "trainer", "namespace": "ml", "uid": "t"},
        "spec": {"replicas": 3, "template": {"spec": wanted}, **spec},
        "status": {"updateRevision": NEW},
    }
    gpus = build.slice_("node-1", build.device("gpu-0", attributes={"model": "H100"}))
    nodes = build.node(cpu="2")
    return report_of(nodes, gpus, pod, made, workload, template("old", "A100"), template("new", model))


def test_the_present_template_would_fit_and_is_the_only_way_that_is_told() -> None:
    found = report()
    assert first_line(found).endswith(f"{NOT_REPLACED}; created from the current template, it would fit on node-1.")
    page = page_of(found)
    assert AGAIN in page
    assert "change the selector" not in page


@pytest.mark.parametrize(("model", "node"), [("B200", ""), ("H100", "other")])
def test_what_would_be_in_the_way_of_the_present_template_is_told(model: str, node: str) -> None:
    found = report(model=model, node=node)
    page = page_of(found)
    assert first_line(found).endswith(f"{NOT_REPLACED}.")
    why = f"no gpu.example.com device has model {model}" if not node else "pool=other"
    told = page.partition("Created from the current template of StatefulSet trainer, it would not fit either: ")[2]
    assert why in told
    assert AGAIN in told


@pytest.mark.parametrize(
    ("given", "resources", "fits"),
    [
        ("", {"limits": {"cpu": "4"}}, False),
        ("", {"limits": {"cpu": "4"}, "requests": {"cpu": "1"}}, True),
        ("", {"limits": {"example.com/gpu": "1"}}, False),
        ("4", {}, False),
        ("4", {"requests": {"cpu": "1"}}, True),
    ],
)
def test_requests_that_the_api_server_makes_of_limits_and_by_limit_ranges_count(
    given: str, resources: dict[str, Any], *, fits: bool
) -> None:
    found = report(given=given, resources=resources)
    assert ("it would fit on node-1" in first_line(found)) is fits
    assert ("it would not fit either: " in page_of(found)) is not fits


def test_the_overhead_of_another_runtime_class_is_not_known() -> None:
    found = report(runtime="kata")
    assert first_line(found).endswith(f"{NOT_REPLACED}.")
    assert "would fit" not in page_of(found)
    assert "would not fit either" not in page_of(found)


@pytest.mark.parametrize(
    ("revision", "spec", "told"),
    [
        (NEW, {}, False),
        (OLD, {"podManagementPolicy": "Parallel"}, False),
        (OLD, {"podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"}}, True),
        (OLD, {"updateStrategy": {"type": "Recreate"}}, False),
        (OLD, {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}, False),
        (OLD, {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}, True),
    ],
)
def test_only_what_its_controller_leaves_as_it_is(revision: str, spec: dict[str, Any], *, told: bool) -> None:
    assert (NOT_REPLACED in first_line(report(revision, **spec))) is told
