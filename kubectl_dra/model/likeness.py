"""Names that look alike, and "did you mean" in plain text; ``output`` has it for pages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Final

_ALIKE: Final = 0.75
#: Shorter texts are contained in others by chance (``or`` in ``memory``).
_TELLING: Final = 3
_WORD_END: Final = re.compile(r"[-_.]")


def similar(name: str, candidates: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Candidates that look like ``name``, best first: typing errors, the same words in another order, and names that
    contain it or are contained.

    What two names have in common behind their first dot (a vendor's domain) makes them no more alike; case tells
    nothing.
    """
    options, own = sorted(set(candidates) - {name}), name.lower()
    ranked = sorted(((_likeness(own, each.lower()), each) for each in options), key=lambda pair: (-pair[0], pair[1]))
    return tuple(option for likeness, option in ranked[:limit] if likeness >= _ALIKE)


def best_guess(near: Sequence[str]) -> str:
    """``; did you mean x?`` of the first of what is :func:`similar`, or nothing."""
    return f"; did you mean {near[0]}?" if near else ""


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """``, did you mean "x" or "y"?`` where a word was typed, or nothing."""
    names = [f'"{name}"' for name in similar(word, candidates)]
    return f", did you mean {' or '.join(names)}?" if names else ""


def _likeness(name: str, other: str) -> float:
    mine, theirs = name.partition("."), other.partition(".")
    a, b = (mine[0], theirs[0]) if mine[2] and mine[2] == theirs[2] else (name, other)
    short, long = sorted((len(a), len(b)))
    if (a in b or b in a) and (short >= _TELLING or 2 * short >= long):
        return max(_ALIKE, difflib.SequenceMatcher(None, a, b).ratio())
    if short == long >= _TELLING and _swapped(a, b):
        return max(_ALIKE, difflib.SequenceMatcher(None, a, b).ratio())
    if short == long and _reordered(a, b):
        return _ALIKE
    if 2 * short < _ALIKE * (short + long):
        return 0.0  # no common text can be that much of both
    matcher = difflib.SequenceMatcher(None, a, b)
    # Its letters, in any order, are a bound that is cheap to have.
    return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0


def _reordered(a: str, b: str) -> bool:
    """Whether two names have the same words in another order (``big-gpu``, ``gpu-big``), two of them telling ones."""
    mine, theirs = _WORD_END.split(a), _WORD_END.split(b)
    telling = {word for word in mine if len(word) >= _TELLING}
    return mine != theirs and len(telling) > 1 and sorted(mine) == sorted(theirs)


def _swapped(a: str, b: str) -> bool:
    """Whether two neighbouring letters were typed in the other order: little else is left of a short word."""
    places = [place for place, (one, other) in enumerate(zip(a, b, strict=True)) if one != other]
    return (
        len(places) == 2
        and places[0] + 1 == places[1]
        and a[places[0]] == b[places[1]]
        and a[places[1]] == b[places[0]]
    )
