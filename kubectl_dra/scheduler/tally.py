"""Pods counted by labels of their nodes, for many what-ifs: a copy costs nothing, it keeps what differs.

Upstream: topologyToMatchedTermCount of plugins/interpodaffinity, TpValueToMatchNum and criticalPaths of
plugins/podtopologyspread.
"""

from __future__ import annotations

from collections.abc import Mapping


class LabelTally:
    """How many there are for each value of each label; what comes to nothing counts as never seen.

    Numbers may be negative for a while.
    """

    __slots__ = ("_base", "_own", "_seen")

    def __init__(self) -> None:
        self._base: dict[str, dict[str, int]] = {}
        # What differs from the base, which copies share; None as long as nobody else has it.
        self._own: dict[tuple[str, str], int] | None = None
        self._seen = 0

    def __bool__(self) -> bool:
        return self._seen > 0

    @property
    def keys(self) -> tuple[str, ...]:
        """The labels of whose values any was ever counted."""
        return tuple(dict.fromkeys((*self._base, *(key for key, _ in self._own or ()))))

    def at(self, key: str, labels: Mapping[str, str]) -> int:
        """The number for the value that a node has of a label; 0 for a node without it."""
        value = labels.get(key)
        return 0 if value is None else self._number(key, value)

    def keys_at(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        """The labels of a node for whose value there is a positive number."""
        return tuple(key for key in self.keys if self.at(key, labels) > 0)

    def add(self, key: str, value: str, delta: int) -> None:
        """More, or less, for one value."""
        before = self._number(key, value)
        after = before + delta
        self._seen += (after != 0) - (before != 0)
        if self._own is not None:
            self._own[key, value] = after
        else:
            self._base.setdefault(key, {})[value] = after

    def clone(self) -> LabelTally:
        if self._own is None:
            self._own = {}
        copy = LabelTally()
        copy._base, copy._own, copy._seen = self._base, dict(self._own), self._seen
        return copy

    def _number(self, key: str, value: str) -> int:
        if self._own and (own := self._own.get((key, value))) is not None:
            return own
        return self._base.get(key, {}).get(value, 0)


class Domains:
    """Pods per value of one label, and the fewest of any; a value without pods counts as well."""

    __slots__ = ("_base", "_fewest", "_numbers", "_own", "_size")

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._base = counts
        self._own: dict[str, int] = {}
        self._size = len(counts)
        self._fewest: int | None = None
        # How many values have how many pods.
        self._numbers: dict[int, int] = {}
        for count in counts.values():
            self._numbers[count] = self._numbers.get(count, 0) + 1

    def __len__(self) -> int:
        return self._size

    def count(self, value: str) -> int:
        """The pods of one value; 0 if no such is known."""
        own = self._own.get(value)
        return self._base.get(value, 0) if own is None else own

    def fewest(self, least_domains: int) -> int:
        """The pods of the emptiest value; 0 if there are fewer values than there have to be."""
        if self._size < least_domains:
            return 0
        if self._fewest is None:
            self._fewest = min(self._numbers, default=0)
        return self._fewest

    def add(self, value: str, delta: int) -> None:
        before = self.count(value)
        if value in self._own or value in self._base:
            self._numbers[before] -= 1
            if not self._numbers[before]:
                del self._numbers[before]
        else:
            self._size += 1
        self._own[value] = before + delta
        self._numbers[before + delta] = self._numbers.get(before + delta, 0) + 1
        self._fewest = None

    def clone(self) -> Domains:
        copy = Domains({})
        copy._base, copy._own, copy._numbers = self._base, dict(self._own), dict(self._numbers)
        copy._size, copy._fewest = self._size, self._fewest
        return copy
