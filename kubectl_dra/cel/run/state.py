"""The state of one evaluation and the shape of compiled expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_dra.cel.run.values import Cancelled, CelError, Value

if TYPE_CHECKING:
    from kubectl_dra.cel.run.device import DeviceValue

COST_LIMIT_EXCEEDED: Final = "operation cancelled: actual cost limit exceeded"

# A variable that was not computed yet: bindings are evaluated at their first use.
UNSET: Final = object()


class State:
    """``cost`` spent so far, the ``limit`` that it may not exceed, and the values of local variables."""

    __slots__ = ("cost", "device", "limit", "slots")

    def __init__(self, device: DeviceValue, limit: int, slot_count: int) -> None:
        self.cost = 0
        self.device = device
        self.limit = limit
        if slot_count:
            self.slots: list[Value] = [UNSET] * slot_count

    def spend(self, amount: int) -> None:
        """Add the cost of one step. Raises :class:`Cancelled` beyond the limit."""
        self.cost += amount
        if self.cost > self.limit:
            raise Cancelled(COST_LIMIT_EXCEEDED)

    def overspent(self) -> Cancelled:
        """The end after several steps of cost 1 were added at once: the first one too many is what is reported."""
        self.cost = self.limit + 1
        return Cancelled(COST_LIMIT_EXCEEDED)

    def spend_in_turn(self, *amounts: int) -> None:
        """Add the costs of several steps; the sum when the first of them exceeds the limit is what is reported."""
        for amount in amounts:
            self.spend(amount)


Step: TypeAlias = Callable[[State], Value]


class Constant:
    """An expression whose value is known before evaluation; it costs nothing."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class KnownCall:
    """A call whose value is known before evaluation, but which costs something each time.

    ``fresh`` makes a new value where identity matters because the value may change (quantities).
    """

    __slots__ = ("cost", "fresh", "value")

    def __init__(self, value: Value, cost: int, fresh: Callable[[], Value] | None = None) -> None:
        self.value = value
        self.cost = cost
        self.fresh = fresh


Plan: TypeAlias = Constant | KnownCall | Step


def as_step(plan: Plan) -> Step:
    """The plan as something to run."""
    if isinstance(plan, KnownCall):
        return _known_step(plan)
    if not isinstance(plan, Constant):
        return plan
    value = plan.value
    if value.__class__ is CelError:
        return failing(value.text)
    return lambda state: value


def _known_step(known: KnownCall) -> Step:
    value, cost, fresh = known.value, known.cost, known.fresh

    def step(state: State) -> Value:
        state.spend(cost)
        return value if fresh is None else fresh()

    return step


def failing(text: str) -> Step:
    def step(state: State) -> Value:
        raise CelError(text)

    return step


class PlanError(Exception):
    """Raised when a checked expression cannot be compiled; ``text`` is the scheduler's, without prefix."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
