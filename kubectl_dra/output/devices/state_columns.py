"""Devices by their state as columns that add up to all of them: of pools, of nodes, of classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from kubectl_dra.output.columns import ListColumn, RowT, Shown, count_column
from kubectl_dra.reports.base import Count
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.totals import DeviceTotals

_ALWAYS: Final = frozenset({"FREE", "USED", "TAINTED"})
_STATES: Final[tuple[tuple[DeviceState, str, Callable[[DeviceTotals], Count]], ...]] = (
    (DeviceState.FREE, "FREE", lambda totals: totals.free),
    (DeviceState.PARTLY, "PARTLY", lambda totals: totals.partly),
    (DeviceState.IN_USE, "USED", lambda totals: totals.in_use),
    (DeviceState.TAINTED, "TAINTED", lambda totals: totals.tainted),
    (DeviceState.BLOCKED, "BLOCKED", lambda totals: totals.blocked),
    (DeviceState.CLOSED, "CLOSED", lambda totals: totals.closed),
    (DeviceState.NOT_OFFERED, "NOT OFFERED", lambda totals: totals.not_offered),
)
#: The titles of columns of numbers of devices, in their order.
DEVICES: Final = "DEVICES"
TITLES: Final[Mapping[DeviceState, str]] = {state: title for state, title, _ in _STATES}


def state_columns(totals: Callable[[RowT], DeviceTotals]) -> tuple[ListColumn[RowT], ...]:
    """``DEVICES`` and a column for each state; those that few clusters have only with ``-o wide``."""
    return (
        count_column(DEVICES, lambda row: totals(row).devices),
        *(_state(title, count, totals) for _, title, count in _STATES),
    )


def _state(
    title: str, count: Callable[[DeviceTotals], Count], totals: Callable[[RowT], DeviceTotals]
) -> ListColumn[RowT]:
    return count_column(title, lambda row: count(totals(row)), Shown.ALWAYS if title in _ALWAYS else Shown.WIDE)


def with_present(columns: Iterable[ListColumn[RowT]], rows: Iterable[RowT]) -> tuple[ListColumn[RowT], ...]:
    """The columns of a list in which a state that some row has always stands: else the others would not add up."""
    titles = {*TITLES.values()} - _ALWAYS
    shown = list(columns)
    for at, column in enumerate(shown):
        if column.title in titles and column.key is not None and any(map(column.key, rows)):
            shown[at] = replace(column, shown=Shown.ALWAYS)
    return tuple(shown)
