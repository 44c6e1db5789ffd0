"""What is said of a workload without pods, who holds them back; and of one whose pods do not all do their work."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.gates.queues import HeldBy
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.made import refused_advice, refused_lines, refused_sentence
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.pending.queues import cluster_lines, queue_lines, queue_reason, work_lines
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, safe, styled
from kubectl_dra.output.words import ago, counted, every, listed
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.invocations import changing, kubectl, of, reading, try_dra, within
from kubectl_dra.reports.pending.ailing import AilingWorkload
from kubectl_dra.reports.pending.idle import JobEnd, WorkloadPendingReport, WorkloadVerdict

#: Upstream: pkg/apis/batch/types.go, JobReasonDeadlineExceeded.
_TOO_LATE: Final = "DeadlineExceeded"
_LONGER: Final = Safe("A longer spec.activeDeadlineSeconds: time that its pods wait for devices counts, too. ")
_SUSPENDED: Final = ("Job", "spec.suspend")
_SCALED: Final = ("Deployment", "StatefulSet")
_AGAIN: Final = Safe("A Job that has ended is not started again: delete it and create it again.")


def idle_summary(report: WorkloadPendingReport) -> Safe:
    """One sentence: why there are no pods."""
    name = fmt("{} {}", report.workload.kind, str(report.workload.key))
    if report.verdict is WorkloadVerdict.ELSEWHERE:
        return _elsewhere(report, name)
    if report.ended is not None:
        return _end_sentence(report.ended, name)
    if report.refused is not None:
        return fmt("{} has no pending pods: {}.", name, refused_sentence(report.refused, report.workload).rstrip("."))
    if report.queue is not None:
        suspended = Safe("is suspended and waits" if report.suspended_by else "waits")
        return fmt("{} {} in queue {}: {}.", name, suspended, report.queue.queue, queue_reason(report.queue))
    if report.verdict is WorkloadVerdict.SUSPENDED:
        return fmt("{} is suspended: it has no pods until {} is false.", name, report.suspended_by)
    return fmt("{} is scaled to 0.", name)


def _elsewhere(report: WorkloadPendingReport, name: Safe) -> Safe:
    if report.queue is not None and report.queue.held_by is HeldBy.OTHER_CLUSTER:
        text = (
            "{} runs in another cluster: MultiKueue dispatched it to {} (Workload {}). No pods of it are created here, "
            "and its status is copied from there."
        )
        return fmt(text, name, listed(report.queue.clusters), report.queue.workload)
    waits = fmt(" In queue {}: {}.", report.queue.queue, queue_reason(report.queue)) if report.queue else Safe("")
    text = "{} is managed by {} (spec.managedBy), so no controller of this cluster creates pods of it.{}"
    return fmt(text, name, report.managed_by, waits)


def _end_sentence(end: JobEnd, name: Safe) -> Safe:
    if not end.failed:
        return fmt("{} is complete: it creates no more pods.", name)
    return fmt("{} has failed ({}): {}. It creates no more pods.", name, end.reason, safe(end.message.rstrip(".")))


def _after_failure(report: WorkloadPendingReport, end: JobEnd, now: datetime, address: Address) -> Iterator[Safe]:
    """Since when, what its pods said last, and what has to be done before there are new ones."""
    job = of("job", report.workload.name)
    where = within(report.workload.namespace)
    if end.time:
        yield from wrapped(fmt("It failed {}.", ago(end.time, now)))
    late = end.reason == _TOO_LATE
    yield from wrapped(fmt("What usually helps: {}{}", _LONGER if late else Safe(""), _AGAIN))
    if not late:
        words = kubectl("logs", job, where, "--all-containers", "--tail=50")
        yield from command_line("What its pods wrote last: {}", reading(words, address))
    yield from command_line("Its events: {}", reading(kubectl("describe", job, where), address))


def idle_page(report: WorkloadPendingReport, now: datetime, address: Address = HERE) -> list[Safe]:
    """All lines; commands are for the cluster of ``address``."""
    lines = wrapped(styled(idle_summary(report), Style.BOLD))
    if report.ended is not None and report.ended.failed:
        lines += [Safe(""), *_after_failure(report, report.ended, now, address)]
    if report.queue is not None:
        lines += queue_lines(report.queue, report.workload.namespace, address, work=report.workload)
        lines += work_lines(report.queue, report.workload.namespace, address)
        lines += cluster_lines(report.queue, report.workload)
    if report.owner is not None and report.suspended_by:
        look = try_dra("why-pending", of(report.owner.kind.lower(), report.owner.name, report.owner.namespace))
        text = "It is a part of {} {}, which resumes it: {}" if look else "It is a part of {} {}, which resumes it."
        lines += wrapped(fmt(text, report.owner.kind, report.owner.name, *filter(None, [look])))
    return [*lines, *_devices(report), *_starting(report, address)]


def _starting(report: WorkloadPendingReport, address: Address) -> Iterator[Safe]:
    """The command for what was stopped on purpose, and nothing else starts."""
    workload = of(report.workload.kind.lower(), report.workload.name, report.workload.namespace)
    if report.owner is not None or report.queue is not None or report.ended is not None:
        return
    if report.verdict is WorkloadVerdict.SUSPENDED and (report.workload.kind, report.suspended_by) == _SUSPENDED:
        words = kubectl("patch", workload, "--type=merge", "-p", '{"spec":{"suspend":false}}')
        yield from command_line("To start it: {}", changing(words, address))
    elif report.verdict is WorkloadVerdict.SCALED_TO_ZERO and report.workload.kind in _SCALED:
        yield from command_line("To start it: {}", changing(kubectl("scale", workload, "--replicas=1"), address))


def refused_page(report: WorkloadPendingReport, now: datetime, address: Address = HERE) -> list[Safe]:
    """All lines about a workload whose controller is refused more pods."""
    lines = wrapped(styled(idle_summary(report), Style.BOLD))
    if report.refused is not None:
        lines += [*refused_lines(report.refused, now), Safe(""), *refused_advice(report.refused, address)]
    return lines


def _all_at_once(report: WorkloadPendingReport) -> Safe | None:
    """Whether all of its pods would fit at the same time; None where that was not tried."""
    found = report.all_pods
    if found is None:
        return None
    if not found.causes:
        return fmt(
            "It does not wait for devices yet: {} of its pods would fit now at the same time.", every(found.wanted)
        )
    who = fmt("{} pods", found.role) if found.role else Safe("pods")
    text = "If it were started now, {} of its {} {} would fit; the next one would not: {}."
    return fmt(text, found.copies, found.wanted, who, reason_sentence(found.causes[0]))


def _devices(report: WorkloadPendingReport) -> Iterator[Safe]:
    if report.ended is not None and report.fits is Fits.YES:
        where = listed(list(report.nodes.values()))
        yield from wrapped(
            fmt("Created again it would not wait for devices: one of its pods would fit now, on {}.", where)
        )
        return
    if (at_once := _all_at_once(report)) is not None and report.fits is Fits.YES:
        yield from wrapped(at_once)
    elif report.fits is Fits.YES and report.node:
        text = (
            "It does not wait for devices yet: one of its pods would fit now, on {}; whether all of them fit at once "
            "was not tried."
        )
        yield from wrapped(fmt(text, report.node))
    elif report.fits is Fits.YES:
        text = (
            "It does not wait for devices yet: one pod of each of its templates, each tried alone, would fit now ({}); "
            "whether all of its pods fit at once was not tried."
        )
        each = Safe(", ").join(fmt("{} on {}", role, node) for role, node in report.nodes.items())
        yield from wrapped(fmt(text, each))
    elif report.pending is not None and report.pending.causes:
        reason = main_reason(report.pending)
        who = fmt("{} pods", report.role) if report.role else Safe("pods")
        if report.fits is Fits.NO:
            yield from wrapped(fmt("Not even one of its {} would fit now: {}.", who, reason))
        else:
            yield from wrapped(fmt("Whether one of its {} fits: {}.", who, reason))
    elif report.untried:
        yield from wrapped(fmt("Whether one of its pods fits was not tried: {}.", safe(report.untried)))


def ailing_sentence(found: AilingWorkload) -> Safe:
    """``StatefulSet db/vec: 0 of 2 pods ready.``, and when the missing ones are made."""
    number = found.pods if found.wanted is None else found.wanted
    name = fmt("{} {}", found.workload.kind, str(found.workload.key))
    told = [fmt("{} of {} ready", found.ready, counted(number, "pod"))]
    told += [fmt("{} pending", found.waiting)] if found.waiting else []
    told += [fmt("{} not created", found.missing)] if found.missing else []
    text = fmt("{}: {}.", name, Safe(", ").join(told))
    if not found.one_by_one:
        return text
    return fmt("{} It makes a pod again when the old one is gone, and the next when those before are ready.", text)
