"""A cause: a reason with its evidence; the evidence about groups holds the causes of their pods."""

from __future__ import annotations

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import claims, pods
from kubectl_dra.diagnosis.records.nodes import (
    Company,
    KeptAway,
    MissingFeatures,
    NodeSelection,
    NodeShortage,
    NodeTaint,
    OpenPlugins,
    PluginText,
    Spread,
    TakenPorts,
    VolumeTrouble,
)
from kubectl_dra.diagnosis.records.objects import Evidence, ObjectRef
from kubectl_dra.diagnosis.records.requests import (
    ClassOffer,
    ClassProblem,
    ExtendedResource,
    FatalError,
    Funnel,
    IgnoredResource,
    Nearest,
    NoSingleNode,
    PoolProblem,
    SearchSize,
    Unpublished,
    UnpublishedInConstraint,
)
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.scheduler.binding import BindingProblem


class GroupWaits(Evidence, frozen=True):
    """A group that is not tried: ``held`` are the pods that something keeps out, and that keep out all others.

    Of a gang with fewer than ``min_count`` pods, ``known`` says how many there are, and ``refused`` why there are no
    more. ``because``: what is in the way of the first of ``held``.
    """

    group: ObjectRef
    held: tuple[ObjectRef, ...] = ()
    min_count: int = 0
    known: int = 0
    because: tuple[Cause, ...] = ()
    refused: claims.MakerRefusal | None = None


class GroupShortage(Evidence, frozen=True):
    """Too few pods of a group find a node at the same time.

    ``running`` have one already, ``placed`` find one, ``waiting`` were to find one. ``first`` is the first that finds
    none, ``because`` what is in its way. ``placements``: of how many domains of ``topology_key`` each was tried.
    """

    group: ObjectRef
    min_count: int
    running: int
    placed: int
    waiting: int
    first: ObjectRef | None = None
    because: tuple[Cause, ...] = ()
    topology_key: str = ""
    placements: int = 0


class WorkloadGang(Evidence, frozen=True):
    """A group of a Workload that pods name (Kubernetes 1.35); ``replica``: whose pods count by themselves.

    ``absent``: there is no such Workload; with a ``min_count`` of 0 it has no such group, and ``similar`` are the names
    that there are. Of the gang ``known`` pods exist, ``running`` have a node, and ``placed`` find one beside each
    other. ``lacking``: the first that finds none, ``because`` what is in its way; ``refused``: why there are no more.
    """

    workload: ObjectRef
    group: str
    replica: str = ""
    min_count: int = 0
    known: int = 0
    running: int = 0
    placed: int = 0
    lacking: ObjectRef | None = None
    because: tuple[Cause, ...] = ()
    refused: claims.MakerRefusal | None = None
    absent: bool = False
    similar: tuple[str, ...] = ()


class Differs(ReportRecord, frozen=True):
    """A pod with a ``value`` in a field of its spec where its group has, or all others have, another one.

    ``class_name``: its priorityClassName, where the field is the priority.
    """

    pod: ObjectRef
    value: str
    class_name: str = ""


class GroupError(Evidence, frozen=True):
    """What ends the attempt for all pods of a group: the text, and the pod that caused it if it is another one.

    Of pods that contradict each other, or the group, ``differing`` have another ``field`` than ``wanted``, which is the
    group's (``by_group``) or that of most pods; ``class_name``: the priorityClassName of the group.
    """

    group: ObjectRef
    text: str
    pod: ObjectRef | None = None
    because: tuple[Cause, ...] = ()
    field: str = ""
    wanted: str = ""
    by_group: bool = False
    class_name: str = ""
    differing: tuple[Differs, ...] = ()


Detail = (
    pods.Gates
    | claims.ClaimEntry
    | claims.QuotaShortage
    | pods.SchedulerName
    | pods.PodGroupName
    | pods.GangElsewhere
    | GroupWaits
    | GroupShortage
    | GroupError
    | WorkloadGang
    | ClassProblem
    | ExtendedResource
    | IgnoredResource
    | ClassOffer
    | Unpublished
    | UnpublishedInConstraint
    | NoSingleNode
    | Funnel
    | Nearest
    | PoolProblem
    | claims.ClaimElsewhere
    | BindingProblem
    | FatalError
    | NodeTaint
    | NodeSelection
    | NodeShortage
    | TakenPorts
    | KeptAway
    | VolumeTrouble
    | Spread
    | Company
    | MissingFeatures
    | OpenPlugins
    | PluginText
    | pods.KubeletText
    | pods.BoundBy
    | pods.KubeletRejection
    | pods.Health
    | pods.ContainerWaits
    | claims.Consumers
    | pods.Departure
    | claims.VanishedDevices
    | claims.EvictingTaint
    | pods.Refusal
    | pods.AllocationInFlight
    | pods.MissingEvidence
    | claims.Negotiation
    | claims.ParametersProblem
    | SearchSize
    | pods.Retry
)


class Cause(ReportRecord, frozen=True):
    """One reason: its code, what it is about, on which nodes it holds, and the evidence.

    Of a cause that holds on several nodes the evidence is that of the node that came closest. ``title`` and ``page``
    (the path in the documentation) are the code's.
    """

    code: Code
    detail: Detail | None = None
    claim: ObjectRef | None = None
    request: str = ""
    nodes: tuple[str, ...] = ()
    title: str = ""
    page: str = ""

    def __post_init__(self) -> None:
        """The code says its title and page."""
        msgspec.structs.force_setattr(self, "title", self.code.label)
        msgspec.structs.force_setattr(self, "page", self.code.page)
