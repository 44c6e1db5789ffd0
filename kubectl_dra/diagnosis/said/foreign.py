"""The last words of a scheduler that is none of Kubernetes' own about a pod, or about its group.

They stand in the pod's PodScheduled condition, in events of the pod, and in events of its PodGroup (Volcano writes the
group's condition Unschedulable there, too: volcano, pkg/scheduler/cache, RecordJobStatusEvent).

A pod that the default profile admits to a node, and that an extender or another plugin has refused. By which rules
those decide is not known. What the scheduler said last is its verdict while it explains every node that fits; where
more nodes fit than they have refused, they may or may not refuse those too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.judgement import Judgement
from kubectl_dra.diagnosis.records import (
    Cause,
    GangElsewhere,
    NodeOutcome,
    ObjectRef,
    Observed,
    PodDiagnosis,
    Retry,
    Verdict,
)
from kubectl_dra.diagnosis.said import agreement, refusals
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.claims import claims_of

#: Reasons of such events: Kubernetes', Volcano's, YuniKorn's (its words are in events of type Normal: yunikorn-k8shim,
#: pkg/cache/context.go, PublishEvents and HandleContainerStateUpdate) and KAI's.
_REASONS: Final = frozenset(
    {
        *("FailedScheduling", "Unschedulable", "NotEnoughResources", "NotEnoughTasks", "Scheduling"),
        *("PodGroupUnschedulable", "PodUnschedulable", "Informational"),
    }
)
_GROUP: Final = "PodGroup"
#: A scheduler tries new pods at once; of many it tries some hundred in a second.
_UNTRIED: Final = timedelta(minutes=5)
_RUNNING: Final = ("Deployment", "StatefulSet")
#: Upstream: Kueue's pkg/controller/jobframework, ReasonErrWorkloadCompose; of groups of pods: pkg/controller/jobs/pod.
_COMPOSING: Final = "ErrWorkloadCompose"
#: It writes such events about pods of any scheduler, which are told elsewhere.
_AUTOSCALERS: Final = ("karpenter", "cluster-autoscaler")


class Words(NamedTuple):
    """What was written, and when last and first (RFC 3339, empty where it does not say); ``times``: how often."""

    text: str
    time: str = ""
    times: int = 1
    first: str = ""


def last_words(inventory: Inventory, pod: Pod, group: str = "") -> Words:
    """The newest of them; empty where nothing was written. ``group``: the name of the pod's group."""
    spoken = _of_events(events_.about(inventory, pod))
    key = (_GROUP, pod.metadata.namespace, group)
    spoken += _of_events(inventory.events_by_object.get(key, ())) if group else []
    condition = next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
    said = condition.message if condition is not None and condition.status == "False" else ""
    # The condition says since when it is so; an event with the same words counts how often, and when last.
    if condition is not None and said and all(each.text != said for each in spoken):
        spoken.append(Words(said, condition.last_transition_time or ""))
    return max(spoken, key=lambda each: each.time, default=Words(""))


def stopped(state: ClusterState, name: str) -> ObjectRef | None:
    """The one workload that is called like a scheduler, where it is to have no pods."""
    found = _by_name(state).get(name, ())
    spec = state.inventory.workloads[found[0]].spec if len(found) == 1 else None
    return ObjectRef(*found[0]) if spec is not None and spec.replicas == 0 else None


def untried(state: ClusterState, pod: Pod, causes: tuple[Cause, ...]) -> tuple[Cause, ...]:
    """The causes of a pod that fits, with since when no scheduler has tried it.

    After an attempt it has the condition PodScheduled (upstream: schedule_one.go, handleSchedulingFailure). While a
    claim or its group is not there it is not tried and not told so (PreEnqueue of DynamicResources and GangScheduling).
    """
    made = _could_be_tried(state.inventory, pod)
    tried = any(each.type == "PodScheduled" for each in pod.status.conditions) or last_words(state.inventory, pod).text
    if (
        tried
        or made is None
        or state.now - made < _UNTRIED
        or not state.evidence.complete("Event", pod.metadata.namespace)
    ):
        return causes
    since = pod.metadata.creation_timestamp or ""
    return tuple(
        msgspec.structs.replace(each, detail=msgspec.structs.replace(each.detail, untried_since=since))
        if isinstance(each.detail, Retry)
        else each
        for each in causes
    )


def _could_be_tried(inventory: Inventory, pod: Pod) -> datetime | None:
    """When all was there that a pod needs before an attempt; None where that is not known."""
    own = pod.spec.scheduling_group
    group = inventory.groups.pod_groups.get(Key(pod.metadata.namespace, own.pod_group_name)) if own else None
    metas = [pod.metadata, *(each.metadata for each in claims_of(pod, inventory)), *([group.metadata] if group else [])]
    made = (each.creation_timestamp for each in metas)
    times = [parse_time(each) for each in (*made, *map(events_.last_seen, events_.about(inventory, pod))) if each]
    known = [each for each in times if each is not None]
    return max(known) if len(known) == len(times) and pod.metadata.creation_timestamp else None


@derived("workloads")
def _by_name(state: ClusterState) -> Mapping[str, Sequence[tuple[str, str, str]]]:
    """What may run a scheduler."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for key in state.inventory.workloads:
        if key[0] in _RUNNING:
            found.setdefault(key[2], []).append(key)
    return found


def composing(inventory: Inventory, pods: Iterable[Pod]) -> str:
    """Why Kueue can make no Workload of pods, by its last event about one of them; empty where it says nothing."""
    about = (each for pod in pods for each in events_.about(inventory, pod))
    said = [_words(each) for each in about if each.reason == _COMPOSING]
    return max(said, key=lambda each: each.time, default=Words("")).text


def _words(event: Event) -> Words:
    text = " ".join(events_.text(event).split())
    return Words(text, events_.last_seen(event), events_.times(event), events_.first_seen(event))


def _of_events(events: Iterable[Event]) -> list[Words]:
    told = (each for each in events if each.reason in _REASONS and events_.reporter(each) not in _AUTOSCALERS)
    return list(map(_words, told))


def have_spoken(judgement: Judgement, seen: Observed | None) -> bool:
    """Whether a pod that would fit was refused by a plugin that is not in the default profile."""
    if judgement.verdict is not Verdict.SCHEDULABLE or seen is None or seen.status != "False":
        return False
    said = fit_error.parse_fit_error(seen.message)
    return said is not None and bool(agreement.not_simulated(said, unspread=judgement.unspread))


def refuse_all(judgement: Judgement, seen: Observed | None) -> bool:
    """Whether the scheduler's words say that plugins not simulated here reject all nodes that would fit."""
    if judgement.verdict is not Verdict.SCHEDULABLE or seen is None or seen.status != "False":
        return False
    return judgement.prediction.meets(seen.message)


def judged(judgement: Judgement, seen: Observed | None) -> Judgement:
    """The judgement with what other plugins said of it; a pod that waited in vain was admitted, and may be again."""
    if seen is None or not have_spoken(judgement, seen) or refusals.waited_in_vain(seen) is not None:
        return judgement
    if refuse_all(judgement, seen):
        verdict, reason = Verdict.UNSCHEDULABLE, fit_error.UNSCHEDULABLE
        return replace(judgement, verdict=verdict, reason=reason, messages=(seen.message,))
    return replace(judgement, verdict=Verdict.UNKNOWN, reason=None, messages=())


def refused(diagnosis: PodDiagnosis) -> bool:
    """Whether only other plugins keep the pod from a node: no change of what is known could be seen to help.

    So do programs that try none of a gang which lacks pods.
    """
    if diagnosis.causes and isinstance(gang := diagnosis.causes[0].detail, GangElsewhere) and gang.present:
        return True
    fits = any(group.outcome is NodeOutcome.FITS for group in diagnosis.nodes)
    return fits and any(cause.code is Code.OTHER_PLUGIN for cause in diagnosis.causes[:1])
