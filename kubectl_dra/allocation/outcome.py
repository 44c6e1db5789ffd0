"""The answers of one attempt on one node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kubectl_dra.allocation.errors import AllocationError
from kubectl_dra.allocation.steps import TimeLimit, time_limit
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
    """All claims fit."""

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
