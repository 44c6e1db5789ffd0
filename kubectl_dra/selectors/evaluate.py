"""The one evaluator: what a list of selectors says of a device, and what decided it.

Selectors are tried in order and the first that says no or fails ends it, as in the scheduler; within a selector ``&&``
absorbs an error if another operand says no. Devices that the selectors can't tell apart are evaluated once.
Upstream: selectorsMatch of the structured allocator, and DeviceMatches of its CEL package.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.cel.check.environment import NAMED_RESOURCES
from kubectl_dra.cel.read.explain import Part as Part
from kubectl_dra.cel.read.explain import explain, failing_place
from kubectl_dra.cel.read.reads import Reads
from kubectl_dra.cel.run.device import DeviceValue, device_value
from kubectl_dra.cel.run.instance import InstanceValue as InstanceValue
from kubectl_dra.cel.run.program import EvaluationError, Program
from kubectl_dra.cel.syntax.clauses import Clause
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceClass, DeviceSelector
from kubectl_dra.selectors.catalog import published_value
from kubectl_dra.selectors.clauses import program_clauses
from kubectl_dra.selectors.compiling import Selector, compiled, one_line
from kubectl_dra.selectors.visible import VisibleContent

# Actual cost of all evaluations for one report, some seconds; beyond it devices stay undecided.
_BUDGET: Final = 12_000_000
# What an evaluation is worth that was given up, and the least that any is worth.
_GIVEN_UP: Final = 2_000_000
_LEAST: Final = 20
NOT_TRIED: Final = "not tried: the evaluation on other devices took too long already"


class Outcome(StrEnum):
    """What selectors, all of which must hold, say of a device.

    ``undecided``: the real evaluation takes longer than this one dares.
    """

    MATCHES = "matches"
    NO = "no"
    ERROR = "error"
    UNDECIDED = "undecided"


class Decision(NamedTuple):
    """The outcome on a device, and the number of the ``selector`` that decided it (-1: none did).

    ``error`` is the scheduler's text; ``compiles`` is false where it is that of a selector that can't be compiled.
    ``cost`` is that of the selector which failed, where it is known.
    """

    outcome: Outcome
    selector: int = -1
    error: str = ""
    compiles: bool = True
    cost: int | None = None


class Reading(NamedTuple):
    """What a condition read of a device; ``text`` None where the device lacks it. ``field`` is empty for the others."""

    field: str
    name: str
    text: str | None


class Detail(NamedTuple):
    """More of a decision: the ``clause`` that says no with what it read, the ``place`` of an error; -1: not known."""

    clause: int = -1
    readings: tuple[Reading, ...] = ()
    place: int = -1


class DerivedFailure(NamedTuple):
    """Why a derived attribute has no value."""

    error: str
    compiles: bool = True
    undecided: bool = False


_NO_DETAIL: Final = Detail()


class EvaluationBudget(msgspec.Struct):
    """How much evaluation is left for one report."""

    left: int = _BUDGET

    def charge(self, cost: int) -> None:
        self.left -= max(cost, _LEAST)

    @property
    def exhausted(self) -> bool:
        return self.left <= 0


class SelectorSet:
    """Selectors in their order, all of which must hold.

    ``shows_sharing``: whether expressions see that a device may be shared (``Features.shows_sharing``). With a
    ``budget`` every evaluation is charged, and nothing is evaluated once it is exhausted. ``programs`` are those before
    the first that does not compile, ``problem`` says in one line what is wrong with that.
    """

    def __init__(
        self, selectors: Iterable[Selector], shows_sharing: bool, budget: EvaluationBudget | None = None
    ) -> None:
        self.selectors = tuple(selectors)
        self.spent: list[int | None] = [None] * len(self.selectors)
        self.programs: list[Program] = []
        self.problem: str | None = None
        self._end = Decision(Outcome.MATCHES)
        for number, selector in enumerate(self.selectors):
            found = compiled(selector.expression)
            if not isinstance(found, Program):
                self.problem = one_line(found)
                self._end = Decision(Outcome.ERROR, number, found.text, compiles=False)
                break
            self.programs.append(found)
        self._refusals = [Decision(Outcome.NO, number) for number in range(len(self.programs))]
        self._tests = [_by_driver(program) or program.test for program in self.programs]
        self._shows_sharing = shows_sharing
        self._budget = budget
        self._visible = VisibleContent(program.reads for program in self.programs)
        self._decisions: dict[Hashable, Decision] = {}
        self._details: dict[Hashable, Detail] = {}
        self._last: tuple[Device, DeviceValue] | None = None
        # The selector of which the first of several conditions refused the last device that was judged.
        self._refusing = -1

    @classmethod
    def of_class(cls, device_class: DeviceClass, shows_sharing: bool) -> SelectorSet:
        name = device_class.metadata.name
        return cls(placed(device_class.spec.selectors, name), shows_sharing)

    @classmethod
    def of_text(cls, expression: str, shows_sharing: bool) -> SelectorSet:
        return cls((Selector(None, 0, expression),), shows_sharing)

    def forget(self) -> None:
        """Drop what was evaluated so far."""
        self._decisions.clear()
        self._details.clear()

    def tell_apart_by(self, visible: VisibleContent) -> None:
        """Tell devices apart by what others read as well: ``visible`` is all that these selectors read, and more."""
        self.forget()
        self._visible = visible

    @cached_property
    def reads_driver_only(self) -> bool:
        """Whether they say the same of all sound devices of a driver, as those of most classes."""
        return all(map(_reads_driver_only, self.programs))

    def of(self, driver: str, device: Device) -> Decision:
        """What they say of a device; devices that they can't tell apart share the answer."""
        content = self._visible.content(driver, device)
        known = self._decisions.get(content)
        if known is None:
            known = self._decisions[content] = self.decide(driver, device)
        return known

    def matches(self, driver: str, device: Device) -> bool:
        return self.of(driver, device).outcome is Outcome.MATCHES

    def decide(self, driver: str, device: Device, sound: bool = False) -> Decision:
        """The same for who keeps the answer: it is worked out each time. ``sound``: no attribute is broken."""
        if self._budget is not None and self._budget.exhausted:
            return Decision(Outcome.UNDECIDED, error=NOT_TRIED)
        value = self._value(driver, device, sound)
        for number, test in enumerate(self._tests):
            try:
                matches, cost = test(value)
            except EvaluationError as error:
                self._charge(number, error.cost, error.undecided)
                outcome = Outcome.UNDECIDED if error.undecided else Outcome.ERROR
                return Decision(outcome, number, error.text, cost=error.cost)
            if self._budget is not None:
                self._charge(number, cost)
            if not matches:
                return self._refusals[number]
        return self._end

    def judged(self, driver: str, device: Device, sound: bool = False) -> tuple[Decision, int]:
        """The decision for who keeps it, with the :meth:`clause` that says no; -1 where none does.

        Devices come with others like them: where the first condition of a selector refused one, the next is asked for
        that before the whole, which refuses what its first condition does.
        """
        number = self._refusing
        if number >= 0 and self._first_refuses(number, self._value(driver, device, sound)):
            return self._refusals[number], 0
        decision = self.decide(driver, device, sound)
        clause = self.clause(decision, driver, device) if decision.outcome is Outcome.NO else -1
        several = clause == 0 and len(self._clauses[decision.selector]) > 1
        self._refusing = decision.selector if several else -1
        return decision, clause

    def _first_refuses(self, number: int, value: DeviceValue) -> bool:
        try:
            for test in self._tests[:number]:
                if not test(value)[0]:
                    return False
            return not self._clauses[number][0][1].test(value)[0]
        except EvaluationError:
            return False

    def _value(self, driver: str, device: Device, sound: bool = False) -> DeviceValue:
        """The device as expressions see it: asked about again at once where its refusal is looked into."""
        known = self._last
        if known is None or known[0] is not device or known[1].driver != driver:
            known = self._last = device, device_seen(driver, device, self._shows_sharing, sound)
        return known[1]

    def _charge(self, number: int, cost: int | None, undecided: bool = False) -> None:
        if self._budget is not None:
            self._budget.charge(_GIVEN_UP if undecided else cost or 0)
            if cost is not None:
                self.spent[number] = max(cost, self.spent[number] or 0)

    # --- what decided -------------------------------------------------------------------------------------------------

    def detail(self, driver: str, device: Device) -> Detail:
        """Which condition of the deciding selector says no, or where in it the error is."""
        decision = self.of(driver, device)
        if decision.selector < 0 or decision.outcome is Outcome.UNDECIDED or not decision.compiles:
            return _NO_DETAIL
        content = self._visible.content(driver, device)
        known = self._details.get(content)
        if known is None:
            find = self._refusal if decision.outcome is Outcome.NO else self._failure
            known = self._details[content] = find(decision, driver, device)
        return known

    def clause(self, decision: Decision, driver: str, device: Device) -> int:
        """The first condition of the selector that says no which does; -1 where none does alone."""
        clauses = self._clauses[decision.selector]
        if len(clauses) == 1:
            return 0
        value = self._value(driver, device)
        return next((i for i, (_, condition) in enumerate(clauses) if self._refuses(condition, value)), -1)

    @cached_property
    def _clauses(self) -> list[tuple[tuple[Clause, Program], ...]]:
        return [program_clauses(program) for program in self.programs]

    def _refusal(self, decision: Decision, driver: str, device: Device) -> Detail:
        index = self.clause(decision, driver, device)
        if index < 0:
            return Detail(0)
        reads = self._clauses[decision.selector][index][1].reads
        shared = self._shows_sharing and bool(device.allow_multiple_allocations)
        return Detail(index, tuple(_readings(reads, driver, device, shared)))

    def _refuses(self, program: Program, value: DeviceValue) -> bool:
        try:
            matches, cost = program.test(value)
        except EvaluationError as error:
            # Absorbed: another operand says no.
            matches, cost = True, error.cost or 0
        if self._budget is not None:
            self._budget.charge(cost)
        return not matches

    def _failure(self, decision: Decision, driver: str, device: Device) -> Detail:
        program = self.programs[decision.selector]
        if self._budget is not None:
            self._budget.charge(3 * (decision.cost or 0))
        value = device_seen(driver, device, self._shows_sharing)
        return Detail(place=failing_place(program, value, decision.error))

    def explained(self, number: int, driver: str, device: Device) -> tuple[Decision, int | None, tuple[Part, ...]]:
        """One of them on a device, whatever those before it say: outcome, cost, and the value of each part."""
        alone = SelectorSet(self.selectors[number : number + 1], self._shows_sharing, EvaluationBudget())
        decision, program = alone.of(driver, device), alone.programs[0]
        value = device_seen(driver, device, self._shows_sharing)
        parts = explain(program, value) if decision.outcome is not Outcome.UNDECIDED else ()
        return decision, alone.spent[0], parts


def _reads_driver_only(program: Program) -> bool:
    reads = program.reads
    return not (reads.all or reads.allow_multiple or reads.attributes or reads.capacity)


def _by_driver(program: Program) -> Callable[[DeviceValue], tuple[bool, int]] | None:
    """The test of an expression that reads nothing but the driver, as those of most classes: once for each driver."""
    if not _reads_driver_only(program):
        return None
    known: dict[str, tuple[bool, int]] = {}

    def test(device: DeviceValue) -> tuple[bool, int]:
        if not device.ready:
            device.prepare()
        found = known.get(device.driver)
        if found is None or device.error is not None:
            found = known[device.driver] = program.test(device)
        return found

    return test


def placed(selectors: Iterable[DeviceSelector], device_class: str | None) -> tuple[Selector, ...]:
    """The selectors of a class, or (None) of a request."""
    # One of an unknown type is not looked at before it is evaluated; upstream would crash on it.
    return tuple(Selector(device_class, index, each.expression) for index, each in enumerate(selectors))


def device_seen(driver: str, device: Device, shows_sharing: bool, sound: bool = False) -> DeviceValue:
    """The device as expressions see it; ``sound``: no attribute is broken."""
    if not shows_sharing and device.allow_multiple_allocations:
        device = msgspec.structs.replace(device, allow_multiple_allocations=None)
    return device_value(driver, device, sound)


def derive(expression: str, driver: str, device: Device, shows_sharing: bool) -> DeviceAttribute | DerivedFailure:
    """The value of a derived attribute on a device."""
    program = compiled(expression, derived=True)
    if not isinstance(program, Program):
        return DerivedFailure(program.text, compiles=False)
    try:
        return program.derive(device_seen(driver, device, shows_sharing))[0]
    except EvaluationError as error:
        return DerivedFailure(error.text, undecided=error.undecided)


# --- named resources, the instances that slices of 1.30 had instead of devices ----------------------------------------


def instance_problem(expression: str) -> str:
    """Why an expression does not compile, in the scheduler's words; empty if it does."""
    found = compiled(expression, NAMED_RESOURCES)
    return "" if isinstance(found, Program) else found.text


def admits_instance(expression: str, value: InstanceValue) -> bool | str:
    """Whether an expression that compiles lets an instance pass, or the text of the error."""
    program = compiled(expression, NAMED_RESOURCES)
    assert isinstance(program, Program)  # noqa: S101 - claims of which one does not compile are not placed
    try:
        return program.test(value)[0]
    except EvaluationError as error:
        return error.text


# --- what was read --------------------------------------------------------------------------------------------------


def _readings(reads: Reads, driver: str, device: Device, shared: bool) -> Iterator[Reading]:
    """What a condition read; nothing where that can be anything."""
    if reads.all:
        return
    if reads.driver:
        yield Reading("", "driver", driver)
    if reads.allow_multiple:
        yield Reading("", "allowMultipleAllocations", str(shared).lower())
    for field, names in (("attributes", reads.attributes), ("capacity", reads.capacity)):
        for domain, name in sorted(names):
            yield Reading(field, name, value_text(driver, device, field, domain, name))


def value_text(driver: str, device: Device, field: str, domain: str, name: str) -> str | None:
    """An attribute or capacity of a device as text; None if it lacks it."""
    if field == "capacity":
        capacity = published_value(device.capacity, driver, domain, name)
        return str(capacity.value) if capacity is not None else None
    attribute = published_value(device.attributes, driver, domain, name)
    return attribute_text(attribute) if attribute is not None else None


def common_content(sets: Sequence[SelectorSet], derived: Iterable[str], constrained: Iterable[str]) -> VisibleContent:
    """What selectors, derived attributes and constraints of an attempt can see; all sets tell devices apart by it."""
    programs = [program for each in sets for program in each.programs]
    programs += [p for text in derived if isinstance(p := compiled(text, derived=True), Program)]
    visible = VisibleContent((program.reads for program in programs), constrained)
    for each in sets:
        each.tell_apart_by(visible)
    return visible
