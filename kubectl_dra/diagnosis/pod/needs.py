"""Which kinds a diagnosis reads: those that decide, and those that only explain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from kubectl_dra.diagnosis.records import RbacRule
from kubectl_dra.model.core import Pod

#: What RBAC grants together to whoever may read a kind.
READING: Final = ("get", "list", "watch")


@dataclass(frozen=True, slots=True)
class Need:
    """A kind, whether it is read in the whole cluster, and whether a verdict depends on it."""

    kind: str
    api_group: str
    resource: str
    cluster_wide: bool = True
    decides: bool = True

    def rule(self, namespace: str = "") -> RbacRule:
        return RbacRule(self.api_group, self.resource, READING, "" if self.cluster_wide else namespace)


_RESOURCE: Final = "resource.k8s.io"

POD: Final[tuple[Need, ...]] = (
    Need("Pod", "", "pods"),
    Need("Node", "", "nodes"),
    Need("ResourceClaim", _RESOURCE, "resourceclaims"),
    Need("DeviceClass", _RESOURCE, "deviceclasses"),
    Need("ResourceSlice", _RESOURCE, "resourceslices"),
    Need("DeviceTaintRule", _RESOURCE, "devicetaintrules"),
    Need("ResourceClaimTemplate", _RESOURCE, "resourceclaimtemplates", cluster_wide=False, decides=False),
    Need("Namespace", "", "namespaces", decides=False),
    Need("ResourceQuota", "", "resourcequotas", cluster_wide=False, decides=False),
    Need("Event", "", "events", cluster_wide=False, decides=False),
)
#: What decides as well about claims of v1alpha2, and of controllers of v1alpha3.
CLASSIC: Final[tuple[Need, ...]] = (
    Need("ResourceClass", _RESOURCE, "resourceclasses"),
    Need("PodSchedulingContext", _RESOURCE, "podschedulingcontexts", cluster_wide=False),
    Need("ResourceClaimParameters", _RESOURCE, "resourceclaimparameters", cluster_wide=False),
    Need("ResourceClassParameters", _RESOURCE, "resourceclassparameters"),
)
#: What decides as well about pods with volumes.
STORAGE: Final[tuple[Need, ...]] = (
    Need("PersistentVolumeClaim", "", "persistentvolumeclaims"),
    Need("PersistentVolume", "", "persistentvolumes"),
    *(Need(kind, "storage.k8s.io", f"{kind.lower()}s") for kind in ("CSINode", "CSIDriver", "VolumeAttachment")),
    Need("StorageClass", "storage.k8s.io", "storageclasses"),
    Need("CSIStorageCapacity", "storage.k8s.io", "csistoragecapacities"),
)
#: What tells who would make room for a pod.
PRIORITY: Final[tuple[Need, ...]] = (
    Need("PriorityClass", "scheduling.k8s.io", "priorityclasses", decides=False),
    Need("PodDisruptionBudget", "policy", "poddisruptionbudgets", decides=False),
)
#: What tells which of the nodes that fit is the best one.
SPREADING: Final[tuple[Need, ...]] = (Need("Service", "", "services", cluster_wide=False, decides=False),)
#: What decides as well about pods that are scheduled together.
GROUPS: Final[tuple[Need, ...]] = (
    Need("PodGroup", "scheduling.k8s.io", "podgroups"),
    Need("CompositePodGroup", "scheduling.k8s.io", "compositepodgroups", cluster_wide=False, decides=False),
    Need("Workload", "scheduling.k8s.io", "workloads", cluster_wide=False, decides=False),
)
#: What makes another pod of one that is created.
LIMITS: Final = Need("LimitRange", "", "limitranges", cluster_wide=False, decides=False)
RUNTIMES: Final = Need("RuntimeClass", "node.k8s.io", "runtimeclasses", decides=False)
#: What makes more or fewer pods of a workload than it says itself.
AUTOSCALERS: Final = Need(
    "HorizontalPodAutoscaler", "autoscaling", "horizontalpodautoscalers", cluster_wide=False, decides=False
)
ADMISSION: Final = (LIMITS, RUNTIMES, AUTOSCALERS)
CLAIM: Final[tuple[Need, ...]] = tuple(
    need for need in POD if need.kind in ("Pod", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "Event")
)
WORKLOAD: Final[tuple[Need, ...]] = (
    Need("Deployment", "apps", "deployments", cluster_wide=False, decides=False),
    Need("ReplicaSet", "apps", "replicasets", cluster_wide=False, decides=False),
    Need("StatefulSet", "apps", "statefulsets", cluster_wide=False, decides=False),
    Need("DaemonSet", "apps", "daemonsets", cluster_wide=False, decides=False),
    Need("ReplicationController", "", "replicationcontrollers", cluster_wide=False, decides=False),
    Need("Job", "batch", "jobs", cluster_wide=False, decides=False),
    Need("CronJob", "batch", "cronjobs", cluster_wide=False, decides=False),
)
#: All that the diagnosis of any pod reads.
PENDING: Final = (*POD, *CLASSIC, *STORAGE, *PRIORITY, *SPREADING, *GROUPS, LIMITS)
BY_KIND: Final[Mapping[str, Need]] = MappingProxyType({need.kind: need for need in (*PENDING, *ADMISSION, *WORKLOAD)})


def kinds(needs: tuple[Need, ...]) -> tuple[str, ...]:
    return tuple(need.kind for need in needs)


def of_creation(pods: Iterable[Pod]) -> tuple[Need, ...]:
    """What makes others of ``pods`` that are created."""
    pods = list(pods)
    runtimes = (RUNTIMES,) if any(pod.spec.runtime_class_name for pod in pods) else ()
    return (LIMITS, *runtimes) if pods else ()


def deciding(names: Iterable[str]) -> tuple[Need, ...]:
    """The needs of kinds on which a verdict turns out to depend."""
    return tuple(replace(BY_KIND[name], decides=True) for name in names if name in BY_KIND)
