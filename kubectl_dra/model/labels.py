"""Label selectors as kubectl's ``-l`` takes them: ``a=b``, ``a!=b``, ``a in (b,c)``, ``a notin (b)``, ``a``, ``!a``.

Upstream: apimachinery/pkg/labels Parse and Requirement.Matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_KEY: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE: Final = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_REQUIREMENT: Final = re.compile(
    rf"""\s*(?:
        !\s*(?P<absent>{_KEY})
      | (?P<set_key>{_KEY})\s+(?P<operator>in|notin)\s*\(\s*(?P<values>[^()]*?)\s*\)
      | (?P<key>{_KEY})\s*(?P<compare>==|=|!=)\s*(?P<value>{_VALUE})
      | (?P<number_key>{_KEY})\s*(?P<than>[<>])\s*(?P<bound>-?\d+)
      | (?P<present>{_KEY})
    )\s*(?:,|\Z)""",
    re.VERBOSE,
)
_VALUE_ONLY: Final = re.compile(_VALUE)


class SelectorError(ValueError):
    """Raised for a text that is not a label selector."""


# No struct: labels are parsed for usage errors too, which load no msgspec.
@dataclass(frozen=True, slots=True)
class _Requirement:
    key: str
    holds: Callable[[str | None], bool]


def parse(text: str) -> Callable[[Mapping[str, str]], bool]:
    """A predicate on labels; all requirements hold. Raises :class:`SelectorError`."""
    requirements = tuple(_requirements(text))
    return lambda labels: all(r.holds(labels.get(r.key)) for r in requirements)


def _requirements(text: str) -> Iterator[_Requirement]:
    position = 0
    while position < len(text):
        match = _REQUIREMENT.match(text, position)
        if match is None:
            raise SelectorError(f"unable to parse requirement: {text[position:].strip()!r}")
        yield _requirement(match)
        position = match.end()


def _requirement(match: re.Match[str]) -> _Requirement:
    if key := match["absent"]:
        return _Requirement(key, lambda value: value is None)
    if key := match["set_key"]:
        values = frozenset(part.strip() for part in match["values"].split(","))
        if not all(map(_VALUE_ONLY.fullmatch, values)):
            raise SelectorError(f"invalid values for {key}: {match['values']!r}")
        if match["operator"] == "in":
            return _Requirement(key, lambda value: value is not None and value in values)
        return _Requirement(key, lambda value: value is None or value not in values)
    if key := match["key"]:
        wanted = match["value"]
        if match["compare"] == "!=":
            return _Requirement(key, lambda value: value != wanted)
        return _Requirement(key, lambda value: value == wanted)
    if key := match["number_key"]:
        bound, above = int(match["bound"]), match["than"] == ">"
        return _Requirement(key, lambda value: _compares(value, bound, above))
    return _Requirement(match["present"], lambda value: value is not None)


def _compares(value: str | None, bound: int, above: bool) -> bool:
    if value is None or not re.fullmatch(r"[+-]?\d+", value):
        return False
    return int(value) > bound if above else int(value) < bound
