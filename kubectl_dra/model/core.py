"""The core objects that scheduling of pods with claims depends on: nodes, pods, events, quotas.

Only the fields that node filters, claims and explanations read.
"""

from __future__ import annotations

from msgspec import field

from kubectl_dra.model.affinity import Affinity, TopologySpreadConstraint
from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import Condition, ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.volumes import Volume

# --- nodes ----------------------------------------------------------------------------------------------------------


class Taint(Record, frozen=True):
    """``spec.taints[]`` of a node."""

    key: str = ""
    value: str = ""
    effect: str = ""


class PodPreemptionPolicy(Record, frozen=True):
    """``spec.podPreemptionPolicy`` of a node."""

    disable_resize_preemption: bool | None = None


class NodeSpec(Record, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    pod_preemption_policy: PodPreemptionPolicy | None = None


class ContainerImage(Record, frozen=True):
    """``status.images[]``: an image that the node has, by all its names."""

    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeSystemInfo(Record, frozen=True):
    """``status.nodeInfo``."""

    kubelet_version: str = ""


class NodeStatus(Record, frozen=True):
    allocatable: dict[str, Quantity] = field(default_factory=dict)
    capacity: dict[str, Quantity] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    declared_features: tuple[str, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()


class Node(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


# --- pods -----------------------------------------------------------------------------------------------------------


class ContainerClaim(Record, frozen=True):
    """``resources.claims[]`` of a container."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Record, frozen=True):
    """``resources`` of a container or of a pod."""

    requests: dict[str, Quantity] = field(default_factory=dict)
    limits: dict[str, Quantity] = field(default_factory=dict)
    claims: tuple[ContainerClaim, ...] = ()


class ContainerPort(Record, frozen=True):
    """``ports[]`` of a container; only host ports matter to the scheduler."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = ""


class RestartPolicyRule(Record, frozen=True):
    """``restartPolicyRules[]`` of a container: only the action matters to the scheduler."""

    action: str = ""


class VolumeMount(Record, frozen=True):
    """``volumeMounts[]`` of a container: only what a node must declare support for."""

    bind_mount_options: tuple[str, ...] = ()


class Container(Record, frozen=True):
    """A container or init container; an init container with restartPolicy Always is a sidecar."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str | None = None
    restart_policy_rules: tuple[RestartPolicyRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()


class Toleration(Record, frozen=True):
    """``spec.tolerations[]`` of a pod."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class SchedulingGate(Record, frozen=True):
    """``spec.schedulingGates[]``."""

    name: str = ""


class SchedulingGroup(Record, frozen=True):
    pod_group_name: str = ""


class WorkloadRef(Record, frozen=True):
    """``spec.workloadRef``, which only Kubernetes 1.35 has: a group of a Workload, and one of its replicas."""

    name: str = ""
    pod_group: str = ""
    pod_group_replica_key: str = ""


class PodResourceClaim(Record, frozen=True):
    """``spec.resourceClaims[]``: exactly one of the two sources. ``source`` is the nested form of 1.26 to 1.30."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None
    source: PodClaimSource | None = None


class PodClaimSource(Record, frozen=True):
    """``spec.resourceClaims[].source`` of servers before 1.31."""

    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSpec(Record, frozen=True):
    node_name: str = ""
    scheduler_name: str = ""
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    scheduling_group: SchedulingGroup | None = None
    workload_ref: WorkloadRef | None = None
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    ephemeral_containers: tuple[Container, ...] = ()
    overhead: dict[str, Quantity] = field(default_factory=dict)
    resources: ResourceRequirements | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    preemption_policy: str | None = None
    priority: int | None = None
    priority_class_name: str = ""
    active_deadline_seconds: int | None = None
    host_network: bool = False
    host_users: bool | None = None
    runtime_class_name: str | None = None
    volumes: tuple[Volume, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()


class PodResourceClaimStatus(Record, frozen=True):
    """``status.resourceClaimStatuses[]``; no claim name means that the entry needs no claim."""

    name: str = ""
    resource_claim_name: str | None = None


class ExtendedResourceMapping(Record, frozen=True):
    """``status.extendedResourceClaimStatus.requestMappings[]``."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class ExtendedResourceClaimStatus(Record, frozen=True):
    resource_claim_name: str = ""
    request_mappings: tuple[ExtendedResourceMapping, ...] = ()


class ResourceHealth(Record, frozen=True):
    """``allocatedResourcesStatus[].resources[]``."""

    resource_id: str = field(default="", name="resourceID")
    health: str = ""
    message: str = ""


class ResourceStatus(Record, frozen=True):
    """``containerStatuses[].allocatedResourcesStatus[]``; name is ``claim:ENTRY[/REQUEST]`` for DRA."""

    name: str = ""
    resources: tuple[ResourceHealth, ...] = ()


class ContainerStateWaiting(Record, frozen=True):
    reason: str = ""
    message: str = ""


class ContainerStateTerminated(Record, frozen=True):
    exit_code: int = 0
    reason: str = ""
    message: str = ""


class ContainerStateRunning(Record, frozen=True):
    started_at: str | None = None


class ContainerState(Record, frozen=True):
    """``state`` and ``lastState`` of a container."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(Record, frozen=True):
    """``containerStatuses[]``."""

    name: str = ""
    ready: bool = False
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    restart_count: int = 0
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Quantity] | None = None
    allocated_resources_status: tuple[ResourceStatus, ...] = ()


class PodStatus(Record, frozen=True):
    """``status`` of a pod. ``resources`` and ``allocated_resources`` are what an in-place resize has reached so far."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    start_time: str | None = None
    conditions: tuple[Condition, ...] = ()
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Quantity] | None = None
    nominated_node_name: str = ""
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: ExtendedResourceClaimStatus | None = None
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


# --- around pods ----------------------------------------------------------------------------------------------------


class ObjectReference(Record, frozen=True):
    """The object that an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class EventSeries(Record, frozen=True):
    """``series`` of a repeated event."""

    count: int = 0
    last_observed_time: str | None = None


class EventSource(Record, frozen=True):
    """``source`` of an event of ``v1``."""

    component: str = ""


class Event(Record, frozen=True):
    """An event of ``v1`` or of ``events.k8s.io/v1`` (``regarding`` and ``note`` are the latter's names)."""

    metadata: ObjectMeta = ObjectMeta()
    involved_object: ObjectReference = ObjectReference()
    regarding: ObjectReference | None = None
    type: str = ""
    reason: str = ""
    message: str = ""
    note: str = ""
    count: int = 0
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: EventSeries | None = None
    reporting_component: str = ""
    source: EventSource = EventSource()


class QuotaScope(Record, frozen=True):
    """``spec.scopeSelector.matchExpressions[]`` of a quota; ``values`` are names of PriorityClasses."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class QuotaScopeSelector(Record, frozen=True):
    """``spec.scopeSelector`` of a quota."""

    match_expressions: tuple[QuotaScope, ...] = ()


class ResourceQuotaSpec(Record, frozen=True):
    """``spec`` of a quota: ``scopes`` and the selector narrow it to some pods; all of them must hold."""

    hard: dict[str, Quantity] = field(default_factory=dict)
    scopes: tuple[str, ...] = ()
    scope_selector: QuotaScopeSelector | None = None


class ResourceQuotaStatus(Record, frozen=True):
    hard: dict[str, Quantity] = field(default_factory=dict)
    used: dict[str, Quantity] = field(default_factory=dict)


class ResourceQuota(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class ServiceSpec(Record, frozen=True):
    """``spec``; without a selector no pods belong to the Service."""

    selector: dict[str, str] = field(default_factory=dict)


class Service(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()
