"""What to do about pods that the kubelet of their node did not take: what its reason asks for."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import KubeletRejection
from kubectl_dra.output.safe import Safe, fmt


def rejection_advice(found: KubeletRejection, node: str) -> Safe | None:
    """What the kubelet's reason asks for."""
    if found.reason == "TopologyAffinityError":
        text = (
            "No NUMA node of {} has at once what it requests, and the node's topology manager wants that. Request "
            "fewer CPUs or devices, or have a cluster administrator change the kubelet's topologyManagerPolicy."
        )
        return fmt(text, node)
    if found.reason.startswith("OutOf"):
        text = (
            "Another pod took it after the scheduler had looked. A controller makes a new pod; create a bare one again."
        )
        return Safe(text)
    return None
