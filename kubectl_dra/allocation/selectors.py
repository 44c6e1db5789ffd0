"""CEL for the allocator: the only module here that knows ``kubectl_dra.cel``.

An expression is evaluated once per distinct content that the attempt's expressions can read, not once per device: real
devices all carry unique attributes that hardly any selector looks at.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from kubectl_dra.allocation.candidates import Candidate
from kubectl_dra.allocation.errors import (
    Aborted,
    DerivedAttributeFailed,
    DerivedAttributeNotCompiled,
    SelectorFailed,
    SelectorNotCompiled,
    UndecidedError,
)
from kubectl_dra.allocation.requests import Request, Selector
from kubectl_dra.cel import (
    SCHEDULER,
    CompileError,
    DeviceValue,
    EvaluationError,
    Program,
    compile_expression,
    device_value,
)
from kubectl_dra.cel.clauses import clauses
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceClass, DeviceTaintRule
from kubectl_dra.model.semver import Semver, SemverError


@lru_cache(maxsize=1024)
def _compile(expression: str, derived: bool) -> Program | str:
    """The program, or the text of the compile error."""
    try:
        return compile_expression(expression, SCHEDULER, derived=derived)
    except CompileError as error:
        return error.text


@dataclass(frozen=True, slots=True)
class _View:
    """The attribute and capacity keys of one driver's devices that anybody looks at."""

    attributes: tuple[str, ...]
    capacity: tuple[str, ...]


class Lens:
    """What the expressions and constraints of one attempt can see of a device's content."""

    def __init__(self, programs: Iterable[Program], constrained: Iterable[str], features: Features) -> None:
        reads = [program.reads for program in programs]
        self._evaluates = bool(reads)
        self._whole = any(r.all for r in reads)
        self._attributes = {name for r in reads for name in r.attributes}
        self._attributes |= {(domain, name) for domain, _, name in (c.partition("/") for c in constrained)}
        self._capacity = {name for r in reads for name in r.capacity}
        self._constrained = tuple(constrained)
        self._views: dict[str, _View] = {}
        self._constrained_keys: dict[str, tuple[str, ...]] = {}
        self._sharing = features.consumable_capacity

    def content(self, driver: str, device: Device) -> Hashable:
        """Equal for two devices that no expression or constraint of the attempt can tell apart."""
        attributes = device.attributes
        if self._evaluates and (self._whole or _is_broken(device)):
            capacity = frozenset((name, c.value) for name, c in device.capacity.items())
            return driver, device.allow_multiple_allocations, frozenset(attributes.items()), capacity
        view = self._views.get(driver) or self._view(driver)
        found = tuple(map(attributes.get, view.attributes))
        if not view.capacity:
            return driver, device.allow_multiple_allocations, found
        values = tuple(c and c.value for c in map(device.capacity.get, view.capacity))
        return driver, device.allow_multiple_allocations, found, values

    def constrained(self, driver: str, device: Device) -> Hashable:
        """Equal for two devices of a driver that no constraint of the attempt can tell apart."""
        if not self._constrained:
            return None
        keys = self._constrained_keys.get(driver)
        if keys is None:
            names = [(domain, name) for domain, _, name in (c.partition("/") for c in self._constrained)]
            keys = self._constrained_keys[driver] = _keys(names, driver, self._constrained)
        return tuple(map(device.attributes.get, keys))

    def _view(self, driver: str) -> _View:
        view = _View(_keys(self._attributes, driver, self._constrained), _keys(self._capacity, driver, ()))
        self._views[driver] = view
        return view


def _keys(names: Collection[tuple[str, str]], driver: str, more: Iterable[str]) -> tuple[str, ...]:
    # A key without a domain belongs to the driver's domain.
    keys = {f"{domain}/{name}" for domain, name in names} | {name for domain, name in names if domain == driver}
    return tuple(sorted(keys.union(more)))


def _is_broken(device: Device) -> bool:
    # Nearly all attributes are plain strings; a function call for each would cost more than all the rest.
    for attribute in device.attributes.values():
        if (attribute.string is None or attribute.versions is not None) and _unconvertible(attribute):
            return True
    return False


def _unconvertible(attribute: DeviceAttribute) -> bool:
    """Whether a value can't be given to CEL, which makes every expression on the device fail."""
    if attribute.ints is not None or attribute.bools is not None or attribute.strings is not None:
        return False
    if attribute.versions is not None:
        return not all(map(_is_version, attribute.versions))
    if attribute.string is not None or attribute.int_value is not None or attribute.bool_value is not None:
        return False
    return attribute.version is None or not _is_version(attribute.version)


@lru_cache(maxsize=4096)
def _is_version(text: str) -> bool:
    try:
        Semver.parse(text)
    except SemverError:
        return False
    return True


def narrows(classes: Mapping[str, DeviceClass], rule: DeviceTaintRule, driver: str, device: Device) -> bool:
    """Whether class and selectors of a DeviceTaintRule of 1.33 or 1.34 admit a device; what fails admits nothing."""
    selector = rule.spec.device_selector
    if selector is None:
        return False
    selectors = list(selector.selectors)
    if selector.device_class_name is not None:
        device_class = classes.get(selector.device_class_name)
        if device_class is None:
            return False
        selectors += device_class.spec.selectors
    value = device_value(driver, device)
    return all(s.cel is not None and _admits(s.cel.expression, value) for s in selectors)


def _admits(expression: str, value: DeviceValue) -> bool:
    program = _compile(expression, False)
    try:
        return isinstance(program, Program) and program.matches(value)
    except EvaluationError:
        return False


@lru_cache(maxsize=1024)
def _conditions(expression: str) -> tuple[Program, ...]:
    """The operands of the topmost ``&&``, each compiled on its own; none where that can't be done."""
    try:
        checked = compile_expression(expression, SCHEDULER).checked
        return tuple(compile_expression(clause.text, SCHEDULER) for clause in clauses(checked))
    except CompileError:
        return ()


def refusing_condition(expression: str, value: DeviceValue) -> Program | None:
    """Of a selector that says no to a device: the first condition that does; None where none can be named."""
    conditions = _conditions(expression)
    if len(conditions) == 1:
        return conditions[0]
    for program in conditions:
        try:
            if not program.matches(value):
                return program
        except EvaluationError:
            # ``&&`` absorbs an error if another operand says no.
            continue
    return None


class Selection:
    """Evaluates the selectors and derived attributes of one attempt, each once per content."""

    def __init__(self, requests: Sequence[Request], constrained: Iterable[str], features: Features) -> None:
        programs = [_compile(s.expression, False) for request in requests for s in request.selectors]
        programs += [_compile(e, True) for request in requests for e in request.derived.values()]
        self.lens = Lens([p for p in programs if isinstance(p, Program)], constrained, features)
        # The first implementation does not tell CEL about devices that may be shared.
        self._hide_sharing = features.implementation == "stable"
        self._asked = dict.fromkeys(request.selectors for request in requests if request.selectors)
        self._derivations = dict.fromkeys(e for request in requests for e in request.derived.values())
        self._compiles = all(isinstance(program, Program) for program in programs)
        self._seen: dict[Hashable, Hashable] = {}
        self._verdicts: dict[tuple[int, Hashable], Selector | None] = {}
        self._derived: dict[tuple[str, Hashable], DeviceAttribute] = {}

    def forget(self) -> None:
        """Drop what was evaluated so far."""
        self._seen.clear()
        self._verdicts.clear()
        self._derived.clear()

    def seen(self, driver: str, device: Device) -> Hashable:
        """Equal for two devices of which the attempt's expressions and constraints say the same for the same reason.

        Devices on which something fails are told apart by their content, because errors name the device.
        """
        content = self.lens.content(driver, device)
        if not self._compiles:
            return content
        found = self._seen.get(content)
        if found is None:
            found = self._seen[content] = self._judged(driver, device, content)
        return found

    def _judged(self, driver: str, device: Device, content: Hashable) -> Hashable:
        value = self._value(driver, device)
        try:
            verdicts = tuple(_refusal(selectors, value) for selectors in self._asked)
            derived = tuple(_compiled(expression, True).derive(value)[0] for expression in self._derivations)
        except EvaluationError:
            return content
        return driver, device.allow_multiple_allocations, verdicts, derived, self.lens.constrained(driver, device)

    def refusing(self, request: Request, candidate: Candidate) -> Selector | None:
        """The first selector of class and request that says no. Raises :class:`Aborted` for an error."""
        if not request.selectors:
            return None
        key = (request.number, self.lens.content(candidate.pool.id.driver, candidate.device))
        if key in self._verdicts:
            return self._verdicts[key]
        verdict = next((s for s in request.selectors if not self.matches(request, s, candidate)), None)
        self._verdicts[key] = verdict
        return verdict

    def matches(self, request: Request, selector: Selector, candidate: Candidate) -> bool:
        """One selector on one device. Raises :class:`Aborted` for an error."""
        program = _compile(selector.expression, False)
        if isinstance(program, str):
            raise Aborted(SelectorNotCompiled(request.claim, selector.device_class, selector.index, program))
        try:
            return program.matches(self._value(candidate.pool.id.driver, candidate.device))
        except EvaluationError as error:
            self._check_decided(error)
            raise Aborted(
                SelectorFailed(request.claim, selector.device_class, selector.index, candidate.id, error.text)
            ) from None

    def derived(self, request: Request, attribute: str, candidate: Candidate) -> DeviceAttribute:
        """A derived attribute of a device. Raises :class:`Aborted` for an error."""
        expression = request.derived[attribute]
        key = (expression, self.lens.content(candidate.pool.id.driver, candidate.device))
        if key not in self._derived:
            self._derived[key] = self._derive(attribute, expression, candidate)
        return self._derived[key]

    def _derive(self, attribute: str, expression: str, candidate: Candidate) -> DeviceAttribute:
        program = _compile(expression, True)
        if isinstance(program, str):
            raise Aborted(DerivedAttributeNotCompiled(attribute, program))
        try:
            return program.derive(self._value(candidate.pool.id.driver, candidate.device))[0]
        except EvaluationError as error:
            self._check_decided(error)
            raise Aborted(DerivedAttributeFailed(attribute, candidate.id, error.text)) from None

    @staticmethod
    def _check_decided(error: EvaluationError) -> None:
        if error.undecided:
            raise UndecidedError(error.text)

    def _value(self, driver: str, device: Device) -> DeviceValue:
        if self._hide_sharing and device.allow_multiple_allocations:
            device = msgspec.structs.replace(device, allow_multiple_allocations=None)
        return device_value(driver, device)


def _compiled(expression: str, derived: bool) -> Program:
    program = _compile(expression, derived)
    assert isinstance(program, Program)  # noqa: S101 - where one does not compile, nothing is judged
    return program


def _refusal(selectors: Iterable[Selector], value: DeviceValue) -> Hashable:
    """The first selector that says no, and the first condition of it that does; None if all admit the device."""
    for selector in selectors:
        if not _compiled(selector.expression, False).matches(value):
            condition = refusing_condition(selector.expression, value) if selector.device_class is None else None
            return selector, condition.expression if condition is not None else ""
    return None
