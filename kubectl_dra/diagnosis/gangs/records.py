"""What the diagnosis of a PodGroup consists of. Shapes only."""

from __future__ import annotations

from enum import StrEnum

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.base import ReportRecord


class MemberState(ReportRecord, frozen=True):
    """One pod of a group that has no node. ``nodes``: one of these it would get; ``nominated``: it is to get this one.

    ``message`` is what the scheduler writes on it, empty if nothing; ``observed`` what it wrote, and whether that
    agrees; ``causes`` what is in its own way.
    """

    pod: records.ObjectRef
    verdict: records.Verdict
    nodes: tuple[str, ...] = ()
    nominated: str = ""
    message: str = ""
    causes: tuple[records.Cause, ...] = ()
    observed: records.Observed | None = None
    agreement: records.Agreement = records.Agreement.UNCHECKED


class RunningMember(ReportRecord, frozen=True):
    """One pod of a group that has a node."""

    pod: records.ObjectRef
    node: str


class SharedClaim(ReportRecord, frozen=True):
    """A claim that the pods of a group share; ``name`` is that of the entry, no ``claim``: it is not created yet."""

    name: str
    claim: records.ObjectRef | None = None
    template: str = ""
    devices: tuple[str, ...] = ()


class TemplateState(StrEnum):
    """How the template of a Workload and a group that names it stand to each other."""

    SAME = "same"
    DIFFERS = "differs"  # in minCount, which can be changed in a group
    NO_TEMPLATE = "noTemplate"
    NO_WORKLOAD = "noWorkload"
    NOT_READ = "notRead"


class GroupTemplate(ReportRecord, frozen=True):
    """The template of a Workload that a group was made from; ``min_count``: what it says, None for no gang."""

    name: str
    state: TemplateState
    min_count: int | None = None


class GroupFinding(ReportRecord, frozen=True):
    """What diagnosis and report of a group have in common.

    ``min_count``: how many pods have to be placed at the same time; None for a group that is no gang. ``message`` and
    ``reason`` are those of the condition PodGroupInitiallyScheduled that the scheduler would write, ``observed`` what
    it wrote. ``members`` have no node, in the order in which they are tried; ``running`` have one. ``placed``: how many
    members would get a node in the next cycle. ``blocking``: the first that would get none. ``template``: that of
    ``workload`` that the group was made from. ``placed_together`` False: the scheduler takes no notice of groups, and
    the verdict is that of the first pod that finds no node by itself.
    """

    group: records.ObjectRef
    verdict: records.Verdict
    min_count: int | None = None
    reason: str = ""
    message: str = ""
    observed: records.Observed | None = None
    agreement: records.Agreement = records.Agreement.UNCHECKED
    placed: int = 0
    members: tuple[MemberState, ...] = ()
    running: tuple[RunningMember, ...] = ()
    blocking: records.ObjectRef | None = None
    causes: tuple[records.Cause, ...] = ()
    preemption: records.Preemption | None = None
    topology_key: str = ""
    priority: int = 0
    claims: tuple[SharedClaim, ...] = ()
    workload: records.ObjectRef | None = None
    template: GroupTemplate | None = None
    parent: records.ObjectRef | None = None
    placed_together: bool = True
    certainty: records.Certainty = records.Certainty()
    missing: tuple[records.Missing, ...] = ()
    assumed: tuple[records.Assumption, ...] = ()

    @property
    def code(self) -> Code | None:
        return self.causes[0].code if self.causes else None


class GroupDiagnosis(GroupFinding, frozen=True):
    """Everything about one group; ``nodes`` are those of the pod that is in the way."""

    nodes: tuple[records.NodeGroup, ...] = ()
