"""Feature gates that change what the scheduler decides, with their defaults per Kubernetes minor version.

Upstream: pkg/features/kube_features.go (versioned defaults and dependencies).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

Implementation = Literal["stable", "incubating", "experimental"]

#: The schedulers that are reproduced. Of classic DRA before 1.30 there is nothing but objects, which are read.
OLDEST_MINOR: Final = 30
NEWEST_MINOR: Final = 37
_FIRST_COLUMN: Final = 32
#: The only version with scheduling.k8s.io/v1alpha1, and with ``spec.workloadRef`` of pods.
WORKLOAD_REF_MINOR: Final = 35

# gate -> defaults of 1.32 … 1.37; "G" on and stable, "b"/"a" beta/alpha with 0 off and 1 on, "-" unknown, "*" locked.
_DEFAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "DynamicResourceAllocation": ("b0", "b0", "G1", "G1*", "G1*", "G1*"),
    "DRAAdminAccess": ("a0", "a0", "b1", "b1", "G1*", "G1*"),
    "DRAResourceClaimDeviceStatus": ("a0", "b1", "b1", "b1", "b1", "G1*"),
    "DRAPrioritizedList": ("-", "a0", "b1", "b1", "G1", "G1*"),
    "DRAPartitionableDevices": ("-", "a0", "a0", "a0", "b1", "b1"),
    "DRADeviceTaints": ("-", "a0", "a0", "a0", "b1", "G1"),
    "DRADeviceTaintRules": ("-", "a0", "a0", "a0", "b0", "G1"),
    "DRAConsumableCapacity": ("-", "-", "a0", "a0", "b1", "b1"),
    "DRADeviceBindingConditions": ("-", "-", "a0", "a0", "b1", "b1"),
    "DRAExtendedResource": ("-", "-", "a0", "a0", "b1", "G1*"),
    "DRASchedulerFilterTimeout": ("-", "-", "b1", "b1", "b1", "b1"),
    "DRAListTypeAttributes": ("-", "-", "-", "-", "a0", "a0"),
    "DRANodeAllocatableResources": ("-", "-", "-", "-", "a0", "a0"),
    "DRAWorkloadResourceClaims": ("-", "-", "-", "-", "a0", "b0"),
    "DRAFractionalCapacityRange": ("-", "-", "-", "-", "-", "b0"),
    "DRADerivedAttributes": ("-", "-", "-", "-", "-", "a0"),
    "DRADeviceCompatibilityGroups": ("-", "-", "-", "-", "-", "a0"),
    "DRAOptionalNodeOperations": ("-", "-", "-", "-", "-", "a0"),
    "DRAPartitionableDevicesType": ("-", "-", "-", "-", "-", "a0"),
    "DRAResourcePoolStatus": ("-", "-", "-", "-", "a0", "a0"),
    "DRAResourceClaimGranularStatusAuthorization": ("-", "-", "-", "-", "b1", "b1"),
    "SchedulerPreQueueingHints": ("-", "-", "-", "-", "-", "a0"),
    "GenericWorkload": ("-", "-", "-", "a0", "a0", "b0"),
    "GangScheduling": ("-", "-", "-", "a0", "a0", "-"),
    "TopologyAwareWorkloadScheduling": ("-", "-", "-", "-", "a0", "a0"),
    "CompositePodGroup": ("-", "-", "-", "-", "-", "a0"),
    "PodGroupPreemptionPolicy": ("-", "-", "-", "-", "-", "a0"),
    "WorkloadWithJob": ("-", "-", "-", "-", "a0", "a0"),
    "ResourceHealthStatus": ("a0", "a0", "a0", "a0", "b1", "b1"),
    "NodeDeclaredFeatures": ("-", "-", "-", "a0", "b1", "G1*"),
    "InPlacePodVerticalScalingSchedulerPreemption": ("-", "-", "-", "-", "-", "a0"),
    "StorageCapacityScoring": ("-", "a0", "a0", "a0", "a0", "b1"),
    "TaintTolerationComparisonOperators": ("-", "-", "-", "a0", "a0", "a0"),
    "VolumeLimitScaling": ("-", "-", "-", "a0", "a0", "b1"),
}

_NEEDS: Final[Mapping[str, str]] = {
    "DRAAdminAccess": "DynamicResourceAllocation",
    "DRAPrioritizedList": "DynamicResourceAllocation",
    "DRAPartitionableDevices": "DynamicResourceAllocation",
    "DRADeviceTaints": "DynamicResourceAllocation",
    "DRADeviceTaintRules": "DRADeviceTaints",
    "DRAConsumableCapacity": "DynamicResourceAllocation",
    "DRADeviceBindingConditions": "DRAResourceClaimDeviceStatus",
    "DRAExtendedResource": "DynamicResourceAllocation",
    "DRAListTypeAttributes": "DynamicResourceAllocation",
    "DRANodeAllocatableResources": "DynamicResourceAllocation",
    "DRAWorkloadResourceClaims": "GenericWorkload",
    "GangScheduling": "GenericWorkload",
    "TopologyAwareWorkloadScheduling": "GenericWorkload",
    "CompositePodGroup": "TopologyAwareWorkloadScheduling",
    "PodGroupPreemptionPolicy": "GenericWorkload",
    "WorkloadWithJob": "GenericWorkload",
    "DRAFractionalCapacityRange": "DRAConsumableCapacity",
    "DRADerivedAttributes": "DynamicResourceAllocation",
    "DRADeviceCompatibilityGroups": "DRAPartitionableDevices",
    "DRAOptionalNodeOperations": "DynamicResourceAllocation",
}

# Only 1.31 has it, alpha and off; a server with it off drops the field that it is about, so what is read tells more.
CONTROLLER_GATE: Final = "DRAControlPlaneController"
_CONTROLLER_MINOR: Final = 31

# The gates that switch a whole stage, and its letter in the table.
_ALL: Final[Mapping[str, str]] = {"AllAlpha": "a", "AllBeta": "b"}


class FeatureError(ValueError):
    """Raised for an unknown gate or a gate that can't have the value asked for at this version."""


class Features(msgspec.Struct, frozen=True):
    """What is switched on in the scheduler; the field names are the allocator's own feature names."""

    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    device_taint_rules: bool = True
    consumable_capacity: bool = True
    device_binding_and_status: bool = True
    extended_resource: bool = True
    filter_timeout: bool = True
    fractional_capacity_range: bool = False
    list_type_attributes: bool = False
    derived_attributes: bool = False
    compatibility_groups: bool = False
    optional_node_operations: bool = False
    workload_resource_claims: bool = False
    node_allocatable_resources: bool = False
    declared_node_features: bool = True
    deferred_pod_scheduling: bool = False
    storage_capacity_scoring: bool = True
    toleration_comparison: bool = False
    volume_limit_scaling: bool = True
    generic_workload: bool = False
    gang_scheduling: bool = False
    topology_aware_workloads: bool = False
    composite_pod_groups: bool = False
    pod_group_preemption_policy: bool = False
    control_plane_controller: bool = True
    minor: int = NEWEST_MINOR

    @property
    def implementation(self) -> Implementation:
        """The allocator variant that runs: the first whose supported set covers what is enabled."""
        if self.list_type_attributes or self.optional_node_operations or self.derived_attributes:
            return "experimental"
        if self.compatibility_groups:
            return "experimental"
        # Up to 1.33 there was only the first implementation, and later "stable" covers the same features.
        if self.device_binding_and_status or self.consumable_capacity or self.fractional_capacity_range:
            return "incubating"
        return "stable"

    @property
    def shows_sharing(self) -> bool:
        """Whether selectors see that a device may be shared: the first implementation does not tell CEL."""
        return self.implementation != "stable"

    @property
    def deterministic(self) -> bool:
        """Whether the real search order is fixed; before 1.36, and in "stable", it was random."""
        return self.minor >= 36 and self.implementation != "stable"

    @property
    def judges_whole_pools(self) -> bool:
        """Whether a pool is judged by all its slices, and avoided if incomplete; until 1.34 by those for the node."""
        return self.minor >= 35

    @property
    def looks_at_pools_first(self) -> bool:
        """Whether an invalid pool ends the attempt before its devices are looked at: 1.33 and 1.34."""
        return self.minor >= 33

    @property
    def all_means_one_at_least(self) -> bool:
        """Whether a request for all devices fails where there is none; until 1.32 it got nothing."""
        return self.minor >= 33

    @property
    def limits_each_request(self) -> bool:
        """Whether the limit of a claim's devices is checked request by request; until 1.36 once per claim."""
        return self.minor >= 37

    @property
    def names_untolerated_taint(self) -> bool:
        """Whether the scheduler names the taint that keeps a pod from a node; until 1.33 it did."""
        return self.minor <= 33

    @property
    def counts_preselection(self) -> bool:
        """Whether nodes that a PreFilter result leaves out have a reason of their own; since 1.32 they have."""
        return self.minor >= 32

    @property
    def node_name_narrows(self) -> bool:
        """Whether a pod that names its node is not tried on others; until 1.36 each of them rejected it."""
        return self.minor >= 37

    @property
    def nominates_what_is_being_bound(self) -> bool:
        """Whether a pod on its way to a node is nominated for it (NominatedNodeNameForExpectation)."""
        return self.minor >= 35

    @property
    def tells_idle_post_filter(self) -> bool:
        """Whether the plugin says so, too, where its PostFilter changed nothing; until 1.36 it did."""
        return self.minor <= 36


_FIELD_BY_GATE: Final[Mapping[str, str]] = {
    "DRAAdminAccess": "admin_access",
    "DRAPrioritizedList": "prioritized_list",
    "DRAPartitionableDevices": "partitionable_devices",
    "DRADeviceTaints": "device_taints",
    "DRADeviceTaintRules": "device_taint_rules",
    "DRAConsumableCapacity": "consumable_capacity",
    "DRAExtendedResource": "extended_resource",
    "DRASchedulerFilterTimeout": "filter_timeout",
    "DRAFractionalCapacityRange": "fractional_capacity_range",
    "DRAListTypeAttributes": "list_type_attributes",
    "DRADerivedAttributes": "derived_attributes",
    "DRADeviceCompatibilityGroups": "compatibility_groups",
    "DRAOptionalNodeOperations": "optional_node_operations",
    "DRAWorkloadResourceClaims": "workload_resource_claims",
    "DRANodeAllocatableResources": "node_allocatable_resources",
    "GenericWorkload": "generic_workload",
    "GangScheduling": "gang_scheduling",
    "TopologyAwareWorkloadScheduling": "topology_aware_workloads",
    "CompositePodGroup": "composite_pod_groups",
    "PodGroupPreemptionPolicy": "pod_group_preemption_policy",
    "InPlacePodVerticalScalingSchedulerPreemption": "deferred_pod_scheduling",
    "NodeDeclaredFeatures": "declared_node_features",
    "StorageCapacityScoring": "storage_capacity_scoring",
    "TaintTolerationComparisonOperators": "toleration_comparison",
    "VolumeLimitScaling": "volume_limit_scaling",
}


def gate_defaults(minor: int) -> dict[str, bool]:
    """Gate -> default at Kubernetes 1.``minor``; versions outside the table use its nearest end."""
    column = min(max(minor, _FIRST_COLUMN), NEWEST_MINOR) - _FIRST_COLUMN
    return {gate: "1" in values[column] for gate, values in _DEFAULTS.items() if values[column] != "-"}


def parse_gates(texts: Iterable[str]) -> dict[str, bool]:
    """Parse ``Gate=true,Other=false`` as the components' ``--feature-gates`` does. Raises :class:`FeatureError`."""
    gates: dict[str, bool] = {}
    for item in (part.strip() for text in texts for part in text.split(",")):
        if not item:
            continue
        gate, equals, value = item.partition("=")
        if gate not in _DEFAULTS and gate not in _ALL and gate != CONTROLLER_GATE:
            raise FeatureError(f'unknown feature gate "{gate}"')
        if not equals or value.lower() not in ("true", "false", "1", "0", "t", "f"):
            raise FeatureError(f'feature gate "{gate}" needs =true or =false')
        gates[gate] = value.lower() in ("true", "1", "t")
    return gates


def gates_of(features: Features) -> dict[str, bool]:
    """The features by the names of their gates."""
    values = {gate: bool(getattr(features, field)) for gate, field in _FIELD_BY_GATE.items()}
    return {**values, "DRADeviceBindingConditions": features.device_binding_and_status}


def known_gates() -> tuple[str, ...]:
    return tuple(sorted(_DEFAULTS))


def features(minor: int = NEWEST_MINOR, gates: Mapping[str, bool] | None = None, shown: Iterable[str] = ()) -> Features:
    """The features of a scheduler at 1.``minor`` with the gates ``shown`` to be on, and ``gates`` overridden.

    One of ``gates`` that the version locks or does not know, or whose dependency is off, raises :class:`FeatureError`.
    """
    values = gate_defaults(minor) | dict.fromkeys(shown, True)
    column = min(max(minor, _FIRST_COLUMN), NEWEST_MINOR) - _FIRST_COLUMN
    given = dict(gates or {})
    controller = given.pop(CONTROLLER_GATE, True) if minor <= _CONTROLLER_MINOR else True
    for letter, value in ((_ALL[name], given.pop(name)) for name in _ALL if name in given):
        values |= {gate: value for gate in values if _DEFAULTS[gate][column].startswith(letter)}
    for gate, value in given.items():
        if gate not in values:
            raise FeatureError(f'feature gate "{gate}" does not exist in Kubernetes 1.{minor}')
        if _DEFAULTS[gate][column].endswith("*") and value != values[gate]:
            raise FeatureError(
                f'feature gate "{gate}" is locked to {str(values[gate]).lower()} in Kubernetes 1.{minor}'
            )
        values[gate] = value
    if gates is None or "DRADeviceTaintRules" not in gates:
        # Until 1.34 the rules were part of DRADeviceTaints.
        if minor <= 34:
            values["DRADeviceTaintRules"] = values.get("DRADeviceTaints", False)
        elif not values.get("DRADeviceTaints", False):
            values["DRADeviceTaintRules"] = False
    for gate, needed in _NEEDS.items():
        if values.get(gate) and not values.get(needed):
            if gates and gates.get(gate):
                raise FeatureError(f'feature gate "{gate}" needs "{needed}"')
            values[gate] = False
    fields = {field: values.get(gate, False) for gate, field in _FIELD_BY_GATE.items()}
    binding = values.get("DRADeviceBindingConditions", False) and values.get("DRAResourceClaimDeviceStatus", False)
    if minor <= _CONTROLLER_MINOR:
        fields["admin_access"] = True  # it had no gate yet
    return msgspec.structs.replace(
        Features(),
        **fields,
        device_binding_and_status=binding,
        control_plane_controller=controller,
        minor=minor,
    )
