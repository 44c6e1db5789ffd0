"""VolumeRestrictions: disks that only one pod may mount, and claims that only one pod may use.

Upstream: plugins/volumerestrictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.ids import Key
from kubectl_dra.model.podinfo import PodInfo, PodShape
from kubectl_dra.model.volumes import Volume
from kubectl_dra.scheduler import kinds, storage
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PodsMatter, PreFilterResult
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, unknown, unschedulable

DISK_CONFLICT: Final = "node(s) had no available disk"
CLAIM_IN_USE: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_ONE_POD: Final = "ReadWriteOncePod"


class _State(msgspec.Struct):
    """``claims``: names of the pod's claims for one pod only. ``users``: how often pods on nodes use them.

    The second is what upstream's dry runs make of it: pods of any namespace count there, once per volume.
    """

    disks: tuple[Volume, ...]
    claims: frozenset[str]
    users: int
    problems: tuple[storage.VolumeProblem, ...]

    def clone(self) -> _State:
        return replace(self)

    def count(self, pod: PodInfo) -> int:
        """How many volumes of a pod have one of the names."""
        return sum(name in self.claims for name in storage.used_claims(pod.shape.volumes))


class VolumeRestrictions(Plugin):
    name: ClassVar[str] = "VolumeRestrictions"
    pods: ClassVar[PodsMatter] = PodsMatter.FEWER_IS_BETTER

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """The first plugin that notices a claim that does not exist."""
        pod = cycle.pod
        disks = tuple(volume for volume in pod.spec.volumes if _is_exclusive(volume))
        stored = storage.Stored(cycle.snapshot)
        namespace = pod.metadata.namespace
        exclusive: dict[str, str] = {}
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is None:
                continue
            key = Key(namespace, volume.persistent_volume_claim.claim_name)
            try:
                claim = stored.claim(key)
            except storage.VolumeVerdict as verdict:
                return PreFilterResult(verdict.status)
            if claim is None:
                return PreFilterResult(storage.claim_missing(key, volume.name))
            if _ONE_POD in claim.spec.access_modes:
                exclusive.setdefault(key.name, volume.name)
        if exclusive and not cycle.snapshot.complete("Pod"):
            return PreFilterResult(unknown("Pod"))
        problems = tuple(_in_use(cycle.snapshot, namespace, exclusive))
        if not disks and not problems:
            return PreFilterResult(SKIP)
        cycle.write(_State(disks, frozenset(exclusive), len(problems), problems))
        return PASS

    def reads(self, cycle: Cycle) -> kinds.Reading | None:
        """Disks of pods on the node; claims count anywhere."""
        return None if cycle.read(_State).disks else kinds.NOTHING

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """Disks of pods on the node first, then claims anywhere."""
        state = cycle.read(_State)
        if state.disks:
            problems = tuple(_conflicts(state.disks, node.pods))
            if problems:
                return unschedulable(DISK_CONFLICT, detail=problems)
        if state.users > 0:
            return unschedulable(CLAIM_IN_USE, detail=state.problems)
        return SUCCESS

    def minds(self, cycle: Cycle, shape: PodShape) -> bool:
        return bool(shape.volumes)

    def add_pod(self, cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
        """Names count in any namespace."""
        state = cycle.read(_State)
        state.users += state.count(pod)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
        state = cycle.read(_State)
        state.users -= state.count(pod)


def _is_exclusive(volume: Volume) -> bool:
    sources = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.rbd, volume.iscsi)
    return any(source is not None for source in sources)


def _in_use(snapshot: Snapshot, namespace: str, exclusive: dict[str, str]) -> Iterator[storage.VolumeProblem]:
    if not exclusive:
        return
    users: dict[str, list[Key]] = {}
    for placed in snapshot.nodes.values():
        for pod in placed.pods:
            if pod.shape.volumes and pod.key.namespace == namespace:
                for name in exclusive.keys() & set(storage.used_claims(pod.shape.volumes)):
                    users.setdefault(name, []).append(pod.key)
    for name, entry in exclusive.items():
        if name in users:
            key = Key(namespace, name)
            yield storage.VolumeProblem(
                storage.VolumeReason.CLAIM_IN_USE, entry, key, users=tuple(sorted(set(users[name])))
            )


def _conflicts(disks: Iterable[Volume], pods: Iterable[PodInfo]) -> Iterator[storage.VolumeProblem]:
    for disk in disks:
        users = tuple(pod.key for pod in pods if any(_clash(disk, other) for other in pod.shape.volumes))
        if users:
            yield storage.VolumeProblem(storage.VolumeReason.DISK_IN_USE, disk.name, about=_disk(disk), users=users)


def _clash(mine: Volume, other: Volume) -> bool:
    """Whether two volumes are the same disk and not both only read; EBS volumes clash even then."""
    gce, gce2 = mine.gce_persistent_disk, other.gce_persistent_disk
    if gce is not None and gce2 is not None and gce.pd_name == gce2.pd_name:
        return not (gce.read_only and gce2.read_only)
    aws, aws2 = mine.aws_elastic_block_store, other.aws_elastic_block_store
    if aws is not None and aws2 is not None and aws.volume_id == aws2.volume_id:
        return True
    iscsi, iscsi2 = mine.iscsi, other.iscsi
    if iscsi is not None and iscsi2 is not None and iscsi.iqn == iscsi2.iqn:
        return not (iscsi.read_only and iscsi2.read_only)
    rbd, rbd2 = mine.rbd, other.rbd
    if rbd is None or rbd2 is None or (rbd.pool, rbd.image) != (rbd2.pool, rbd2.image):
        return False
    return not set(rbd.monitors).isdisjoint(rbd2.monitors) and not (rbd.read_only and rbd2.read_only)


def _disk(volume: Volume) -> str:
    """The name of the disk, as the pod writes it."""
    if volume.gce_persistent_disk is not None:
        return volume.gce_persistent_disk.pd_name
    if volume.aws_elastic_block_store is not None:
        return volume.aws_elastic_block_store.volume_id
    if volume.iscsi is not None:
        return volume.iscsi.iqn
    return f"{volume.rbd.pool}/{volume.rbd.image}" if volume.rbd is not None else ""
