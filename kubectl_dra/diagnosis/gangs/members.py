"""What the cycle of a group makes of one of its pods: its own attempt, or what is in the way of the others."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.attempt import Attempting
from kubectl_dra.diagnosis.explain.causes import ExplainedCauses, explain
from kubectl_dra.diagnosis.gangs.cycles import cycle_of
from kubectl_dra.diagnosis.gangs.templates import workloads_for
from kubectl_dra.diagnosis.gates import makers
from kubectl_dra.diagnosis.gates.gates import own_causes
from kubectl_dra.diagnosis.pod.judgement import Judgement
from kubectl_dra.diagnosis.records import (
    Cause,
    Differs,
    GroupError,
    GroupShortage,
    GroupWaits,
    NodeGroup,
    ObjectRef,
    PodGroupName,
    Preemption,
    Verdict,
)
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.resource import ConsumerReference
from kubectl_dra.scheduler import attempt as engine
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.fit_error import without_preemption
from kubectl_dra.scheduler.gangs.decision import PLUGIN, TOO_FEW, GangMember, GroupDecision, GroupOutcome, MemberOutcome
from kubectl_dra.scheduler.gangs.group import Gang
from kubectl_dra.scheduler.gangs.trial import TriedPod
from kubectl_dra.scheduler.gangs.world import extended_name
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import StatusCode

POD_GROUP = "PodGroup"
_NOTHING = ExplainedCauses((), (), (), {})


class MemberFinding(msgspec.Struct, frozen=True):
    """The verdict about a pod of a group; ``messages``: what the scheduler writes on it, none if nothing.

    Where the group does not fit, ``nodes`` and the causes after the first are those of the pod that is in the way.
    ``unread``: kinds of objects that plugins had to read.
    """

    verdict: Verdict
    causes: tuple[Cause, ...] = ()
    reason: str | None = None
    messages: tuple[str, ...] = ()
    nodes: tuple[NodeGroup, ...] = ()
    preemption: Preemption | None = None
    unread: tuple[str, ...] = ()


def find(state: ClusterState, group: Key, pod: Pod) -> MemberFinding:
    """What becomes of a pod of a group that was read."""
    decision = cycle_of(state, group)
    own = next((each for each in decision.members if each.key == key_of(pod.metadata)), None)
    match decision.outcome:
        case GroupOutcome.GATED:
            return _gated(state, decision, own)
        case GroupOutcome.SCHEDULED | GroupOutcome.UNSCHEDULABLE | GroupOutcome.ERROR if own is not None:
            return _Tried(state, decision, own).finding()
    return _open(state, decision)


# --- not tried ------------------------------------------------------------------------------------------------------


def without_group(state: ClusterState, group: Key, pod: Pod) -> MemberFinding | None:
    """The scheduler keeps a pod aside whose group it does not know, and writes nothing; None if the group is known."""
    known = state.inventory.groups.pod_groups
    if group in known:
        return None
    if not state.evidence.complete(POD_GROUP, group.namespace):
        return MemberFinding(Verdict.UNKNOWN, unread=(POD_GROUP,))
    names = (key.name for key in known if key.namespace == group.namespace)
    detail = PodGroupName(group.name, tuple(similar(group.name, names)), workloads_for(state, pod))
    return MemberFinding(Verdict.GATED, (Cause(Code.POD_GROUP_MISSING, detail),))


def _gated(state: ClusterState, decision: GroupDecision, own: GangMember | None) -> MemberFinding:
    cause = group_gate(state, decision)
    if own is not None and any(status.plugin == PLUGIN for status in own.gates):
        return MemberFinding(Verdict.GATED, (_too_few(state, decision),))
    return MemberFinding(Verdict.GATED, (cause,))


def kept_out(causes: Sequence[Cause]) -> tuple[str, ...]:
    """What the scheduler has written where these are why the pod is not tried; nothing of other causes.

    Upstream: plugins/gangscheduling, PreEnqueue.
    """
    return (TOO_FEW,) if causes and causes[0].code is Code.POD_GROUP_INCOMPLETE else ()


def group_gate(state: ClusterState, decision: GroupDecision) -> Cause:
    """Why a group is not tried: a pod that something keeps out, else that there are too few."""
    by_others = [each for each in decision.members if any(status.plugin != PLUGIN for status in each.gates)]
    if by_others:
        entries = resolve(state.inventory, state.evidence, state.features, by_others[0].pod)
        because = tuple(own_causes(state, by_others[0].pod, entries))
        held = tuple(ObjectRef.of("Pod", each.key) for each in by_others)
        return Cause(Code.POD_GROUP, GroupWaits(_ref(decision), held, because=because))
    return _too_few(state, decision)


def _too_few(state: ClusterState, decision: GroupDecision) -> Cause:
    """How many pods there are, and why whoever makes them makes no more."""
    gang = gang_of(state, decision)
    key = key_of(decision.group.metadata)
    pods = state.inventory.pods_by_group.get(key, ())
    detail = GroupWaits(_ref(decision), (), gang.group.min_count, gang.known, refused=makers.refusal(state, pods))
    return Cause(Code.POD_GROUP_INCOMPLETE, detail)


def _open(state: ClusterState, decision: GroupDecision) -> MemberFinding:
    """What the last pod that was tried could not be told of, if any was tried."""
    tried = decision.placed.nearest.tried if decision.placed is not None else ()
    last = next((each for each in reversed(tried) if each.attempt is not None), None)
    found = explanation(state, decision, last) if last is not None else _NOTHING
    return MemberFinding(Verdict.UNKNOWN, found.causes, nodes=found.groups, unread=found.unread)


# --- tried ----------------------------------------------------------------------------------------------------------


class _Tried:
    def __init__(self, state: ClusterState, decision: GroupDecision, own: GangMember) -> None:
        self._state = state
        self._decision = decision
        self._own = own
        tried = decision.placed.nearest.tried if decision.placed is not None else ()
        self._tried = next((each for each in tried if key_of(each.pod.metadata) == own.key), None)

    def finding(self) -> MemberFinding:
        own, decision = self._own, self._decision
        verdict = _VERDICTS[own.outcome]
        causes: tuple[Cause, ...] = ()
        if decision.outcome is GroupOutcome.SCHEDULED or own.outcome is MemberOutcome.IGNORED:
            found = self._explained()
        else:
            cause = group_cause(self._state, decision)
            aborted = cause.code is Code.POD_GROUP_ABORTED
            mine = aborted and self._tried is not None and self._tried.status.code is StatusCode.ERROR
            causes, found = ((), self._explained()) if mine else ((cause,), self._in_the_way())
        causes += found.all_causes(Judgement(verdict, fitting=len(found.fitting)), None)
        messages = (without_preemption(own.message),) if own.message else ()
        return MemberFinding(
            verdict, causes, own.reason or None, messages, found.groups, preemption_of(decision, own), found.unread
        )

    def _explained(self) -> ExplainedCauses:
        return explanation(self._state, self._decision, self._tried) if self._tried is not None else _NOTHING

    def _in_the_way(self) -> ExplainedCauses:
        """Of the first pod that found no node: the same for all pods of the group."""
        first = first_failed(self._decision)
        return explanation(self._state, self._decision, first) if first is not None else _NOTHING


_VERDICTS = {
    MemberOutcome.BOUND: Verdict.SCHEDULABLE,
    MemberOutcome.UNSCHEDULABLE: Verdict.UNSCHEDULABLE,
    MemberOutcome.ERROR: Verdict.SCHEDULER_ERROR,
    MemberOutcome.IGNORED: Verdict.NOT_PENDING,
    MemberOutcome.GATED: Verdict.GATED,
    MemberOutcome.OPEN: Verdict.UNKNOWN,
}


def group_cause(state: ClusterState, decision: GroupDecision) -> Cause:
    """What is in the way of a group that was tried, or whose pods contradict each other."""
    group, placed = _ref(decision), decision.placed
    if placed is None:
        return Cause(Code.POD_GROUP_MIXED, _mixed(state, decision))
    trial, first = placed.nearest, first_failed(decision)
    found = explanation(state, decision, first) if first is not None else _NOTHING
    ref = ObjectRef.of("Pod", key_of(first.pod.metadata)) if first is not None else None
    if placed.trial.status.code is StatusCode.ERROR:
        return Cause(Code.POD_GROUP_ABORTED, GroupError(group, placed.trial.status.message, ref, found.causes[:1]))
    gang = gang_of(state, decision)
    detail = GroupShortage(
        group,
        gang.group.min_count,
        len(gang.scheduled),
        len(trial.placed),
        len(gang.tried),
        ref,
        found.causes[:1],
        gang.group.topology_key or "",
        len(placed.all or ()),
    )
    return Cause(Code.POD_GROUP_UNPLACED, detail)


def _mixed(state: ClusterState, decision: GroupDecision) -> GroupError:
    """Which pods contradict the group, or the others, and in what."""
    found, pods = gang_of(state, decision).differing(), state.inventory.pods
    differing = tuple(
        Differs(ObjectRef.of("Pod", each.pod), each.value, pods[each.pod].spec.priority_class_name) for each in found
    )
    error = GroupError(_ref(decision), decision.message, differing=differing)
    if not found:
        return error
    of_group = decision.group.spec.priority_class_name or ""
    first = found[0]
    return msgspec.structs.replace(
        error, field=first.field, wanted=first.wanted, by_group=first.by_group, class_name=of_group
    )


def first_failed(decision: GroupDecision) -> TriedPod | None:
    """The first pod that found no node."""
    tried = decision.placed.nearest.tried if decision.placed is not None else ()
    return next((each for each in tried if not each.node), None)


def preemption_of(decision: GroupDecision, member: GangMember | None = None) -> Preemption | None:
    """Whom the scheduler evicts for a group, if that helps; ``member``: for one of its pods, with its node."""
    found = decision.after.preemption if decision.after is not None else None
    if found is None:
        return None
    message = ", ".join(found.status.reasons)
    nominated = tuple(dict.fromkeys(found.nominated.values() if member is None else filter(None, [member.nominated])))
    victims = tuple(str(pod.key) for pod in found.victims) if found.nominated else ()
    return Preemption(message, nominated, victims, certain=not (found.unsure or found.tied), unread=found.unsure)


# --- what one attempt met -------------------------------------------------------------------------------------------


@derived()
def _explanations(_state: ClusterState) -> dict[tuple[Key, Key], ExplainedCauses]:
    return {}


def explanation(state: ClusterState, decision: GroupDecision, tried: TriedPod) -> ExplainedCauses:
    """What a pod met on the nodes, beside those of its group that were placed before it."""
    if tried.attempt is None:
        return _NOTHING
    known, key = _explanations(state), (key_of(decision.group.metadata), key_of(tried.pod.metadata))
    if key not in known:
        placed = decision.placed.nearest.placed if decision.placed is not None else ()
        known[key] = _explained(tried.pod, tried.attempt, tried.status.code, [each.pod for each in placed])
    return known[key]


def _explained(pod: Pod, found: engine.Attempt, code: StatusCode, placed: Sequence[Pod]) -> ExplainedCauses:
    there = _reserved(found.cycle.snapshot, placed)
    entries = resolve(there.inventory, there.evidence, there.features, pod)
    claims = [entry.claim for entry in entries if entry.claim is not None]
    among = tuple(found.verdicts) if found.verdicts and len(found.verdicts) < len(there.inventory.nodes) else None
    attempt = Attempting(there, pod, claims, among).of(found)
    verdict = Verdict.UNSCHEDULABLE if code is not StatusCode.SUCCESS else Verdict.SCHEDULABLE
    return explain(there, pod, attempt, Judgement(verdict))


def _reserved(there: Snapshot, placed: Sequence[Pod]) -> ClusterState:
    """With the claims that got devices in this cycle reserved for the pods that use them.

    The scheduler reserves at the very end (PreBind), so its own attempts must not see it; whoever reads who holds
    the devices must.
    """
    state, users = there.state, dict[Key, list[ConsumerReference]]()
    for pod in placed:
        meta = pod.metadata
        entries = resolve(state.inventory, state.evidence, state.features, pod)
        keys = [key_of(entry.claim.metadata) for entry in entries if entry.claim is not None]
        for key in (*keys, Key(meta.namespace, extended_name(pod))):
            if key in there.pending:
                users.setdefault(key, []).append(ConsumerReference(resource="pods", name=meta.name, uid=meta.uid))
    if not users:
        return state
    claims = dict(state.inventory.claims)
    for key, consumers in users.items():
        status = msgspec.structs.replace(claims[key].status, reserved_for=tuple(consumers))
        claims[key] = msgspec.structs.replace(claims[key], status=status)
    return state.changed(state.inventory.replace(claims=claims))


def gang_of(state: ClusterState, decision: GroupDecision) -> Gang:
    return Gang(Snapshot(state), decision.group)


def _ref(decision: GroupDecision) -> ObjectRef:
    return ObjectRef.of(POD_GROUP, key_of(decision.group.metadata))
