"""Corrected selectors: edits are put together until both sides accept the text, and tried on the devices.

Only what was really compiled and evaluated without an error becomes a :class:`Correction`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Generic

import msgspec

from kubectl_dra.cel.read.mentions import mentions
from kubectl_dra.cel.run.program import Program
from kubectl_dra.cel.syntax.lexer import tokenize
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.selectors import edits
from kubectl_dra.selectors.catalog import PublishedT
from kubectl_dra.selectors.compiling import Compiled, Selector, compile_selector, near_names
from kubectl_dra.selectors.evaluate import Decision, Outcome
from kubectl_dra.selectors.existing import existing_values
from kubectl_dra.selectors.guards import behind_driver, guarded
from kubectl_dra.selectors.trial import SelectorTrial

_EDITS: Final[tuple[tuple[str, edits.Edit], ...]] = (
    ("field", edits.inner_fields),
    ("domain", edits.domains),
    ("name", edits.names),
    ("unit", edits.units),
    ("comparison", edits.versions),
    ("comparison", edits.comparisons),
    ("amount", edits.amounts),
    ("boolean", edits.booleans),
)
#: What only texts need that do not compile, in this order: names can be found in what can be parsed.
_NOT_COMPILED: Final[tuple[tuple[str, edits.Edit], ...]] = (
    ("comparison", edits.loose_amounts),
    ("bare", edits.joined_names),
    ("syntax", edits.unparsed_operators),
    ("bare", edits.bare_names),
    ("comparison", edits.bare_values),
)
_MAX_NAMES: Final = 5
_MAX_TEXT: Final = 10 * 1024
#: A tenth: between GB and Gi are 7 percent, and what firmware keeps of a device's memory is less than that.
_KIND: Final = 10
_NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]+)?")


class Correction(msgspec.Struct, Generic[PublishedT], frozen=True):
    """A corrected selector that both sides accept and that fails on no device.

    ``number`` is its place in the list, ``changes`` are the codes of :class:`kubectl_dra.reports.selector.Rewrite`.
    ``matching`` are the devices that then match, ``no`` counts the others.
    """

    number: int
    expression: str
    changes: tuple[str, ...]
    estimated_cost: int
    matching: tuple[PublishedT, ...]
    no: int


def corrections(trial: SelectorTrial[PublishedT]) -> Iterator[Correction[PublishedT]]:
    """One per selector at most, of those that a person would edit: the request's, or the class's own."""
    for number, selector in enumerate(trial.selectors):
        if trial.of_class or selector.device_class is None:
            found = _correction(trial, number)
            if found is not None:
                yield found


def _correction(trial: SelectorTrial[PublishedT], number: int) -> Correction[PublishedT] | None:
    selector = trial.selectors[number]
    if len(selector.expression) > _MAX_TEXT or not _needed(trial, number):
        return None
    expression, changes = _edited(trial, selector)
    for candidate, more in _candidates(trial, number, expression):
        if trial.budget.exhausted:
            return None
        if candidate != selector.expression:
            found = _verified(trial, number, candidate, tuple(dict.fromkeys((*changes, *more))))
            if found is not None:
                return found
    return None


def alternatives(trial: SelectorTrial[PublishedT], number: int) -> Iterator[Correction[PublishedT]]:
    """One selector with values that devices have, which it does not ask for; guarded where some lack the attribute.

    Its domains, units and comparisons are corrected as in :func:`corrections`. Nothing for selectors that need nothing.
    """
    selector = trial.selectors[number]
    if len(selector.expression) > _MAX_TEXT or not _needed(trial, number):
        return
    expression, changes = _edited(trial, selector)
    for text in existing_values(expression, trial.meant_devices):
        for candidate, more in _candidates(trial, number, text):
            if trial.budget.exhausted:
                return
            found = _verified(trial, number, candidate, tuple(dict.fromkeys((*changes, "value", *more))))
            if found is not None:
                yield found
                break


def _needed(trial: SelectorTrial[PublishedT], number: int) -> bool:
    selector = trial.selectors[number]
    if not (selector.admission.accepted and selector.scheduler.accepted):
        return True
    if not trial.usable:
        return False
    failing = any(each.outcome is Outcome.ERROR and each.selector == number for _, each in trial.meant)
    return failing or all(each.outcome is Outcome.NO for _, each in trial.meant)


def _edited(trial: SelectorTrial[PublishedT], selector: Compiled) -> tuple[str, list[str]]:
    """The expression after all edits that find something to do."""
    expression = selector.expression
    changes: list[str] = []
    # Before near names: what devices publish is meant more often than a function that looks like it.
    for code, edit in () if selector.scheduler.accepted else _NOT_COMPILED:
        edited = edit(expression, trial.published.catalog)
        if edited is not None and len(edited) <= _MAX_TEXT:
            expression = edited
            changes.append(code)
    for code, edit in _EDITS:
        expression, named = _known_names(trial, expression)
        changes += named
        edited = edit(expression, trial.published.catalog)
        if edited is not None and edited != expression and len(edited) <= _MAX_TEXT:
            expression = edited
            changes.append(code)
    return expression, changes


def _known_names(trial: SelectorTrial[PublishedT], expression: str) -> tuple[str, list[str]]:
    """Undeclared names and undefined fields replaced by near ones, one after the other."""
    changes: list[str] = []
    for _ in range(_MAX_NAMES):
        compiled = compile_selector(Selector(None, 0, expression), trial.features)
        problems = (*compiled.scheduler.problems, *compiled.admission.problems)
        edited = next((new for p in problems if (new := edits.near_name(expression, p)) is not None), None)
        if edited is None or edited == expression:
            break
        expression = edited
        changes.append("function")
    return expression, changes


def _candidates(
    trial: SelectorTrial[PublishedT], number: int, expression: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Texts to try, best first, with what was changed besides."""
    tried = _with(trial, number, expression)
    program = tried.selectors[number].program
    if program is None or not tried.usable:
        yield expression, ()
        return
    if all(each.outcome is Outcome.NO for _, each in tried.meant):
        seen = _seen(tried, number)
        for value in (*near_values(expression, seen), *near_amounts(expression, seen, same_kind=True)):
            yield value, ("literal",)
    yield expression, ()
    failed = (each for _, each in tried.meant if each.outcome is Outcome.ERROR and each.selector == number)
    keys = {key for each in failed if (key := missing_key(each.error)) is not None}
    if keys:
        if trial.of_class:
            yield from _behind_drivers(trial, program)
        for text in guarded(program, keys, trial.published.catalog):
            yield text, ("guard",)


def _with(trial: SelectorTrial[PublishedT], number: int, expression: str) -> SelectorTrial[PublishedT]:
    old = trial.selectors[number]
    return trial.corrected(number, compile_selector(Selector(old.device_class, old.index, expression), trial.features))


def _behind_drivers(trial: SelectorTrial[PublishedT], program: Program) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For a class: only devices of the driver whose attributes it names."""
    domains = {mention.domain.text for mention in mentions(program.checked.parsed)}
    for driver in sorted(trial.published.catalog.drivers_with(domains)):
        yield behind_driver(program, driver), ("driver",)


def _seen(tried: SelectorTrial[PublishedT], number: int) -> set[str]:
    """The values that a selector which says no has read."""
    details = (tried.evaluator.detail(e.driver, e.device) for e, each in tried.meant if each.selector == number)
    return {reading.text for detail in details for reading in detail.readings if reading.text is not None}


def near_values(expression: str, seen: Collection[str], start: int = 0, end: int = _MAX_TEXT) -> Iterator[str]:
    """Between ``start`` and ``end``: a text that was seen in the place of one that was not, but looks like it."""
    for token in tokenize(expression)[0]:
        text, after = token.text[1:-1], token.pos + len(token.text)
        if token.kind == "STRING" and token.text[0] in "\"'" and text not in seen and start <= token.pos < end:
            for near in near_names(text, seen):
                yield expression[: token.pos] + string_source(near) + expression[after:]


def near_amounts(
    expression: str, seen: Collection[str], start: int = 0, end: int = _MAX_TEXT, *, same_kind: bool = False
) -> Iterator[str]:
    """Between ``start`` and ``end``: an amount that was seen in the place of another one, the nearest first.

    Amounts are numbers, and texts that are quantities. ``same_kind``: only quantities which differ as those do by which
    one kind of device is known and published: 80GB, 80Gi and 81559Mi.
    """
    for token in tokenize(expression)[0]:
        if not start <= token.pos < end:
            continue
        text = token.text[1:-1] if token.kind == "STRING" else token.text
        wanted = _amount(text) if token.kind in ("STRING", "NUM_INT", "NUM_FLOAT") else None
        if wanted is None or text in seen or (same_kind and token.kind != "STRING"):
            continue
        written = seen if token.kind == "STRING" else [each for each in seen if _NUMBER.fullmatch(each)]
        known = [(abs(amount - wanted), each) for each in sorted(written) if (amount := _amount(each)) is not None]
        for apart, each in sorted(known)[:_MAX_NAMES]:
            if same_kind and apart * _KIND > wanted:
                break
            new = string_source(each) if token.kind == "STRING" else each
            yield expression[: token.pos] + new + expression[token.pos + len(token.text) :]


def _amount(text: str) -> int | None:
    try:
        return Quantity.parse(text).at_scale(-9)[0]
    except QuantityError:
        return None


# --- trying ---------------------------------------------------------------------------------------------------------


def _verified(
    trial: SelectorTrial[PublishedT], number: int, expression: str, changes: tuple[str, ...]
) -> Correction[PublishedT] | None:
    tried = _with(trial, number, expression)
    compiled = tried.selectors[number]
    accepted = compiled.admission.accepted and compiled.scheduler.accepted
    if not accepted or compiled.estimated_cost is None or not tried.usable:
        return None
    same = trial.usable and [each for each, _ in tried.meant] == list(trial.meant_devices)
    before = [decision for _, decision in trial.meant] if same else [None] * len(tried.meant)
    # Devices on which another selector fails prove nothing about this one.
    found = [
        (each, decision, old)
        for (each, decision), old in zip(tried.meant, before, strict=True)
        if not (decision.outcome is Outcome.ERROR and decision.selector != number)
    ]
    decisions = [decision for _, decision, _ in found]
    if not _better([old for _, _, old in found if old is not None] if same else None, decisions, changes):
        return None
    matching = tuple(each for each, decision, _ in found if decision.outcome is Outcome.MATCHES)
    return Correction(number, expression, changes, compiled.estimated_cost, matching, len(found) - len(matching))


def _better(before: Sequence[Decision] | None, after: Sequence[Decision], changes: Iterable[str]) -> bool:
    """No error any more; where something matched before, a guard makes no new matches and loses none."""
    if not after or any(each.outcome in (Outcome.ERROR, Outcome.UNDECIDED) for each in after):
        return False
    if before is None:
        return True
    if set(changes) <= {"guard", "driver"}:
        wanted = [Outcome.MATCHES if old.outcome is Outcome.MATCHES else Outcome.NO for old in before]
        return [new.outcome for new in after] == wanted
    return any(new.outcome is Outcome.MATCHES for new in after)


def missing_key(error: str) -> str | None:
    """The name that a ``no such key`` error is about."""
    head, found, key = error.partition("no such key: ")
    return key if found and not head else None
