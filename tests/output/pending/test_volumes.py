"""Every kind of trouble with a volume has a clause that names what matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from kubectl_dra.diagnosis.explain.volumes import CODES, volume_causes
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.scheduler.storage import VolumeProblem, VolumeReason

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
        f"PersistentVolume pv-1 of {PVC} cannot be reached from there: it is limited to nodes with zone In [a] or "
        "zone In [b]",
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
