"""Volumes for the claims of one pod on one node: bound ones, existing ones to bind, and ones to provision.

Upstream: plugins/volumebinding binder.go, and FindMatchingVolume of component-helpers/storage/volume. Nodes that have
the same values of all labels that volumes ask for, and give CSI drivers the same, get the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Final

import msgspec

from kubectl_dra.model.gotext import quote
from kubectl_dra.model.ids import Key
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.storage import CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_dra.model.terms import requirements_of, selects
from kubectl_dra.scheduler import in_tree
from kubectl_dra.scheduler.matching import Matching, Reach, keys_of, request_of
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SUCCESS, Status, error, unresolvable
from kubectl_dra.scheduler.storage import CAPACITY, VOLUME, Stored, VolumeProblem, VolumeReason, VolumeVerdict

NODE_CONFLICT: Final = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT: Final = "node(s) didn't find available persistent volumes to bind"
NO_SPACE: Final = "node(s) did not have enough free storage"
VOLUME_GONE: Final = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
_MIGRATED: Final = "storage.alpha.kubernetes.io/migrated-plugins"


class PodVolumeClaim(msgspec.Struct, frozen=True):
    """One claim of the pod, and the name of its volume in the pod."""

    entry: str
    claim: PersistentVolumeClaim

    @property
    def key(self) -> Key:
        return Key(self.claim.metadata.namespace, self.claim.metadata.name)

    def problem(self, reason: VolumeReason, volume: str = "", about: str = "", **more: object) -> VolumeProblem:
        return VolumeProblem(reason, self.entry, self.key, volume, about, **more)  # type: ignore[arg-type]


class Provision(msgspec.Struct, frozen=True):
    """A claim for which a volume would be made, and the capacity object that has room for it, if one is asked."""

    wanted: PodVolumeClaim
    capacity: CsiStorageCapacity | None


class BindableVolumes(msgspec.Struct, frozen=True):
    """What a node offers: ``status`` if volumes cannot be bound there, else what would be bound and made."""

    status: Status = SUCCESS
    bindings: tuple[tuple[PodVolumeClaim, PersistentVolume], ...] = ()
    provisions: tuple[Provision, ...] = ()


@dataclass
class Binder:
    """Finds volumes for claims that are bound, and for those that wait for a node, each in the pod's order."""

    stored: Stored
    bound: tuple[PodVolumeClaim, ...]
    waiting: tuple[PodVolumeClaim, ...]
    _found: dict[object, BindableVolumes] = field(default_factory=dict, init=False)
    _affinities: dict[tuple[str, bool], Reach] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._classes = {wanted.claim.class_name: self._class(wanted) for wanted in self.waiting}
        self._matching = {wanted.key: self._candidates(wanted) for wanted in self.waiting}
        self._selected = frozenset(wanted.claim.metadata.annotations.get(SELECTED_NODE, "") for wanted in self.waiting)
        # A stable sort: of claims of one size the first in the pod comes first.
        unselected = (wanted for wanted in self.waiting if SELECTED_NODE not in wanted.claim.metadata.annotations)
        self._by_size: tuple[PodVolumeClaim, ...] = tuple(sorted(unselected, key=_BY_SIZE))
        self._translatable = any(
            (volume := self.stored.objects.volumes.get(wanted.claim.spec.volume_name)) is not None
            and in_tree.plugin_of(volume.spec) is not None
            for wanted in self.bound
        )
        self._labels = tuple(sorted(self._keys()))

    def find(self, node: NodeInfo) -> BindableVolumes:
        """What one node offers. Raises :class:`VolumeVerdict` for errors, and for what was not read."""
        labels, name = node.labels, node.name
        migrated = self._migrated(name)
        selected = name if name in self._selected else ""
        key = (tuple(labels.get(each) for each in self._labels), migrated, selected)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._find(labels, name, migrated)
        return found

    # --- what matters of nodes ---

    def _class(self, wanted: PodVolumeClaim) -> StorageClass | None:
        name = wanted.claim.class_name
        return self.stored.storage_class(name) if name else None

    def _candidates(self, wanted: PodVolumeClaim) -> Matching:
        self.stored.require(VOLUME)
        return Matching(wanted.claim, self.stored.objects.volumes_by_class.get(wanted.claim.class_name, ()))

    def _keys(self) -> Iterator[str]:
        """The labels of nodes that decide."""
        for wanted in self.bound:
            volume = self.stored.volume(wanted.claim.spec.volume_name)
            if volume is not None:
                yield from keys_of(volume)
                plugin = in_tree.plugin_of(volume.spec)
                if plugin is not None and plugin.zone_key:
                    yield from (plugin.zone_key, in_tree.REGION)
        for wanted in self.waiting:
            yield from self._matching[wanted.key].keys
            found = self._classes[wanted.claim.class_name]
            if found is not None:
                yield from (each.key for term in found.allowed_topologies for each in term.match_label_expressions)
            for capacity in self._capacities(wanted.claim.class_name):
                yield from (each.key for each in requirements_of(capacity.node_topology) or ())

    def _capacities(self, name: str) -> tuple[CsiStorageCapacity, ...]:
        return self.stored.objects.capacities_by_class.get(name, ())

    def _migrated(self, node: str) -> frozenset[str]:
        """The plugins whose volumes this node leaves to CSI drivers."""
        if not self._translatable:
            return frozenset()
        csi_node = self.stored.csi_node(node)
        text = csi_node.metadata.annotations.get(_MIGRATED, "") if csi_node is not None else ""
        return frozenset(text.split(",")) if text else frozenset()

    # --- one node ---

    def _find(self, labels: Mapping[str, str], name: str, migrated: frozenset[str]) -> BindableVolumes:
        """Upstream lists the reasons in this order, whichever was found first."""
        conflict, gone = self._check_bound(labels, migrated)
        bindings, provisions, unbound = self._check_waiting(labels, name)
        problems = [
            (NODE_CONFLICT, conflict),
            (BIND_CONFLICT, unbound if unbound is not None and unbound.reason is not VolumeReason.NO_SPACE else None),
            (NO_SPACE, unbound if unbound is not None and unbound.reason is VolumeReason.NO_SPACE else None),
            (VOLUME_GONE, gone),
        ]
        reasons = [(text, problem) for text, problem in problems if problem is not None]
        if reasons:
            texts, details = zip(*reasons, strict=True)
            return BindableVolumes(unresolvable(*texts, detail=details))
        return BindableVolumes(bindings=bindings, provisions=provisions)

    def _check_bound(
        self, labels: Mapping[str, str], migrated: frozenset[str]
    ) -> tuple[VolumeProblem | None, VolumeProblem | None]:
        """The first bound claim whose volume can't be reached, or whose volume is gone."""
        for wanted in self.bound:
            name = wanted.claim.spec.volume_name
            volume = self.stored.volume(name)
            if volume is None:
                return None, wanted.problem(VolumeReason.VOLUME_MISSING, name)
            reach = self._reach(volume, migrated)
            if not reach.includes(labels):
                return wanted.problem(VolumeReason.VOLUME_UNREACHABLE, name, wanted=reach.texts()), None
        return None, None

    def _reach(self, volume: PersistentVolume, migrated: frozenset[str]) -> Reach:
        plugin = in_tree.plugin_of(volume.spec)
        translated = plugin is not None and plugin.migrated and plugin.name in migrated
        key = volume.metadata.name, translated
        if key not in self._affinities:
            try:
                self._affinities[key] = (
                    Reach(in_tree.translated_affinity(volume, plugin))
                    if plugin is not None and translated
                    else Reach.of(volume)
                )
            except in_tree.TranslationError as failed:
                raise VolumeVerdict(error(f"could not translate pv: {failed}")) from failed
        return self._affinities[key]

    def _check_waiting(
        self, labels: Mapping[str, str], name: str
    ) -> tuple[tuple[tuple[PodVolumeClaim, PersistentVolume], ...], tuple[Provision, ...], VolumeProblem | None]:
        to_provision: list[PodVolumeClaim] = []
        for wanted in self.waiting:
            selected = wanted.claim.metadata.annotations.get(SELECTED_NODE)
            if selected is not None and selected != name:
                return (), (), wanted.problem(VolumeReason.OTHER_NODE_SELECTED, about=selected)
            if selected is not None:
                to_provision.append(wanted)
        taken: dict[str, PersistentVolume] = {}
        bindings: list[tuple[PodVolumeClaim, PersistentVolume]] = []
        for wanted in self._by_size:
            volume = self._matching[wanted.key].on(labels, taken)
            if volume is None:
                to_provision.append(wanted)
            else:
                taken[volume.metadata.name] = volume
                bindings.append((wanted, volume))
        provisions: list[Provision] = []
        for wanted in to_provision:
            found = self._provision(wanted, labels)
            if isinstance(found, VolumeProblem):
                return (), (), found
            provisions.append(found)
        return tuple(bindings), tuple(provisions), None

    def _provision(self, wanted: PodVolumeClaim, labels: Mapping[str, str]) -> Provision | VolumeProblem:
        name = wanted.claim.class_name
        if not name:
            raise VolumeVerdict(error(f"no class for claim {quote(str(wanted.key))}"))
        found = self._classes[name]
        if found is None:
            raise VolumeVerdict(error(f"failed to find storage class {quote(name)}"))
        if found.provisioner in ("", _NO_PROVISIONER):
            return wanted.problem(VolumeReason.NOTHING_TO_BIND, about=name)
        if not _allows(found, labels):
            texts = tuple(_topology_texts(found))
            return wanted.problem(VolumeReason.TOPOLOGY_NOT_ALLOWED, about=name, wanted=texts)
        return self._with_space(wanted, found, labels)

    def _with_space(
        self, wanted: PodVolumeClaim, found: StorageClass, labels: Mapping[str, str]
    ) -> Provision | VolumeProblem:
        request = wanted.claim.spec.resources.requests.get("storage")
        if request is None:
            return Provision(wanted, None)
        driver = self.stored.csi_driver(found.provisioner)
        if driver is None or not driver.spec.storage_capacity:
            return Provision(wanted, None)
        self.stored.require(CAPACITY)
        size = request.ceil()
        reachable = [each for each in self._capacities(found.metadata.name) if _reachable(each, labels)]
        fits = next((each for each in reachable if (limit := _limit(each)) is not None and limit.ceil() >= size), None)
        if fits is not None:
            return Provision(wanted, fits)
        most = max((limit.ceil() for each in reachable if (limit := _limit(each)) is not None), default=0)
        return wanted.problem(VolumeReason.NO_SPACE, about=found.metadata.name, asked=size, limit=most)


def _allows(found: StorageClass, labels: Mapping[str, str]) -> bool:
    """No terms allow every node, a term without requirements none."""
    terms = found.allowed_topologies
    return not terms or any(
        term.match_label_expressions
        and all(labels.get(each.key) in each.values for each in term.match_label_expressions)
        for term in terms
    )


def _topology_texts(found: StorageClass) -> Iterable[str]:
    for term in found.allowed_topologies:
        yield " and ".join(f"{each.key} in ({', '.join(each.values)})" for each in term.match_label_expressions)


def _reachable(capacity: CsiStorageCapacity, labels: Mapping[str, str]) -> bool:
    return selects(requirements_of(capacity.node_topology), labels)


def _limit(capacity: CsiStorageCapacity) -> Quantity | None:
    """The largest volume that can be made; the driver's own word for it wins."""
    return capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity


def _compare(a: PodVolumeClaim, b: PodVolumeClaim) -> int:
    return request_of(a.claim).cmp(request_of(b.claim))


_BY_SIZE: Final = cmp_to_key(_compare)
