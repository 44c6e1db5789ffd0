"""Where the nodes fall away: the tables of a page, of each request that is in the way."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Funnel
from kubectl_dra.output.pending.asks import extended_title
from kubectl_dra.output.pending.funnel import MAX_FUNNELS, FunnelView, funnel_lines, funnel_views, is_said, is_served
from kubectl_dra.output.pending.together import constraint_tells_all
from kubectl_dra.output.safe import Safe, fmt, plain
from kubectl_dra.reports.pending.pending import PendingReport


def tables(report: PendingReport, first: Sequence[Safe], others: Safe) -> list[list[Safe]]:
    """Where the nodes fall away, unless the ``first`` lines tell all of it; ``others`` shows those left out."""
    if told_by_nodes(report) and not constraint_tells_all(report.causes, report.nodes):
        return _funnels(report, others, first)
    return []


def joined(lines: Sequence[Safe]) -> str:
    """The text of lines that were wrapped."""
    return " ".join(" ".join(map(plain, lines)).split())


def told_by_nodes(report: PendingReport) -> bool:
    """Whether the nodes prove something: of a pod that fits now those that it does not fit on are no matter."""
    return report.code is not Code.FITS_NOW


def _funnels(report: PendingReport, others: Safe, first: Sequence[Safe]) -> list[list[Safe]]:
    said = joined(first)
    views = funnel_views(report.nodes)
    several = len(views) > 1
    blocks = []
    views = [view for view in views[:MAX_FUNNELS] if not (several and _is_no_cause(report, view))]
    untold = [view for view in views if not _is_said(report, view, said, several=several)]
    # Beside a table of another request that of the one in the way is missed, whatever the first line says.
    for view in views if untold else ():
        if view not in untold and not _is_about(report, view):
            continue
        lines = list(funnel_lines(view, report.certainty, others, said))
        if lines and several:
            title = fmt("Request {} (claim {})", view.request, view.claim.name)
            lines = [extended_title(view.request, report.extended) or title, *lines]
        blocks.append(lines)
    return blocks


def _is_said(report: PendingReport, view: FunnelView, said: str, *, several: bool) -> bool:
    alone = not several or "/" in view.request or _is_about(report, view)
    return alone and is_said(view, report.certainty, said, about=_is_about(report, view))


def _is_no_cause(report: PendingReport, view: FunnelView) -> bool:
    """Whether another request alone is in the way: this one finds enough on every node that has any of its devices."""
    cause = report.causes[0] if report.causes else None
    if cause is None or not cause.request or (cause.claim, cause.request) == (view.claim, view.request):
        return False
    return cause.code is not Code.REQUESTS_COMPETE and is_served(view)


def _is_about(report: PendingReport, view: FunnelView) -> bool:
    """Whether the first sentence is about that request."""
    cause = report.causes[0] if report.causes else None
    if cause is None or not isinstance(cause.detail, Funnel):
        return False
    return (cause.claim, cause.request) == (view.claim, view.request)
