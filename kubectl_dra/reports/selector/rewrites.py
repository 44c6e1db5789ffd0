"""Corrected selectors: edits are put together until both sides accept the text, and tried on the devices in scope.

Only what was really compiled and evaluated without an error becomes a :class:`Rewrite`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.cel import Program
from kubectl_dra.cel.lexer import tokenize
from kubectl_dra.cel.mentions import mentions
from kubectl_dra.cel.printer import string_source
from kubectl_dra.reports.selector import edits
from kubectl_dra.reports.selector.compiling import Compiled, compile_selector, near_names
from kubectl_dra.reports.selector.guards import behind_driver, guarded
from kubectl_dra.reports.selector.judging import Judge, Judged, Purse
from kubectl_dra.reports.selector.records import Outcome, Rewrite
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
    """A list of selectors with its devices and what they got (None: they can't be evaluated).

    ``of_class``: the selectors are those of a DeviceClass. ``fixed``: the devices are those in any case; else they
    follow from the domains that a text names.
    """

    setting: Setting
    selectors: Sequence[Compiled]
    members: Sequence[Member]
    outcomes: Sequence[Judged] | None
    of_class: bool
    fixed: bool
    purse: Purse

    def meant_by(self, compiled: Compiled) -> Sequence[Member]:
        """The devices that a corrected selector is about."""
        program = compiled.program
        if self.fixed or program is None:
            return self.members
        named = {mention.domain.text for mention in mentions(program.checked.parsed)}
        drivers = self.setting.catalog.drivers_with(named)
        return [member for member in self.setting.members if not drivers or member.driver in drivers]


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
    expression = selector.expression
    changes: list[str] = []
    for code, edit in _EDITS:
        expression, named = _known_names(case, expression)
        changes += named
        # Spelling of operators only matters where the text can't be parsed.
        applies = code != "syntax" or edits.parsed(expression) is None
        edited = edit(expression, case.setting.catalog) if applies else None
        if edited is not None and edited != expression and len(edited) <= _MAX_TEXT:
            expression = edited
            changes.append(code)
    return expression, changes


def _known_names(case: Case, expression: str) -> tuple[str, list[str]]:
    """Undeclared names and undefined fields replaced by near ones, one after the other."""
    changes: list[str] = []
    for _ in range(_MAX_NAMES):
        compiled = _compiled(case, expression)
        problems = (*compiled.scheduler.problems, *compiled.admission.problems)
        edited = next((new for p in problems if (new := edits.near_name(expression, p)) is not None), None)
        if edited is None or edited == expression:
            break
        expression = edited
        changes.append("function")
    return expression, changes


def _compiled(case: Case, expression: str, like: Compiled | None = None) -> Compiled:
    place = (like.device_class, like.index) if like is not None else (None, 0)
    return compile_selector(*place, expression, case.setting.facts.features)


def _candidates(case: Case, number: int, expression: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Texts to try, best first, with what was changed besides."""
    compiled = _compiled(case, expression)
    if compiled.program is None or not _usable(case, number):
        yield expression, ()
        return
    judge = _judge(case, number, compiled)
    judged = [judge.of(member) for member in case.meant_by(compiled)]
    if all(each.outcome is Outcome.NO for each in judged):
        for value in _near_values(judged, number, expression):
            yield value, ("literal",)
    yield expression, ()
    failed = (each for each in judged if each.outcome is Outcome.FAILS and each.selector == number)
    keys = {key for each in failed if (key := missing_key(each.error)) is not None}
    if keys:
        if case.of_class:
            yield from _behind_drivers(case, compiled.expression, compiled.program)
        for text in guarded(compiled.program, keys, case.setting.catalog):
            yield text, ("guard",)


def _behind_drivers(case: Case, expression: str, program: Program) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For a class: only devices of the driver whose attributes it names."""
    domains = {mention.domain.text for mention in mentions(program.checked.parsed)}
    for driver in sorted(case.setting.catalog.drivers_with(domains)):
        yield behind_driver(expression, program, driver), ("driver",)


def _near_values(judged: Iterable[Judged], number: int, expression: str) -> Iterator[str]:
    """A text in the place of one that no device has, but that looks like it."""
    seen = {text for each in judged if each.selector == number for _, text in each.seen if text is not None}
    for token in tokenize(expression)[0]:
        text = token.text[1:-1]
        if token.kind == "STRING" and token.text[0] in "\"'" and text not in seen:
            for near in near_names(text, seen)[:1]:
                end = token.pos + len(token.text)
                yield expression[: token.pos] + string_source(near) + expression[end:]


# --- trying ---------------------------------------------------------------------------------------------------------


def _usable(case: Case, number: int) -> bool:
    """Whether all the other selectors can be evaluated."""
    return all(selector.program is not None for i, selector in enumerate(case.selectors) if i != number)


def _judge(case: Case, number: int, compiled: Compiled) -> Judge:
    chain = [compiled if i == number else selector for i, selector in enumerate(case.selectors)]
    return Judge(chain, case.setting.facts.features, case.purse)


def _verified(case: Case, number: int, expression: str, changes: tuple[str, ...]) -> Rewrite | None:
    original = case.selectors[number]
    compiled = _compiled(case, expression, original)
    accepted = compiled.admission.accepted and compiled.scheduler.accepted
    if not accepted or compiled.estimated_cost is None or not _usable(case, number):
        return None
    members, judge = case.meant_by(compiled), _judge(case, number, compiled)
    tried = [(member, judge.of(member)) for member in members]
    before = case.outcomes if list(members) == list(case.members) else None
    if any(_fails_elsewhere(each, number) for _, each in tried):
        # Devices on which another selector fails prove nothing about this one.
        tried = [(member, each) for member, each in tried if not _fails_elsewhere(each, number)]
        before = [each for each in before if not _fails_elsewhere(each, number)] if before is not None else None
    judged = [each for _, each in tried]
    if not _better(before, judged, changes):
        return None
    matching = [member for member, each in tried if each.outcome is Outcome.MATCHES]
    return Rewrite(
        index=original.index,
        expression=expression,
        changes=changes,
        estimated_cost=compiled.estimated_cost,
        matches=len(matching),
        free=sum(member.free for member in matching),
        no=len(judged) - len(matching),
    )


def _fails_elsewhere(judged: Judged, number: int) -> bool:
    return judged.outcome is Outcome.FAILS and judged.selector != number


def _better(before: Sequence[Judged] | None, judged: Sequence[Judged], changes: Iterable[str]) -> bool:
    """No error any more; where something matched before, a guard makes no new matches and loses none."""
    if not judged or any(j.outcome in (Outcome.FAILS, Outcome.UNDECIDED) for j in judged):
        return False
    if before is None:
        return True
    if set(changes) <= {"guard", "driver"}:
        wanted = [Outcome.MATCHES if old.outcome is Outcome.MATCHES else Outcome.NO for old in before]
        return [new.outcome for new in judged] == wanted
    return any(new.outcome is Outcome.MATCHES for new in judged)


def missing_key(error: str) -> str | None:
    """The name that a ``no such key`` error is about."""
    head, found, key = error.partition("no such key: ")
    return key if found and not head else None
