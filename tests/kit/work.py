"""How much is done, in calls of functions: the same on every machine, however slow or busy.

What one call of C goes through is not counted: that takes a measure of its own, such as the bytes that it copies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench.counted import counted

#: Twice as much to do may take this much more: little enough that a square is told, which takes four times as much.
LINEAR = 2.4
# What every start takes.
_FEW = 500


def calls(work: Callable[[], object]) -> int:
    """The calls of functions, of Python and of C, that ``work`` makes in this thread."""
    return counted(work)["calls"]


def grows_with_its_size(work: Callable[[int], object], size: int) -> int:
    """The calls of ``work`` of ``size``; fails where they are more than about twice those of half of it."""
    half, whole = (calls(partial(work, each)) for each in (size // 2, size))
    assert whole <= LINEAR * half + _FEW, f"{half:,} calls for {size // 2:,}, {whole:,} for {size:,}"
    return whole
