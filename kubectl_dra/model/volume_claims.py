"""What a PersistentVolumeClaim asks for, in the claim itself and in the template of an ephemeral volume."""

from __future__ import annotations

from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import LabelSelector
from kubectl_dra.model.quantity import Quantity


class VolumeResources(Record, frozen=True):
    """``spec.resources`` of a claim."""

    requests: dict[str, Quantity] = field(default_factory=dict)


class PersistentVolumeClaimSpec(Record, frozen=True):
    """``spec`` of a claim. A ``volume_mode`` of None is Filesystem."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResources = VolumeResources()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class VolumeClaimTemplate(Record, frozen=True):
    """``volumeClaimTemplate`` of an ephemeral volume."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolume(Record, frozen=True):
    """``ephemeral``: a volume that lives as long as its pod, made by a claim of its own."""

    volume_claim_template: VolumeClaimTemplate | None = None
