"""What is said of a workload without pods: who holds them back, and whether devices would be there."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.queues import queue_lines, queue_reason
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.idle import WorkloadPendingReport, WorkloadVerdict


def idle_summary(report: WorkloadPendingReport) -> Safe:
    """One sentence: why there are no pods."""
    name = fmt("{} {}", report.workload.kind, str(report.workload.key))
    if report.queue is not None:
        return fmt("{} is suspended and waits in queue {}: {}.", name, report.queue.queue, queue_reason(report.queue))
    if report.verdict is WorkloadVerdict.SUSPENDED:
        return fmt("{} is suspended: it has no pods until spec.suspend is false.", name)
    return fmt("{} is scaled to 0.", name)


def idle_page(report: WorkloadPendingReport) -> list[Safe]:
    """All lines."""
    lines = wrapped(styled(idle_summary(report), Style.BOLD))
    if report.queue is not None:
        lines += queue_lines(report.queue, report.workload.namespace)
    return [*lines, *_devices(report)]


def _devices(report: WorkloadPendingReport) -> Iterator[Safe]:
    if report.fits is Fits.YES:
        text = "One of its pods would fit now, on {}: devices are not what it waits for."
        yield from wrapped(fmt(text, report.node))
    elif report.pending is not None and report.pending.causes:
        reason = reason_sentence(report.pending.causes[0])
        text = "Not even one of its pods would fit now: {}." if report.fits is Fits.NO else "Whether it fits: {}."
        yield from wrapped(fmt(text, reason))
