"""No more copies than this fit even if every pod that may move were placed anew.

Two relaxations that can only count too many: node by node as if all those pods were gone, and by the number of devices
that they need anyhow. A small cluster is searched whole: every choice of who stays, every distribution of the others
over the nodes, every order on each node, each step with the scheduler's own search; then the bound is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.diagnosis.capacity.filling import Filled
from kubectl_dra.diagnosis.capacity.movable import Movable
from kubectl_dra.diagnosis.capacity.packing import Packing
from kubectl_dra.diagnosis.capacity.relaxed import relaxed

_MOST_PODS: Final = 6
_MOST_NODES: Final = 4


@dataclass(frozen=True, slots=True)
class Bounded:
    """``most`` copies at most; ``reached``: a placement with so many was found."""

    most: int
    reached: bool


def bound(filled: Filled, pods: Sequence[Movable]) -> Bounded:
    """The bound for copies that don't concern each other; ``pods`` are those that may move."""
    if not pods:
        return Bounded(filled.copies, not filled.more_may_fit)
    most = max(filled.copies, relaxed(filled, pods))
    if most == filled.copies:
        return Bounded(most, True)
    found = Packing(filled, pods).most() if _is_small(filled, pods) else None
    return Bounded(most, False) if found is None else Bounded(found, True)


def _is_small(filled: Filled, pods: Sequence[Movable]) -> bool:
    return len(pods) <= _MOST_PODS and len(filled.waiting.world.inventory.nodes) <= _MOST_NODES
