"""The compile-time verdict on an expression, in the order of upstream: parse, check, validate, output type.

Planning (constant folding) and evaluation follow elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_dra.cel.check.checker import check_types
from kubectl_dra.cel.check.errors import CompileError, compile_error
from kubectl_dra.cel.check.types import full_text
from kubectl_dra.cel.check.validators import validate
from kubectl_dra.cel.syntax.parser import parse

if TYPE_CHECKING:
    from kubectl_dra.cel.check.environment import Environment
    from kubectl_dra.cel.syntax.ast import Checked


def check(expression: str, environment: Environment, derived: bool = False) -> Checked:
    """The checked tree of a selector or, if ``derived``, of the expression of a derived attribute.

    Raises CompileError (``RuleInvalid``) with the text that the API server and the scheduler give.
    """
    parsed = parse(expression)
    checked, issues = check_types(parsed, environment)
    if issues := issues or validate(checked):
        raise compile_error(parsed.source, issues)
    if not environment.accepts_output(checked.output, derived):
        raise CompileError("RuleInvalid", _wrong_output(full_text(checked.output), environment, derived))
    return checked


def _wrong_output(output: str, environment: Environment, derived: bool) -> str:
    if environment.kind == "namedResources":
        return "must evaluate to bool"
    if not derived:
        return f"must evaluate to bool or the unknown type, not {output}"
    lists = " or a list of these scalars" if environment.allows_lists else ""
    return f"must evaluate to a primitive scalar (string, integer, boolean, semver){lists}, not {output}"
