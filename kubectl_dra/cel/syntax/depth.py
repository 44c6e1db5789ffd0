"""Room for deep trees: the parser bounds how deep expressions nest, but not below Python's default recursion limit."""

from __future__ import annotations

import sys
from typing import Final

# An expression may nest 250 deep in each of several ways, a macro makes up to seven levels of one, and each step of the
# compiler needs up to three frames per level. Calls between Python functions use no C stack, but decoders of JSON in
# C do and obey the same limit: with 25,000 they run off the end of a stack of 8 MiB.
_FRAMES: Final = 12_000
# What Python's default limit of 1000 surely leaves room for.
SHALLOW: Final = 12


def allow_deep_trees() -> None:
    """Raises the recursion limit, once and for good: lowering it again would pull the rug from under other threads."""
    if sys.getrecursionlimit() < _FRAMES:
        sys.setrecursionlimit(_FRAMES)
