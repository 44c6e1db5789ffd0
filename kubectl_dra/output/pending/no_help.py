"""Below the ways out: what none of them changes, and what people try first that does not help."""

from __future__ import annotations

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ClaimElsewhere, Funnel, StageName, Verdict
from kubectl_dra.diagnosis.remedies.records import CreateObject
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.pods_there import whose
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.reports.pending.pending import PendingReport


def where_devices_are(report: PendingReport) -> list[Safe]:
    """What no edit of the request changes, and how work is laid out instead."""
    detail = report.causes[0].detail if report.causes and report.verdict is Verdict.UNSCHEDULABLE else None
    if report.code is Code.TOO_FEW_DEVICES and isinstance(detail, Funnel) and _enough_in_sum(report, detail):
        return wrapped(
            Safe("A pod gets all its devices on one node; work split over several pods can use several nodes.")
        )
    own = any(isinstance(each, CreateObject) and each.like for way in report.remedies for each in way.actions)
    if isinstance(detail, ClaimElsewhere) and detail.consumers and detail.others and not own:
        text = (
            "Pods that share a claim run where its devices are; with a ResourceClaimTemplate each pod gets devices of "
            "its own."
        )
        return wrapped(Safe(text))
    return []


def _enough_in_sum(report: PendingReport, needed: Funnel) -> bool:
    """Whether all nodes together have as many devices as one is asked for."""
    free = sum(
        group.count * len(each.funnel.left) for group in report.nodes for each in group.requests[:1] if each.funnel
    )
    return 1 < needed.needed <= free


def admin_access(report: PendingReport) -> list[Safe]:
    """What admin access is for, where a taint is in its way."""
    admins = {(ask.name, request.name) for ask in report.asks for request in ask.requests if request.admin_access}
    tainted = (
        (each.claim.name, each.request) in admins and bool(each.funnel.stage(StageName.TAINTS).removed)
        for group in report.nodes
        for each in group.requests
        if each.funnel is not None
    )
    if report.verdict is not Verdict.UNSCHEDULABLE or not any(tainted):
        return []
    return wrapped(Safe("Admin access opens devices that are in use, but no tainted ones: these need a toleration."))


def evicts_nobody(report: PendingReport) -> list[Safe]:
    """What people try first, and what it does not change."""
    if report.verdict is not Verdict.UNSCHEDULABLE or report.preemption is None:
        return []
    holders = report.preemption.holders
    if holders is None:
        return []
    lowest, highest = holders.priorities[0], holders.priorities[-1]
    theirs = Safe(str(lowest)) if lowest == highest else fmt("{} to {}", str(lowest), str(highest))
    text = "The scheduler does not evict {}, of lower priority ({}; its own is {}): preemption does not free devices."
    return wrapped(fmt(text, whose(holders.pods), theirs, str(holders.own)))
