"""Who uses a device, in a few short lines for a table's last column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import age
from kubectl_dra.reports.devices.holders import Consumer, ConsumerState, Holder
from kubectl_dra.reports.taints.taints import TaintRecord

_STATES: Final = {
    ConsumerState.PENDING: "not scheduled",
    ConsumerState.BOUND: "not running yet",
    ConsumerState.RUNNING: "",
    ConsumerState.FINISHED: "finished",
    ConsumerState.GONE: "finished or deleted",
    ConsumerState.UNKNOWN: "",
}
_SHOWN: Final = 2


def holder_text(holder: Holder, now: datetime, node: str = "") -> Safe:
    """``pod ml/serve-0, claim serve-0-gpus, 3d``; ``node`` is where the device is, which goes without saying."""
    consumers = [consumer_text(consumer, node) for consumer in holder.consumers[:_SHOWN]]
    more = len(holder.consumers) - _SHOWN
    parts = [*_amounts(holder), *consumers, *([fmt("+{} more", more)] if more > 0 else [])]
    if consumers:
        parts.append(fmt("claim {}", holder.claim))
    else:
        parts.append(fmt("claim {}/{}, reserved for nobody", holder.namespace, holder.claim))
    parts += [Safe("admin access")] if holder.admin_access else []
    parts += [Safe("being deleted")] if holder.deleting else []
    parts += [age(holder.since, now)] if holder.since else []
    return Safe(", ").join(parts)


def consumer_text(consumer: Consumer, node: str = "") -> Safe:
    """``pod ml/serve-0``, with its node where that is another one and its state where it does not run."""
    resource = f"{consumer.resource}.{consumer.api_group}" if consumer.api_group else consumer.resource
    kind = "pod" if resource == "pods" else resource
    text = fmt("{} {}/{}", kind, consumer.namespace, consumer.name)
    if consumer.node and consumer.node != node:
        text += fmt(" on {}", consumer.node)
    state = _STATES[consumer.state] or ""
    if state and consumer.reason:
        state = f"{state}: {consumer.reason}"
    return text + fmt(" ({})", state) if state else text


def _amounts(holder: Holder) -> Iterator[Safe]:
    if holder.admin_access:
        # What admin access was granted is taken from nobody.
        return
    named = len(holder.consumed_capacity) > 1
    for name, amount in holder.consumed_capacity.items():
        yield fmt("{} {}", amount, name.rpartition("/")[2]) if named else safe(amount)


def taint_lines(taints: Sequence[TaintRecord]) -> Iterator[tuple[Safe, Safe]]:
    """Per taint what it is, and who put it there."""
    for taint in taints:
        source = fmt("rule {}", taint.rule) if taint.rule else Safe("by the driver")
        yield safe(taint_text(taint)), source
