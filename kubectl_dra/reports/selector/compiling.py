"""The verdicts before any device: what the API server says to a new selector, and whether the scheduler can use it.

Upstream: pkg/apis/resource/validation (length, compile errors, estimated cost) and the CEL cache of the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from kubectl_dra.cel import COST_LIMIT, SCHEDULER, CompileError, Environment, Program, compile_expression
from kubectl_dra.cel.clauses import Clause, clauses
from kubectl_dra.cel.declarations import FUNCTIONS, GLOBAL_NAMES, overloads
from kubectl_dra.cel.issues import Issue
from kubectl_dra.diagnosis.names import similar
from kubectl_dra.model.features import Features
from kubectl_dra.reports.selector.records import Problem, Verdict

# resource.k8s.io: CELSelectorExpressionMaxLength, in bytes.
MAX_BYTES: Final = 10 * 1024
_ACCEPTED: Final = Verdict(True, None, None, ())
_MACROS: Final = (
    "all",
    "exists",
    "exists_one",
    "existsOne",
    "filter",
    "has",
    "map",
    "optFlatMap",
    "optMap",
    "sortBy",
    "transformList",
    "transformMap",
    "transformMapEntry",
)


@dataclass(frozen=True)
class Compiled:
    """A selector with its place, both verdicts, and the scheduler's program if there is one."""

    device_class: str | None
    index: int
    expression: str
    admission: Verdict
    scheduler: Verdict
    program: Program | None
    estimated_cost: int | None

    @property
    def clauses(self) -> tuple[tuple[Clause, Program], ...]:
        """The conditions that all must hold, each compiled on its own."""
        return _clauses(self.program) if self.program is not None else ()


def admission_environment(features: Features) -> Environment:
    """What the API server validates new selectors with."""
    return Environment(
        "admission",
        list_type_attributes=features.list_type_attributes,
        consumable_capacity=features.consumable_capacity,
    )


def compile_selector(device_class: str | None, index: int, expression: str, features: Features) -> Compiled:
    """Both verdicts on one selector."""
    environment = admission_environment(features)
    program, scheduler = _compile(expression, SCHEDULER)
    new, admission = _compile(expression, environment)
    cost = new.max_cost if new is not None else program.max_cost if program is not None else None
    if len(expression.encode("utf-8", "replace")) > MAX_BYTES:
        admission = Verdict(False, "FieldValueTooLong", f"Too long: may not be more than {MAX_BYTES} bytes", ())
    elif new is not None and new.max_cost > COST_LIMIT:
        admission = Verdict(False, "FieldValueForbidden", "Forbidden: too complex, exceeds cost limit", ())
    return Compiled(device_class, index, expression, admission, scheduler, program, cost)


def _compile(expression: str, environment: Environment) -> tuple[Program | None, Verdict]:
    try:
        return compile_expression(expression, environment), _ACCEPTED
    except CompileError as error:
        problems = tuple(_problem(issue, environment) for issue in error.issues)
        return None, Verdict(False, error.type, error.text, problems)


@lru_cache(maxsize=256)
def _clauses(program: Program) -> tuple[tuple[Clause, Program], ...]:
    found = clauses(program.checked)
    if len(found) == 1:
        return ((found[0], program),)
    try:
        return tuple((clause, compile_expression(clause.text, SCHEDULER)) for clause in found)
    except CompileError:
        # A condition that means something else on its own: then the whole is the smallest part to name.
        whole = Clause(program.checked.parsed.root, 0, len(program.expression), program.expression)
        return ((whole, program),)


# --- near names -----------------------------------------------------------------------------------------------------


def _problem(issue: Issue, environment: Environment) -> Problem:
    column = issue.column + 1 if issue.pos >= 0 else 0
    near = near_names(issue.name, _candidates(issue, environment)) if issue.name else ()
    return Problem(issue.message, issue.kind, issue.name, issue.pos, issue.line, column, near)


def _candidates(issue: Issue, environment: Environment) -> Iterable[str]:
    if issue.kind == "undefined-field":
        return environment.device_fields
    if issue.kind == "undeclared-reference":
        if issue.name in environment.device_fields:
            return (f"device.{issue.name}",)
        return (*environment.variables, *functions(environment), *_MACROS, *GLOBAL_NAMES)
    return ()


def functions(environment: Environment) -> tuple[str, ...]:
    """The names of all functions that an expression may call."""
    names = (name for name in FUNCTIONS if name.replace(".", "").isidentifier())
    return tuple(name for name in names if overloads(name, environment))


def near_names(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Names that may have been meant, best first; one that only differs in case or in ``_`` and ``-`` is enough."""
    options = tuple(candidates)
    same = tuple(option for option in options if option != name and _folded(option) == _folded(name))
    if same:
        return same
    if options == (f"device.{name}",):
        return options
    # Very long names are nobody's typing error, and comparing them takes long.
    return similar(name, options) if 1 < len(name) <= 64 else ()


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
