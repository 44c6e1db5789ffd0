"""Remedies for volumes that are to be made somewhere else than the devices are.

Upstream: plugins/volumebinding binder.go (findVolumes: selected-node; checkVolumeProvisions: allowedTopologies). Of a
StorageClass everything that decides is immutable but ``allowedTopologies`` (pkg/apis/storage/validation,
ValidateStorageClassUpdate).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ObjectRef, VolumeTrouble
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.actions import AddVolume, ClearSelectedNode, MoveVolume, WidenTopology
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, first_of
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.records import (
    RemedyKind,
)
from kubectl_dra.diagnosis.remedies.trial import outcome
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectMeta
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.storage import (
    CLASS_ANNOTATION,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    TopologyTerm,
    VolumeNodeAffinity,
)
from kubectl_dra.scheduler.binder import SELECTED_NODE
from kubectl_dra.scheduler.matching import STORAGE, request_of
from kubectl_dra.scheduler.storage import VolumeReason

_CLEAR_COST: Final = 26
_WIDEN_COST: Final = 48
#: Nobody copies data who can do anything else to it.
_MOVE_COST: Final = 70
_CLASS_COST: Final = 46
_SIZE_COST: Final = 37
_MORE_COST: Final = 47
_MIB: Final = 1 << 20
_NODES: Final = 8
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
    for cause in case.causes(Code.NO_VOLUME):
        trouble = cause.detail
        if not isinstance(trouble, VolumeTrouble) or trouble.claim is None:
            continue
        claim = case.state.inventory.storage.claims.get(trouble.claim.key)
        if claim is None or claim.spec.volume_name or _is_of_pod(claim):
            continue
        if trouble.reason == VolumeReason.NO_SPACE:
            yield from _smaller(case, cause.nodes, claim, trouble.claim, trouble.limit)
        elif trouble.reason == VolumeReason.NOTHING_TO_BIND:
            yield from _one_more(case, cause.nodes, claim, trouble.claim)
    yield from _of_other_classes(case)
    yield from _moved(case)


def _smaller(
    case: Case, nodes: tuple[str, ...], claim: PersistentVolumeClaim, ref: ObjectRef, limit: int
) -> Iterator[Candidate]:
    """A claim without a volume made anew for as much as its class has left on the nearest of the nodes."""
    after = Quantity(limit // _MIB * _MIB, 0, "BinarySI")
    if limit < _MIB:
        return
    size, former = str(after), str(request_of(claim))
    action = MoveVolume(ref, "", claim.class_name, size=size, former_size=former, made_by=_set_of(case, claim))
    resources = msgspec.structs.replace(claim.spec.resources, requests={STORAGE: after})
    change = changes.VolumeClaimRenewal(ref.key, changes.having(volume_name="", resources=resources))
    yield Candidate(RemedyKind.MOVE_VOLUME, (action,), _SIZE_COST, (change,), only=nodes)


def _set_of(case: Case, claim: PersistentVolumeClaim) -> ObjectRef | None:
    """The StatefulSet that made a claim from one of its templates, which it names after template and pod."""
    owner, pod = case.pod.metadata.controller, case.pod.metadata
    made = owner is not None and owner.kind == "StatefulSet" and claim.metadata.name.endswith(f"-{pod.name}")
    return ObjectRef("StatefulSet", pod.namespace, owner.name) if made and owner is not None else None


def _one_more(case: Case, among: tuple[str, ...], claim: PersistentVolumeClaim, ref: ObjectRef) -> Iterator[Candidate]:
    """One more volume, on any of the first nodes where the pod lacks nothing else, or on one of them."""
    selector = claim.spec.selector
    if selector is not None and selector.match_expressions:
        return
    made = {name: _with_volume(case, claim, name) for name in among[:_NODES] if name in case.state.inventory.nodes}
    size, modes = str(request_of(claim)), claim.spec.access_modes
    nodes = tuple(name for name, change in made.items() if _fits(case, change, name)) or tuple(made)[:1]
    forms = [nodes, *((name,) for name in nodes)] if len(nodes) > 1 else [nodes] * bool(nodes)
    yield from first_of(
        [
            Candidate(
                RemedyKind.ADD_VOLUME,
                (AddVolume(ref, claim.class_name, size, modes, names, tuple(_demands(claim))),),
                _MORE_COST,
                (made[names[0]],),
                only=names,
                instead=tuple(made[name] for name in names[1:]),
            )
            for names in forms
        ]
    )


def _demands(claim: PersistentVolumeClaim) -> Iterator[str]:
    """What else a volume needs for a claim (upstream: component-helpers/storage/volume, FindMatchingVolume)."""
    spec = claim.spec
    if spec.selector is not None:
        yield from (f"label {key}={value}" for key, value in spec.selector.match_labels.items())
    if spec.volume_mode == "Block":
        yield "volumeMode Block"
    if spec.volume_attributes_class_name:
        yield f"volumeAttributesClassName {spec.volume_attributes_class_name}"


def _fits(case: Case, change: Change, node: str) -> bool:
    """Whether the pod lacks nothing else on a node."""
    state = case.state.changed(change(case.state.inventory))
    return outcome(state, case.diagnosis.pod.key, frozenset({node})).fits


def _with_volume(case: Case, claim: PersistentVolumeClaim, node: str) -> Change:
    """With a free local volume on a node that suits the claim."""
    host = case.state.inventory.nodes[node].metadata.labels.get(HOSTNAME, node)
    term = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(HOSTNAME, "In", (host,)),))
    labels = claim.spec.selector.match_labels if claim.spec.selector is not None else {}
    volume = PersistentVolume(
        ObjectMeta(name=f"added-{claim.metadata.name}", labels=labels),
        PersistentVolumeSpec(
            capacity={STORAGE: request_of(claim)},
            access_modes=claim.spec.access_modes,
            storage_class_name=claim.class_name,
            volume_mode=claim.spec.volume_mode,
            volume_attributes_class_name=claim.spec.volume_attributes_class_name,
            node_affinity=VolumeNodeAffinity(NodeSelector((term,))),
        ),
        PersistentVolumeStatus("Available"),
    )

    def change(inventory: Inventory) -> Inventory:
        storage = inventory.storage
        volumes = {**storage.volumes, volume.metadata.name: volume}
        return inventory.replace(storage=replace(storage, volumes=volumes))

    return change


def _is_of_pod(claim: PersistentVolumeClaim) -> bool:
    """Whether it is that of an ephemeral volume, which is made by its pod's spec."""
    owner = claim.metadata.controller
    return owner is not None and owner.kind == "Pod"


def _of_other_classes(case: Case) -> Iterator[Candidate]:
    """Claims without a volume made anew in another class: their class is immutable, and there is no data yet."""
    claims = {
        cause.detail.claim.key: cause.detail.claim
        for cause in case.causes(Code.VOLUME_ELSEWHERE, Code.NO_VOLUME)
        if isinstance(cause.detail, VolumeTrouble) and cause.detail.claim is not None
    }
    for key, ref in claims.items():
        claim = case.state.inventory.storage.claims.get(key)
        if claim is not None and not claim.spec.volume_name and not _is_of_pod(claim):
            yield from first_of(list(_in_another_class(case, claim, ref, "", _CLASS_COST)))


def _in_another_class(
    case: Case, claim: PersistentVolumeClaim, ref: ObjectRef, volume: str, cost: int
) -> Iterator[Candidate]:
    """The default class first; what a class makes volumes of, nobody can tell but its provisioner."""
    classes, former = case.state.inventory.storage.classes, claim.class_name
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
    stored = case.state.inventory.storage
    found: dict[Key, MoveVolume] = {}
    for cause in case.causes(Code.VOLUME_ELSEWHERE):
        trouble = cause.detail
        if not isinstance(trouble, VolumeTrouble) or trouble.claim is None or trouble.reason not in _ELSEWHERE:
            continue
        claim = stored.claims.get(trouble.claim.key)
        if claim is not None and claim.class_name and not _runs_with(case, trouble.claim.key):
            own = claim.class_name
            found[trouble.claim.key] = MoveVolume(trouble.claim, trouble.volume, own, lost=trouble.gone)
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
    others = (pod for pod in case.state.inventory.pods.values() if pod.spec.node_name)
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
    inventory = case.state.inventory
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
