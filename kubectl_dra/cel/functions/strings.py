"""CEL's string functions and the strings extension; ``format`` has its own module. Positions count code points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kubectl_dra.cel.cost.kubernetes import join_size
from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.run.labor import write
from kubectl_dra.cel.run.values import CelError, NativeList, Value, no_such_overload
from kubectl_dra.model.gotext import ESCAPES

_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_WHITE_SPACE: Final = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_QUOTED: Final = str.maketrans(ESCAPES)


def _of_strings(test: Callable[[str, str], bool]) -> Callable[[Value, Value], bool]:
    """These have no type guards: the implementation itself refuses other types."""

    def run(text: Value, part: Value) -> bool:
        if text.__class__ is not str or part.__class__ is not str:
            raise no_such_overload()
        return test(text, part)

    return run


contains: Final = _of_strings(lambda text, part: part in text)
starts_with: Final = _of_strings(str.startswith)
ends_with: Final = _of_strings(str.endswith)


def _out_of_range(index: int) -> CelError:
    return CelError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return text.find(part, offset)


def _last_index_of(text: str, part: str) -> int:
    if not part:
        return len(text)
    if len(text.encode()) < len(part.encode()):
        return -1
    return _last_index_of_offset(text, part, len(text) - 1)


def _last_index_of_offset(text: str, part: str, offset: int) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    if offset >= len(text):
        return -1
    return text.rfind(part, 0, offset + len(part))


def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def _substring_to(text: str, start: int, end: int) -> str:
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    if limit == 0 or old == new:
        return text
    count = len(text) + 1 if not old else text.count(old)
    if limit > 0:
        count = min(count, limit)
    write(len(text) + count * (len(new) - len(old)))
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> NativeList:
    if limit == 0:
        return NativeList()
    if not separator:
        whole = limit < 0 or limit >= len(text)
        return NativeList(text) if whole else NativeList((*text[: limit - 1], text[limit - 1 :]))
    return NativeList(text.split(separator, limit - 1 if limit > 0 else -1))


def _join(elements: Value, separator: str = "") -> str:
    length = join_size(elements, separator)
    if length is None:
        culprit = next(element for element in elements if element.__class__ is not str)
        raise CelError(f"join: invalid input: {plain(culprit)}")
    write(length)
    return separator.join(elements)


def _quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    "contains_string": contains,
    "starts_with_string": starts_with,
    "ends_with_string": ends_with,
    "string_char_at_int": _char_at,
    "string_index_of_string": _index_of,
    "string_index_of_string_int": _index_of,
    "string_last_index_of_string": _last_index_of,
    "string_last_index_of_string_int": _last_index_of_offset,
    "string_lower_ascii": lambda text: text.translate(_LOWER),
    "string_upper_ascii": lambda text: text.translate(_UPPER),
    "string_replace_string_string": _replace,
    "string_replace_string_string_int": _replace,
    "string_split_string": _split,
    "string_split_string_int": _split,
    "string_substring_int": _substring,
    "string_substring_int_int": _substring_to,
    "string_trim": lambda text: text.strip(_WHITE_SPACE),
    "list_join": _join,
    "list_join_string": _join,
    "strings_quote": _quote,
}
