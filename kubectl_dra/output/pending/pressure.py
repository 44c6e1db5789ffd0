"""Nodes whose kubelet runs short of something, in words: since when, what it says, and what ends it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import ago, lasting
from kubectl_dra.reports.invocations import flag, kubectl, reading
from kubectl_dra.reports.pending.pressure import PressedNode

#: The taint stays for --eviction-pressure-transition-period, 5 minutes where nothing else is configured.
_THEN: Final = (
    "{}The taint is removed by itself, by default 5 minutes after that. A pod that tolerates it would be evicted there."
)
_HOW: Final = {
    "disk space": (
        "Free disk space on {}: unused images (crictl rmi --prune on the node), logs (/var/log), emptyDir volumes "
        "(/var/lib/kubelet/pods). "
    ),
    "memory": "Free memory on {}: end the pods that use most of it, or limit them. ",
    "process ids": "Free process ids on {}: end what starts many processes there. ",
}


def pressure_lines(nodes: Sequence[PressedNode], now: datetime, address: Address) -> Iterator[Safe]:
    """Of each node since when and the kubelet's words; what ends it of the first."""
    for node in nodes:
        if node.since:
            yield from wrapped(fmt("{} has been short of {} {}.", node.node, node.lacks, lasting(node.since, now)))
        if node.event is not None:
            often = fmt(" ({} times)", node.event.times) if node.event.times > 1 else Safe("")
            words = node.event.reason, node.event.message
            when = fmt(" {}", ago(node.event.time, now)) if node.event.time else Safe("")
            yield from wrapped(fmt("Its kubelet{}{}: {}: {}", when, often, *words), indent=2, first=0)
    for node in nodes[:1]:
        yield from wrapped(fmt(_THEN, fmt(_HOW[node.lacks], node.node)))
        if node.lacks == "memory":
            on_node = flag("--field-selector", f"spec.nodeName={node.node}")
            words_ = kubectl("top", "pods", "-A", "--sort-by=memory", on_node)
            yield from command_line("What uses most: {}", reading(words_, address))
