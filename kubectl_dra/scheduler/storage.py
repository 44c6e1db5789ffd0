"""What the plugins of volumes look up, and what they say is in the way.

Upstream: the informers behind the plugins, component-helpers/storage/ephemeral and storage/volume. An object that is
not there, while its kind was not read completely, decides nothing: :class:`VolumesUnread`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.model.gotext import quote
from kubectl_dra.model.ids import Key
from kubectl_dra.model.storage import CsiDriver, CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_dra.model.volumes import Volume
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import Status, unknown, unresolvable

CLAIM: Final = "PersistentVolumeClaim"
VOLUME: Final = "PersistentVolume"
CLASS: Final = "StorageClass"
CSI_NODE: Final = "CSINode"
CSI_DRIVER: Final = "CSIDriver"
CAPACITY: Final = "CSIStorageCapacity"
ATTACHMENT: Final = "VolumeAttachment"


class VolumeVerdict(Exception):
    """Raised inside a plugin: what it says, wherever it found out."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


class VolumesUnread(VolumeVerdict):
    """Raised where objects of ``kind`` decide and not all of them are known."""

    def __init__(self, kind: str) -> None:
        super().__init__(unknown(kind))


class VolumeReason(StrEnum):
    """What exactly is wrong about a volume."""

    CLAIM_MISSING = "claimMissing"
    CLAIM_NOT_CREATED = "claimNotCreated"
    CLAIM_NOT_OWNED = "claimNotOwned"
    CLAIM_LOST = "claimLost"
    CLAIM_DELETED = "claimDeleted"
    CLAIM_UNBOUND = "claimUnbound"
    CLAIM_IN_USE = "claimInUse"
    CLASS_MISSING = "classMissing"
    VOLUME_MISSING = "volumeMissing"
    VOLUME_UNREACHABLE = "volumeUnreachable"
    VOLUME_ZONE = "volumeZone"
    NOTHING_TO_BIND = "nothingToBind"
    TOPOLOGY_NOT_ALLOWED = "topologyNotAllowed"
    OTHER_NODE_SELECTED = "otherNodeSelected"
    NO_SPACE = "noSpace"
    DISK_IN_USE = "diskInUse"
    TOO_MANY = "tooMany"
    DRIVER_NOT_INSTALLED = "driverNotInstalled"


class VolumeProblem(msgspec.Struct, frozen=True):
    """One volume that is in the way. ``entry``: its name in the pod; ``volume``: of the PersistentVolume.

    ``about``: the class, driver, disk or node that matters. ``wanted``: what the node would have to be, in the words of
    the API; ``users``: pods that use it. ``used``, ``asked`` and ``limit`` are numbers of volumes, or bytes of storage.
    What goes to JSON is a record of its own (``VolumeTrouble`` of ``diagnosis``), with references in place of keys.
    """

    reason: VolumeReason
    entry: str = ""
    claim: Key | None = None
    volume: str = ""
    about: str = ""
    wanted: tuple[str, ...] = ()
    users: tuple[Key, ...] = ()
    used: int = 0
    asked: int = 0
    limit: int = 0


class VolumeOwner(msgspec.Struct, frozen=True):
    key: Key
    uid: str

    def claim_of(self, volume: Volume) -> Key | None:
        """The PersistentVolumeClaim behind one of its volumes; None if there is none behind it."""
        if volume.persistent_volume_claim is not None:
            return Key(self.key.namespace, volume.persistent_volume_claim.claim_name)
        if volume.ephemeral is not None:
            return Key(self.key.namespace, f"{self.key.name}-{volume.name}")
        return None

    def owns(self, claim: PersistentVolumeClaim) -> bool:
        """Whether a claim was made for one of its ephemeral volumes."""
        owner = claim.metadata.controller
        return owner is not None and owner.uid == self.uid

    def not_owned(self, claim: Key) -> str:
        """What upstream says of a claim that it does not own."""
        return f"PVC {claim} was not created for pod {self.key} (pod is not owner)"


class Stored:
    """The objects around volumes as far as they were read. All lookups raise :class:`VolumesUnread`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.objects = snapshot.inventory.storage
        self._evidence = snapshot.evidence

    def require(self, kind: str, namespace: str = "") -> None:
        """Everything of a kind matters."""
        if not self._evidence.complete(kind, namespace):
            raise VolumesUnread(kind)

    def claim(self, key: Key) -> PersistentVolumeClaim | None:
        """A claim; None if there is none."""
        found = self.objects.claims.get(key)
        if found is None:
            self.require(CLAIM, key.namespace)
        return found

    def volume(self, name: str) -> PersistentVolume | None:
        """A volume; None if there is none."""
        found = self.objects.volumes.get(name)
        if found is None:
            self.require(VOLUME)
        return found

    def storage_class(self, name: str) -> StorageClass | None:
        """A class; None if there is none."""
        found = self.objects.classes.get(name)
        if found is None:
            self.require(CLASS)
        return found

    def csi_node(self, node: str) -> CsiNode | None:
        """What is known of CSI on a node; None if nothing is."""
        found = self.objects.csi_nodes.get(node)
        if found is None:
            self.require(CSI_NODE)
        return found

    def csi_driver(self, name: str) -> CsiDriver | None:
        """A driver; None if it is not registered."""
        found = self.objects.csi_drivers.get(name)
        if found is None:
            self.require(CSI_DRIVER)
        return found


def used_claims(volumes: tuple[Volume, ...]) -> Iterator[str]:
    """The names of the claims that volumes name, one for each volume."""
    for volume in volumes:
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name


def claim_missing(key: Key, entry: str) -> Status:
    """The text of client-go's lister."""
    problem = VolumeProblem(VolumeReason.CLAIM_MISSING, entry, key)
    return unresolvable(f"persistentvolumeclaim {quote(key.name)} not found", detail=(problem,))
