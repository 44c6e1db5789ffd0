"""Kueue: what waits in a queue (Workload), where it waits (LocalQueue), and whose quota it needs (ClusterQueue).

The API group kueue.x-k8s.io at v1beta1 and v1beta2, as far as it says why something waits. Kueue decides; these objects
only tell what it has decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import PodResourceClaim, ResourceRequirements, Taint, Toleration
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import Condition, ObjectMeta
from kubectl_dra.model.quantity import Quantity

GROUP: Final = "kueue.x-k8s.io"
#: The label by which Kueue finds the queue of a job or pod.
QUEUE_LABEL: Final = f"{GROUP}/queue-name"
#: The label of a pod that names its set in the Workload.
POD_SET_LABEL: Final = f"{GROUP}/podset"
#: What Kueue puts on pods that it places by topology: the name of their Workload.
WORKLOAD_ANNOTATION: Final = f"{GROUP}/workload"
#: Plurals of the kinds that are read, and whether their objects are in a namespace.
KINDS: Final[Mapping[str, tuple[str, bool]]] = MappingProxyType(
    {
        "Workload": ("workloads", True),
        "LocalQueue": ("localqueues", True),
        "ClusterQueue": ("clusterqueues", False),
        "ResourceFlavor": ("resourceflavors", False),
        "Cohort": ("cohorts", False),
    }
)
#: The kind of which only work that does not exist yet makes anything: what is admitted has it in its pods.
FLAVOR: Final = "ResourceFlavor"
#: Queues that lend each other what they do not use may be in one without an object of its own.
COHORT: Final = "Cohort"
_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})


def qualified(kind: str) -> str:
    """How reads name a kind of Kueue's, of which another group has one too."""
    return f"{kind}.{GROUP}"


class AdmissionCheckState(Record, frozen=True):
    """``status.admissionChecks[]`` of a Workload."""

    name: str = ""
    state: str = ""
    message: str = ""


class PodSetAssignment(Record, frozen=True):
    """``podSetAssignments[]``: by resource the flavor that a set of pods was put on, and what it has of it."""

    name: str = ""
    flavors: Mapping[str, str] = _EMPTY
    resource_usage: Mapping[str, Quantity] = _EMPTY


class Admission(Record, frozen=True):
    """``status.admission`` of a Workload: whose quota it has, and in which flavors."""

    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()


class PodSetContainer(Record, frozen=True):
    """``containers[]`` of the template of a set of pods: what they request."""

    resources: ResourceRequirements = ResourceRequirements()


class PodSetSpec(Record, frozen=True):
    """``spec`` of the template of a set of pods, as its owner wrote it: without what Kueue adds to the pods."""

    node_selector: Mapping[str, str] = _EMPTY
    resource_claims: tuple[PodResourceClaim, ...] = ()
    containers: tuple[PodSetContainer, ...] = ()


class PodSetTemplate(Record, frozen=True):
    spec: PodSetSpec = PodSetSpec()


class PodSet(Record, frozen=True):
    """``spec.podSets[]`` of a Workload: the ``count`` pods that one template makes."""

    name: str = ""
    count: int = 1
    template: PodSetTemplate = PodSetTemplate()


class QueuedWorkloadSpec(Record, frozen=True):
    """``spec`` of a Workload; ``active`` absent is true."""

    queue_name: str = ""
    active: bool | None = None
    pod_sets: tuple[PodSet, ...] = ()


class RequeueState(Record, frozen=True):
    """``requeueState``: how often Kueue has evicted it and queued it again, and when it will do that next."""

    count: int = 0
    requeue_at: str = ""


class QueuedWorkloadStatus(Record, frozen=True):
    """``status`` of a Workload. Conditions: QuotaReserved, Admitted, Evicted, Requeued, Finished.

    Of MultiKueue: the cluster that runs it, and those that it was offered to.
    """

    conditions: tuple[Condition, ...] = ()
    admission: Admission | None = None
    admission_checks: tuple[AdmissionCheckState, ...] = ()
    requeue_state: RequeueState = RequeueState()
    cluster_name: str = ""
    nominated_cluster_names: tuple[str, ...] = ()


class QueuedWorkload(Record, frozen=True):
    """kueue.x-k8s.io Workload: what Kueue made of a job; its owner is the job."""

    metadata: ObjectMeta = ObjectMeta()
    spec: QueuedWorkloadSpec = QueuedWorkloadSpec()
    status: QueuedWorkloadStatus = QueuedWorkloadStatus()


class LocalQueueSpec(Record, frozen=True):
    """``spec`` of a LocalQueue. ``stop_policy``: None, Hold, HoldAndDrain."""

    cluster_queue: str = ""
    stop_policy: str = ""


class QueueStatus(Record, frozen=True):
    """``status`` of a LocalQueue. The condition Active says whether it takes part."""

    conditions: tuple[Condition, ...] = ()
    pending_workloads: int = 0


class LocalQueue(Record, frozen=True):
    """kueue.x-k8s.io LocalQueue: the queue of a namespace that jobs name in their label."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LocalQueueSpec = LocalQueueSpec()
    status: QueueStatus = QueueStatus()


class QuotaOfResource(Record, frozen=True):
    """``resources[]`` of a flavor: what the queue has, may borrow from its cohort and lend to it (absent: any)."""

    name: str = ""
    nominal_quota: Quantity | None = None
    borrowing_limit: Quantity | None = None
    lending_limit: Quantity | None = None


class FlavorQuotas(Record, frozen=True):
    """``flavors[]`` of a resource group."""

    name: str = ""
    resources: tuple[QuotaOfResource, ...] = ()


class ResourceGroup(Record, frozen=True):
    """``spec.resourceGroups[]`` of a ClusterQueue: of each, work gets one flavor for the resources that it covers."""

    covered_resources: tuple[str, ...] = ()
    flavors: tuple[FlavorQuotas, ...] = ()


class BorrowWithinCohort(Record, frozen=True):
    """``borrowWithinCohort``: whether what borrows may end others."""

    policy: str = ""


class QueuePreemption(Record, frozen=True):
    """``spec.preemption`` of a ClusterQueue; each policy is Never where nothing is written."""

    within_cluster_queue: str = ""
    reclaim_within_cohort: str = ""
    borrow_within_cohort: BorrowWithinCohort | None = None


class FlavorFungibility(Record, frozen=True):
    """``flavorFungibility``: whether the next flavor is tried before one borrows, or ends others.

    TryNextFlavor says that it is; by default a flavor that has to borrow is taken, one that has to end others not.
    """

    when_can_borrow: str = ""
    when_can_preempt: str = ""


class ClusterQueueSpec(Record, frozen=True):
    """``spec`` of a ClusterQueue. The cohort is called ``cohort`` in v1beta1, ``cohortName`` in v1beta2."""

    resource_groups: tuple[ResourceGroup, ...] = ()
    cohort: str = ""
    cohort_name: str = ""
    stop_policy: str = ""
    preemption: QueuePreemption | None = None
    flavor_fungibility: FlavorFungibility = FlavorFungibility()


class CohortSpec(Record, frozen=True):
    """``spec`` of a Cohort. What is above it is called ``parent`` in v1alpha1, ``parentName`` later."""

    resource_groups: tuple[ResourceGroup, ...] = ()
    parent: str = ""
    parent_name: str = ""


class Cohort(Record, frozen=True):
    """kueue.x-k8s.io Cohort: quota that the queues in it share, and the cohort above it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CohortSpec = CohortSpec()


class FlavorSpec(Record, frozen=True):
    """``spec`` of a flavor: what pods that get it are given."""

    node_labels: Mapping[str, str] = _EMPTY
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class ResourceFlavor(Record, frozen=True):
    """kueue.x-k8s.io ResourceFlavor: a kind of nodes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: FlavorSpec = FlavorSpec()


class UsageOfResource(Record, frozen=True):
    """``resources[]`` of a flavor's reservation."""

    name: str = ""
    total: Quantity | None = None


class FlavorUsage(Record, frozen=True):
    """``status.flavorsReservation[]``: what workloads have reserved of a flavor."""

    name: str = ""
    resources: tuple[UsageOfResource, ...] = ()


class ClusterQueueStatus(Record, frozen=True):
    """``status`` of a ClusterQueue. The condition Active says whether it admits anything."""

    conditions: tuple[Condition, ...] = ()
    flavors_reservation: tuple[FlavorUsage, ...] = ()
    pending_workloads: int = 0


class ClusterQueue(Record, frozen=True):
    """kueue.x-k8s.io ClusterQueue: the quota that local queues draw from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ClusterQueueSpec = ClusterQueueSpec()
    status: ClusterQueueStatus = ClusterQueueStatus()


@dataclass(frozen=True)
class QueueConfig:
    """Kueue's Configuration. ``known``: it was read.

    ``device_resources``: the resource of a quota by DeviceClass; ``metered``: the classes of which it counts something
    else than devices. ``only_declared``: of resources that a ClusterQueue does not cover anything may be requested,
    as of those with ``excluded`` prefixes anywhere. ``transformed``: resources that it counts as others.
    """

    known: bool = False
    device_resources: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    metered: frozenset[str] = frozenset()
    only_declared: bool = False
    excluded: tuple[str, ...] = ()
    transformed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class QueueObjects:
    """What is known of Kueue. ``complete``: the kinds of which all objects are here; ``refused``: those not permitted.

    Kinds in neither were not read. ``failed``: those ``refused`` that are permitted, and that the server failed to
    give. ``absent``: the cluster does not have Kueue.
    """

    workloads: Mapping[Key, QueuedWorkload]
    local_queues: Mapping[Key, LocalQueue]
    cluster_queues: Mapping[str, ClusterQueue]
    complete: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    absent: bool = False
    failed: frozenset[str] = frozenset()
    config: QueueConfig = QueueConfig()
    flavors: Mapping[str, ResourceFlavor] = field(default_factory=lambda: _EMPTY)
    cohorts: Mapping[str, Cohort] = field(default_factory=lambda: _EMPTY)

    @cached_property
    def workloads_by_owner(self) -> Mapping[tuple[str, str, str], Sequence[QueuedWorkload]]:
        """Workloads by the namespace, kind and name of what they are for: thousands of pods may wait in queues."""
        found: dict[tuple[str, str, str], list[QueuedWorkload]] = {}
        for key, work in self.workloads.items():
            for owner in {(each.kind, each.name) for each in work.metadata.owner_references}:
                found.setdefault((key.namespace, *owner), []).append(work)
        return found


NO_QUEUES: Final = QueueObjects(_EMPTY, _EMPTY, _EMPTY)
