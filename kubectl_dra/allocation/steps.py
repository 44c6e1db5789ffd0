"""How much a search may cost here, and how long the real allocator would take for the same.

The real one gives up on a node after 10 s (DRASchedulerFilterTimeout); at 0.2 to 2 million steps a second that is some
millions of steps.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class TimeLimit(StrEnum):
    """Whether the real allocator would finish within its 10 s."""

    WITHIN = "within"
    UNCERTAIN = "uncertain"
    BEYOND = "beyond"


_SURELY_WITHIN: Final = 1_000_000
_SURELY_BEYOND: Final = 20_000_000


def time_limit(steps: int) -> TimeLimit:
    """An estimate from the number of steps."""
    if steps <= _SURELY_WITHIN:
        return TimeLimit.WITHIN
    return TimeLimit.UNCERTAIN if steps <= _SURELY_BEYOND else TimeLimit.BEYOND


class Budget(msgspec.Struct, frozen=True):
    """What an answer for one node may cost before it is given up.

    ``first``: steps of the plain walk before it is tried to compute them instead. ``combinations``: of classes of
    devices when computing. ``steps``, and ``looks`` at devices: of the plain walk in all, where it has to do.
    ``in_all``: steps and combinations for all nodes of one call; after that only ``last`` steps are left for each.
    """

    first: int = 2_000
    combinations: int = 100_000
    steps: int = 400_000
    looks: int = 2_000_000
    last: int = 200
    in_all: int = 2_000_000
