"""How many pods of one shape a cluster has room for, what keeps others away, and the pods that would have to move."""

from __future__ import annotations

from enum import StrEnum
from itertools import groupby

from kubectl_dra.diagnosis.records import BeingBound, Bound, Cause, Count, ObjectRef
from kubectl_dra.diagnosis.whatif.records import Because
from kubectl_dra.model.base import ReportRecord


class Devices(ReportRecord, frozen=True):
    """Devices that match the shape's largest request, by what becomes of them.

    ``in_use``: held by claims. ``unusable``: tainted, or of no use for lack of capacity or counters. ``taken``: the
    copies that fit take them. ``left``: free, and of no use for one more copy. ``others_bound`` is that of these three.
    ``tainted``: how many of the unusable ones are.
    """

    matching: int = 0
    in_use: int = 0
    unusable: int = 0
    taken: int = 0
    left: int = 0
    matching_bound: Bound = Bound.EXACT
    in_use_bound: Bound = Bound.EXACT
    others_bound: Bound = Bound.EXACT
    tainted: int = 0


class NodeRoom(ReportRecord, frozen=True):
    """Nodes on which the same number of copies fits, and the next one does not for the same reasons.

    ``copies`` (with their ``bound``) and ``devices`` are those of each node. At most 20 ``names``; ``more`` says how
    many are left out.
    """

    count: int
    names: tuple[str, ...]
    more: int
    copies: int
    devices: Devices
    causes: tuple[Cause, ...]
    bound: Bound = Bound.EXACT


class Move(ReportRecord, frozen=True):
    """A pod that is restarted: its controller makes it again, and the scheduler puts it on ``to``.

    ``equal``: the nodes that are as good as ``to``; where that can't be told (``because``), all that fit.
    ``devices`` are those that it gets there. ``closed``: the nodes that are cordoned until it runs, so that it goes to
    none of them. Pods of the same ``turn`` are deleted together, after those of the turns before have their nodes.
    """

    pod: ObjectRef
    from_node: str
    to: str
    equal: tuple[str, ...] = ()
    because: Because = Because.NONE
    devices: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    turn: int = 0


class Moves(ReportRecord, frozen=True):
    """What makes room for ``more`` copies: one pod after the other; all of ``nodes`` are kept free meanwhile.

    ``smallest``: no smaller set of restarts can do it, which is proved; else at least ``at_least`` are needed.
    ``verified``: every step was tried with the scheduler's own search, and the copies then fit on ``nodes``.
    """

    more: int
    moves: tuple[Move, ...]
    nodes: tuple[str, ...]
    smallest: bool
    at_least: int
    verified: bool = True

    @property
    def turns(self) -> tuple[tuple[Move, ...], ...]:
        """The moves in their order, those together that are made at the same time."""
        return tuple(tuple(moves) for _, moves in groupby(self.moves, lambda move: move.turn))


class Deletion(ReportRecord, frozen=True):
    """Pods of ``node`` that nothing makes again: without them ``more`` copies fit there."""

    pods: tuple[ObjectRef, ...]
    node: str
    more: int


class OpeningKind(StrEnum):
    """What closes nodes or devices to such pods."""

    CORDON = "cordon"
    NODE_TAINT = "nodeTaint"
    DEVICE_TAINT = "deviceTaint"


class Opening(ReportRecord, frozen=True):
    """What closes nodes or devices: without it ``more`` copies would fit on so many ``nodes`` (the first ``names``).

    ``taint``: ``KEY=VALUE:EFFECT``, empty for a cordon; ``rule``: the DeviceTaintRule that sets it on devices.
    """

    kind: OpeningKind
    taint: str
    more: int
    nodes: int
    names: tuple[str, ...]
    rule: str = ""


class DependsOn(StrEnum):
    """What makes copies of a shape matter to each other wherever they are."""

    AFFINITY = "affinity"
    SPREAD = "spread"
    CLAIM = "claim"
    VOLUMES = "volumes"
    GROUP = "group"


class OwnTerm(ReportRecord, frozen=True):
    """A required anti-affinity term that is about the pod itself: one pod per value of ``topology_key``.

    ``selector``: the pods that it is about; ``copies``: how many would fit without it; ``there``: the first few that
    run already where no copy fits.
    """

    topology_key: str
    selector: str
    copies: Count
    there: tuple[ObjectRef, ...] = ()


class Capacity(ReportRecord, frozen=True):
    """The whole answer for one shape; without ``nodes`` something ends every attempt.

    ``repacked``: no more copies than this can fit even if all pods that may move were placed anew; ``reached``: a
    placement with so many was found. ``quota``: how many a ResourceQuota still admits; None where none limits.
    ``side_by_side`` False: copies on one node matter to others, so that they were placed one after the other.
    ``depends_on``: by what. ``being_bound``: pods that may make ``copies`` fewer. ``own_term``: pods of the shape keep
    each other away. ``deletions``: what makes room at the price of work that nobody starts again, the least first.
    ``openings``: what closes nodes or devices, each by itself, the one that brings most first.
    """

    copies: Count
    repacked: Count
    reached: bool
    devices: Devices
    nodes: tuple[NodeRoom, ...]
    quota: int | None = None
    side_by_side: bool = True
    movable: int = 0
    moves: tuple[Moves, ...] = ()
    being_bound: BeingBound | None = None
    depends_on: tuple[DependsOn, ...] = ()
    own_term: OwnTerm | None = None
    deletions: tuple[Deletion, ...] = ()
    openings: tuple[Opening, ...] = ()
