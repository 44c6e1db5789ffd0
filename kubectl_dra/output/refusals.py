"""What a server would say of an object, in words: its own hold the texts of its parser, with carets and line breaks."""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.output.safe import Safe, safe

# As cel-go prints issues, upstream: common/error.go, ToDisplayString: the source line and a caret below each.
_ISSUE: Final = re.compile(r"ERROR: <input>:(-?[0-9]+):([0-9]+): ([^\n]*)(?:\n \| [^\n]*)*")
_VALUE: Final = re.compile(r'Invalid value: "(?:[^"\\]|\\.)*": compilation failed: (?=ERROR: <input>)', re.DOTALL)
# As antlr names what may stand there: all of its tokens.
_UNEXPECTED: Final = re.compile(r"Syntax error: (?:mismatched|extraneous) input '(.*)' expecting .*")
_NO_RULE: Final = re.compile(r"Syntax error: no viable alternative at input '(.*)'")
_QUOTES: Final = ("'", '"')
_NO_TOKEN: Final = re.compile(r"Syntax error: token recognition error at: '(.*)'")


def refusal_text(text: str) -> Safe:
    """One line: problems of expressions by place and cause, anything else as the server says it."""
    said = _ISSUE.sub(_issue, _VALUE.sub("does not compile: ", text))
    return safe(" ".join(said.replace("\0", "; ").split()).removesuffix(";"))


def _issue(match: re.Match[str]) -> str:
    line, column, message = match.groups()
    place = f"line {line}, column {column}: " if int(line) > 0 else ""
    return f"{place}{parser_words(message)}\0"


def placed_words(problem: str) -> str:
    """:func:`parser_words` of a problem that ends with its place, ``(line 1, column 5)``."""
    message, begin, place = problem.partition(" (line ")
    return parser_words(message) + begin + place


def parser_words(message: str) -> str:
    """One problem of an expression without the parser's names of everything that may stand there."""
    unexpected = _UNEXPECTED.fullmatch(message)
    if unexpected is not None:
        at_end = unexpected[1] == "<EOF>"
        return f"syntax error: unexpected {'end of the expression' if at_end else chr(34) + unexpected[1] + chr(34)}"
    unknown = _NO_RULE.fullmatch(message)
    if unknown is not None:
        return f'syntax error at "{unknown[1].removesuffix("<EOF>")}"'
    strange = _NO_TOKEN.fullmatch(message)
    if strange is None:
        return message
    text = strange[1].strip()
    if text[:1] in _QUOTES:
        return f"syntax error: the string {text} has no closing quote"
    return f'syntax error: "{text}" is not part of CEL'
