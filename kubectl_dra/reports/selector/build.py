"""Putting a SelectorReport together: which devices are meant, what became of them, what follows for the scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from kubectl_dra.allocation.errors import SelectorFailed
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.reports.base import Bound, Count, assumptions_of, feature_record, reads_of
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.totals import bound_of
from kubectl_dra.reports.selector.findings import Behind, Findings, behind_classes, failing_searches
from kubectl_dra.reports.selector.questions import Question, simple_claim
from kubectl_dra.reports.selector.records import (
    CrossCheck,
    DeviceOutcome,
    ExplainedPart,
    ExplainedSelector,
    Explanation,
    FailingSearch,
    Outside,
    PoolOutcome,
    PublishedDomain,
    Rewrite,
    SelectorRecord,
    SelectorReport,
    Totals,
)
from kubectl_dra.reports.selector.scoping import ScopedDevice, Setting
from kubectl_dra.reports.selector.trials import trial_of
from kubectl_dra.reports.unread import missing_rights
from kubectl_dra.selectors.catalog import PublishedDevice, domain_and_name
from kubectl_dra.selectors.compiling import COST_LIMIT, near_names
from kubectl_dra.selectors.evaluate import Decision, Outcome, Part, SelectorSet
from kubectl_dra.selectors.rewrite import Correction, corrections
from kubectl_dra.selectors.trial import SelectorTrial
from kubectl_dra.selectors.values import value_source

KINDS: Final = ("ResourceSlice", "ResourceClaim", "DeviceTaintRule", "DeviceClass", "Node")

Tried = tuple[ScopedDevice, Decision]


def selector_report(
    question: Question, setting: Setting, explained: DeviceId | None = None, crossed: bool = False
) -> SelectorReport:
    """The report of one question; ``explained`` asks for the value of every part of the selectors on a device.

    ``crossed``: an independent engine is asked, too.
    """
    return _Work(question, setting, explained, crossed).report()


@dataclass(frozen=True)
class _Work:
    question: Question
    setting: Setting
    explained: DeviceId | None
    crossed: bool

    @cached_property
    def trial(self) -> SelectorTrial[ScopedDevice]:
        """The selectors, those of the class first, on the devices in scope."""
        trial = trial_of(self.question, self.setting)
        return trial if self._class_found else replace(trial, class_found=False)

    @cached_property
    def _class_found(self) -> bool:
        return self.question.device_class is None or self.question.device_class in self.setting.classes

    # --- report -------------------------------------------------------------------------------------------------------

    @cached_property
    def findings(self) -> Findings:
        return Findings(self.setting, self.trial)

    def report(self) -> SelectorReport:
        question, setting = self.question, self.setting
        evidence, where = setting.state.evidence, setting.where
        behind, orders = self._behind()
        return SelectorReport(
            subject=question.subject,
            device_class=question.device_class or "",
            class_found=self._class_found,
            class_near=() if self._class_found else near_names(question.device_class or "", setting.classes),
            node=where.node or "",
            driver=where.driver or "",
            pool=where.pool or "",
            selectors=tuple(map(self._selector, range(len(self.trial.selectors)))),
            refusals=question.refusals,
            totals=self._totals(),
            clauses=tuple(self.findings.clauses()),
            failures=tuple(self.findings.failures()),
            names=tuple(self.findings.names()),
            unknown_domains=tuple(self.findings.unknown_domains()),
            rewrites=tuple(map(self._rewrite, corrections(self.trial))),
            published=published_domains(self.trial.published.items),
            pools=tuple(_pool(pool, tried, evidence) for pool, tried in self._by_pool()),
            outside=self._outside(),
            harmless_behind=behind.keeping,
            passing=behind.passing,
            orders=orders,
            not_ready=self._not_ready(),
            explanation=self._explanation(),
            cross_check=self._cross_check(),
            missing=missing_rights(evidence, self._needs()),
            assumed=assumptions_of(evidence),
            features=feature_record(setting.state.features),
            read=reads_of(evidence),
        )

    def _cross_check(self) -> CrossCheck | None:
        if not self.crossed:
            return None
        from kubectl_dra.reports.selector.second import cross_check

        return cross_check(self.trial)

    def _needs(self) -> Iterator[str]:
        """The kinds that the answer rests on: classes only say what a failure leads to, or are asked for."""
        fails = any(judged.outcome is Outcome.ERROR for _, judged in (*self.trial.meant, *self.trial.outside))
        asked = self.question.device_class is not None
        return (kind for kind in KINDS if fails or asked or kind != "DeviceClass")

    def _not_ready(self) -> dict[str, int]:
        meant = {(member.driver, member.pool) for member, _ in self.trial.meant}
        return {str(pool): number for pool, number in self.setting.not_ready.items() if tuple(pool) in meant}

    def _by_pool(self) -> Iterable[tuple[PoolId, Sequence[Tried]]]:
        pools: dict[PoolId, list[Tried]] = {}
        for member, judged in self.trial.meant:
            pools.setdefault(PoolId(member.driver, member.pool), []).append((member, judged))
        return pools.items()

    def _selector(self, number: int) -> SelectorRecord:
        selector = self.trial.selectors[number]
        return SelectorRecord(
            device_class=selector.device_class or "",
            index=selector.index,
            expression=selector.expression,
            admission=selector.admission,
            scheduler=selector.scheduler,
            output_type=(selector.program.output_type or "") if selector.program is not None else "",
            estimated_cost=selector.estimated_cost,
            cost_limit=COST_LIMIT,
            spent=self.trial.evaluator.spent[number],
        )

    def _totals(self) -> Totals:
        evidence = self.setting.state.evidence
        outcomes = Counter(judged.outcome for _, judged in self.trial.meant)
        matching = [member for member, judged in self.trial.meant if judged.outcome is Outcome.MATCHES]
        free = sum(member.free for member in matching)
        partly = sum(member.state is DeviceState.PARTLY for member in matching)
        sure = bound_of("devices", evidence)
        undecided = Count(outcomes[Outcome.UNDECIDED], sure)
        decided = Bound.AT_LEAST if undecided.value and sure is Bound.EXACT else sure
        of_free = bound_of(DeviceState.FREE, evidence)
        if undecided.value:
            of_free = Bound.AT_LEAST if of_free is Bound.EXACT else Bound.UNKNOWN
        return Totals(
            devices=Count(len(self.trial.meant), sure),
            matches=Count(outcomes[Outcome.MATCHES], decided),
            free=Count(free, of_free),
            partly=Count(partly, of_free),
            no=Count(outcomes[Outcome.NO], decided),
            fails=Count(outcomes[Outcome.ERROR], decided),
            undecided=undecided,
        )

    def _outside(self) -> Outside:
        others = self.trial.outside
        outcomes = Counter(judged.outcome for _, judged in others)
        lacking = {m.domain.text for m in self.trial.mentions} if self.question.device_class is None else set()
        return Outside(
            devices=len(others),
            matches=outcomes[Outcome.MATCHES],
            no=outcomes[Outcome.NO],
            fails=outcomes[Outcome.ERROR],
            undecided=outcomes[Outcome.UNDECIDED],
            domains=tuple(sorted(lacking)),
            drivers=dict(sorted(Counter(member.driver for member, _ in others).items())),
        )

    def _rewrite(self, correction: Correction[ScopedDevice]) -> Rewrite:
        return Rewrite(
            index=self.trial.selectors[correction.number].index,
            expression=correction.expression,
            changes=correction.changes,
            estimated_cost=correction.estimated_cost,
            matches=len(correction.matching),
            free=sum(member.free for member in correction.matching),
            no=correction.no,
        )

    def _explanation(self) -> Explanation | None:
        if self.explained is None or not self.trial.usable:
            return None
        member = next((member for member in self.setting.members if member.id == self.explained), None)
        return _explanation(member, self.trial.evaluator) if member is not None else None

    # --- what follows -------------------------------------------------------------------------------------------------

    def _behind(self) -> tuple[Behind, tuple[FailingSearch, ...]]:
        """Classes that keep failing devices away or not, and searches that really fail on one."""
        failing = {m.id: (m, False) for m, judged in self.trial.meant if judged.outcome is Outcome.ERROR}
        failing |= {m.id: (m, True) for m, judged in self.trial.outside if judged.outcome is Outcome.ERROR}
        if not failing or self.trial.budget.exhausted:
            return Behind((), ()), ()
        question = self.question
        named = question.device_class or (question.own_class.metadata.name if question.own_class is not None else None)
        if named is not None:
            behind = Behind((), ())
            classes: tuple[str, ...] = (named,) if self._class_found else ()
        else:
            outside = [member for member, is_outside in failing.values() if is_outside]
            behind = behind_classes(self.setting, outside, self.trial.meant_devices)
            inside = [member for member, is_outside in failing.values() if not is_outside]
            exposing = behind_classes(self.setting, inside, self.trial.meant_devices).passing
            # The class that people would use for these devices first.
            classes = tuple(dict.fromkeys((*(n for n in exposing if n in behind.keeping), *exposing, *behind.passing)))
        ours = self._is_ours(failing)
        orders = tuple(failing_searches(self.setting, classes, question.claim_for, ours, failing))
        if not orders and question.claim is not None and question.device_class is not None:
            # Another request of the claim may end every search before this one's turn.
            alone = simple_claim(question.device_class, question.expressions)
            orders = tuple(failing_searches(self.setting, classes, lambda _: alone, ours, failing))
        return behind, orders

    def _is_ours(self, failing: Mapping[DeviceId, tuple[ScopedDevice, bool]]) -> Callable[[SelectorFailed], bool]:
        """Whether an error of a claim with several requests comes from the selectors of this one."""

        def ours(error: SelectorFailed) -> bool:
            member = failing[error.device][0]
            decision = self.trial.evaluator.of(member.driver, member.device)
            return (decision.error, self.trial.selectors[decision.selector].index) == (error.detail, error.selector)

        return ours


def _pool(pool: PoolId, tried: Sequence[Tried], evidence: Evidence) -> PoolOutcome:
    def names(outcome: Outcome, free: bool = False) -> tuple[str, ...]:
        return tuple(m.device.name for m, j in tried if j.outcome is outcome and (m.free or not free))

    return PoolOutcome(
        driver=pool.driver,
        pool=pool.pool,
        matches=names(Outcome.MATCHES),
        free=names(Outcome.MATCHES, free=True),
        no=names(Outcome.NO),
        fails=names(Outcome.ERROR),
        undecided=names(Outcome.UNDECIDED),
        bound=bound_of("devices", evidence),
        free_bound=bound_of(DeviceState.FREE, evidence),
    )


# --- one device ----------------------------------------------------------------------------------------------------


def _explanation(member: ScopedDevice, evaluator: SelectorSet) -> Explanation:
    """Every part of every selector on one device, in the order in which the scheduler would evaluate them."""
    decided = evaluator.of(member.driver, member.device).outcome
    return Explanation(str(member.id), member.state, member.state_bound, decided, tuple(_explained(evaluator, member)))


def _explained(evaluator: SelectorSet, member: ScopedDevice) -> Iterator[ExplainedSelector]:
    going_on = True
    for number, selector in enumerate(evaluator.selectors):
        decision, cost, parts = evaluator.explained(number, member.driver, member.device)
        yield ExplainedSelector(
            device_class=selector.device_class or "",
            index=selector.index,
            expression=selector.expression,
            evaluated=going_on,
            outcome=decision.outcome,
            error=decision.error,
            cost=cost,
            parts=tuple(map(_part, parts)),
        )
        going_on = going_on and decision.outcome is Outcome.MATCHES


def _part(part: Part) -> ExplainedPart:
    error = next((outcome.text for outcome in part.outcomes if outcome.failed), None)
    seen = tuple(outcome.text for outcome in part.outcomes if not outcome.failed)
    return ExplainedPart(part.text, part.depth, seen, error or "", part.times)


# --- device by device -----------------------------------------------------------------------------------------------


def device_outcomes(question: Question, setting: Setting) -> tuple[DeviceOutcome, ...]:
    """What the selectors say of each device that they are about, in search order, and the condition that decided."""
    trial = _Work(question, setting, None, crossed=False).trial
    return tuple(_device_outcome(trial, member, decision) for member, decision in trial.meant)


def _device_outcome(trial: SelectorTrial[ScopedDevice], member: ScopedDevice, decision: Decision) -> DeviceOutcome:
    reason = decision.error
    if decision.outcome is Outcome.NO:
        clause = trial.evaluator.detail(member.driver, member.device).clause
        clauses = trial.selectors[decision.selector].clauses
        reason = clauses[clause].text if 0 <= clause < len(clauses) else ""
    return DeviceOutcome(
        member.driver, member.pool, member.device.name, member.state, member.state_bound, decision.outcome, reason
    )


# --- what is published ------------------------------------------------------------------------------------------------


def published_domains(devices: Iterable[PublishedDevice]) -> tuple[PublishedDomain, ...]:
    """By domain; each name with the value of the first device that has it."""
    found: dict[str, PublishedDomain] = {}
    # Most devices of a driver have the same names: those are looked at once.
    seen: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()
    for each in devices:
        names = (each.driver, tuple(each.device.attributes), tuple(each.device.capacity))
        if names in seen:
            continue
        seen.add(names)
        for name, attribute in each.device.attributes.items():
            domain, short = domain_and_name(name, each.driver)
            found.setdefault(domain, PublishedDomain(domain, {}, {})).attributes.setdefault(
                short, value_source(attribute)
            )
        for name, capacity in each.device.capacity.items():
            domain, short = domain_and_name(name, each.driver)
            found.setdefault(domain, PublishedDomain(domain, {}, {})).capacity.setdefault(short, str(capacity.value))
    return tuple(found[domain] for domain in sorted(found))
