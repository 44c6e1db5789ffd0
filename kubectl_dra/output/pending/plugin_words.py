"""Plugins that are not in the default profile and are known by their words: what helps, what shows their objects."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.scheduler.fit_error import parse_fit_error
from kubectl_dra.scheduler.reasons import (
    ADDED_AFFINITY,
    CAPACITY_SCHEDULING,
    DEFAULT_SPREAD,
    ELASTIC_QUOTA,
    HAMI,
    LOAD_AWARE,
    TOPOLOGY_DATA,
    TOPOLOGY_MATCH,
    not_simulated,
    plugin_of,
)

#: Plugins and extenders that are known by their words: which objects they decide by.
OF_PLUGINS: Final = {
    TOPOLOGY_MATCH: Safe(
        "None of these nodes has a NUMA node with all the cpu, memory and device-plugin resources that the pod, or one "
        "of its containers, requests; devices of claims do not count there. Request less of these, or have a node with "
        "another topology policy. Another scheduler does not help: the kubelet there would refuse the pod "
        "(TopologyAffinityError)."
    ),
    TOPOLOGY_DATA: Safe(
        "The scheduler has placed a pod there since these nodes last reported what their NUMA nodes have left, and "
        "waits for newer data: check that the agent that writes NodeResourceTopology objects (nfd-topology-updater, or "
        "the resource topology exporter) runs on these nodes."
    ),
    CAPACITY_SCHEDULING: Safe("An ElasticQuota is used up: end pods of its namespace, or raise its maximum."),
    ELASTIC_QUOTA: Safe(
        "Wait until other work of this ElasticQuota of Koordinator ends, request no more than is left, or have whoever "
        "manages it raise its max, or its min, which it has in any case. Devices of claims do not count there."
    ),
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
    TOPOLOGY_DATA: (
        "What was reported, and when: {}",
        ("get", "noderesourcetopologies.topology.node.k8s.io", "-o", "yaml", "--show-managed-fields"),
    ),
    CAPACITY_SCHEDULING: (
        "The maximum, and what is used: {}",
        ("get", "elasticquotas.scheduling.x-k8s.io", "-A", "-o", "yaml"),
    ),
    ELASTIC_QUOTA: (
        "What quotas may have, and what is used: {}",
        ("get", "elasticquotas.scheduling.sigs.k8s.io", "-A", "-o", "yaml"),
    ),
    LOAD_AWARE: ("The load of each node: {}", ("get", "nodemetrics.slo.koordinator.sh", "-o", "yaml")),
    HAMI: ("The annotations of the nodes: {}", ("get", "nodes", "-o", "yaml")),
}


#: Upstream: koordinator, pkg/scheduler/plugins/elasticquota/plugin.go; some write the amounts as JSON.
_QUOTA: Final = re.compile(
    r"Insufficient (?:non-preemptible )?quotas, quotaName: (?P<name>[^\s,]+), .*exceedDimensions: \[(?P<what>[^\]]*)\]"
)


def quota_words(words: str) -> Safe | None:
    """``ElasticQuota team has too little left: 2 of 32 cpu, and it requests 4``; None of words about anything else."""
    found = _QUOTA.search(words)
    if found is None:
        return None
    names = found["what"].replace(",", " ").split()
    has, left, wants = (_amounts(words, label) for label in ("available", "remained", "pod's request"))
    known = [name for name in names if name in has and name in left and name in wants]
    if not names or known != names:
        return fmt("ElasticQuota {} has too little {} left", found["name"], listed(names) if names else Safe("of it"))
    parts = [fmt("{} of {} {}, and it requests {}", left[name], has[name], name, wants[name]) for name in names]
    return fmt("ElasticQuota {} has too little left: {}", found["name"], Safe("; ").join(parts))


def alignment_words(words: str) -> Safe | None:
    """That no NUMA node has what the pod, or a container, requests; None where other words are there, too."""
    said = parse_fit_error(words)
    texts = list(said.reasons) if said is not None else []
    if len(texts) != 1 or plugin_of(texts[0]) != TOPOLOGY_MATCH or not texts[0].startswith("cannot align"):
        return None
    whose = Safe("one of its containers" if "container" in texts[0] else "it")
    nodes = counted(said.reasons[texts[0]], "node") if said is not None else Safe("")
    text = 'no NUMA node of {} has all the cpu and memory that {} requests ("{}")'
    return fmt(text, nodes, whose, texts[0])


def _amounts(words: str, label: str) -> Mapping[str, Any]:
    """The amounts behind a label, by resource; empty where they are not written as JSON, or nested."""
    found = re.search(rf"\b{re.escape(label)}: (?P<amounts>\{{[^{{}}\[\]]*\}})", words)
    try:
        return json.loads(found["amounts"]) if found is not None else {}
    except ValueError:
        return {}


def rule_of(words: str) -> str:
    """The known plugin that a scheduler of another name speaks of; empty where there is none."""
    said = parse_fit_error(words)
    texts = [*not_simulated(words), *([said.pre_filter] if said is not None and said.pre_filter else [])]
    return next((plugin for text in texts if (plugin := plugin_of(text)) in OF_PLUGINS), "")
