"""The diagnosis of one pod: from what holds it back first to what is told around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import classic
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain import binding
from kubectl_dra.diagnosis.explain.whole_cause import refined
from kubectl_dra.diagnosis.gangs import members, workload_refs
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together
from kubectl_dra.diagnosis.gangs.elsewhere import incomplete, left_to, placed_of, with_gang
from kubectl_dra.diagnosis.gangs.one_by_one import Placed
from kubectl_dra.diagnosis.gates.gates import TEMPLATE_KIND, other_scheduler, own_causes
from kubectl_dra.diagnosis.pod import missing, needs, on_node
from kubectl_dra.diagnosis.pod.equivalence import Examiner
from kubectl_dra.diagnosis.pod.finding import Finding, by_default
from kubectl_dra.diagnosis.pod.judgement import Judgement, nodes_can_tell
from kubectl_dra.diagnosis.pod.missing import kinds_known
from kubectl_dra.diagnosis.pod.open_plugins import GANGS_OF_WORKLOADS, assumptions, left_open, open_groups, open_plugins
from kubectl_dra.diagnosis.records import (
    Agreement,
    Assumption,
    AssumptionKind,
    Bound,
    Cause,
    Certainty,
    ClaimEntry,
    GangElsewhere,
    Missing,
    NodeOutcome,
    ObjectRef,
    Observed,
    OpenPlugins,
    PodDiagnosis,
    SchedulerName,
    Verdict,
)
from kubectl_dra.diagnosis.said import agreement, events, foreign, in_flight, kubelet, refusals, unread, whole_words
from kubectl_dra.diagnosis.said.agreement import Prediction, newest_versions
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key, key_of
from kubectl_dra.model.podneeds import is_spread
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.claims import ClaimProblem, ResolvedEntry, resolve
from kubectl_dra.scheduler.extended import asked, served_resources, virtual_claim
from kubectl_dra.scheduler.reasons import few_siblings

#: Not said where none of the gang is tried: its own words, and that nothing is in the way.
_BEFORE_DEVICES: Final = frozenset({Code.NOT_SIMULATED, Code.FITS_NOW, Code.OTHER_PLUGIN})
# Where several devices fit or fail, the one that the search meets first decides.
_DEPEND_ON_ORDER: Final = frozenset({Verdict.SCHEDULABLE, Verdict.SCHEDULER_ERROR})


class PodCase:
    """One pod. The verdicts are tried in their order; the first that holds is taken."""

    def __init__(self, state: ClusterState, pod: Pod, examiner: Examiner) -> None:
        self.state = state
        self.examiner = examiner
        self.pod = pod
        self.key = key_of(pod.metadata)
        self._unread: tuple[str, ...] = ()
        self._known = kinds_known(state, pod)
        self.entries = resolve(state.inventory, state.evidence, state.features, pod)

    def diagnosis(self) -> PodDiagnosis:
        """Everything that is known of the pod."""
        finding = self._finding()
        seen = agreement.observed(self.pod, self._events())
        # Nodes that other plugins take out are not counted among those of DynamicResources.
        said = not finding.prediction.fitting and not finding.open
        messages = finding.prediction.messages if said else ()
        return PodDiagnosis(
            ObjectRef.of("Pod", self.key),
            finding.verdict,
            reason=finding.reason or "",
            message=agreement.most_telling(messages, seen),
            alternatives=messages,
            observed=seen,
            agreement=self._agreement(finding, seen),
            node=self.pod.spec.node_name,
            claims=tuple(ObjectRef.of("ResourceClaim", entry.name) for entry in self.entries if entry.name is not None),
            nodes=finding.nodes,
            causes=finding.causes,
            depends_on_node_order=finding.depends_on_node_order,
            certainty=self._certainty(finding),
            missing=(*self._missing(), *missing.of_spreading(self.state.evidence, self.pod, finding.nodes)),
            assumed=tuple(self._assumptions(finding)),
            preemption=finding.preemption,
        )

    def _finding(self) -> Finding:
        leaves = on_node.departure(self.state, self.pod, _claims(self.entries))
        if leaves is not None:
            return Finding(Verdict.DELETING, (leaves,))
        unhealthy = kubelet.unhealthy(self.pod, self.state.inventory)
        if is_terminal(self.pod):
            return Finding(Verdict.ENDED, (*kubelet.rejected(self.state.inventory, self.pod), *unhealthy))
        if self._is_done():
            return Finding(Verdict.NOT_PENDING, (*unhealthy, *kubelet.not_running(self.pod, self._events())))
        if self.pod.spec.node_name:
            return Finding(
                Verdict.PREPARING, tuple(on_node.preparing(self.state, self.pod, self.entries, self._events()))
            )
        found = (
            self._template_unread() or self._gated() or self._other_scheduler() or self._unreadable() or self._grouped()
        )
        return self._remembered(found or self._beside_workload(self._in_gang(self._attempted())))

    def _is_done(self) -> bool:
        if self.pod.status.phase not in ("", "Pending"):
            return True
        return self.pod.metadata.deletion_timestamp is not None and not self.pod.spec.node_name

    # --- never tried ------------------------------------------------------------------------------------------------

    def _gated(self) -> Finding | None:
        causes = tuple(own_causes(self.state, self.pod, self.entries))
        if not causes:
            return None
        if self.pod.spec.scheduling_gates:
            # The API server writes this when the pod is created.
            prediction = Prediction((fit_error.GATED_MESSAGE,))
            return Finding(Verdict.GATED, causes, prediction, fit_error.SCHEDULING_GATED)
        texts = tuple(cause.detail.scheduler_text for cause in causes if isinstance(cause.detail, ClaimEntry))
        return Finding(Verdict.GATED, causes, Prediction(silent=True, earlier=tuple(filter(None, texts))))

    def _other_scheduler(self) -> Finding | None:
        cause = other_scheduler(self.pod, self.state.schedulers)
        if cause is None:
            return None
        gang = left_to(self.state, self.pod)
        words = foreign.last_words(self.state.inventory, self.pod, gang.name if gang is not None else "")
        if gang is not None:
            gang = msgspec.structs.replace(
                gang, words=words.text, time=words.time, times=words.times, first=words.first
            )
        placed = placed_of(self.state, self.pod)
        cause = Cause(cause.code, gang or self._scheduler_name(words, placed))
        found = self._by_default_rules(gang, placed)
        causes = (cause, *(each for each in found.causes if each.code not in _BEFORE_DEVICES))
        return Finding(Verdict.OTHER_SCHEDULER, causes, Prediction(), nodes=found.nodes)

    def _scheduler_name(self, words: foreign.Words, placed: Placed | None) -> SchedulerName:
        heard = bool(words.text) or not self.state.evidence.complete("Event", self.key.namespace)
        silent_since = "" if heard else self.pod.metadata.creation_timestamp or ""
        fitting = placed.number if placed is not None else None
        name = self.pod.spec.scheduler_name
        stopped = foreign.stopped(self.state, name)
        return SchedulerName(name, *words, silent_since=silent_since, fitting=fitting, stopped=stopped)

    def _by_default_rules(self, gang: GangElsewhere | None, placed: Placed | None) -> Finding:
        """Why the pod, or the first of its gang that finds no node beside the others, finds none by these rules."""
        complete = placed is not None and not (gang is not None and gang.present)
        return (self._first_lacking(placed) if complete else None) or Finding(Verdict.OTHER_SCHEDULER)

    def _first_lacking(self, placed: Placed | None) -> Finding | None:
        """What the first pod of a gang finds that has no node beside the others; None where all have one."""
        if placed is None or placed.lacking is None:
            return None
        known = by_default(self.state).get(placed.lacking)
        if known is None:
            there = self.state.changed(placed.inventory)
            known = PodCase(there, placed.inventory.pods[placed.lacking], Examiner(there))._attempted()
            if len(placed.members) > 1:
                by_default(self.state)[placed.lacking] = known
        return known

    def _template_unread(self) -> Finding | None:
        """A pod that is only supposed gets claims from its templates: unknown ones where one was not read."""
        templates = {entry.template for entry in self.entries if entry.problem is ClaimProblem.NOT_CREATED}
        here = {Key(self.key.namespace, name) for name in templates if name}
        if self.pod.metadata.creation_timestamp or here <= self.state.inventory.templates.keys():
            return None
        if self.state.evidence.complete(TEMPLATE_KIND, self.key.namespace):
            return None
        self._unread = (TEMPLATE_KIND,)
        return Finding(Verdict.UNKNOWN, (self._evidence_cause(),), Prediction())

    def _unreadable(self) -> Finding | None:
        unreadable = any(entry.problem is ClaimProblem.UNREADABLE for entry in self.entries)
        return Finding(Verdict.UNKNOWN, (self._evidence_cause(),), Prediction()) if unreadable else None

    def _as_heard(self, causes: Sequence[Cause] = ()) -> tuple[Cause, ...]:
        """That data is missing, what the scheduler's words say by themselves, and what else was found."""
        seen = agreement.observed(self.pod, self._events())
        return (self._evidence_cause(), *whole_words.beside(self.state, self.pod, causes, seen))

    def _evidence_cause(self) -> Cause:
        seen = agreement.observed(self.pod, self._events())
        closed = (e.name.name for e in self.entries if e.problem is ClaimProblem.UNREADABLE and e.name is not None)
        return unread.cause(self.state, self.pod, self._missing(), seen, self._searched(_claims(self.entries)), closed)

    # --- with others --------------------------------------------------------------------------------------------------

    def _grouped(self) -> Finding | None:
        """What becomes of the pod in the cycle of its group; None if it is scheduled alone."""
        state, group = self.state, group_key(self.pod)
        kept_out = workload_refs.kept_out(state, self.pod)
        if kept_out is not None:
            return self._of_group(kept_out)
        if group is None or not are_placed_together(state) or open_groups(state, self.pod):
            return None
        absent = members.without_group(state, group, self.pod)
        if absent is None and (self._lacks_evidence() or not nodes_can_tell(state)):
            return Finding(Verdict.UNKNOWN, self._as_heard(), Prediction())
        waits = binding.waits(self.state, self.pod, _claims(self.entries)) if absent is None else ()
        if waits:
            return Finding(Verdict.BINDING, waits)
        return self._of_group(absent or members.find(state, group, self.pod))

    def _of_group(self, found: members.MemberFinding) -> Finding:
        self._unread = found.unread
        causes = found.causes
        if found.verdict is Verdict.UNKNOWN and (self._lacks_evidence() or not causes):
            causes = self._as_heard(causes)
        fitting = sum(len(each.nodes) for each in found.nodes if each.outcome is NodeOutcome.FITS)
        silent = found.verdict in (Verdict.GATED, Verdict.NOT_PENDING)
        fitting = fitting if found.verdict is Verdict.SCHEDULABLE else 0
        prediction = Prediction(found.messages, silent, fitting, members.kept_out(causes))
        return Finding(found.verdict, causes, prediction, found.reason, found.nodes, preemption=found.preemption)

    # --- tried ------------------------------------------------------------------------------------------------------

    def _attempted(self) -> Finding:
        claims = _claims(self.entries)
        examination = self.examiner.examine(self.pod, claims)
        judgement = replace(examination.judgement, unspread=is_spread(self.pod))
        self._unread = (*examination.explanation.unread, *judgement.unread)
        waits = binding.waits(self.state, self.pod, claims, fits=bool(judgement.fitting))
        if waits:
            return Finding(Verdict.BINDING, waits)
        seen = agreement.observed(self.pod, self._events())
        plugins = () if _told(judgement, seen) else open_plugins(self.state, self.pod, seen)
        causes: tuple[Cause, ...] = ()
        if plugins and judgement.verdict in _DEPEND_ON_ORDER:
            # Each of them may reject the nodes on which the devices decide.
            judgement = replace(judgement, verdict=Verdict.UNKNOWN, reason=None, messages=())
            causes = (Cause(Code.NOT_SIMULATED, OpenPlugins(plugins)),)
        refused = self._refused(claims, judgement, seen)
        if judgement.unread and judgement.verdict is Verdict.SCHEDULABLE:
            judgement = replace(judgement, verdict=Verdict.UNKNOWN, reason=None, messages=())
        if refused is not None:
            judgement, causes = refused[0], (*causes, refused[1])
        gone = on_node.gone(self.state, claims) if judgement.verdict is Verdict.SCHEDULABLE else []
        explanation = examination.explanation
        told, groups = refined(
            self.state, self._searched(claims), explanation.all_causes(judgement, seen), explanation.groups
        )
        found = (*gone, *(with_gang(self.state, self.pod, cause) for cause in told))
        causes += tuple(cause for cause in found if refused is None or cause.code is not refused[1].code)
        ours, judgement = judgement, foreign.judged(judgement, seen)
        before = refusals.earlier(self._events(), seen) if refused is None else None
        causes += (before,) if before is not None else ()
        heard = None
        if judgement.verdict is Verdict.UNKNOWN and self._lacks_evidence():
            causes = self._as_heard(causes)
            heard = whole_words.under_way(self.pod, seen)
        return Finding(
            judgement.verdict,
            causes,
            msgspec.structs.replace(judgement.prediction, earlier=binding.said_before(causes)),
            judgement.reason,
            tuple(left_open(group, plugins) for group in groups),
            judgement.depends_on_node_order,
            plugins,
            examination.preemption if ours.verdict is Verdict.UNSCHEDULABLE else heard,
            examination.taken_to_wait if judgement.verdict is Verdict.SCHEDULABLE else (),
        )

    def _in_gang(self, finding: Finding) -> Finding:
        """What the pod comes to where the coscheduling plugin rejects it before any node is tried."""
        gang = incomplete(self.state, self.pod)
        if gang is None or finding.verdict is Verdict.BINDING:
            return finding
        text = few_siblings(self.key.name, len(gang.present), gang.expected or 0)
        said = fit_error.pre_filter_rejection(len(self.state.inventory.nodes), text)
        causes = tuple(cause for cause in finding.causes if cause.code not in _BEFORE_DEVICES)
        return Finding(
            Verdict.UNSCHEDULABLE,
            (Cause(Code.POD_GROUP_INCOMPLETE, gang), *causes),
            Prediction((said, *finding.prediction.messages), earlier=(text,)),
            fit_error.UNSCHEDULABLE,
            finding.nodes,
        )

    def _beside_workload(self, finding: Finding) -> Finding:
        """What the pod comes to that finds a node, but waits there for the pods of its group of a Workload."""
        short = workload_refs.shortage(self.state, self.pod) if finding.verdict is Verdict.SCHEDULABLE else None
        if short is None:
            return finding
        if short.placed is None:
            causes = (Cause(Code.NOT_SIMULATED, OpenPlugins((GANGS_OF_WORKLOADS,))), *finding.causes)
            return replace(finding, verdict=Verdict.UNKNOWN, causes=causes, open=(GANGS_OF_WORKLOADS,), reason=None)
        detail, beside = short.detail, self._first_lacking(short.placed) if not short.detail.because else None
        if beside is not None:
            detail = msgspec.structs.replace(detail, because=beside.causes[:1])
        found = beside or finding
        causes = (Cause(Code.POD_GROUP_UNPLACED, detail), *(c for c in found.causes if c.code not in _BEFORE_DEVICES))
        prediction = Prediction((workload_refs.LATE,), earlier=(workload_refs.WAITING,))
        return Finding(Verdict.UNSCHEDULABLE, causes, prediction, fit_error.UNSCHEDULABLE, found.nodes)

    def _refused(
        self, claims: Sequence[ResourceClaim], judgement: Judgement, seen: Observed | None
    ) -> tuple[Judgement, Cause] | None:
        """What the pod comes to where the API server refuses what the scheduler writes, although a node fits."""
        if judgement.verdict is not Verdict.SCHEDULABLE:
            return None
        found = refusals.standing(self.state, self.pod, claims, seen)
        if found is None or seen is None:
            return None
        order, cause = found
        if order is refusals.Order.UNKNOWN:
            return replace(judgement, verdict=Verdict.UNKNOWN, reason=None, messages=()), cause
        verdict = Verdict.UNSCHEDULABLE if seen.reason == fit_error.UNSCHEDULABLE else Verdict.SCHEDULER_ERROR
        return replace(judgement, verdict=verdict, reason=seen.reason, messages=(seen.message,)), cause

    def _remembered(self, finding: Finding) -> Finding:
        """What the scheduler goes on saying of its memory against a pod that would fit."""
        fits = finding.verdict is Verdict.SCHEDULABLE
        found = in_flight.standing(self.state, self.pod, _claims(self.entries), self._events()) if fits else None
        if found is None:
            return replace(finding, causes=foreign.untried(self.state, self.pod, finding.causes)) if fits else finding
        messages, cause = found
        causes = (cause, *(each for each in finding.causes if each.code is not Code.FITS_NOW))
        verdict, reason = (Verdict.UNSCHEDULABLE, fit_error.UNSCHEDULABLE) if messages else (Verdict.UNKNOWN, None)
        return replace(finding, verdict=verdict, causes=causes, prediction=Prediction(messages), reason=reason)

    def _searched(self, claims: Sequence[ResourceClaim]) -> Sequence[ResourceClaim]:
        """The claims and the one that the scheduler makes up for extended resources."""
        wanted, served = asked(self.pod), served_resources(self.state)
        return (*claims, virtual_claim(self.pod, wanted, served)) if wanted else claims

    def _lacks_evidence(self) -> bool:
        return any(m.decides for m in self._missing())

    # --- around it ----------------------------------------------------------------------------------------------------

    def _events(self) -> Sequence[Event]:
        return events.about(self.state.inventory, self.pod)

    def _agreement(self, finding: Finding, seen: Observed | None) -> Agreement:
        if finding.verdict in (Verdict.NOT_PENDING, Verdict.ENDED, Verdict.DELETING, Verdict.UNKNOWN):
            return Agreement.UNCHECKED
        prediction = finding.prediction
        found = agreement.compare(prediction, seen, self._changed_since)
        random = finding.verdict in _DEPEND_ON_ORDER and not self.state.features.deterministic
        return Agreement.UNCHECKED if found is Agreement.DIFFERS and (random or finding.open) else found

    def _changed_since(self) -> bool:
        return agreement.changed_since(self.pod.metadata, newest_versions(self.state))

    def _certainty(self, finding: Finding) -> Certainty:
        found = missing.certainty(self.state.evidence, self._known)
        if finding.open and found.nodes is Bound.EXACT:
            return msgspec.structs.replace(found, nodes=Bound.AT_MOST)
        return found

    def _missing(self) -> tuple[Missing, ...]:
        wanted = (*needs.POD, *needs.CLASSIC) if classic.concerns(_claims(self.entries)) else needs.POD
        turned_out = needs.deciding(self._unread)
        wanted = (*(need for need in wanted if need.kind not in {*self._unread, *self._known}), *turned_out)
        found = missing.missing(self.state.evidence, wanted, self.key.namespace)
        return tuple(m for m in found if m.kind != "DeviceTaintRule" or self.state.features.device_taint_rules)

    def _assumptions(self, finding: Finding) -> Iterator[Assumption]:
        yield from assumptions(self.state, self.pod, in_order=finding.verdict in _DEPEND_ON_ORDER)
        for plugin in finding.open:
            yield Assumption(AssumptionKind.NOT_SIMULATED, plugin.plugin)
        for key in finding.taken_to_wait:
            yield Assumption(AssumptionKind.NOMINATED, str(key))


def _told(judgement: Judgement, seen: Observed | None) -> bool:
    """Whether the scheduler has said what the judgement expects, up to nodes that other plugins rejected."""
    if seen is None or seen.status != "False":
        return False
    return judgement.prediction.meets(seen.message)


def _claims(entries: Sequence[ResolvedEntry]) -> tuple[ResourceClaim, ...]:
    """The claims of the entries in their order; one that two entries name is there twice, as for the scheduler."""
    return tuple(entry.claim for entry in entries if entry.claim is not None)
