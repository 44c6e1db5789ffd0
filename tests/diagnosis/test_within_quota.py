"""Where a quota forbids a claim, its template may ask for as many devices as the quota leaves."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies import Remedy, RemedyKind
from kubectl_dra.diagnosis.remedies.records import EditClaim, EditPod
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.ways import remedies
from tests.reports.test_renewal import owned, owner
from tests.reports.test_renewal import template as template_of

DEVICES: Final = f"{build.DRIVER}.deviceclass.resource.k8s.io/devices"


def cluster(*objects: dict[str, Any]) -> ClusterState:
    slice_ = build.slice_("node-1", *map(build.device, "abcd"))
    inventory = facts.inventory([build.device_class(), build.node(), slice_, *objects])
    return ClusterState(inventory, facts.evidence(), features(), CLOCK)


def ways(*objects: dict[str, Any]) -> tuple[Remedy, ...]:
    world = cluster(*objects)
    return remedies(world, Diagnoser(world).pod(Key(build.NAMESPACE, "pod")))


def quota(name: str, hard: str, used: str) -> dict[str, Any]:
    status = {"hard": {name: hard}, "used": {name: used}}
    return {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": build.NAMESPACE}, "status": status}


def template(asked: dict[str, Any]) -> dict[str, Any]:
    spec = {"devices": {"requests": [asked]}}
    metadata = {"name": "t", "namespace": build.NAMESPACE}
    return {"kind": "ResourceClaimTemplate", "metadata": metadata, "spec": {"spec": spec}}


@pytest.mark.parametrize(
    ("limits", "asked", "edit"),
    [
        ([(DEVICES, "3", "1")], build.request(count=4), ("count", "4", "2")),
        (
            [(DEVICES, "3", "1")],
            build.request(allocationMode="All"),
            ("allocationMode", "All", "ExactCount 2"),
        ),
        (
            [(f"requests.deviceclass.resource.kubernetes.io/{build.DRIVER}", "1", "0")],
            build.request(count=2),
            ("count", "2", "1"),
        ),
        # The tighter of two; nothing is left; the number of claims is no matter of devices.
        ([(DEVICES, "3", "0"), (f"{DEVICES}", "2", "1")], build.request(count=4), ("count", "4", "1")),
        ([(DEVICES, "3", "3")], build.request(count=4), None),
        ([("count/resourceclaims.resource.k8s.io", "2", "2")], build.request(count=4), None),
    ],
)
def test_a_template_whose_claim_a_quota_forbids_may_ask_for_what_it_leaves(
    limits: list[tuple[str, str, str]], asked: dict[str, Any], edit: tuple[str, str, str] | None
) -> None:
    objects = [quota(*limit) for limit in limits]
    for number, each in enumerate(objects):
        each["metadata"]["name"] = f"q{number}"
    found = ways(build.pod(templates=["t"]), template(asked), *objects)
    edits = [way for way in found if isinstance(way.actions[0], EditClaim)]
    told = [(a.field, a.before, a.after) for way in edits for a in way.actions if isinstance(a, EditClaim)]
    assert told == ([edit] if edit else [])
    assert all(way.verified and way.nodes == ("node-1",) for way in edits)
    assert found[-1].kind is RemedyKind.RAISE_QUOTA


EXTENDED: Final = "example.com/gpu"


def asking(*numbers: int) -> dict[str, Any]:
    """A pod whose containers ask for so many devices through an extended resource."""
    pod = build.pod()
    amounts = [{"requests": {EXTENDED: str(n)}, "limits": {EXTENDED: str(n)}} for n in numbers]
    pod["spec"]["containers"] = [{"name": f"c{i}", "resources": each} for i, each in enumerate(amounts)]
    return pod


@pytest.mark.parametrize(
    ("limit", "numbers", "edits"),
    [
        # What is left of the quota, not what is left of the devices.
        ((DEVICES, "3", "1"), [4], {"c0": ("4", "2")}),
        # Both containers have to ask for less.
        ((DEVICES, "2", "0"), [2, 2], {"c0": ("2", "1"), "c1": ("2", "1")}),
        ((DEVICES, "1", "0"), [2, 2], {}),
        ((DEVICES, "3", "0"), [3, 1], {"c0": ("3", "2")}),
        ((DEVICES, "3", "0"), [2, 2], {"c0": ("2", "1"), "c1": ("2", "1")}),
        ((DEVICES, "3", "3"), [4], {}),
        (("count/resourceclaims.resource.k8s.io", "1", "1"), [4], {}),
    ],
)
def test_containers_may_ask_for_as_much_of_an_extended_resource_as_a_quota_leaves(
    limit: tuple[str, str, str], numbers: list[int], edits: dict[str, tuple[str, str]]
) -> None:
    served = build.device_class(extendedResourceName=EXTENDED)
    found = ways(served, asking(*numbers), quota(*limit))
    told = [(way, action) for way in found for action in way.actions if isinstance(action, EditPod)]
    assert {action.field: (action.before, action.after) for _, action in told} == {
        f"containers[{name}].resources[{EXTENDED}]": edit for name, edit in edits.items()
    }
    assert all(way.verified and way.nodes == ("node-1",) for way, _ in told)
    assert RemedyKind.RAISE_QUOTA in [way.kind for way in found]


def test_fewer_of_an_extended_resource_is_a_patch_of_the_template_of_the_owner() -> None:
    pod = asking(4)
    made = template_of(containers=pod["spec"]["containers"])
    world = cluster(
        build.device_class(extendedResourceName=EXTENDED),
        owned(pod, "ReplicaSet", "web-1"),
        owned(owner("ReplicaSet", "web-1", template=made), "Deployment", "web"),
        owner("Deployment", "web", template=made),
        quota(DEVICES, "3", "1"),
    )
    way = find_remedies(world, Diagnoser(world).pod(Key(build.NAMESPACE, "pod"))).remedies[0]
    (command,) = (words for step in way.steps for words in step.commands if "patch" in words)
    assert command[1:4] == ("patch", "deployment/web", "-n")
    assert '"2"' in " ".join(command)


def test_the_template_that_a_quota_leaves_room_for_is_replaced_and_the_pod_recreated() -> None:
    world = cluster(build.pod(templates=["t"]), template(build.request(count=4)), quota(DEVICES, "3", "1"))
    diagnosis = Diagnoser(world).pod(Key(build.NAMESPACE, "pod"))
    way = find_remedies(world, diagnosis).remedies[0]
    first, *rest = way.steps
    assert first.manifest is not None
    assert first.manifest["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] == 2
    assert first.commands[0][:2] == ("kubectl", "replace")
    assert any("pod" in " ".join(words) for step in rest for words in step.commands)
