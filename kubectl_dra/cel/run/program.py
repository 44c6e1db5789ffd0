"""A compiled expression: its static facts and its evaluation on devices; the rest of the package is behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.check.front import check
from kubectl_dra.cel.check.types import full_text
from kubectl_dra.cel.run.compile import Compiler
from kubectl_dra.cel.run.labor import begin
from kubectl_dra.cel.run.result import to_attribute, to_match
from kubectl_dra.cel.run.state import PlanError, State, Step
from kubectl_dra.cel.run.values import Cancelled, CelError, Value
from kubectl_dra.cel.syntax.walk import allow_deep_trees

if TYPE_CHECKING:
    from kubectl_dra.cel.check.environment import Environment
    from kubectl_dra.cel.read.reads import Reads
    from kubectl_dra.cel.run.device import DeviceValue
    from kubectl_dra.cel.syntax.ast import Checked
    from kubectl_dra.model.resource import DeviceAttribute

# resource.k8s.io: CELSelectorExpressionMaxCost.
COST_LIMIT: Final = 1_000_000
# Expressions with fewer nodes than this never come near Python's recursion limit, nor do the values they make.
_SHALLOW: Final = 40


class EvaluationError(Exception):
    """The evaluation failed; ``text`` is the scheduler's.

    ``cost`` is what was spent, None if the device itself is broken. ``undecided``: the real evaluation would go on for
    longer, or with more memory, than this one dares.
    """

    def __init__(self, text: str, cost: int | None, *, undecided: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.cost = cost
        self.undecided = undecided


@dataclass(eq=False)
class Program:
    """An expression that can be evaluated. Immutable and safe to share between threads."""

    expression: str
    environment: Environment
    derived: bool
    checked: Checked
    step: Step
    slot_count: int
    laborious: bool

    @property
    def output_type(self) -> str:
        """The static type, as error texts print it."""
        return full_text(self.checked.output)

    @cached_property
    def max_cost(self) -> int:
        """The estimated maximum cost, which admission compares with 1,000,000."""
        from kubectl_dra.cel.cost.estimate import estimate_cost

        return estimate_cost(self.checked)

    @cached_property
    def reads(self) -> Reads:
        """What of a device an evaluation can depend on."""
        from kubectl_dra.cel.read.reads import reads

        return reads(self.checked)

    def run(self, device: DeviceValue, cost_limit: int = COST_LIMIT) -> tuple[Value, int]:
        """The value on a device and what it cost. Raises :class:`EvaluationError`."""
        if not device.ready:
            device.prepare()
        if device.error is not None:
            raise EvaluationError(device.error, None)
        if self.laborious:
            begin()
        state = State(device, cost_limit, self.slot_count)
        try:
            return self.step(state), state.cost
        except (CelError, Cancelled, RecursionError) as error:
            raise _evaluation_error(error, state.cost) from None

    def test(self, device: DeviceValue, cost_limit: int = COST_LIMIT) -> tuple[bool, int]:
        """Whether the selector matches, and what that cost. Raises :class:`EvaluationError`."""
        # As run(), without its detours: this is what a search over all devices spends its time on.
        if not device.ready:
            device.prepare()
        if device.error is not None:
            raise EvaluationError(device.error, None)
        if self.laborious:
            begin()
        state = State(device, cost_limit, self.slot_count)
        try:
            value = self.step(state)
            return (value if value is True or value is False else to_match(value)), state.cost
        except (CelError, Cancelled, RecursionError) as error:
            raise _evaluation_error(error, state.cost) from None

    def derive(self, device: DeviceValue, cost_limit: int = COST_LIMIT) -> tuple[DeviceAttribute, int]:
        """The value of a derived attribute and its cost. Raises :class:`EvaluationError`."""
        value, cost = self.run(device, cost_limit)
        try:
            return to_attribute(value), cost
        except CelError as error:
            raise EvaluationError(error.text, cost) from None


def _evaluation_error(error: CelError | Cancelled | RecursionError, cost: int) -> EvaluationError:
    if isinstance(error, RecursionError):
        return EvaluationError("values are nested too deeply", cost, undecided=True)
    return EvaluationError(error.text, cost, undecided=isinstance(error, Cancelled) and error.undecided)


@lru_cache(maxsize=4096)
def compile_expression(expression: str, environment: Environment, *, derived: bool = False) -> Program:
    """Compile a selector or, if ``derived``, the expression of a derived attribute. Raises :class:`CompileError`."""
    checked = check(expression, environment, derived)
    planner = Compiler(checked, environment)
    if len(checked.types) > _SHALLOW:
        allow_deep_trees()
    try:
        step = planner.step(checked.parsed.root)
    except PlanError as error:
        raise CompileError("InternalError", f"program instantiation failed: {error.text}") from None
    return Program(expression, environment, derived, checked, step, planner.slot_count, planner.laborious)
