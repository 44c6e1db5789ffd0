"""Taints of devices: rules and what drivers set; below the list whom the one under the cursor hits."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from textual.app import ComposeResult
from textual.widget import Widget

from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.output.columns import list_table
from kubectl_dra.output.devices.lists import TAINTS as TAINT_COLUMNS
from kubectl_dra.output.devices.lists import taint_cell
from kubectl_dra.output.devices.parts import ranges
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.taints.list_page import listed_lines
from kubectl_dra.reports.taints.taint_list import ListedTaint, TaintRow
from kubectl_dra.reports.unread import TAINTS
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.queries import ALL_TAINTS, LISTED_TAINTS
from kubectl_dra.tui.views.reader import PrintedPage, is_wide
from kubectl_dra.tui.writing import TaintRequest


class TaintsView(ListView[ListedTaint]):
    """The list of taints above, everything about one below."""

    question = LISTED_TAINTS
    DEFAULT_CSS = """
    TaintsView > Grid { height: 2fr; }
    TaintsView > Page { height: 3fr; border-top: hkey $border; }
    """
    extras = frozenset({"taint"})
    crumb = Safe("taints")
    nothing = Safe("No device is tainted, and there is no DeviceTaintRule. a plans one.")
    about = TAINTS
    document = object_document("DeviceTaintRule")

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.page.can_focus = False

    def compose(self) -> ComposeResult:
        yield self.grid
        yield self.page

    def columns(self) -> Sequence[Column[ListedTaint]]:
        return chosen(TAINT_COLUMNS, lambda: self.dra.now, _LOOKS, lambda row: row.taint)

    def identity(self, row: ListedTaint) -> Hashable:
        taint = row.taint
        return taint.rule, taint.key, taint.value, taint.effect, taint.devices[:1] if not taint.rule else ()

    def named_by(self, row: ListedTaint) -> str | None:
        return row.taint.rule or None

    def text_of(self, row: ListedTaint) -> str:
        return " ".join((_taint(row.taint), *row.devices))

    def opened(self, row: ListedTaint) -> None:
        self.dra.open_devices(frozenset(map(DeviceId.of, row.devices)), _taint(row.taint))

    def moved(self, row: ListedTaint | None) -> None:
        self.page.make(lambda: list(listed_lines(row, self.dra.now)) if row is not None else ())

    @property
    def device(self) -> DeviceId | None:
        row = self.grid.selected
        return DeviceId.of(row.devices[0]) if row is not None and len(row.devices) == 1 else None

    @property
    def focus_target(self) -> Widget:
        return self.grid

    def do_remove(self) -> None:
        row = self.grid.selected
        if row is None:
            return
        if not row.taint.rule:
            self.dra.say(Safe("this taint was set by the driver: only the driver can remove it"))
        else:
            self.dra.open_plan(TaintRequest(rule=row.taint.rule))

    def do_describe(self) -> None:
        self.dra.push(PrintedPage(ALL_TAINTS, self._described))

    def _described(self, rows: Sequence[TaintRow]) -> Sequence[Safe]:
        return list(list_table(TAINT_COLUMNS, rows, self.dra.now, wide=is_wide()))


def _taint(row: TaintRow) -> Safe:
    text = taint_cell(row)
    return styled(text, Style.WARN) if row.prevents else text


def _devices(row: TaintRow) -> Safe:
    """Without a name: none, as far as that is known."""
    return Safe(", ").join(ranges(row.devices)) or Safe("none" if row.device_count.bound is Bound.EXACT else "?")


def _source(row: ListedTaint) -> Safe:
    """Whose it is."""
    if not row.taint.rule:
        return styled(Safe("driver"), Style.DIM)
    return fmt("rule {}", row.taint.rule)


_LOOKS: tuple[Look | Column[ListedTaint], ...] = (
    Look("TAINT", least=12, cell=lambda row: _taint(row.taint)),
    Look("FROM", least=10, cell=_source),
    Look("DEVICES", least=16, drop=2, cell=lambda row: _devices(row.taint)),
    *(Look("TAINTED"), Look("IN USE"), Look("CLAIMS", drop=1), Look("AGE", right=True)),
)
