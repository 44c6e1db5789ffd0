"""The diagnosis of a PodGroup: the verdict about all of its pods at once, and what each of them finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.cycles import FIRST_MINOR, are_placed_together, cycle_of
from kubectl_dra.diagnosis.gangs.members import POD_GROUP, first_failed, group_cause, group_gate, preemption_of
from kubectl_dra.diagnosis.gangs.records import GroupDiagnosis, MemberState, RunningMember, SharedClaim
from kubectl_dra.diagnosis.gangs.templates import template_of
from kubectl_dra.diagnosis.gates.gates import other_scheduler
from kubectl_dra.diagnosis.pod import missing, needs
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser, NotFound
from kubectl_dra.diagnosis.pod.open_plugins import COMPOSITE, GANGS
from kubectl_dra.diagnosis.records import (
    Agreement,
    Assumption,
    AssumptionKind,
    Cause,
    GroupShortage,
    Missing,
    MissingEvidence,
    ObjectRef,
    Observed,
    OpenPlugins,
    PodDiagnosis,
    Verdict,
)
from kubectl_dra.diagnosis.said import agreement
from kubectl_dra.diagnosis.said.agreement import Prediction, newest_versions
from kubectl_dra.model.core import Pod
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.scheduling import INITIALLY_SCHEDULED, PodGroup, PodGroupResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.gangs.decision import GroupDecision, GroupOutcome
from kubectl_dra.scheduler.gangs.group import Gang, members_waiting
from kubectl_dra.scheduler.snapshot import Snapshot

_VERDICTS: Final = {
    GroupOutcome.SCHEDULED: Verdict.SCHEDULABLE,
    GroupOutcome.UNSCHEDULABLE: Verdict.UNSCHEDULABLE,
    GroupOutcome.ERROR: Verdict.SCHEDULER_ERROR,
    GroupOutcome.GATED: Verdict.GATED,
    GroupOutcome.EMPTY: Verdict.NOT_PENDING,
    GroupOutcome.OPEN: Verdict.UNKNOWN,
}


def diagnose_group(diagnoser: Diagnoser, key: Key) -> GroupDiagnosis:
    """Why a PodGroup is where it is. Raises :class:`NotFound`."""
    group = diagnoser.state.inventory.groups.pod_groups.get(key)
    if group is None:
        raise NotFound(POD_GROUP, key)
    return _Case(diagnoser, group).diagnosis()


class _Case:
    def __init__(self, diagnoser: Diagnoser, group: PodGroup) -> None:
        self._diagnoser = diagnoser
        self._state = diagnoser.state
        self._group = group
        self._key = key_of(group.metadata)
        self._gang = Gang(Snapshot(self._state), group)
        self._waiting = members_waiting(self._gang.snapshot, self._key)
        self._missing = self._what_is_missing()

    def diagnosis(self) -> GroupDiagnosis:
        verdict, causes, decision = self._verdict()
        pods = [self._diagnoser.pod(key_of(pod.metadata)) for pod in self._waiting]
        first = first_failed(decision) if decision is not None else None
        blocking = key_of(first.pod.metadata) if first is not None and verdict is not Verdict.SCHEDULABLE else None
        seen = _observed(self._group)
        message = decision.message if decision is not None and decision.message else None
        spec = self._group.spec
        return GroupDiagnosis(
            ObjectRef.of(POD_GROUP, self._key),
            verdict,
            spec.scheduling_policy.gang.min_count if spec.scheduling_policy.gang is not None else None,
            reason=decision.reason if decision is not None else "",
            message=message or "",
            observed=seen,
            agreement=self._agreement(verdict, message, seen),
            placed=_placed(decision),
            members=tuple(self._members(pods, decision)),
            running=tuple(RunningMember(ObjectRef.of("Pod", pod.key), node) for pod, node in self._gang.scheduled),
            blocking=ObjectRef.of("Pod", blocking) if blocking is not None else None,
            causes=causes,
            preemption=preemption_of(decision) if decision is not None else None,
            topology_key=self._group.topology_key or "",
            priority=self._gang.priority,
            claims=shared_claims(self._state.inventory, self._group),
            workload=self._ref("Workload", spec.workload_ref.workload_name if spec.workload_ref is not None else ""),
            template=template_of(self._state, self._group),
            placed_together=not self._apart,
            parent=self._ref("CompositePodGroup", spec.parent_composite_pod_group_name or ""),
            certainty=missing.certainty(self._state.evidence),
            missing=self._missing if verdict is not Verdict.NOT_PENDING else (),
            assumed=tuple(self._assumed()),
            nodes=next((pod.nodes for pod in pods if pod.pod.key == blocking), ()),
        )

    # --- the verdict --------------------------------------------------------------------------------------------------

    def _verdict(self) -> tuple[Verdict, tuple[Cause, ...], GroupDecision | None]:
        state = self._state
        if not self._waiting:
            if not state.evidence.complete("Pod", self._key.namespace):
                return Verdict.UNKNOWN, (self._evidence_cause(),), None
            return Verdict.NOT_PENDING, (), None
        foreign = [other_scheduler(pod, state.schedulers) for pod in self._waiting]
        if all(foreign):
            return Verdict.OTHER_SCHEDULER, tuple(cause for cause in foreign[:1] if cause is not None), None
        if self._apart:
            return self._each_by_itself()
        if not are_placed_together(state):
            return Verdict.UNKNOWN, (Cause(Code.NOT_SIMULATED, OpenPlugins((GANGS,))),), None
        if self._group.spec.parent_composite_pod_group_name is not None and state.features.composite_pod_groups:
            return Verdict.UNKNOWN, (Cause(Code.NOT_SIMULATED, OpenPlugins((COMPOSITE,))),), None
        if any(each.decides for each in self._missing):
            return Verdict.UNKNOWN, (self._evidence_cause(),), None
        decision = cycle_of(state, self._key)
        verdict = _VERDICTS[decision.outcome]
        match decision.outcome:
            case GroupOutcome.GATED:
                return verdict, (group_gate(state, decision),), decision
            case GroupOutcome.OPEN:
                first = self._diagnoser.pod(key_of(self._waiting[0].metadata))
                return verdict, first.causes, decision
            case GroupOutcome.UNSCHEDULABLE | GroupOutcome.ERROR:
                return verdict, (group_cause(state, decision),), decision
        return verdict, (), decision

    @property
    def _apart(self) -> bool:
        """Whether this scheduler knows groups as they are here, and takes no notice of them."""
        features = self._state.features
        return features.minor >= FIRST_MINOR and not features.generic_workload

    def _each_by_itself(self) -> tuple[Verdict, tuple[Cause, ...], None]:
        found = (self._diagnoser.pod(key_of(pod.metadata)).verdict for pod in self._waiting)
        return next((verdict for verdict in found if verdict is not Verdict.SCHEDULABLE), Verdict.SCHEDULABLE), (), None

    def _evidence_cause(self) -> Cause:
        return Cause(Code.EVIDENCE_MISSING, MissingEvidence(tuple(m for m in self._missing if m.decides)))

    def _what_is_missing(self) -> tuple[Missing, ...]:
        wanted = (*needs.POD, *needs.GROUPS)
        found = missing.missing(self._state.evidence, wanted, self._key.namespace)
        rules = self._state.features.device_taint_rules
        composite = self._state.features.composite_pod_groups
        left_out = {kind for kind, on in (("DeviceTaintRule", rules), ("CompositePodGroup", composite)) if not on}
        return tuple(m for m in found if m.kind not in left_out)

    # --- its pods -----------------------------------------------------------------------------------------------------

    def _members(self, pods: Sequence[PodDiagnosis], decision: GroupDecision | None) -> Iterator[MemberState]:
        own = {each.key: each for each in decision.members} if decision is not None else {}
        for pod in pods:
            member = own.get(pod.pod.key)
            yield MemberState(
                pod.pod,
                pod.verdict,
                member.nodes if member is not None else (),
                member.nominated if member is not None else "",
                pod.message,
                tuple(cause for cause in pod.causes if not isinstance(cause.detail, GroupShortage))
                if pod.verdict is not Verdict.SCHEDULABLE
                else (),
                pod.observed,
                pod.agreement,
            )

    # --- around it ----------------------------------------------------------------------------------------------------

    def _ref(self, kind: str, name: str) -> ObjectRef | None:
        return ObjectRef(kind, self._key.namespace, name) if name else None

    def _agreement(self, verdict: Verdict, message: str | None, seen: Observed | None) -> Agreement:
        """The condition of a group that was scheduled once tells nothing of the pods that came later."""
        if verdict in (Verdict.NOT_PENDING, Verdict.UNKNOWN) or (seen is not None and seen.status == "True"):
            return Agreement.UNCHECKED
        silent = verdict in (Verdict.GATED, Verdict.OTHER_SCHEDULER)
        prediction = Prediction((message,) if message is not None else (), silent)
        meta, state = self._group.metadata, self._state
        return agreement.compare(prediction, seen, lambda: agreement.changed_since(meta, newest_versions(state)))

    def _assumed(self) -> Iterator[Assumption]:
        if self._state.evidence.server_version is None:
            yield Assumption(AssumptionKind.FEATURES, f"1.{self._state.features.minor}")


def shared_claims(inventory: Inventory, group: PodGroup) -> tuple[SharedClaim, ...]:
    """The claims that the pods of a group share, as far as they are made, and the devices that they hold."""
    made = {status.name: status.resource_claim_name for status in group.status.resource_claim_statuses}
    return tuple(_shared(inventory, group, entry, made.get(entry.name)) for entry in group.spec.resource_claims)


def _shared(inventory: Inventory, group: PodGroup, entry: PodGroupResourceClaim, made: str | None) -> SharedClaim:
    name, namespace = entry.resource_claim_name or made, group.metadata.namespace
    claim = inventory.claims.get(Key(namespace, name)) if name else None
    devices = tuple(map(str, devices_of(claim))) if claim else ()
    ref = ObjectRef("ResourceClaim", namespace, name) if name else None
    return SharedClaim(entry.name, ref, entry.resource_claim_template_name or "", devices)


def _placed(decision: GroupDecision | None) -> int:
    return len(decision.placed.nearest.placed) if decision is not None and decision.placed is not None else 0


def _observed(group: PodGroup) -> Observed | None:
    condition = next((c for c in group.status.conditions if c.type == INITIALLY_SCHEDULED), None)
    if condition is None:
        return None
    return Observed(condition.status, condition.reason, condition.message, condition.last_transition_time or "")


def has_members_waiting(inventory: Inventory, group: Key) -> bool:
    """Whether any pod of a group has no node and is not finished."""
    pods = inventory.pods_by_group.get(group, ())
    return any(not pod.spec.node_name and not is_terminal(pod) for pod in pods)


def pods_of(state: ClusterState, group: Key) -> tuple[Pod, ...]:
    return tuple(sorted(state.inventory.pods_by_group.get(group, ()), key=lambda pod: pod.metadata.name))
