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
    assert waiting(*event).descheduled is None
