"""DeviceClasses: how many devices each has, and the largest set that one claim could get."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.output.devices.lists import CLASSES as CLASS_COLUMNS
from kubectl_dra.output.devices.lists import offers_table
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.devices.class_list import ClassRow
from kubectl_dra.reports.unread import CLASSES
from kubectl_dra.tui.bars import use_bar
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import ALL_CLASSES
from kubectl_dra.tui.views.reader import RecordPage, ReportView

_LOOKS: tuple[Look | Column[ClassRow], ...] = (
    *(Look("NAME", least=12), Look("DEVICES"), Look("FREE"), Look("PARTLY", drop=3)),
    Column("", lambda _c: Safe(" " * 6), draw=lambda c, w: use_bar(c.totals, w), stretch=30, drop=2),
    *(Look("CLAIMS"), Look("PENDING"), Look("LARGEST SET ON A NODE", least=16), Look("AGE", drop=1)),
)


class ClassesView(ListView[ClassRow]):
    question = ALL_CLASSES
    describes_row = True
    crumb = Safe("classes")
    nothing = Safe("There are no DeviceClasses.")
    about = CLASSES
    document = object_document("DeviceClass")

    def columns(self) -> Sequence[Column[ClassRow]]:
        return chosen(CLASS_COLUMNS, lambda: self.dra.now, _LOOKS)

    def identity(self, row: ClassRow) -> str:
        return row.name

    def opened(self, row: ClassRow) -> None:
        self.dra.push(ClassPage(row.name))

    def preview_of(self, row: ClassRow) -> ReportView:
        return ClassPage(row.name)

    def do_describe(self) -> None:
        self.do_open()

    def do_try_selector(self) -> None:
        if self.grid.selected is not None:
            self.dra.try_class(self.grid.selected.name)


class ClassPage(RecordPage[Sequence[ClassRow]]):
    """One class: its selectors, and what nodes offer of it."""

    document = object_document("DeviceClass")

    def __init__(self, name: str) -> None:
        super().__init__(ALL_CLASSES)
        self.named = self.name_ = name
        self.crumb = safe(name)

    def page_of(self, record: Sequence[ClassRow]) -> Sequence[Safe]:
        row = next((each for each in record if each.name == self.name_), None)
        if row is None:
            return [self.gone]
        lines = [styled(fmt("DeviceClass {}", row.name), Style.BOLD)]
        lines += [fmt("  selector  {}", " ".join(each.split())) for each in row.selectors]
        if not row.selectors:
            lines.append(Safe("  no selector: every device is of this class"))
        if row.extended_resource:
            lines.append(fmt("  serves the extended resource {}", row.extended_resource))
        if row.problem:
            lines.append(styled(fmt("  {}", row.problem), Style.BAD))
        return [*lines, Safe(""), *offers_table(row)]

    def do_try_selector(self) -> None:
        self.dra.try_class(self.name_)
