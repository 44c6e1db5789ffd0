"""Names that are known, and which of them a name that is none of them may be a typing error of.

Nodes, pools and devices are numbered, lettered or end in random letters: a neighbour of a name is as like it as a
typing error is, and yet another thing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final

from kubectl_dra.model.likeness import similar
from kubectl_dra.selectors.compiling import near_names

_PART: Final = re.compile(r"[^\W\d_]+|\d+")


class KnownNames:
    """Names of one kind. ``others`` are right as they are too, though they are none of these: nodes without slices."""

    def __init__(self, names: Iterable[str], others: Collection[str] = ()) -> None:
        self.names = frozenset(names)
        self._others = others
        self._by_numbers: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for name in sorted(self.names):
            self._by_numbers[_numbers(name)].append(name)

    def meant(self, written: str) -> tuple[str, ...]:
        """Best first; nothing for a name that is known itself."""
        if written in self.names or written in self._others:
            return ()
        alike = [name for name in self._by_numbers.get(_numbers(written), ()) if not _are_neighbours(written, name)]
        return near_names(written, alike)


def _parts(name: str) -> list[str]:
    return _PART.findall(name.lower())


def _numbers(name: str) -> tuple[str, ...]:
    """What is numbered otherwise is another thing, whatever else is alike."""
    return tuple(sorted(part.lstrip("0") for part in _parts(name) if part.isdecimal()))


def _are_neighbours(name: str, other: str) -> bool:
    """Whether a word of one stands where the other has one that is not like it, as in gpu-node-a and gpu-node-b."""
    mine, theirs = _parts(name), _parts(other)
    if len(mine) != len(theirs) or sorted(mine) == sorted(theirs):
        return False
    return any(a != b and not _alike(a, b) for a, b in zip(mine, theirs, strict=True))


def _alike(a: str, b: str) -> bool:
    """com and con are little alike by their letters; gpu and cpu, whose first letters differ, are two words."""
    one_letter = len(a) == len(b) >= 3 and a[0] == b[0] and sum(x != y for x, y in zip(a, b, strict=True)) == 1
    return one_letter or bool(similar(a, (b,)))
