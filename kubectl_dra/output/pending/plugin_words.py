"""Plugins that are not in the default profile and are known by their words: what helps, what shows their objects."""

from __future__ import annotations

from typing import Final

from kubectl_dra.output.safe import Safe
from kubectl_dra.scheduler.reasons import (
    ADDED_AFFINITY,
    CAPACITY_SCHEDULING,
    DEFAULT_SPREAD,
    HAMI,
    LOAD_AWARE,
    TOPOLOGY_MATCH,
    not_simulated,
    plugin_of,
)

#: Plugins and extenders that are known by their words: which objects they decide by.
OF_PLUGINS: Final = {
    TOPOLOGY_MATCH: Safe(
        "None of these nodes has a NUMA node with all the cpu, memory and device-plugin resources that the pod, or one "
        "of its containers, requests; devices of claims do not count there. Request less of these, or have a node with "
        "another topology policy."
    ),
    CAPACITY_SCHEDULING: Safe("An ElasticQuota is used up: end pods of its namespace, or raise its maximum."),
    DEFAULT_SPREAD: Safe(
        "These constraints spread the pods of its Service, ReplicaSet or StatefulSet. topologySpreadConstraints in the "
        "pod's template replace them; with whenUnsatisfiable: ScheduleAnyway they forbid no node. An administrator "
        "finds them in the KubeSchedulerConfiguration: pluginConfig PodTopologySpread, defaultConstraints."
    ),
    ADDED_AFFINITY: Safe(
        "An administrator finds it in the KubeSchedulerConfiguration (pluginConfig NodeAffinity, addedAffinity): give "
        "the nodes the labels that it requires, or the pod the schedulerName of another profile."
    ),
    HAMI: Safe(
        "HAMi's extender reads the devices that its own device plugin has written into the node's annotations, and "
        "knows no ResourceSlices. A pod that only has claims needs no hami-scheduler and none of its resources; else "
        "see that the device plugin runs on these nodes, and writes its hami.io annotations."
    ),
    LOAD_AWARE: Safe(
        "These nodes are used more than Koordinator's LoadAwareScheduling allows (usageThresholds in its "
        "KubeSchedulerConfiguration): wait until their load falls, or have an administrator raise the threshold."
    ),
}
#: The command that shows these objects, and what they say.
SHOWN_BY: Final = {
    TOPOLOGY_MATCH: (
        "What each NUMA node has left: {}",
        ("get", "noderesourcetopologies.topology.node.k8s.io", "-o", "yaml"),
    ),
    CAPACITY_SCHEDULING: (
        "The maximum, and what is used: {}",
        ("get", "elasticquotas.scheduling.x-k8s.io", "-A", "-o", "yaml"),
    ),
    LOAD_AWARE: ("The load of each node: {}", ("get", "nodemetrics.slo.koordinator.sh", "-o", "yaml")),
    HAMI: ("The annotations of the nodes: {}", ("get", "nodes", "-o", "yaml")),
}


def rule_of(words: str) -> str:
    """The known plugin that a scheduler of another name speaks of; empty where there is none."""
    return next((plugin for text in not_simulated(words) if (plugin := plugin_of(text)) in OF_PLUGINS), "")
