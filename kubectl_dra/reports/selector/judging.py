"""What a list of selectors says of each device, and which condition decided: evaluated once per distinct content.

Selectors are tried in order and the first one that says no or fails ends it, as in the scheduler; within a selector
``&&`` absorbs an error if another operand says no.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.allocation.selectors import Lens
from kubectl_dra.cel import DeviceValue, EvaluationError, Program, device_value
from kubectl_dra.cel.explain import failing_place
from kubectl_dra.cel.reads import Reads
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import Device
from kubectl_dra.reports.attributes import attribute_text
from kubectl_dra.reports.selector.compiling import Compiled
from kubectl_dra.reports.selector.records import Outcome
from kubectl_dra.reports.selector.scoping import Member

# Actual cost of all evaluations of one report, some seconds; beyond it devices stay undecided.
_PURSE: Final = 12_000_000
# What an evaluation is worth that was given up, and the least that any is worth.
_GIVEN_UP: Final = 2_000_000
_LEAST: Final = 20
NOT_TRIED: Final = "not tried: the evaluation on other devices took too long already"

Values = tuple[tuple[str, str | None], ...]


@dataclass(slots=True)
class Purse:
    """How much evaluation is left in one call."""

    left: int = _PURSE

    def pay(self, cost: int) -> None:
        """An evaluation was made."""
        self.left -= max(cost, _LEAST)

    @property
    def empty(self) -> bool:
        """Whether nothing more may be evaluated."""
        return self.left <= 0


class Judged(NamedTuple):
    """The outcome on a device. ``selector`` and ``clause`` (-1: none) decided; ``seen`` is what the clause read.

    ``place`` is the offset of an error in its selector (-1: not known), ``cost`` that of the selector that decided.
    """

    outcome: Outcome
    selector: int = -1
    clause: int = -1
    seen: Values = ()
    error: str = ""
    place: int = -1
    cost: int | None = None


class Judge:
    """Selectors that all compile."""

    def __init__(self, selectors: Sequence[Compiled], features: Features, purse: Purse) -> None:
        self.selectors = tuple(selectors)
        self._programs = [selector.program for selector in selectors if selector.program is not None]
        self._lens = Lens(self._programs, (), features)
        self._verdicts: dict[Hashable, Judged] = {}
        self._purse = purse
        # The first implementation of the allocator does not tell CEL about devices that may be shared.
        self._hide_sharing = features.implementation == "stable"
        self.spent: list[int | None] = [None] * len(self.selectors)

    def of(self, member: Member) -> Judged:
        """The outcome on one device; devices that the selectors can't tell apart share it."""
        content = self._lens.content(member.driver, member.device)
        known = self._verdicts.get(content)
        if known is None:
            known = self._verdicts[content] = self._judge(member)
        return known

    def value(self, member: Member) -> DeviceValue:
        """The device as expressions see it."""
        device = member.device
        if self._hide_sharing and device.allow_multiple_allocations:
            device = msgspec.structs.replace(device, allow_multiple_allocations=None)
        return device_value(member.driver, device)

    def _judge(self, member: Member) -> Judged:
        if self._purse.empty:
            return Judged(Outcome.UNDECIDED, error=NOT_TRIED)
        value = self.value(member)
        for number, program in enumerate(self._programs):
            answer = program.evaluate(value)
            self._pay(number, answer.cost, answer.undecided)
            if answer.undecided:
                return Judged(Outcome.UNDECIDED, number, error=answer.error or "")
            if answer.error is not None:
                return self._failure(number, value, member, answer.error, answer.cost)
            if not answer.match:
                return self._refusal(number, value, member)
        return Judged(Outcome.MATCHES)

    def _pay(self, number: int, cost: int | None, undecided: bool) -> None:
        self._purse.pay(_GIVEN_UP if undecided else cost or 0)
        if cost is not None:
            self.spent[number] = max(cost, self.spent[number] or 0)

    def _failure(self, number: int, value: DeviceValue, member: Member, error: str, cost: int | None) -> Judged:
        self._purse.pay(3 * (cost or 0))
        place = failing_place(self._programs[number], value, error)
        return Judged(Outcome.FAILS, number, -1, (), error, place, cost)

    def _refusal(self, number: int, value: DeviceValue, member: Member) -> Judged:
        clauses = self.selectors[number].clauses
        for index, (_, program) in enumerate(clauses):
            if len(clauses) == 1 or self._refuses(program, value):
                return Judged(Outcome.NO, number, index, tuple(_seen(program.reads, member)))
        return Judged(Outcome.NO, number, 0)

    def _refuses(self, program: Program, value: DeviceValue) -> bool:
        try:
            matches, cost = program.run(value)
        except EvaluationError as error:
            # Absorbed: another operand says no.
            self._purse.pay(error.cost or 0)
            return False
        self._purse.pay(cost)
        return matches is False


def _seen(reads: Reads, member: Member) -> Iterator[tuple[str, str | None]]:
    """What a condition read; nothing where that can be anything."""
    if reads.all:
        return
    device = member.device
    if reads.driver:
        yield "driver", member.driver
    if reads.allow_multiple:
        yield "allowMultipleAllocations", str(bool(device.allow_multiple_allocations)).lower()
    for domain, name in sorted(reads.attributes):
        yield name, _text(device, "attributes", domain, name, member.driver)
    for domain, name in sorted(reads.capacity):
        yield name, _text(device, "capacity", domain, name, member.driver)


def _text(device: Device, field: str, domain: str, name: str, driver: str) -> str | None:
    # What has a slash in it is not in the driver's domain.
    short = domain == driver and "/" not in name
    for key in (f"{domain}/{name}", name) if short else (f"{domain}/{name}",):
        if field == "attributes" and key in device.attributes:
            return attribute_text(device.attributes[key])
        if field == "capacity" and key in device.capacity:
            return str(device.capacity[key].value)
    return None


def has_name(member: Member, field: str, domain: str, name: str) -> bool:
    """Whether a device has an attribute or capacity."""
    return _text(member.device, field, domain, name, member.driver) is not None
