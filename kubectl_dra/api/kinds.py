"""The kinds that we know: group, served versions, the names users type, scope, and the record each decodes into.

Which generation decodes what lives in ``generations``; reading TYPE/NAME arguments lives in ``commands``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from kubectl_dra.model.admission import HorizontalPodAutoscaler, LimitRange, RuntimeClass
from kubectl_dra.model.base import Record
from kubectl_dra.model.classic import (
    PodSchedulingContext,
    ResourceClaimParameters,
    ResourceClass,
    ResourceClassParameters,
)
from kubectl_dra.model.core import Event, Node, Pod, ResourceQuota, Service
from kubectl_dra.model.meta import LocalObject
from kubectl_dra.model.policy import PodDisruptionBudget, PriorityClass
from kubectl_dra.model.poolstatus import ResourcePoolStatusRequest
from kubectl_dra.model.resource import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubectl_dra.model.scheduling import CompositePodGroup, PodGroup, Workload
from kubectl_dra.model.storage import (
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from kubectl_dra.model.workloads import WorkloadObject

RESOURCE_GROUP: Final = "resource.k8s.io"
PROTOTYPE_GROUP: Final = "devmgmtproto.k8s.io"


class Kind(msgspec.Struct, frozen=True):
    """One kind of the API. ``versions`` are all that servers ever served, best first.

    ``workload`` marks kinds that own pods, directly or through another workload.
    """

    name: str
    group: str
    versions: tuple[str, ...]
    plural: str
    singular: str
    short_names: tuple[str, ...]
    namespaced: bool
    record: type[Record]
    workload: bool = False

    @property
    def api_version(self) -> str:
        """``group/version`` of the best version; the core group has no prefix."""
        return self.api_version_of(self.versions[0])

    @property
    def resource(self) -> str:
        """``plural.group`` as kubectl and RBAC rules write it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def api_version_of(self, version: str) -> str:
        """``group/version`` of one version."""
        return f"{self.group}/{version}" if self.group else version


def _resource(
    name: str, plural: str, record: type[Record], versions: str, *, namespaced: bool, short: tuple[str, ...] = ()
) -> Kind:
    return Kind(name, RESOURCE_GROUP, tuple(versions.split()), plural, name.lower(), short, namespaced, record)


def _core(name: str, plural: str, record: type[Record], *short: str, namespaced: bool = True) -> Kind:
    return Kind(name, "", ("v1",), plural, name.lower(), short, namespaced, record)


def _workload(name: str, group: str, versions: str, *short: str) -> Kind:
    plural, singular = f"{name.lower()}s", name.lower()
    return Kind(name, group, tuple(versions.split()), plural, singular, short, True, WorkloadObject, workload=True)


def _storage(name: str, plural: str, record: type[Record], *short: str, namespaced: bool = False) -> Kind:
    return Kind(name, "storage.k8s.io", ("v1",), plural, name.lower(), short, namespaced, record)


def _scheduling(name: str, plural: str, record: type[Record], versions: str) -> Kind:
    return Kind(name, "scheduling.k8s.io", tuple(versions.split()), plural, name.lower(), (), True, record)


_ALL_GENERATIONS: Final = "v1 v1beta2 v1beta1 v1alpha3 v1alpha2"

DEVICE_CLASS: Final = _resource(
    "DeviceClass", "deviceclasses", DeviceClass, "v1 v1beta2 v1beta1 v1alpha3", namespaced=False
)
RESOURCE_CLAIM: Final = _resource(
    "ResourceClaim", "resourceclaims", ResourceClaim, _ALL_GENERATIONS, namespaced=True, short=("claim", "claims")
)
RESOURCE_CLAIM_TEMPLATE: Final = _resource(
    "ResourceClaimTemplate", "resourceclaimtemplates", ResourceClaimTemplate, _ALL_GENERATIONS, namespaced=True
)
RESOURCE_SLICE: Final = _resource("ResourceSlice", "resourceslices", ResourceSlice, _ALL_GENERATIONS, namespaced=False)
DEVICE_TAINT_RULE: Final = _resource(
    "DeviceTaintRule", "devicetaintrules", DeviceTaintRule, "v1 v1beta2 v1alpha3", namespaced=False
)
POOL_STATUS_REQUEST: Final = _resource(
    "ResourcePoolStatusRequest",
    "resourcepoolstatusrequests",
    ResourcePoolStatusRequest,
    "v1alpha3",
    namespaced=False,
)
RESOURCE_CLASS: Final = _resource("ResourceClass", "resourceclasses", ResourceClass, "v1alpha2", namespaced=False)
POD_SCHEDULING_CONTEXT: Final = _resource(
    "PodSchedulingContext", "podschedulingcontexts", PodSchedulingContext, "v1alpha3 v1alpha2", namespaced=True
)
CLAIM_PARAMETERS: Final = _resource(
    "ResourceClaimParameters", "resourceclaimparameters", ResourceClaimParameters, "v1alpha2", namespaced=True
)
CLASS_PARAMETERS: Final = _resource(
    "ResourceClassParameters", "resourceclassparameters", ResourceClassParameters, "v1alpha2", namespaced=True
)
NODE: Final = _core("Node", "nodes", Node, "no", namespaced=False)
NAMESPACE: Final = _core("Namespace", "namespaces", LocalObject, "ns", namespaced=False)
POD: Final = _core("Pod", "pods", Pod, "po")
EVENT: Final = _core("Event", "events", Event, "ev")
RESOURCE_QUOTA: Final = _core("ResourceQuota", "resourcequotas", ResourceQuota, "quota")
PERSISTENT_VOLUME: Final = _core("PersistentVolume", "persistentvolumes", PersistentVolume, "pv", namespaced=False)
PERSISTENT_VOLUME_CLAIM: Final = _core("PersistentVolumeClaim", "persistentvolumeclaims", PersistentVolumeClaim, "pvc")
STORAGE_CLASS: Final = _storage("StorageClass", "storageclasses", StorageClass, "sc")
CSI_NODE: Final = _storage("CSINode", "csinodes", CsiNode)
CSI_DRIVER: Final = _storage("CSIDriver", "csidrivers", CsiDriver)
CSI_STORAGE_CAPACITY: Final = _storage(
    "CSIStorageCapacity", "csistoragecapacities", CsiStorageCapacity, namespaced=True
)
VOLUME_ATTACHMENT: Final = _storage("VolumeAttachment", "volumeattachments", VolumeAttachment)
#: What the scheduler's plugins of volumes read besides pods and nodes.
STORAGE: Final = (
    PERSISTENT_VOLUME_CLAIM,
    PERSISTENT_VOLUME,
    STORAGE_CLASS,
    CSI_NODE,
    CSI_DRIVER,
    CSI_STORAGE_CAPACITY,
    VOLUME_ATTACHMENT,
)
PRIORITY_CLASS: Final = Kind(
    "PriorityClass",
    "scheduling.k8s.io",
    ("v1",),
    "priorityclasses",
    "priorityclass",
    ("pc",),
    False,
    PriorityClass,
)
POD_GROUP: Final = _scheduling("PodGroup", "podgroups", PodGroup, "v1beta1 v1alpha3")
WORKLOAD: Final = _scheduling("Workload", "workloads", Workload, "v1beta1 v1alpha3 v1alpha1")
COMPOSITE_POD_GROUP: Final = _scheduling("CompositePodGroup", "compositepodgroups", CompositePodGroup, "v1alpha3")
#: Pods that are scheduled together.
GROUPS: Final = (POD_GROUP, WORKLOAD, COMPOSITE_POD_GROUP)
DISRUPTION_BUDGET: Final = Kind(
    "PodDisruptionBudget",
    "policy",
    ("v1",),
    "poddisruptionbudgets",
    "poddisruptionbudget",
    ("pdb",),
    True,
    PodDisruptionBudget,
)
#: Whose pods the scheduler spreads where they say nothing about it.
SERVICE: Final = _core("Service", "services", Service, "svc")
LIMIT_RANGE: Final = _core("LimitRange", "limitranges", LimitRange, "limits")
RUNTIME_CLASS: Final = Kind(
    "RuntimeClass", "node.k8s.io", ("v1",), "runtimeclasses", "runtimeclass", (), False, RuntimeClass
)
AUTOSCALER: Final = Kind(
    "HorizontalPodAutoscaler",
    "autoscaling",
    ("v2", "v1"),
    "horizontalpodautoscalers",
    "horizontalpodautoscaler",
    ("hpa",),
    True,
    HorizontalPodAutoscaler,
)
#: What makes another pod of a new one, or more of them.
ADMISSION: Final = (LIMIT_RANGE, RUNTIME_CLASS, AUTOSCALER)
WORKLOADS: Final = (
    _workload("Deployment", "apps", "v1", "deploy"),
    _workload("ReplicaSet", "apps", "v1", "rs"),
    _workload("StatefulSet", "apps", "v1", "sts"),
    _workload("DaemonSet", "apps", "v1", "ds"),
    _workload("Job", "batch", "v1"),
    _workload("CronJob", "batch", "v1", "cj"),
    _workload("ReplicationController", "", "v1", "rc"),
)

KINDS: Final = (
    POD,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    POOL_STATUS_REQUEST,
    RESOURCE_CLASS,
    POD_SCHEDULING_CONTEXT,
    CLAIM_PARAMETERS,
    CLASS_PARAMETERS,
    NODE,
    NAMESPACE,
    EVENT,
    RESOURCE_QUOTA,
    *STORAGE,
    PRIORITY_CLASS,
    DISRUPTION_BUDGET,
    SERVICE,
    *GROUPS,
    *ADMISSION,
    *WORKLOADS,
)

BY_NAME: Final[Mapping[str, Kind]] = MappingProxyType({kind.name: kind for kind in KINDS})
# Events are served by two groups with the same objects behind them; the prototype's objects become v1 records.
_OTHER_GROUPS: Final[Mapping[tuple[str, str], Kind]] = MappingProxyType(
    {
        ("events.k8s.io", "Event"): EVENT,
        (PROTOTYPE_GROUP, "DeviceClass"): DEVICE_CLASS,
        (PROTOTYPE_GROUP, "DeviceClaim"): RESOURCE_CLAIM,
        (PROTOTYPE_GROUP, "DevicePool"): RESOURCE_SLICE,
    }
)


def _words_of(kinds: Sequence[Kind]) -> dict[str, Kind]:
    return {word: kind for kind in kinds for word in (kind.plural, kind.singular, *kind.short_names)}


_BY_WORD: Final[Mapping[str, Kind]] = MappingProxyType(_words_of(KINDS))


def find_kind(api_version: str, name: str) -> Kind | None:
    """The kind of an object by its ``apiVersion`` and ``kind``, in any version; None if it is none of ours."""
    group = api_version.rpartition("/")[0]
    kind = BY_NAME.get(name)
    return kind if kind is not None and group == kind.group else _OTHER_GROUPS.get((group, name))


def kind_for_word(word: str, more: Sequence[Kind] = ()) -> Kind | None:
    """The kind that a user's word names: singular, plural or short name, any case, also as ``plural.group``.

    ``more``: other kinds that it may name.
    """
    lowered = word.lower()
    known = {**_words_of(more), **_BY_WORD} if more else _BY_WORD
    found = known.get(lowered)
    if found is not None:
        return found
    plural, dot, rest = lowered.partition(".")
    kind = known.get(plural) if dot else None
    if kind is None or not kind.group:
        return None
    versioned = {f"{version}.{kind.group}" for version in kind.versions}
    return kind if rest == kind.group or rest in versioned else None
