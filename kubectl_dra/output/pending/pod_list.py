"""Pending pods one per line: a table for people, Markdown for tickets, CSV for spreadsheets, names for pipes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Agreement, Funnel, GangElsewhere, SchedulerName
from kubectl_dra.output.columns import WRITERS as TABLES
from kubectl_dra.output.layout import padded, width, wrapped
from kubectl_dra.output.pending.asks import ask_words
from kubectl_dra.output.pending.headline import pending_cause
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import age, ago, counted
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.scheduler.fit_error import without_preemption

COLUMNS: Final = ("namespace", "pod", "age", "code", "needs", "closest", "reason")
#: The formats beside the pages and documents.
FORMATS: Final = ("name", "markdown", "csv")
#: Pods with claims of their own get the same message up to the claim's name.
_CLAIM: Final = re.compile(r"\bclaim [a-z0-9.-]+/[a-z0-9.-]+")
_GAP: Final = Safe("  ")


class PodRow(msgspec.Struct, frozen=True):
    """One pod, by column; ``created`` sorts by age."""

    cells: dict[str, Safe]
    created: str

    def key(self, column: str) -> tuple[str, str]:
        """What sorts by a column: the oldest first by age, else by text."""
        return self.created if column == "age" else str(self.cells[column]), str(self.cells["pod"])


def pod_rows(reports: Sequence[PendingReport], now: datetime, sort_by: str = "") -> list[PodRow]:
    """The rows, in the order of the reports or by a column."""
    rows = [_row(report, now) for report in reports]
    return sorted(rows, key=lambda row: row.key(sort_by)) if sort_by else rows


def _row(report: PendingReport, now: datetime) -> PodRow:
    cells = {
        "namespace": safe(report.pod.namespace),
        "pod": safe(report.pod.name),
        "age": age(report.created or None, now),
        "code": safe(report.code or "-"),
        "needs": ask_words(report.asks, report.extended) or Safe("-"),
        "closest": _closest(report),
        "reason": pending_cause(report) or Safe("-"),
    }
    return PodRow(cells, report.created)


def _closest(report: PendingReport) -> Safe:
    """The node that comes closest by devices, with what it has of what is needed."""
    for cause in report.causes if report.code is not Code.FITS_NOW else ():
        if isinstance(cause.detail, Funnel) and cause.detail.needed:
            return fmt(
                "{} {}/{}", cause.detail.node, min(cause.detail.together, len(cause.detail.left)), cause.detail.needed
            )
    return Safe("-")


def table_lines(rows: Sequence[PodRow]) -> Iterator[Safe]:
    """One line per pod; names are never cut, the reason stands at the end."""
    heads = [Safe(column.upper()) for column in COLUMNS]
    sizes = [
        max(width(text) for text in (head, *(row.cells[c] for row in rows)))
        for head, c in zip(heads, COLUMNS, strict=True)
    ]
    yield _line(heads, sizes)
    yield from (_line([row.cells[column] for column in COLUMNS], sizes) for row in rows)


def _line(cells: Sequence[Safe], sizes: Sequence[int]) -> Safe:
    return Safe(_GAP.join([padded(cell, size) for cell, size in zip(cells, sizes, strict=True)]).rstrip())


def _as(name: str) -> Callable[[Sequence[PodRow]], Iterator[Safe]]:
    titles = [column.upper() for column in COLUMNS]
    return lambda rows: TABLES[name](titles, ([row.cells[column] for column in COLUMNS] for row in rows))


def name_lines(rows: Sequence[PodRow]) -> Iterator[Safe]:
    """``pod/NAME``, as ``kubectl get -o name``."""
    return (Safe("pod/") + row.cells["pod"] for row in rows)


WRITERS: Final[dict[str, Callable[[Sequence[PodRow]], Iterator[Safe]]]] = {
    "wide": table_lines,
    "markdown": _as("markdown"),
    "csv": _as("csv"),
    "name": name_lines,
}


def message_lines(reports: Sequence[PendingReport], now: datetime, *, told: bool = False) -> Iterator[Safe]:
    """The distinct messages of the scheduler, the most frequent first, with the age of the oldest pod.

    ``told``: the causes stand above, so that a message which says the same is not repeated.
    """
    spoken = [report for report in reports if report.observed is not None and report.observed.message]
    same = [report for report in spoken if told and report.agreement is Agreement.AGREES]
    rest = [report for report in spoken if not (told and report.agreement is Agreement.AGREES)]
    if same:
        when = ago(max(map(_last_said, same)), now)
        on = fmt(" on {}", counted(len(same), "pod")) if len(same) < len(spoken) else Safe("")
        text = "its message{} matches this diagnosis" if len(same) == 1 else "its messages{} match these diagnoses"
        yield from wrapped(fmt("Scheduler, {}: {}.", when, fmt(text, on)))
    found: dict[str, list[PendingReport]] = {}
    for report in rest:
        if report.observed is not None:
            message = _CLAIM.sub("claim …", without_preemption(report.observed.message))
            found.setdefault(message, []).append(report)
    if found:
        yield Safe("The scheduler's other messages:" if same else "The scheduler's messages:")
    for message, about in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        oldest = min((each.created for each in about if each.created), default=None)
        latest = max(map(_last_said, about))
        which = Safe("the oldest created" if len(about) > 1 else "created")
        head = fmt("{}, {} {}, last said {}", counted(len(about), "pod"), which, ago(oldest, now), ago(latest, now))
        yield from wrapped(fmt("{}: {}", head, message), indent=4, first=2)


def _last_said(report: PendingReport) -> str:
    """When a scheduler said why the pod waits: another one's events are newer than what it wrote into the pod."""
    spoken = report.causes[0].detail if report.causes else None
    of_event = spoken.time if isinstance(spoken, SchedulerName | GangElsewhere) else ""
    return max(of_event, report.observed.time if report.observed is not None else "")
