"""A way out that makes claims or pods anew is none where a quota refuses them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies import RemedyKind, remedies
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.diagnosis import build, facts
from tests.kit.clock import CLOCK

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
