"""What to do about a pod that goes away because of its node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.reports.invocations import kubectl, of, reading

#: The reason of the condition DisruptionTarget for a taint of the node (upstream: pkg/controller/tainteviction).
BY_NODE_TAINT: Final = "DeletionByTaintManager"


def node_advice(node: str) -> Safe:
    """What ends the pod, and when its devices come free (upstream: pkg/controller/podgc, gcTerminating)."""
    text = (
        "A taint of node {} ends it, not one of its devices: spec.taints of the node shows which, and its condition "
        "Ready whether the node can be reached. The pod is gone, and its devices are free, once the kubelet there has "
        "stopped its containers. A node that cannot be reached does not do that: bring it back. Only if that machine "
        "is certainly switched off, give the node the taint node.kubernetes.io/out-of-service: its pods are then "
        "removed."
    )
    return fmt(text, node)


def node_commands(node: str, address: Address) -> Iterator[Safe]:
    """What shows the taints of the node, and whether it can be reached."""
    yield from command_line("Its taints and conditions: {}", reading(kubectl("describe", of("node", node)), address))
