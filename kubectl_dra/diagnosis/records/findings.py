"""What is found about a pod or a claim as a whole, and about nodes with the same outcome."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import verdicts
from kubectl_dra.diagnosis.records.causes import Cause
from kubectl_dra.diagnosis.records.nodes import PodsThere
from kubectl_dra.diagnosis.records.objects import Missing, ObjectRef
from kubectl_dra.diagnosis.records.requests import Funnel
from kubectl_dra.model.base import ReportRecord


class RequestReport(ReportRecord, frozen=True):
    """One request of one claim on a group of nodes."""

    claim: ObjectRef
    request: str
    funnel: Funnel | None = None


class NodeGroup(ReportRecord, frozen=True):
    """Nodes with the same outcome. ``messages`` are the reasons as the scheduler counts them.

    ``requests`` and the evidence in ``causes`` are those of the first node; on the others the same numbers hold, but
    other claims may use the devices. ``not_checked``: plugins whose verdict is open. ``devices_fit``: whether the
    devices would be there on nodes that another plugin rejects; None where that was not tried. ``no_devices``: these
    have no device of any class that is requested.
    """

    outcome: verdicts.NodeOutcome
    nodes: tuple[str, ...]
    plugin: str = ""
    messages: tuple[str, ...] = ()
    requests: tuple[RequestReport, ...] = ()
    claims: tuple[ObjectRef, ...] = ()
    causes: tuple[Cause, ...] = ()
    not_checked: tuple[str, ...] = ()
    devices_fit: bool | None = None
    no_devices: bool = False


class Assumption(ReportRecord, frozen=True):
    """Something that the diagnosis takes for granted: ``kind`` says what, ``subject`` about which thing."""

    kind: verdicts.AssumptionKind
    subject: str = ""


class BeingBound(ReportRecord, frozen=True):
    """Nominated pods of lower priority (``NAMESPACE/NAME``) that may be being bound, which can't be read.

    ``copies``: if they are, only so many fit.
    """

    pods: tuple[str, ...]
    copies: int


class Observed(ReportRecord, frozen=True):
    """The pod's PodScheduled condition; ``time`` is when the scheduler last said so, as far as events tell."""

    status: str
    reason: str = ""
    message: str = ""
    time: str = ""


class Declined(ReportRecord, frozen=True):
    """Whom (``NAMESPACE/NAME``) a pod would evict from a node, if its preemptionPolicy were not Never."""

    node: str
    victims: tuple[str, ...]
    priority_class: str


class LowerHolders(ReportRecord, frozen=True):
    """Pods of lower priority than its ``own`` that hold the devices which a node lacks, by owner.

    ``priorities``: theirs, the lowest first.
    """

    pods: tuple[PodsThere, ...]
    priorities: tuple[int, ...]
    own: int


class Preemption(ReportRecord, frozen=True):
    """Whether evicting pods of lower priority makes room; ``message`` is what the scheduler adds to its own.

    ``nodes``: one of these is nominated, none if it does not help; ``victims``: the pods (``NAMESPACE/NAME``) that are
    evicted from the first of them, ``violations`` how many of these a PodDisruptionBudget protects. ``certain`` is
    False where chance, or a kind in ``unread``, decides which. Eviction does not free devices in this decision.
    ``under_way``: the victims are evicted already, and the pod is tried on that node again when they have ended.
    ``holders``: pods that could be evicted hold devices, for want of which that would make no room; those of the first
    such node.
    ``declined``: the pod evicts nobody, but would make room if it did.
    """

    message: str
    nodes: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()
    violations: int = 0
    certain: bool = True
    unread: tuple[str, ...] = ()
    under_way: bool = False
    holders: LowerHolders | None = None
    declined: Declined | None = None


class PodFinding(ReportRecord, frozen=True):
    """What diagnosis and report of a pod have in common.

    ``message`` is what the scheduler would write as PodScheduled message without the preemption tail; None where it
    writes nothing or where evidence is missing. ``alternatives`` are further texts that would be as right (several
    nodes abort the attempt, and the first one wins).
    """

    pod: ObjectRef
    verdict: verdicts.Verdict
    reason: str = ""
    message: str = ""
    alternatives: tuple[str, ...] = ()
    observed: Observed | None = None
    agreement: verdicts.Agreement = verdicts.Agreement.UNCHECKED
    node: str = ""
    causes: tuple[Cause, ...] = ()
    depends_on_node_order: bool = False
    certainty: verdicts.Certainty = verdicts.Certainty()
    missing: tuple[Missing, ...] = ()
    assumed: tuple[Assumption, ...] = ()
    preemption: Preemption | None = None


class PodDiagnosis(PodFinding, frozen=True):
    claims: tuple[ObjectRef, ...] = ()
    nodes: tuple[NodeGroup, ...] = ()


class ClaimDiagnosis(ReportRecord, frozen=True):
    """Everything about one claim: its state, who uses it, why it hangs.

    ``waiting_pods`` are the pods that name it and are not running. The causes of a claim without devices that such pods
    want are theirs: devices are allocated when a pod is scheduled.
    """

    claim: ObjectRef
    verdict: verdicts.ClaimVerdict
    causes: tuple[Cause, ...] = ()
    consumers: tuple[ObjectRef, ...] = ()
    waiting_pods: tuple[ObjectRef, ...] = ()
    owner: ObjectRef | None = None
    devices: tuple[str, ...] = ()
    usable_on: tuple[str, ...] = ()
    certainty: verdicts.Certainty = verdicts.Certainty()
    missing: tuple[Missing, ...] = ()
    assumed: tuple[Assumption, ...] = ()
