"""Regular expressions with RE2's semantics (linear time, never Python's ``re``) and Go's error texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_dra.cel.run.values import NONE, CelError, NativeList, Optional, TypeValue, Value, no_such_overload

if TYPE_CHECKING:
    from re2 import _Regexp as Regexp  # the compiled form has no public name

# About the program size at which Go refuses an expression.
_MAX_MEMORY: Final = 80 << 20
_TEXTS: Final = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "bad repetition operator": "invalid nested repetition operator",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "pattern too large - compile failed": "expression too large",
}


class RegexError(ValueError):
    """Raised when a text is not a regular expression; the message is Go's, with ``error parsing regexp: ``."""


def compile_regex(pattern: str) -> Regexp:
    """The compiled expression. Raises :class:`RegexError`."""
    compiled = _compile(pattern)
    if isinstance(compiled, RegexError):
        raise RegexError(*compiled.args)
    return compiled


@lru_cache(maxsize=512)
def _compile(pattern: str) -> Regexp | RegexError:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        detail = error.args[0]
        return RegexError(_go_text(detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)))
    if _has_byte_escape(pattern):
        return RegexError("error parsing regexp: invalid escape sequence: `\\C`")
    return compiled


def _has_byte_escape(pattern: str) -> bool:
    """Whether ``\\C`` occurs, which only the C++ library knows."""
    position = pattern.find("\\")
    while 0 <= position < len(pattern) - 1:
        letter = pattern[position + 1]
        if letter == "C":
            return True
        end = pattern.find("\\E", position + 2) if letter == "Q" else position
        if end < 0:
            return False
        position = pattern.find("\\", end + 2)
    return False


def _go_text(text: str) -> str:
    for theirs, ours in _TEXTS.items():
        if text == theirs or text.startswith(theirs + ": "):
            return f"error parsing regexp: {ours}: `{text[len(theirs) + 2 :]}`"
    code, _, argument = text.partition(": ")
    return f"error parsing regexp: {code}: `{argument}`"


def matches(text: Value, pattern: Value) -> bool:
    """``text.matches(pattern)``, not anchored; the pattern has no type guard."""
    if pattern.__class__ is not str:
        raise no_such_overload()
    try:
        compiled = compile_regex(pattern)
    except RegexError as error:
        raise CelError(str(error)) from None
    return compiled.search(text) is not None


def _native_text(value: Value) -> str:
    """What Go takes for a text where no guard looks at the type: also an optional's content and a type's name."""
    while value.__class__ is Optional and value is not NONE:
        value = value.value
    if value.__class__ is TypeValue:
        return str(value.name)
    if value.__class__ is not str:
        raise no_such_overload()
    return str(value)


def matches_constant(text: Value, pattern: str) -> bool:
    """As :func:`matches`, for a pattern that was compiled with the expression: any type of text gets here."""
    return compile_regex(pattern).search(_native_text(text)) is not None


def _compiled(pattern: str) -> Regexp:
    try:
        return compile_regex(pattern)
    except RegexError as error:
        raise CelError(f"Illegal regex: {error}") from None


def find(text: Value, pattern: str) -> str:
    """``text.find(pattern)``: the first match, or an empty string."""
    match = _compiled(pattern).search(_native_text(text))
    return str(match.group()) if match else ""


def find_all(text: Value, pattern: str, limit: Value = -1) -> NativeList:
    """``text.findAll(pattern, limit)``; an empty match right after a match does not count."""
    text = _native_text(text)
    if limit.__class__ is not int:
        raise no_such_overload()
    found = NativeList()
    compiled = _compiled(pattern)
    if limit == 0:
        return found
    previous_end = -1
    for match in compiled.finditer(text):
        start, end = match.span()
        if not start == end == previous_end:
            found.append(match.group())
            if len(found) == limit:
                break
        previous_end = end
    return found


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    "string_find_string": find,
    "string_find_all_string": find_all,
    "string_find_all_string_int": find_all,
}
