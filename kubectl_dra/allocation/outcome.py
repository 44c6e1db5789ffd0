"""The answers of one attempt on one node, and the hooks through which a search tells what it rejects."""

from __future__ import annotations

from dataclasses import dataclass

from kubectl_dra.allocation.causes import Cause
from kubectl_dra.allocation.errors import AllocationError
from kubectl_dra.allocation.steps import TimeLimit, time_limit
from kubectl_dra.model.resource import AllocationResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Base: ``steps`` is the real allocator's step counter, walked or computed."""

    steps: int

    @property
    def time_limit(self) -> TimeLimit:
        """Whether the real allocator would get there within its 10 s."""
        return time_limit(self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocated(Outcome):
    """All claims fit: one allocation per claim, in order. Share ids are random in reality and one constant here."""

    allocations: tuple[AllocationResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsatisfiable(Outcome):
    """Nothing fits. ``invalid_pools``: the scheduler blames invalid pools, whatever the reason."""

    invalid_pools: bool
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fatal(Outcome):
    """The scheduler gives up on the pod, on all nodes."""

    error: AllocationError
    only_affects_node: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided(Outcome):
    """The budget ended before an answer; ``steps`` is how many the real allocator needs at least."""

    why: str


class Observer:
    """Hooks of a search; all of them do nothing unless overridden."""

    def rejected(self, cause: Cause) -> None:
        """A candidate was rejected, or a pool left out."""

    def gave_up(self, steps: int) -> None:
        """The plain walk ended after so many steps without an answer."""
