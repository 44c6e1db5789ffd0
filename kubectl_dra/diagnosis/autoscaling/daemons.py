"""What DaemonSets put on a fresh node before any other pod comes there.

Upstream: pkg/controller/daemon/daemon_controller.go (NodeShouldRunDaemonPod, Predicates).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.scheduler.daemons import daemon_tolerations
from kubectl_dra.scheduler.plugins.node_affinity import matches, required_terms
from kubectl_dra.scheduler.plugins.taint_toleration import untolerated

DAEMON_SET: Final = "DaemonSet"


def daemon_pods(world: ClusterState, node_name: str) -> Iterator[Pod]:
    """The pods of all known DaemonSets that belong on a node, as they would run there; without claims of their own."""
    node = world.inventory.nodes[node_name]
    for (kind, _, _), workload in world.inventory.workloads.items():
        if kind != DAEMON_SET or not isinstance(workload, WorkloadObject) or workload.spec.template is None:
            continue
        spec = workload.spec.template.spec
        tolerations = daemon_tolerations(spec)
        own = workload.metadata
        meta = ObjectMeta(
            name=f"{own.name}-{node_name}",
            namespace=own.namespace,
            uid=f"{own.uid}-{node_name}",
            labels=workload.spec.template.metadata.labels,
        )
        pod = Pod(
            metadata=meta,
            spec=msgspec.structs.replace(spec, node_name=node_name, tolerations=tolerations, resource_claims=()),
            status=PodStatus(phase="Running"),
        )
        taints = untolerated(node.spec.taints, tolerations, comparison=world.features.toleration_comparison)
        if matches(spec.node_selector, required_terms(pod), node) and next(taints, None) is None:
            yield pod
