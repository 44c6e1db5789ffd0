"""VolumeZone: labels for zone and region of volumes that the pod's claims are bound to.

Upstream: plugins/volumezone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import msgspec

from kubectl_dra.model.core import Pod
from kubectl_dra.model.gotext import quote
from kubectl_dra.model.ids import Key
from kubectl_dra.model.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.in_tree import BETA_REGION, BETA_ZONE, REGION, ZONE
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, unresolvable
from kubectl_dra.scheduler.storage import Stored, VolumeProblem, VolumeReason, VolumeVerdict, claim_missing

CONFLICT: Final = "node(s) had no available volume zone"
WAIT_FOR_CONSUMER: Final = "WaitForFirstConsumer"
_LABELS: Final = (BETA_ZONE, BETA_REGION, ZONE, REGION)
_GENERAL: Final = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class _Topology(msgspec.Struct, frozen=True):
    """One label of a volume, and the values that the node's may have."""

    entry: str
    claim: Key
    volume: str
    key: str
    values: frozenset[str]

    def allows(self, labels: Mapping[str, str]) -> bool:
        """Whether a node has one of the values; the general label stands in for the old one, not the other way."""
        value = labels.get(self.key)
        if value is None:
            value = labels.get(_GENERAL.get(self.key, self.key))
        return value in self.values


class _State(msgspec.Struct, frozen=True):
    topologies: tuple[_Topology, ...]


class VolumeZone(Plugin):
    """The plugin. Claims of ephemeral volumes are not looked at."""

    name: ClassVar[str] = "VolumeZone"

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """The plugin that notices a claim bound to a volume that is gone."""
        try:
            topologies = tuple(_topologies(cycle.pod, Stored(cycle.snapshot)))
        except VolumeVerdict as verdict:
            return PreFilterResult(verdict.status)
        if not topologies:
            return PreFilterResult(SKIP)
        cycle.write(_State(topologies))
        return PASS

    def reads(self, cycle: Cycle) -> kinds.Reading:
        """The four labels."""
        return kinds.labels(_LABELS)

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """A node without any of the four labels passes."""
        labels = node.labels
        if not any(label in labels for label in _LABELS):
            return SUCCESS
        for topology in cycle.read(_State).topologies:
            if not topology.allows(labels):
                wanted = tuple(f"{topology.key}={value}" for value in sorted(topology.values))
                problem = VolumeProblem(
                    VolumeReason.VOLUME_ZONE, topology.entry, topology.claim, topology.volume, wanted=wanted
                )
                return unresolvable(CONFLICT, detail=(problem,))
        return SUCCESS


def _topologies(pod: Pod, stored: Stored) -> list[_Topology]:
    found: list[_Topology] = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is None:
            continue
        name = volume.persistent_volume_claim.claim_name
        key = Key(pod.metadata.namespace, name)
        if not name:
            raise VolumeVerdict(unresolvable("PersistentVolumeClaim had no name"))
        claim = stored.claim(key)
        if claim is None:
            raise VolumeVerdict(claim_missing(key, volume.name))
        bound = _volume_of(claim, volume.name, stored)
        if bound is not None:
            found += _of_volume(bound, volume.name, key)
    return found


def _volume_of(claim: PersistentVolumeClaim, entry: str, stored: Stored) -> PersistentVolume | None:
    """The volume that a claim names; None for one that waits for a pod."""
    name = claim.spec.volume_name
    if not name:
        _check_unbound(claim, stored)
        return None
    volume = stored.volume(name)
    if volume is None:
        key = Key(claim.metadata.namespace, claim.metadata.name)
        problem = VolumeProblem(VolumeReason.VOLUME_MISSING, entry, key, name)
        raise VolumeVerdict(unresolvable(f"persistentvolume {quote(name)} not found", detail=(problem,)))
    return volume


def _check_unbound(claim: PersistentVolumeClaim, stored: Stored) -> None:
    name = claim.class_name
    if not name:
        raise VolumeVerdict(unresolvable("PersistentVolumeClaim had no pv name and storageClass name"))
    found = stored.storage_class(name)
    if found is None:
        raise VolumeVerdict(unresolvable(f"storageclass.storage.k8s.io {quote(name)} not found"))
    if found.volume_binding_mode is None:
        raise VolumeVerdict(unresolvable(f"VolumeBindingMode not set for StorageClass {quote(name)}"))
    if found.volume_binding_mode != WAIT_FOR_CONSUMER:
        raise VolumeVerdict(unresolvable("PersistentVolume had no name"))


def _of_volume(volume: PersistentVolume, entry: str, claim: Key) -> list[_Topology]:
    found = []
    for label in _LABELS:
        text = volume.metadata.labels.get(label)
        if text is not None:
            values = frozenset(each.strip() for each in text.split("__"))
            # An empty part makes the label unreadable, and unreadable labels are left alone.
            if "" not in values:
                found.append(_Topology(entry, claim, volume.metadata.name, label, values))
    return found
