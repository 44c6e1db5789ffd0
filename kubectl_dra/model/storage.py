"""Volumes beyond the pod: claims to volumes, volumes, their classes, and what nodes and CSI drivers can hold.

Only what the scheduler's plugins of volumes read. Parameters of classes and of drivers, which may be confidential, are
left out.
"""

from __future__ import annotations

from msgspec import field

from kubectl_dra.model import volumes
from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import LabelSelector, NodeSelector, ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.volumes import PersistentVolumeClaimSpec

#: The annotation that came before the field ``storageClassName`` and still wins over it.
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"

# --- claims ---------------------------------------------------------------------------------------------------------


class PersistentVolumeClaimStatus(Record, frozen=True):
    phase: str = ""


class PersistentVolumeClaim(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()

    @property
    def class_name(self) -> str:
        """The storage class; empty where the claim names none."""
        return self.metadata.annotations.get(CLASS_ANNOTATION, self.spec.storage_class_name or "")


# --- volumes --------------------------------------------------------------------------------------------------------


class ClaimReference(Record, frozen=True):
    """``spec.claimRef``: the claim that a volume is bound to, or kept for; without a uid any of that name."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(Record, frozen=True):
    """``spec.nodeAffinity``: the nodes that can reach the volume."""

    required: NodeSelector | None = None


class CsiVolume(Record, frozen=True):
    """``spec.csi``: the driver, and its name for the volume."""

    driver: str = ""
    volume_handle: str = ""


class PersistentVolumeSpec(Record, frozen=True):
    """``spec`` of a volume: of its sources those that the scheduler counts, or translates to CSI."""

    capacity: dict[str, Quantity] = field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    claim_ref: ClaimReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CsiVolume | None = None
    aws_elastic_block_store: volumes.AwsElasticBlockStore | None = None
    azure_disk: volumes.AzureDisk | None = None
    azure_file: volumes.VolumeSource | None = None
    cinder: volumes.Cinder | None = None
    gce_persistent_disk: volumes.GcePersistentDisk | None = None
    portworx_volume: volumes.PortworxVolume | None = None
    vsphere_volume: volumes.VolumeSource | None = None


class PersistentVolumeStatus(Record, frozen=True):
    phase: str = ""


class PersistentVolume(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()

    @property
    def class_name(self) -> str:
        """The storage class; empty where the volume has none."""
        return self.metadata.annotations.get(CLASS_ANNOTATION, self.spec.storage_class_name)


# --- classes, drivers, nodes ----------------------------------------------------------------------------------------


class TopologyRequirement(Record, frozen=True):
    """``matchLabelExpressions[]``: the node's label has one of the values."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologyTerm(Record, frozen=True):
    """``allowedTopologies[]``: all requirements hold; a term without any matches nothing."""

    match_label_expressions: tuple[TopologyRequirement, ...] = ()


class StorageClass(Record, frozen=True):
    """A class of volumes. A ``volume_binding_mode`` of None only occurs in objects that no API server has stored."""

    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologyTerm, ...] = ()


class CsiDriverSpec(Record, frozen=True):
    """``spec`` of a driver: whether it publishes its capacity, and whether nodes without it are left out."""

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CsiDriver(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: CsiDriverSpec = CsiDriverSpec()


class VolumeNodeResources(Record, frozen=True):
    """``allocatable`` of a driver on a node: how many of its volumes fit; None: any number."""

    count: int | None = None


class CsiNodeDriver(Record, frozen=True):
    """``spec.drivers[]``."""

    name: str = ""
    allocatable: VolumeNodeResources | None = None


class CsiNodeSpec(Record, frozen=True):
    """``spec`` of what is known of CSI on a node."""

    drivers: tuple[CsiNodeDriver, ...] = ()


class CsiNode(Record, frozen=True):
    """``CSINode``: has its node's name."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CsiNodeSpec = CsiNodeSpec()


class CsiStorageCapacity(Record, frozen=True):
    """``CSIStorageCapacity``: what a driver can still provide of a class in one topology.

    Without ``node_topology`` it can be reached from nowhere.
    """

    metadata: ObjectMeta = ObjectMeta()
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


# --- attachments ----------------------------------------------------------------------------------------------------


class AttachmentSource(Record, frozen=True):
    """``spec.source``."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Record, frozen=True):
    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class VolumeAttachment(Record, frozen=True):
    """A volume that is, or is to be, attached to a node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
