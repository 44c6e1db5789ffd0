"""Reasons why pods wait: the list of them, and the page of one: what it means, how to confirm it and how to fix it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.explain.text import code_of, page_lines
from kubectl_dra.output.pending.headline import pending_cause
from kubectl_dra.output.pending.reasons import title
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import age
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import PodQuery
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.view import CursorObject
from kubectl_dra.tui.views.reader import ReportView


class ReasonsView(ListView[Code]):
    """All reasons, or some of them to choose one of."""

    crumb = Safe("reasons")

    def __init__(self, only: Sequence[Code] = ()) -> None:
        self._codes = tuple(only) or tuple(Code)
        super().__init__()

    def columns(self) -> Sequence[Column[Code]]:
        pods = self._pods()
        return [
            Column("CODE", lambda c: styled(Safe(c.value), Style.NAME), key=lambda c: c.value),
            Column("REASON", title, least=20, key=title),
            Column("PODS NOW", lambda c: fmt("{}", pods[c]) if pods[c] else Safe(""), True, key=lambda c: pods[c]),
        ]

    def _pods(self) -> Counter[Code]:
        reports = (self.worker.record(PodQuery(key)) for key in self.dra.pending_keys()) if self.is_attached else ()
        return Counter(report.code for report in reports if report is not None and report.code is not None)

    def show(self) -> None:
        self.grid.set_columns(self.columns())
        super().show()

    def all_rows(self) -> Sequence[Code]:
        return self._codes

    def identity(self, row: Code) -> str:
        return row.value

    def opened(self, row: Code) -> None:
        """What it means, below the pods that are pending for it, if there are any."""
        if self._pods()[row]:
            self.dra.open_pending_reason(row)
        else:
            self.dra.open_explanation(row)

    def do_explain(self) -> None:
        self.do_open()


class ExplanationView(ReportView):
    """What a code means, as ``explain CODE`` prints it."""

    def __init__(self, code: Code) -> None:
        super().__init__()
        self._code = code
        self.crumb = Safe(code.value)

    def lines(self) -> Sequence[Safe]:
        return page_lines(reason_page(self._code))

    def can(self, action: str) -> bool:
        """Commands can be copied, where the page has some: they may be longer than a line of the screen."""
        return bool(code_of(reason_page(self._code))) if action == "copy" else super().can(action)

    def do_copy(self) -> None:
        self.dra.copy_lines(code_of(reason_page(self._code)))

    @property
    def named_codes(self) -> Sequence[Code]:
        return [code for code in super().named_codes if code is not self._code]


class PendingReasonView(ExplanationView):
    """The pods that are pending for a reason now, the first under the cursor; below them what the reason means."""

    DEFAULT_CSS = """
    PendingReasonView > Grid { height: auto; max-height: 40%; border: round $border; border-title-color: $primary;
        scrollbar-size-horizontal: 0; }
    PendingReasonView > Grid:focus { border: round $primary; border-title-style: bold reverse; }
    """
    extras = frozenset({"next_part"})
    document = object_document("Pod")

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.pods: Grid[PendingReport] = Grid(
            (
                Column("POD", lambda report: safe(str(report.pod.key)), least=16),
                Column("WHY", pending_cause, least=20),
                Column("AGE", lambda r: age(r.created, self.dra.now) if r.created else Safe(""), right=True),
            ),
            lambda report: report.pod.key,
            header=False,
        )
        self.pods.choose = self._open_pod

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        self.pods.border_title = "Pending for this reason now"
        yield self.pods
        yield from super().compose()

    def queries(self) -> Sequence[Query[object]]:
        """All pending pods: which of them have this reason is known when they are diagnosed."""
        return tuple(PodQuery(key) for key in self.dra.pending_keys())

    def show(self) -> None:
        super().show()
        reports = (self.worker.record(PodQuery(key)) for key in self.dra.pending_keys())
        found = [report for report in reports if report is not None and report.code is self._code]
        self.pods.show(found, Safe("No pod is pending for this reason any more."))

    def can(self, action: str) -> bool:
        """Enter opens what has the focus: the pod, or a reason that the page names."""
        if action == "open":
            return self.pods.selected is not None if self._on_pods else bool(self.named_codes)
        if action == "copy" and self._on_pods:
            return self.pods.selected is not None
        return super().can(action)

    @property
    def _on_pods(self) -> bool:
        return self.app.focused is self.pods

    def do_open(self) -> None:
        if self._on_pods:
            self.pods.open_selected()
        else:
            self.do_explain()

    def do_copy(self) -> None:
        if self._on_pods and self.subject is not None:
            self.dra.copy_lines([safe(self.subject.name)])
        else:
            super().do_copy()

    def _open_pod(self, report: PendingReport) -> None:
        self.dra.open_pod(report.pod.key)

    @property
    def subject(self) -> CursorObject | None:
        report = self.pods.selected
        return self.subject_of(report.pod.key) if report is not None else None

    @property
    def focus_target(self) -> Any:  # noqa: ANN401 - a widget
        return self.pods
