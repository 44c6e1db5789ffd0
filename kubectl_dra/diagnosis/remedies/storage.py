"""Remedies for volumes that are to be made somewhere else than the devices are.

Upstream: plugins/volumebinding binder.go (findVolumes: selected-node; checkVolumeProvisions: allowedTopologies). Of a
StorageClass everything that decides is immutable but ``allowedTopologies`` (pkg/apis/storage/validation,
ValidateStorageClassUpdate).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ObjectRef, VolumeTrouble
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.actions import ClearSelectedNode, MoveVolume, WidenTopology
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, first_of
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.records import (
    RemedyKind,
)
from kubectl_dra.model.ids import Key
from kubectl_dra.model.storage import (
    CLASS_ANNOTATION,
    PersistentVolumeClaim,
    StorageClass,
    TopologyTerm,
)
from kubectl_dra.scheduler.binder import SELECTED_NODE
from kubectl_dra.scheduler.storage import VolumeReason

_CLEAR_COST: Final = 26
_WIDEN_COST: Final = 48
#: Nobody copies data who can do anything else to it.
_MOVE_COST: Final = 70
_CLASS_COST: Final = 46
_CLASSES: Final = 5
#: Upstream: pkg/volume/util/storageclass.go, IsDefaultStorageClassAnnotation.
_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_ELSEWHERE: Final = (VolumeReason.VOLUME_UNREACHABLE, VolumeReason.VOLUME_ZONE)


def candidates(case: Case) -> Iterator[Candidate]:
    for cause in case.causes(Code.VOLUME_ELSEWHERE):
        trouble = cause.detail
        if not isinstance(trouble, VolumeTrouble) or trouble.claim is None:
            continue
        if trouble.reason == VolumeReason.OTHER_NODE_SELECTED:
            if trouble.users:
                continue  # it is being made for these
            action = ClearSelectedNode(trouble.claim, trouble.about, trouble.gone)
            yield Candidate(RemedyKind.CLEAR_SELECTED_NODE, (action,), _CLEAR_COST, (_unselected(trouble.claim.key),))
        elif trouble.reason == VolumeReason.TOPOLOGY_NOT_ALLOWED:
            yield from _wider(case, cause, trouble.about)
    yield from _of_other_classes(case)
    yield from _moved(case)


def _of_other_classes(case: Case) -> Iterator[Candidate]:
    """Claims without a volume made anew in another class: their class is immutable, and there is no data yet."""
    claims = {
        cause.detail.claim.key: cause.detail.claim
        for cause in case.causes(Code.VOLUME_ELSEWHERE, Code.NO_VOLUME)
        if isinstance(cause.detail, VolumeTrouble) and cause.detail.claim is not None
    }
    for key, ref in claims.items():
        claim = case.world.inventory.storage.claims.get(key)
        owner = claim.metadata.controller if claim is not None else None
        # That of an ephemeral volume is made by its pod's spec.
        if claim is not None and not claim.spec.volume_name and (owner is None or owner.kind != "Pod"):
            yield from first_of(list(_in_another_class(case, claim, ref, "", _CLASS_COST)))


def _in_another_class(
    case: Case, claim: PersistentVolumeClaim, ref: ObjectRef, volume: str, cost: int
) -> Iterator[Candidate]:
    """The default class first; what a class makes volumes of, nobody can tell but its provisioner."""
    classes, former = case.world.inventory.storage.classes, claim.class_name
    others = sorted(
        (name for name in classes if name != former), key=lambda name: (not _is_default(classes[name]), name)
    )
    # An annotation of old has the last word, and stays.
    for name in others[:_CLASSES] if former and CLASS_ANNOTATION not in claim.metadata.annotations else ():
        action = MoveVolume(ref, volume, name, former, classes[name].provisioner)
        yield Candidate(RemedyKind.MOVE_VOLUME, (action,), cost, (_unbound(action),))


def _is_default(found: StorageClass) -> bool:
    return found.metadata.annotations.get(_DEFAULT_CLASS) == "true"


def _moved(case: Case) -> Iterator[Candidate]:
    """New volumes for claims whose volumes are elsewhere: one of them, and all together."""
    stored = case.world.inventory.storage
    found: dict[Key, MoveVolume] = {}
    for cause in case.causes(Code.VOLUME_ELSEWHERE):
        trouble = cause.detail
        if not isinstance(trouble, VolumeTrouble) or trouble.claim is None or trouble.reason not in _ELSEWHERE:
            continue
        claim = stored.claims.get(trouble.claim.key)
        if claim is not None and claim.class_name and not _runs_with(case, trouble.claim.key):
            found[trouble.claim.key] = MoveVolume(trouble.claim, trouble.volume, claim.class_name)
    for action in found.values():
        same = Candidate(RemedyKind.MOVE_VOLUME, (action,), _MOVE_COST, (_unbound(action),))
        claim = stored.claims[action.claim.key]
        others = _in_another_class(case, claim, action.claim, action.volume, _MOVE_COST)
        yield from first_of([same, *others])
    if len(found) > 1:
        moves = tuple(map(_unbound, found.values()))
        yield Candidate(RemedyKind.MOVE_VOLUME, tuple(found.values()), _MOVE_COST, moves)


def _runs_with(case: Case, claim: Key) -> bool:
    """Whether another pod uses the volume where it is."""
    others = (pod for pod in case.world.inventory.pods.values() if pod.spec.node_name)
    return any(
        pod.metadata.namespace == claim.namespace
        and any(
            volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name == claim.name
            for volume in pod.spec.volumes
        )
        for pod in others
    )


def _unbound(action: MoveVolume) -> Change:
    edit = changes.having(volume_name="", storage_class_name=action.storage_class)
    return changes.VolumeClaimRenewal(action.claim.key, edit, action.volume)


def _unselected(key: Key) -> Change:
    """The claim as it is before the scheduler has chosen a node for its volume."""

    def before(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        kept = {name: text for name, text in claim.metadata.annotations.items() if name != SELECTED_NODE}
        return msgspec.structs.replace(claim, metadata=msgspec.structs.replace(claim.metadata, annotations=kept))

    return changes.edit_object("storage.claims", key, before)


def _wider(case: Case, cause: Cause, name: str) -> Iterator[Candidate]:
    """The class with the values that a node has in the place of its first term, of each kind of node once."""
    inventory = case.world.inventory
    found = inventory.storage.classes.get(name)
    terms = found.allowed_topologies if found is not None else ()
    tried: set[tuple[WidenTopology, ...]] = set()
    for node in cause.nodes:
        if node not in inventory.nodes or not terms or not terms[0].match_label_expressions:
            continue
        actions = _widened(name, terms[0], inventory.nodes[node].metadata.labels)
        if actions and actions not in tried:
            tried.add(actions)
            yield Candidate(RemedyKind.WIDEN_TOPOLOGY, actions, _WIDEN_COST, tuple(map(_with_value, actions)))


def _widened(name: str, term: TopologyTerm, labels: Mapping[str, str]) -> tuple[WidenTopology, ...]:
    """The values that the term lacks for a node; none if the node has no such label."""
    missing = []
    for index, each in enumerate(term.match_label_expressions):
        value = labels.get(each.key)
        if value is None:
            return ()
        if value not in each.values:
            missing.append(WidenTopology(name, f"allowedTopologies[0].matchLabelExpressions[{index}]", each.key, value))
    return tuple(missing)


def _with_value(action: WidenTopology) -> Change:
    """The class with one more value in its first term."""

    def widened(found: StorageClass) -> StorageClass:
        first, *others = found.allowed_topologies
        expressions = tuple(
            msgspec.structs.replace(each, values=(*each.values, action.value)) if each.key == action.key else each
            for each in first.match_label_expressions
        )
        first = msgspec.structs.replace(first, match_label_expressions=expressions)
        return msgspec.structs.replace(found, allowed_topologies=(first, *others))

    return changes.edit_object("storage.classes", action.storage_class, widened)
