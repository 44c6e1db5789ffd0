"""What ``/`` says in lists: words that rows contain, ``!`` for those that do not, ``-f`` for letters in that order."""

from __future__ import annotations

from collections.abc import Callable

_FUZZY = "-f"


def is_kept(text: str) -> Callable[[str], bool] | None:
    """A test of a row's text in lower case; None where everything is kept."""
    rest = text.strip()
    inverse = rest.startswith("!")
    rest = rest.removeprefix("!").strip()
    if rest.startswith("-f ") or rest == _FUZZY:
        matches = _resembles(rest.removeprefix(_FUZZY).split())
    else:
        matches = _contains(rest.split())
    if matches is None:
        return None
    return (lambda row: not matches(row)) if inverse else matches


def _contains(words: list[str]) -> Callable[[str], bool] | None:
    wanted = [word.casefold() for word in words]
    return (lambda row: all(word in row for word in wanted)) if wanted else None


def _resembles(words: list[str]) -> Callable[[str], bool] | None:
    """Every word's letters in their order, with others between them."""
    wanted = [word.casefold() for word in words]
    return (lambda row: all(_in_order(word, row) for word in wanted)) if wanted else None


def _in_order(word: str, row: str) -> bool:
    place = 0
    for letter in word:
        place = row.find(letter, place) + 1
        if not place:
            return False
    return True
