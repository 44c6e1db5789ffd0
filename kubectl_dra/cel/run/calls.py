"""Function calls: how the implementation is chosen at run time, and when which part of a call is charged.

Upstream evaluates the arguments from left to right; most functions evaluate both of two arguments even if the first one
fails, some stop at the first failure. A call is charged once all arguments were evaluated, failed or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec

from kubectl_dra.cel.check.types import Type
from kubectl_dra.cel.cost.rule import ChargeRule
from kubectl_dra.cel.declarations import OVERLOADS_BY_ID, Overload
from kubectl_dra.cel.functions import registry
from kubectl_dra.cel.functions.operators import Operator, unable
from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.state import KnownCall, State, Step
from kubectl_dra.cel.run.values import (
    CIDR,
    IP,
    LISTS,
    MAPS,
    URL,
    CelError,
    Duration,
    NamedFormat,
    Optional,
    QuantityValue,
    Timestamp,
    Uint,
    Value,
    list_size,
    type_name,
)
from kubectl_dra.model.semver import Semver

Run: TypeAlias = Callable[..., Value]
# The test for one parameter: an exact class, or a function for containers.
Guard: TypeAlias = type | Callable[[Value], bool]

_CLASSES: Final[dict[str, type]] = {
    "bool": bool,
    "int": int,
    "uint": Uint,
    "double": float,
    "string": str,
    "bytes": bytes,
    "duration": Duration,
    "timestamp": Timestamp,
    "optional_type": Optional,
    "net.IP": IP,
    "net.CIDR": CIDR,
    "kubernetes.Quantity": QuantityValue,
    "kubernetes.Semver": Semver,
    "kubernetes.URL": URL,
    "kubernetes.NamedFormat": NamedFormat,
}


def _fits(declared: Type) -> Guard | None:
    """The run-time test for a parameter's type, None if anything fits; of containers only the first entry counts."""
    kind = declared.kind
    if kind in ("dyn", "any", "param"):
        return None
    if kind == "list":
        return _list_guard(_fits(declared.params[0]))
    if kind == "map":
        return _map_guard(_fits(declared.params[0]), _fits(declared.params[1]))
    return _CLASSES.get(declared.name or kind, _Nothing)


class _Nothing:
    """No value has this class."""


def _passes(guard: Guard | None, value: Value) -> bool:
    if guard is None:
        return True
    return value.__class__ is guard if isinstance(guard, type) else guard(value)


def _list_guard(element: Guard | None) -> Guard:
    def fits(value: Value) -> bool:
        if value.__class__ not in LISTS:
            return False
        return element is None or not list_size(value) or _passes(element, value[0])

    return fits


def _map_guard(key: Guard | None, element: Guard | None) -> Guard:
    def fits(value: Value) -> bool:
        if value.__class__ not in MAPS:
            return False
        for encoded, inner in value.items():
            return _passes(key, decode_key(encoded)) and _passes(element, inner)
        return True

    return fits


def _mismatch(name: str, values: Sequence[Value]) -> CelError:
    return CelError(f"no such overload: {name}({', '.join(map(type_name, values))})")


class _Candidate(msgspec.Struct, frozen=True):
    run: Run
    guards: tuple[Guard | None, ...]

    def fits(self, values: Sequence[Value]) -> bool:
        return len(values) == len(self.guards) and all(map(_passes, self.guards, values))


def _candidate(function: str, overload: Overload) -> _Candidate | None:
    run = registry.implementation(overload.id)
    if run is None:
        return None
    if function in registry.UNGUARDED:
        return _Candidate(run, (None,) * len(overload.params))
    return _Candidate(run, tuple(map(_fits, overload.params)))


def implementation(function: str, resolved: str | None, declared: Sequence[Overload]) -> Run:
    """What a call runs: the resolved overload or, for dynamic operands, the first declared one that fits."""
    if resolved is not None:
        candidate = _candidate(function, OVERLOADS_BY_ID[resolved])
        if candidate is not None:
            return _guarded(function, candidate)
    candidates = tuple(filter(None, (_candidate(function, overload) for overload in declared)))

    def run(*values: Value) -> Value:
        for candidate in candidates:
            if candidate.fits(values):
                return candidate.run(*values)
        raise _mismatch(function, values)

    return run


def _guarded(function: str, candidate: _Candidate) -> Run:
    run, guards = candidate.run, candidate.guards
    if all(guard is None for guard in guards):
        return run
    if all(isinstance(guard, type) for guard in guards) and len(guards) <= 2:
        return _guarded_by_class(function, run, *guards)

    def checked(*values: Value) -> Value:
        if candidate.fits(values):
            return run(*values)
        raise _mismatch(function, values)

    return checked


def _guarded_by_class(function: str, run: Run, first: Guard | None, second: Guard | None = None) -> Run:
    """The commonest guards without detours."""

    def one(value: Value) -> Value:
        if value.__class__ is first:
            return run(value)
        raise _mismatch(function, (value,))

    def two(a: Value, b: Value) -> Value:
        if a.__class__ is first and b.__class__ is second:
            return run(a, b)
        raise _mismatch(function, (a, b))

    return one if second is None else two


def operator(name: str, definition: Operator, operands: int) -> Run:
    """An operator's implementation with the test of its first operand."""
    run, able = definition.run, definition.able
    if able is None:
        return run

    def one(a: Value) -> Value:
        if a.__class__ in able:
            return run(a)
        raise unable(name, a)

    def two(a: Value, b: Value) -> Value:
        if a.__class__ in able:
            return run(a, b)
        raise unable(name, a)

    return one if operands == 1 else two


# --- evaluation of calls ----------------------------------------------------------------------------------------------


def nullary(run: Run) -> Step:
    def step(state: State) -> Value:
        state.spend(1)
        return run()

    return step


def unary(run: Run, rule: ChargeRule | None, argument: Step) -> Step:
    def step(state: State) -> Value:
        try:
            value = argument(state)
        except CelError as error:
            state.spend(1 if rule is None else rule(error))
            raise
        state.spend(1 if rule is None else rule(value))
        return run(value)

    return step


def binary_known(function: str, overload: Overload, left: Step, right: KnownCall) -> Step:
    """A call of cost 1 of values of one class, the second of which is known: it may be shared, nothing changes it."""
    run = registry.implementation(overload.id)
    assert run is not None  # noqa: S101 (comparisons are implemented)
    value, cost = right.value, right.cost
    kind = value.__class__
    total = cost + 1

    def step(state: State) -> Value:
        try:
            a = left(state)
        except CelError:
            state.spend_in_turn(cost, 1)
            raise
        state.cost += total
        if state.cost > state.limit:
            state.cost -= total
            state.spend_in_turn(cost, 1)
        if a.__class__ is kind:
            return run(a, value)
        raise _mismatch(function, (a, value))

    return step


def binary(run: Run, rule: ChargeRule | None, left: Step, right: Step) -> Step:
    """A call that evaluates both arguments whatever happens."""

    def step(state: State) -> Value:
        try:
            a = left(state)
        except CelError as error:
            _fail_left(state, rule, error, right)
        try:
            b = right(state)
        except CelError as error:
            state.spend(1 if rule is None else rule(a, error))
            raise
        state.spend(1 if rule is None else rule(a, b))
        return run(a, b)

    return step


def _fail_left(state: State, rule: ChargeRule | None, error: CelError, right: Step) -> None:
    text = error.text
    try:
        b = right(state)
    except CelError as second:
        b = second
    state.spend(1 if rule is None else rule(error, b))
    raise CelError(text) from None


def eager(run: Run, rule: ChargeRule | None, arguments: Sequence[Step]) -> Step:
    """A call that stops at the first argument that fails; unless it is the last one, it is not charged then."""
    arguments = tuple(arguments)
    last = len(arguments) - 1

    def step(state: State) -> Value:
        values: list[Value] = []
        for position, argument in enumerate(arguments):
            try:
                values.append(argument(state))
            except CelError as error:
                if position == last:
                    state.spend(1 if rule is None else rule(*values, error))
                raise
        state.spend(1 if rule is None else rule(*values))
        return run(*values)

    return step
