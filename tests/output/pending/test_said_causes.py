"""First lines and advice where somebody's words name the cause: the kubelet's, a driver's, the API server's."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.pending.go_errors import LackedRight, innermost, lacked_right
from kubectl_dra.output.unread import role_name
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import SLICE, first_line, page_of, refused, report_of

UID = "9929793c-7f7c-571b-8f7c-000ac7f4e67b"
HELD = build.claim("claim", held=[("node-1", "gpu-0")], on="node-1", by=["pod"])
PLACED = build.pod(claims=["claim"], node_name="node-1")
FORBIDDEN = (
    'running PreBind plugin "DynamicResources": add reservation to claim ml/claim: resourceclaims.resource.k8s.io '
    '"claim" is forbidden: User "system:serviceaccount:kube-system:batch" cannot patch resource '
    '"resourceclaims/binding" in API group "resource.k8s.io" in the namespace "ml"'
)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("no such GPU: 3", "no such GPU: 3"),
        (f"claim {UID} contain errors: claim ml/nic serves one pod", "claim ml/nic serves one pod"),
        (
            f"claim {UID} contain errors: error preparing devices: error creating MIG device: error creating GPU "
            "instance for '1g.20gb': Insufficient Resources",
            "error creating GPU instance for '1g.20gb': Insufficient Resources",
        ),
        (
            'PodResourceClaim gpu: creating ResourceClaim: resourceclaims.resource.k8s.io "pod-gpu-" is forbidden: '
            "ValidatingAdmissionPolicy 'two' with binding 'two' denied request: at most 2: per claim",
            "ValidatingAdmissionPolicy 'two' with binding 'two' denied request: at most 2: per claim",
        ),
        ("", ""),
    ],
)
def test_what_an_error_comes_down_to(error: str, cause: str) -> None:
    assert innermost(error) == cause


def test_a_right_that_is_lacked() -> None:
    user = "system:serviceaccount:kube-system:batch"
    assert lacked_right(FORBIDDEN) == LackedRight(user, "patch", "resourceclaims/binding", "resource.k8s.io")
    assert lacked_right('pods "x" is forbidden: exceeded quota: q') is None


def on_the_node(words: str) -> PendingReport:
    said = build.event("pod", "FailedPrepareDynamicResources", f"Failed to prepare dynamic resources: {words}")
    said |= {"count": 31, "firstTimestamp": "2025-12-31T23:30:00Z"}
    return report_of(build.node(), SLICE, HELD, said, PLACED)


def test_a_driver_that_serves_one_pod_per_claim() -> None:
    words = f"claim {UID} contain errors: claim ml/nic is reserved for 2 consumers, dranet supports one pod per claim"
    report = on_the_node(f"NodePrepareResources failed for ResourceClaim claim: {words}")
    assert report.code is Code.DRIVER_FAILED
    assert first_line(report).endswith(": claim ml/nic is reserved for 2 consumers, dranet supports one pod per claim.")
    page = page_of(report)
    assert UID not in page
    assert "The kubelet said so 31 times, first " in page
    assert "Give each pod a claim of its own" in page


def test_the_log_of_a_driver_is_advised_where_its_words_name_no_remedy() -> None:
    page = page_of(on_the_node("NodePrepareResources failed for ResourceClaim claim: no such GPU: 3"))
    assert "it says what led to these words" in page
    assert "configuration" not in page


def test_a_configuration_that_the_driver_refuses() -> None:
    page = page_of(on_the_node("NodePrepareResources failed for ResourceClaim claim: error decoding config: bad"))
    assert "Correct the configuration of the claim" in page


def waiting(reason: str, message: str = "") -> PendingReport:
    state = {"waiting": {"reason": reason, "message": message}}
    status = {"phase": "Pending", "containerStatuses": [{"name": "main", "state": state}]}
    return report_of(build.node(), SLICE, HELD, PLACED | {"status": status})


def test_a_device_that_the_runtime_does_not_know() -> None:
    unknown = "CDI device injection failed: unresolvable CDI devices k8s.gpu.example.com/device=gpu-0"
    report = waiting("CreateContainerError", f"failed to create containerd container: {unknown}")
    assert unknown in first_line(report)
    assert report.code is Code.DEVICE_NOT_INJECTED
    page = page_of(report)
    assert "cdi_spec_dirs" in page
    assert "image" not in page


@pytest.mark.parametrize("owned", [True, False])
def test_a_device_that_the_runtime_does_not_know_any_more(owned: bool) -> None:
    unknown = "CDI device injection failed: unresolvable CDI devices k8s.gpu.example.com/device=gpu-0"
    ended = {"exitCode": 255, "reason": "Unknown", "message": ""}
    state = {"waiting": {"reason": "CreateContainerError", "message": unknown}}
    status = {"name": "main", "restartCount": 1, "state": state, "lastState": {"terminated": ended}}
    owner = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "u", "controller": True}]
    pod = PLACED | {"status": {"phase": "Running", "containerStatuses": [status]}}
    pod = pod | {"metadata": pod["metadata"] | ({"ownerReferences": owner} if owned else {})}
    report = report_of(build.node(), SLICE, HELD, pod)
    assert report.code is Code.DEVICE_NOT_INJECTED
    assert unknown in first_line(report)
    page = page_of(report)
    assert "Devices are not what it waits for" not in page
    assert "kubectl delete pod/pod -n ml" in page
    assert ("web-1 makes another, whose devices are prepared anew" in page) == owned
    assert ("kubectl get pod/pod -n ml -o yaml" in page) != owned


@pytest.mark.parametrize(
    ("reason", "advice", "others"),
    [
        ("ImagePullBackOff", "Correct the name of the image", ["ConfigMap", "--previous"]),
        ("CreateContainerConfigError", "Create the Secret or ConfigMap", ["image", "--previous"]),
        ("CrashLoopBackOff", "kubectl logs pod/pod -n ml -c main --previous", ["image", "ConfigMap"]),
        ("Strange", "Read the reason and the message of the container", []),
    ],
)
def test_only_the_advice_that_belongs_to_what_is_waited_for(reason: str, advice: str, others: list[str]) -> None:
    page = page_of(waiting(reason))
    assert advice in page
    assert not [word for word in others if word in page]


def test_a_claim_that_a_policy_refuses() -> None:
    words = (
        'PodResourceClaim gpu: creating ResourceClaim: resourceclaims.resource.k8s.io "pod-gpu-" is forbidden: '
        "ValidatingAdmissionPolicy 'two' with binding 'two' denied request: at most 2 GPUs per claim"
    )
    pod: dict[str, Any] = build.pod(claims=[])
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "four"}]
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "four", "namespace": "ml"}, "spec": {"spec": {}}}
    report = report_of(build.node(), SLICE, pod, template, build.event("pod", "FailedResourceClaimCreation", words))
    assert report.code is Code.CLAIM_CREATION_FAILED
    assert "at most 2 GPUs per claim" in first_line(report)
    page = page_of(report)
    assert page.count("at most 2 GPUs per claim") == 1
    assert "Make a ResourceClaimTemplate that the policy allows" in page


def test_another_scheduler_that_lacks_a_right() -> None:
    pod = refused(build.pod(claims=["claim"], schedulerName="batch"), FORBIDDEN, "SchedulerError")
    report = report_of(build.node(), SLICE, build.claim("claim"), pod)
    assert report.code is Code.OTHER_SCHEDULER
    assert "system:serviceaccount:kube-system:batch cannot patch resourceclaims/binding" in first_line(report)
    page = page_of(report)
    assert "the right to patch resourceclaims/binding" in page
    made = re.search(
        r"create clusterrole (\S+) --verb=update,patch --resource=resourceclaims\.resource\.k8s\.io/b", page
    )
    assert made is not None
    assert f"clusterrolebinding {made[1]} --clusterrole={made[1]} --serviceaccount=kube-system:batch" in page
    # Neither another account nor other rules have this name.
    assert re.fullmatch(r"kubectl-dra-[a-z0-9-]+-[0-9a-f]{8}", made[1])


def test_roles_of_two_users_have_two_names() -> None:
    assert role_name("Ana", "get", "nodes") != role_name("ana", "get", "nodes")
    assert role_name("ana", "get", "nodes") != role_name("ana", "get,list", "nodes")


def test_a_pod_that_was_put_on_its_node_by_hand() -> None:
    report = report_of(build.node(), SLICE, build.claim("claim"), PLACED)
    assert "its ResourceClaim claim has no devices: the pod was put there without the scheduler" in first_line(report)
    assert "drop spec.nodeName, so that the scheduler places the pod" in page_of(report)


def test_what_a_node_does_not_have_at_all_does_not_become_free() -> None:
    pod = build.pod(claims=["claim"])
    pod["spec"]["containers"][0].setdefault("resources", {})["requests"] = {"hugepages-1Gi": "8Gi"}
    report = report_of(build.node(), SLICE, build.claim("claim"), pod)
    assert "no hugepages-1Gi at all (8Gi requested)" in first_line(report)
    assert "Reserve huge pages when node-1 boots (kernel parameters hugepagesz=1G hugepages=8)" in page_of(report)


@pytest.mark.parametrize("resource", ["hugepages-0", "hugepages-foo", "hugepages-", "hugepages-2Mi"])
def test_pages_of_no_size_are_not_lowered(resource: str) -> None:
    node = build.node()
    node["status"]["allocatable"][resource] = "3Mi"
    pod = build.pod(claims=["claim"])
    pod["spec"]["containers"][0].setdefault("resources", {})["requests"] = {resource: "8Mi"}
    page = page_of(report_of(node, SLICE, build.claim("claim"), pod))
    assert (f"request 2Mi {resource} instead of 8Mi" in page) is resource.endswith("2Mi"), page


def test_a_scheduler_that_wrote_runs() -> None:
    pod = build.pod(claims=["claim"], schedulerName="volcano")
    pod["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "tf"}
    objects = build.node(), SLICE, build.claim("claim")
    assert "Check that this scheduler runs" in page_of(report_of(*objects, pod))
    page = page_of(report_of(*objects, refused(pod, "3/4 tasks in gang unschedulable: pod group is not ready")))
    assert "Check that this scheduler runs" not in page
    assert "or lower spec.minMember of PodGroup tf" in page


def test_a_warning_of_the_kubelet_that_is_not_about_devices() -> None:
    words = (
        'failed to start sandbox: NRI RunPodSandbox failed: plugin "dranet": pod using host network can not claim it'
    )
    said = build.event("pod", "FailedCreatePodSandBox", f"Failed to create pod sandbox: {words}")
    said |= {"type": "Warning", "count": 41, "firstTimestamp": "2025-12-31T23:30:00Z"}
    said |= {"source": {"component": "kubelet"}}
    report = report_of(build.node(), SLICE, HELD, said, PLACED)
    assert first_line(report) == (
        "Pod ml/pod is scheduled to node-1, but its containers have not started, and FailedCreatePodSandBox was "
        'reported: plugin "dranet": pod using host network can not claim it.'
    )
    page = " ".join(page_of(report).split())
    assert "no failure was reported" not in page
    assert page.count("using host network") == 1
    assert "Reported 41 times, first " in page
    assert "Remove hostNetwork: true from the pod's template" in page


def test_a_warning_that_was_overcome_is_told_but_not_blamed() -> None:
    said = build.event("pod", "FailedMount", "configmap not ready", time="2026-01-01T00:00:00Z")
    pulled = build.event("pod", "Pulled", "Container image pulled", time="2026-01-01T00:01:00Z")
    by = {"source": {"component": "kubelet"}}
    report = report_of(build.node(), SLICE, HELD, said | by | {"type": "Warning"}, pulled | by, PLACED)
    assert first_line(report).endswith("Its containers have not started yet.")
    assert "FailedMount" in page_of(report)


SHARED_BY_CONTAINERS = (
    "failed to create containerd container: NRI plugin dra.cpu: claim 7f8d2c11 is already bound to container app; "
    "sharing a claim between containers is not supported"
)


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("internal error: unable to get claim info for ResourceClaim claim", "bug kubernetes#135901"),
        (SHARED_BY_CONTAINERS, "name the claim under resources.claims of one container only"),
        ("NRI plugin dra.cpu: no CPUs of claim 7f8d2c11", "the log of its driver at that time"),
    ],
)
def test_a_container_that_is_refused_for_a_claim_gets_advice_about_the_claim(message: str, advice: str) -> None:
    failed = build.event("pod", "Failed", f"Error: {message}", time="2025-12-31T23:59:00Z")
    failed |= {"type": "Warning", "count": 41, "firstTimestamp": "2025-12-31T23:30:00Z"}
    failed |= {"source": {"component": "kubelet"}}
    state = {"waiting": {"reason": "CreateContainerError", "message": message}}
    status = {"phase": "Pending", "containerStatuses": [{"name": "main", "state": state}]}
    report = report_of(build.node(), SLICE, HELD, PLACED | {"status": status}, failed)
    assert report.code is Code.CONTAINER_WAITS
    page = " ".join(page_of(report).split())
    assert advice in page
    assert "Reported 41 times, first " in page
    assert "Failed, 41 times" not in page
    assert "image" not in page and "Secret" not in page
    assert "Log of driver gpu.example.com on node-1" in page


def test_words_about_a_claim_for_a_volume_are_not_about_devices() -> None:
    page = page_of(waiting("CreateContainerError", 'failed to mount: persistentvolumeclaim "data" not found'))
    assert "the log of its driver" not in page


def initializing(**container: Any) -> dict[str, Any]:
    pod = build.pod(claims=["claim"], node_name="node-1")
    pod["spec"]["initContainers"] = [{"name": "download", **container}]
    running = {"running": {"startedAt": "2025-12-31T23:00:00Z"}}
    pod["status"]["initContainerStatuses"] = [{"name": "download", "state": running}]
    pod["status"]["containerStatuses"] = [{"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}]
    return pod


def test_an_init_container_that_runs_holds_the_pod_up() -> None:
    claim = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
    there = build.node(), build.slice_("node-1", build.device("gpu-0")), claim
    report = report_of(initializing(), *there)
    assert report.code is Code.CONTAINER_WAITS
    assert first_line(report) == (
        "Pod ml/pod is scheduled to node-1, but its init container download still runs, and the others start when it "
        "has ended."
    )
    page = page_of(report)
    assert "Init container download was started " in page
    assert " ago." in page
    assert "kubectl logs pod/pod -n ml -c download" in page
    assert "--previous" not in page
    assert "Log of driver" not in page
    # A sidecar is not waited for.
    assert report_of(initializing(restartPolicy="Always"), *there).code is Code.PREPARING
