"""Copies of large mappings with few entries put in or taken out, which know what differs from the mappings before them.

A search for ways out tries dozens of clusters that differ in one pod of 200,000; to compare them entry by entry would
take longer than the trials.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")
# Mappings before, of which a copy knows what differs.
_REMEMBERED: Final = 4
# More entries are compared one by one as well.
_FEW: Final = 1_000
_Earlier = Callable[[], Mapping[K, V] | None]


class Edited(dict[K, V]):
    """A copy of a mapping, made by :func:`edited`; it is not changed afterwards."""

    __slots__ = ("__weakref__", "_trail")
    _trail: tuple[tuple[_Earlier[K, V], tuple[K, ...]], ...]

    def touched_since(self, before: Mapping[K, V]) -> tuple[K, ...] | None:
        """The keys put in or taken out since ``before``, some perhaps with the same value; None where not known."""
        for earlier, keys in self._trail:
            if earlier() is before:
                return keys
        return None

    def _follow(self, before: Mapping[K, V], keys: tuple[K, ...]) -> None:
        trail = [(_reference(before), keys)]
        if isinstance(before, Edited):
            trail += [(earlier, tuple(dict.fromkeys((*more, *keys)))) for earlier, more in before._trail]
        self._trail = tuple((earlier, keys) for earlier, keys in trail[:_REMEMBERED] if len(keys) <= _FEW)


def _reference(before: Mapping[K, V]) -> _Earlier[K, V]:
    """Only the first of many is kept alive by those that follow."""
    return weakref.ref(before) if isinstance(before, Edited) else lambda: before


def edited(before: Mapping[K, V], put: Mapping[K, V] | None = None, without: Iterable[K] = ()) -> Edited[K, V]:
    """``before`` with the entries of ``put``, and without some."""
    after = Edited(before)
    removed = tuple(key for key in without if after.pop(key, None) is not None)
    after.update(put or {})
    after._follow(before, tuple(dict.fromkeys((*removed, *(put or {})))))
    return after
