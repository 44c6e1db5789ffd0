"""What screens need to plan and carry out taints; how that is done is for the command, which brings a TaintWriter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.taint_plan import TaintPlan
from kubectl_dra.output.safe import Safe


@dataclass(frozen=True, slots=True)
class TaintRequest:
    """What is asked for: the ``words`` of taint-device, or the deletion of one ``rule`` by its name."""

    words: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan and its page; ``lines`` makes them as wide as pages are then.

    ``steps``: it may be carried out in two steps. ``checked``: the server has tried it. ``to_type``: the number that
    has to be typed in to agree, and of what; None where a yes will do.
    """

    plan: TaintPlan
    lines: Callable[[], Iterable[Safe]]
    steps: bool = False
    to_type: tuple[int, str] | None = None
    checked: bool = False


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of a plan: its ``lines``, and what is to be agreed to ``next`` (None: that was all).

    ``done``: every write of the plan is there.
    """

    lines: Sequence[Safe]
    done: bool
    next: Preview | None = None


class PlanRefusedError(Exception):
    """Raised when there is nothing to plan, or no right to; ``lines`` say what is wrong and what to do."""

    def __init__(self, lines: Sequence[Safe]) -> None:
        super().__init__(*lines)
        self.lines = lines


class TaintWriter(Protocol):
    """Plans and writes taints in one cluster. Its methods block: they are called in worker threads, one at a time."""

    #: Why nothing can ever be written with it; empty if it can.
    refusal: Safe

    def wrong_words(self, order: TaintRequest) -> Safe:
        """What is wrong with the words by themselves, and what to write; empty where they can be planned."""

    def plan(self, order: TaintRequest, state: ClusterState, *, check: bool, effect: str = "") -> Preview:
        """A plan from a new reading of the cluster (of a file: from ``state``), if given with another ``effect``.

        With ``check`` the server tries every write without doing it. Raises :class:`PlanRefusedError`.
        """

    def write(self, order: TaintRequest, state: ClusterState, agreed: Preview, *, steps: bool = False) -> WriteResult:
        """Carry out a plan that was agreed to, if a new reading finds it unchanged.

        With ``steps`` only the first step: NoSchedule in place of NoExecute. Raises :class:`PlanRefusedError`.
        """

    def close(self) -> None:
        """Give up the connection."""
