"""What is supposed of a cluster, switch by switch, and what became of the pods that had to leave their nodes."""

from __future__ import annotations

from enum import StrEnum

from kubectl_dra.diagnosis.records import Evidence, ObjectRef
from kubectl_dra.model.base import ReportRecord


class AddNode(Evidence, frozen=True):
    """``count`` more nodes like an existing one, with its slices; ``free``: untainted, and without DaemonSet pods.

    ``clique``: the NVLink clique of that node, where the pod's devices connect nodes of one clique only.
    """

    like: str
    count: int = 1
    free: bool = False
    clique: str = ""


class RemoveNode(Evidence, frozen=True):
    """The node is gone, with its slices; pods that a controller makes again look for another node."""

    node: str


class Drain(Evidence, frozen=True):
    """The node is cordoned and its pods are evicted, as kubectl drain does."""

    node: str


class MoreDevices(Evidence, frozen=True):
    """``count`` more devices like ``DRIVER/POOL/DEVICE``, in the same slice."""

    like: str
    count: int = 1


class AddTaint(Evidence, frozen=True):
    """A taint on a node, or on ``DRIVER/POOL`` or ``DRIVER/POOL/DEVICE`` (``target`` has a slash then)."""

    target: str
    key: str
    value: str
    effect: str


class EndTaint(Evidence, frozen=True):
    """Taints of a key end; ``effect`` empty: whatever their effect."""

    target: str
    key: str
    effect: str = ""


class AddTaintRule(Evidence, frozen=True):
    """A DeviceTaintRule that evicts begins to work; the cluster that is supposed has it already."""

    rule: str


Switch = AddNode | RemoveNode | Drain | MoreDevices | AddTaint | EndTaint | AddTaintRule


class PodFate(StrEnum):
    """What becomes of a pod that has to leave its node; ``NONE`` only where nothing else would become of it."""

    NONE = ""
    MOVES = "moves"
    PENDING = "pending"
    STAYS = "stays"
    GONE = "gone"
    UNKNOWN = "unknown"


class Because(StrEnum):
    """Why a pod stays or is gone for good, or why more nodes are told than the best."""

    NONE = ""
    DAEMON_SET = "daemonSet"
    STATIC = "static"
    BUDGET = "disruptionBudget"
    NO_CONTROLLER = "noController"
    BEING_DELETED = "beingDeleted"
    GANG = "gang"
    OTHER_SCHEDULER = "otherScheduler"
    DRIVER_DECIDES = "driverDecides"
    NOT_READ = "notRead"
    SOME_COMPARED = "someCompared"


class About(StrEnum):
    """What a note is about."""

    NO_SUCH_TAINT = "noSuchTaint"
    SHARED_COUNTERS = "sharedCounters"


class Note(ReportRecord, frozen=True):
    """Something to know of a switch: a taint that does not exist, or devices that draw on counters of what is there."""

    about: About
    subject: str
    detail: str


class Displaced(ReportRecord, frozen=True):
    """One pod that has to leave ``from_node``.

    ``node``: where it would run; ``equal``: the nodes that the scheduler finds as good, of which it takes any;
    where Services that decide between nodes were not read, or the scheduler compares only some (``because``), all that
    fit.
    ``devices``: what its claims would get there. ``message``: what the scheduler would say of one that stays pending.
    ``budget``: the PodDisruptionBudget that holds it; ``released``: what would become of it if that let it go, with
    ``node``, ``devices`` and ``message`` as of then.
    """

    pod: ObjectRef
    from_node: str
    fate: PodFate
    because: Because = Because.NONE
    node: str = ""
    equal: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    message: str = ""
    budget: str = ""
    released: PodFate = PodFate.NONE


class OneDrained(ReportRecord, frozen=True):
    """One of several nodes that are drained in turn, with the pods that kubectl drain asks a flag for.

    ``cordoned``: before its drain; it stays so. ``empty_dirs``: pods that lose the data of their emptyDir volumes.
    ``unowned``: pods without a controller, which are gone for good. Upstream: kubectl, pkg/drain/filters.go.
    """

    node: str
    cordoned: bool = False
    empty_dirs: tuple[ObjectRef, ...] = ()
    unowned: tuple[ObjectRef, ...] = ()


class InTurn(ReportRecord, frozen=True):
    """The nodes in the order in which they are drained one after the other, each in its state before the next.

    ``stuck_at``: the first of them that not all pods leave for another node, ``pending`` of them for lack of one; empty
    where all do. ``drains``: what each drain asks for; empty where one of them is stuck. ``between``: pods that wait
    now and take what is free before one of the drains; ``untried`` more that wait were too many to try.
    """

    order: tuple[str, ...]
    stuck_at: str = ""
    pending: int = 0
    drains: tuple[OneDrained, ...] = ()
    between: tuple[ObjectRef, ...] = ()
    untried: int = 0


class WhatIf(ReportRecord, frozen=True):
    """The switches in the order in which they count, and what they lead to.

    ``more_pods``: pods on nodes that have to be left of which only sums are known, so that they were not placed.
    ``notes``: what a reader should know of single switches. ``in_turn``: of several drains that leave pods without a
    node together, whether one after the other does not; None where that was not tried.
    """

    switches: tuple[Switch, ...]
    added_nodes: tuple[str, ...] = ()
    added_devices: tuple[str, ...] = ()
    displaced: tuple[Displaced, ...] = ()
    more_pods: int = 0
    notes: tuple[Note, ...] = ()
    in_turn: InTurn | None = None

    @property
    def moves(self) -> bool:
        """Whether pods may have to leave nodes, so that all that decides about pods decides here."""
        return any(isinstance(each, Drain | RemoveNode | AddTaint | AddTaintRule) for each in self.switches)

    def of(self, *fates: PodFate) -> tuple[Displaced, ...]:
        """The displaced pods with one of these fates."""
        return tuple(each for each in self.displaced if each.fate in fates)
