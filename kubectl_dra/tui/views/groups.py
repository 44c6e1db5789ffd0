"""Pods that are placed together: the list of groups, and why one of them waits."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.ids import Key
from kubectl_dra.output.devices.lists import GROUPS as GROUP_COLUMNS
from kubectl_dra.output.pending.group_page import group_page, group_summary
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.reports.groups.group_state import GroupRow
from kubectl_dra.reports.groups.groups import GroupAnswer
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.reports.unread import Subject
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import GroupQuery, Groups
from kubectl_dra.tui.views.reader import PrintedPage, ReportView
from kubectl_dra.tui.views.waiting import WaitingPage

_LOOKS: tuple[Look | Column[GroupRow], ...] = (
    *(Look("NAMESPACE", least=8), Look("NAME", least=12), Look("POLICY")),
    *(Look("PODS", right=True), Look("RUNNING", right=True), Look("STATE")),
    Column("SAID", lambda g: safe(g.message), least=16, drop=1),
    Look("AGE", right=True),
)


class GroupsView(ListView[GroupRow]):
    """The list of groups; they are read once a pod names one."""

    describes_row = True
    crumb = Safe("podgroups")
    nothing = Safe("There are no PodGroups, or no pod names one.")
    # Groups are read once a pod names one: without pods nobody knows of any.
    about = Subject(("Pod",))
    document = object_document("PodGroup")

    def queries(self) -> Sequence[Groups]:
        return (Groups(self.dra.namespace),)

    def columns(self) -> Sequence[Column[GroupRow]]:
        return chosen(GROUP_COLUMNS, lambda: self.dra.now, _LOOKS)

    def identity(self, row: GroupRow) -> Key:
        return Key(row.namespace, row.name)

    def opened(self, row: GroupRow) -> None:
        self.dra.push(GroupPage(self.identity(row)))

    def do_describe(self) -> None:
        self.do_open()

    def do_why(self) -> None:
        self.do_open()

    def is_fault(self, row: GroupRow) -> bool:
        return row.running is None or row.pods is None or row.running < row.pods

    def text_of(self, row: GroupRow) -> str:
        return f"{self.identity(row)} {row.message}"

    def do_used_by(self) -> None:
        row = self.grid.selected
        if row is not None:
            self.dra.open_pods_of_group(self.identity(row))

    def preview_of(self, row: GroupRow) -> ReportView:
        """Why it waits, without ways out."""
        query = GroupQuery(self.identity(row))
        return PrintedPage(query, lambda record: group_page(record, self.dra.now), GroupPage.gone)


class GroupPage(WaitingPage[GroupAnswer]):
    """Why one group waits; ways out are tried while the rest can already be read."""

    gone = Safe("The PodGroup does not exist any more.")
    document = object_document("PodGroup")

    def __init__(self, group: Key) -> None:
        super().__init__(GroupQuery(group), GroupQuery(group, remedies=True))
        self.named = self.group = group
        self.crumb = safe(str(group))

    def headline(self, report: GroupAnswer) -> Safe:
        return group_summary(report)

    def report_lines(self, report: GroupAnswer, *, apart: bool) -> list[Safe]:
        return group_page(report, self.dra.now, apart=apart, address=self.dra.address)

    def codes(self, report: GroupAnswer) -> Sequence[Code]:
        return list(dict.fromkeys(cause.code for cause in report.report.causes))

    def remedies(self, report: GroupAnswer) -> Sequence[RemedyReport]:
        return report.report.remedies

    def do_open(self) -> None:
        """The way out under the cursor, else what the reason means."""
        if self.on_ways:
            self.ways.grid.open_selected()
        else:
            self.do_explain()

    def do_used_by(self) -> None:
        self.dra.open_pods_of_group(self.group)
