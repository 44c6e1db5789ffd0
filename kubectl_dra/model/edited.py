"""Copies of large mappings with few entries put in or taken out, which know what differs from the mappings before them.

A search for ways out tries dozens of clusters that differ in one pod of 200,000; to compare them entry by entry would
take longer than the trials.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")
# Mappings before, of which a copy knows what differs.
_REMEMBERED: Final = 64
# More entries are compared one by one as well.
_FEW: Final = 1_000
_Earlier = Callable[[], Mapping[K, V] | None]


class Edited(dict[K, V]):
    """A copy of a mapping, made by :func:`edited`; it is not changed afterwards."""

    __slots__ = ("__weakref__", "_trail")
    #: Step by step, the last one first: the mapping before it, and the keys that it touched.
    _trail: tuple[tuple[_Earlier[K, V], tuple[K, ...]], ...]

    def touched_since(self, before: Mapping[K, V]) -> tuple[K, ...] | None:
        """The keys put in or taken out since ``before``, some perhaps with the same value; None where not known."""
        steps: list[tuple[K, ...]] = []
        many = 0
        for earlier, keys in self._trail:
            steps.append(keys)
            many += len(keys)
            if many > _FEW:
                return None
            if earlier() is before:
                return tuple(dict.fromkeys(chain.from_iterable(reversed(steps))))
        return None

    def _follow(self, before: Mapping[K, V], keys: tuple[K, ...]) -> None:
        earlier = before._trail[: _REMEMBERED - 1] if isinstance(before, Edited) else ()
        self._trail = ((_reference(before), keys), *earlier)


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
