"""DeferredPodScheduling: a pod that runs and waits for a resize is looked at again, on its own node.

Upstream: plugins/deferredpodscheduling (gate InPlacePodVerticalScalingSchedulerPreemption, alpha and off). The
scheduler writes neither condition nor event for such pods; every other pod is skipped.
"""

from __future__ import annotations

from typing import ClassVar, Final

from kubectl_dra.model.core import Pod
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, unresolvable

ELSEWHERE: Final = "pod assigned to different node"
DISABLED: Final = "node had resize preemption disabled"
_DEFERRED: Final = "Deferred"


def waits_for_resize(pod: Pod) -> bool:
    """Whether the kubelet has put a resize of the pod off; it looks at the first such condition."""
    reasons = (c.reason for c in pod.status.conditions if c.type == "PodResizePending")
    return bool(pod.spec.node_name) and next(reasons, "") == _DEFERRED


class DeferredPodScheduling(Plugin):
    """``spec.podPreemptionPolicy`` of nodes."""

    name: ClassVar[str] = "DeferredPodScheduling"

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Only pods that wait for a resize."""
        concerned = cycle.features.deferred_pod_scheduling and waits_for_resize(cycle.pod)
        return PASS if concerned else PreFilterResult(SKIP)

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """The pod's own node, and only if its pods may be evicted for a resize."""
        if node.name != cycle.pod.spec.node_name:
            return unresolvable(ELSEWHERE)
        policy = node.node.spec.pod_preemption_policy
        disabled = policy is not None and bool(policy.disable_resize_preemption)
        return unresolvable(DISABLED) if disabled else SUCCESS
