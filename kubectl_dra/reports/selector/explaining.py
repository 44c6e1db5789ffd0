"""All selectors on one device, part by part, in the order in which the scheduler would evaluate them."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.reports.selector.records import ExplainedPart, ExplainedSelector, Explanation
from kubectl_dra.reports.selector.scoping import Member
from kubectl_dra.selectors.evaluate import Outcome, Part, SelectorSet


def explanation(member: Member, evaluator: SelectorSet) -> Explanation:
    """Every part of every selector on one device."""
    decided = evaluator.of(member.driver, member.device).outcome
    return Explanation(str(member.id), member.state, decided, tuple(_explained(evaluator, member)))


def _explained(evaluator: SelectorSet, member: Member) -> Iterator[ExplainedSelector]:
    going_on = True
    for number, selector in enumerate(evaluator.selectors):
        decision, cost, parts = evaluator.explained(number, member.driver, member.device)
        yield ExplainedSelector(
            device_class=selector.device_class,
            index=selector.index,
            expression=selector.expression,
            evaluated=going_on,
            outcome=decision.outcome,
            error=decision.error or None,
            cost=cost,
            parts=tuple(map(_part, parts)),
        )
        going_on = going_on and decision.outcome is Outcome.MATCHES


def _part(part: Part) -> ExplainedPart:
    error = next((outcome.text for outcome in part.outcomes if outcome.failed), None)
    return ExplainedPart(part.text, part.depth, tuple(o.text for o in part.outcomes if not o.failed), error, part.times)
