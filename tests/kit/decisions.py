"""What the scheduler makes of a pod, put together from its steps: outcome, reason and message of its PodScheduled.

Recorded answers of the real scheduler are held against it. ``diagnosis.pod.judgement`` answers another question: not
what one attempt does, which starts at a known node and ends with PostFilter, but what the scheduler may do and write
wherever it starts, where some of the cluster may be unread. Upstream: handleSchedulingFailure, FitError.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from kubectl_dra.model.core import Pod
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.attempt import Attempt, Scores, attempt, scores
from kubectl_dra.scheduler.gangs.trial import first_error, processed
from kubectl_dra.scheduler.preemption import PreemptionResult, post_filter
from kubectl_dra.scheduler.queue import SCHEDULING_GATES, gates
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import Status, StatusCode


class Outcome(StrEnum):
    """``OPEN``: something that decides was not read."""

    FITS = "fits"
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"
    GATED = "gated"
    IGNORED = "ignored"
    OPEN = "open"


@dataclass(frozen=True)
class Decision:
    """The outcome of one attempt. ``base`` is the message before PostFilter added its part.

    ``preemption``: whether evicting others would help; None where that was not asked. ``processed``: how far the
    attempt moves the node at which the scheduler starts the next time.
    """

    outcome: Outcome
    reason: str = ""
    message: str = ""
    base: str = ""
    gates: tuple[Status, ...] = ()
    attempt: Attempt | None = None
    scores: Scores | None = None
    preemption: PreemptionResult | None = None
    processed: int = 0


def _ignored(snapshot: Snapshot, pod: Pod) -> bool:
    """Whether the pod is another scheduler's, or is being deleted."""
    ours = (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in snapshot.state.schedulers
    return not ours or pod.metadata.deletion_timestamp is not None


def decide(snapshot: Snapshot, pod: Pod, start: int = 0) -> Decision:
    """What happens to ``pod``. ``start``: the node at which the scheduler starts, which decides between errors."""
    if _ignored(snapshot, pod):
        return Decision(Outcome.IGNORED)
    if held := tuple(gates(snapshot, pod)):
        if any(status.code is StatusCode.UNKNOWN for status in held):
            return Decision(Outcome.OPEN, gates=held)
        by_gates = any(status.plugin == SCHEDULING_GATES for status in held)
        text = (fit_error.SCHEDULING_GATED, fit_error.GATED_MESSAGE) if by_gates else ("", "")
        return Decision(Outcome.GATED, *text, gates=held)
    if not snapshot.nodes:
        message = fit_error.NO_NODES_MESSAGE
        return Decision(Outcome.UNSCHEDULABLE, fit_error.UNSCHEDULABLE, message, message)
    found = attempt(snapshot, pod)
    return replace(_decide(found, start), processed=processed(found, start))


def _decide(found: Attempt, start: int) -> Decision:
    total = len(found.cycle.snapshot.nodes)
    if found.selection.unsure:
        return Decision(Outcome.OPEN, attempt=found)
    stop = found.stop
    if stop is not None:
        if stop.code is StatusCode.ERROR:
            return _error(stop, found)
        return _unschedulable(fit_error.pre_filter_rejection(total, stop.message), found)
    nominated = found.cycle.pod.status.nominated_node_name
    if found.errors and nominated not in found.feasible:
        return _error(first_error(found, start), found)
    if found.feasible:
        chosen = scores(found)
        if chosen.failed is not None:
            return _error(chosen.failed, found)
        return Decision(Outcome.FITS, attempt=found, scores=chosen)
    if found.open or any(verdict.unsure for verdict in found.verdicts.values()):
        return Decision(Outcome.OPEN, attempt=found)
    return _unschedulable(fit_error.fit_error(total, _reasons(found)), found)


def _unschedulable(base: str, found: Attempt) -> Decision:
    after = post_filter(found)
    message = f"{base} {after.message}" if after.message else base
    return Decision(
        Outcome.UNSCHEDULABLE, fit_error.UNSCHEDULABLE, message, base, attempt=found, preemption=after.preemption
    )


def _error(status: Status, found: Attempt) -> Decision:
    return Decision(Outcome.ERROR, fit_error.SCHEDULER_ERROR, status.message, status.message, attempt=found)


def _reasons(found: Attempt) -> Iterator[str]:
    for name in found.cycle.snapshot.nodes:
        yield from found.status_of(name).reasons
