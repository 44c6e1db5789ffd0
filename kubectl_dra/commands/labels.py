"""Label selectors of ``-l``, in kubectl's grammar: ``a=b,c!=d,e in (x,y),f notin (z),g,!h``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from kubectl_dra.commands.errors import UsageProblem

Selects = Callable[[Mapping[str, str]], bool]

_KEY: Final = r"[A-Za-z0-9][-A-Za-z0-9_./]*"
_VALUE: Final = r"[A-Za-z0-9]?[-A-Za-z0-9_.]*"
_SET: Final = re.compile(rf"\s*({_KEY})\s+(in|notin)\s+\(\s*({_VALUE}(?:\s*,\s*{_VALUE})*)\s*\)\s*(?:,|$)")
_EQUALITY: Final = re.compile(rf"\s*({_KEY})\s*(==|=|!=)\s*({_VALUE})\s*(?:,|$)")
_PRESENCE: Final = re.compile(rf"\s*(!?)\s*({_KEY})\s*(?:,|$)")


def label_selector(text: str) -> Selects:
    """A test on labels; the empty text selects everything. Raises a usage error."""
    tests: list[Selects] = []
    position = 0
    while position < len(text):
        test, position = _requirement(text, position)
        tests.append(test)
    return lambda labels: all(test(labels) for test in tests)


def _requirement(text: str, position: int) -> tuple[Selects, int]:
    if match := _SET.match(text, position):
        return _in_set(match[1], {value.strip() for value in match[3].split(",")}, match[2] == "in"), match.end()
    if match := _EQUALITY.match(text, position):
        return _in_set(match[1], {match[3]}, match[2] != "!="), match.end()
    if match := _PRESENCE.match(text, position):
        return _present(match[2], not match[1]), match.end()
    raise UsageProblem(f'"{text}" is no label selector', "write it as -l 'app=trainer,tier in (a,b),!old'")


def _in_set(key: str, values: set[str], wanted: bool) -> Selects:
    """Like the API: a label that is absent is not in the set, so ``notin`` and ``!=`` select it."""
    return lambda labels: (labels.get(key) in values) is wanted


def _present(key: str, wanted: bool) -> Selects:
    return lambda labels: (key in labels) is wanted
