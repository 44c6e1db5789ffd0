"""The verdicts before any device: what the API server says to a new selector, and whether the scheduler can use it.

Upstream: pkg/apis/resource/validation (length, compile errors, estimated cost) and the CEL cache of the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import msgspec

from kubectl_dra.cel.check.environment import SCHEDULER
from kubectl_dra.cel.check.environment import Environment as Environment
from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.declarations import FUNCTIONS, GLOBAL_NAMES, overloads
from kubectl_dra.cel.read.mentions import Mention as Mention
from kubectl_dra.cel.read.mentions import mentions
from kubectl_dra.cel.read.mentions import names_local_zone as names_local_zone
from kubectl_dra.cel.run.program import COST_LIMIT as COST_LIMIT
from kubectl_dra.cel.run.program import Program, compile_expression
from kubectl_dra.cel.syntax.ast import Literal
from kubectl_dra.cel.syntax.clauses import Clause
from kubectl_dra.cel.syntax.issues import Issue
from kubectl_dra.cel.syntax.traverse import walk
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.features import Features
from kubectl_dra.model.likeness import similar
from kubectl_dra.selectors.clauses import all_of, program_clauses

# resource.k8s.io: CELSelectorExpressionMaxLength, in bytes.
MAX_BYTES: Final = 10 * 1024
#: What a server validates new expressions with whose gates nobody told.
ADMISSION: Final = Environment("admission")
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


class Problem(ReportRecord, frozen=True):
    """One compile error: ``offset`` in code points (None: no place), ``line`` and ``column`` from 1, ``near`` names."""

    message: str
    kind: str
    name: str
    offset: int | None
    line: int
    column: int
    near: tuple[str, ...]


class Verdict(ReportRecord, frozen=True):
    """What the API server or the scheduler says before any device: ``text`` is the refusal in its words, if any."""

    accepted: bool
    reason: str
    text: str
    problems: tuple[Problem, ...]


_ACCEPTED: Final = Verdict(True, "", "", ())


class Selector(msgspec.Struct, frozen=True):
    """A selector with where it stands: in a class, or (``device_class`` None) in the request."""

    device_class: str | None
    index: int
    expression: str


class Compiled(Selector, frozen=True):
    """A selector with both verdicts, and the scheduler's program if there is one."""

    admission: Verdict
    scheduler: Verdict
    program: Program | None
    estimated_cost: int | None

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The conditions that all must hold."""
        return clauses_of(self.expression)

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """The domains, attributes and capacities that it names."""
        return mentions(self.program.checked.parsed) if self.program is not None else ()


@lru_cache(maxsize=4096)
def compiled(expression: str, environment: Environment = SCHEDULER, *, derived: bool = False) -> Program | CompileError:
    """What is evaluated, by the scheduler where nothing else is said, or why that can't be."""
    try:
        return compile_expression(expression, environment, derived=derived)
    except CompileError as error:
        return error


def clauses_of(expression: str) -> tuple[Clause, ...]:
    """The conditions of a selector that all must hold; none if it does not compile."""
    program = compiled(expression)
    return tuple(clause for clause, _ in program_clauses(program)) if isinstance(program, Program) else ()


def without_reading(expression: str, attribute: str) -> str:
    """A selector without its conditions that read ``DOMAIN/NAME``; empty where these are all, or none compiles."""
    program = compiled(expression)
    if not isinstance(program, Program):
        return ""
    domain, _, name = attribute.rpartition("/")
    found = ((clause, each.reads) for clause, each in program_clauses(program))
    return all_of([clause for clause, reads in found if (domain, name) not in reads.attributes | reads.capacity])


def domains_of(expression: str) -> frozenset[str]:
    """The domains of the attributes and capacities that a selector reads; none if it does not compile."""
    program = compiled(expression)
    reads = program.reads if isinstance(program, Program) else None
    return frozenset(domain for domain, _ in reads.attributes | reads.capacity) if reads is not None else frozenset()


def literals(expression: str) -> tuple[str, ...]:
    """The texts that stand in an expression; none if it does not compile."""
    program = compiled(expression)
    if not isinstance(program, Program):
        return ()
    parsed = program.checked.parsed
    nodes = (node for node, _ in walk(parsed.root, parsed.macros))
    return tuple(node.value for node in nodes if isinstance(node, Literal) and isinstance(node.value, str))


def admitted(expression: str, environment: Environment, derived: bool = False) -> int | CompileError:
    """The estimated cost of a new expression, or why it is refused."""
    found = compiled(expression, environment, derived=derived)
    return found.max_cost if isinstance(found, Program) else found


def admission_environment(features: Features) -> Environment:
    """What the API server validates new selectors with."""
    return Environment(
        "admission",
        list_type_attributes=features.list_type_attributes,
        consumable_capacity=features.consumable_capacity,
    )


def compile_selector(selector: Selector, features: Features) -> Compiled:
    """Both verdicts on one selector."""
    device_class, index, expression = selector.device_class, selector.index, selector.expression
    environment = admission_environment(features)
    found, cost = compiled(expression), admitted(expression, environment)
    program = found if isinstance(found, Program) else None
    scheduler = _ACCEPTED if isinstance(found, Program) else _refusal(found, SCHEDULER)
    admission = _ACCEPTED if isinstance(cost, int) else _refusal(cost, environment)
    if len(expression.encode("utf-8", "replace")) > MAX_BYTES:
        admission = Verdict(False, "FieldValueTooLong", f"Too long: may not be more than {MAX_BYTES} bytes", ())
    elif isinstance(cost, int) and cost > COST_LIMIT:
        admission = Verdict(False, "FieldValueForbidden", "Forbidden: too complex, exceeds cost limit", ())
    estimated = cost if isinstance(cost, int) else program.max_cost if program is not None else None
    return Compiled(device_class, index, expression, admission, scheduler, program, estimated)


def _refusal(error: CompileError, environment: Environment) -> Verdict:
    return Verdict(False, error.type, error.text, tuple(_problem(issue, environment) for issue in error.issues))


def one_line(error: CompileError) -> str:
    """The first problem in one line, with its place."""
    if not error.issues:
        return " ".join(error.text.split())
    issue = error.issues[0]
    message = " ".join(issue.message.removesuffix(" (in container '')").split())
    return f"{message} (line {issue.line}, column {issue.column + 1})" if issue.pos >= 0 else message


# --- near names -----------------------------------------------------------------------------------------------------


def _problem(issue: Issue, environment: Environment) -> Problem:
    column = issue.column + 1 if issue.pos >= 0 else 0
    near = near_names(issue.name, _candidates(issue, environment)) if issue.name else ()
    return Problem(
        issue.message, issue.kind, issue.name, issue.pos if issue.pos >= 0 else None, issue.line, column, near
    )


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
