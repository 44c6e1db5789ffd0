"""Volumes that leave a node with the last pod that uses them there.

Upstream: pkg/controller/volume/attachdetach, reconciler.go: the VolumeAttachment of a volume that no pod on the node
uses any more is deleted, within seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import StorageObjects
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.model.volumes import Volume
from kubectl_dra.scheduler.storage import VolumeOwner

#: A pod that goes: its node, who it is, and its volumes.
Going = tuple[str, VolumeOwner, tuple[Volume, ...]]


def detached(storage: StorageObjects, usage: Mapping[str, NodeUsage], going: Iterable[Going]) -> StorageObjects:
    """Without what attaches the volumes of pods that go; ``usage`` is what is left on the nodes."""
    if not storage.attachments:
        return storage
    freed: dict[str, set[Key]] = {}
    for node, owner, volumes in going:
        freed.setdefault(node, set()).update(_claims(owner, volumes))
    gone: set[str] = set()
    for node, claims in freed.items():
        left = usage[node].placed if claims and node in usage else ()
        names = {
            claim.spec.volume_name
            for key in claims.difference(*map(_of_info, left))
            if (claim := storage.claims.get(key)) is not None
        }
        attached = storage.attachments_by_node.get(node, ())
        gone |= {each.metadata.name for each in attached if each.spec.source.persistent_volume_name in names}
    return replace(storage, attachments=edited(storage.attachments, without=gone)) if gone else storage


def _of_info(info: PodInfo) -> Iterable[Key]:
    return _claims(VolumeOwner(info.key, info.uid), info.shape.volumes)


def _claims(owner: VolumeOwner, volumes: Iterable[Volume]) -> list[Key]:
    return [key for volume in volumes if (key := owner.claim_of(volume)) is not None]
