"""How many pods of one shape the cluster has room for: now, at most after moving others, and which to move."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.accounts import NAMES, rooms, totals
from kubectl_dra.diagnosis.capacity.filling import Filled, fill
from kubectl_dra.diagnosis.capacity.least import deletions
from kubectl_dra.diagnosis.capacity.movable import movable
from kubectl_dra.diagnosis.capacity.moves import moves
from kubectl_dra.diagnosis.capacity.openings import openings
from kubectl_dra.diagnosis.capacity.own_terms import own_term
from kubectl_dra.diagnosis.capacity.records import Capacity, Devices, Moves
from kubectl_dra.diagnosis.capacity.relaxed import bound
from kubectl_dra.diagnosis.capacity.shape import (
    Shape,
    depends_on,
    of_request,
    template_of,
    waiting,
)
from kubectl_dra.diagnosis.gates.quota_limits import quota_limit
from kubectl_dra.diagnosis.pod import missing
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.placing import being_bound
from kubectl_dra.diagnosis.records import BeingBound, Bound, Cause, Count, NodeOutcome, Verdict

#: For so many more copies moves are looked for.
MORE: Final = 3


def capacity(state: ClusterState, shape: Shape, more: int = MORE, names: int | None = NAMES) -> Capacity:
    """The whole answer; ``more``: for up to so many more copies the pods are found that would have to move.

    ``names``: of alike nodes at most so many are named, None for all.
    """
    filled = fill(waiting(state, shape))
    sure = _sureness(state, filled)
    limit = quota_limit(state, shape.pod, shape.templates)
    quota = limit.copies if limit is not None else None
    if not filled.groups:
        fits = Count(0, Bound.UNKNOWN if sure is Bound.UNKNOWN or _is_open(filled) else Bound.EXACT)
        return Capacity(fits, fits, False, Devices(), (), quota)
    coming = _being_bound(filled)
    fits = Count(filled.copies, _fits_bound(filled, sure, coming))
    nodes, devices = rooms(filled, names), totals(filled)
    opened = openings(state, shape, filled) if sure is Bound.EXACT else ()
    pods = movable(filled.waiting.state)
    if not filled.side_by_side or filled.more_may_fit or sure is Bound.UNKNOWN:
        repacked = Count(filled.copies, Bound.UNKNOWN)
        return Capacity(
            fits,
            repacked,
            False,
            devices,
            nodes,
            quota,
            side_by_side=filled.side_by_side,
            movable=len(pods),
            being_bound=coming,
            depends_on=tuple(depends_on(filled.waiting.pod)),
            own_term=own_term(state, shape, filled),
            openings=opened,
        )
    most = bound(filled, pods)
    found = moves(state, shape, filled, pods, min(more, most.most - filled.copies)) if sure is Bound.EXACT else ()
    return Capacity(
        fits,
        Count(most.most, Bound.AT_MOST if sure is not Bound.AT_LEAST else Bound.UNKNOWN),
        most.reached,
        devices,
        nodes,
        quota,
        movable=len(pods),
        moves=found,
        being_bound=coming,
        deletions=deletions(filled) if sure is Bound.EXACT else (),
        openings=opened,
    )


def _being_bound(filled: Filled) -> BeingBound | None:
    """Pods that may be being bound where copies were counted."""

    def again(state: ClusterState) -> int:
        return fill(replace(filled.waiting, state=state)).copies

    return being_bound(filled.waiting.state, filled.waiting.pod, filled.counts, again)


def _sureness(state: ClusterState, filled: Filled) -> Bound:
    """What a count of copies is worth, given what could be read."""
    certain = missing.certainty(state.evidence)
    if not filled.waiting.claims:
        return certain.nodes
    return _together(certain.devices, certain.free_devices, certain.nodes)


def _fits_bound(filled: Filled, sure: Bound, coming: BeingBound | None) -> Bound:
    """Nodes that could not be decided, and copies that were not counted, may be more; pods on their way leave fewer."""
    more = Bound.AT_LEAST if filled.more_may_fit or _is_open(filled) else Bound.EXACT
    return _together(sure, more, Bound.AT_MOST if coming is not None else Bound.EXACT)


def _together(*bounds: Bound) -> Bound:
    """What holds if all of them do."""
    found = {*bounds} - {Bound.EXACT}
    return Bound.UNKNOWN if len(found) > 1 else next(iter(found), Bound.EXACT)


def _is_open(filled: Filled) -> bool:
    return filled.judgement.verdict is Verdict.UNKNOWN and any(
        alike.last is not None and alike.last.outcome is NodeOutcome.UNDECIDED for alike in filled.groups
    )
