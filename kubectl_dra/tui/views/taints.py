"""Taints of devices: rules and what drivers set, whom they hit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from kubectl_dra.output.devices.parts import number, ranges
from kubectl_dra.output.devices.tables import taints_table
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import age
from kubectl_dra.reports.taint_list import TaintRow
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.documents import rule_document
from kubectl_dra.tui.topics import Taints
from kubectl_dra.tui.view import ListView, Subject
from kubectl_dra.tui.views.numbers import device_id
from kubectl_dra.tui.views.reader import ReportView


class TaintsView(ListView[TaintRow]):
    """The list of taints."""

    crumb = Safe("taints")
    nothing = Safe("No device is tainted.")

    def topics(self) -> Sequence[Taints]:
        """All taints."""
        return (Taints(),)

    def columns(self) -> Sequence[Column[TaintRow]]:
        """As in ``get taints``."""
        return [
            Column("TAINT", _taint, least=12, key=lambda t: (t.key, t.value)),
            Column("FROM", _source, least=10, key=lambda t: t.rule or ""),
            Column("DEVICES", lambda t: Safe(", ").join(ranges(t.devices)) or Safe("none"), least=16),
            Column("HIT", lambda t: number(t.device_count), right=True, key=lambda t: t.device_count.value),
            Column("IN USE", lambda t: number(t.in_use), right=True, key=lambda t: t.in_use.value),
            Column("CLAIMS", lambda t: number(t.claims), right=True, drop=1, key=lambda t: t.claims.value),
            Column("AGE", self._age, right=True, key=lambda t: t.time_added or t.created or ""),
        ]

    def all_rows(self) -> Sequence[TaintRow] | None:
        """Rules by name, then drivers' taints by pool."""
        return self.desk.record(Taints())

    def identity(self, row: TaintRow) -> Hashable:
        """The rule, or the driver's taint on its first device."""
        return row.rule, row.key, row.value, row.effect, row.devices[:1] if row.rule is None else ()

    def text_of(self, row: TaintRow) -> str:
        """Taint, rule and devices."""
        return f"{_taint(row)} {_source(row)} {' '.join(row.devices)}"

    def opened(self, row: TaintRow) -> None:
        """The devices that it hits."""
        devices = frozenset(filter(None, map(device_id, row.devices)))
        self.dra.open_devices(devices, _taint(row))

    @property
    def subject(self) -> Subject | None:
        """The rule under the cursor."""
        row = self.grid.selected
        if row is None or row.rule is None:
            return None
        name = row.rule
        return Subject(name, lambda: rule_document(self.dra.facts_now, name))

    def do_describe(self) -> None:
        """The list as the command prints it."""
        self.dra.push(TaintsPage())

    def _age(self, row: TaintRow) -> Safe:
        return age(row.time_added or row.created, self.dra.now)


class TaintsPage(ReportView):
    """get taints -o wide."""

    crumb = Safe("describe")

    def topics(self) -> Sequence[Taints]:
        """All taints."""
        return (Taints(),)

    def lines(self) -> Sequence[Safe] | None:
        """The table of the command."""
        rows = self.desk.record(Taints())
        return None if rows is None else taints_table(rows, self.dra.now, wide=self.dra.size.width >= 120)


def _taint(row: TaintRow) -> Safe:
    value = f"={row.value}" if row.value else ""
    text = fmt("{}{}:{}", row.key, value, row.effect)
    return styled(text, Style.WARN) if row.prevents else text


def _source(row: TaintRow) -> Safe:
    return fmt("rule {}", row.rule) if row.rule is not None else safe("driver")
