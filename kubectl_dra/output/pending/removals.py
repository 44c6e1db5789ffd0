"""What took devices out of a funnel, in a few words beside the number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import Removal, StageName
from kubectl_dra.output.safe import Safe, fmt, safe

_SHOWN: Final = 3
_DOMAIN: Final = re.compile(r"""device\.(?:attributes|capacity)\[(?:"[^"]*"|'[^']*')\]\.\??""")
_COMPARISON: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\.orValue\([^()]*\))? (?:==|!=|<=|>=|<|>|in) ")


def removal_note(stage: StageName, removals: Sequence[Removal], namespace: str) -> Safe:
    """``serve-1 5, serve-0 2``: the biggest first; numbers only where there are several reasons."""
    if stage is StageName.SELECTORS:
        removals = _summed(removals)
    say = _WORDS.get(stage, _plain)
    totals: dict[Safe, int] = {}
    for removal in removals:
        text = say(removal, namespace)
        totals[text] = totals.get(text, 0) + len(removal.devices)
    ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    several = len(ranked) > 1
    texts = [fmt("{} {}", text, number) if several else text for text, number in ranked[:_SHOWN]]
    if len(ranked) > _SHOWN:
        texts.append(fmt("{} more", len(ranked) - _SHOWN))
    return Safe(", ").join(texts)


def _summed(removals: Sequence[Removal]) -> Sequence[Removal]:
    """Clauses with many values seen (a uuid, an address) as one entry each: the values would say nothing."""
    seen: dict[str, set[str]] = {}
    for removal in removals:
        seen.setdefault(removal.reason, set()).add(removal.source)
    many = {reason for reason, values in seen.items() if len(values) > _SHOWN}
    return [
        Removal(removal.reason, removal.devices, "another value") if removal.reason in many else removal
        for removal in removals
    ]


def short_clause(expression: str) -> str:
    """An expression without the device's domains, in one line: ``model == "H100"``."""
    return _DOMAIN.sub("", " ".join(expression.split()))


def _selector(removal: Removal, _namespace: str) -> Safe:
    clause = short_clause(removal.reason)
    comparison = _COMPARISON.match(clause)
    if removal.source and comparison is not None:
        return fmt("{} is {}", comparison[1], removal.source)
    return fmt("{} (seen: {})", clause, removal.source) if removal.source else safe(clause)


def _taint(removal: Removal, _namespace: str) -> Safe:
    return fmt("{}, rule {}", removal.reason, removal.source) if removal.source else safe(removal.reason)


def _holder(removal: Removal, namespace: str) -> Safe:
    prefix = f"{namespace}/"
    if removal.source:
        return safe(removal.source.removeprefix(prefix))
    return fmt("claim {}", removal.reason.removeprefix(prefix))


def _short(removal: Removal, _namespace: str) -> Safe:
    if not removal.needs:
        return _plain(removal, "")
    left = fmt("{} of {} left", removal.left, removal.total) if removal.left else fmt("{} in all", removal.total)
    return fmt("{}: needs {}, {}", removal.reason, removal.needs, left)


def _plain(removal: Removal, _namespace: str) -> Safe:
    return fmt("{} ({})", removal.reason, removal.source) if removal.source else safe(removal.reason)


_WORDS: Final[dict[StageName, Callable[[Removal, str], Safe]]] = {
    StageName.SELECTORS: _selector,
    StageName.TAINTS: _taint,
    StageName.UNUSED: _holder,
    StageName.CAPACITY: _short,
    StageName.COUNTERS: _short,
}
