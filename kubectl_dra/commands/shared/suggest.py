"""Near misses: what a mistyped word may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def near(word: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """The candidates most like ``word``, best first; none if nothing comes near."""
    import difflib

    lowered: dict[str, str] = {}
    for candidate in candidates:
        lowered.setdefault(candidate.lower(), candidate)
    found = difflib.get_close_matches(word.lower(), lowered, limit, 0.6)
    return [lowered[match] for match in found]


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """``, did you mean "x" or "y"?``, or nothing."""
    names = [f'"{name}"' for name in near(word, candidates)]
    return f", did you mean {' or '.join(names)}?" if names else ""
