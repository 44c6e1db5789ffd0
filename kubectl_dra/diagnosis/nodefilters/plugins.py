"""Whose words a reason in the scheduler's message is: simulated filters, DynamicResources, or a plugin not simulated.

Upstream: the ErrReason constants of the scheduler's plugins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from kubectl_dra.diagnosis.nodefilters import affinity, ports, repelled, resources, taints

DYNAMIC_RESOURCES: Final = "DynamicResources"
UNKNOWN: Final = "unknown plugin"


class Kind(StrEnum):
    """How a plugin is treated here."""

    SIMULATED = "simulated"
    VOLUMES = "volumes"
    TOPOLOGY = "topology"
    OTHER = "other"


_READ_WRITE_ONCE_POD: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_EXACT: Final[Mapping[str, str]] = {
    affinity.NODE_NAME_TEXT: "NodeName",
    taints.UNSCHEDULABLE_TEXT: "NodeUnschedulable",
    taints.UNTOLERATED_TEXT: "TaintToleration",
    affinity.AFFINITY_TEXT: "NodeAffinity",
    affinity.CONFLICT_TEXT: "NodeAffinity",
    ports.TEXT: "NodePorts",
    resources.TOO_MANY_PODS: "NodeResourcesFit",
    "node(s) didn't match scheduler-enforced node affinity": "NodeAffinity (enforced)",
    "node(s) had no available disk": "VolumeRestrictions",
    _READ_WRITE_ONCE_POD: "VolumeRestrictions",
    "node(s) exceed max volume count": "NodeVolumeLimits",
    "node(s) didn't find available persistent volumes to bind": "VolumeBinding",
    "node(s) didn't match PersistentVolume's node affinity": "VolumeBinding",
    "node(s) did not have enough free storage": "VolumeBinding",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": "VolumeBinding",
    "pod has unbound immediate PersistentVolumeClaims": "VolumeBinding",
    "node(s) had no available volume zone": "VolumeZone",
    "node(s) didn't match pod topology spread constraints": "PodTopologySpread",
    "node(s) didn't match pod topology spread constraints (missing required label)": "PodTopologySpread",
    repelled.TEXT: repelled.PLUGIN,
    "node(s) didn't match pod affinity rules": "InterPodAffinity",
    "node(s) didn't match pod anti-affinity rules": "InterPodAffinity",
    "node(s) didn't match Pod's required features": "NodeDeclaredFeatures",
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
        (r".*CSI driver.*", "NodeVolumeLimits"),
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
_SIMULATED: Final = frozenset(
    {
        "NodeName",
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "PreFilter",
        DYNAMIC_RESOURCES,
    }
)
_VOLUMES: Final = frozenset({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"})
_TOPOLOGY: Final = frozenset({"PodTopologySpread", "InterPodAffinity"})


def plugin_of(reason: str) -> str:
    """The plugin that writes ``reason``; :data:`UNKNOWN` for the words of extenders and plugins of other schedulers."""
    if reason in _EXACT:
        return _EXACT[reason]
    return next((plugin for pattern, plugin in _PATTERNS if pattern.fullmatch(reason)), UNKNOWN)


def is_simulated(reason: str) -> bool:
    """Whether ``reason`` is one that is reproduced here; of InterPodAffinity one is."""
    return reason == repelled.TEXT or kind_of(plugin_of(reason)) is Kind.SIMULATED


def kind_of(plugin: str) -> Kind:
    """Whether the plugin is simulated here, and if not, what it looks at."""
    if plugin in _SIMULATED:
        return Kind.SIMULATED
    if plugin in _VOLUMES:
        return Kind.VOLUMES
    return Kind.TOPOLOGY if plugin in _TOPOLOGY else Kind.OTHER
