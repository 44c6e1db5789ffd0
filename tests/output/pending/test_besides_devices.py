"""Pods on their node that wait for a volume or an image: not for their devices, which they hold meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

HELD = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
SLICE = build.slice_("node-1", build.device("gpu-0"))
VOLUME = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
BOUND = {
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": build.NAMESPACE},
    "spec": {"volumeName": "pvc-7"},
}


def waits(**state: Any) -> dict[str, Any]:
    pod = build.pod(claims=["claim"], node_name="node-1", volumes=[VOLUME])
    pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]
    if state:
        pod["status"]["containerStatuses"] = [{"name": "main", "state": {"waiting": state}}]
    return pod


def warned(reason: str, text: str, by: str = "kubelet") -> dict[str, Any]:
    return build.event("pod", reason, text) | {"type": "Warning", "source": {"component": by}}


def page(*objects: dict[str, Any]) -> tuple[str, str]:
    report = report_of(build.node(), SLICE, HELD, *objects)
    return first_line(report), " ".join(page_of(report).split())


MULTI = warned("FailedAttachVolume", 'Multi-Attach error for volume "pvc-7" Volume is already used by pod(s) old')


def user(name: str, claim: str = "data", node: str = "node-2", **fields: Any) -> dict[str, Any]:
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": claim}}
    return build.pod(name, node_name=node, phase="Running", volumes=[volume]) | fields


def test_a_volume_that_another_pod_has_elsewhere() -> None:
    others = [user("mine", "other"), user("beside", node="node-1"), user("done", status={"phase": "Succeeded"})]
    first, told = page(waits(), MULTI, BOUND, user("old"), *others)
    assert first == (
        "Pod ml/pod is scheduled to node-1, but its containers have not started: volume pvc-7 (PersistentVolumeClaim "
        "data) is still attached to node-2, where pod old uses it."
    )
    assert "so old has to end first" in told
    assert "Its devices are not what it waits for: it holds gpu-0 meanwhile." in told
    assert "Log of driver" not in told
    # Where no pod has it any more, only the controller has to detach it.
    first, told = page(waits(), MULTI, BOUND, *others)
    assert first.endswith("volume pvc-7 (PersistentVolumeClaim data) is still attached to another node.")
    assert "after 6 minutes" in told


def test_who_has_the_volume_and_does_not_end() -> None:
    old = user("old")
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    gone = build.node("node-2")
    gone["status"]["conditions"] = [
        {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    ]
    first, told = page(waits(), MULTI, BOUND, old, gone)
    assert "Pod old should have ended" in first
    assert "Only if that machine is certainly off" in told
    assert "kubectl delete pod/old -n ml --force --grace-period=0" in told


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('MountVolume.SetUp failed for volume "token" : secret "hf-token" not found', "Create Secret hf-token in"),
        ('MountVolume.SetUp failed for volume "c" : configmap "app" not found', "Create ConfigMap app in"),
        (
            'MountVolume.MountDevice failed for volume "pvc-7" : kubernetes.io/csi: attacher.MountDevice failed to '
            "create newCsiDriverClient: driver name ebs.csi.aws.com not found in the list of registered CSI drivers",
            "CSI driver ebs.csi.aws.com is not registered on node-1",
        ),
        (
            'AttachVolume.Attach failed for volume "pvc-7" : rpc error: code = ResourceExhausted desc = Attachment '
            "limit exceeded",
            "node-1 attaches no more volumes: end a pod there that has one, or keep this one off the node.",
        ),
        ("hostPath type check failed: /models is not a directory", "Read the last part of the message"),
    ],
)
def test_a_volume_that_is_not_mounted(text: str, advice: str) -> None:
    told = page(waits(), warned("FailedMount", text))[1]
    assert advice in told
    assert "Log of driver" not in told


PULLING = 'Back-off pulling image "r.io/ml/train:2": ErrImagePull: failed to pull and unpack image "r.io/ml/train:2": '


@pytest.mark.parametrize(
    ("why", "advice"),
    [
        ("failed to authorize: failed to fetch oauth token: unexpected status: 401 Unauthorized", "imagePullSecrets"),
        ("failed to resolve reference: r.io/ml/train:2: not found", "Correct the name or tag"),
        ("failed to do request: dial tcp: lookup r.io: no such host", "does not reach the registry"),
        ("unexpected commit digest", "Correct the name of the image, or give"),
    ],
)
def test_an_image_that_cannot_be_had_is_named(why: str, advice: str) -> None:
    first, told = page(waits(reason="ImagePullBackOff", message=PULLING + why))
    assert "container main is waiting for image r.io/ml/train:2: ImagePullBackOff (" in first
    assert advice in told
    assert "it holds gpu-0 meanwhile" in told
    assert "Log of driver" not in told
