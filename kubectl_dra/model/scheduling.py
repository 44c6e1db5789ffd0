"""Pods that are scheduled together: PodGroup, the Workload whose templates it follows, and groups of groups.

The API group scheduling.k8s.io at v1beta1 and v1alpha3 (the same shapes but for CompositePodGroup, which only the
latter has). Earlier versions no longer exist on any server that serves these.
"""

from __future__ import annotations

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import Condition, ObjectMeta

#: The condition that the scheduler writes; once True it stays.
INITIALLY_SCHEDULED = "PodGroupInitiallyScheduled"


class Marker(Record, frozen=True):
    """An empty object: that it is there says all."""


class GangPolicy(Record, frozen=True):
    """All or nothing: ``min_count`` pods have to fit at the same time."""

    min_count: int = 0


class PodGroupSchedulingPolicy(Record, frozen=True):
    """Exactly one of the two is set."""

    basic: Marker | None = None
    gang: GangPolicy | None = None


class TopologyConstraint(Record, frozen=True):
    """All pods go to nodes with the same value of the label ``key``."""

    key: str = ""


class PodGroupSchedulingConstraints(Record, frozen=True):
    """``spec.schedulingConstraints``; one constraint at most."""

    topology: tuple[TopologyConstraint, ...] = ()


class DisruptionMode(Record, frozen=True):
    """Whether preemption may evict pods one by one or only all of them; exactly one of the two is set."""

    single: Marker | None = None
    all: Marker | None = None


class PodGroupResourceClaim(Record, frozen=True):
    """``spec.resourceClaims[]``: a claim that the pods share, or a template from which one is made for the group."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class WorkloadReference(Record, frozen=True):
    """``spec.workloadRef``: the template that a group was made from."""

    workload_name: str = ""
    template_name: str = ""


class PodGroupSpec(Record, frozen=True):
    """``spec`` of a PodGroup. ``priority`` is filled in from the class by admission; absent it counts as 0."""

    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None


class PodGroupResourceClaimStatus(Record, frozen=True):
    """``status.resourceClaimStatuses[]``: the claim that was made for an entry; none if it needs none."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(Record, frozen=True):
    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] = ()


class PodGroup(Record, frozen=True):
    """Pods that name it in ``spec.schedulingGroup`` are scheduled together."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def min_count(self) -> int:
        """How many pods have to be placed; one is enough for a group that is no gang."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else 1

    @property
    def evicted_as_one(self) -> bool:
        """Whether preemption evicts all pods or none."""
        return self.spec.disruption_mode is not None and self.spec.disruption_mode.all is not None

    @property
    def topology_key(self) -> str | None:
        """The label whose value the nodes of all pods share."""
        constraints = self.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else None


class PodGroupTemplate(Record, frozen=True):
    """``spec.podGroupTemplates[]`` of a Workload."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None


class ControllerReference(Record, frozen=True):
    """``spec.controllerRef`` of a Workload."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class WorkloadSpec(Record, frozen=True):
    controller_ref: ControllerReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()


class Workload(Record, frozen=True):
    """Templates of groups. The scheduler never reads it; it explains where a PodGroup comes from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class CompositeGangPolicy(Record, frozen=True):
    """``min_group_count`` of its groups have to fit at the same time."""

    min_group_count: int = 0


class CompositeSchedulingPolicy(Record, frozen=True):
    """Exactly one of the two is set."""

    basic: Marker | None = None
    gang: CompositeGangPolicy | None = None


class CompositePodGroupSpec(Record, frozen=True):
    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: CompositeSchedulingPolicy = CompositeSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None


class CompositePodGroupStatus(Record, frozen=True):
    conditions: tuple[Condition, ...] = ()


class CompositePodGroup(Record, frozen=True):
    """A group of PodGroups. It is read and named; what the scheduler makes of it is not worked out."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CompositePodGroupSpec = CompositePodGroupSpec()
    status: CompositePodGroupStatus = CompositePodGroupStatus()
