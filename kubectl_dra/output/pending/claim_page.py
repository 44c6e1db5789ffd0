"""One claim on one page: its state, what it asks for, who uses it, and why it hangs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ClaimVerdict, Consumers, ObjectRef
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.layout import paragraphs, wrapped
from kubectl_dra.output.pending.asks import ask_lines
from kubectl_dra.output.pending.evidence import evidence_lines
from kubectl_dra.output.pending.footer import codes_lines
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import Safe, Style, command, command_line, fmt, styled
from kubectl_dra.output.unread import around
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading
from kubectl_dra.reports.pending.claim_users import IdleUser
from kubectl_dra.reports.pending.pending import ClaimPendingReport

#: Of workloads that name the claim, so many are shown.
_USERS: Final = 2
_STATE: Final = {
    ClaimVerdict.PENDING: "has no devices yet",
    ClaimVerdict.ALLOCATED: "has its devices",
    ClaimVerdict.RESERVED: "has its devices and is in use",
    ClaimVerdict.UNRESERVED: "holds devices that nobody uses",
    ClaimVerdict.DELETING: "is being deleted",
}


def claim_pending_page(
    report: ClaimPendingReport, now: datetime, address: Address | None = None, *, told: bool = False
) -> list[Safe]:
    """All lines of one claim's report; ``told``: what could not be read is said around all pages."""
    blocks = [
        whatif_lines(report.what_if, address or HERE) if report.what_if is not None else [],
        wrapped(styled(claim_pending_summary(report), Style.BOLD)),
        list(ask_lines(report.asks)),
        _holds(report),
        [] if _waits_with_pod(report) else _evidence(report, now),
        _ending(report),
        _start(report, address or HERE),
        list(codes_lines(report.causes)),
    ]
    return around(paragraphs(blocks), () if told else report.missing, address)


def _ending(report: ClaimPendingReport) -> list[Safe]:
    """The command that ends what nobody needs any more; a line of its own, as it is pasted."""
    commands = ending_commands(report)
    head = Safe("To end the reservations of pods that are gone (the controller does it where it works):")
    return [*wrapped(head), *commands] if commands else []


def ending_commands(report: ClaimPendingReport) -> list[Safe]:
    """What ends the reservations of pods that are gone, a command per line; none where there is nothing to end."""
    return [line for words in report.ending if (line := command(words)) is not None]


def claim_pending_summary(report: ClaimPendingReport) -> Safe:
    users = Safe("").join(fmt(" {}.", _idle_user(each)) for each in report.idle_users[:_USERS])
    return fmt("ResourceClaim {} {}{}.{}", str(report.claim.key), Safe(_state(report)), _reason(report), users)


def _idle_user(user: IdleUser) -> Safe:
    """``Deployment notebook names it and has 0 replicas``."""
    why = Safe("has 0 replicas")
    if user.suspended_by:
        why = fmt("is suspended ({})", user.suspended_by)
    elif not user.scaled:
        why = Safe("has no pods here")
    return fmt("{} {} names it and {}", user.workload.kind, user.workload.name, why)


def _start(report: ClaimPendingReport, address: Address) -> list[Safe]:
    """What starts the pods that would use the claim, or says why they are held back."""
    lines: list[Safe] = []
    for each in report.idle_users[:_USERS]:
        named = of(each.workload.kind.lower(), each.workload.name, each.workload.namespace)
        if each.scaled and not each.suspended_by:
            text, words = "To start a pod of it: {}", changing(kubectl("scale", named, "--replicas=1"), address)
        else:
            text, words = "More about it: {}", reading(dra("why-pending", named), address)
        lines += command_line(text, words)
    return lines


def _state(report: ClaimPendingReport) -> str:
    """A reservation by what is gone is no use."""
    details = [cause.detail for cause in report.causes if cause.code is Code.CONSUMER_GONE]
    if report.verdict is ClaimVerdict.RESERVED and any(isinstance(d, Consumers) and not d.present for d in details):
        return "has its devices, which nobody uses"
    return _STATE[report.verdict]


def _waits_with_pod(report: ClaimPendingReport) -> bool:
    """Whether the causes are those of pods that want the claim; then the pods' own pages have the evidence."""
    return report.verdict is ClaimVerdict.PENDING and bool(report.waiting_pods)


def _reason(report: ClaimPendingReport) -> Safe:
    cause = report.causes[0] if report.causes else None
    if cause is None or cause.code is Code.CLAIM_UNUSED:
        return Safe("")
    if _waits_with_pod(report):
        text = " because pod {} waits, and why is unknown: {}" if _is_unread(cause) else " because pod {} waits: {}"
        return fmt(text, str(report.waiting_pods[0].key), reason_sentence(cause))
    text = ", and whether a pod waits with it is unknown: {}" if _is_unread(cause) else ": {}"
    return fmt(text, reason_sentence(cause))


def _is_unread(cause: Cause) -> bool:
    return cause.code is Code.EVIDENCE_MISSING


def _evidence(report: ClaimPendingReport, now: datetime) -> list[Safe]:
    return [line for cause in report.causes for line in evidence_lines(cause, report.claim.namespace, now)]


def _holds(report: ClaimPendingReport) -> list[Safe]:
    lines: list[Safe] = []
    if report.devices:
        lines += wrapped(
            fmt("{}: {}", counted(len(report.devices), "device"), listed(report.devices)), indent=4, first=2
        )
    if report.usable_on:
        lines += wrapped(fmt("usable on {}", listed(report.usable_on)), indent=4, first=2)
    if report.consumers:
        lines += wrapped(fmt("reserved for {}", _refs(report.consumers)), indent=4, first=2)
    if report.waiting_pods:
        lines += wrapped(fmt("wanted by {}", _refs(report.waiting_pods)), indent=4, first=2)
    return lines


def _refs(refs: Sequence[ObjectRef]) -> Safe:
    return listed([f"{ref.kind} {ref.name}" for ref in refs])
