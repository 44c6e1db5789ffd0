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
        # What the kubelets of Kubernetes 1.30 to 1.33 say.
        (
            "failed to get gRPC client for driver gpu.example.com: "
            "plugin name gpu.example.com not found in the list of registered DRA plugins",
            Code.DRIVER_NOT_REGISTERED,
            "gpu.example.com",
            None,
            "",
        ),
        (
            "plugin gpu.example.com not found in the list of registered DRA plugins or not connected",
            Code.DRIVER_NOT_REGISTERED,
            "gpu.example.com",
            None,
            "",
        ),
        (
            f"NodePrepareResources failed for claim {build.NAMESPACE}/claim: no such GPU: 3",
            Code.DRIVER_FAILED,
            "",
            CLAIM,
            "no such GPU: 3",
        ),
        ("NodePrepareResources failed: rpc error: x", Code.DRIVER_FAILED, "", None, "rpc error: x"),
        ("NodePrepareResources left out 2 claims", Code.DRIVER_FAILED, "", None, "2 claims"),
        ("pod pod(u1) is not allowed to use resource claim claim(u2)", Code.CLAIM_NOT_RESERVED, "", CLAIM, ""),
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


def warned(reason: str, text: str, time: str = "2026-01-01T00:05:00Z", by: str = "kubelet") -> dict[str, Any]:
    return build.event("pod", reason, text, time=time) | {"type": "Warning", "source": {"component": by}}


PULLED = build.event("pod", "Pulled", "Container image pulled", time="2026-01-01T00:06:00Z") | {
    "type": "Normal",
    "source": {"component": "kubelet"},
}
SUMMARY = "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[]: deadline exceeded"
ATTACH = "FailedAttachVolume"
HELD = 'Multi-Attach error for volume "pvc-7" Volume is already used by pod(s) old'
CAME = build.event("pod", "SuccessfulAttachVolume", 'AttachVolume.Attach succeeded for volume "pvc-7" ') | {
    "lastTimestamp": "2026-01-01T00:02:00Z",
    "type": "Normal",
    "source": {"component": "attachdetach-controller"},
}
SANDBOX = "Failed to create pod sandbox: rpc error: plugin dranet: pod using host network can not claim host devices"


@pytest.mark.parametrize(
    ("events", "reasons"),
    [
        ([warned("FailedCreatePodSandBox", SANDBOX)], ["FailedCreatePodSandBox"]),
        ([warned("AnyReason", "words of a later release")], ["AnyReason"]),
        ([warned("FailedAttachVolume", "Multi-Attach error", by="attachdetach-controller")], ["FailedAttachVolume"]),
        ([warned("FailedMount", "a"), warned("FailedMount", "b", "2026-01-01T00:06:00Z")], ["FailedMount"]),
        ([warned("FailedMount", "a"), warned("DNSConfigForming", "b", "2026-01-01T00:06:00Z")], ["FailedMount"]),
        ([warned("FailedMount", "of the former node", "2025-12-31T00:00:00Z")], []),
        # What sums up other events does not hide them, however often it is repeated.
        ([warned("FailedMount", SUMMARY, "2026-01-01T00:06:00Z"), warned("FailedAttachVolume", HELD)], [ATTACH]),
        ([warned("FailedMount", SUMMARY), warned(ATTACH, HELD, "2026-01-01T00:01:00Z"), CAME], ["FailedMount"]),
        ([warned("FailedMount", SUMMARY), warned(ATTACH, HELD), CAME], [ATTACH]),
        ([warned("FailedScheduling", "0/1 nodes are available", by="default-scheduler")], []),
        ([warned("FailedMount", "a") | {"type": "Normal"}], []),
    ],
)
def test_any_warning_since_the_pod_was_scheduled_counts(events: list[dict[str, Any]], reasons: list[str]) -> None:
    pod = build.pod(claims=["claim"], node_name="node-1")
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    pod["status"] = pod.get("status", {}) | {"conditions": [scheduled]}
    causes = diagnose(mine(), *events, pod=pod).causes
    assert [c.code for c in causes] == [Code.KUBELET_WARNS if reasons else Code.PREPARING]
    assert [c.detail.reason for c in causes if isinstance(c.detail, KubeletText)] == reasons


def test_a_warning_that_containers_came_after_is_not_the_cause_but_is_not_kept_back() -> None:
    (cause,) = diagnose(mine(), warned("FailedMount", "configmap not ready"), PULLED).causes
    assert cause.code is Code.PREPARING
    assert isinstance(cause.detail, KubeletText)
    assert cause.detail.text == "configmap not ready"


def test_the_newer_failure_stands_first() -> None:
    prepared = failed("disk full", "2026-01-01T00:01:00Z")
    codes = [c.code for c in diagnose(mine(), prepared, warned("FailedMount", "a")).causes]
    assert codes == [Code.KUBELET_WARNS, Code.KUBELET_FAILED]
    codes = [c.code for c in diagnose(mine(), prepared, warned("FailedMount", "a", "2026-01-01T00:00:00Z")).causes]
    assert codes == [Code.KUBELET_FAILED, Code.KUBELET_WARNS]


def test_what_a_container_waits_for_says_more_than_the_warnings_about_it() -> None:
    pod = build.pod(claims=["claim"], node_name="node-1")
    waiting = {"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}
    pod["status"] = pod.get("status", {}) | {"containerStatuses": [waiting]}
    codes = [c.code for c in diagnose(mine(), warned("Failed", "Failed to pull image"), pod=pod).causes]
    assert codes == [Code.CONTAINER_WAITS]
