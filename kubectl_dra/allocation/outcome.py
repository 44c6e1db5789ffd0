"""The answers of one attempt on one node.

How much a search may cost here, and how long the real allocator would take for the same. The real one gives up on a
node after 10 s (DRASchedulerFilterTimeout); at 0.2 to 2 million steps a second that is some millions of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.allocation.errors import AllocationError
from kubectl_dra.model.resource import AllocationResult


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Base: ``steps`` is the real allocator's step counter, walked or computed."""

    steps: int

    @property
    def time_limit(self) -> TimeLimit:
        """Whether the real allocator would get there within its 10 s."""
        return time_limit(self.steps)


class Allocated(Outcome):
    def __init__(
        self, *, steps: int, allocations: tuple[AllocationResult, ...] | Callable[[], tuple[AllocationResult, ...]]
    ) -> None:
        super().__init__(steps=steps)
        self.__dict__["_allocations"] = allocations

    @property
    def allocations(self) -> tuple[AllocationResult, ...]:
        """One allocation per claim, in order. Share ids are random in reality and one constant here."""
        found: tuple[AllocationResult, ...] | Callable[[], tuple[AllocationResult, ...]] = self.__dict__["_allocations"]
        if not isinstance(found, tuple):
            found = self.__dict__["_allocations"] = found()
        return found


@dataclass(frozen=True, kw_only=True)
class Unsatisfiable(Outcome):
    """Nothing fits. ``invalid_pools``: the scheduler blames invalid pools, whatever the reason."""

    invalid_pools: bool


class Fatal(Outcome):
    """The scheduler gives up on the pod, on all nodes."""

    only_affects_node = False

    def __init__(self, *, steps: int, error: AllocationError | Callable[[], AllocationError]) -> None:
        super().__init__(steps=steps)
        self.__dict__["_error"] = error

    @property
    def error(self) -> AllocationError:
        found: AllocationError | Callable[[], AllocationError] = self.__dict__["_error"]
        if not isinstance(found, AllocationError):
            found = self.__dict__["_error"] = found()
        return found


@dataclass(frozen=True, kw_only=True)
class Undecided(Outcome):
    """The budget ended before an answer; ``steps`` is how many the real allocator needs at least."""

    why: str


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
