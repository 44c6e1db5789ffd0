"""Warnings about what a pod names, which are not in its own events: its claims, and its claims for volumes."""

from __future__ import annotations

from typing import Any

from tests.diagnosis.test_volumes import DATA, claim, storage_class
from tests.kit import build
from tests.output.pending.test_situations import page_of, report_of

FAILED = 'failed to provision volume with StorageClass "s": rpc error: code = ResourceExhausted desc = quota exceeded'


def warned(kind: str, name: str, message: str, minute: int = 5, uid: str | None = None, **more: Any) -> dict[str, Any]:
    made = build.event(name, "ProvisioningFailed", message, kind=kind, time=f"2026-01-01T00:{minute:02}:00Z")
    made["involvedObject"]["uid"] = "" if uid is None else uid
    return {**made, "type": "Warning", "count": 7, "source": {"component": "ebs.csi.aws.com"}, **more}


def told(*events: dict[str, Any], volume: dict[str, Any] | None = None) -> str:
    pod = build.pod(claims=["claim"], volumes=[DATA])
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    there = [build.node(), slice_, volume or claim(storageClassName="s"), storage_class(provisioner="ebs.csi.aws.com")]
    return page_of(report_of(pod, build.claim("claim", build.request(count=2)), *there, *events))


def test_the_newest_warning_is_shown_with_whose_it_is() -> None:
    older = warned("ResourceClaim", "claim", "the driver is away", 1, uid="claim-claim")
    page = told(warned("PersistentVolumeClaim", "data", FAILED), older)
    assert "Warning of ebs.csi.aws.com about PersistentVolumeClaim ml/data, " in page
    assert f" ago (7 times): ProvisioningFailed: {FAILED}" in page
    assert "the driver is away" not in page
    assert "about ResourceClaim ml/claim" in told(older)


def test_what_is_over_or_about_others_is_not() -> None:
    failed = warned("PersistentVolumeClaim", "data", FAILED)
    bound = claim(storageClassName="s", volumeName="pv")
    assert "Warning of" not in told(failed, volume=bound)
    assert "Warning of" not in told({**failed, "type": "Normal"})
    assert "Warning of" not in told(warned("PersistentVolumeClaim", "data", FAILED, uid="another"))
    assert "Warning of" not in told(warned("PersistentVolumeClaim", "other", FAILED))
