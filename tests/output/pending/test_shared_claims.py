"""A claim that is configured to be shared, and a template that makes one for each pod."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.diagnosis.remedies.records import CreateObject, EditClaim, EditPod, RestartPods
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import RemedyReport
from tests.kit import build
from tests.output.pending.test_situations import DRIVER, page_of, report_of

SHARED = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "GpuConfig", "sharing": {"strategy": "TimeSlicing"}}


def spec(parameters: dict[str, Any]) -> dict[str, Any]:
    opaque = {"driver": DRIVER, "parameters": parameters}
    return {"devices": {"requests": [build.request()], "config": [{"requests": ["gpu"], "opaque": opaque}]}}


def using(pod: str, owner: tuple[str, str] | None, parameters: dict[str, Any], held: bool, **more: Any) -> list[Any]:
    """A pod of a workload and the claim that template ``ts`` made for it."""
    made = build.pod(pod, templates=["ts"], **more)
    made["status"]["resourceClaimStatuses"] = [{"name": "ts", "resourceClaimName": f"{pod}-ts"}]
    if owner is not None:
        kind, name = owner
        api = "batch/v1" if kind == "Job" else "apps/v1"
        reference = {"apiVersion": api, "kind": kind, "name": name, "uid": f"{kind}-{name}", "controller": True}
        made["metadata"]["ownerReferences"] = [reference]
    holding = {"held": [("node-1", "gpu-0")], "by": [pod], "on": "node-1"} if held else {}
    claim = build.claim(f"{pod}-ts", **holding)
    claim["spec"] = spec(parameters)
    mine = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": f"pod-{pod}", "controller": True}
    claim["metadata"]["ownerReferences"] = [mine]
    return [made, claim]


def workload(kind: str, name: str = "web", replicas: int = 2) -> dict[str, Any]:
    template = {"spec": build.pod(templates=["ts"])["spec"]}
    meta = {"name": name, "namespace": "ml", "uid": f"{kind}-{name}"}
    api = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": {"replicas": replicas, "template": template}}


def two_pods(
    kind: str | None, *, other: str | None = None, parameters: dict[str, Any] | None = None, replicas: int = 2
) -> PendingReport:
    configured = SHARED if parameters is None else parameters
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "ts", "namespace": "ml"},
        "spec": {"spec": spec(configured)},
    }
    mine = (kind, "web") if kind else None
    theirs = (other, "else") if other else mine
    owners = [workload(kind, replicas=replicas)] if kind else []
    owners += [workload(other, "else")] if other else []
    return report_of(
        build.node(),
        build.slice_("node-1", build.device("gpu-0")),
        template,
        *owners,
        *using("old", theirs, configured, True, node_name="node-1", phase="Running"),
        *using("pod", mine, configured, False),
    )


def sharing(report: PendingReport) -> RemedyReport | None:
    ways = report.remedies or ()
    return next((way for way in ways if any(isinstance(each, CreateObject) for each in way.actions)), None)


def lines(way: RemedyReport) -> list[str]:
    return [" ".join(words) for step in way.steps for words in step.commands]


@pytest.mark.parametrize("strategy", ["TimeSlicing", "MPS"])
def test_pods_of_a_stateful_set_share_one_claim(strategy: str) -> None:
    report = two_pods("StatefulSet", parameters={**SHARED, "sharing": {"strategy": strategy}})
    way = sharing(report)
    assert way is not None
    assert way.verified
    assert way.nodes == ("node-1",)
    assert [type(each) for each in way.actions] == [CreateObject, EditPod, RestartPods]
    create = (way.steps)[0]
    assert create.manifest is not None
    assert create.manifest["kind"] == "ResourceClaim"
    assert create.manifest["metadata"] == {"name": "ts", "namespace": "ml"}
    assert json.dumps(create.manifest["spec"]).count(strategy) == 1
    commands = lines(way)
    assert '"/spec/template/spec/resourceClaims/0/resourceClaimName", "value": "ts"' in commands[1]
    # The old pod must be gone in between: it would keep its device until the new one is ready.
    assert [line.split(" --context")[0] for line in commands[-3:]] == [
        "kubectl scale statefulset/web -n ml --replicas=0",
        "kubectl wait --for=delete pod/old -n ml --timeout=5m",
        "kubectl scale statefulset/web -n ml --replicas=2",
    ]
    assert "a template makes a claim for each pod" in page_of(report)


def test_pods_that_nobody_owns_are_both_made_anew() -> None:
    way = sharing(two_pods(None))
    assert way is not None
    assert way.verified
    assert [each.pod.name for each in way.actions if isinstance(each, EditPod)] == ["pod", "old"]
    assert [line.split()[2] for line in lines(way) if "patch" in line] == ["pod/pod", "pod/old"]


def test_the_pods_of_a_job_are_all_replaced_at_once() -> None:
    way = sharing(two_pods("Job"))
    assert way is not None
    assert way.verified
    assert [type(each) for each in way.actions] == [CreateObject, EditPod]


@pytest.mark.parametrize(
    ("kind", "other", "parameters"),
    [
        # Nothing says that the device can be shared; another workload's old pod stays until its new one is ready.
        ("StatefulSet", None, {"kind": "GpuConfig"}),
        ("StatefulSet", None, {"kind": "GpuConfig", "sharing": "no"}),
        ("StatefulSet", "Deployment", SHARED),
    ],
)
def test_nothing_is_shared_otherwise(kind: str, other: str | None, parameters: dict[str, Any]) -> None:
    assert sharing(two_pods(kind, other=other, parameters=parameters)) is None


def taking(amounts: dict[str, str] | None, replicas: int = 3) -> PendingReport:
    """A pod of a Deployment beside its sibling, which takes all of a device that may be shared; both by a template."""
    request = build.request(**({"capacity": {"requests": amounts}} if amounts else {}))
    wish = {"devices": {"requests": [request]}}
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "ts", "namespace": "ml"},
        "spec": {"spec": wish},
    }
    old, pod = (
        using("old", ("Deployment", "web"), {}, True, node_name="node-1", phase="Running"),
        using("pod", ("Deployment", "web"), {}, False),
    )
    (result,) = old[1]["status"]["allocation"]["devices"]["results"]
    result |= {"shareID": "00000000-0000-4000-8000-000000000000", "consumedCapacity": {"bandwidth": "100G"}}
    for _, claim in (old, pod):
        claim["spec"] = wish
    shared = build.device("gpu-0", allowMultipleAllocations=True, capacity={"bandwidth": {"value": "100G"}})
    nodes = (build.node(), build.slice_("node-1", shared))
    return report_of(*nodes, template, workload("Deployment", replicas=replicas), *old, *pod)


@pytest.mark.parametrize(("amounts", "offered"), [(None, ["25G"]), ({"bandwidth": "100G"}, [])])
def test_pods_that_name_no_amount_take_less_each(amounts: dict[str, str] | None, offered: list[str]) -> None:
    """Three replicas and one device: a quarter is the largest half of a half that is enough for all of them."""
    report = taking(amounts)
    ways = [each for each in report.remedies or () if any(isinstance(one, RestartPods) for one in each.actions)]
    assert [each.after for way in ways for each in way.actions if isinstance(each, EditClaim)] == offered
    for way in ways:
        assert way.verified
        assert way.nodes == ("node-1",)
        assert [line for line in lines(way) if "scale" in line] == [
            "kubectl scale deployment/web -n ml --replicas=0",
            "kubectl scale deployment/web -n ml --replicas=3",
        ]
        assert remedy_text(way).startswith(
            "request 25G of bandwidth, a share of a device, and scale Deployment web to 0 and back to 3 replicas: pod "
            "old still has the devices"
        )


@pytest.mark.parametrize("replicas", [0, 65])
def test_a_device_is_not_divided_for_no_replicas_nor_into_more_than_64_parts(replicas: int) -> None:
    ways = taking(None, replicas).remedies or ()
    assert not [each for way in ways for each in way.actions if isinstance(each, RestartPods)]


def test_64_replicas_have_a_share_of_a_device_each() -> None:
    ways = [each for way in taking(None, 64).remedies or () for each in way.actions if isinstance(each, EditClaim)]
    assert [each.after for each in ways if each.after] == ["1562500k"]


def test_nothing_is_scaled_to_0_and_back_to_0() -> None:
    ways = two_pods("Deployment", replicas=0).remedies or ()
    assert not [each for way in ways for each in way.actions if isinstance(each, RestartPods)]
    assert sharing(two_pods("Deployment", replicas=2)) is not None
