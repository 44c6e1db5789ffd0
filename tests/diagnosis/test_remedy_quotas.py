"""A way out that makes claims or pods anew is none where a quota refuses them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import PodDiagnosis, Verdict
from kubectl_dra.diagnosis.remedies import RemedyKind
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.remedies import remedy_lines
from kubectl_dra.reports.pending.remedies import find_remedies
from kubectl_dra.reports.pending.renewal import QuotasUnread
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.ways import remedies

DEVICES: Final = f"{build.DRIVER}.deviceclass.resource.k8s.io/devices"
TAINT: Final = {"key": "k", "effect": "NoSchedule"}


def kinds(*objects: dict[str, Any], **node_taint: Any) -> list[RemedyKind]:
    node = build.node()
    node["spec"] |= node_taint
    inventory = facts.inventory([build.device_class(), node, build.slice_("node-1", build.device("a")), *objects])
    world = ClusterState(inventory, facts.evidence(), features(), CLOCK)
    return [remedy.kind for remedy in remedies(world, Diagnoser(world).pod(Key(build.NAMESPACE, "pod")))]


def quota(name: str, hard: str, used: str, namespace: str = build.NAMESPACE) -> dict[str, Any]:
    status = {"hard": {name: hard}, "used": {name: used}}
    return {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": namespace}, "spec": {}, "status": status}


@pytest.mark.parametrize(
    ("limit", "offered"),
    [
        # The claim gives back two and takes one.
        (quota(DEVICES, "2", "2"), True),
        (quota(DEVICES, "1", "2"), True),
        (quota(DEVICES, "0", "2"), False),
        (quota(DEVICES, "1", "3"), False),
        (quota(DEVICES, "0", "2", namespace="other"), True),
        (quota(f"requests.deviceclass.resource.kubernetes.io/{build.DRIVER}", "0", "2"), False),
        (quota("count/resourceclaims.resource.k8s.io", "1", "1"), True),
        (quota("count/resourceclaims.resource.k8s.io", "1", "2"), False),
        (quota("requests.cpu", "0", "2"), True),
    ],
)
def test_fewer_devices_where_the_quota_leaves_room_for_them(limit: dict[str, Any], offered: bool) -> None:
    found = kinds(build.pod(claims=["claim"]), build.claim("claim", build.request(count=2)), limit)
    assert (RemedyKind.EDIT_CLAIM in found) is offered


@pytest.mark.parametrize(("hard", "offered"), [("1", True), ("0", False)])
def test_a_pod_that_is_made_anew_takes_its_claims_with_it(hard: str, offered: bool) -> None:
    """A quota that was lowered since refuses the same claim that it let pass."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}
    claim = build.claim("pod-t", metadata={"ownerReferences": [owner]})
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": build.NAMESPACE}}
    template["spec"] = {"spec": claim["spec"]}
    pod = build.pod(templates=["t"])
    pod["status"]["resourceClaimStatuses"] = [{"name": "t", "resourceClaimName": "pod-t"}]
    found = kinds(pod, claim, template, quota(DEVICES, hard, "1"), taints=[TAINT])
    assert (RemedyKind.EDIT_POD in found) is offered


@pytest.mark.parametrize(("hard", "offered"), [("1", True), ("0", False)])
def test_extended_resources_are_charged_to_the_pod(hard: str, offered: bool) -> None:
    """The pod asks for a name that nobody has; under the right one the quota has no room."""
    served = build.device_class("served", extendedResourceName="example.com/gpu")
    pod = build.pod(requests={"example.com/gpus": "1"})
    found = kinds(pod, served, quota("requests.example.com/gpu", hard, "0"))
    assert (RemedyKind.EDIT_POD in found) is offered


@pytest.mark.parametrize(("hard", "offered"), [("2", True), ("1", False)])
def test_a_claim_that_is_made_from_its_changed_template_is_charged_as_that_says(hard: str, offered: bool) -> None:
    """The claim wants a model that nobody has; the template, by now, two devices of any."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}
    nobodys = build.request(selector=f'device.attributes["{build.DRIVER}"].model == "A100"')
    claim = build.claim("pod-t", nobodys, metadata={"ownerReferences": [owner]})
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": build.NAMESPACE}}
    template["spec"] = {"spec": {"devices": {"requests": [build.request(count=2)]}}}
    pod = build.pod(templates=["t"])
    pod["status"]["resourceClaimStatuses"] = [{"name": "t", "resourceClaimName": "pod-t"}]
    free = build.slice_("node-1", build.device("b"), build.device("c"), pool="more")
    found = kinds(pod, claim, template, free, quota(DEVICES, hard, "1"))
    assert (RemedyKind.RENEW_CLAIM in found) is offered


# --- quotas that could not be read ----------------------------------------------------------------------------------


def diagnosed(*objects: dict[str, Any], read: bool, pod: str = "pod") -> tuple[ClusterState, PodDiagnosis]:
    inventory = facts.inventory(
        [build.device_class(), build.node(), build.slice_("node-1", build.device("a")), *objects]
    )
    evidence = facts.evidence(*(() if read else ("ResourceQuota",)))
    world = ClusterState(inventory, evidence, features(), CLOCK)
    return world, Diagnoser(world).pod(Key(build.NAMESPACE, pod))


@pytest.mark.parametrize("read", [True, False])
def test_what_a_quota_may_refuse_is_not_verified_while_quotas_are_unread(read: bool) -> None:
    """Fewer devices mean another claim; deleting the pod that holds the device creates nothing."""
    holder = build.pod("holder", claims=["held"], node_name="node-1", phase="Running")
    held = build.claim("held", held=[("node-1", "a")], on="node-1", by=["holder"])
    world, found = diagnosed(build.pod(claims=["claim"]), build.claim(), holder, held, read=read)
    assert {way.verified for way in remedies(world, found) if way.kind is RemedyKind.FREE_DEVICES} == {True}
    world, found = diagnosed(build.pod(claims=["claim"]), build.claim("claim", build.request(count=2)), read=read)
    ways = [way for way in remedies(world, found) if way.kind is RemedyKind.EDIT_CLAIM]
    assert {way.verified for way in ways} == {read}
    reports = [each for each in find_remedies(world, found).remedies if each.kind is RemedyKind.EDIT_CLAIM]
    assert all((QuotasUnread() in each.notes) is not read for each in reports)
    page = " ".join("\n".join(map(str, remedy_lines(reports, found.verdict))).split())
    assert ("the quotas could not be read" in page) is not read
    assert "node-1" in page


@pytest.mark.parametrize(("read", "verdict"), [(True, Verdict.SCHEDULABLE), (False, Verdict.UNKNOWN)])
def test_the_schedulers_own_claim_may_be_refused_by_a_quota_that_was_not_read(read: bool, verdict: Verdict) -> None:
    served = build.device_class("served", extendedResourceName="example.com/gpu")
    pods = [build.pod(name, requests={"example.com/gpu": "1"}) for name in ("pod", "other")]
    for name in ("pod", "other"):
        found = diagnosed(served, *pods, read=read, pod=name)[1]
        assert found.verdict is verdict
        decisive = [each.kind for each in found.missing if each.decides]
        assert decisive == ([] if read else ["ResourceQuota"])
        assert (found.causes[0].code is Code.EVIDENCE_MISSING) is not read
    # A pod whose claim exists meets no quota any more.
    assert diagnosed(build.pod(claims=["claim"]), build.claim(), read=read)[1].verdict is Verdict.SCHEDULABLE


# --- quotas that require what a container does not request ------------------------------------------------------------


@pytest.mark.parametrize(("limit", "known"), [("requests.cpu", False), ("requests.memory", True), ("pods", True)])
def test_a_pod_made_anew_without_what_a_quota_requires_is_not_verified(limit: str, known: bool) -> None:
    """A LimitRange, which is not read, may give it. Deleting another pod makes nothing anew."""
    pod = build.pod(claims=["claim"], requests={"memory": "1Gi"})
    tainted = build.node("node-1")
    tainted["spec"] |= {"taints": [TAINT]}
    world, found = diagnosed(pod, build.claim(), tainted, quota(limit, "100", "0"), read=True)
    ways = [way for way in remedies(world, found) if way.kind is RemedyKind.EDIT_POD]
    assert {way.verified for way in ways} == {known}
    reports = [each for each in find_remedies(world, found).remedies if each.kind is RemedyKind.EDIT_POD]
    page = " ".join("\n".join(map(str, remedy_lines(reports, found.verdict))).split())
    unless = (
        'ResourceQuota "q" refuses the new pod unless a LimitRange has a default: must specify requests.cpu for: main'
    )
    assert (unless in page) is not known
    holder = build.pod("holder", claims=["held"], node_name="node-1", phase="Running")
    held = build.claim("held", held=[("node-1", "a")], on="node-1", by=["holder"])
    world, found = diagnosed(pod, build.claim(), holder, held, quota(limit, "100", "0"), read=True)
    assert {way.verified for way in remedies(world, found) if way.kind is RemedyKind.FREE_DEVICES} == {True}
