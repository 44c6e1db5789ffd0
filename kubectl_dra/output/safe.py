"""Text that may go to a terminal: the one place where names and texts from clusters, files and arguments are escaped.

Control characters, bidirectional and zero-width characters, lone surrogates and other invisible code points become
visible as ``\\u{202e}``. JSON and YAML are not escaped here; they are written losslessly in 7 bits.
"""

from __future__ import annotations

import re
import shlex
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final


class Safe(str):
    """Text without anything that a terminal would obey, or the reader could not see, except our own colours.

    The constructor trusts its argument: call it only with texts that stand in the program. Data goes through
    :func:`safe`, :func:`multiline` or :func:`fmt`.
    """

    __slots__ = ()

    def __add__(self, other: str) -> Safe:
        """The sum; another kind of text is escaped first."""
        return Safe(str.__add__(self, other if isinstance(other, Safe) else safe(other)))

    def join(self, parts: Iterable[str]) -> Safe:
        """The parts, escaped where they are not Safe, with this text between them."""
        return Safe(str.join(self, (part if isinstance(part, Safe) else safe(part) for part in parts)))


class Style(StrEnum):
    """What a colour repeats; the values are SGR parameters."""

    BOLD = "1"
    DIM = "2"
    GOOD = "32"
    BAD = "31"
    WARN = "33"
    NAME = "36"


# C0, DEL, C1; soft hyphen; Arabic letter mark; Hangul and Khmer fillers; Mongolian selectors; zero width, bidi and line
# separators; word joiner and invisible operators; variation selectors; BOM; interlinear marks; tags; surrogates.
_UNSAFE_CLASS: Final = (
    "\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_UNSAFE: Final = re.compile(f"[{_UNSAFE_CLASS}]")
_UNSAFE_IN_LINES: Final = re.compile(f"(?![\n\t])[{_UNSAFE_CLASS}]")
_SGR: Final = re.compile("\x1b\\[[0-9;]*m")
# A name that the API can hold: what may stand in a printed command.
_SHELL_SAFE: Final = re.compile(r"[\x20-\x7e]*")


def safe(text: str) -> Safe:
    """``text`` in one line, with everything invisible or active made visible."""
    return Safe(_UNSAFE.sub(_visible, text))


def multiline(text: str) -> Safe:
    """As :func:`safe`, but line breaks and tabs stay: for views that show a text as it is."""
    return Safe(_UNSAFE_IN_LINES.sub(_visible, text))


def fmt(template: str, /, *args: object, **kwargs: object) -> Safe:
    """``template.format(...)`` with every string argument escaped; the template stands in the program."""
    return Safe(_FORMATTER.vformat(template, args, kwargs))


def styled(text: Safe, style: Style) -> Safe:
    """``text`` in a colour; the writer drops it where there are no colours. Widths don't count it."""
    return Safe(f"\x1b[{style}m{text!s}\x1b[0m") if text else text


def plain(text: Safe) -> Safe:
    """``text`` without colours."""
    return Safe(_SGR.sub("", text))


def quote(text: str) -> Safe | None:
    """``text`` as one word of a shell command, or None if it holds what no shell line should show."""
    return Safe(shlex.quote(text)) if _SHELL_SAFE.fullmatch(text) else None


def command(words: Sequence[str] | None) -> Safe | None:
    """A command line of ``words``, each quoted as needed; None if there are none, or one of them can't be quoted."""
    if words is None:
        return None
    quoted = [quote(word) for word in words]
    return None if None in quoted else Safe(" ").join(word for word in quoted if word is not None)


def command_line(text: str, words: Sequence[str] | None, *before: object) -> Iterator[Safe]:
    """``text`` with what stands ``before`` a command in it, and the command; nothing where there is none."""
    line = command(words)
    if line is not None:
        yield fmt(text, *before, line)


def _visible(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match.group()):x}}}"


class _Formatter(string.Formatter):
    """Escapes every string before it is formatted; Safe ones are what they are."""

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        value = super().get_value(key, args, kwargs)
        return safe(value) if isinstance(value, str) and not isinstance(value, Safe) else value

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401
        return format(value if isinstance(value, str | int | float) else safe(str(value)), format_spec)


_FORMATTER: Final = _Formatter()
