"""The scheduler's own words at the end of a page, and whether they match the diagnosis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.records import Agreement, FatalError, Verdict
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import GAP, closed, width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import ago
from kubectl_dra.reports.pending import PendingReport
from kubectl_dra.scheduler.fit_error import without_preemption

#: What the first line and the ways out have of an error of a selector (plugins/dynamicresources, cel).
_ON_A_DEVICE: Final = re.compile(r"(?:claim|class) \S+: selector #[0-9]+ on device \S+: ")
_COUNT_OF_NODES: Final = re.compile("^0/[0-9]+ nodes are available: ")
_HINT: Final = re.compile(r"\. consider using CEL optional chaining \(.*$")
AGREEMENT: Final = {
    Agreement.AGREES: "matches this diagnosis",
    Agreement.STALE: "outdated: the cluster has changed since",
    Agreement.DIFFERS: "differs from this diagnosis: please report it with a snapshot",
    Agreement.UNOBSERVED: "nothing written yet",
    Agreement.UNCHECKED: "could not be compared",
}


def fault_of(report: PendingReport) -> FatalError | None:
    """The first error of a selector, which is marked where the selector stands."""
    return next((cause.detail for cause in report.causes if isinstance(cause.detail, FatalError)), None)


def scheduler_lines(report: PendingReport, now: datetime) -> Iterator[Safe]:
    """What the scheduler wrote, and whether that is what the diagnosis predicts."""
    seen = report.observed
    if report.verdict is Verdict.BINDING and report.agreement is Agreement.STALE:
        # Of an earlier attempt, which is over.
        return
    if seen is not None and seen.status == "False":
        reason = Safe("") if seen.reason == "Unschedulable" else fmt(" ({})", seen.reason)
        lead, right = fmt("Scheduler, {}{}", ago(seen.time, now), reason), Safe(AGREEMENT[report.agreement])
        words = fmt("{}: {}", lead, _words(report, seen.message))
        # Its count of nodes decides nothing where all that follows has room in the same line.
        short = fmt("{}: {}", lead, _COUNT_OF_NODES.sub("… ", _words(report, seen.message)))
        fits = report.agreement is Agreement.AGREES and width(short) + GAP + width(right) <= page_width()
        yield from closed(short if fits else words, styled(right, Style.DIM))
        if report.agreement is Agreement.STALE and report.message:
            yield from wrapped(fmt("It would now write: {}", report.message))
        if report.agreement is Agreement.DIFFERS and report.message:
            yield from wrapped(fmt("This diagnosis expects: {}", report.message))
    elif report.verdict is Verdict.GATED:
        yield Safe("The scheduler has not tried the pod yet, so it has written nothing.")
    elif report.message:
        yield from wrapped(fmt("The scheduler has written nothing yet; it would write: {}", report.message))


def _words(report: PendingReport, message: str) -> str:
    """The scheduler's words, without the claim, the device and the hint where the page has them already.

    Whom it evicts is told where that is under way, and else more shortly elsewhere.
    """
    if report.agreement is Agreement.AGREES and fault_of(report) is not None:
        return _HINT.sub(" …", _ON_A_DEVICE.sub("… ", message))
    return message if _is_evicting(report) else without_preemption(message)


def _is_evicting(report: PendingReport) -> bool:
    return report.preemption is not None and report.preemption.under_way
