"""One pool: what is in it, how much is left, its devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.widgets import Static

from kubectl_dra.model.ids import PoolId
from kubectl_dra.output.devices.capacity import capacity_lines
from kubectl_dra.output.devices.partitions import counter_sets
from kubectl_dra.output.devices.parts import pairs_text, scope_text, totals_text
from kubectl_dra.output.devices.pool_page import pool_page, trouble_text
from kubectl_dra.output.layout import width
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.pool import PoolReport, is_troubled
from kubectl_dra.tui.bars import use_bar
from kubectl_dra.tui.host import Host
from kubectl_dra.tui.queries import DevicesQuery, Pool
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.text import clipped, content
from kubectl_dra.tui.views.devices import DevicesView
from kubectl_dra.tui.views.reader import PrintedPage, ReportView, is_wide

_BAR = 12
_WIDEST = 64
# More of them would push the devices from a small screen.
_COUNTER_SETS = 2


class PoolDevices(DevicesView):
    """The devices of a pool under a few lines about it."""

    DEFAULT_CSS = """
    PoolDevices > #pool-head { height: auto; padding: 0 1; margin-bottom: 1; }
    """

    def __init__(self, pool: PoolId) -> None:
        self.pool = pool
        self._head = Static(id="pool-head")
        super().__init__(DevicesQuery(pool), safe(str(pool)), pools=False)

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        yield self._head
        yield from super().compose()

    def queries(self) -> Sequence[Query[object]]:
        return (*super().queries(), Pool(self.pool))

    def show(self) -> None:
        report = self.worker.record(Pool(self.pool))
        if report is not None:
            lines = _head_lines(report, max(self.size.width - 3, 40))
            self._head.update(content(_joined(lines)))
        super().show()

    def on_resize(self) -> None:
        """The bar moves with the right edge."""
        super().on_resize()
        self.show()

    def describe_alone(self) -> None:
        self.dra.push(pool_description(self.dra, self.pool))

    @property
    def focus_target(self) -> Any:  # noqa: ANN401 - a widget
        return self.grid


def _joined(lines: Sequence[Safe]) -> Safe:
    return Safe("\n".join(lines))


def _head_lines(report: PoolReport, columns: int) -> list[Safe]:
    view = report.view
    slices = fmt("{} of {} slices", view.seen, view.expected)
    facts = Safe("  ·  ").join([scope_text(report.scope), fmt("generation {}", view.generation), slices])
    words = totals_text(report.totals)
    room = min(max(columns - width(words) - 3, _BAR), _WIDEST)
    lines = [words + Safe("   ") + use_bar(report.totals, room), clipped(facts, columns)]
    lines += [clipped(line, columns) for line in capacity_lines(report.capacity)]
    lines += _counter_lines(report, columns)
    if is_troubled(report) or report.views_bound is Bound.UNKNOWN:
        lines.append(styled(clipped(trouble_text(report), columns), Style.BAD))
    if report.same:
        lines.append(styled(clipped(fmt("same for all: {}", pairs_text(report.same)), columns), Style.DIM))
    return lines


def _counter_lines(report: PoolReport, columns: int) -> list[Safe]:
    """How much of each set of counters is used; of many sets only how many there are, which ``describe`` lists."""
    sets = counter_sets(report.counters)
    if len(sets) > _COUNTER_SETS:
        return [
            clipped(
                fmt("counters of {:,} sets: d shows them", len({each.counter_set for each in report.counters})), columns
            )
        ]
    return [clipped(fmt("counters of {}: {}", names, amounts), columns) for names, amounts in sets]


def pool_description(dra: Host, pool: PoolId) -> ReportView:
    """describe-pool; every attribute where there is room."""
    return PrintedPage(Pool(pool), lambda record: pool_page(record, dra.now, is_wide(), dra.address))
