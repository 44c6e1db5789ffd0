"""What has changed between two mappings that share most of their values: by identity, at the speed of the interpreter.

There may be 200,000 entries of which one differs, and many such pairs are compared in one search.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress, filterfalse, islice
from operator import is_not
from typing import Final, TypeVar

from kubectl_dra.model.edited import Edited

K = TypeVar("K")
#: So many entries are compared in one step, during which nobody hears Ctrl-C.
_STEP: Final = 1 << 16


def changed(before: Mapping[K, object], after: Mapping[K, object]) -> list[K]:
    """The keys of ``after`` whose value is another object than ``before``, and those that are new.

    In their order, or in that in which they were edited. No value may be None.
    """
    if before is after:
        return []
    touched = after.touched_since(before) if isinstance(after, Edited) else None
    if touched is not None:
        return [key for key in touched if key in after and after[key] is not before.get(key)]
    keys, differ = iter(after), map(is_not, map(before.get, after), after.values())
    found: list[K] = []
    while flags := list(islice(differ, _STEP)):
        found += compress(islice(keys, len(flags)), flags)
    return found


def gone(before: Mapping[K, object], after: Mapping[K, object]) -> list[K]:
    """The keys of ``before`` that are not in ``after``, in their order or in that in which they were taken out."""
    if before is after:
        return []
    touched = after.touched_since(before) if isinstance(after, Edited) else None
    if touched is not None:
        return [key for key in touched if key in before and key not in after]
    keys = iter(before)
    found: list[K] = []
    while some := list(islice(keys, _STEP)):
        found += filterfalse(after.__contains__, some)
    return found
