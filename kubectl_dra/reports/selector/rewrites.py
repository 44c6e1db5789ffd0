"""Corrected selectors: edits are put together until both sides accept the text, and tried on the devices in scope.

Only what was really compiled and evaluated without an error becomes a :class:`Rewrite`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.cel.lexer import tokenize
from kubectl_dra.cel.printer import string_source
from kubectl_dra.reports.selector import edits
from kubectl_dra.reports.selector.compiling import Compiled, compile_selector, near_names
from kubectl_dra.reports.selector.guards import behind_driver, guarded
from kubectl_dra.reports.selector.judging import Judge, Judged, Purse
from kubectl_dra.reports.selector.records import Failure, Outcome, Rewrite
from kubectl_dra.reports.selector.scoping import Member, Setting

_EDITS: Final[tuple[tuple[str, edits.Edit], ...]] = (
    ("syntax", edits.operators),
    ("field", edits.inner_fields),
    ("domain", edits.domains),
    ("name", edits.names),
    ("comparison", edits.comparisons),
)
_MAX_NAMES: Final = 5
_MAX_TEXT: Final = 10 * 1024


@dataclass(frozen=True)
class Case:
    """A list of selectors with its devices, what they got, and where its failures are."""

    setting: Setting
    selectors: Sequence[Compiled]
    members: Sequence[Member]
    outcomes: Sequence[Judged] | None
    failures: Sequence[Failure]
    of_class: bool
    purse: Purse


def rewrites(case: Case) -> tuple[Rewrite, ...]:
    """One correction per selector at most, of those that a person would edit: the request's, or the class's own."""
    found = (_rewrite(case, number) for number in range(len(case.selectors)) if _is_own(case, number))
    return tuple(rewrite for rewrite in found if rewrite is not None)


def _is_own(case: Case, number: int) -> bool:
    return case.of_class or case.selectors[number].device_class is None


def _rewrite(case: Case, number: int) -> Rewrite | None:
    selector = case.selectors[number]
    if len(selector.expression) > _MAX_TEXT or not _needed(case, number):
        return None
    expression, changes = _edited(case, selector)
    for candidate, more in _candidates(case, number, expression):
        if case.purse.empty:
            return None
        if candidate != selector.expression:
            rewrite = _verified(case, number, candidate, tuple(dict.fromkeys((*changes, *more))))
            if rewrite is not None:
                return rewrite
    return None


def _needed(case: Case, number: int) -> bool:
    selector = case.selectors[number]
    if not (selector.admission.accepted and selector.scheduler.accepted):
        return True
    if case.outcomes is None:
        return False
    failing = any(outcome.outcome is Outcome.FAILS and outcome.selector == number for outcome in case.outcomes)
    return failing or all(outcome.outcome is Outcome.NO for outcome in case.outcomes)


def _edited(case: Case, selector: Compiled) -> tuple[str, list[str]]:
    """The expression after all edits that find something to do."""
    expression, changes = selector.expression, []
    for code, edit in _EDITS:
        expression, named = _known_names(case, expression)
        changes += named
        edited = edit(expression, case.setting.catalog) if _applies(code, expression, case) else None
        if edited is not None and edited != expression and len(edited) <= _MAX_TEXT:
            expression = edited
            changes.append(code)
    return expression, changes


def _applies(code: str, expression: str, case: Case) -> bool:
    """Spelling of operators only matters where the text can't be parsed."""
    return code != "syntax" or edits.parsed(expression) is None


def _known_names(case: Case, expression: str) -> tuple[str, list[str]]:
    """Undeclared names and undefined fields replaced by near ones, one after the other."""
    changes = []
    for _ in range(_MAX_NAMES):
        compiled = compile_selector(None, 0, expression, case.setting.facts.features)
        problems = (*compiled.scheduler.problems, *compiled.admission.problems)
        edited = next((new for p in problems if (new := edits.near_name(expression, p)) is not None), None)
        if edited is None or edited == expression:
            break
        expression = edited
        changes.append("function")
    return expression, changes


def _candidates(case: Case, number: int, expression: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield expression, ()
    setting = case.setting
    compiled = compile_selector(None, 0, expression, setting.facts.features)
    program = compiled.program
    if program is None:
        return
    for value in _near_values(case, number, expression):
        yield value, ("literal",)
    judge = _judge(case, number, compiled)
    failed = [judge.of(member) for member in case.members]
    keys = {key for each in failed if each.outcome is Outcome.FAILS and (key := missing_key(each.error)) is not None}
    if keys:
        yield from ((text, ("guard",)) for text in guarded(program, keys, setting.catalog))
    if case.of_class and keys:
        yield from _behind_drivers(case, compiled)


def _behind_drivers(case: Case, compiled: Compiled) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For a class: only devices of the driver whose attributes it names."""
    program = compiled.program
    assert program is not None  # noqa: S101 - the caller looked
    domains = {domain for domain, _ in (*program.reads.attributes, *program.reads.capacity)}
    for driver in sorted(case.setting.catalog.drivers_with(domains)):
        yield behind_driver(compiled.expression, program, driver), ("driver",)


def _near_values(case: Case, number: int, expression: str) -> Iterator[str]:
    """Where nothing matches: a text in the place of one that no device has, but that looks like it."""
    if case.outcomes is None:
        return
    seen = {text for o in case.outcomes if o.selector == number for _, text in o.seen if text is not None}
    for token in tokenize(expression)[0]:
        text = token.text[1:-1]
        if token.kind == "STRING" and token.text[0] in "\"'" and text not in seen:
            for near in near_names(text, seen)[:1]:
                new = edits.replaced(expression, [(token.pos, token.pos + len(token.text), string_source(near))])
                if new is not None:
                    yield new


# --- trying ---------------------------------------------------------------------------------------------------------


def _judge(case: Case, number: int, compiled: Compiled) -> Judge:
    chain = [compiled if i == number else selector for i, selector in enumerate(case.selectors)]
    usable = [selector for selector in chain if selector.program is not None]
    return Judge(usable, case.setting.facts.features, case.purse)


def _verified(case: Case, number: int, expression: str, changes: tuple[str, ...]) -> Rewrite | None:
    original = case.selectors[number]
    compiled = compile_selector(original.device_class, original.index, expression, case.setting.facts.features)
    if not (compiled.admission.accepted and compiled.scheduler.accepted) or compiled.estimated_cost is None:
        return None
    judge = _judge(case, number, compiled)
    judged = [judge.of(member) for member in case.members]
    if not _better(case, judged, judged_by=number, changes=changes):
        return None
    matching = [m for m, j in zip(case.members, judged, strict=True) if j.outcome is Outcome.MATCHES]
    return Rewrite(
        index=original.index,
        expression=expression,
        changes=changes,
        estimated_cost=compiled.estimated_cost,
        matches=len(matching),
        free=sum(member.free for member in matching),
        no=len(judged) - len(matching),
    )


def _better(case: Case, judged: Sequence[Judged], judged_by: int, changes: Iterable[str]) -> bool:
    """No error any more; what was decided before stays, unless nothing matched; a guard makes no new matches."""
    if not judged or any(j.outcome in (Outcome.FAILS, Outcome.UNDECIDED) for j in judged):
        return False
    matching = sum(j.outcome is Outcome.MATCHES for j in judged)
    if case.outcomes is None:
        return matching > 0
    before = case.outcomes
    if all(old.outcome is Outcome.NO for old in before):
        return matching > 0
    if set(changes) <= {"guard", "driver"}:
        wanted = [Outcome.MATCHES if old.outcome is Outcome.MATCHES else Outcome.NO for old in before]
        return [new.outcome for new in judged] == wanted
    return matching > 0


def missing_key(error: str) -> str | None:
    """The name that a ``no such key`` error is about."""
    head, found, key = error.partition("no such key: ")
    return key if found and not head else None
