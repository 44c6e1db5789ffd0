"""The clauses of a ``string.format`` template; what they do with a value is the runtime's affair.

A clause is ``%``, an optional ``.digits`` and a letter; ``%%`` is a percent sign. The texts of errors are cel-go's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS: Final = frozenset("sdfebxXo")
_DIGITS: Final = frozenset("0123456789")
_UNPARSABLE: Final = "could not parse formatting clause: "
_BAD_PRECISION: Final = f"{_UNPARSABLE}error while parsing precision: "
_MAX_INT: Final = 2**63 - 1


class TemplateError(ValueError):
    """A template is malformed; the text is the real one."""


class FormatClause(NamedTuple):
    """One clause: its letter, its precision if given, and the offset after it."""

    letter: str
    precision: int | None
    end: int


def clauses(template: str, arguments: int) -> Iterator[FormatClause]:
    """The clauses from left to right, each of which takes one of so many ``arguments``.

    Raises TemplateError when it reaches a malformed one or one too many.
    """
    used = 0
    position = template.find("%")
    while position >= 0:
        if template.startswith("%%", position):
            end = position + 2
        else:
            if used >= arguments and position + 1 < len(template):
                raise TemplateError(f"index {used} out of range")
            clause = clause_at(template, position)
            yield clause
            used += 1
            end = clause.end
        position = template.find("%", end)


def clause_at(template: str, position: int) -> FormatClause:
    """The clause whose ``%`` stands at ``position``. Raises TemplateError."""
    if position + 1 >= len(template):
        raise TemplateError("unexpected end of string")
    precision, end = _precision(template, position + 1)
    letter = template[end]
    if letter not in LETTERS:
        # Upstream looks at bytes: of a longer character only the first is shown.
        shown = chr(letter.encode("utf-8", "replace")[0])
        raise TemplateError(f'{_UNPARSABLE}unrecognized formatting clause "{shown}"')
    return FormatClause(letter, precision, end + 1)


def _precision(template: str, position: int) -> tuple[int | None, int]:
    if template[position] != ".":
        return None, position
    end = position + 1
    while end < len(template) and template[end] in _DIGITS:
        end += 1
    if end == len(template):
        raise TemplateError(f"{_BAD_PRECISION}could not find end of precision specifier")
    text = template[position + 1 : end]
    significant = text.lstrip("0") or "0"
    if not text:
        raise _not_a_number(text, "invalid syntax")
    if len(significant) > len(str(_MAX_INT)) or int(significant) > _MAX_INT:
        raise _not_a_number(text, "value out of range")
    return int(significant), end


def _not_a_number(text: str, why: str) -> TemplateError:
    conversion = "error while converting precision to integer: strconv.Atoi: parsing"
    return TemplateError(f'{_BAD_PRECISION}{conversion} "{text}": {why}')
