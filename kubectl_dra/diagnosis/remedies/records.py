"""What could be done: typed actions and the remedies made of them. Nothing is ever executed."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kubectl_dra.diagnosis.records import Evidence, HeldFor, LessCapacity, ObjectRef, ValueCount
from kubectl_dra.diagnosis.remedies.actions import (
    AddVolume,
    ClearSelectedNode,
    EditGroup,
    LabelNamespace,
    LabelNode,
    MoveVolume,
    RemoveLabel,
    ScaleDown,
    SetDeletionCost,
    WidenTopology,
)
from kubectl_dra.diagnosis.remedies.outlook import Competition, Prospect
from kubectl_dra.diagnosis.rollouts import EditRollout
from kubectl_dra.diagnosis.whatif.records import AddNode
from kubectl_dra.model.base import ReportRecord


class RemedyKind(StrEnum):
    """What a remedy asks of its reader, roughly from least to most."""

    WAIT = "wait"
    REMOVE_GATE = "removeGate"
    DELETE_IDLE_CLAIM = "deleteIdleClaim"
    END_RESERVATIONS = "endReservations"
    LABEL_NAMESPACE = "labelNamespace"
    LABEL_NODE = "labelNode"
    NAME_OBJECT = "nameObject"
    CREATE_OBJECT = "createObject"
    RENEW_CLAIM = "renewClaim"
    EDIT_CLAIM = "editClaim"
    EDIT_GROUP = "editGroup"
    EDIT_CLASS = "editClass"
    EDIT_POD = "editPod"
    EDIT_ROLLOUT = "editRollout"
    PIN_PODS = "pinPods"
    UNCORDON = "uncordon"
    NARROW_TAINT_RULE = "narrowTaintRule"
    REMOVE_TAINT_RULE = "removeTaintRule"
    FREE_DEVICES = "freeDevices"
    AVOID_DEVICE = "avoidDevice"
    CLEAR_SELECTED_NODE = "clearSelectedNode"
    WIDEN_TOPOLOGY = "widenTopology"
    MOVE_VOLUME = "moveVolume"
    RAISE_QUOTA = "raiseQuota"
    REPAIR_POOL = "repairPool"
    ADD_VOLUME = "addVolume"
    ADD_DEVICES = "addDevices"


class Wait(Evidence, frozen=True):
    """Wait for somebody else: ``for_whom`` is a controller, a driver, the scheduler, which ``releases`` claims.

    ``own``: for another pod of the same Job.
    """

    for_whom: str
    releases: tuple[ObjectRef, ...] = ()
    own: bool = False


class RemoveGates(Evidence, frozen=True):
    """Remove scheduling gates; a pod's gates may be removed."""

    pod: ObjectRef
    gates: tuple[str, ...]


class EditClaim(Evidence, frozen=True):
    """Another spec of a claim. Specs are immutable: a new claim or template, and the pod anew.

    ``field`` is the path in a request or the claim (``count``, ``constraints[0]``, ``selectors[0]`` …); ``after``
    empty: dropped. ``template`` is what the claim was made from. ``offers``: of a selector that asks for another value,
    or no longer for one, which values the free devices have then. ``less``: what the devices have less of then.
    ``several``: the claim has other requests, too. ``before`` of a toleration: the key of one that the pod has, where
    it counts for nodes only; one of the request whose value looks like that of the taint as ``KEY=VALUE``.
    """

    claim: ObjectRef
    request: str
    field: str
    before: str
    after: str
    template: ObjectRef | None = None
    offers: tuple[ValueCount, ...] = ()
    less: tuple[LessCapacity, ...] = ()
    several: bool = False

    @property
    def place(self) -> tuple[ObjectRef, str, str]:
        return self.claim, self.request, self.field


class RenewClaim(Evidence, frozen=True):
    """The pod anew, so that its claim is made again from ``template``, which has changed since the claim was made."""

    pod: ObjectRef
    claim: ObjectRef
    template: ObjectRef
    workload: ObjectRef | None = None


#: ``EditClass.field`` of another name, which is no selector.
EXTENDED_NAME: Final = "extendedResourceName"


class EditClass(Evidence, frozen=True):
    """Another selector in a class, or an ``extendedResourceName``; classes can be changed in place."""

    device_class: str
    field: str
    before: str
    after: str


class EditPod(Evidence, frozen=True):
    """Another spec of the pod, so the pod anew (or its workload changed); ``after`` empty: dropped.

    ``also``: other pods of its PodGroup that nobody makes anew but a person, and that need the same.
    ``qos_class``: what becomes of a Guaranteed pod whose request changes; it stays that where its limit changes too.
    """

    pod: ObjectRef
    field: str
    before: str
    after: str
    workload: ObjectRef | None = None
    also: tuple[ObjectRef, ...] = ()
    qos_class: str = ""


class PodOnNode(ReportRecord, frozen=True):
    """A pod and a node for it."""

    pod: ObjectRef
    node: str


class PinPods(Evidence, frozen=True):
    """Another assignment of a group's pods to nodes, which the scheduler does not look for; ``pods`` have to be bound.

    By their node affinity, for example: the pods anew.
    """

    group: ObjectRef
    pods: tuple[PodOnNode, ...]


class CreateObject(Evidence, frozen=True):
    """Create an object that is missing; of a class also the ``extended_resource`` that it has to serve.

    ``like``: the claim whose requests a new template, or a claim for several pods, has; else it asks for ``devices`` of
    ``device_class``, where that is known.
    """

    ref: ObjectRef
    extended_resource: str = ""
    like: ObjectRef | None = None
    device_class: str = ""
    devices: int = 0


class MoveTemplate(Evidence, frozen=True):
    """Write in the manifest of a ``template`` the ``namespace`` of the pods that name it: they find no others."""

    template: ObjectRef
    namespace: str


class DeleteClaim(Evidence, frozen=True):
    """Delete a claim that nobody uses."""

    claim: ObjectRef
    frees: tuple[str, ...]


class EndReservations(Evidence, frozen=True):
    """Do what the claim controller does when ``pods`` are gone: end the reservations of a claim, and free its devices.

    ``held_for``: whether they no longer exist, some have finished, or they are PodGroups to be deleted.
    """

    claim: ObjectRef
    pods: tuple[str, ...]
    held_for: HeldFor
    frees: tuple[str, ...]


class DeletePod(Evidence, frozen=True):
    """Delete a pod; ``frees`` are the devices that are really released, ``recreated_by`` makes a new pod.

    ``amounts``: what it frees beside devices, where that is what lacks: ``500m cpu``.
    """

    pod: ObjectRef
    frees: tuple[str, ...]
    recreated_by: ObjectRef | None = None
    amounts: tuple[str, ...] = ()


class RestartPods(Evidence, frozen=True):
    """Scale a changed workload to no pods and back to ``replicas``: an old ``pod`` holds what the new ones need."""

    workload: ObjectRef
    pod: ObjectRef
    replicas: int


class TaintDevice(Evidence, frozen=True):
    """Taint a ``device`` that fails with ``key``, so that another one is allocated.

    A ``pod`` that has its node already is made anew.
    """

    device: str
    key: str
    pod: ObjectRef | None = None
    workload: ObjectRef | None = None


class RemoveTaintRule(Evidence, frozen=True):
    """Delete a DeviceTaintRule.

    ``selected``: how many devices it taints, where they are several; ``driver`` and ``pool``: what it selects them by.
    """

    rule: str
    taint: str
    selected: int = 0
    driver: str = ""
    pool: str = ""


class NarrowTaintRule(Evidence, frozen=True):
    """Let a DeviceTaintRule that taints several devices select ``device`` alone, which its name or value names.

    With neither ``device`` nor ``driver``: the devices of all drivers in the pool that is named, as a node's name is.
    """

    rule: str
    driver: str
    pool: str
    device: str
    selected: int


class Uncordon(Evidence, frozen=True):
    """Let pods on a node again; ``in_files``: one that only manifests have."""

    node: str
    in_files: bool = False


class RaiseQuota(Evidence, frozen=True):
    """Raise a limit by at least ``by``, from ``before`` to ``after``: enough for ``pods`` of those ``waiting``.

    They would run on ``nodes``; ``least``: what is enough for one of several. ``no_room``: the devices that are free
    are too few for more of them.
    """

    quota: ObjectRef
    resource: str
    by: str
    before: str = ""
    after: str = ""
    pods: int = 1
    waiting: int = 1
    least: str = ""
    no_room: bool = False
    nodes: tuple[str, ...] = ()


class RaiseNominalQuota(Evidence, frozen=True):
    """Raise what a ClusterQueue of Kueue may use of a ``resource`` in a ``flavor``; ``field``: where that stands."""

    cluster_queue: str
    resource: str
    flavor: str
    field: str
    before: str
    after: str


class RepairPool(Evidence, frozen=True):
    """Have the driver publish a pool that is complete and free of contradictions.

    ``doubled``: a device that ``slice_name`` publishes a second time, after ``first_slice``. ``in_files``: only
    manifests have the pool.
    """

    pool: str
    doubled: str = ""
    slice_name: str = ""
    first_slice: str = ""
    in_files: bool = False


class AddDevices(Evidence, frozen=True):
    """Add devices like an existing one to its pool; ``like`` empty: there is none, it takes some of the class.

    ``differing``: an attribute of which each has another value than all others.
    """

    count: int
    like: str
    node: str
    device_class: str = ""
    differing: str = ""


Action = (
    AddNode
    | Wait
    | RemoveGates
    | EditClaim
    | RenewClaim
    | EditClass
    | EditPod
    | RemoveLabel
    | EditGroup
    | PinPods
    | CreateObject
    | MoveTemplate
    | DeleteClaim
    | DeletePod
    | EditRollout
    | RestartPods
    | ScaleDown
    | SetDeletionCost
    | EndReservations
    | RemoveTaintRule
    | NarrowTaintRule
    | TaintDevice
    | LabelNamespace
    | LabelNode
    | Uncordon
    | ClearSelectedNode
    | WidenTopology
    | MoveVolume
    | AddVolume
    | RaiseQuota
    | RaiseNominalQuota
    | RepairPool
    | AddDevices
)


class Remedy(ReportRecord, frozen=True):
    """Actions after which the pod would fit (``verified``: tried on the changed cluster), and where it then runs.

    ``nodes`` are those with the best score among the nodes that fit then: the scheduler takes one of them. They are all
    that fit where the scores can't be known: Services were not read, or the cluster has too many nodes to look at all.
    No proper part of the actions suffices. ``cost`` ranks remedies by what they ask of their reader. ``competition``:
    who else waits for the same. ``then``: what comes next, where the actions only bring the pod into the queue.
    ``returns``: of pods that are started again the nodes with room for them, empty where one waits; none if not known.
    """

    kind: RemedyKind
    actions: tuple[Action, ...]
    verified: bool
    nodes: tuple[str, ...] = ()
    cost: int = 0
    competition: Competition = Competition()
    then: Prospect | None = None
    returns: tuple[str, ...] = ()
