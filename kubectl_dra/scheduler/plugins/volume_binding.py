"""VolumeBinding: every claim of the pod is bound to a volume that the node reaches, or can be bound there.

Upstream: plugins/volumebinding (volume_binding.go, scorer.go); the search on a node is in ``scheduler/binder.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

import msgspec

from kubectl_dra.model.gotext import quote
from kubectl_dra.model.ids import Key
from kubectl_dra.model.storage import PersistentVolumeClaim
from kubectl_dra.scheduler.binder import BindableVolumes, Binder, PodVolumeClaim
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.matching import capacity_of, request_of
from kubectl_dra.scheduler.plugins.volume_zone import WAIT_FOR_CONSUMER
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, Status, error, unresolvable
from kubectl_dra.scheduler.storage import Stored, VolumeOwner, VolumeProblem, VolumeReason, VolumeVerdict, claim_missing

UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
_LOST: Final = "Lost"
_MOST: Final = 100


class _State(msgspec.Struct, frozen=True):
    binder: Binder


class VolumeBinding(Plugin):
    """The plugin. Its score prefers nodes on which volumes fit loosely; since 1.37 in the default profile."""

    name: ClassVar[str] = "VolumeBinding"
    weight: ClassVar[int] = 1

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Claims that can't be waited for end the attempt."""
        stored = Stored(cycle.snapshot)
        try:
            claims = tuple(_claims(cycle, stored))
            if not claims:
                return PreFilterResult(SKIP)
            binder = _binder(stored, claims)
        except VolumeVerdict as verdict:
            return PreFilterResult(verdict.status)
        cycle.write(_State(binder))
        return PASS

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """Everything that keeps the volumes from the node."""
        try:
            return cycle.read(_State).binder.find(node).status
        except VolumeVerdict as verdict:
            return verdict.status

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """The share of storage that stays free, per class and on average."""
        if not cycle.features.storage_capacity_scoring:
            return SKIP
        state = cycle.states.get(_State)
        if not isinstance(state, _State):
            return [0] * len(nodes)
        return [_score(state.binder.find(node)) for node in nodes]


def chosen_volumes(cycle: Cycle, node: NodeInfo) -> BindableVolumes:
    """What would be bound and made for the pod on a node that fits."""
    state = cycle.states.get(_State)
    return state.binder.find(node) if isinstance(state, _State) else BindableVolumes()


def _claims(cycle: Cycle, stored: Stored) -> Iterator[PodVolumeClaim]:
    """The pod's claims, in the order of its volumes. Raises :class:`VolumeVerdict` at the first that can't be used."""
    meta = cycle.pod.metadata
    owner = VolumeOwner(Key(meta.namespace, meta.name), meta.uid)
    for volume in cycle.pod.spec.volumes:
        key = owner.claim_of(volume)
        if key is None:
            continue
        claim = stored.claim(key)
        ephemeral = volume.persistent_volume_claim is None
        if claim is None:
            raise VolumeVerdict(_not_created(key, volume.name) if ephemeral else claim_missing(key, volume.name))
        wanted = PodVolumeClaim(volume.name, claim)
        _check(wanted)
        if ephemeral and not owner.owns(claim):
            problem = wanted.problem(VolumeReason.CLAIM_NOT_OWNED)
            raise VolumeVerdict(unresolvable(owner.not_owned(key), detail=(problem,)))
        yield wanted


def _not_created(key: Key, entry: str) -> Status:
    text = f"waiting for ephemeral volume controller to create the persistentvolumeclaim {quote(key.name)}"
    return unresolvable(text, detail=(VolumeProblem(VolumeReason.CLAIM_NOT_CREATED, entry, key),))


def _check(wanted: PodVolumeClaim) -> None:
    claim, name = wanted.claim, quote(wanted.claim.metadata.name)
    if claim.status.phase == _LOST:
        volume = claim.spec.volume_name
        text = f"persistentvolumeclaim {name} bound to non-existent persistentvolume {quote(volume)}"
        raise VolumeVerdict(unresolvable(text, detail=(wanted.problem(VolumeReason.CLAIM_LOST, volume),)))
    if claim.metadata.deletion_timestamp is not None:
        text = f"persistentvolumeclaim {name} is being deleted"
        raise VolumeVerdict(unresolvable(text, detail=(wanted.problem(VolumeReason.CLAIM_DELETED),)))


def _binder(stored: Stored, claims: Sequence[PodVolumeClaim]) -> Binder:
    bound: list[PodVolumeClaim] = []
    waiting: list[PodVolumeClaim] = []
    unbound: list[VolumeProblem] = []
    for wanted in claims:
        spec = wanted.claim.spec
        if spec.volume_name and BIND_COMPLETED in wanted.claim.metadata.annotations:
            bound.append(wanted)
        elif _waits_for_consumer(wanted.claim, stored) and not spec.volume_name:
            waiting.append(wanted)
        else:
            unbound.append(_unbound(wanted, stored))
    if unbound:
        raise VolumeVerdict(unresolvable(UNBOUND, detail=tuple(unbound)))
    return Binder(stored, tuple(bound), tuple(waiting))


def _waits_for_consumer(claim: PersistentVolumeClaim, stored: Stored) -> bool:
    name = claim.class_name
    found = stored.storage_class(name) if name else None
    if found is None:
        return False
    if found.volume_binding_mode is None:
        raise VolumeVerdict(error(f"VolumeBindingMode not set for StorageClass {quote(name)}"))
    return found.volume_binding_mode == WAIT_FOR_CONSUMER


def _unbound(wanted: PodVolumeClaim, stored: Stored) -> VolumeProblem:
    name = wanted.claim.class_name
    if name and stored.storage_class(name) is None:
        return wanted.problem(VolumeReason.CLASS_MISSING, about=name)
    return wanted.problem(VolumeReason.CLAIM_UNBOUND, wanted.claim.spec.volume_name, name)


def _score(found: BindableVolumes) -> int:
    """Volumes that exist count if there are any, else those to be made; all claims of a class share its capacity."""
    asked: dict[str, int] = {}
    offered: dict[str, int] = {}
    for wanted, volume in found.bindings:
        name = wanted.claim.class_name
        asked[name] = asked.get(name, 0) + request_of(wanted.claim).ceil()
        offered[name] = offered.get(name, 0) + capacity_of(volume).ceil()
    if not found.bindings:
        for provision in found.provisions:
            if provision.capacity is not None:
                name = provision.wanted.claim.class_name
                capacity = provision.capacity.capacity
                offered[name] = capacity.ceil() if capacity is not None else 0
                asked[name] = asked.get(name, 0) + request_of(provision.wanted.claim).ceil()
    if not asked:
        return 0
    total = sum(_MOST - _utilisation(asked[name], offered[name]) for name in asked)
    # Go's math.Round: half away from zero.
    return (2 * total + len(asked)) // (2 * len(asked))


def _utilisation(asked: int, offered: int) -> int:
    return _MOST if offered == 0 or asked > offered else asked * _MOST // offered
