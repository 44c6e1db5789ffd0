"""Ways out that differ only in which pods, claims or nodes it is: which share a line, and how the others are named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import reduce
from itertools import groupby

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies import records
from kubectl_dra.output.pending.actions import action_text
from kubectl_dra.output.pending.consequences import ended_jobs, note_texts, starts_again
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.pending.remedies import RemedyReport

#: What has a name of its own: the rest of a way out that shares a line is a change of the pod.
_Freeing = records.DeleteClaim | records.EndReservations | records.DeletePod | records.Uncordon


def alike(verified: Sequence[tuple[int, RemedyReport]]) -> dict[int, list[int]]:
    """By the first of those that follow each other and differ in what goes, where it is and how much, the others."""
    found: dict[int, list[int]] = {}
    for shape, group in groupby(verified, key=lambda each: _shape(each[1])):
        first, *others = (number for number, _ in group)
        if shape is not None and others:
            found[first] = others
    return found


def of_another(other: RemedyReport, first: RemedyReport, runs_on: Callable[[RemedyReport], Safe]) -> Safe:
    """Whose pods or claim it is instead; what it frees, where that is started again and the pod runs, if different."""
    name = listed(list(map(_name, _freeing(other))))
    beside = []
    if (freed := _freed(other)) != _freed(first):
        beside.append(fmt("frees {}", freed))
    if set(room := starts_again(other)) != set(starts_again(first)):
        beside.append(fmt("room on {}", listed(list(dict.fromkeys(room)))))
    if set(other.nodes) != set(first.nodes) and (nodes := runs_on(other)) not in ("", name):
        beside.append(fmt("runs on {}", nodes))
    return fmt("{} ({})", name, Safe("; ").join(beside)) if beside else name


def _shape(remedy: RemedyReport) -> Hashable:
    """What a remedy that frees something does, without whose it is, how much, and where; None for others."""
    freeing = _freeing(remedy)
    others = [each for each in remedy.actions if not isinstance(each, _Freeing)]
    if not freeing or not all(isinstance(each, records.EditPod) for each in others):
        return None
    over, room = ended_jobs(remedy), starts_again(remedy)
    kinds = [(type(each), *_kind(each, over)) for each in freeing]
    names = list(map(_name, freeing))
    names += [pod for each in freeing if isinstance(each, records.EndReservations) for pod in each.pods]
    notes = [reduce(lambda text, name: text.replace(name, ""), names, str(note)) for note in note_texts(remedy)]
    return (*kinds, *map(action_text, others), *notes, tuple(map(bool, room)))


def _kind(action: _Freeing, over: Collection[ObjectRef]) -> tuple[Hashable, ...]:
    match action:
        case records.DeletePod(recreated_by=None):
            return ("",)
        case records.DeletePod(recreated_by=owner):
            return (owner and owner.kind, owner in over)
        case records.EndReservations(held_for=held_for, pods=pods):
            return (held_for, len(pods) > 1)
        case records.Uncordon(in_files=in_files):
            return (in_files,)
    return ()


def _freeing(remedy: RemedyReport) -> list[_Freeing]:
    return [each for each in remedy.actions if isinstance(each, _Freeing)]


def _name(action: _Freeing) -> str:
    if isinstance(action, records.Uncordon):
        return action.node
    return str(action.pod.key if isinstance(action, records.DeletePod) else action.claim.key)


def _freed(remedy: RemedyReport) -> Safe:
    """``2 devices``, ``1 device and 2 cpu``, of all that goes."""
    freeing = _freeing(remedy)
    devices = sum(len(each.frees) for each in freeing if not isinstance(each, records.Uncordon))
    amounts = [safe(text) for each in freeing if isinstance(each, records.DeletePod) for text in each.amounts]
    return listed([*([counted(devices, "device")] if devices else []), *amounts])
