"""Which fields hold something else than names: the only ones of which anything may stay.

A string of a field that is not listed here is a name, whatever kind of object it stands in, so a new field or kind is
closed until a line here opens it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from functools import cache
from typing import Final

import msgspec

from kubectl_dra.api import v1alpha2, v1alpha3, v1beta1
from kubectl_dra.model import (
    admission,
    affinity,
    classic,
    core,
    gang_objects,
    meta,
    policy,
    poolstatus,
    queues,
    resource,
    scheduling,
    storage,
    volumes,
    workloads,
)


class Holds(Enum):
    """What a string is (of a list: each of its strings; of a map: each key, or key and value together)."""

    NAME = auto()
    WORD = auto()  # the API's own word, or else a name
    TIME = auto()
    REVISION = auto()  # a resource version, which grows through the whole cluster
    SENTENCE = auto()
    EXPRESSION = auto()
    DERIVED = auto()  # an expression that gives a value
    NAMED_RESOURCES = auto()  # an expression of v1alpha2
    VERSION = auto()
    IMAGE = auto()
    DISK = auto()  # the name of a disk, of which those of EBS have a form that the scheduler reads
    RESOURCE = auto()
    ATTRIBUTE = auto()  # the qualified name of an attribute or capacity
    LABEL_KEY = auto()
    LABEL_VALUE = auto()  # beside its ``key``
    LABELS = auto()
    ANNOTATIONS = auto()
    TIMES = auto()  # times by name
    HEALTH_OF = auto()  # claim:ENTRY/REQUEST, or a resource
    WILDCARD_ADDRESS = auto()  # an address, or the one for all
    PERCENTAGE = auto()  # of what may as well be a number


_Fields = Mapping[str, Holds]
_TOLERATION: Final[_Fields] = {
    "key": Holds.LABEL_KEY,
    "operator": Holds.WORD,
    "value": Holds.LABEL_VALUE,
    "effect": Holds.WORD,
    "timeAdded": Holds.TIME,
}
_REQUIREMENT: Final[_Fields] = {"key": Holds.LABEL_KEY, "operator": Holds.WORD, "values": Holds.LABEL_VALUE}
_OBJECT: Final[_Fields] = {"apiVersion": Holds.WORD, "kind": Holds.WORD, "apiGroup": Holds.WORD, "resource": Holds.WORD}
_REQUEST: Final[_Fields] = {"allocationMode": Holds.WORD}
_SLICE: Final[_Fields] = {"partitionTypeAttribute": Holds.ATTRIBUTE, "skipNodeOperations": Holds.WORD}
_DEVICE: Final[_Fields] = {
    "attributes": Holds.ATTRIBUTE,
    "capacity": Holds.ATTRIBUTE,
    "bindingConditions": Holds.WORD,
    "bindingFailureConditions": Holds.WORD,
}
_GROUP: Final[_Fields] = {"preemptionPolicy": Holds.WORD}
_COUNTERS: Final[_Fields] = {"counters": Holds.ATTRIBUTE}
_AMOUNTS: Final[_Fields] = dict.fromkeys(
    ("requests", "limits", "capacity", "allocatable", "allocatedResources", "overhead"), Holds.RESOURCE
)

FIELDS: Final[Mapping[type[msgspec.Struct], _Fields]] = {
    meta.ObjectMeta: {
        "resourceVersion": Holds.REVISION,
        "creationTimestamp": Holds.TIME,
        "deletionTimestamp": Holds.TIME,
        "labels": Holds.LABELS,
        "annotations": Holds.ANNOTATIONS,
        "finalizers": Holds.WORD,
    },
    meta.OwnerReference: _OBJECT,
    meta.LocalObject: _OBJECT,
    meta.Condition: {
        "type": Holds.WORD,
        "status": Holds.WORD,
        "reason": Holds.WORD,
        "message": Holds.SENTENCE,
        "lastTransitionTime": Holds.TIME,
    },
    meta.NodeSelectorRequirement: _REQUIREMENT,
    meta.LabelSelector: {"matchLabels": Holds.LABELS},
    workloads.MakerSpec: {"managedBy": Holds.WORD},
    workloads.UpdateStrategy: {"type": Holds.WORD},
    workloads.RollingUpdate: {"maxSurge": Holds.PERCENTAGE, "maxUnavailable": Holds.PERCENTAGE},
    # --- pods, nodes, events, quotas
    core.Taint: _TOLERATION,
    core.Toleration: _TOLERATION,
    core.NodeStatus: {**_AMOUNTS, "declaredFeatures": Holds.WORD},
    core.ContainerImage: {"names": Holds.IMAGE},
    core.ResourceRequirements: _AMOUNTS,
    core.ContainerPort: {"hostIP": Holds.WILDCARD_ADDRESS, "protocol": Holds.WORD},
    core.RestartPolicyRule: {"action": Holds.WORD},
    core.Container: {"image": Holds.IMAGE, "restartPolicy": Holds.WORD},
    core.PodSpec: {
        **_AMOUNTS,
        "schedulerName": Holds.WORD,
        "nodeSelector": Holds.LABELS,
        "preemptionPolicy": Holds.WORD,
    },
    core.ExtendedResourceMapping: {"resourceName": Holds.RESOURCE},
    core.ResourceHealth: {"health": Holds.WORD, "message": Holds.SENTENCE},
    core.ResourceStatus: {"name": Holds.HEALTH_OF},
    core.ContainerStateRunning: {"startedAt": Holds.TIME},
    core.ContainerStateWaiting: {"reason": Holds.WORD, "message": Holds.SENTENCE},
    core.ContainerStateTerminated: {"reason": Holds.WORD, "message": Holds.SENTENCE},
    core.ContainerStatus: _AMOUNTS,
    core.PodStatus: {
        **_AMOUNTS,
        "phase": Holds.WORD,
        "reason": Holds.WORD,
        "message": Holds.SENTENCE,
        "startTime": Holds.TIME,
    },
    core.ObjectReference: _OBJECT,
    core.NodeSystemInfo: {"kubeletVersion": Holds.WORD},
    core.EventSource: {"component": Holds.WORD},
    core.EventSeries: {"lastObservedTime": Holds.TIME},
    core.Event: {
        "type": Holds.WORD,
        "reason": Holds.WORD,
        "message": Holds.SENTENCE,
        "note": Holds.SENTENCE,
        "firstTimestamp": Holds.TIME,
        "lastTimestamp": Holds.TIME,
        "eventTime": Holds.TIME,
        "reportingComponent": Holds.WORD,
    },
    core.QuotaScope: {"scopeName": Holds.WORD, "operator": Holds.WORD},
    core.ResourceQuotaSpec: {"hard": Holds.RESOURCE, "scopes": Holds.WORD},
    core.ResourceQuotaStatus: {"hard": Holds.RESOURCE, "used": Holds.RESOURCE},
    # --- pods that are scheduled together
    scheduling.PodGroupSpec: _GROUP,
    scheduling.CompositePodGroupSpec: _GROUP,
    scheduling.PodGroupTemplate: _GROUP,
    scheduling.ControllerReference: _OBJECT,
    scheduling.TopologyConstraint: {"key": Holds.LABEL_KEY},
    # --- other pods, priorities, budgets
    affinity.PodAffinityTerm: {
        "topologyKey": Holds.LABEL_KEY,
        "matchLabelKeys": Holds.LABEL_KEY,
        "mismatchLabelKeys": Holds.LABEL_KEY,
    },
    affinity.TopologySpreadConstraint: {
        "topologyKey": Holds.LABEL_KEY,
        "matchLabelKeys": Holds.LABEL_KEY,
        "whenUnsatisfiable": Holds.WORD,
        "nodeAffinityPolicy": Holds.WORD,
        "nodeTaintsPolicy": Holds.WORD,
    },
    policy.PriorityClass: {"preemptionPolicy": Holds.WORD},
    policy.DisruptionBudgetStatus: {"disruptedPods": Holds.TIMES},
    admission.LimitRangeItem: {
        "type": Holds.WORD,
        **dict.fromkeys(("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"), Holds.RESOURCE),
    },
    admission.RuntimeOverhead: {"podFixed": Holds.RESOURCE},
    admission.RuntimeScheduling: {"nodeSelector": Holds.LABELS},
    admission.ScaleTarget: _OBJECT,
    core.ServiceSpec: {"selector": Holds.LABELS},
    # --- volumes
    volumes.ImageVolume: {"reference": Holds.IMAGE},
    volumes.AwsElasticBlockStore: {"volumeID": Holds.DISK},
    volumes.AzureDisk: {"kind": Holds.WORD},
    volumes.PersistentVolumeClaimSpec: {"accessModes": Holds.WORD, "volumeMode": Holds.WORD},
    volumes.VolumeResources: _AMOUNTS,
    storage.PersistentVolumeClaimStatus: {"phase": Holds.WORD},
    storage.PersistentVolumeSpec: {**_AMOUNTS, "accessModes": Holds.WORD, "volumeMode": Holds.WORD},
    storage.CsiVolume: {"volumeHandle": Holds.DISK},
    storage.PersistentVolumeStatus: {"phase": Holds.WORD},
    storage.StorageClass: {"provisioner": Holds.WORD, "volumeBindingMode": Holds.WORD},
    storage.TopologyRequirement: _REQUIREMENT,
    # --- devices
    resource.DeviceAttribute: {"version": Holds.VERSION, "versions": Holds.VERSION},
    resource.CounterSet: _COUNTERS,
    resource.CounterConsumption: _COUNTERS,
    resource.DeviceTaint: _TOLERATION,
    resource.DeviceToleration: _TOLERATION,
    resource.Device: _DEVICE,
    resource.ResourceSliceSpec: _SLICE,
    resource.CELSelector: {"expression": Holds.EXPRESSION},
    resource.DeviceClassSpec: {"extendedResourceName": Holds.RESOURCE},
    resource.CapacityRequirements: {"requests": Holds.ATTRIBUTE},
    resource.DerivedAttribute: {"name": Holds.ATTRIBUTE, "expression": Holds.DERIVED},
    resource.ExactDeviceRequest: _REQUEST,
    resource.DeviceSubRequest: _REQUEST,
    resource.DeviceConstraint: {"matchAttribute": Holds.ATTRIBUTE, "distinctAttribute": Holds.ATTRIBUTE},
    resource.DeviceRequestAllocationResult: {
        "bindingConditions": Holds.WORD,
        "bindingFailureConditions": Holds.WORD,
        "consumedCapacity": Holds.ATTRIBUTE,
        "skipNodeOperations": Holds.WORD,
    },
    resource.DeviceAllocationConfiguration: {"source": Holds.WORD},
    resource.AllocationResult: {"allocationTimestamp": Holds.TIME},
    resource.ConsumerReference: _OBJECT,
    poolstatus.ResourcePoolStatusRequestSpec: {"defaultPartitionTypeAttribute": Holds.ATTRIBUTE},
    poolstatus.PoolStatus: {"validationError": Holds.SENTENCE},
    poolstatus.PartitionTypeStatus: {"attribute": Holds.ATTRIBUTE},
    poolstatus.ShareableCapacityStatus: {"name": Holds.ATTRIBUTE},
    # --- queues of Kueue
    queues.AdmissionCheckState: {"state": Holds.WORD, "message": Holds.SENTENCE},
    queues.LocalQueueSpec: {"stopPolicy": Holds.WORD},
    queues.ClusterQueueSpec: {"stopPolicy": Holds.WORD},
    queues.QueuePreemption: {"withinClusterQueue": Holds.WORD, "reclaimWithinCohort": Holds.WORD},
    queues.BorrowWithinCohort: {"policy": Holds.WORD},
    queues.FlavorSpec: {"nodeLabels": Holds.LABELS},
    queues.ResourceGroup: {"coveredResources": Holds.RESOURCE},
    queues.QuotaOfResource: {"name": Holds.RESOURCE},
    queues.UsageOfResource: {"name": Holds.RESOURCE},
    # --- gangs of other schedulers
    gang_objects.OtherGroupStatus: {"phase": Holds.WORD},
    gang_objects.OtherQueueStatus: {"state": Holds.WORD},
    # --- older generations
    v1beta1.FlatRequest: _REQUEST,
    v1beta1.SliceSpec: _SLICE,
    v1alpha3.AmountDevice: _DEVICE,
    v1alpha2.ClaimSpec: _REQUEST,
    classic.ParametersReference: _OBJECT,
    classic.NamedAttribute: {"name": Holds.ATTRIBUTE, "version": Holds.VERSION},
    classic.NamedSelector: {"selector": Holds.NAMED_RESOURCES},
}


@cache
def holds(struct: type[msgspec.Struct], field: str) -> Holds:
    """What the strings of a field are; those of a subclass are those of its base."""
    for base in struct.__mro__:
        found = FIELDS.get(base, {}).get(field)
        if found is not None:
            return found
    return Holds.NAME
