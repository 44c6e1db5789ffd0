"""Extended resources served by DeviceClasses: names, the made-up claim, device plugins beside it."""

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Agreement, AssumptionKind, PodDiagnosis, Verdict
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.extended import clashing, class_by_resource, virtual_claim
from kubectl_dra.scheduler.resource_names import is_dra_extended_resource, is_extended_resource, is_scalar_resource
from tests.kit import build, facts
from tests.kit.state import diagnose_pod

GPU = "example.com/gpu"
IMPLICIT = f"deviceclass.resource.kubernetes.io/{build.DRIVER}"
CLASS = build.device_class(extendedResourceName=GPU)
POD = Key(build.NAMESPACE, "pod")


@pytest.mark.parametrize(
    ("name", "extended", "dra", "scalar"),
    [
        ("cpu", False, False, False),
        ("example.com/gpu", True, True, True),
        ("requests.example.com/gpu", False, False, False),
        (IMPLICIT, False, True, True),
        ("kubernetes.io/batch", False, False, True),
        ("hugepages-2Mi", False, False, True),
        ("attachable-volumes-csi", False, False, True),
        ("example.com/a/b", False, False, False),
        ("Example.com/gpu", False, False, False),
        ("example.com/-gpu", False, False, False),
        (f"{'x' * 250}.com/gpu", False, False, False),
    ],
)
def test_kinds_of_resource_names(name: str, extended: bool, dra: bool, scalar: bool) -> None:
    assert (is_extended_resource(name), is_dra_extended_resource(name), is_scalar_resource(name)) == (
        extended,
        dra,
        scalar,
    )


def classes(*objects: dict[str, Any]) -> Any:
    return facts.inventory(objects).classes.values()


def aged(name: str, created: str, resource: str | None = GPU) -> dict[str, Any]:
    found = build.device_class(name, **({"extendedResourceName": resource} if resource else {}))
    found["metadata"]["creationTimestamp"] = created
    return found


OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def test_the_newest_class_serves_a_name_and_then_the_lower_one() -> None:
    served = class_by_resource(classes(aged("a", OLD), aged("c", NEW), aged("b", NEW)))
    assert served[GPU].metadata.name == "b"
    assert {name for name in served if name.startswith("deviceclass")} == {
        f"deviceclass.resource.kubernetes.io/{name}" for name in "abc"
    }
    assert clashing(classes(aged("a", OLD), aged("b", NEW), aged("d", NEW, None))) == (GPU,)


# --- the made-up claim ----------------------------------------------------------------------------------------------


def made(containers: list[dict[str, Any]], inits: list[dict[str, Any]] | None = None) -> dict[str, int]:
    pod = build.pod()
    pod["spec"] |= {"containers": containers, "initContainers": inits or []}
    inventory = facts.inventory([pod, CLASS])
    claim = virtual_claim(inventory.pods[POD], [GPU], class_by_resource(inventory.classes.values()))
    return {request.name: request.exactly.count for request in claim.spec.devices.requests}  # type: ignore[union-attr]


def container(count: str | None, restart: str | None = None, **more: str) -> dict[str, Any]:
    requests = {**more, **({GPU: count} if count is not None else {})}
    return {"name": "c", "resources": {"requests": requests}, **({"restartPolicy": restart} if restart else {})}


@pytest.mark.parametrize(
    ("containers", "inits", "expected"),
    [
        ([container("2")], [], {"container-0-request-0": 2}),
        ([container(None), container("1", cpu="1", memory="1Gi")], [], {"container-1-request-1": 1}),
        ([container("1"), container("3")], [], {"container-0-request-0": 1, "container-1-request-0": 3}),
        ([container("0")], [], {}),
        # An init container reuses what later containers have, and only the largest excess is asked for.
        ([container("2")], [container("2")], {"container-1-request-0": 2}),
        ([container("2")], [container("3")], {"container-0-request-0": 1, "container-1-request-0": 2}),
        (
            [container("1")],
            [container("2"), container("4"), container("3")],
            {"container-1-request-0": 3, "container-3-request-0": 1},
        ),
        # A sidecar runs all the time; only containers after it can be reused before it.
        (
            [container("1")],
            [container("1", "Always"), container("2")],
            {"container-0-request-0": 1, "container-1-request-0": 1, "container-2-request-0": 1},
        ),
        (
            [container("1")],
            [container("2"), container("1", "Always")],
            {"container-1-request-0": 1, "container-2-request-0": 1},
        ),
    ],
)
def test_requests_of_containers(
    containers: list[dict[str, Any]], inits: list[dict[str, Any]], expected: dict[str, int]
) -> None:
    assert made(containers, inits) == expected


# --- pods -----------------------------------------------------------------------------------------------------------


def diagnose(*objects: dict[str, Any], withheld: tuple[str, ...] = (), minor: int = 37) -> PodDiagnosis:
    inventory = facts.inventory(objects)
    return diagnose_pod(inventory, facts.evidence(*withheld), features(minor), POD)


SLICE = build.slice_("node-1", build.device("gpu-0"))


@pytest.mark.parametrize("resource", [GPU, IMPLICIT])
def test_a_class_serves_explicit_and_implicit_names(resource: str) -> None:
    pod = build.pod(requests={resource: "1"})
    assert diagnose(pod, CLASS, build.node(), SLICE).verdict is Verdict.SCHEDULABLE
    two = build.pod(requests={resource: "2"})
    found = diagnose(two, CLASS, build.node(), SLICE)
    assert found.message == "0/1 nodes are available: 1 cannot allocate all claims."
    assert found.causes[0].claim is not None
    assert found.causes[0].claim.name == "<extended-resources>"


def test_without_the_feature_only_device_plugins_count() -> None:
    found = diagnose(build.pod(requests={GPU: "1"}), CLASS, build.node(), SLICE, minor=35)
    assert found.message == "0/1 nodes are available: 1 Insufficient example.com/gpu. no new claims to deallocate"


def test_a_device_plugin_beside_dra() -> None:
    """One node offers the resource itself, the other has devices; both serve, and each by its own way only."""
    plugin = build.node("plugin", **{GPU: "1"})
    both = [CLASS, plugin, build.node(), SLICE]
    assert diagnose(build.pod(requests={GPU: "1"}), *both).nodes[0].nodes == ("node-1", "plugin")
    found = diagnose(build.pod(requests={GPU: "2"}), *both)
    assert found.message == ("0/2 nodes are available: 1 Insufficient example.com/gpu, 1 cannot allocate all claims.")


def test_a_name_that_nobody_serves() -> None:
    found = diagnose(build.pod(requests={"example.com/gpus": "1"}), CLASS, build.node())
    assert found.message == "0/1 nodes are available: 1 Insufficient example.com/gpus."
    assert found.causes[0].code is Code.EXTENDED_RESOURCE_UNSERVED
    assert GPU in found.causes[0].detail.similar  # type: ignore[union-attr]


def test_a_class_that_could_not_be_read_may_serve_the_name() -> None:
    found = diagnose(build.pod(requests={GPU: "1"}), build.node(), withheld=("DeviceClass",))
    assert found.verdict is Verdict.UNKNOWN


def test_tainted_devices_are_never_used() -> None:
    taint = {"key": "k", "effect": "NoSchedule"}
    tainted = build.slice_("node-1", build.device("gpu-0", taints=[taint]))
    found = diagnose(build.pod(requests={GPU: "1"}), CLASS, build.node(), tainted)
    assert found.causes[0].code is Code.DEVICES_TAINTED


def test_the_claim_of_an_earlier_attempt_is_deleted_first() -> None:
    left = build.claim("pod-extended-resources-x", held=[])
    left["metadata"] |= {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [{"kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}],
    }
    found = diagnose(build.pod(requests={GPU: "1"}), CLASS, build.node(), SLICE, left)
    assert found.message == (
        "0/1 nodes are available: 1 cannot schedule extended resource claim. deletion of ResourceClaim completed"
    )
    assert found.causes[0].code is Code.EXTENDED_CLAIM_LEFT_OVER


def test_clashing_classes_are_an_assumption() -> None:
    found = diagnose(build.pod(requests={GPU: "1"}), aged("a", OLD), aged("b", NEW), build.node())
    assert [a.kind for a in found.assumed] == [AssumptionKind.EXTENDED_RESOURCE_CLASH]


# --- quotas on the scheduler's own claim ------------------------------------------------------------------------------

_LIMIT = f"{build.DRIVER}.deviceclass.resource.k8s.io/devices"


def limited(hard: str, used: str = "0", name: str = _LIMIT, namespace: str = build.NAMESPACE) -> dict[str, Any]:
    status = {"hard": {name: hard}, "used": {name: used}}
    return {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": namespace}, "status": status}


def under(quota: dict[str, Any], said: str = "") -> PodDiagnosis:
    pod = build.pod(requests={GPU: "1"})
    if said:
        condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": said}
        pod["status"]["conditions"] = [condition]
    return diagnose(build.node(), CLASS, SLICE, pod, quota)


def test_a_quota_that_forbids_the_own_claim_is_a_scheduler_error() -> None:
    found = under(limited("2", "2"))
    assert (found.verdict, found.causes[0].code) == (Verdict.SCHEDULER_ERROR, Code.QUOTA_EXCEEDED)
    assert found.message == (
        'running PreBind plugin "DynamicResources": create claim for extended resources ml/: '
        'resourceclaims.resource.k8s.io "pod-extended-resources-?????" is forbidden: exceeded quota: q, '
        f"requested: {_LIMIT}=1, used: {_LIMIT}=2, limited: {_LIMIT}=2"
    )


@pytest.mark.parametrize(
    "quota",
    [
        limited("3", "2"),
        limited("0", namespace="elsewhere"),
        # The pod was charged for these itself.
        limited("0", name=f"requests.{GPU}"),
        limited("0", name=f"requests.{IMPLICIT}"),
    ],
)
def test_other_quotas_leave_it_alone(quota: dict[str, Any]) -> None:
    assert under(quota).verdict is Verdict.SCHEDULABLE


@pytest.mark.parametrize(("avoided", "refused"), [("plugin", True), ("node-1", False), ("", False)])
def test_a_refusal_on_the_node_that_the_scheduler_takes_is_the_verdict_though_another_would_do(
    avoided: str, refused: bool
) -> None:
    """What is refused changes no score: the same node is taken again. Of equal ones another one is, in time."""
    nodes = [build.node("plugin", **{GPU: "1"}), build.node()]
    for node in nodes:
        if node["metadata"]["name"] == avoided:
            node["spec"]["taints"] = [{"key": "old", "effect": "PreferNoSchedule"}]
    found = diagnose(*nodes, CLASS, SLICE, build.pod(requests={GPU: "1"}), limited("0"))
    if not refused:
        assert found.verdict is Verdict.SCHEDULABLE
        return
    assert (found.verdict, found.causes[0].code) == (Verdict.SCHEDULER_ERROR, Code.QUOTA_EXCEEDED)
    assert "exceeded quota: q" in str(found.message)


def test_the_name_that_the_server_made_up_is_no_difference() -> None:
    predicted = under(limited("0")).message
    said = predicted.replace("?????", "x7k2p")
    assert (under(limited("0"), said).agreement, under(limited("0"), said).message) == (Agreement.AGREES, said)
    other = said.replace("limited", "bounded")
    assert under(limited("0"), other).agreement is not Agreement.AGREES


@pytest.mark.parametrize(
    ("objects", "verdict"),
    [
        # The device plugin of a node has what is requested: no claim is made.
        ([build.node("plugin", **{GPU: "1"})], Verdict.SCHEDULABLE),
        ([build.node()], Verdict.UNKNOWN),
        # The scheduler may take either, and what is refused at bind is tried on the same node again.
        ([build.node("plugin", **{GPU: "1"}), build.node()], Verdict.UNKNOWN),
    ],
)
def test_quotas_that_were_not_read_decide_where_one_node_needs_a_claim(
    objects: list[dict[str, Any]], verdict: Verdict
) -> None:
    pod = build.pod(requests={GPU: "1"})
    assert diagnose(*objects, CLASS, SLICE, pod).verdict is Verdict.SCHEDULABLE
    assert diagnose(*objects, CLASS, SLICE, pod, withheld=("ResourceQuota",)).verdict is verdict
