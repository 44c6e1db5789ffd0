"""NodeVolumeLimits: how many volumes of a CSI driver fit on a node, and whether the driver is there at all.

Upstream: plugins/nodevolumelimits (csi.go).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from kubectl_dra.model.gotext import quote
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import StorageObjects
from kubectl_dra.model.podinfo import PodInfo, PodShape
from kubectl_dra.model.storage import CsiNode, PersistentVolume, PersistentVolumeClaim
from kubectl_dra.model.volumes import Volume
from kubectl_dra.scheduler import in_tree, kinds
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PodsMatter, PreFilterResult
from kubectl_dra.scheduler.in_tree import TranslationError
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, error, unknown, unresolvable, unschedulable
from kubectl_dra.scheduler.storage import ATTACHMENT, Stored, VolumeOwner, VolumeProblem, VolumeReason, VolumeVerdict

TOO_MANY: Final = "node(s) exceed max volume count"
# Upstream's is random, the same for all volumes that don't exist yet.
_PREFIX: Final = "new"
#: Volumes by id, with their drivers.
_Counted = dict[str, str]


class _State(msgspec.Struct, frozen=True):
    """``new``: what the pod brings, by whether the node has a CSINode, on which alone it depends."""

    owner: VolumeOwner
    stored: Stored
    new: dict[bool, _Counted | VolumeVerdict] = msgspec.field(default_factory=dict)


class NodeVolumeLimits(Plugin):
    name: ClassVar[str] = "NodeVolumeLimits"
    pods: ClassVar[PodsMatter] = PodsMatter.FEWER_IS_BETTER

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Skip unless some volume is one of a CSI driver, or could be."""
        if not any(_may_count(volume) for volume in cycle.pod.spec.volumes):
            return PreFilterResult(SKIP)
        meta = cycle.pod.metadata
        cycle.write(_State(VolumeOwner(Key(meta.namespace, meta.name), meta.uid), Stored(cycle.snapshot)))
        return PASS

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """Volumes that pods on the node use already are not new."""
        state = cycle.read(_State)
        try:
            return _check(state, cycle, node)
        except VolumeVerdict as verdict:
            return verdict.status

    def reads(self, cycle: Cycle) -> kinds.Reading:
        """The drivers there; what a node with volumes has is its own."""
        stored = cycle.read(_State).stored.objects

        def of(nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
            return [
                node.name if _has_volumes(stored, node) else _drivers(stored.csi_nodes.get(node.name)) for node in nodes
            ]

        return kinds.Reading(kinds.of_volumes, "limits", of)

    def minds(self, cycle: Cycle, shape: PodShape) -> bool:
        return bool(shape.volumes)


def _has_volumes(stored: StorageObjects, node: NodeInfo) -> bool:
    return bool(stored.attachments_by_node.get(node.name)) or any(pod.shape.volumes for pod in node.pods)


_Drivers = tuple[tuple[str, int | None], ...]


def _drivers(csi_node: CsiNode | None) -> _Drivers | None:
    """All that the plugin reads of a CSINode; None where there is none."""
    if csi_node is None:
        return None
    found = csi_node.spec.drivers
    return tuple((each.name, each.allocatable.count if each.allocatable is not None else None) for each in found)


def _check(state: _State, cycle: Cycle, node: NodeInfo) -> Status:
    stored = state.stored
    csi_node = stored.csi_node(node.name)
    counting = _Counting(stored, csi_node)
    new = _brought(state, counting, cycle, with_node=csi_node is not None)
    if not new:
        return SUCCESS
    if cycle.features.volume_limit_scaling:
        missing = next((driver for driver in new.values() if _is_missing(stored, driver, csi_node)), None)
        if missing is not None:
            problem = VolumeProblem(VolumeReason.DRIVER_NOT_INSTALLED, about=missing)
            return unschedulable(f"{missing} CSI driver is not installed on the node", detail=(problem,))
    limits = _limits(csi_node)
    if not limits:
        return SUCCESS
    if not cycle.snapshot.complete("Pod"):
        return unknown("Pod")
    return _compare(limits, new, _attached(counting, node), stored, node)


def counted_volumes(snapshot: Snapshot, node: NodeInfo, pod: PodInfo) -> Mapping[str, str]:
    """The volumes of a pod on the node that count there, by id with their drivers."""
    stored = Stored(snapshot)
    try:
        return _Counting(stored, stored.csi_node(node.name)).of(
            VolumeOwner(pod.key, pod.uid), pod.shape.volumes, new=False
        )
    except VolumeVerdict:
        return {}


def _brought(state: _State, counting: _Counting, cycle: Cycle, *, with_node: bool) -> _Counted:
    """Raises :class:`VolumeVerdict`."""
    found = state.new.get(with_node)
    if found is None:
        try:
            found = counting.of(state.owner, cycle.pod.spec.volumes, new=True)
        except VolumeVerdict as verdict:
            found = verdict
        state.new[with_node] = found
    if isinstance(found, VolumeVerdict):
        raise found
    return found


def _attached(counting: _Counting, node: NodeInfo) -> _Counted:
    found: _Counted = {}
    for pod in node.pods:
        if pod.shape.volumes:
            found |= counting.of(VolumeOwner(pod.key, pod.uid), pod.shape.volumes, new=False)
    return found


def _compare(limits: dict[str, int], new: _Counted, attached: _Counted, stored: Stored, node: NodeInfo) -> Status:
    """A volume that is only attached, and used by no pod, counts as used, and again if the pod brings it."""
    used: dict[str, int] = {}
    for driver in (attached | _by_attachments(stored, node.name)).values():
        used[driver] = used.get(driver, 0) + 1
    asked: dict[str, int] = {}
    for volume, driver in new.items():
        if volume not in attached:
            asked[driver] = asked.get(driver, 0) + 1
    for driver, count in asked.items():
        limit = limits.get(driver)
        if limit is not None and used.get(driver, 0) + count > limit:
            problem = VolumeProblem(
                VolumeReason.TOO_MANY, about=driver, used=used.get(driver, 0), asked=count, limit=limit
            )
            return unschedulable(TOO_MANY, detail=(problem,))
    return SUCCESS


def _may_count(volume: Volume) -> bool:
    claimed = volume.persistent_volume_claim is not None or volume.ephemeral is not None
    return claimed or in_tree.plugin_of(volume) is not None


def _limits(csi_node: CsiNode | None) -> dict[str, int]:
    if csi_node is None:
        return {}
    return {
        driver.name: driver.allocatable.count
        for driver in csi_node.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _is_missing(stored: Stored, driver: str, csi_node: CsiNode | None) -> bool:
    """Whether the driver forbids nodes that don't have it, and this one has not."""
    registered = stored.csi_driver(driver)
    if registered is None or not registered.spec.prevent_pod_scheduling_if_missing:
        return False
    return csi_node is None or all(found.name != driver for found in csi_node.spec.drivers)


def _by_attachments(stored: Stored, node: str) -> _Counted:
    stored.require(ATTACHMENT)
    found: _Counted = {}
    for attachment in stored.objects.attachments_by_node.get(node, ()):
        name = attachment.spec.source.persistent_volume_name
        volume = stored.volume(name) if attachment.spec.attacher and name is not None else None
        if volume is not None and volume.spec.csi is not None:
            found[f"{attachment.spec.attacher}/{volume.spec.csi.volume_handle}"] = attachment.spec.attacher
    return found


class _Counting:
    """Which volumes of pods count on one node, and under which id."""

    def __init__(self, stored: Stored, csi_node: CsiNode | None) -> None:
        self._stored = stored
        self._csi_node = csi_node

    def of(self, owner: VolumeOwner, volumes: Iterable[Volume], *, new: bool) -> _Counted:
        """Ids and drivers; of pods that are there claims that don't exist are left out."""
        return {f"{driver}/{handle}": driver for driver, handle in self._volumes(owner, volumes, new)}

    def _volumes(self, owner: VolumeOwner, volumes: Iterable[Volume], new: bool) -> Iterator[tuple[str, str]]:
        for volume in volumes:
            key = owner.claim_of(volume)
            if key is None:
                yield from self._inline(volume)
                continue
            claim = self._claim(owner, key, volume, new)
            if claim is not None:
                yield from self._claimed(claim)

    def _claim(self, owner: VolumeOwner, key: Key, volume: Volume, new: bool) -> PersistentVolumeClaim | None:
        if not key.name:
            raise VolumeVerdict(error("PersistentVolumeClaim had no name"))
        claim = self._stored.claim(key)
        if claim is None:
            if new:
                problem = VolumeProblem(VolumeReason.CLAIM_MISSING, volume.name, key)
                text = f"looking up PVC {key}: persistentvolumeclaim {quote(key.name)} not found"
                raise VolumeVerdict(unresolvable(text, detail=(problem,)))
            return None
        if volume.persistent_volume_claim is None and not owner.owns(claim):
            raise VolumeVerdict(error(owner.not_owned(key)))
        return claim

    def _inline(self, volume: Volume) -> Iterator[tuple[str, str]]:
        plugin = in_tree.plugin_of(volume)
        if plugin is None or not plugin.migrated or self._csi_node is None:
            return
        try:
            yield plugin.driver, in_tree.inline_handle(volume, plugin)
        except TranslationError as failed:
            raise VolumeVerdict(error(f"converting volume({volume.name}) from inline to csi: {failed}")) from failed

    def _claimed(self, claim: PersistentVolumeClaim) -> Iterator[tuple[str, str]]:
        volume = self._stored.volume(claim.spec.volume_name) if claim.spec.volume_name else None
        driver, handle = self._of_class(claim) if volume is None else self._of_volume(volume)
        if driver and handle:
            yield driver, handle

    def _of_volume(self, volume: PersistentVolume) -> tuple[str, str]:
        if volume.spec.csi is not None:
            return volume.spec.csi.driver, volume.spec.csi.volume_handle
        plugin = in_tree.plugin_of(volume.spec)
        if plugin is None or not plugin.migrated or self._csi_node is None:
            return "", ""
        try:
            return plugin.driver, in_tree.volume_handle(volume, plugin)
        except TranslationError:
            return "", ""

    def _of_class(self, claim: PersistentVolumeClaim) -> tuple[str, str]:
        """A volume that does not exist yet counts for the driver that is going to make it."""
        found = self._stored.storage_class(claim.class_name) if claim.class_name else None
        if found is None:
            return "", ""
        handle = f"{_PREFIX}-{claim.metadata.namespace}/{claim.metadata.name}"
        plugin = in_tree.plugin_named(found.provisioner)
        if plugin is None:
            return found.provisioner, handle
        return (plugin.driver, handle) if plugin.migrated and self._csi_node is not None else ("", "")
