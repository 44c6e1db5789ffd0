"""Pods that have their node: the kubelet's words, health, claims that nobody allocated or reserved."""

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Health, KubeletText, ObjectRef, PodDiagnosis, Verdict
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts
from tests.kit.state import diagnose_pod

POD = Key(build.NAMESPACE, "pod")
CLAIM = ObjectRef("ResourceClaim", "ml", "claim")


def diagnose(*objects: dict[str, Any], pod: dict[str, Any] | None = None) -> PodDiagnosis:
    bound = pod or build.pod(claims=["claim"], node_name="node-1")
    there = build.slice_("node-1", build.device("gpu-0"))
    return diagnose_pod(facts.inventory([bound, build.node(), there, *objects]), facts.evidence(), features(), POD)


def mine(**fields: Any) -> dict[str, Any]:
    return build.claim(held=[("node-1", "gpu-0")], on="node-1", by=["pod"], **fields)


def failed(text: str, time: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    message = f"Failed to prepare dynamic resources: prepare dynamic resources: {text}"
    return build.event("pod", "FailedPrepareDynamicResources", message, time=time)


def test_nothing_wrong_yet() -> None:
    found = diagnose(mine())
    assert (found.verdict, found.node, [c.code for c in found.causes]) == (
        Verdict.PREPARING,
        "node-1",
        [Code.PREPARING],
    )


@pytest.mark.parametrize(
    ("text", "code", "driver", "claim", "detail"),
    [
        ("DRA driver gpu.example.com is not registered", Code.DRIVER_NOT_REGISTERED, "gpu.example.com", None, ""),
        (
            "NodePrepareResources failed for ResourceClaim claim: no such GPU: 3",
            Code.DRIVER_FAILED,
            "",
            CLAIM,
            "no such GPU: 3",
        ),
        (
            "NodePrepareResources: rpc error: code = Unavailable",
            Code.DRIVER_FAILED,
            "",
            None,
            "rpc error: code = Unavailable",
        ),
        ("NodePrepareResources skipped 2 ResourceClaims", Code.DRIVER_FAILED, "", None, "2 ResourceClaims"),
        (
            "pod pod (u1) is not allowed to use ResourceClaim claim (u2)",
            Code.CLAIM_NOT_RESERVED,
            "",
            CLAIM,
            "",
        ),
        ("ResourceClaim claim: not allocated", Code.CLAIM_NOT_ALLOCATED, "", CLAIM, ""),
        (
            "old ResourceClaim with same name claim and different UID u still exists (previous pod force-deleted?!)",
            Code.CLAIM_REPLACED,
            "",
            CLAIM,
            "",
        ),
        ("ResourceClaim claim is being unprepared", Code.CLAIM_REPLACED, "", CLAIM, ""),
        (
            'fetch ResourceClaim claim: resourceclaims.resource.k8s.io "claim" not found',
            Code.KUBELET_FAILED,
            "",
            CLAIM,
            'resourceclaims.resource.k8s.io "claim" not found',
        ),
        (
            "ResourceClaim ml/claim was not created for Pod ml/pod (Pod is not owner)",
            Code.CLAIM_NOT_OWNED,
            "",
            CLAIM,
            "",
        ),
        (
            "checkpoint ResourceClaim state: disk full",
            Code.KUBELET_FAILED,
            "",
            None,
            "checkpoint ResourceClaim state: disk full",
        ),
    ],
)
def test_the_kubelets_words(text: str, code: Code, driver: str, claim: ObjectRef | None, detail: str) -> None:
    cause = diagnose(mine(), failed(text)).causes[0]
    assert (cause.code, cause.claim, cause.nodes) == (code, claim, ("node-1",))
    assert cause.detail == KubeletText(text, driver, detail, "2026-01-01T00:00:00Z")


def test_the_last_event_of_this_very_pod_counts() -> None:
    early = failed("DRA driver a is not registered", "2026-01-01T00:00:00Z")
    late = failed("DRA driver b is not registered", "2026-01-01T00:01:00Z")
    former = failed("DRA driver c is not registered", "2026-01-01T00:02:00Z")
    former["involvedObject"]["uid"] = "former"
    detail = diagnose(mine(), late, early, former).causes[0].detail
    assert isinstance(detail, KubeletText)
    assert detail.driver == "b"


def test_nobody_allocates_for_a_pod_that_has_a_node() -> None:
    assert [c.code for c in diagnose(build.claim()).causes] == [Code.CLAIM_NOT_ALLOCATED]
    unreserved = build.claim(held=[("node-1", "gpu-0")], on="node-1", by=["other"])
    assert [c.code for c in diagnose(unreserved).causes] == [Code.CLAIM_NOT_RESERVED]
    assert [c.code for c in diagnose().causes] == [Code.CLAIM_MISSING]


def test_a_claim_without_devices_is_the_cause_where_the_kubelet_only_misses_the_reservation() -> None:
    words = "pod pod (u1) is not allowed to use ResourceClaim claim (u2)"
    (cause,) = diagnose(build.claim(), failed(words)).causes
    assert (cause.code, cause.claim) == (Code.CLAIM_NOT_ALLOCATED, CLAIM)
    assert isinstance(cause.detail, KubeletText)
    assert cause.detail.text == words


def test_how_often_the_kubelet_said_so() -> None:
    said = failed("disk full") | {"count": 31, "firstTimestamp": "2025-12-31T23:30:00Z"}
    detail = diagnose(mine(), said).causes[0].detail
    assert isinstance(detail, KubeletText)
    assert (detail.times, detail.first) == (31, "2025-12-31T23:30:00Z")


def test_the_same_thing_is_told_once() -> None:
    found = diagnose(build.claim(), failed("ResourceClaim claim: not allocated"))
    assert [c.code for c in found.causes] == [Code.CLAIM_NOT_ALLOCATED]


def status(health: str, name: str = "claim:claim/gpu") -> dict[str, Any]:
    device = {"resourceID": "gpu.example.com/node-1/gpu-0", "health": health, "message": "ECC"}
    return {"name": "main", "allocatedResourcesStatus": [{"name": name, "resources": [device]}]}


@pytest.mark.parametrize(("health", "told"), [("Healthy", False), ("Unhealthy", True), ("Unknown", True)])
def test_health_of_devices(health: str, told: bool) -> None:
    pod = build.pod(claims=["claim"], node_name="node-1")
    pod["status"]["containerStatuses"] = [status(health)]
    causes = [c for c in diagnose(mine(), pod=pod).causes if c.code is Code.DEVICE_UNHEALTHY]
    assert bool(causes) is told
    if told:
        assert (causes[0].claim, causes[0].request) == (CLAIM, "gpu")
        assert causes[0].detail == Health("gpu.example.com/node-1/gpu-0", health, "main", "ECC")


def test_health_of_device_plugins_is_not_ours() -> None:
    pod = build.pod(claims=["claim"], node_name="node-1")
    pod["status"]["containerStatuses"] = [status("Unhealthy", "example.com/gpu")]
    assert [c.code for c in diagnose(mine(), pod=pod).causes] == [Code.PREPARING]


def test_running_pods_with_unhealthy_devices() -> None:
    pod = build.pod(claims=["claim"], node_name="node-1", phase="Running")
    pod["status"]["containerStatuses"] = [status("Unhealthy")]
    found = diagnose(mine(), pod=pod)
    assert (found.verdict, [c.code for c in found.causes]) == (Verdict.NOT_PENDING, [Code.DEVICE_UNHEALTHY])


@pytest.mark.parametrize(("reason", "told"), [("ImagePullBackOff", True), ("ContainerCreating", False)])
def test_containers_that_wait_for_something_else(reason: str, told: bool) -> None:
    pod = build.pod(claims=["claim"], node_name="node-1")
    pod["status"]["containerStatuses"] = [{"name": "main", "state": {"waiting": {"reason": reason}}}]
    codes = [c.code for c in diagnose(mine(), pod=pod).causes]
    assert codes == [Code.CONTAINER_WAITS if told else Code.PREPARING]
