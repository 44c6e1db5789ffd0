"""The first screen: which devices exist and who uses them, what is pending and why, what is broken, what changed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from textual.containers import Horizontal, Vertical

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.output.devices import lists
from kubectl_dra.output.devices.parts import number
from kubectl_dra.output.pending.reasons import title
from kubectl_dra.output.recent import change_text
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import age, counted
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.class_list import ClassRow
from kubectl_dra.reports.pending import ReasonGroup, reason_groups
from kubectl_dra.reports.pool import PoolSummary, is_troubled
from kubectl_dra.reports.recent import Change
from kubectl_dra.reports.unread import CLASSES, PENDING_PODS, POOLS, Subject
from kubectl_dra.tui.bars import LEGEND, capacity_bar, totals_words, use_bar
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.desk import Topic
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.text import content
from kubectl_dra.tui.topics import Classes, Pod, Recent, Whole
from kubectl_dra.tui.view import View
from kubectl_dra.tui.views.classes import ClassPage
from kubectl_dra.tui.views.pool import PoolView
from kubectl_dra.tui.whole import UseRow, WholeRecord

_WIDE: Final = 118


@dataclass(frozen=True, slots=True)
class Waiting:
    """A reason with its pods, or the pods that are not diagnosed yet."""

    group: ReasonGroup | None
    number: int


class Overview(View):
    """Four panels, five where the terminal is wide; enter goes to what is under the cursor."""

    DEFAULT_CSS = """
    Overview Grid { border: round $border; border-title-color: $primary; border-title-style: bold;
        border-subtitle-color: $dim; padding: 0; }
    Overview Grid > .grid--cursor-blurred { background: $background; }
    Overview Grid:focus { border: round $primary; }
    Overview #top { height: 5fr; }
    Overview #bottom { height: 6fr; }
    Overview #use { width: 3fr; }
    Overview #classes { width: 2fr; display: none; }
    Overview #waiting { width: 1fr; }
    Overview #right { width: 1fr; }
    Overview #broken { height: auto; min-height: 3; max-height: 50%; }
    Overview #recent { height: 1fr; }
    Overview.wide #classes { display: block; }
    """
    extras = frozenset({"next_part", "namespace"})
    crumb = Safe("overview")

    def __init__(self) -> None:
        super().__init__()
        self.use: Grid[UseRow] = Grid(_USE, _use_identity, header=False, id="use")
        self.classes_: Grid[ClassRow] = Grid(_CLASSES, lambda row: row.name, header=False, id="classes")
        self.waiting: Grid[Waiting] = Grid(_WAITING, _waiting_identity, header=False, id="waiting")
        self.broken: Grid[PoolSummary] = Grid(_BROKEN, lambda p: (p.driver, p.pool), header=False, id="broken")
        self.recent: Grid[Change] = Grid(
            (
                Column("", lambda c: styled(age(c.time, self.dra.now), Style.DIM), right=True),
                Column("", change_text, least=20),
            ),
            lambda c: (c.time, c.kind, c.subject),
            header=False,
            id="recent",
        )

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        """The panels."""
        titles = ((self.use, "Devices"), (self.classes_, "Classes"), (self.waiting, "Pending, by reason"))
        for grid, name in (*titles, (self.broken, "Broken pools"), (self.recent, "Last changes")):
            grid.border_title = name
        with Horizontal(id="top"):
            yield self.use
            yield self.classes_
        with Horizontal(id="bottom"):
            yield self.waiting
            with Vertical(id="right"):
                yield self.broken
                yield self.recent

    def on_mount(self) -> None:
        """What there is at first."""
        self.show()

    def on_resize(self) -> None:
        """The panel of classes needs room."""
        self.set_class(self.dra.size.width >= _WIDE, "wide")

    def topics(self) -> Sequence[Topic[object]]:
        """Everything that the panels show; the diagnoses of pods come from the app's own list."""
        return (Whole(), Classes(), Recent())

    def show(self) -> None:
        """All panels."""
        whole = self.desk.record(Whole())
        empty = self.dra.reading_words if whole is None else self._none(POOLS, "No driver has published any pool.")
        self.use.show(whole.uses if whole is not None else (), empty)
        self.use.border_subtitle = content(LEGEND)
        self.broken.show(*self._troubled(whole))
        self.waiting.show(*self._waiting())
        classes, recent = self.desk.record(Classes()), self.desk.record(Recent())
        self.classes_.show(
            classes or (),
            self.dra.reading_words if classes is None else self._none(CLASSES, "There are no DeviceClasses."),
        )
        self.recent.show(recent or (), self.dra.reading_words if recent is None else Safe("No change is recorded."))

    def _waiting(self) -> tuple[Sequence[Waiting], Safe]:
        if not self.dra.knows_pending:
            return (), self.dra.reading_words
        keys = self.dra.pending_keys()
        reports = [report for key in keys if (report := self.desk.record(Pod(key))) is not None]
        rows = [Waiting(group, len(group.pods)) for group in reason_groups(reports)]
        if len(reports) < len(keys):
            rows.append(Waiting(None, len(keys) - len(reports)))
        return rows, self._none(PENDING_PODS, "No pod with device claims is pending.")

    def _none(self, subject: Subject, words: str) -> Safe:
        return self.dra.none_of(subject, Safe(words))

    def _troubled(self, whole: WholeRecord | None) -> tuple[Sequence[PoolSummary], Safe]:
        if whole is None:
            return (), self.dra.reading_words
        return whole.troubled, self.dra.none_of(POOLS, styled(Safe("none"), Style.GOOD))

    @property
    def info(self) -> Safe:
        """The cluster in one line."""
        whole = self.desk.record(Whole())
        if whole is None or whole.totals is None:
            return Safe("")
        totals, broken = whole.totals, len(whole.troubled)
        free = fmt("{} of {} free", number(totals.free), counted(totals.devices.value, "device"))
        parts = [styled(free, Style.GOOD)]
        if broken:
            parts.append(styled(fmt("{} broken", counted(broken, "pool")), Style.BAD))
        if self.dra.knows_pending:
            waiting = len(self.dra.pending_keys())
            bound = self.dra.unread(PENDING_PODS, shown=bool(waiting)).bound
            style = Style.WARN if waiting or bound is not Bound.EXACT else Style.DIM
            parts.append(styled(fmt("{}{} pending", Safe(bound.sign), counted(waiting, "pod")), style))
        return Safe("   ").join(parts)

    def do_open(self) -> None:
        """Enter, in the panel with the focus."""
        if isinstance(self.screen.focused, Grid):
            self.screen.focused.open_selected()

    def on_grid_opened(self, event: Grid.Opened) -> None:
        """Go to what was chosen."""
        event.stop()
        row = event.row
        match row:
            case UseRow(pool=None):
                self.dra.open_pools(row.driver.driver)
            case UseRow():
                summary = cast("PoolSummary", row.pool)
                self.dra.push(PoolView(PoolId(summary.driver, summary.pool)))
            case ClassRow():
                self.dra.push(ClassPage(row.name))
            case Waiting():
                self.dra.open_reason(row.group.code if row.group is not None else None)
            case PoolSummary():
                self.dra.push(PoolView(PoolId(row.driver, row.pool)))
            case Change():
                self._open_change(row)

    def _open_change(self, change: Change) -> None:
        subject = change.subject
        if subject.kind == "ResourceClaim":
            self.dra.open_claim(Key(subject.namespace, subject.name))
        elif subject.kind == "Pod":
            self.dra.open_pod(Key(subject.namespace, subject.name))
        elif subject.kind == "ResourceSlice":
            driver, _, pool = change.detail.partition("/")
            self.dra.push(PoolView(PoolId(driver, pool)))
        else:
            self.dra.run_action_id("taints")

    def on_grid_moved(self, event: Grid.Moved) -> None:
        """Nothing follows the cursor here."""
        event.stop()


def _use_identity(row: UseRow) -> Hashable:
    capacity = row.capacity.name if row.capacity is not None else ""
    return row.driver.driver, capacity, row.pool.pool if row.pool is not None else ""


def _use_name(row: UseRow) -> Safe:
    if row.capacity is not None:
        return Safe("  ") + styled(safe(row.capacity.name.rpartition("/")[2]), Style.DIM)
    if row.pool is not None:
        return Safe("  ") + safe(row.pool.pool)
    return styled(safe(row.driver.driver), Style.BOLD)


def _use_bar(row: UseRow, columns: int) -> Safe:
    if row.capacity is not None:
        return capacity_bar(row.capacity, columns)
    return use_bar((row.pool or row.driver).totals, columns)


def _use_devices(row: UseRow) -> Safe:
    return Safe("") if row.capacity is not None else number((row.pool or row.driver).totals.devices)


def _use_words(row: UseRow) -> Safe:
    if row.capacity is not None:
        return fmt("{} of {} used", row.capacity.consumed.value, row.capacity.total)
    words = totals_words((row.pool or row.driver).totals)
    return words if row.pool is None or not is_troubled(row.pool) else styled(words, Style.BAD)


_USE: Final[tuple[Column[UseRow], ...]] = (
    Column("", _use_name, least=12),
    Column("", lambda _r: Safe(" " * 8), draw=_use_bar, stretch=48, drop=1),
    Column("", _use_devices, right=True),
    Column("", _use_words, least=14),
)
_CLASSES: Final[tuple[Column[ClassRow], ...]] = (
    Column("", lambda c: safe(c.name), least=10),
    Column("", lambda _c: Safe(" " * 6), draw=lambda c, w: use_bar(c.totals, w), stretch=16, drop=1),
    Column("", lambda c: number(c.totals.devices), right=True),
    Column("", lists.best_offer, least=8, drop=2),
)


def _waiting_identity(row: Waiting) -> Hashable:
    return row.group.code if row.group is not None else ""


def _waiting_title(row: Waiting) -> Safe:
    return title(row.group.code) if row.group is not None else styled(Safe("being diagnosed"), Style.DIM)


def _waiting_code(row: Waiting) -> Safe:
    code: Code | None = row.group.code if row.group is not None else None
    return styled(safe(code), Style.DIM) if code is not None else Safe("")


_WAITING: Final[tuple[Column[Waiting], ...]] = (
    Column("", lambda w: styled(fmt("{}", w.number), Style.NAME), right=True),
    Column("", _waiting_title, least=10),
    Column("", _waiting_code, drop=1),
)
_BROKEN: Final[tuple[Column[PoolSummary], ...]] = (
    Column("", lambda p: safe(p.pool), least=12),
    Column("", lambda p: _trouble(p), least=10),
    Column("", lambda p: styled(safe(p.driver), Style.DIM), least=10, drop=1),
)


def _trouble(pool: PoolSummary) -> Safe:
    if pool.views:
        return styled(Safe("nodes disagree"), Style.BAD)
    if pool.views is None:
        return styled(Safe("unknown"), Style.WARN)
    view = pool.view
    return styled(fmt("{}: {} of {} slices", view.state, view.seen, view.expected), Style.BAD)
