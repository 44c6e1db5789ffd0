"""Which attributes of devices are columns: chosen with space, remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView

if TYPE_CHECKING:
    from kubectl_dra.tui.views.devices import DevicesView


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute or capacity: how many different values the shown devices have, and the most frequent ones."""

    name: str
    values: int
    examples: tuple[str, ...]


class ColumnsView(ListView[Attribute]):
    """None chosen: the telling ones, as many as there is room for."""

    crumb = Safe("columns")
    nothing = Safe("These devices have no attributes.")

    def __init__(self, devices: DevicesView) -> None:
        self._devices = devices
        self._rows = devices.attributes_shown()
        self._telling = devices.telling
        super().__init__()

    def columns(self) -> Sequence[Column[Attribute]]:
        return [
            Column("", lambda a: styled(Safe("[x]"), Style.GOOD) if a.name in self._ticked else Safe("[ ]")),
            Column("ATTRIBUTE", lambda a: safe(a.name), least=16, key=lambda a: a.name),
            Column("VALUES", lambda a: fmt("{}", a.values), right=True, key=lambda a: a.values),
            Column("SUCH AS", lambda a: Safe(", ").join(map(safe, a.examples)), least=16, drop=1),
        ]

    def all_rows(self) -> Sequence[Attribute]:
        return self._rows

    def identity(self, row: Attribute) -> str:
        return row.name

    def named_by(self, _row: Attribute) -> None:
        """Nothing that has a name in the cluster."""

    def opened(self, row: Attribute) -> None:
        self._toggle(row)

    markable = True

    def do_mark(self) -> None:
        if self.grid.selected is not None:
            self._toggle(self.grid.selected)
            self.grid.action_move("down")

    def do_columns(self) -> None:
        self._choose(() if self.dra.memory.columns else tuple(row.name for row in self._rows))

    def _toggle(self, row: Attribute) -> None:
        shown = self._ticked
        if row.name in shown:
            self._choose(tuple(name for name in shown if name != row.name))
        else:
            # The first to be chosen stands before those that nobody chose, whatever room there is.
            self._choose((*shown, row.name) if self.dra.memory.columns else (row.name, *shown))

    @property
    def _ticked(self) -> tuple[str, ...]:
        return self.dra.memory.columns or self._telling

    def _choose(self, names: tuple[str, ...]) -> None:
        self.dra.memory.columns = names
        self._devices.choose_columns()
        self.grid.refresh()
        self.dra.refresh_frame()

    @property
    def info(self) -> Safe:
        chosen = len(self.dra.memory.columns)
        return fmt("{} chosen", chosen) if chosen else Safe("the telling ones")
