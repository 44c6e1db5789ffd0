"""Ways out that change what stands in the files: which object, which field, and what to write there.

No command reaches these objects, because nothing of the files exists yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.api.trees import below
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.volume_claims import made_from
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.actions import EditGroup, MoveVolume, RemoveLabel
from kubectl_dra.diagnosis.remedies.records import (
    Action,
    CreateObject,
    EditClaim,
    EditClass,
    EditPod,
    MoveTemplate,
    PinPods,
    RaiseQuota,
    RemoveGates,
)
from kubectl_dra.diagnosis.rollouts import EditRollout
from kubectl_dra.model.base import Record
from kubectl_dra.reports.pending.claim_manifests import claim_version, new_claim, new_template
from kubectl_dra.reports.pending.remedies import FileEdit, FoundRemedies, RemedyReport, Step
from kubectl_dra.reports.pending.remedy_commands import pod_changes
from kubectl_dra.reports.pending.renewal import NoCommand
from kubectl_dra.reports.simulation.trials import PodTrial

#: Changes of the manifests themselves: nothing that a command could be applied to exists yet.
_OF_THE_WORKLOAD: Final = (EditClaim, EditGroup, EditPod, EditRollout, PinPods, RemoveGates, RemoveLabel)
_IN_THE_FILE: Final = (*_OF_THE_WORKLOAD, EditClass, MoveTemplate, MoveVolume, RaiseQuota)
_CLASS: Final = "spec.storageClassName"
_SIZE: Final = "spec.resources.requests.storage"
_TEMPLATE: Final = "ResourceClaimTemplate"
_GANG: Final = "spec.schedulingPolicy.gang"


class Place(NamedTuple):
    """Where an object of the files stands, what is written there, and in which version; with the pods it makes."""

    at: str
    record: Record | None
    api_version: str
    pods: tuple[PodPlan, ...] = ()


#: Objects of the files -> where they stand.
Places = Mapping[ObjectRef, Place]


def places(objects: Sequence[Planned]) -> Places:
    """Where each object of the files stands."""
    return {
        ObjectRef(each.kind, each.key.namespace, each.name): Place(
            each.origin, each.record, each.api_version, each.pods
        )
        for each in objects
    }


def of_the_files(found: FoundRemedies, state: ClusterState, trial: PodTrial, where: Places) -> FoundRemedies:
    """With what to write in the files, in place of commands for what is only there and what stands in their way."""
    files = _Files(state, trial, where)

    def of_the_file(remedy: RemedyReport) -> RemedyReport:
        remedy = _of_set(_moved(remedy, where), files)
        if not any(isinstance(action, _IN_THE_FILE) for action in remedy.actions):
            return remedy
        if not all(_is_there(action, where) for action in remedy.actions):
            return remedy
        notes = tuple(note for note in remedy.notes if not isinstance(note, NoCommand))
        steps = [step for action in remedy.actions for step in _steps(action, remedy, files)]
        actions = tuple(_with_rest(_written_in(action, _holder(trial)), trial.plan) for action in remedy.actions)
        once = tuple(dict(_each_once(steps)).values())
        return msgspec.structs.replace(remedy, steps=once, has_steps=bool(once), notes=notes, actions=actions)

    return msgspec.structs.replace(found, remedies=tuple(map(of_the_file, found.remedies)))


def _is_there(action: Action, where: Places) -> bool:
    """Whether what an action changes is in the files, as far as the cluster may have it too."""
    match action:
        case EditClass(device_class=name):
            return _class(name) in where
        case MoveVolume(workload=ref) if ref is not None:
            return ref in where
        case RaiseQuota(quota=ref) | MoveVolume(claim=ref):
            return ref in where
    return True


def _class(name: str) -> ObjectRef:
    return ObjectRef(DEVICE_CLASS.name, "", name)


def _moved(remedy: RemedyReport, where: Places) -> RemedyReport:
    """With the move of a template that stands in one other namespace of the files, in place of a second one."""
    (action, *others) = remedy.actions or (None,)
    if others or not isinstance(action, CreateObject) or action.ref.kind != _TEMPLATE or action.like is not None:
        return remedy
    there = [each for each in where if (each.kind, each.name) == (_TEMPLATE, action.ref.name)]
    if len(there) != 1:
        return remedy
    return msgspec.structs.replace(remedy, actions=(MoveTemplate(there[0], action.ref.namespace),))


def _of_set(remedy: RemedyReport, files: _Files) -> RemedyReport:
    """With claims for volumes that a StatefulSet of the files makes for each of its pods as its templates have them."""
    templates, holder, pods = files.trial.plan.volume_claims, _holder(files.trial), files.trial.plan.pod.metadata.name

    def written(action: Action) -> Action:
        if not isinstance(action, MoveVolume):
            return action
        index = made_from(files.state.inventory, action.claim.key, templates, pods)
        if index is None:
            return action
        return msgspec.structs.replace(action, template=templates[index].metadata.name, workload=holder)

    return msgspec.structs.replace(remedy, actions=tuple(map(written, remedy.actions))) if templates else remedy


def _each_once(steps: Sequence[Step]) -> Iterator[tuple[object, Step]]:
    for step in steps:
        edit = step.edit
        yield (edit.object, edit.field) if edit is not None else step.commands, step


def _written_in(action: Action, subject: ObjectRef) -> Action:
    """With the object of the file in place of what a controller would make of it."""
    made = isinstance(action, EditPod) or (isinstance(action, RemoveLabel) and action.workload is not None)
    if isinstance(action, EditPod):
        action = msgspec.structs.replace(action, also=())  # which are not made yet
    return msgspec.structs.replace(action, workload=subject) if made else action


def _with_rest(action: Action, plan: PodPlan) -> Action:
    """An amount at the field that says it, where another program adds to it: that amount would be too much."""
    resource = action.field.rpartition("].resources[")[2].rstrip("]") if isinstance(action, EditPod) else ""
    field = dict(plan.moved).get(resource)
    if not (isinstance(action, EditPod) and plan.rest_by and field and action.after):
        return action
    return msgspec.structs.replace(action, field=field, after=f"less than {action.after}")


def _of_volume(action: MoveVolume) -> tuple[str, str]:
    """The field of a claim to a volume, and its new value."""
    return (_SIZE, action.size) if action.size else (_CLASS, action.storage_class)


class _Files(NamedTuple):
    """What was tried, with where it stands."""

    state: ClusterState
    trial: PodTrial
    where: Places


def _steps(action: Action, remedy: RemedyReport, files: _Files) -> Iterator[Step]:
    """What to write for one action; what only exists in the cluster has a command still."""
    trial, where = files.trial, files.where
    if isinstance(action, CreateObject) and action.like is not None:
        yield from _made_like(action.ref, action.like, files)
    elif isinstance(action, EditPod):
        yield from _of_pod(action, trial, where)
    elif isinstance(action, EditClaim):
        edited = action.template or action.claim
        made = (step for step in remedy.steps if _name(step.manifest) == (edited.kind, edited.name))
        for step in made:
            assert step.manifest is not None  # noqa: S101
            edit = _of_claim(edited, where[edited], step.manifest) if edited in where else None
            yield step if edit is None else Step((), edit=edit)
    elif isinstance(action, EditClass) and _class(action.device_class) in where:
        index = action.field.startswith("selectors[")
        field = f"spec.{action.field}{'.cel.expression' if index and action.after else ''}"
        ref = _class(action.device_class)
        yield Step((), edit=FileEdit(ref, where[ref].at, field, action.after or None))
    elif isinstance(action, MoveTemplate):
        yield Step(
            (), edit=FileEdit(action.template, where[action.template].at, "metadata.namespace", action.namespace)
        )
    elif isinstance(action, RaiseQuota):
        hard = {action.resource: action.after}
        yield Step((), edit=FileEdit(action.quota, where[action.quota].at, "spec.hard", hard))
    elif isinstance(action, MoveVolume) and action.workload is not None:
        names = [each.metadata.name for each in trial.plan.volume_claims]
        field, value = _of_volume(action)
        path = f"spec.volumeClaimTemplates[{names.index(action.template)}].{field}"
        yield Step((), edit=FileEdit(action.workload, where[action.workload].at, path, value))
    elif isinstance(action, MoveVolume) and action.claim in where:
        yield Step((), edit=FileEdit(action.claim, where[action.claim].at, *_of_volume(action)))
    elif isinstance(action, EditGroup) and action.group in where:
        yield Step(
            (), edit=FileEdit(action.group, where[action.group].at, f"{_GANG}.{action.field}", int(action.after))
        )


def _made_like(ref: ObjectRef, like: ObjectRef, files: _Files) -> Iterator[Step]:
    """A whole new object with what a claim requests: beside that claim, or beside what names it."""
    claim, version = files.state.inventory.claims.get(like.key), claim_version(files.state)
    place = files.where.get(like)
    beside = place or files.where.get(_holder(files.trial))
    if claim is None or version is None or beside is None:
        return
    written = version if place is None else place.api_version.rpartition("/")[2]
    make = new_template if ref.kind == _TEMPLATE else new_claim
    yield Step((), edit=FileEdit(ref, beside.at, "", make(ref, claim, written)))


def _holder(trial: PodTrial) -> ObjectRef:
    """The object of the files that has the spec of the pods."""
    return trial.subject if trial.plan.written_in is None else ObjectRef(*trial.plan.written_in)


def _name(manifest: dict[str, Any] | None) -> tuple[str, str]:
    if manifest is None:
        return "", ""
    return str(manifest.get("kind")), str(manifest.get("metadata", {}).get("name"))


def _of_claim(edited: ObjectRef, place: Place, manifest: Mapping[str, Any]) -> FileEdit:
    """The one field that changes of a claim or a template, in the version of the file."""
    kind = RESOURCE_CLAIM_TEMPLATE if edited.kind == _TEMPLATE else RESOURCE_CLAIM
    assert place.record is not None  # noqa: S101 - it was tried
    version = manifest["apiVersion"]
    # Both by the same way, as the versions differ in what they leave out.
    bodies = encode(place.record, kind, version), json.dumps(manifest).encode()
    read = (encode(decode_object(body, version, kind), kind, place.api_version) for body in bodies)
    old, new = (json.loads(body)["spec"] for body in read)
    return FileEdit(edited, place.at, *_difference("spec", old, new))


def _difference(path: str, old: Any, new: Any) -> tuple[str, Any]:  # noqa: ANN401 - JSON
    """The deepest field that has all that differs, and its new value: None where it is gone; never one of a list."""
    if isinstance(old, dict) and isinstance(new, dict):
        changed = [name for name in (old | new) if old.get(name) != new.get(name)]
        return (
            _difference(f"{path}.{changed[0]}", old.get(changed[0]), new.get(changed[0]))
            if len(changed) == 1
            else (path, new)
        )
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        (index, *more) = [index for index, each in enumerate(old) if each != new[index]]
        found = _difference(f"{path}[{index}]", old[index], new[index])
        return (path, new) if more or found[0].endswith("]") else found
    return path, new


def _of_pod(action: EditPod, trial: PodTrial, where: Places) -> Iterator[Step]:
    subject, plan = _holder(trial), trial.plan
    if subject not in where or (trial.is_bare and not plan.rest_by):
        return
    # What admission has put into the pods is not in the file.
    written = [path for each in where[subject].pods for path, _ in pod_changes(action, each.pod.spec)]
    changes = dict(() if plan.rest_by and plan.moved else pod_changes(action, plan.pod.spec))
    for pointer, value in changes.items():
        # Who writes limits alone has requests from the server, which wants both of devices to be equal.
        if (
            value is None
            and "~1" in pointer
            and pointer.replace("/requests/", "/limits/") in changes.keys() - {pointer}
        ):
            continue
        if (value is not None or pointer in written) and (field := _field(plan, pointer)) is not None:
            yield Step((), edit=FileEdit(subject, where[subject].at, field, value))


def _field(plan: PodPlan, pointer: str) -> str | None:
    """The path in the file of a pointer below the pod's spec; None where the file has it elsewhere."""
    words = [word.replace("~1", "/").replace("~0", "~") for word in pointer.strip("/").split("/")]
    known = dict(plan.moved)
    if words[0] == "containers" and words[-1] in known:
        return known[words[-1]] or None
    path = plan.spec_at
    for word in words:
        path = path if word == "-" else f"{path}[{word}]" if word.isdecimal() else below(path, word)
    return path
