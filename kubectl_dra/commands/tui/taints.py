"""The terminal UI's taint writer: the plans and writes of taint-device, without its questions. The screen asks them.

Nothing is written on a plan that differs from the one that was agreed to; it is handed back to be agreed to anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.address import completed
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.taint.dialogue import NO_SCHEDULE, failure, offers_steps
from kubectl_dra.commands.taint.planning import RulePlanner, TaintPlanner
from kubectl_dra.commands.taint.source import TaintSource, open_source, source_of_facts
from kubectl_dra.commands.taint.words import parse_words
from kubectl_dra.model.taint_plan import TaintPlan
from kubectl_dra.model.taint_text import NO_EXECUTE
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.taints.plan_page import plan_page
from kubectl_dra.output.taints.results import change_lines, done_line, present_lines, truth_text
from kubectl_dra.reports.taints.taint_plan import with_effect
from kubectl_dra.source.errors import SourceError
from kubectl_dra.source.live.write import WriteOutcome, WriteState, carry_out
from kubectl_dra.tui.feed import with_hint
from kubectl_dra.tui.writing import PlanRefusedError, Preview, TaintRequest, WriteResult


class CommandTaintWriter:
    """Plans and writes as the command does; connects when it is first asked for a plan of a live cluster."""

    def __init__(self, options: Options, context: str = "") -> None:
        self._options = replace(options, context=context or options.context)
        self._open = ExitStack()
        self._source: TaintSource | None = None
        recorded = "what is on the screen comes from a file: nothing can be written to it"
        self.refusal = Safe(recorded if options.from_ is not None else "")

    def wrong_words(self, order: TaintRequest) -> Safe:
        try:
            if not order.rule:
                parse_words(order.words, match=False)
        except UsageProblem as problem:
            return safe(with_hint(problem.message, problem.hint))
        return Safe("")

    def plan(self, order: TaintRequest, state: ClusterState, *, check: bool, effect: str = "") -> Preview:
        with _refusals(self._options):
            planner = self._planner(order, state)
            return _preview(planner, planner.plan(effect), check=check and not self.refusal)

    def write(self, order: TaintRequest, state: ClusterState, agreed: Preview, *, steps: bool = False) -> WriteResult:
        with _refusals(self._options):
            if self.refusal:
                raise CommandError(self.refusal)
            planner = self._planner(order, state)
            effect = "" if agreed.plan.removal else agreed.plan.taint.effect
            again = planner.plan(effect)
            if again.substance != agreed.plan.substance:
                changes = [Safe("  ") + line for line in change_lines(agreed.plan, again)]
                said = [Safe("Meanwhile this has changed, so nothing was written:"), *changes]
                return WriteResult(said, False, _preview(planner, again, check=True))
            return _carry_out(planner, with_effect(again, NO_SCHEDULE) if steps else again, effect, steps)

    def close(self) -> None:
        self._open.close()
        self._source = None

    def _planner(self, order: TaintRequest, state: ClusterState) -> TaintPlanner:
        source = self._source_of(state)
        if order.rule:
            return RulePlanner(source, order.rule)
        return TaintPlanner(source, parse_words(order.words, match=False), "", force=False)

    def _source_of(self, state: ClusterState) -> TaintSource:
        if self.refusal:
            return source_of_facts(self._options, state)
        if self._source is None:
            self._source = self._open.enter_context(open_source(self._options))
        return self._source


def _carry_out(planner: TaintPlanner, plan: TaintPlan, effect: str, steps: bool) -> WriteResult:
    """The writes of a plan, and what is to be agreed to after them."""
    outcomes = carry_out(planner.source.live, plan)
    lines = [line for outcome in outcomes for line in _outcome_lines(outcome)]
    failed = next((outcome for outcome in outcomes if not outcome.done), None)
    if failed is None:
        return _with_next(lines, True, planner, NO_EXECUTE) if steps else WriteResult(lines, True)
    if failed.state is WriteState.CONFLICT:
        lines.append(fmt("The rules were changed by someone else first: {}.", truth_text(failed.write, failed.now)))
        return _with_next(lines, False, planner, effect)
    return WriteResult([*lines, *_words(failure(failed, outcomes), planner.source.options)], False)


def _with_next(lines: list[Safe], done: bool, planner: TaintPlanner, effect: str) -> WriteResult:
    """What is to be agreed to after what was written; where it can't be planned, what was written is still told."""
    try:
        return WriteResult(lines, done, _preview(planner, planner.plan(effect), check=True))
    except (CommandError, SourceError) as error:
        return WriteResult([*lines, *_words(error, planner.source.options)], done)


def _outcome_lines(outcome: WriteOutcome) -> Iterator[Safe]:
    if outcome.done:
        yield done_line(outcome.write)
    if outcome.state is WriteState.CONFIRMED and outcome.error is not None:
        yield fmt("warning: {}; but it was done", outcome.error.what)


def _preview(planner: TaintPlanner, plan: TaintPlan, check: bool) -> Preview:
    if not plan.writes:
        return Preview(plan, partial(present_lines, plan))
    if check:
        planner.check(plan)
    page = partial(plan_page, plan, planner.missing, planner.notes())
    return Preview(plan, page, offers_steps(plan), planner.to_type(plan), check)


@contextmanager
def _refusals(options: Options) -> Iterator[None]:
    """Errors of the command as words for the screen."""
    try:
        yield
    except UsageProblem as problem:
        raise PlanRefusedError(_lines(problem.message, completed(problem.hint, options))) from problem
    except (CommandError, SourceError) as error:
        raise PlanRefusedError(_words(error, options)) from error


def _words(error: CommandError | SourceError, options: Options) -> list[Safe]:
    return _lines(error.what, completed(error.hint, options))


def _lines(what: str, hint: str) -> list[Safe]:
    lines = [fmt("error: {}", what)]
    return [*lines, fmt("try: {}", hint)] if hint else lines
