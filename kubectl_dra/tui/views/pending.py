"""Pods that wait for devices, in groups by their main reason that fold; beside the list why the one under the cursor
does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Agreement
from kubectl_dra.model.ids import Key
from kubectl_dra.output.layout import padded
from kubectl_dra.output.pending.asks import ask_words
from kubectl_dra.output.pending.headline import pending_cause
from kubectl_dra.output.pending.lingering import OVERDUE as SHOULD_HAVE_ENDED
from kubectl_dra.output.pending.lingering import overdue_cause
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.pending.reasons import title
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import age, counted
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.pending.by_reason import reason_groups
from kubectl_dra.reports.pending.idle import WorkloadPendingReport
from kubectl_dra.reports.pending.lingering import LingeringPod
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.unread import PENDING_PODS
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import OVERDUE, PodQuery
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.views.diagnosis import DiagnosisView
from kubectl_dra.tui.views.reader import PrintedPage, ReportView
from kubectl_dra.tui.views.reasons import ExplanationView
from kubectl_dra.tui.views.workloads import in_namespace, lacking_words
from kubectl_dra.tui.work import WORK

# What is done with a pod, and not with the heading of a group.
_OF_A_POD: Final = frozenset({"used_by", "tree", "describe"})
_MARKS: Final = {Agreement.STALE: "stale", Agreement.DIFFERS: "differs"}


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A pod with its report; a row without a pod is the heading of a reason."""

    pod: Key | None
    report: PendingReport | None
    code: Code | None = None
    number: int = 0
    of: int = 0


class PendingView(ListView[PendingRow]):
    """The list by reason; ``only`` leaves one reason."""

    extras = frozenset({"namespace"})
    describes_row = True
    crumb = Safe("pending")
    nothing = Safe("No pod with device claims is pending.")
    about = PENDING_PODS
    document = object_document("Pod")

    def __init__(self) -> None:
        super().__init__()
        self._goes_to_undiagnosed = False
        self._causes: dict[Key, tuple[PendingReport, Safe]] = {}
        # Codes of groups that only show their heading; None stands for pods that are being diagnosed.
        self._folded: frozenset[Code | None] = frozenset()
        self.grid.stops_at_headings = True
        self.grid.sideways = self._fold_sideways

    def on_resize(self) -> None:
        """Only a list with a size can be scrolled to the pods that somebody came for."""
        super().on_resize()
        self.call_after_refresh(self.show)

    def queries(self) -> Sequence[Query[object]]:
        """The pod under the cursor first."""
        row = self.grid.selected
        first = [PodQuery(row.pod)] if row is not None and row.pod is not None else []
        return [*first, *(PodQuery(key) for key in self._keys), WORK, OVERDUE]

    @property
    def _overdue(self) -> Mapping[Key, LingeringPod]:
        """Pods that wait for nothing, but that others wait for."""
        found = {each.pod.key: each for each in self.worker.record(OVERDUE) or ()}
        return {key: each for key, each in found.items() if self.dra.namespace in ("", key.namespace)}

    @property
    def _keys(self) -> Sequence[Key]:
        return tuple(dict.fromkeys((*self.dra.pending_keys(), *self._overdue)))

    @property
    def nothing_words(self) -> Safe:
        """That no pod waits, and which workloads lack theirs."""
        return Safe(" ").join(filter(None, [self.nothing, lacking_words(self._lacking)]))

    @property
    def _lacking(self) -> Sequence[WorkloadPendingReport]:
        return in_namespace(self.worker.record(WORK) or (), self.dra.namespace)

    def columns(self) -> Sequence[Column[PendingRow]]:
        # Beside the list stands why; without it the list says so itself.
        what: Column[PendingRow] = Column("WHY", self._why, least=20)
        if self.has_class("previewing"):
            what = Column("REQUESTS", _asks, least=12)
        # In a narrow list a column that is empty for nearly all pods would take from each of them what is wrong.
        marks: list[Column[PendingRow]] = [Column("", _mark, drop=1)] if self.dra.room >= Room.SPLIT else []
        return [
            Column("  POD", self._pod_name, least=16, key=lambda r: r.pod or Key("", "")),
            what,
            *marks,
            Column("AGE", self._age, right=True, key=self._created),
        ]

    def all_rows(self) -> Sequence[PendingRow] | None:
        """Headings and pods, the most frequent reason first; pods that are still being diagnosed last."""
        if not self.dra.knows_pending:
            return None
        return list(self._grouped())

    def _grouped(self) -> Iterator[PendingRow]:
        keys = self._keys
        reports = {key: self.worker.record(PodQuery(key)) for key in keys}
        known = [report for report in reports.values() if report is not None]
        for group in reason_groups(known):
            pods = [Key(ref.namespace, ref.name) for ref in group.pods]
            yield PendingRow(None, None, group.code, len(pods))
            yield from (PendingRow(pod, reports[pod], group.code) for pod in pods)
        waiting = [key for key, report in reports.items() if report is None]
        if waiting:
            yield PendingRow(None, None, None, len(waiting), len(keys))
            yield from (PendingRow(key, None) for key in waiting)

    def heading(self, row: PendingRow) -> Safe | None:
        """``▾ devices in use  5  DRA-211``."""
        if row.pod is not None:
            return None
        arrow = Safe("▸ " if row.code in self._folded and not self.filter else "▾ ")
        if row.code is None:
            return arrow + fmt("being diagnosed  {} of {}", row.number, row.of)
        code = styled(safe(row.code), Style.DIM)
        return arrow + padded(title(row.code), 30) + " " + styled(padded(fmt("{}", row.number), 6), Style.NAME) + code

    def arranged(self, rows: Sequence[PendingRow]) -> Sequence[PendingRow]:
        """Sorted inside of each reason."""
        column = self.grid.sorted_by
        if column is None or column.key is None:
            return rows
        arranged: list[PendingRow] = []
        part: list[PendingRow] = []
        for row in [*rows, PendingRow(None, None)]:
            if row.pod is None:
                arranged += sorted(part, key=column.key, reverse=self.grid.descending)
                part = []
                arranged.append(row)
            else:
                part.append(row)
        return arranged[:-1]

    def filtered(self, rows: Sequence[PendingRow]) -> Sequence[PendingRow]:
        """Headings stay where a pod of theirs does; without a filter, all that is not folded away."""
        if not self.filter:
            return [row for row in rows if row.pod is None or row.code not in self._folded] if self._folded else rows
        pods = {row.pod for row in super().filtered([row for row in rows if row.pod is not None])}
        kept: list[PendingRow] = []
        for row in reversed(rows):
            heads = row.pod is None and kept and kept[-1].pod is not None and kept[-1].code == row.code
            if heads or row.pod in pods:
                kept.append(row)
        return kept[::-1]

    def identity(self, row: PendingRow) -> Hashable:
        return row.pod or row.code or ""

    def can(self, action: str) -> bool:
        """Of a heading only what a reason has."""
        row = self.grid.selected
        if row is not None and row.pod is None and action in _OF_A_POD:
            return False
        return (row is not None and row.code is not None) if action == "explain" else super().can(action)

    def text_of(self, row: PendingRow) -> str:
        """With the reason, which stands in the heading."""
        return f"{row.pod} {row.code or ''} {title(row.code)}"

    def opened(self, row: PendingRow) -> None:
        """The diagnosis; a heading folds or unfolds its pods."""
        if row.pod is not None:
            self.dra.push(DiagnosisView(row.pod))
        else:
            self.do_fold()

    @property
    def saved_columns(self) -> Sequence[Column[PendingRow]]:
        """With the reason, which stands in the heading."""
        return [*super().saved_columns, Column("REASON", lambda row: safe(row.code or ""))]

    # --- folding ----------------------------------------------------------------------------------------------------

    @property
    def manner(self) -> tuple[object, ...]:
        return *super().manner, self._folded

    def do_fold(self) -> None:
        """Fold the group under the cursor to its heading, or unfold it."""
        row = self.grid.selected
        if row is not None and self.filter:
            self.dra.say(Safe("groups do not fold while a filter is active: esc drops it"))
        elif row is not None:
            self._set_folded(self._folded ^ {row.code})

    def do_fold_all(self) -> None:
        every = frozenset(row.code for row in self.all_rows() or () if row.pod is None)
        self._set_folded(frozenset() if self._folded else every)

    def _fold_sideways(self, where: str) -> bool:
        """Left folds, right unfolds."""
        row = self.grid.selected
        if row is not None and (row.code in self._folded) is (where == "right"):
            self.do_fold()
        return True

    def _set_folded(self, folded: frozenset[Code | None]) -> None:
        row = self.grid.selected
        self._folded = folded
        if row is not None and row.code in folded:
            self._go_to_heading(row.code)
        self.show()
        self.dra.refresh_frame()

    def _go_to_heading(self, code: Code | None) -> None:
        """The cursor stays with the group whose pods leave."""
        places = (place for place, row in enumerate(self.grid.rows) if row.pod is None and row.code == code)
        self.grid.go_to(next(places, self.grid.cursor))

    # --- the row under the cursor -----------------------------------------------------------------------------------

    def named_by(self, row: PendingRow) -> Key | None:
        return row.pod

    def preview_of(self, row: PendingRow) -> ReportView | None:
        """Why it waits, without ways out; of a heading what the reason means."""
        if row.pod is not None:
            return PrintedPage(PodQuery(row.pod), self._page, DiagnosisView.gone)
        return ExplanationView(row.code) if row.code is not None else None

    def _page(self, report: PendingReport) -> Sequence[Safe]:
        """As why-pending prints it; ways out are only tried for the pod that is opened."""
        more = styled(Safe("enter tries what would make it fit"), Style.DIM)
        return [*pending_page(report, self.dra.now, self.dra.address, more=Safe("")), Safe(""), more]

    def go_to_undiagnosed(self) -> None:
        """Put the cursor on the first pod without a reason, now or when the list is there."""
        self._goes_to_undiagnosed = True
        self.show()

    def show(self) -> None:
        """The list, and the pods that somebody came for."""
        super().show()
        if self._goes_to_undiagnosed and self.grid.rows and self.grid.size.height:
            self._goes_to_undiagnosed = False
            self.grid.select(lambda row: row.code is None)

    def do_describe(self) -> None:
        self.do_open()

    def do_used_by(self) -> None:
        row = self.grid.selected
        asks = row.report.asks if row is not None and row.report is not None else ()
        self.dra.open_claims_of([Key(ask.namespace, ask.name) for ask in asks if ask.name])

    def do_tree(self) -> None:
        if self.grid.selected is not None and self.grid.selected.pod is not None:
            self.dra.open_tree(self.grid.selected.pod)

    def do_explain(self) -> None:
        if self.grid.selected is not None and self.grid.selected.code is not None:
            self.dra.open_explanation(self.grid.selected.code)

    @property
    def focus_target(self) -> Any:  # noqa: ANN401 - a widget
        return self.grid

    @property
    def info(self) -> Safe:
        rows = self.all_rows()
        if rows is None:
            return Safe("")
        ending = self._overdue
        pods = [row for row in rows if row.pod is not None and row.pod not in ending]
        bound = self.dra.unread(PENDING_PODS, shown=bool(pods)).bound
        if not pods and bound is not Bound.EXACT:
            return Safe("? pods")
        shown = sum(row.pod is not None and row.pod not in ending for row in self.grid.rows)
        of = fmt("{} of ", shown) if shown != len(pods) else Safe("")
        parts = [of + fmt("{}{}", Safe(bound.sign), counted(len(pods), "pod"))]
        if pods or not ending:
            parts.append(counted(len({row.code for row in pods}), "reason"))
        if ending:
            parts.append(fmt("{} {}", len(ending), Safe(SHOULD_HAVE_ENDED)))
        if self._lacking:
            parts.append(fmt("{} without pods", counted(len(self._lacking), "workload")))
        return Safe(", ").join(parts)

    def _pod_name(self, row: PendingRow) -> Safe:
        if row.pod is None:
            return Safe("")
        return Safe("  ") + safe(row.pod.name if self.dra.namespace else str(row.pod))

    def _why(self, row: PendingRow) -> Safe:
        """The cause, as the page's first sentence says it; kept, because every letter of a filter looks through it."""
        if row.report is None or row.pod is None:
            return styled(Safe("…"), Style.DIM) if row.pod is not None else Safe("")
        known = self._causes.get(row.pod)
        if known is None or known[0] is not row.report:
            ending = self._overdue.get(row.pod)
            cause = overdue_cause([ending]) if ending is not None else None
            known = self._causes[row.pod] = row.report, cause or pending_cause(row.report)
        return known[1]

    def _created(self, row: PendingRow) -> str:
        pod = self.dra.state_now.inventory.pods.get(row.pod) if row.pod is not None else None
        return (pod.metadata.creation_timestamp if pod is not None else None) or ""

    def _age(self, row: PendingRow) -> Safe:
        created = self._created(row)
        return age(created, self.dra.now) if created else Safe("")


def _asks(row: PendingRow) -> Safe:
    return ask_words(row.report.asks, row.report.extended) if row.report is not None else Safe("")


def _mark(row: PendingRow) -> Safe:
    """What the scheduler wrote is not what it would write now."""
    word = _MARKS.get(row.report.agreement) if row.report is not None else None
    return styled(Safe(word), Style.DIM) if word is not None else Safe("")
