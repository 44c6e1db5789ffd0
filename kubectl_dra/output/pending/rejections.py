"""What to do about pods that the kubelet of their node did not take, or ended: what its reason asks for."""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.diagnosis.records import KubeletRejection
from kubectl_dra.output.safe import Safe, fmt

#: Upstream: pkg/kubelet/cm/devicemanager/manager.go, devicesToAllocate.
_UNHEALTHY: Final = re.compile(r"cannot allocate unhealthy devices (?P<resource>[^\s,]+)")
_TOO_FEW: Final = re.compile(r"requested number of devices unavailable for (?P<resource>\S+)\. Requested")
_AGAIN: Final = "A controller makes a new pod; create a bare one again."
#: By the kubelet's reason; ``{}`` is the node. Upstream: pkg/kubelet/lifecycle/predicate.go, eviction, nodeshutdown.
_BY_REASON: Final = {
    "TopologyAffinityError": (
        "No NUMA node of {} has at once what it requests, and the node's topology manager wants that. Request fewer "
        "CPUs or devices, or have a cluster administrator change the kubelet's topologyManagerPolicy."
    ),
    "Evicted": (
        "{} ran short of what the message names. Request as much of it as the pod needs, so that the scheduler leaves "
        f"room for it, or end other work there. {_AGAIN}"
    ),
    "NodeAffinity": (
        f"The labels of {{}} no longer match the pod, which the kubelet checked again as it restarted. {_AGAIN}"
    ),
    "NodeShutdown": f"{{}} was being shut down. {_AGAIN}",
    "Terminated": f"{{}} was being shut down. {_AGAIN}",
    "UnexpectedAdmissionError": "The log of the kubelet of {} says what failed. New pods that land there fail alike.",
}


def rejection_advice(found: KubeletRejection, node: str) -> Safe | None:
    """What the kubelet's reason asks for."""
    unhealthy, few = _UNHEALTHY.search(found.message), _TOO_FEW.search(found.message)
    if unhealthy is not None:
        text = (
            "The device plugin of {} on {} reports none of its devices as healthy, or has not connected to the kubelet "
            "again: its log says why. New pods that land there fail alike until it does."
        )
        return fmt(text, unhealthy["resource"], node)
    if few is not None:
        text = (
            "The kubelet of {} has fewer devices of {} left than the scheduler counts, as after a restart, or while "
            "another pod ends. If new pods fail alike, the log of the device plugin there says why."
        )
        return fmt(text, node, few["resource"])
    if found.reason.startswith("OutOf"):
        return Safe(f"Another pod took it after the scheduler had looked. {_AGAIN}")
    text = _BY_REASON.get(found.reason, "")
    return fmt(text, node) if text else None
