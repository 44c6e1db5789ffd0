"""What the scheduler makes of a group, in its own words: of the PodGroup and of each of its pods.

Upstream: scheduleOnePodGroup, applyPodGroupPostFilterResult, submitPodGroupAlgorithmResult. What follows the choice of
nodes (Permit, PreBind) is taken to succeed; where pods share a claim one of them may show a passing error there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.gangs.after import After, post_filter
from kubectl_dra.scheduler.gangs.group import Gang
from kubectl_dra.scheduler.gangs.placements import GangPlacement, schedule
from kubectl_dra.scheduler.gangs.trial import UNSCHEDULABLE, GroupStatus, Run, TriedPod
from kubectl_dra.scheduler.gangs.world import in_cycle
from kubectl_dra.scheduler.queue import SCHEDULING_GATES, gates
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import Status, StatusCode, unresolvable

SCHEDULED: Final = "Scheduled"
TOO_FEW: Final = "waiting for minCount pods from a gang to appear in scheduling queue"
PLUGIN: Final = "GangScheduling"


class GroupOutcome(StrEnum):
    """``EMPTY``: no pod waits. ``OPEN``: something that decides was not read, or is not worked out."""

    SCHEDULED = "scheduled"
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"
    GATED = "gated"
    EMPTY = "empty"
    OPEN = "open"


class MemberOutcome(StrEnum):
    """``IGNORED``: it is being deleted."""

    BOUND = "bound"
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"
    GATED = "gated"
    IGNORED = "ignored"
    OPEN = "open"


class GangMember(msgspec.Struct, frozen=True):
    """One pod: reason and message are those of its condition PodScheduled.

    ``nodes``: one of these becomes its node. ``nominated``: the node that preemption makes room on.
    """

    pod: Pod
    outcome: MemberOutcome
    reason: str = ""
    message: str = ""
    gates: tuple[Status, ...] = ()
    nodes: tuple[str, ...] = ()
    nominated: str = ""

    @property
    def key(self) -> Key:
        return key_of(self.pod.metadata)


@dataclass(frozen=True)
class GroupDecision:
    """The outcome of one cycle. Reason and message are those of the condition PodGroupInitiallyScheduled.

    ``members`` in the order in which they are tried. ``placed``: what was tried.
    """

    group: PodGroup
    outcome: GroupOutcome
    reason: str = ""
    message: str = ""
    members: tuple[GangMember, ...] = ()
    placed: GangPlacement | None = None
    after: After | None = None


def decide_group(snapshot: Snapshot, group: PodGroup) -> GroupDecision:
    """What happens to a group in the next cycle that it gets."""
    gang = Gang(snapshot, group)
    if not gang.waiting:
        return GroupDecision(group, GroupOutcome.EMPTY)
    composite = snapshot.features.composite_pod_groups and group.spec.parent_composite_pod_group_name
    if composite or not snapshot.complete("Pod"):
        return _open(gang)
    held = {key_of(pod.metadata): tuple(member_gates(gang, pod)) for pod in gang.waiting}
    if any(held.values()):
        return _gated(gang, held)
    violation = gang.violation()
    if violation:
        return _failed(gang, violation)
    if not gang.tried:
        return GroupDecision(group, GroupOutcome.EMPTY, members=tuple(_deleted(gang)))
    shared = Run()
    placed, world = schedule(gang, in_cycle(snapshot, gang.waiting), shared)
    after = None
    if placed.trial.status.code is StatusCode.UNSCHEDULABLE:
        after = post_filter(gang, world, shared)
    return _Written(gang, placed, after).decision()


def member_gates(gang: Gang, pod: Pod) -> Iterator[Status]:
    """Every plugin that keeps a pod out of the queue; one such pod keeps out all."""
    yield from gates(gang.snapshot, pod)
    if gang.group.spec.scheduling_policy.gang is not None and gang.known < gang.group.min_count:
        yield unresolvable(TOO_FEW).of(PLUGIN)


def _open(gang: Gang) -> GroupDecision:
    members = tuple(GangMember(pod, MemberOutcome.OPEN) for pod in gang.waiting)
    return GroupDecision(gang.group, GroupOutcome.OPEN, members=members)


def _gated(gang: Gang, held: dict[Key, tuple[Status, ...]]) -> GroupDecision:
    if any(status.code is StatusCode.UNKNOWN for statuses in held.values() for status in statuses):
        return _open(gang)
    return GroupDecision(
        gang.group, GroupOutcome.GATED, members=tuple(_waits(pod, held[key_of(pod.metadata)]) for pod in gang.waiting)
    )


def _waits(pod: Pod, held: tuple[Status, ...]) -> GangMember:
    by_gates = any(status.plugin == SCHEDULING_GATES for status in held)
    text = (fit_error.SCHEDULING_GATED, fit_error.GATED_MESSAGE) if by_gates else ("", "")
    return GangMember(pod, MemberOutcome.GATED, *text, gates=held)


def _deleted(gang: Gang) -> Iterator[GangMember]:
    return (
        GangMember(pod, MemberOutcome.IGNORED) for pod in gang.waiting if pod.metadata.deletion_timestamp is not None
    )


def _failed(gang: Gang, text: str) -> GroupDecision:
    members = (GangMember(pod, MemberOutcome.ERROR, fit_error.SCHEDULER_ERROR, text) for pod in gang.waiting)
    return GroupDecision(gang.group, GroupOutcome.ERROR, fit_error.SCHEDULER_ERROR, text, tuple(members))


class _Written:
    """What is written on the group and its pods after a cycle."""

    def __init__(self, gang: Gang, placed: GangPlacement, after: After | None) -> None:
        self._gang = gang
        self._placed = placed
        self._after = after
        trial = placed.trial
        self._own = {key_of(each.pod.metadata): each for each in trial.tried}
        self._before = trial.status
        self._status = _finally(trial.status, after)

    def decision(self) -> GroupDecision:
        group, status, after = self._gang.group, self._status, self._after
        if status.code is StatusCode.UNKNOWN:
            return replace(_open(self._gang), placed=self._placed)
        members = (*map(self._member, self._gang.tried), *_deleted(self._gang))
        match status.code:
            case StatusCode.SUCCESS:
                outcome, reason = GroupOutcome.SCHEDULED, SCHEDULED
            case StatusCode.ERROR:
                outcome, reason = GroupOutcome.ERROR, fit_error.SCHEDULER_ERROR
            case _:
                outcome, reason = GroupOutcome.UNSCHEDULABLE, fit_error.UNSCHEDULABLE
        return GroupDecision(group, outcome, reason, status.message, members, self._placed, after)

    def _member(self, pod: Pod) -> GangMember:
        own = self._own.get(key_of(pod.metadata))
        code, text = self._text(own)
        nominated = self._nominated(pod)
        if code is StatusCode.SUCCESS and own is not None:
            return GangMember(pod, MemberOutcome.BOUND, nodes=own.best)
        if code is StatusCode.ERROR:
            return GangMember(pod, MemberOutcome.ERROR, fit_error.SCHEDULER_ERROR, text)
        return GangMember(pod, MemberOutcome.UNSCHEDULABLE, fit_error.UNSCHEDULABLE, text, nominated=nominated)

    def _text(self, own: TriedPod | None) -> tuple[StatusCode, str]:
        """What is said of a pod: its own error or lack, else why the group is where it is."""
        failed = own is not None and own.status.code is StatusCode.ERROR
        if self._status.code is StatusCode.ERROR and not failed:
            return StatusCode.ERROR, self._status.message
        if own is None:
            return self._before.code, self._before.message
        if not own.node:
            return own.status.code, own.status.message
        if self._status.code is StatusCode.SUCCESS:
            return StatusCode.SUCCESS, ""
        waits = self._after is not None and self._after.status.code is StatusCode.SUCCESS
        return StatusCode.UNSCHEDULABLE, self._status.message if waits else f"{UNSCHEDULABLE}, {self._status.message}"

    def _nominated(self, pod: Pod) -> str:
        preemption = self._after.preemption if self._after is not None else None
        return preemption.nominated.get(key_of(pod.metadata), "") if preemption is not None else ""


def _finally(status: GroupStatus, after: After | None) -> GroupStatus:
    """With what PostFilter says, even if that is nothing; an error of its own is all that is left."""
    if after is None:
        return status
    if after.status.code in (StatusCode.ERROR, StatusCode.UNKNOWN):
        return after.status
    return status.because(after.status.message)
