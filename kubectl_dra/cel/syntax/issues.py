"""Problems with a place in an expression, and how they are printed; finding them is the parser's and checker's work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind: TypeAlias = Literal[
    "syntax",
    "limit",
    "reserved-identifier",
    "invalid-literal",
    "macro",
    "undeclared-reference",
    "undefined-field",
    "no-overload",
    "type-mismatch",
    "not-selectable",
    "not-a-range",
    "invalid-argument",
]

MAX_ISSUES: Final = 100
NOWHERE: Final = -1


class Issue(msgspec.Struct, frozen=True):
    """One problem.

    ``pos`` is the offset in code points (-1: no place), ``line`` counts from 1 (-1: no place), ``column`` from 0,
    ``message`` is the real text. ``kind`` classifies it and ``name`` is the offending name if the kind has one: the
    undeclared name, the undefined field, the function without a matching overload, the macro.
    """

    pos: int
    line: int
    column: int
    message: str
    kind: Kind
    name: str = ""


def issue_at(source: str, pos: int, message: str, kind: Kind, name: str = "") -> Issue:
    """The issue with line and column filled in; lines end at LF only."""
    if pos < 0:
        return Issue(NOWHERE, -1, 0, message, kind, name)
    line_start = source.rfind("\n", 0, pos) + 1
    return Issue(pos, source.count("\n", 0, pos) + 1, pos - line_start, message, kind, name)


class Reporter:
    """Collects what is wrong with a source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.issues: list[Issue] = []

    def report(self, pos: int, message: str, kind: Kind, name: str = "") -> None:
        self.issues.append(issue_at(self.source, pos, message, kind, name))


def sort_issues(issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """Stable by line and column, those without a place first, at most 100."""
    return tuple(sorted(issues, key=lambda issue: (issue.line, issue.column))[:MAX_ISSUES])


def render(source: str, issues: Iterable[Issue]) -> str:
    """The text of cel-go: one ``ERROR: <input>:LINE:COLUMN: ...`` with source line and caret per issue."""
    lines = source.split("\n")
    return "\n".join(_render(lines, issue) for issue in issues)


def _render(lines: list[str], issue: Issue) -> str:
    if issue.line < 1 or lines == [""]:
        # Empty text has no line that could be shown.
        return f"ERROR: <input>:{min(issue.line, 1)}:0: {issue.message}"
    text = lines[issue.line - 1]
    dots = "".join("." if char.isascii() else "．" for char in text[: issue.column])
    caret = "^" if text[issue.column : issue.column + 1].isascii() else "＾"
    shown = text.replace("\t", " ")
    return f"ERROR: <input>:{issue.line}:{issue.column + 1}: {issue.message}\n | {shown}\n | {dots}{caret}"
