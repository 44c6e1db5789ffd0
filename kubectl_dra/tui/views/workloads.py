"""Workloads that lack pods with devices, which no pod tells of; and how far one workload is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.api.controllers import MAKERS
from kubectl_dra.api.kinds import KINDS, Kind
from kubectl_dra.model.ids import Key
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.idle import ailing_sentence, idle_page, refused_page
from kubectl_dra.output.pending.made import refused_sentence
from kubectl_dra.output.pending.queued_work import work_summary
from kubectl_dra.output.pending.queues import queue_reason
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.pending.idle import WorkloadPendingReport
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.host import Host
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import PodQuery
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.views.reader import PrintedPage, RecordPage, ReportView
from kubectl_dra.tui.work import WORK, WorkloadQuery, WorkloadState

#: So many pods have their cause on the page of their workload; all are a key away.
_SHOWN: Final = 8


def lacking_words(found: Sequence[WorkloadPendingReport]) -> Safe:
    """``1 workload cannot create pods with devices: :workloads says why``; empty where none lacks any."""
    if not found:
        return Safe("")
    return fmt("{}: :workloads says why", work_summary(found, ""))


def in_namespace(found: Sequence[WorkloadPendingReport], namespace: str) -> Sequence[WorkloadPendingReport]:
    """Those of a namespace, empty for all."""
    return [each for each in found if namespace in ("", each.workload.namespace)] if namespace else found


class WorkloadsView(ListView[WorkloadPendingReport]):
    """Refused by the API server, or in a queue; enter opens why."""

    extras = frozenset({"namespace"})
    crumb = Safe("workloads")
    nothing = Safe("No workload that lacks pods with devices is known.")
    describes_row = True

    def queries(self) -> Sequence[Query[object]]:
        return (WORK,)

    def all_rows(self) -> Sequence[WorkloadPendingReport] | None:
        rows = self.worker.record(WORK)
        return in_namespace(rows, self.dra.namespace) if rows is not None else None

    def columns(self) -> Sequence[Column[WorkloadPendingReport]]:
        return [
            Column("KIND", lambda row: safe(row.workload.kind), key=lambda row: row.workload.kind),
            Column("NAME", lambda row: safe(str(row.workload.key)), least=12, key=lambda row: str(row.workload.key)),
            Column("QUEUE", lambda row: safe(row.queue.queue if row.queue is not None else "-"), drop=1),
            Column("WHY", _why, least=20),
        ]

    def identity(self, row: WorkloadPendingReport) -> tuple[str, str]:
        return row.workload.kind, str(row.workload.key)

    def can(self, action: str) -> bool:
        """Of workloads only what decides was read."""
        return action != "yaml" and super().can(action)

    def named_by(self, row: WorkloadPendingReport) -> str:
        return str(row.workload.key)

    def do_describe(self) -> None:
        self.do_open()

    def do_why(self) -> None:
        self.do_open()

    def preview_of(self, row: WorkloadPendingReport) -> ReportView:
        return PrintedPage(WORK, lambda found: self._page(found, row), gone=WorkloadPage.gone)

    def _page(self, found: Sequence[WorkloadPendingReport], row: WorkloadPendingReport) -> Sequence[Safe]:
        same = next((each for each in found if self.identity(each) == self.identity(row)), None)
        return [WorkloadPage.gone] if same is None else report_page(same, self.dra)

    def opened(self, row: WorkloadPendingReport) -> None:
        """What it says of itself, where it was read: also whether its pods would fit."""
        ref, inventory = row.workload, self.dra.state_now.inventory
        known = (ref.kind, *ref.key)
        kind = next((kind for kind in (*KINDS, *MAKERS) if kind.name == ref.kind), None)
        if kind is not None and (known in inventory.workloads or known in inventory.makers):
            self.dra.push(WorkloadPage(kind, ref.key))
        else:
            crumb = fmt("{} {}", ref.kind, str(ref.key))
            self.dra.push(PrintedPage(WORK, lambda found: self._page(found, row), WorkloadPage.gone, crumb))


def _why(row: WorkloadPendingReport) -> Safe:
    if row.refused is not None:
        return refused_sentence(row.refused, row.workload)
    return queue_reason(row.queue) if row.queue is not None else Safe("")


def report_page(report: WorkloadPendingReport, host: Host) -> list[Safe]:
    """As why-pending prints it."""
    page = refused_page if report.refused is not None else idle_page
    return page(report, host.now, host.address)


class WorkloadPage(RecordPage[WorkloadState]):
    """How far it is, why it lacks pods, and the pods that wait; enter opens these."""

    gone = Safe("The workload does not exist, or has no pods and could not be read.")

    def __init__(self, kind: Kind, key: Key) -> None:
        super().__init__(WorkloadQuery(kind, key))
        self.crumb = fmt("{} {}", kind.name, str(key))

    @property
    def _pods(self) -> Sequence[Key]:
        found = self.worker.record(self.question)
        return found.pods if found is not None else ()

    def queries(self) -> Sequence[Query[object]]:
        return (self.question, *(PodQuery(pod) for pod in self._pods[:_SHOWN]))

    def page_of(self, record: WorkloadState) -> Sequence[Safe]:
        return list(self._lines(record))

    def _lines(self, record: WorkloadState) -> Iterator[Safe]:
        if record.report is not None:
            yield from report_page(record.report, self.dra)
        else:
            yield from wrapped(styled(ailing_sentence(record.ailing), Style.BOLD))
        for pod in record.pods[:_SHOWN]:
            report = self.worker.record(PodQuery(pod))
            yield Safe("")
            yield from wrapped(pending_summary(report) if report is not None else fmt("Pod {}: …", str(pod)), indent=2)
        if len(record.pods) > _SHOWN:
            yield fmt("  and {} more", len(record.pods) - _SHOWN)
        if record.pods:
            yield Safe("")
            yield styled(Safe("enter opens its pod" if len(record.pods) == 1 else "enter lists its pods"), Style.DIM)

    def can(self, action: str) -> bool:
        return bool(self._pods) if action in ("open", "used_by") else super().can(action)

    def do_open(self) -> None:
        """The pod; of several one is chosen."""
        self.dra.open_pods(self._pods)

    def do_used_by(self) -> None:
        self.do_open()
