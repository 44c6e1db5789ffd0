"""Nodes that are not ready yet, in words: who removes the taint, since when it could have, and where to look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command, command_line, fmt, safe
from kubectl_dra.output.words import ago, capital, listed
from kubectl_dra.reports.invocations import kubectl, of, reading, within
from kubectl_dra.reports.pending.unready import UnreadyNode

ADVICE: Final = (
    "Repair what {} waits for; it then removes the taint by itself. A pod that tolerates it would be bound to a node "
    "that is not ready, and would not start there."
)


def unready_sentence(nodes: Sequence[UnreadyNode], said: Safe | None = None) -> Iterator[Safe]:
    """Why the taint of the first node is still there; ``said``: what stands before, where that may not be about it."""
    for node in nodes[:1]:
        is_named = said is None or safe(node.taint) in said
        taint = Safe("the taint") if is_named else fmt("the taint {} of {}", node.taint, node.node)
        remover = capital(Safe(node.remover))
        if node.failing:
            states = listed([fmt("{} ({})", str(each.pod.key), each.state) for each in node.failing])
            yield fmt("{}, which removes {}, does not run on {}: {}", remover, taint, node.node, states)
        elif node.running:
            names = listed([str(ref.key) for ref in node.running])
            yield fmt("{} runs on {} ({}) and has not removed {}", remover, node.node, names, taint)
        elif node.agent and node.pods_read:
            start = capital(taint)
            yield fmt("{} is removed by {}, which has no pod on {}", start, node.remover, node.node)
        else:
            yield fmt("{} has not removed {}", remover, taint)


def unready_lines(nodes: Sequence[UnreadyNode], now: datetime) -> Iterator[Safe]:
    """Since when each node is there, and the last words of its agent."""
    for node in nodes:
        if node.joined:
            yield from wrapped(fmt("{} joined {}.", node.node, ago(node.joined, now)))
        for each in node.failing:
            if each.message:
                yield from wrapped(fmt("{}: {}", each.pod.name, each.message))


def unready_steps(nodes: Sequence[UnreadyNode], address: Address) -> Iterator[Safe]:
    """Where to look: at the agent's pod, or at the node."""
    for node in nodes[:1]:
        for ref in [each.pod for each in node.failing] or list(node.running):
            where = within(ref.namespace)
            pod = of("pod", ref.name)
            words = kubectl("describe", pod, where) if node.failing else kubectl("logs", pod, where, "--all-containers")
            line = command(reading(words, address)) if where is not None else None
            if line is not None:
                yield fmt("Why {} does not run: {}", ref.name, line) if node.failing else fmt("Its log: {}", line)
                return
        yield from command_line(
            "Its conditions, and since when: {}", reading(kubectl("describe", of("node", node.node)), address)
        )
