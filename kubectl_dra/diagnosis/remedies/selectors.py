"""Remedies that change a selector: corrected as test-selector would, with a value that was seen, or without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import FatalError, Funnel, StageName
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import (
    Candidate,
    Case,
    ClaimEditor,
    Published,
    first_of,
    removals,
)
from kubectl_dra.diagnosis.remedies.records import EditClass, RemedyKind
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.forms import Form, forms
from kubectl_dra.model.resource import CELSelector, DeviceClass, DeviceSelector, ResourceClaim
from kubectl_dra.selectors.clauses import without
from kubectl_dra.selectors.compiling import clauses_of, without_reading
from kubectl_dra.selectors.partitions import smaller_partitions
from kubectl_dra.selectors.rewrite import alternatives, corrections, near_amounts, near_values
from kubectl_dra.selectors.seen_values import or_equal, same_values, seen_values, tells_of_failure
from kubectl_dra.selectors.trial import SelectorTrial

# What each asks of its reader, beside the costs of ``edits``.
_MENDED: Final = 30
#: Of what was meant but written in another way.
CORRECTED: Final = 31
_VALUED: Final = 35
#: Of another value that was seen, and without the condition.
SEEN: Final = 36
DROPPED: Final = 40
_CODES: Final = (Code.SELECTOR_FAILS, Code.CLASS_SELECTOR_FAILS, Code.SELECTOR_DOES_NOT_COMPILE)


def candidates(case: Case) -> Iterator[Candidate]:
    """For selectors that match nothing on some node, and for those that end the attempt."""
    for claim, name, request, funnels in case.funnels():
        yield from _not_matching(case, ClaimEditor(case, claim, name), request, funnels)
    yield from _classes_without_devices(case)
    for cause in case.causes(*_CODES):
        if isinstance(cause.detail, FatalError) and cause.detail.expression:
            yield from _failing(case, cause.detail, case.claim_of(cause))


def _not_matching(case: Case, editor: ClaimEditor, request: Form, funnels: Sequence[Funnel]) -> Iterator[Candidate]:
    """The corrected selector, or a value that devices have in place of one like it, or without one condition."""
    seen = {(removal.reason, removal.source) for removal in removals(funnels, StageName.SELECTORS)}
    corrected = _corrected(case, request) if seen else {}
    devices, shared = case.published.items, any(funnel.stage(StageName.COUNTERS).removed for funnel in funnels)
    for index, selector in enumerate(request.selectors):
        text, conditions = selector.expression, clauses_of(selector.expression)
        better = [_with_selector(editor, index, text, new, CORRECTED) for new in corrected.get(index, ())]
        refusing = [number for number, clause in enumerate(conditions) if any(clause.text == why for why, _ in seen)]
        for number in refusing:
            clause = conditions[number]
            found = _values(funnels, clause.text)
            counts = {value: number for value, number in found.items() if not tells_of_failure(value)}
            if found and not counts:
                continue
            values = set(counts)
            amounts = near_amounts(text, values, clause.start, clause.end)
            near = dict.fromkeys(
                (
                    *near_values(text, values, clause.start, clause.end),
                    *or_equal(amounts, clause.start, clause.end),
                    *same_values(text, devices, clause.start, clause.end),
                    *(smaller_partitions(text, clause.start, clause.end, values, devices) if shared else ()),
                )
            )
            dropped = _with_selector(editor, index, text, without(conditions, number), DROPPED)
            better_ones = [*better, *(_with_selector(editor, index, text, new, CORRECTED) for new in near)]
            known = or_equal(seen_values(text, counts, clause.start, clause.end), clause.start, clause.end)
            others = [new for new in known if new not in near]
            yield from first_of([*better_ones, *([] if others else [dropped])])
            for rank, new in enumerate(others):
                yield _with_selector(editor, index, text, new, SEEN + rank)
            yield from [dropped] if others else []
        if not refusing:
            yield from first_of(better)


def without_any(case: Case) -> Iterator[Candidate]:
    """For where nothing less helps: no selector in place of one of which several conditions do not hold."""
    for claim, name, request, funnels in () if case.changed_templates else case.funnels():
        seen = {removal.reason for removal in removals(funnels, StageName.SELECTORS)}
        for index, selector in enumerate(request.selectors):
            conditions = clauses_of(selector.expression)
            if len(conditions) > 1 and any(clause.text in seen for clause in conditions):
                yield _with_selector(ClaimEditor(case, claim, name), index, selector.expression, "", DROPPED)


def _values(funnels: Sequence[Funnel], condition: str) -> Mapping[str, int]:
    """The values that a condition refuses, with the number of devices on the nodes that were looked at."""
    found: Counter[str] = Counter()
    for removal in removals(funnels, StageName.SELECTORS):
        if removal.reason == condition and removal.source:
            found[removal.source] += len(removal.devices)
    return found


def _classes_without_devices(case: Case) -> Iterator[Candidate]:
    """Corrected selectors of classes that select nothing on any node."""
    names = {
        request.device_class_name
        for _, _, request, funnels in case.funnels()
        if not any(stage.count for funnel in funnels for stage in funnel.stages if stage.name is StageName.CLASS)
    }
    for name in sorted(names & case.state.inventory.classes.keys()):
        device_class = case.state.inventory.classes[name]
        trial = SelectorTrial.of_device_class(device_class, case.published, case.state.features)
        for found in corrections(trial):
            yield _class_selector(device_class, found.number, found.expression)


def _corrected(case: Case, request: Form) -> Mapping[int, Sequence[str]]:
    """By its place in the request what a selector should be instead."""
    trial = _trial(case, request)
    return {found.number - trial.class_selectors: [found.expression] for found in corrections(trial)}


def _trial(case: Case, request: Form) -> SelectorTrial[Published]:
    """The selectors of a request and its class on the devices that are looked at."""
    device_class = case.state.inventory.classes.get(request.device_class_name)
    expressions = [selector.expression for selector in request.selectors]
    return SelectorTrial.of_request(expressions, device_class, case.published, case.state.features)


def _failing(case: Case, error: FatalError, claim: ResourceClaim | None) -> Iterator[Candidate]:
    """The corrected selector; of a request, where that does not help, without it."""
    place = error.selector
    if place is None:
        return
    if error.owner.startswith("class "):
        device_class = case.state.inventory.classes.get(error.owner.removeprefix("class "))
        if device_class is not None:
            trial = SelectorTrial.of_device_class(device_class, case.published, case.state.features)
            found = [each.expression for each in corrections(trial) if each.number == place]
            yield from first_of([_class_selector(device_class, place, text) for text in found])
        return
    for name, request in forms(claim.spec) if claim is not None else ():
        selectors = request.selectors[place : place + 1]
        if claim is not None and [each.expression for each in selectors] == [error.expression]:
            editor = ClaimEditor(case, claim, name)
            trial = _trial(case, request)
            number = trial.class_selectors + place
            mended = [each for each in corrections(trial) if each.number == number]
            valued = same_values(error.expression, case.published.items)
            texts = [
                *((each.expression, _MENDED) for each in mended),
                *((text, CORRECTED) for text in valued),
                *((text, DROPPED) for text in _without(error)),
            ]
            ways = [_with_selector(editor, place, error.expression, text, cost) for text, cost in texts]
            yield from first_of(ways)
            if not any(each.matching for each in mended):
                # Nobody knows which device is meant then: one that exists, or any.
                others = [each.expression for each in alternatives(trial, number)]
                yield from first_of([_with_selector(editor, place, error.expression, t, _VALUED) for t in others])


def _without(error: FatalError) -> Iterator[str]:
    """What is left without the conditions that fail, then without any."""
    rest = without_reading(error.expression, error.attribute)
    yield from dict.fromkeys(text for text in (rest, "") if text != error.expression)


def _with_selector(editor: ClaimEditor, index: int, before: str, after: str, cost: int) -> Candidate:
    def edit(exactly: Form) -> Form:
        return msgspec.structs.replace(exactly, selectors=_replaced(exactly.selectors, index, after))

    return editor.edit(f"selectors[{index}]", before, after, edit, cost)


def _replaced(selectors: tuple[DeviceSelector, ...], index: int, expression: str) -> tuple[DeviceSelector, ...]:
    """The selectors with one replaced, or dropped where the expression is empty."""
    middle = (DeviceSelector(cel=CELSelector(expression)),) if expression else ()
    return (*selectors[:index], *middle, *selectors[index + 1 :])


def _class_selector(device_class: DeviceClass, index: int, after: str) -> Candidate:
    def edit(old: DeviceClass) -> DeviceClass:
        selectors = _replaced(old.spec.selectors, index, after)
        return with_spec(old, selectors=selectors)

    name, before = device_class.metadata.name, device_class.spec.selectors[index].expression
    action = EditClass(name, f"selectors[{index}]", before, after)
    return Candidate(RemedyKind.EDIT_CLASS, (action,), _MENDED, (changes.edit_class(name, edit),))
