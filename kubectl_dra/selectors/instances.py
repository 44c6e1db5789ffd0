"""Selectors on named resources, the instances that slices of 1.30 had instead of devices."""

from __future__ import annotations

from functools import lru_cache

from kubectl_dra.cel.environment import NAMED_RESOURCES
from kubectl_dra.cel.errors import CompileError
from kubectl_dra.cel.instance import InstanceValue
from kubectl_dra.cel.program import EvaluationError, Program, compile_expression

__all__ = ["InstanceValue", "admits_instance", "instance_problem"]


@lru_cache(maxsize=1024)
def _program(expression: str) -> Program | CompileError:
    try:
        return compile_expression(expression, NAMED_RESOURCES)
    except CompileError as error:
        return error


def instance_problem(expression: str) -> str:
    """Why an expression does not compile, in the scheduler's words; empty if it does."""
    found = _program(expression)
    return "" if isinstance(found, Program) else found.text


def admits_instance(expression: str, value: InstanceValue) -> bool | str:
    """Whether an expression that compiles lets an instance pass, or the text of the error."""
    program = _program(expression)
    assert isinstance(program, Program)  # noqa: S101 - claims of which one does not compile are not placed
    try:
        return program.test(value)[0]
    except EvaluationError as error:
        return error.text
