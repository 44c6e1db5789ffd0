"""Claims for extended resources that an attempt of the scheduler has left behind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import build
from tests.output.pending.test_situations import SLICE, first_line, page_of, report_of

GPU = "example.com/gpu"
CLASS = build.device_class(extendedResourceName=GPU)


def left(**metadata: Any) -> dict[str, Any]:
    claim = build.claim("pod-extended-resources-x", held=[])
    claim["metadata"] |= {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [{"kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}],
        **metadata,
    }
    return claim


@pytest.mark.parametrize(
    ("metadata", "said", "waits"),
    [
        ({}, "which the scheduler deletes before it tries again", True),
        (
            {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/audit"]},
            "whose deletion waits for the finalizer example.com/audit; as long as it is there, the scheduler rejects "
            "every node",
            False,
        ),
    ],
)
def test_a_left_over_claim_is_named_with_what_keeps_it(metadata: dict[str, Any], said: str, *, waits: bool) -> None:
    """Once the scheduler has deleted it, no further attempt ends what its finalizers wait for."""
    report = report_of(build.pod(requests={GPU: "1"}), CLASS, build.node(), SLICE, left(**metadata))
    told = f"an earlier attempt has left ResourceClaim ml/pod-extended-resources-x, {said}."
    assert first_line(report) == f"Pod ml/pod is pending: {told}"
    page = page_of(report)
    assert ("wait for the scheduler's next attempt" in page) is waits
    assert ("Wait a moment" in page) is waits
    assert "If its deletion waits for finalizers" in " ".join(page.split())
    assert "cannot be used there" not in page
