"""Who uses a device, in a few short lines for a table's last column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import age, counted
from kubectl_dra.reports.devices.holders import Consumer, ConsumerState, Holder
from kubectl_dra.reports.taints.taints import TaintRecord

_STATES: Final = {
    ConsumerState.PENDING: "not scheduled",
    ConsumerState.BOUND: "not running yet",
    ConsumerState.RUNNING: "",
    ConsumerState.FINISHED: "finished",
    ConsumerState.GONE: "finished or deleted",
    ConsumerState.EMPTY: "has no pods any more",
    ConsumerState.UNKNOWN: "",
}
_SHOWN: Final = 2


def holder_text(holder: Holder, now: datetime, node: str = "") -> Safe:
    """``pod ml/serve-0, claim serve-0-gpus, 3d``; ``node`` is where the device is, which goes without saying."""
    consumers = [consumer_text(consumer, now, node) for consumer in holder.consumers[:_SHOWN]]
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


def consumer_text(consumer: Consumer, now: datetime, node: str = "", *, running: str = "") -> Safe:
    """``pod ml/serve-0``, with its node where that is another one and its state where it does not run."""
    resource = f"{consumer.resource}.{consumer.api_group}" if consumer.api_group else consumer.resource
    kind = "pod" if resource == "pods" else resource
    text = fmt("{} {}/{}", kind, consumer.namespace, consumer.name)
    if consumer.node and consumer.node != node:
        text += fmt(" on {}", consumer.node)
    state = _state(consumer, now) or safe(running if consumer.state is ConsumerState.RUNNING else "")
    return text + fmt(" ({})", state) if state else text


def _state(consumer: Consumer, now: datetime) -> Safe:
    """How far a pod is, or what is wrong with one that has been started; empty for one that runs."""
    if consumer.deleted and consumer.state is not ConsumerState.FINISHED:
        end = parse_time(consumer.deleted)
        overdue = end is not None and end < now
        return fmt("being deleted for {}", age(consumer.deleted, now)) if overdue else Safe("being deleted")
    if consumer.state is ConsumerState.RUNNING and consumer.reason:
        restarts = fmt(", {}", counted(consumer.restarts, "restart")) if consumer.restarts else Safe("")
        return fmt("{}{}", consumer.reason, restarts)
    state = Safe(_STATES[consumer.state])
    return fmt("{}: {}", state, consumer.reason) if state and consumer.reason else state


def short_state(consumer: Consumer) -> Safe:
    """What a list says beside the name: that the pod is over, ends, or does not run; empty for one that does."""
    if consumer.state in (ConsumerState.GONE, ConsumerState.FINISHED):
        return Safe("gone")
    if consumer.state is ConsumerState.EMPTY:
        return Safe("no pods")
    if consumer.deleted:
        return Safe("being deleted")
    return safe(consumer.reason if consumer.state is ConsumerState.RUNNING else "")


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
