"""Devices in a list: those of a pool, of a node, of a number in a diagnosis, or all; filtered by text or by CEL."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.devices.compare import comparison_page
from kubectl_dra.output.devices.lists import DEVICES as DEVICE_COLUMNS
from kubectl_dra.output.devices.lists import short_users, users_of
from kubectl_dra.output.devices.parts import CLOSED
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted
from kubectl_dra.reports.devices.attributes import common_values, device_values, varying_names
from kubectl_dra.reports.devices.device_list import ListedDevice
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.pool import DeviceRecord
from kubectl_dra.reports.matching import MatchingDevices
from kubectl_dra.reports.unread import DEVICES
from kubectl_dra.tui.arranging import Arranged
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.documents import device_document
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import DeviceRow, DevicesQuery, MatchingQuery
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.views.columns import Attribute, ColumnsView
from kubectl_dra.tui.views.device import DeviceView
from kubectl_dra.tui.views.reader import ReportView

# What looks like an expression and not like a name: it reads something of a device, compares or calls.
_CEL: Final = re.compile(r"\bdevice\s*\.|\bcel\.|\btrue\b.*&&")
_ORDER: Final = {state: index for index, state in enumerate(DeviceState)}
_SAMPLE: Final = 200
_MOST_COMPARED: Final = 8
_FEW: Final = 4
#: So many attributes are worth more than who uses the device and where it is.
_ALWAYS: Final = 2
#: Names that many drivers use for what people look for first, in lower case and without a domain.
_WELL_KNOWN: Final = (
    *("productname", "model", "product", "memory", "memory capacity", "vram", "hbm", "bandwidth", "profile"),
    *("devicetype", "type", "cores", "architecture", "family"),
)
_CACHE: Final = 4000
_DRIVER: Final = Look("DRIVER", least=10, drop=4, key=lambda row: row.id, frozen=True)
_POOL: Final = Look("POOL", least=10, key=lambda row: row.id[1:], frozen=True, inside=True)
_ITSELF: Final = (
    Look("DEVICE", least=12, key=lambda row: row.device.name, frozen=True),
    Look("STATE", least=9, key=lambda row: _ORDER[row.state]),
)


class DevicesView(ListView[DeviceRow]):
    """A list of devices; the record of one is made when it comes onto the screen."""

    extras = frozenset({"taint"})
    markable = True
    nothing = Safe("No devices.")
    about = DEVICES
    document = device_document

    def __init__(self, query: DevicesQuery, crumb: Safe, *, pools: bool = True) -> None:
        self.asked = query
        self.crumb = crumb
        self._pools = pools
        self._several_drivers = False
        self._expression = ""
        self._listed: dict[DeviceId, ListedDevice] = {}
        self._state: ClusterState
        self._seen: Sequence[DeviceRow] | None = None
        self._names: tuple[str, ...] = ()
        super().__init__()

    def queries(self) -> Sequence[Query[object]]:
        return (self.asked, MatchingQuery(self._expression)) if self._expression else (self.asked,)

    def identity(self, row: DeviceRow) -> DeviceId:
        return row.id

    def texts_of(self, rows: Sequence[DeviceRow]) -> list[str]:
        """What each row says of itself; users, taints and closed nodes of those that have them."""
        held, ruled = self._state.inventory.holdings_by_device, bool(self._state.inventory.taint_rules)

        def tells_more(row: DeviceRow) -> bool:
            return ruled or row.state is not DeviceState.FREE or bool(row.device.taints) or row.id in held

        return [f"{row.text} {self._told(row)}" if tells_more(row) else row.text for row in rows]

    def _told(self, row: DeviceRow) -> str:
        device = row.listed(self._state).device
        taints = (taint_text(taint) for taint in device.taints)
        closed = CLOSED[device.node_closed] if row.state is DeviceState.CLOSED else Safe("")
        return " ".join((*users_of([device]), *taints, closed)).casefold()

    def forget_texts(self, rows: Sequence[DeviceRow]) -> None:
        for row in rows:
            row.made_text = ""

    def listed(self, row: DeviceRow) -> ListedDevice:
        listed = self._listed
        found = listed.get(row.id)
        if found is None:
            if len(listed) > _CACHE:
                listed.clear()
            found = listed[row.id] = row.listed(self._state)
        return found

    def record(self, row: DeviceRow) -> DeviceRecord:
        return self.listed(row).device

    # --- rows -------------------------------------------------------------------------------------------------------

    def prepared(self, rows: Sequence[DeviceRow]) -> Arranged[DeviceRow]:
        """Records are made anew of newer rows, from the facts that the rows are of."""
        found = self.worker.answer(self.asked)
        if found is not None and rows is not self._seen:
            self._state, self._listed, self._seen = found.cluster, {}, rows
        return super().prepared(rows)

    def telling_columns(self, rows: Sequence[DeviceRow]) -> Sequence[Column[DeviceRow]]:
        """The attributes that tell the rows on the screen apart; the driver where there are several."""
        names, several = self._telling_names(rows), len({row.pool.driver for row in rows}) > 1
        self._names, self._several_drivers = names, several
        # Always said: what was said last may have been of rows that a later filter overtook before they were shown.
        return self._columns_with(names, several_drivers=several)

    @property
    def manner(self) -> tuple[object, ...]:
        return *super().manner, id(self.worker.record(MatchingQuery(self._expression))) if self._expression else 0

    def filtered(self, rows: Sequence[DeviceRow]) -> Sequence[DeviceRow]:
        """By the expression's matches, else by text."""
        if not self._expression:
            return super().filtered(rows)
        found = self.worker.record(MatchingQuery(self._expression))
        return rows if found is None else [row for row in rows if row.id in found.devices]

    def set_filter(self, text: str) -> None:
        """Text, or an expression as soon as it reads a device."""
        self._expression = text.strip() if _CEL.search(text) else ""
        self.dra.queries_changed()
        super().set_filter(text)

    @property
    def info(self) -> Safe:
        """How many; what is wrong with the expression."""
        found: MatchingDevices | None = (
            self.worker.record(MatchingQuery(self._expression)) if self._expression else None
        )
        if found is not None and found.problem is not None:
            return styled(safe(" ".join(found.problem.split())), Style.BAD)
        failing = Safe("")
        if found is not None and found.failing:
            failing = styled(fmt(", fails on {}", counted(found.failing, "device")), Style.BAD)
        return super().info + failing

    # --- columns ----------------------------------------------------------------------------------------------------

    def columns(self) -> Sequence[Column[DeviceRow]]:
        return self._columns_with(self._names, several_drivers=self._several_drivers)

    def _columns_with(self, names: tuple[str, ...], *, several_drivers: bool) -> Sequence[Column[DeviceRow]]:
        shown = self._chosen_names or names[:_FEW]
        looks = (
            *([_DRIVER] if self._pools and several_drivers else ()),
            *([_POOL] if self._pools else ()),
            *_ITSELF,
            *(self._attribute(index, name, shown) for index, name in enumerate(shown)),
            Look("USED BY", least=12, key=self._users_key),
            *([Look("NODES", least=8, drop=3, same_as=lambda row: row.id.pool)] if self._pools else ()),
        )
        return chosen(DEVICE_COLUMNS, lambda: self.dra.now, looks, self.listed)

    def _attribute(self, index: int, name: str, shown: Sequence[str]) -> Column[DeviceRow]:
        """The first two stay as long as there is any room: a device without its model says little."""
        return Column(
            _title(name, shown),
            partial(self._value, name),
            least=6,
            drop=10 + index if index >= _ALWAYS and not self._chosen_names else 0,
            key=lambda r: device_values(r.device, r.pool.driver).get(name, ""),
        )

    @property
    def _chosen_names(self) -> tuple[str, ...]:
        return self.dra.memory.columns

    @property
    def telling(self) -> tuple[str, ...]:
        """The attributes that are columns while none is chosen: those of them that there is room for."""
        names = self._names[:_FEW]
        titles = {column.title for column in self.grid.columns_drawn}
        return names if self._chosen_names else tuple(name for name in names if _title(name, names) in titles)

    def choose_columns(self) -> None:
        """Other columns were chosen; more than there is room for scroll sideways."""
        self.grid.unlimited = bool(self._chosen_names)
        self.grid.scroll_to(x=0, animate=False)
        self.grid.set_columns(self.columns())
        self.show()

    def attributes_shown(self) -> list[Attribute]:
        """What the devices in the list have, those that tell them apart first."""
        values = [self.record(row).values for row in self._sample(self.grid.rows)]
        names = dict.fromkeys((*self._names, *(name for each in values for name in each)))
        counts = {name: Counter(each[name] for each in values if name in each) for name in names}
        return [
            Attribute(name, len(counts[name]), tuple(value for value, _ in counts[name].most_common(3)))
            for name in names
        ]

    @staticmethod
    def _sample(rows: Sequence[DeviceRow]) -> Sequence[DeviceRow]:
        return rows[:: max(1, len(rows) // _SAMPLE)]

    def _telling_names(self, rows: Sequence[DeviceRow]) -> tuple[str, ...]:
        """Well-known names first, then attributes that tell devices apart in groups, then those that identify each.

        What all devices of a pool have in common is said above its list; elsewhere well-known names stay all the same.
        """
        values = [self.record(row).values for row in self._sample(rows)]
        varying = varying_names(values, common_values(values))
        known = varying if not self._pools else tuple(dict.fromkeys(name for each in values for name in each))
        first = sorted((name for name in known if _rank(name) is not None), key=lambda name: _rank(name) or 0)
        kinds = {name: len({each.get(name) for each in values}) for name in varying}
        grouping = [name for name in varying if kinds[name] <= max(len(values) // 2, 2)]
        return tuple(dict.fromkeys((*first, *grouping, *varying)))

    def _value(self, name: str, row: DeviceRow) -> Safe:
        return safe(self.record(row).values.get(name, "-"))

    def _users_key(self, row: DeviceRow) -> str:
        """Most devices are free, and a record is dear."""
        used = self._state.inventory.holdings_by_device.get(row.id)
        return str(short_users(self.record(row))) if used else "-"

    # --- actions ----------------------------------------------------------------------------------------------------

    def opened(self, row: DeviceRow) -> None:
        self.dra.push(DeviceView(row.id))

    def do_describe(self) -> None:
        """Several marked devices beside each other; else the report that ``d`` stands for here."""
        marked = self.marked_rows
        if len(marked) > _MOST_COMPARED:
            self.dra.say(fmt("{} devices fit beside each other at most: {} are marked", _MOST_COMPARED, len(marked)))
        elif len(marked) > 1:
            self.dra.push(CompareView([row.id for row in marked]))
        else:
            self.describe_alone()

    def describe_alone(self) -> None:
        self.do_open()

    def is_fault(self, row: DeviceRow) -> bool:
        return row.state in (DeviceState.TAINTED, DeviceState.BLOCKED, DeviceState.NOT_OFFERED)

    @property
    def targets(self) -> Sequence[str]:
        return [str(row.id) for row in self.marked_rows]

    def preview_of(self, row: DeviceRow) -> ReportView:
        return DeviceView(row.id)

    @property
    def device(self) -> DeviceId | None:
        return self.grid.selected.id if self.grid.selected is not None else None

    def on_mount(self) -> None:
        super().on_mount()
        self.grid.unlimited = bool(self._chosen_names)

    def do_columns(self) -> None:
        self.dra.push(ColumnsView(self))

    def do_pool_of(self) -> None:
        if self.grid.selected is not None:
            self.dra.open_pool(self.grid.selected.pool)

    def do_used_by(self) -> None:
        row = self.grid.selected
        holders = self.record(row).holders if row is not None else ()
        self.dra.open_holders([Key(holder.namespace, holder.claim) for holder in holders])

    def do_node(self) -> None:
        row = self.grid.selected
        if row is None:
            return
        scope = self.listed(row).where
        if scope.node:
            self.dra.open_node(scope.node)
        else:
            self.dra.say(Safe("this device is not tied to one node"))


def _rank(name: str) -> int | None:
    """The place of a well-known name; None for any other."""
    short = name.rpartition("/")[2].lower()
    return _WELL_KNOWN.index(short) if short in _WELL_KNOWN else None


def _title(name: str, others: Sequence[str]) -> Safe:
    """A name without its domain, unless two differ only in that."""
    short = name.rpartition("/")[2]
    alone = sum(other.rpartition("/")[2] == short for other in others) == 1
    return safe((short if alone else name).upper())


class AllDevicesView(DevicesView):
    describes_row = True

    def __init__(self) -> None:
        super().__init__(DevicesQuery(), Safe("all devices"))


class CompareView(ReportView):
    """What differs between them, kept up to date."""

    crumb = Safe("compared")
    gone = Safe("None of these devices is published any more.")

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__()
        self._question = DevicesQuery(among=frozenset(devices))

    def queries(self) -> Sequence[DevicesQuery]:
        return (self._question,)

    def lines(self) -> Sequence[Safe] | None:
        found = self.worker.answer(self._question)
        if found is None:
            return None
        listed = [row.listed(found.cluster) for row in found.record]
        return comparison_page(listed) if listed else [self.gone]
