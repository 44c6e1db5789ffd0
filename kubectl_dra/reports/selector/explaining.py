"""All selectors on one device, part by part, in the order in which the scheduler would evaluate them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.cel import DeviceValue
from kubectl_dra.cel.explain import Part, explain
from kubectl_dra.reports.selector.compiling import Compiled
from kubectl_dra.reports.selector.judging import Judge
from kubectl_dra.reports.selector.records import ExplainedPart, ExplainedSelector, Explanation, Outcome
from kubectl_dra.reports.selector.scoping import Member


def explanation(member: Member, selectors: Sequence[Compiled], judge: Judge) -> Explanation:
    """Every part of every selector on one device."""
    explained = tuple(_explained(selectors, judge.value(member)))
    decided = next((each.outcome for each in explained if each.outcome is not Outcome.MATCHES), Outcome.MATCHES)
    return Explanation(str(member.id), member.state, decided, explained)


def _explained(selectors: Sequence[Compiled], value: DeviceValue) -> Iterator[ExplainedSelector]:
    going_on = True
    for selector in selectors:
        program = selector.program
        if program is None:
            continue
        answer = program.evaluate(value)
        if answer.undecided:
            outcome = Outcome.UNDECIDED
        elif answer.error is not None:
            outcome = Outcome.FAILS
        else:
            outcome = Outcome.MATCHES if answer.match else Outcome.NO
        yield ExplainedSelector(
            device_class=selector.device_class,
            index=selector.index,
            expression=selector.expression,
            evaluated=going_on,
            outcome=outcome,
            error=answer.error,
            cost=answer.cost,
            parts=tuple(map(_part, explain(program, value))) if outcome is not Outcome.UNDECIDED else (),
        )
        going_on = going_on and outcome is Outcome.MATCHES


def _part(part: Part) -> ExplainedPart:
    error = next((outcome.text for outcome in part.outcomes if outcome.failed), None)
    return ExplainedPart(part.text, part.depth, tuple(o.text for o in part.outcomes if not o.failed), error, part.times)
