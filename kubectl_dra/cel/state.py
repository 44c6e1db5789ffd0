"""The state of one evaluation and the shape of compiled expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_dra.cel.values import Cancelled, CelError, Value

if TYPE_CHECKING:
    from kubectl_dra.cel.device import DeviceValue

COST_LIMIT_EXCEEDED: Final = "operation cancelled: actual cost limit exceeded"

# A variable that was not computed yet: bindings are evaluated at their first use.
UNSET: Final = object()


class State:
    """``cost`` spent so far, the ``limit`` that it may not exceed, and the values of local variables."""

    __slots__ = ("cost", "device", "limit", "slots")

    def __init__(self, device: DeviceValue, limit: int, slots: list[Value]) -> None:
        self.device = device
        self.limit = limit
        self.slots = slots
        self.cost = 0

    def spend(self, amount: int) -> None:
        """Add the cost of one step. Raises :class:`Cancelled` beyond the limit."""
        self.cost += amount
        if self.cost > self.limit:
            raise Cancelled(COST_LIMIT_EXCEEDED)

    def overspent(self) -> Cancelled:
        """The end after several steps of cost 1 were added at once: the first one too many is what is reported."""
        self.cost = self.limit + 1
        return Cancelled(COST_LIMIT_EXCEEDED)


Step: TypeAlias = Callable[[State], Value]


class Constant:
    """An expression whose value is known before evaluation; it costs nothing."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


Plan: TypeAlias = Constant | Step


def as_step(plan: Plan) -> Step:
    """The plan as something to run."""
    if not isinstance(plan, Constant):
        return plan
    value = plan.value
    if value.__class__ is CelError:
        return failing(value.text)
    return lambda state: value


def failing(text: str) -> Step:
    """A step that always fails."""

    def step(state: State) -> Value:
        raise CelError(text)

    return step


class PlanError(Exception):
    """Raised when a checked expression cannot be compiled; ``text`` is the scheduler's, without prefix."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
