"""Errors of the compile steps; errors of evaluation are values and live with the runtime."""

from __future__ import annotations

from typing import Literal

from kubectl_dra.cel.check.types import Type, short_text
from kubectl_dra.cel.syntax import ast
from kubectl_dra.cel.syntax.issues import Issue, Reporter, render, sort_issues


class CompileError(Exception):
    """An expression is refused before it is evaluated.

    ``type`` is the class that the API server and the scheduler give it: ``RuleInvalid`` (syntax, types, validators,
    output type) or ``InternalError`` (program instantiation, and what makes upstream crash). ``text`` is their literal
    text, beginning with ``compilation failed: ``, ``must evaluate to `` or ``program instantiation failed: ``.
    ``issues`` has one entry for each problem with a position, sorted as printed; it is empty where there is none.
    """

    def __init__(
        self, type: Literal["RuleInvalid", "InternalError"], text: str, issues: tuple[Issue, ...] = ()
    ) -> None:
        super().__init__(text)
        self.type = type
        self.text = text
        self.issues = issues


class TypeReporter(Reporter):
    """Of types that are not as expected."""

    def mismatch(self, node: ast.Node, expected: Type, found: Type) -> None:
        """Another type than the place of ``node`` takes."""
        message = f"expected type '{short_text(expected)}' but found '{short_text(found)}'"
        self.report(node.pos, message, "type-mismatch")


def compile_error(source: str, issues: list[Issue]) -> CompileError:
    ordered = sort_issues(issues)
    return CompileError("RuleInvalid", f"compilation failed: {render(source, ordered)}", ordered)
