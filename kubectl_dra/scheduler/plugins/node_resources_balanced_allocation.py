"""NodeResourcesBalancedAllocation: nodes on which the pod makes cpu and memory more evenly used.

Upstream: plugins/noderesources/balanced_allocation.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kubectl_dra.model.requests import pod_requests
from kubectl_dra.scheduler.framework import MAX_SCORE, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.plugins.node_resources_fit import SCORED, allocatable_of
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, Status


class NodeResourcesBalancedAllocation(Plugin):
    """The difference between the shares of cpu and memory in use, with and without the pod."""

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"
    weight: ClassVar[int] = 1

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """It only scores."""
        return PreFilterResult(SKIP)

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """50 where the pod changes nothing; a pod without requests changes nothing anywhere."""
        requests = pod_requests(cycle.pod)
        if not any(requests.get(resource) for resource in SCORED):
            return SKIP
        known: dict[tuple[int, int | None, int | None], int] = {}
        found = []
        for node in nodes:
            used = node.usage.requests
            alike = id(node.node.status.allocatable), used.get(SCORED[0]), used.get(SCORED[1])
            if alike not in known:
                known[alike] = self._score(node, requests)
            found.append(known[alike])
        return found

    def _score(self, node: NodeInfo, requests: Mapping[str, int]) -> int:
        without = _balance(node, {})
        # Go divides towards zero.
        return 50 + int((50 + _balance(node, requests) - without) / 2)


def _balance(node: NodeInfo, requests: Mapping[str, int]) -> int:
    shares = []
    for resource in SCORED:
        allocatable = allocatable_of(node.node, resource)
        if allocatable:
            requested = node.usage.requests.get(resource, 0) + requests.get(resource, 0)
            shares.append(min(1.0, requested / allocatable))
    deviation = abs((shares[0] - shares[1]) / 2) if len(shares) == len(SCORED) else 0.0
    return int((1 - deviation) * MAX_SCORE)
