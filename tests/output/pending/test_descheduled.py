"""A pod that waits since the descheduler ended the one before it."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import page_of, report_of

MADE = "2025-12-31T23:05:00Z"
BEFORE = "2025-12-31T23:04:50Z"
EVICTED = "pod evicted from node-9 node by sigs.k8s.io/descheduler"


def waiting(reason: str, about: str, time: str, uid: str = "gone", words: str = EVICTED) -> PendingReport:
    pod = build.pod(claims=["claim"])
    maker = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "vec", "uid": "s", "controller": True}
    pod["metadata"] |= {"creationTimestamp": MADE, "ownerReferences": [maker]}
    said: dict[str, Any] = build.event(about, reason, words)
    said |= {"type": "Normal", "lastTimestamp": time}
    said["involvedObject"] = {"kind": "Pod", "namespace": "ml", "name": about, "uid": uid}
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    return report_of(build.node(), slice_, pod, build.claim("claim", build.request(count=9)), said)


@pytest.mark.parametrize(("about", "whom"), [("pod", "its predecessor of the same name"), ("vec-7f6", "pod vec-7f6")])
def test_who_ended_the_pod_before_is_told(about: str, whom: str) -> None:
    page = " ".join(page_of(waiting("LowNodeUtilization", about, BEFORE)).split())
    assert f"The descheduler evicted {whom} from node-9 " in page
    assert "(LowNodeUtilization). It does not see devices of claims" in page


@pytest.mark.parametrize("there", [True, False])
def test_that_a_scheduler_ended_the_pod_before_is_told(*, there: bool) -> None:
    """Its event has no more than the uid of the pod that needed the room, and that may have ended."""
    pod, other = build.pod(claims=["claim"]), build.pod("train-0", node_name="node-1", priority=1000)
    maker = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "vec", "uid": "s", "controller": True}
    pod["metadata"] |= {"creationTimestamp": MADE, "ownerReferences": [maker]}
    other["metadata"]["uid"] = "0f2b5a61-3c4d-4e5f-8a9b-0c1d2e3f4a5b"
    said = build.event("vec-7f6", "Preempted", f"Preempted by pod {other['metadata']['uid']} on node node-9")
    said |= {"type": "Normal", "lastTimestamp": BEFORE}
    said["involvedObject"] = {"kind": "Pod", "namespace": "ml", "name": "vec-7f6", "uid": "gone"}
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    claim = build.claim("claim", build.request(count=9))
    page = " ".join(page_of(report_of(build.node(), slice_, pod, claim, said, *([other] if there else []))).split())
    whom = "pod ml/train-0, which has a higher priority (1000)" if there else "a pod or group of higher priority"
    assert "The scheduler ended pod vec-7f6 on node-9 " in page
    assert f"to make room for {whom}. A PriorityClass that is at least as high" in page
    assert "descheduler" not in page


@pytest.mark.parametrize(
    "event",
    [
        ("LowNodeUtilization", "other-0", BEFORE),  # a pod of something else
        ("LowNodeUtilization", "pod", "2025-12-31T22:04:50Z"),  # long before
        ("LowNodeUtilization", "pod", "2025-12-31T23:05:10Z"),  # after it was made
        ("LowNodeUtilization", "pod", BEFORE, "pod-pod"),  # about itself
        ("Killing", "pod", BEFORE, "gone", "Stopping container c"),
    ],
)
def test_of_other_events_it_is_not_told(event: tuple[str, ...]) -> None:
    assert waiting(*event).turn is None
