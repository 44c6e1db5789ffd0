"""Whose words a reason in the scheduler's message is: a plugin of the default profile, or one that is not known here.

Upstream: the ErrReason constants of the scheduler's plugins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from kubectl_dra.scheduler.fit_error import DYNAMIC_RESOURCES, parse_fit_error
from kubectl_dra.scheduler.plugins import (
    inter_pod_affinity,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    pod_topology_spread,
    taint_toleration,
    volume_restrictions,
)

#: Of sigs.k8s.io/scheduler-plugins, which many run in the default scheduler.
COSCHEDULING: Final = "Coscheduling"
#: What is said of pods that had a node, and gave it up as the rest of their gang found none. Upstream: kube-scheduler's
#: waiting_pods_map.go, and scheduler-plugins, pkg/coscheduling/coscheduling.go (PostFilter).
GAVE_UP: Final = (
    "rejected due to timeout after waiting",
    "optimistic rejection in PostFilter",
    "is unschedulable even after PostFilter",
)
#: Its words where a gang lacks pods (upstream: scheduler-plugins, pkg/coscheduling/core/core.go, PreFilter).
TOO_FEW_SIBLINGS: Final = "cannot find enough sibling pods"
TOPOLOGY_MATCH: Final = "NodeResourceTopologyMatch"
#: The same plugin, where it compared nothing, as what it has cached of a node is not fresh.
TOPOLOGY_DATA: Final = "NodeResourceTopologyMatch (data)"
CAPACITY_SCHEDULING: Final = "CapacityScheduling"
ELASTIC_QUOTA: Final = "ElasticQuota"
HAMI: Final = "HAMi"
LOAD_AWARE: Final = "LoadAwareScheduling"
#: The constraints that the scheduler's configuration gives to pods without any; those that it has by default only
#: score (upstream: podtopologyspread/plugin.go, systemDefaultConstraints).
DEFAULT_SPREAD: Final = "PodTopologySpread (default constraints)"
_SPREAD: Final = "PodTopologySpread"
#: The affinity that it gives to all pods (upstream: nodeaffinity/node_affinity.go, AddedAffinity).
ADDED_AFFINITY: Final = "NodeAffinity (enforced)"
UNKNOWN: Final = "an unknown plugin"


class PluginSubject(StrEnum):
    """What a plugin looks at."""

    NODES = "nodes"
    VOLUMES = "volumes"
    TOPOLOGY = "topology"
    OTHER = "other"


_EXACT: Final[Mapping[str, str]] = {
    node_name.TEXT: "NodeName",
    node_unschedulable.TEXT: "NodeUnschedulable",
    taint_toleration.TEXT: "TaintToleration",
    node_affinity.TEXT: "NodeAffinity",
    node_affinity.CONFLICT_TEXT: "NodeAffinity",
    node_ports.TEXT: "NodePorts",
    node_resources_fit.TOO_MANY_PODS: "NodeResourcesFit",
    "node(s) didn't match scheduler-enforced node affinity": ADDED_AFFINITY,
    volume_restrictions.DISK_CONFLICT: "VolumeRestrictions",
    volume_restrictions.CLAIM_IN_USE: "VolumeRestrictions",
    "node(s) exceed max volume count": "NodeVolumeLimits",
    "node(s) didn't find available persistent volumes to bind": "VolumeBinding",
    "node(s) didn't match PersistentVolume's node affinity": "VolumeBinding",
    # Its words in older releases, 1.30 among them.
    "node(s) had volume node affinity conflict": "VolumeBinding",
    "node(s) did not have enough free storage": "VolumeBinding",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": "VolumeBinding",
    "pod has unbound immediate PersistentVolumeClaims": "VolumeBinding",
    "node(s) had no available volume zone": "VolumeZone",
    pod_topology_spread.UNEVEN: _SPREAD,
    pod_topology_spread.MISSING_LABEL: _SPREAD,
    inter_pod_affinity.EXISTING_TEXT: "InterPodAffinity",
    inter_pod_affinity.AFFINITY_TEXT: "InterPodAffinity",
    inter_pod_affinity.ANTI_AFFINITY_TEXT: "InterPodAffinity",
    node_declared_features.TEXT: "NodeDeclaredFeatures",
    "removed": "Permit",
    "rejection in Unreserve": COSCHEDULING,
    "optimistic rejection in PostFilter": COSCHEDULING,
    "PodGroup not found": COSCHEDULING,
    "cannot allocate all claims": DYNAMIC_RESOURCES,
    "invalid resource pools were encountered": DYNAMIC_RESOURCES,
    "resourceclaim not available on the node": DYNAMIC_RESOURCES,
    "cannot schedule extended resource claim": DYNAMIC_RESOURCES,
    "cannot fit resource": DYNAMIC_RESOURCES,
}
_PATTERNS: Final = tuple(
    (re.compile(pattern), plugin)
    for pattern, plugin in (
        (r"Insufficient \S+", "NodeResourcesFit"),
        (r"node\(s\) had untolerated taint \{.*\}", "TaintToleration"),
        (r"node\(s\) didn't satisfy plugin\(?s?\)? .*", "PreFilter"),
        (r"persistentvolumeclaim \".*\" not found", "VolumeRestrictions"),
        (r"persistentvolumeclaim \".*\" (is being deleted|bound to non-existent .*)", "VolumeBinding"),
        (r"waiting for ephemeral volume controller to create the persistentvolumeclaim \".*\"", "VolumeBinding"),
        (r"PVC .* was not created for pod .*", "VolumeBinding"),
        (r"PersistentVolumeClaim had no .*|PersistentVolume had no name", "VolumeZone"),
        (r"persistentvolume \".*\" not found|storageclass.storage.k8s.io \".*\" not found", "VolumeZone"),
        (r"VolumeBindingMode not set for StorageClass \".*\"", "VolumeZone"),
        (r"looking up PVC .*|.*CSI driver.*", "NodeVolumeLimits"),
        (r"parsing pod: .*", "InterPodAffinity"),
        (r"rejected due to timeout after waiting .* at plugin .*", "Permit"),
        # pkg/coscheduling/core/core.go (PreFilter), coscheduling.go (PostFilter)
        (r"pre-filter pod .* cannot (find enough sibling pods|proceed due to gated pods).*", COSCHEDULING),
        (r"podGroup \S+ failed recently|resource gap: .*", COSCHEDULING),
        (r"PodGroup \S+ gets rejected due to Pod .* is unschedulable even after PostFilter", COSCHEDULING),
        # The same project: pkg/noderesourcetopology/filter.go, pkg/capacityscheduling/capacity_scheduling.go
        (r"cannot align (init )?(container|pod): .*|cannot align (container|pod)", TOPOLOGY_MATCH),
        (r"invalid node topology data", TOPOLOGY_DATA),
        (r"Pod .* is rejected in Pre[Ff]ilter because .*ElasticQuota.*", CAPACITY_SCHEDULING),
        # koordinator, pkg/scheduler/plugins/elasticquota/plugin.go
        (r"(quota not enough, )?Insufficient (non-preemptible )?quotas, quotaName: .*", ELASTIC_QUOTA),
        # The same project: pkg/scheduler/plugins/loadaware/load_aware.go
        (r"node\(s\) \S+ (aggregated )?usage exceed threshold", LOAD_AWARE),
        # Project-HAMi, pkg/scheduler/scheduler.go and pkg/device/common (an extender)
        (r"node unregistered", HAMI),
        (r"(\d+/\d+ )?(Card[A-Z]\w+|NumaNotFit|ExclusiveDeviceAllocateConflict)\b.*", HAMI),
        (
            r"resourceclaim (cannot be allocated for the node \(unsuitable\)|must be reallocated|in use)",
            DYNAMIC_RESOURCES,
        ),
        (r"excluded by (resource|device) class node filter|unallocated immediate resourceclaim", DYNAMIC_RESOURCES),
        (r"resource class .* does not exist|checking structured parameters failed: .*", DYNAMIC_RESOURCES),
        (r"(generated )?(class|claim) parameters .* not found", DYNAMIC_RESOURCES),
        (r"waiting for resource driver to provide information", DYNAMIC_RESOURCES),
        (r"resourceclaim depends on disabled DRAControlPlaneController feature", DYNAMIC_RESOURCES),
        (r"asked by caller to stop allocating devices: .*", DYNAMIC_RESOURCES),
        (r"resource claim .* (is in the process of being allocated|allocation requires .*)", DYNAMIC_RESOURCES),
        (r"node allocatable resource claim .*|pod level (request|limit) for .*", DYNAMIC_RESOURCES),
        (r"(resource claim .*, )?request .*: .*", DYNAMIC_RESOURCES),
        (r"pod \".*\"(: ResourceClaim not created yet|, spec.resourceClaim .*)", DYNAMIC_RESOURCES),
        (r"could not find ResourceClaim .*|resourceclaim \".*\" is being deleted", DYNAMIC_RESOURCES),
        (r"ResourceClaim .* was not created for Pod .*", DYNAMIC_RESOURCES),
    )
)
_VOLUMES: Final = frozenset({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"})
_TOPOLOGY: Final = frozenset({_SPREAD, "InterPodAffinity"})
_NODES: Final = frozenset(
    {
        "NodeName",
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "NodeDeclaredFeatures",
        "PreFilter",
        DYNAMIC_RESOURCES,
    }
)


def plugin_of(reason: str, unspread: bool = False) -> str:
    """The plugin that writes ``reason``; :data:`UNKNOWN` for the words of extenders and plugins of other schedulers.

    ``unspread``: the pod that it is said of has no spread constraints.
    """
    if reason in _EXACT:
        return DEFAULT_SPREAD if unspread and _EXACT[reason] == _SPREAD else _EXACT[reason]
    return next((plugin for pattern, plugin in _PATTERNS if pattern.fullmatch(reason)), UNKNOWN)


def is_simulated(reason: str, unspread: bool = False) -> bool:
    """Whether ``reason`` is one that is reproduced here."""
    return kind_of(plugin_of(reason, unspread)) is not PluginSubject.OTHER


def is_of_default_plugins(message: str) -> bool:
    """Whether a message counts nodes in the words of kube-scheduler, all of them of plugins of the default profile."""
    return parse_fit_error(message) is not None and not not_simulated(message)


def not_simulated(message: str) -> Mapping[str, int]:
    """The reasons of a message that no plugin of the default profile writes, with the number of nodes of each."""
    said = parse_fit_error(message)
    found = said.reasons.items() if said is not None else ()
    return {text: nodes for text, nodes in found if not is_simulated(text)}


def kubelets_refuse(message: str) -> bool:
    """Whether a scheduler says of all nodes that it refuses by itself what their kubelets' topology managers would."""
    own = not_simulated(message)
    return bool(own) and all(plugin_of(text) == TOPOLOGY_MATCH for text in own)


def is_about_nodes(reason: str, unspread: bool = False) -> bool:
    """Whether ``reason`` is one that nodes, claims and devices are enough for."""
    return kind_of(plugin_of(reason, unspread)) is PluginSubject.NODES


def kind_of(plugin: str) -> PluginSubject:
    """What the plugin looks at; OTHER if it is not in the default profile or comes after the filters."""
    if plugin in _VOLUMES:
        return PluginSubject.VOLUMES
    if plugin in _TOPOLOGY:
        return PluginSubject.TOPOLOGY
    return PluginSubject.NODES if plugin in _NODES else PluginSubject.OTHER


def few_siblings(pod: str, number: int, least: int) -> str:
    """What the coscheduling plugin says of a pod whose gang lacks pods."""
    return f"pre-filter pod {pod} {TOO_FEW_SIBLINGS}, current pods number: {number}, minMember of group: {least}"
