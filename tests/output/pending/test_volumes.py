"""Every kind of trouble with a volume has a clause that names what matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.volumes import CODES, volume_causes
from kubectl_dra.diagnosis.records import ObjectRef, VolumeTrouble
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.volumes import volume_advice
from kubectl_dra.scheduler.storage import VolumeProblem, VolumeReason
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

CLAIM: Final = Key("ml", "data")
PVC: Final = "PersistentVolumeClaim ml/data"
SAID: Final[Mapping[VolumeReason, tuple[dict[str, Any], str]]] = {
    VolumeReason.CLAIM_MISSING: ({}, f"{PVC}, which its volume v needs, does not exist"),
    VolumeReason.CLAIM_NOT_CREATED: ({}, f"{PVC} for its ephemeral volume v has not been created yet"),
    VolumeReason.CLAIM_NOT_OWNED: (
        {},
        f"{PVC} has the name that its ephemeral volume v needs, but was not created for this pod",
    ),
    VolumeReason.CLAIM_LOST: ({"volume": "pv-1"}, f"{PVC} has lost its PersistentVolume pv-1"),
    VolumeReason.CLAIM_DELETED: ({}, f"{PVC} is being deleted"),
    VolumeReason.CLAIM_UNBOUND: (
        {"about": "fast"},
        f"{PVC} is not bound yet, and StorageClass fast binds claims before pods are scheduled",
    ),
    VolumeReason.CLASS_MISSING: ({"about": "gone"}, f"{PVC} is not bound, and its StorageClass gone does not exist"),
    VolumeReason.VOLUME_MISSING: (
        {"volume": "pv-1"},
        f"{PVC} is bound to PersistentVolume pv-1, which does not exist",
    ),
    VolumeReason.VOLUME_UNREACHABLE: (
        {"volume": "pv-1", "wanted": ("zone In [a]", "zone In [b]")},
        f"PersistentVolume pv-1 of {PVC} cannot be reached from there: it is limited to nodes with zone=a or zone=b",
    ),
    VolumeReason.VOLUME_ZONE: (
        {"volume": "pv-1", "wanted": ("topology.kubernetes.io/zone=a",)},
        f"PersistentVolume pv-1 of {PVC} is in topology.kubernetes.io/zone=a",
    ),
    VolumeReason.OTHER_NODE_SELECTED: (
        {"about": "node-b"},
        f"node node-b was already selected to provision {PVC}",
    ),
    VolumeReason.TOPOLOGY_NOT_ALLOWED: (
        {"about": "fast", "wanted": ("zone in (a, b)",)},
        f"StorageClass fast of {PVC} provisions volumes only for nodes with zone in (a, b)",
    ),
    VolumeReason.NOTHING_TO_BIND: (
        {"about": "local"},
        f"no free PersistentVolume there matches {PVC}, and StorageClass local does not provision any",
    ),
    VolumeReason.NO_SPACE: (
        {"about": "fast", "asked": 20 << 30, "limit": 1536 << 20},
        f"{PVC} requests 20Gi, but StorageClass fast has 1536Mi left there",
    ),
    VolumeReason.CLAIM_IN_USE: (
        {"users": (Key("ml", "a"), Key("ml", "b"))},
        f"{PVC} is ReadWriteOncePod and in use by ml/a and ml/b",
    ),
    VolumeReason.DISK_IN_USE: (
        {"about": "disk-7", "users": (Key("ml", "a"),)},
        "disk disk-7 of its volume v is in use there by ml/a",
    ),
    VolumeReason.TOO_MANY: (
        {"about": "d.example.com", "used": 15, "asked": 2, "limit": 16},
        "driver d.example.com can attach 16 volumes there: 15 in use, 2 more needed",
    ),
    VolumeReason.DRIVER_NOT_INSTALLED: (
        {"about": "d.example.com"},
        "CSI driver d.example.com is not installed there",
    ),
}


@pytest.mark.parametrize("reason", list(VolumeReason))
def test_every_reason_is_told(reason: VolumeReason) -> None:
    fields, text = SAID[reason]
    problem = VolumeProblem(reason, "v", CLAIM, **fields)
    (cause,) = volume_causes((problem,), ("node-a",))
    assert reason_sentence(cause) == text
    assert cause.code is CODES[reason]
    assert cause.nodes == ("node-a",)


def test_a_claim_that_names_a_volume_or_no_class_waits_for_something_else() -> None:
    bound, classless = (
        VolumeProblem(VolumeReason.CLAIM_UNBOUND, "v", CLAIM, "pv-1"),
        VolumeProblem(VolumeReason.CLAIM_UNBOUND, "v", CLAIM),
    )
    said = [reason_sentence(cause) for cause in volume_causes((bound, classless))]
    assert said == [
        f"{PVC} is not bound to PersistentVolume pv-1 yet",
        f"{PVC} is not bound yet and names no StorageClass",
    ]


def test_details_of_other_plugins_are_no_causes() -> None:
    assert list(volume_causes(("zone",))) == []
    assert list(volume_causes(None)) == []
    assert list(volume_causes(())) == []


def test_the_advice_about_a_claim_is_the_one_that_holds() -> None:
    """The page of DRA-423 lists what helps in five cases."""
    claim = ObjectRef("PersistentVolumeClaim", "ml", "data")

    def advice(reason: VolumeReason) -> str:
        return str(volume_advice(VolumeTrouble(reason, claim=claim, volume="pv-1", about="fats")))

    gone = "To Kubernetes the data is gone with PersistentVolume pv-1: restore the volume, or create a new claim."
    assert advice(VolumeReason.CLAIM_LOST) == advice(VolumeReason.VOLUME_MISSING) == gone
    classless = advice(VolumeReason.CLASS_MISSING)
    assert classless.startswith("Create StorageClass fats, or the claim again with a class that exists")
    of_claims = [reason for reason, code in CODES.items() if code is Code.VOLUME_CLAIM]
    assert len({advice(reason) for reason in of_claims}) == len(of_claims) - 1


def test_who_holds_the_devices_of_the_only_other_node_is_in_the_sentence_and_needs_no_table() -> None:
    zone = "topology.kubernetes.io/zone"
    nodes = [build.node(f"node-{name}", labels={zone: name}) for name in "ab"]
    slices = [build.slice_(f"node-{name}", build.device("gpu-0")) for name in "ab"]
    storage = {
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": zone, "values": ["a"]}]}],
    }
    data = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "ml", "uid": "data"},
        "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]},
        "status": {"phase": "Pending"},
    }
    held = build.claim("of-other", held=[("node-a", "gpu-0")], on="node-a", by=["other"])
    other = build.pod("other", claims=["of-other"], node_name="node-a", phase="Running")
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    pod = build.pod(claims=["claim"], volumes=[volume])
    report = report_of(*nodes, *slices, storage, data, held, other, pod, build.claim("claim"))
    assert report.code is Code.VOLUME_ELSEWHERE
    assert first_line(report).endswith("node-a has no free gpu.example.com devices: the only one is in use (other).")
    assert "left after each check" not in page_of(report)
