"""The plugins of the default profile in their order: the one row that a new plugin adds.

Upstream: pkg/scheduler/apis/config/v1/default_plugins.go. Each runs in this order at every extension point that it has.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.scheduler.framework import Plugin
from kubectl_dra.scheduler.plugins.deferred_pod_scheduling import DeferredPodScheduling
from kubectl_dra.scheduler.plugins.dynamic_resources import DynamicResources
from kubectl_dra.scheduler.plugins.image_locality import ImageLocality
from kubectl_dra.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from kubectl_dra.scheduler.plugins.node_affinity import NodeAffinity
from kubectl_dra.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from kubectl_dra.scheduler.plugins.node_name import NodeName
from kubectl_dra.scheduler.plugins.node_ports import NodePorts
from kubectl_dra.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from kubectl_dra.scheduler.plugins.node_resources_fit import NodeResourcesFit
from kubectl_dra.scheduler.plugins.node_unschedulable import NodeUnschedulable
from kubectl_dra.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from kubectl_dra.scheduler.plugins.pod_topology_spread import PodTopologySpread
from kubectl_dra.scheduler.plugins.taint_toleration import TaintToleration
from kubectl_dra.scheduler.plugins.volume_binding import VolumeBinding
from kubectl_dra.scheduler.plugins.volume_restrictions import VolumeRestrictions
from kubectl_dra.scheduler.plugins.volume_zone import VolumeZone

PLUGINS: Final[tuple[Plugin, ...]] = (
    NodeName(),
    NodeUnschedulable(),
    TaintToleration(),
    NodeAffinity(),
    NodePorts(),
    DeferredPodScheduling(),
    NodeResourcesFit(),
    VolumeRestrictions(),
    NodeVolumeLimits(),
    VolumeBinding(),
    VolumeZone(),
    PodTopologySpread(),
    InterPodAffinity(),
    DynamicResources(),
    NodeDeclaredFeatures(),
    NodeResourcesBalancedAllocation(),
    ImageLocality(),
)
