"""What has changed between two mappings that share most of their values: by identity, at the speed of the interpreter.

There may be 200,000 entries of which one differs, and many such pairs are compared in one search.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress, filterfalse
from operator import is_not
from typing import TypeVar

K = TypeVar("K")


def changed(before: Mapping[K, object], after: Mapping[K, object]) -> list[K]:
    """The keys of ``after`` whose value is another object than ``before``, and those that are new; in their order.

    No value may be None.
    """
    if before is after:
        return []
    return list(compress(after, map(is_not, map(before.get, after), after.values())))


def gone(before: Mapping[K, object], after: Mapping[K, object]) -> list[K]:
    """The keys of ``before`` that are not in ``after``, in their order."""
    return [] if before is after else list(filterfalse(after.__contains__, before))
