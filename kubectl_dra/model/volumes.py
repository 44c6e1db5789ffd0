"""``spec.volumes[]`` of pods, and the in-tree sources that PersistentVolumes have as well.

Only what a plugin of the scheduler compares or counts, and ``emptyDir``, about which kubectl drain asks; what a volume
contains, and Secrets it needs, are left out.

What a PersistentVolumeClaim asks for, in the claim itself and in the template of an ephemeral volume.
"""

from __future__ import annotations

from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import LabelSelector
from kubectl_dra.model.quantity import Quantity


class PersistentVolumeClaimVolume(Record, frozen=True):
    claim_name: str = ""


class VolumeSource(Record, frozen=True):
    """A source of which only matters that it is there."""


class ImageVolume(Record, frozen=True):
    """``image``: an OCI artifact that is mounted."""

    reference: str = ""


class AwsElasticBlockStore(Record, frozen=True):
    volume_id: str = field(default="", name="volumeID")
    read_only: bool = False


class AzureDisk(Record, frozen=True):
    disk_uri: str = field(default="", name="diskURI")
    kind: str | None = None


class Cinder(Record, frozen=True):
    volume_id: str = field(default="", name="volumeID")


class GcePersistentDisk(Record, frozen=True):
    pd_name: str = ""
    read_only: bool = False


class Iscsi(Record, frozen=True):
    iqn: str = ""
    read_only: bool = False


class PortworxVolume(Record, frozen=True):
    volume_id: str = field(default="", name="volumeID")


class Rbd(Record, frozen=True):
    """``rbd``: an image of Ceph."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class Volume(Record, frozen=True):
    """``spec.volumes[]``: what a plugin of the scheduler looks at, and the source whose data end with the pod."""

    name: str = ""
    empty_dir: VolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolume | None = None
    ephemeral: EphemeralVolume | None = None
    image: ImageVolume | None = None
    aws_elastic_block_store: AwsElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: VolumeSource | None = None
    cinder: Cinder | None = None
    gce_persistent_disk: GcePersistentDisk | None = None
    iscsi: Iscsi | None = None
    portworx_volume: PortworxVolume | None = None
    rbd: Rbd | None = None
    vsphere_volume: VolumeSource | None = None


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
