"""What a diagnosis consists of: verdicts, causes with their evidence, groups of nodes. Shapes only, no decisions.

Structs with camelCase names, so that reports can embed them as they are. Devices and pools are written
``DRIVER/POOL[/DEVICE]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.ids import Key


class Evidence(ReportRecord, frozen=True, tag_field="type", tag=True):
    """Base of the kinds of evidence, told apart by ``type``."""


class Verdict(StrEnum):
    """What becomes of a pod, in the order in which the first that holds is taken."""

    NOT_PENDING = "NotPending"
    PREPARING = "Preparing"
    DELETING = "Deleting"
    GATED = "Gated"
    OTHER_SCHEDULER = "OtherScheduler"
    BINDING = "Binding"
    SCHEDULER_ERROR = "SchedulerError"
    SCHEDULABLE = "Schedulable"
    UNSCHEDULABLE = "Unschedulable"
    UNKNOWN = "Unknown"


class ClaimVerdict(StrEnum):
    """The state of a claim."""

    PENDING = "Pending"
    ALLOCATED = "Allocated"
    RESERVED = "Reserved"
    UNRESERVED = "Unreserved"
    DELETING = "Deleting"


class NodeOutcome(StrEnum):
    """What one attempt gives on a node."""

    REJECTED = "Rejected"  # by a plugin before DynamicResources
    CLAIM_UNAVAILABLE = "ClaimUnavailable"
    CANNOT_ALLOCATE = "CannotAllocate"
    FATAL = "Fatal"
    FITS = "Fits"
    UNDECIDED = "Undecided"


class Agreement(StrEnum):
    """The prediction beside what the pod's condition says."""

    AGREES = "agrees"
    STALE = "stale"  # the condition was written about an earlier state
    DIFFERS = "differs"
    UNOBSERVED = "unobserved"  # the scheduler has written nothing yet
    UNCHECKED = "unchecked"  # no message could be predicted


class AssumptionKind(StrEnum):
    """What can't be read from the API."""

    NONE_OF_KIND = "noneOfKind"  # a plain list: kinds that do not occur are taken as none
    CLOCK = "clock"  # no time of reading: nothing is taken as timed out
    EXTENDED_RESOURCE_CLASH = "extendedResourceClash"  # several classes serve a resource; the newest is taken
    POD_GROUP = "podGroup"  # groups of this version, or groups of groups, are not simulated
    NODE_ALLOCATABLE = "nodeAllocatable"  # resources that devices add to a pod's requests are not simulated
    SEARCH_ORDER = "searchOrder"  # this scheduler's order is random: the first solution, or error, is not predicted
    NOT_SIMULATED = "notSimulated"  # a plugin that decides about something in the pod: it is taken to admit all nodes
    FEATURES = "features"  # the server's version is not known: the feature gates' defaults of another one are taken


class Bound(StrEnum):
    """How a number relates to the truth, given what could be read."""

    EXACT = "exact"
    AT_LEAST = "atLeast"
    AT_MOST = "atMost"
    UNKNOWN = "unknown"

    @property
    def sign(self) -> str:
        """What stands before the number."""
        return {Bound.EXACT: "", Bound.AT_LEAST: "≥", Bound.AT_MOST: "≤", Bound.UNKNOWN: "?"}[self]


class Certainty(ReportRecord, frozen=True):
    """What the numbers of a diagnosis are worth: devices that exist, devices left over, nodes that pass or fit."""

    devices: Bound = Bound.EXACT
    free_devices: Bound = Bound.EXACT
    nodes: Bound = Bound.EXACT


class ObjectRef(ReportRecord, frozen=True):
    """An object; the namespace is empty for cluster-scoped kinds."""

    kind: str
    namespace: str = ""
    name: str = ""

    @staticmethod
    def of(kind: str, key: Key) -> ObjectRef:
        """The reference to ``kind`` ``key``."""
        return ObjectRef(kind, key.namespace, key.name)

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return Key(self.namespace, self.name)


class RbacRule(ReportRecord, frozen=True):
    """A rule of a Role or ClusterRole; ``namespace`` is empty where a ClusterRole is needed.

    ``verbs`` has no default, so that JSON always says them.
    """

    api_group: str
    resource: str
    verbs: tuple[str, ...]
    namespace: str = ""


class Missing(ReportRecord, frozen=True):
    """Something that could not be read: the kind, why, and the right that would give it."""

    kind: str
    coverage: str
    rule: RbacRule
    namespace: str = ""
    decides: bool = True


# --- evidence of causes -------------------------------------------------------------------------------------------


class Gates(Evidence, frozen=True):
    """``spec.schedulingGates``."""

    names: tuple[str, ...]


class ClaimEntry(Evidence, frozen=True):
    """An entry of ``spec.resourceClaims`` and the scheduler's words about it (which it only logs)."""

    entry: str
    scheduler_text: str = ""
    template: str = ""
    similar: tuple[ObjectRef, ...] = ()
    owner: ObjectRef | None = None
    consumers: tuple[ObjectRef, ...] = ()
    event_message: str = ""
    event_time: str = ""


class QuotaShortage(Evidence, frozen=True):
    """A quota that a claim would exceed."""

    quota: str
    resource: str
    hard: str
    used: str
    requested: str


class SchedulerName(Evidence, frozen=True):
    """``spec.schedulerName``."""

    name: str


class PodGroupName(Evidence, frozen=True):
    """``spec.schedulingGroup.podGroupName``; ``similar`` are existing names where there is no such group."""

    name: str
    similar: tuple[str, ...] = ()


class GangElsewhere(Evidence, frozen=True):
    """A gang of another program: ``system`` decides, and its object ``resource``/``name`` shows what.

    ``scheduler``: ``spec.schedulerName``; ``gates``: the scheduling gates by which a queue holds the pod. Of the gang
    ``members`` exist (``expected``: how many there are to be), ``waiting`` have no node, and ``fitting`` of these would
    find one by the default scheduler's rules, None where that is not known.
    """

    system: str
    resource: str
    name: str = ""
    scheduler: str = ""
    gates: tuple[str, ...] = ()
    queue: str = ""
    expected: int | None = None
    members: int = 1
    waiting: int = 1
    fitting: int | None = None


class GroupWaits(Evidence, frozen=True):
    """A group that is not tried: ``held`` are the pods that something keeps out, and that keep out all others.

    Of a gang with fewer than ``min_count`` pods, ``known`` says how many there are. ``because``: what is in the way of
    the first of ``held``.
    """

    group: ObjectRef
    held: tuple[ObjectRef, ...] = ()
    min_count: int = 0
    known: int = 0
    because: tuple[Cause, ...] = ()


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


class GroupError(Evidence, frozen=True):
    """What ends the attempt for all pods of a group: the text, and the pod that caused it if it is another one."""

    group: ObjectRef
    text: str
    pod: ObjectRef | None = None
    because: tuple[Cause, ...] = ()


class ClassProblem(Evidence, frozen=True):
    """A class that is missing; ``similar`` are existing names that look like it."""

    device_class: str
    similar: tuple[str, ...] = ()


class ExtendedResource(Evidence, frozen=True):
    """An extended resource and the class that serves it, if any."""

    resource: str
    device_class: str = ""
    similar: tuple[str, ...] = ()


class ClassOffer(Evidence, frozen=True):
    """What a class has, of which a request finds no device on the nodes that were tried.

    ``published`` counts the devices that any driver publishes; ``selected`` of them are of the class. If none is,
    ``drivers`` names who publishes them, ``selector`` is the expression of the class that refuses most, and ``similar``
    are published drivers that look like one that it names. ``clause`` is the last condition that a device comes
    to, and ``seen`` what these have there; both empty where no device passes the first one. ``nodes``: at most 5 of
    those with devices of the class.
    """

    device_class: str
    needed: int = 1
    all_devices: bool = False
    published: int = 0
    selected: int = 0
    drivers: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    selector: str = ""
    similar: tuple[str, ...] = ()
    clause: str = ""
    seen: tuple[str, ...] = ()


class Unpublished(Evidence, frozen=True):
    """A selector that needs an attribute or capacity which no device of the class publishes.

    ``field`` is ``attributes`` or ``capacity``. ``devices`` of the class are published; ``names``: what they have in
    that domain; ``similar``: names that may have been meant; ``elsewhere``: domains in which something has the name.
    """

    device_class: str
    expression: str
    field: str
    domain: str
    name: str
    devices: int = 0
    needed: int = 1
    names: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


class NodeDevices(ReportRecord, frozen=True):
    """How many devices a request could have on a node."""

    node: str
    free: int


class RequestNodes(ReportRecord, frozen=True):
    """A request that some nodes could serve alone: the ``nodes`` with the most devices for it first, at most three.

    ``more`` says how many further nodes could serve it.
    """

    claim: str
    request: str
    device_class: str
    needed: int
    all_devices: bool
    nodes: tuple[NodeDevices, ...]
    more: int = 0


class NoSingleNode(Evidence, frozen=True):
    """Requests of which every one could be served on some node, but not all on the same."""

    requests: tuple[RequestNodes, ...]


class StageName(StrEnum):
    """The steps of a funnel, in their order."""

    CLASS = "class"
    SELECTORS = "selectors"
    NODE = "node"
    FEATURES = "features"
    TAINTS = "taints"
    UNUSED = "unused"
    CAPACITY = "capacity"
    COUNTERS = "counters"


class Short(ReportRecord, frozen=True):
    """Quantities of which there is too little: what is needed, what is left (empty: nobody knows) of how much."""

    needs: str
    left: str = ""
    total: str = ""


class HeldFor(StrEnum):
    """For whom claims hold devices, as far as all pods are known; those of several claims are all like that."""

    USED = ""  # or not known
    NOBODY = "nobody"
    GONE = "gone"  # pods that no longer exist
    FINISHED = "finished"  # or no longer exist


class Removal(ReportRecord, frozen=True):
    """Devices that one stage of a funnel takes out for one reason.

    ``reason`` is the thing that took them: a clause, a taint ``KEY=VALUE:EFFECT``, a claim ``NAMESPACE/NAME``, a
    counter. ``source`` says more: a value that was seen, the rule that set the taint, the pod that uses the claim.
    ``short`` has the amounts where something is short. ``held_for``: whether those who use the claims are gone.
    """

    stage: StageName
    reason: str
    devices: tuple[str, ...] = ()
    source: str = ""
    short: Short | None = None
    held_for: HeldFor = HeldFor.USED


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of a funnel: how many devices are still there after it, and what it took out."""

    name: StageName
    count: int
    removed: tuple[Removal, ...]


class ValueCount(ReportRecord, frozen=True):
    """A value of an attribute, and how many devices have it; those without one are counted as not ``published``."""

    value: str
    devices: int
    published: bool = True


class Funnel(Evidence, frozen=True):
    """Static findings about one request on one node: the devices that ``removed`` takes out, and those that are left.

    ``total`` devices of the node are in the class; ``removed`` is in the order of the scheduler's checks. ``best`` is
    the largest number of devices that one constraint allows together, None where none applies; ``constraint`` is its
    attribute, which must be the same for all, or ``distinct``. ``values``: the values of that
    attribute on the devices that are left, at most 8, the most frequent first; None: they lack it.
    """

    node: str
    needed: int
    total: int
    removed: tuple[Removal, ...]
    left: tuple[str, ...]
    all_devices: bool = False
    best: int | None = None
    constraint: str = ""
    distinct: bool = False
    values: tuple[ValueCount, ...] = ()

    @property
    def stages(self) -> Iterator[Stage]:
        """Every step, in order."""
        count = self.total
        for name in StageName:
            removed = tuple(removal for removal in self.removed if removal.stage is name)
            count -= sum(len(removal.devices) for removal in removed)
            yield Stage(name, count, removed)

    def stage(self, name: StageName) -> Stage:
        """One step."""
        return next(stage for stage in self.stages if stage.name is name)

    def after(self, name: StageName) -> tuple[str, ...]:
        """The devices that are still there after a step; those that get furthest first."""
        later = list(StageName)[list(StageName).index(name) + 1 :]
        taken = (removal.devices for stage in reversed(later) for removal in self.removed if removal.stage is stage)
        return (*self.left, *(device for devices in taken for device in devices))

    @property
    def together(self) -> int:
        """The most devices that could be had at once."""
        return len(self.left) if self.best is None else self.best


class Nearest(Evidence, frozen=True):
    """How near the closest node comes to a request, in the numbers of its :class:`Funnel`."""

    node: str
    needed: int
    left: int
    all_devices: bool
    best: int | None
    constraint: str
    distinct: bool

    @staticmethod
    def of(funnel: Funnel) -> Nearest:
        """The numbers of a funnel."""
        return Nearest(
            funnel.node,
            funnel.needed,
            len(funnel.left),
            funnel.all_devices,
            funnel.best,
            funnel.constraint,
            funnel.distinct,
        )


class PoolProblem(Evidence, frozen=True):
    """A pool that is not used: slices seen and expected of the generation, or what contradicts itself.

    ``devices`` are in the slices that are not used; ``since``: when the newest slice of the pool was made.
    """

    pool: str
    generation: int = 0
    seen: int = 0
    expected: int = 0
    detail: str = ""
    devices: int = 0
    since: str = ""


class ClaimElsewhere(Evidence, frozen=True):
    """An allocated claim: where it can be used (nodes by name, or a selector), for whom it is reserved."""

    nodes: tuple[str, ...] = ()
    selector: str = ""
    consumers: tuple[ObjectRef, ...] = ()


class BindingProblem(Evidence, frozen=True):
    """Binding conditions of one allocated device: waited for, failed, or over time."""

    device: str
    waiting_for: tuple[str, ...] = ()
    failed: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""


class AttributeValue(ReportRecord, frozen=True):
    """A value that a selector read: ``type`` is string, int, bool, version, list or quantity."""

    name: str
    type: str
    value: str


class FatalError(Evidence, frozen=True):
    """An error that aborts the attempt: the scheduler's text and what it points at.

    Of a selector that fails on a device: ``attribute`` (``DOMAIN/NAME``) is the one that the device lacks, ``names``
    what it has in that domain, ``publishers`` how many of the ``devices`` of the class have it (None: not counted),
    ``similar`` what may have been meant, ``reads`` the values read. ``device_class`` is the class of the request.
    """

    text: str
    device: str = ""
    selector: int | None = None
    owner: str = ""
    expression: str = ""
    detail: str = ""
    position: int | None = None
    device_class: str = ""
    attribute: str = ""
    names: tuple[str, ...] = ()
    publishers: int | None = None
    devices: int = 0
    similar: tuple[str, ...] = ()
    reads: tuple[AttributeValue, ...] = ()


class NodeTaint(Evidence, frozen=True):
    """A taint of nodes that the pod does not tolerate."""

    taint: str


class NodeSelection(Evidence, frozen=True):
    """What of the pod's node selector or affinity does not match."""

    unmatched: tuple[str, ...] = ()


class NodeShortage(Evidence, frozen=True):
    """A resource that nodes lack; amounts of the node that is closest, in milli-cores or base units."""

    resource: str
    requested: int
    used: int
    allocatable: int
    node: str


class TakenPorts(Evidence, frozen=True):
    """Host ports that are taken, ``IP:PORT/PROTOCOL``."""

    ports: tuple[str, ...]


class KeptAway(Evidence, frozen=True):
    """Pods on nodes keep others away by required anti-affinity: the topology keys by which they do."""

    topology_keys: tuple[str, ...]


class VolumeTrouble(Evidence, frozen=True):
    """A volume of the pod that is in the way; ``reason`` is one of the scheduler's ``VolumeReason``.

    ``entry``: the volume's name in the pod; ``volume``: the PersistentVolume; ``about``: the class, driver, disk or
    node that matters; ``wanted``: what a node would have to be; ``users``: pods (``NAMESPACE/NAME``) that use the
    volume. ``used``, ``asked`` and ``limit`` count volumes or, for ``noSpace``, bytes.
    """

    reason: str
    entry: str = ""
    claim: ObjectRef | None = None
    volume: str = ""
    about: str = ""
    wanted: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    used: int = 0
    asked: int = 0
    limit: int = 0


class Spread(Evidence, frozen=True):
    """A topology spread constraint of the pod that a node does not meet.

    ``selector``: the pods that are counted. ``value``: the node's own for the key, empty if it lacks the label; then
    the numbers are 0. ``pods`` are there already, ``fewest`` in the emptiest domain.
    """

    topology_key: str
    selector: str = ""
    value: str = ""
    pods: int = 0
    fewest: int = 0
    max_skew: int = 0


class Company(Evidence, frozen=True):
    """A required term about other pods that a node does not meet; ``selector``: which pods it is about."""

    topology_key: str
    selector: str = ""


class MissingFeatures(Evidence, frozen=True):
    """Features that a node would have to declare in ``status.declaredFeatures``."""

    features: tuple[str, ...]


class OpenPlugin(ReportRecord, frozen=True):
    """A plugin of the scheduler that is not simulated here, and the fields of the pod that it decides about."""

    plugin: str
    fields: tuple[str, ...] = ()


class OpenPlugins(Evidence, frozen=True):
    """What is left open although the devices would be there."""

    plugins: tuple[OpenPlugin, ...]


class PluginText(Evidence, frozen=True):
    """What the scheduler said of a plugin that is not simulated here."""

    plugin: str
    text: str


class KubeletText(Evidence, frozen=True):
    """What the kubelet said about preparing devices."""

    text: str
    driver: str = ""
    detail: str = ""
    time: str = ""


class Health(Evidence, frozen=True):
    """Health of a device according to the pod's status."""

    device: str
    health: str
    container: str
    message: str = ""


class ContainerWaits(Evidence, frozen=True):
    """A container's ``state.waiting``."""

    container: str
    reason: str
    message: str = ""


class Consumers(Evidence, frozen=True):
    """``status.reservedFor``: consumers that are there, and those that are gone or finished.

    ``finalizers`` of a claim that is being deleted.
    """

    present: tuple[ObjectRef, ...] = ()
    gone: tuple[ObjectRef, ...] = ()
    finalizers: tuple[str, ...] = ()


class HeldTaint(ReportRecord, frozen=True):
    """A taint of a device that a pod has, and the rule that sets it; empty where the driver does."""

    device: str
    taint: str
    rule: str = ""


class Departure(Evidence, frozen=True):
    """A pod that goes away: since when it is deleted (None: it is about to be), and who evicts it.

    ``reason``, ``message`` and ``time`` are those of the condition DisruptionTarget. ``finalizers`` hold a deleted pod.
    """

    deleted: str = ""
    reason: str = ""
    message: str = ""
    time: str = ""
    finalizers: tuple[str, ...] = ()
    taints: tuple[HeldTaint, ...] = ()


class VanishedDevices(Evidence, frozen=True):
    """Devices (``DRIVER/POOL/DEVICE``) that are published no more; ``pools`` of which nothing is published."""

    devices: tuple[str, ...]
    pools: tuple[str, ...] = ()


class Refusal(Evidence, frozen=True):
    """What the scheduler could not write: the words behind the plugin's name, the whole message, when it was last said.

    ``order_known``: nothing that it depends on has changed since; else that is not known. ``earlier``: something else
    is in the way by now.
    """

    text: str
    message: str
    time: str = ""
    order_known: bool = True
    earlier: bool = False


class MissingEvidence(Evidence, frozen=True):
    """What could not be read."""

    missing: tuple[Missing, ...]


class Negotiation(Evidence, frozen=True):
    """What scheduler and driver said to each other about one claim (PodSchedulingContext).

    ``answered``: the driver wrote something about the claim. ``since``: when the context was made, so at most so long
    the driver has been asked.
    """

    driver: str = ""
    selected_node: str = ""
    potential_nodes: tuple[str, ...] = ()
    unsuitable_nodes: tuple[str, ...] = ()
    answered: bool = False
    since: str = ""


class ParametersProblem(Evidence, frozen=True):
    """Parameters of a ``class`` or ``claim`` (``owner``) that do not exist.

    ``generated``: the object named is the vendor's, and its in-tree form is missing. ``similar`` are existing names.
    """

    owner: str
    kind: str
    name: str
    namespace: str = ""
    generated: bool = False
    similar: tuple[str, ...] = ()


class SearchSize(Evidence, frozen=True):
    """How many steps the real search would take, or at least takes."""

    steps: int
    why: str = ""


class Retry(Evidence, frozen=True):
    """Why a pod that fits is still pending: when the scheduler last wrote, what makes it try again."""

    last_message_time: str = ""
    triggers: tuple[str, ...] = ()
    fallback_seconds: int = 300


Detail = (
    Gates
    | ClaimEntry
    | QuotaShortage
    | SchedulerName
    | PodGroupName
    | GangElsewhere
    | GroupWaits
    | GroupShortage
    | GroupError
    | ClassProblem
    | ExtendedResource
    | ClassOffer
    | Unpublished
    | NoSingleNode
    | Funnel
    | Nearest
    | PoolProblem
    | ClaimElsewhere
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
    | KubeletText
    | Health
    | ContainerWaits
    | Consumers
    | Departure
    | VanishedDevices
    | Refusal
    | MissingEvidence
    | Negotiation
    | ParametersProblem
    | SearchSize
    | Retry
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


class RequestReport(ReportRecord, frozen=True):
    """One request of one claim on a group of nodes."""

    claim: ObjectRef
    request: str
    funnel: Funnel | None = None


class NodeGroup(ReportRecord, frozen=True):
    """Nodes with the same outcome. ``messages`` are the reasons as the scheduler counts them.

    ``requests`` and the evidence in ``causes`` are those of the first node; on the others the same numbers hold, but
    other claims may use the devices. ``not_checked``: plugins whose verdict is open. ``devices_fit``: whether the
    devices would be there on nodes that another plugin rejects; None where that was not tried.
    """

    outcome: NodeOutcome
    nodes: tuple[str, ...]
    plugin: str = ""
    messages: tuple[str, ...] = ()
    requests: tuple[RequestReport, ...] = ()
    claims: tuple[ObjectRef, ...] = ()
    causes: tuple[Cause, ...] = ()
    not_checked: tuple[str, ...] = ()
    devices_fit: bool | None = None


class Assumption(ReportRecord, frozen=True):
    """Something that the diagnosis takes for granted: ``kind`` says what, ``subject`` about which thing."""

    kind: AssumptionKind
    subject: str = ""


class Observed(ReportRecord, frozen=True):
    """The pod's PodScheduled condition; ``time`` is when the scheduler last said so, as far as events tell."""

    status: str
    reason: str = ""
    message: str = ""
    time: str = ""


class Preemption(ReportRecord, frozen=True):
    """Whether evicting pods of lower priority makes room; ``message`` is what the scheduler adds to its own.

    ``nodes``: one of these is nominated, none if it does not help; ``victims``: the pods (``NAMESPACE/NAME``) that are
    evicted from the first of them, ``violations`` how many of these a PodDisruptionBudget protects. ``certain`` is
    False where chance, or a kind in ``unread``, decides which. Eviction does not free devices in this decision.
    """

    message: str
    nodes: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()
    violations: int = 0
    certain: bool = True
    unread: tuple[str, ...] = ()


class PodFinding(ReportRecord, frozen=True):
    """What diagnosis and report of a pod have in common.

    ``message`` is what the scheduler would write as PodScheduled message without the preemption tail; None where it
    writes nothing or where evidence is missing. ``alternatives`` are further texts that would be as right (several
    nodes abort the attempt, and the first one wins).
    """

    pod: ObjectRef
    verdict: Verdict
    reason: str = ""
    message: str = ""
    alternatives: tuple[str, ...] = ()
    observed: Observed | None = None
    agreement: Agreement = Agreement.UNCHECKED
    node: str = ""
    causes: tuple[Cause, ...] = ()
    depends_on_node_order: bool = False
    certainty: Certainty = Certainty()
    missing: tuple[Missing, ...] = ()
    assumed: tuple[Assumption, ...] = ()
    preemption: Preemption | None = None


class PodDiagnosis(PodFinding, frozen=True):
    """Everything about one pod."""

    claims: tuple[ObjectRef, ...] = ()
    nodes: tuple[NodeGroup, ...] = ()


class ClaimDiagnosis(ReportRecord, frozen=True):
    """Everything about one claim: its state, who uses it, why it hangs.

    ``waiting_pods`` are the pods that name it and are not running. The causes of a claim without devices that such pods
    want are theirs: devices are allocated when a pod is scheduled.
    """

    claim: ObjectRef
    verdict: ClaimVerdict
    causes: tuple[Cause, ...] = ()
    consumers: tuple[ObjectRef, ...] = ()
    waiting_pods: tuple[ObjectRef, ...] = ()
    owner: ObjectRef | None = None
    devices: tuple[str, ...] = ()
    usable_on: tuple[str, ...] = ()
    certainty: Certainty = Certainty()
    missing: tuple[Missing, ...] = ()
    assumed: tuple[Assumption, ...] = ()
