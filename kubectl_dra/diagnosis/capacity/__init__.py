"""How many pods of one shape the cluster has room for: now, at most after moving others, and which to move."""

from __future__ import annotations

from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import missing
from kubectl_dra.diagnosis.capacity.accounts import NAMES, rooms, totals
from kubectl_dra.diagnosis.capacity.bound import bound
from kubectl_dra.diagnosis.capacity.filling import Filled, fill
from kubectl_dra.diagnosis.capacity.movable import movable
from kubectl_dra.diagnosis.capacity.moves import moves
from kubectl_dra.diagnosis.capacity.records import Capacity, Devices, Move, Moves, NodeRoom
from kubectl_dra.diagnosis.capacity.shape import Shape, admitted_by_quota, bare_pod, of_request, template_of, waiting
from kubectl_dra.diagnosis.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Bound, Cause, Count, NodeOutcome, Verdict

#: For so many more copies moves are looked for.
MORE: Final = 3


def capacity(world: ClusterState, shape: Shape, more: int = MORE, names: int | None = NAMES) -> Capacity:
    """The whole answer; ``more``: for up to so many more copies the pods are found that would have to move.

    ``names``: of alike nodes at most so many are named, None for all.
    """
    filled = fill(waiting(world, shape))
    sure = _sureness(world, filled)
    quota = admitted_by_quota(world, shape)
    if not filled.groups:
        causes = _causes(filled)
        fits = Count(0, Bound.UNKNOWN if sure is Bound.UNKNOWN or _is_open(filled) else Bound.EXACT)
        return Capacity(fits, fits, False, Devices(), (), causes, quota)
    fits = Count(filled.copies, _fits_bound(filled, sure))
    nodes, devices = rooms(filled, names), totals(filled)
    pods = movable(filled.waiting.world)
    if not filled.side_by_side or filled.capped or sure is Bound.UNKNOWN:
        repacked = Count(filled.copies, Bound.UNKNOWN)
        return Capacity(
            fits, repacked, False, devices, nodes, (), quota, side_by_side=filled.side_by_side, movable=len(pods)
        )
    most = bound(filled, pods)
    found = moves(world, shape, filled, pods, min(more, most.most - filled.copies)) if sure is Bound.EXACT else ()
    return Capacity(
        fits,
        Count(most.most, Bound.AT_MOST if sure is not Bound.AT_LEAST else Bound.UNKNOWN),
        most.reached,
        devices,
        nodes,
        (),
        quota,
        movable=len(pods),
        moves=found,
    )


def _sureness(world: ClusterState, filled: Filled) -> Bound:
    """What a count of copies is worth, given what could be read."""
    certain = missing.certainty(world.evidence)
    bounds = {certain.devices, certain.free_devices, certain.nodes} if filled.waiting.claims else {certain.nodes}
    if Bound.UNKNOWN in bounds or {Bound.AT_LEAST, Bound.AT_MOST} <= bounds:
        return Bound.UNKNOWN
    return next((each for each in (Bound.AT_LEAST, Bound.AT_MOST) if each in bounds), Bound.EXACT)


def _fits_bound(filled: Filled, sure: Bound) -> Bound:
    """Nodes that could not be decided, and copies that were not counted, may be more."""
    if not (filled.capped or _is_open(filled)):
        return sure
    return Bound.AT_LEAST if sure in (Bound.EXACT, Bound.AT_LEAST) else Bound.UNKNOWN


def _is_open(filled: Filled) -> bool:
    return filled.judgement.verdict is Verdict.UNKNOWN and any(
        alike.last is not None and alike.last.outcome is NodeOutcome.UNDECIDED for alike in filled.groups
    )


def _causes(filled: Filled) -> tuple[Cause, ...]:
    """Why not even one copy is tried."""
    return Diagnoser(filled.waiting.world).pod(filled.waiting.key).causes


__all__ = [
    "MORE",
    "Capacity",
    "Devices",
    "Move",
    "Moves",
    "NodeRoom",
    "Shape",
    "bare_pod",
    "capacity",
    "of_request",
    "template_of",
]
