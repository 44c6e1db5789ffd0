"""The first screen: what is pending and why, what else needs attention, what changed, which devices are used.

Trouble comes first. Where a driver has many pools they stand in a strip, one cell for several of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from textual.containers import Horizontal, Vertical

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.output.devices import lists
from kubectl_dra.output.devices.parts import number, spoken
from kubectl_dra.output.pending.lingering import OVERDUE as SHOULD_HAVE_ENDED
from kubectl_dra.output.pending.reasons import title
from kubectl_dra.output.recent import change_text
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import age, counted
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.class_list import ClassRow
from kubectl_dra.reports.devices.pool import PoolSummary
from kubectl_dra.reports.pending.by_reason import ReasonGroup, reason_groups
from kubectl_dra.reports.recent import Change
from kubectl_dra.reports.taints.taint_list import TaintStatus
from kubectl_dra.reports.unread import CLASSES, PENDING_PODS, POOLS, Subject
from kubectl_dra.tui.bars import LEGEND, use_bar
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.queries import ALL_CLASSES, ALL_TAINTS, OVERDUE, WHOLE, PodQuery, RecentChanges
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.text import content
from kubectl_dra.tui.use_grid import UseGrid, cell_words
from kubectl_dra.tui.view import View
from kubectl_dra.tui.views.changes import CHANGES, open_change
from kubectl_dra.tui.views.classes import ClassPage
from kubectl_dra.tui.views.pool import PoolDevices
from kubectl_dra.tui.views.pools import PoolsView
from kubectl_dra.tui.views.workloads import in_namespace
from kubectl_dra.tui.whole import Attention, Cell, TroubleKind, UseRow, WholeRecord
from kubectl_dra.tui.work import FAILED_PODS, WORK

# What is counted, and what is wrong with it.
_COUNTED: Final = {
    TroubleKind.REFUSED: ("workload", Safe("cannot create pods")),
    TroubleKind.QUEUED: ("workload", Safe("without pods, in a queue")),
    TroubleKind.OVERDUE: ("pod", Safe(SHOULD_HAVE_ENDED)),
    TroubleKind.REJECTED: ("pod", Safe("failed: not taken by a node")),
    TroubleKind.IDLE_RULE: ("taint rule", Safe("on no device")),
}
_ON_NOTHING: Final = (TaintStatus.HITS_NOTHING, TaintStatus.SELECTS_NOTHING)


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A reason with its pods, or the pods that are not diagnosed yet."""

    group: ReasonGroup | None
    number: int
    oldest: str = ""


class Overview(View):
    """Four panels, five where the terminal is wide; enter goes to what is under the cursor."""

    # Rules begin with the class of the layout, which is the screen's.
    SCOPED_CSS = False
    DEFAULT_CSS = """
    Overview Grid { border: round $border; border-title-color: $primary; border-title-style: bold;
        border-subtitle-color: $dim; padding: 0; }
    Overview Grid > .grid--cursor-blurred { background: $background; }
    Overview Grid:focus { border: round $primary; border-title-style: bold reverse; }
    Overview #top { height: 6fr; }
    Overview #bottom { height: 5fr; }
    Overview #use { width: 3fr; }
    Overview #classes { width: 2fr; display: none; }
    .-split Overview #classes { display: block; }
    Overview #waiting { width: 1fr; }
    Overview #right { width: 1fr; }
    Overview #broken { height: auto; min-height: 3; max-height: 50%; }
    Overview #recent { height: 1fr; }
    """
    extras = frozenset({"next_part", "namespace"})
    crumb = Safe("overview")

    def __init__(self) -> None:
        super().__init__()
        self.use = UseGrid()
        self.classes_: Grid[ClassRow] = Grid(_CLASSES, lambda row: row.name, header=False, id="classes")
        since: Column[WaitingRow] = Column("", lambda w: self._since(w.oldest), True)
        columns = (*_WAITING[:-1], since, _WAITING[-1])
        self.waiting: Grid[WaitingRow] = Grid(columns, _waiting_identity, header=False, id="waiting")
        attention: tuple[Column[Attention], ...] = (
            Column("", self._troubled_name, least=12, inside=True),
            Column("", _attention_words, least=12),
            Column("", lambda a: self._since(a.since), drop=1),
        )
        self.broken: Grid[Attention] = Grid(attention, _attention_identity, header=False, id="broken")
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
        titles = ((self.use, "Devices"), (self.classes_, "Classes"), (self.waiting, "Pending, by reason"))
        for grid, name in (*titles, (self.broken, "Needs attention"), (self.recent, "Last changes")):
            grid.border_title = name
            grid.choose = self._chosen
        with Horizontal(id="top"):
            yield self.waiting
            with Vertical(id="right"):
                yield self.broken
                yield self.recent
        with Horizontal(id="bottom"):
            yield self.use
            yield self.classes_

    def on_mount(self) -> None:
        self.show()

    def _since(self, created: str) -> Safe:
        word = Safe("oldest ") if self.dra.room >= Room.SPLIT else Safe("")
        return styled(word + age(created, self.dra.now), Style.DIM) if created else Safe("")

    def queries(self) -> Sequence[Query[object]]:
        """Everything that the panels show; the diagnoses of pods come from the app's own list."""
        # What costs least comes first: nobody waits for the last changes of 10,000 pools.
        return (RecentChanges(self.dra.namespace), WHOLE, ALL_CLASSES, WORK, OVERDUE, FAILED_PODS)

    def show(self) -> None:
        whole = self.worker.record(WHOLE)
        empty = self.dra.reading_words if whole is None else self._none(POOLS, "No driver has published any pool.")
        self.use.show(whole.uses if whole is not None else (), empty)
        self.use.border_subtitle = content(LEGEND)
        self.broken.show(*self._troubled(whole))
        self.waiting.show(*self._waiting())
        classes = self.worker.record(ALL_CLASSES)
        recent = self.worker.record(RecentChanges(self.dra.namespace))
        self.classes_.show(
            classes or (),
            self.dra.reading_words if classes is None else self._none(CLASSES, "There are no DeviceClasses."),
        )
        self.recent.show(
            recent or (), self.dra.reading_words if recent is None else self._none(CHANGES, "No change is recorded.")
        )

    def _waiting(self) -> tuple[Sequence[WaitingRow], Safe]:
        if not self.dra.knows_pending:
            return (), self.dra.reading_words
        keys = self.dra.pending_keys()
        reports = [report for key in keys if (report := self.worker.record(PodQuery(key))) is not None]
        created = {(report.pod.namespace, report.pod.name): report.created for report in reports}
        rows = [WaitingRow(group, len(group.pods), _oldest(group, created)) for group in reason_groups(reports)]
        if len(reports) < len(keys):
            rows.append(WaitingRow(None, len(keys) - len(reports)))
        self.waiting.border_subtitle = f"{len(reports)} of {len(keys)} diagnosed" if len(reports) < len(keys) else ""
        return rows, self._none(PENDING_PODS, "No pod with device claims is pending.")

    def _none(self, subject: Subject, words: str) -> Safe:
        return self.dra.none_of(subject, Safe(words))

    def _troubled_name(self, row: Attention) -> Safe:
        """A pool without its driver where there is little room; the line above says it of the one under the cursor."""
        short = row.pool is not None and self.dra.room < Room.WIDE and not row.namesake
        return safe(row.pool.pool) if row.pool is not None and short else _attention_name(row)

    def _troubled(self, whole: WholeRecord | None) -> tuple[Sequence[Attention], Safe]:
        if whole is None:
            return (), self.dra.reading_words
        fine = styled(Safe("none broken, tainted or held unused"), Style.GOOD)
        return [*self._counted(), *whole.attention], self.dra.none_of(POOLS, fine)

    def _counted(self) -> Iterator[Attention]:
        """What no pod that waits tells of: workloads, pods that do not end or have failed, rules that do nothing."""
        found = in_namespace(self.worker.record(WORK) or (), self.dra.namespace)
        refused = sum(each.refused is not None for each in found)
        if refused:
            yield Attention(TroubleKind.REFUSED, number=refused)
        if len(found) > refused:
            yield Attention(TroubleKind.QUEUED, number=len(found) - refused)
        ending = [pod for pod in self.worker.record(OVERDUE) or () if self.dra.namespace in ("", pod.pod.namespace)]
        if ending:
            yield Attention(TroubleKind.OVERDUE, number=len(ending), since=ending[0].due)
        if self._failed:
            yield Attention(TroubleKind.REJECTED, number=len(self._failed))
        rules = [row for row in self.worker.record(ALL_TAINTS) or () if row.rule and row.status in _ON_NOTHING]
        certain = [row for row in rules if row.device_count.bound is Bound.EXACT]
        if certain:
            yield Attention(TroubleKind.IDLE_RULE, number=len(certain))

    @property
    def _failed(self) -> Sequence[Key]:
        found = (ref.key for each in self.worker.record(FAILED_PODS) or () for ref in each.pods)
        return [key for key in found if self.dra.namespace in ("", key.namespace)]

    @property
    def info(self) -> Safe:
        whole = self.worker.record(WHOLE)
        if whole is None or whole.totals is None:
            return Safe("")
        if self.use.has_focus and (cell := self.use.cell) is not None:
            return cell_words(cell)
        if self.broken.has_focus and (row := self.broken.selected) is not None:
            return fmt("{}  {}", _attention_name(row), _attention_words(row))
        totals, broken = whole.totals, whole.broken
        free = fmt("{} of {} free", spoken(totals.free), counted(totals.devices.value, "device"))
        parts = [styled(free, Style.GOOD)]
        if broken:
            parts.append(styled(fmt("{} broken", counted(broken, "pool")), Style.BAD))
        if self.dra.knows_pending:
            waiting = len(self.dra.pending_keys())
            bound = self.dra.unread(PENDING_PODS, shown=bool(waiting)).bound
            style = Style.WARN if waiting or bound is not Bound.EXACT else Style.DIM
            pods = Safe(bound.sign) + counted(waiting, "pod") if waiting or bound is Bound.EXACT else Safe("? pods")
            parts.append(styled(fmt("{} pending", pods), style))
        return Safe("   ").join(parts)

    def do_open(self) -> None:
        """Enter, in the panel with the focus."""
        if isinstance(self.screen.focused, Grid):
            self.screen.focused.open_selected()

    def _chosen(self, row: object) -> None:
        match row:
            case UseRow() if row.cells and (cell := self.use.cell) is not None:
                self._open_cell(cell)
            case UseRow(pool=None):
                self.dra.open_pools(row.driver.driver)
            case UseRow():
                summary = cast("PoolSummary", row.pool)
                self.dra.push(PoolDevices(PoolId(summary.driver, summary.pool)))
            case ClassRow():
                self.dra.push(ClassPage(row.name))
            case WaitingRow():
                self._open_waiting(row)
            case Attention():
                self._open_attention(row)
            case Change():
                open_change(row, self.dra)

    def can(self, action: str) -> bool:
        """A reason has to be under the cursor, and something to open."""
        if action == "open":
            return isinstance(self.app.focused, Grid) and self.app.focused.selected is not None
        return self._code is not None if action == "explain" else super().can(action)

    @property
    def _code(self) -> Code | None:
        row = self.waiting.selected if self.app.focused is self.waiting else None
        return row.group.code if row is not None and row.group is not None else None

    def do_explain(self) -> None:
        if self._code is not None:
            self.dra.open_explanation(self._code)

    def _open_waiting(self, row: WaitingRow) -> None:
        if row.group is not None and row.group.code is not None:
            self.dra.open_pending_reason(row.group.code)
        else:
            self.dra.open_undiagnosed()

    def _open_cell(self, cell: Cell) -> None:
        if len(cell.pools) == 1:
            self.dra.push(PoolDevices(PoolId(cell.pools[0].driver, cell.pools[0].pool)))
        else:
            self.dra.push(PoolsView(frozenset(PoolId(pool.driver, pool.pool) for pool in cell.pools)))

    def _open_attention(self, row: Attention) -> None:
        if row.pool is not None:
            self.dra.push(PoolDevices(PoolId(row.pool.driver, row.pool.pool)))
        elif row.trouble in (TroubleKind.TAINTED, TroubleKind.IDLE_RULE):
            self.dra.jump("taints")
        elif row.trouble in (TroubleKind.REFUSED, TroubleKind.QUEUED):
            self.dra.run_action_id("workloads")
        elif row.trouble is TroubleKind.REJECTED:
            self.dra.open_pods(self._failed)
        elif row.trouble is TroubleKind.OVERDUE:
            self.dra.open_filtered("pending", Code.POD_BEING_DELETED.value)
        else:
            self.dra.open_filtered("claims", "unused")

    def on_grid_moved(self, event: Grid.Moved) -> None:
        event.stop()
        self.dra.refresh_frame()


_CLASSES: Final[tuple[Column[ClassRow], ...]] = (
    Column("", lambda c: safe(c.name), least=10),
    Column("", lambda _c: Safe(" " * 6), draw=lambda c, w: use_bar(c.totals, w), stretch=16, drop=1),
    Column("", lambda c: number(c.totals.devices), right=True),
    Column("", lambda c: fmt("{} free", number(c.totals.free)), right=True),
    Column("", lists.best_offer, least=8, drop=2),
)


def _oldest(group: ReasonGroup, created: Mapping[tuple[str, str], str]) -> str:
    times = (created[pod.namespace, pod.name] for pod in group.pods)
    return min(filter(None, times), default="")


def _waiting_identity(row: WaitingRow) -> Hashable:
    return row.group.code if row.group is not None else ""


def _waiting_title(row: WaitingRow) -> Safe:
    return title(row.group.code) if row.group is not None else styled(Safe("being diagnosed"), Style.DIM)


def _waiting_code(row: WaitingRow) -> Safe:
    code: Code | None = row.group.code if row.group is not None else None
    return styled(safe(code), Style.DIM) if code is not None else Safe("")


_WAITING: Final[tuple[Column[WaitingRow], ...]] = (
    Column("", lambda w: styled(fmt("{}", w.number), Style.NAME), right=True),
    Column("", _waiting_title, least=10),
    Column("", _waiting_code, drop=1),
)


def _attention_identity(row: Attention) -> Hashable:
    return row.trouble, (row.pool.driver, row.pool.pool) if row.pool is not None else None


def _attention_name(row: Attention) -> Safe:
    if row.pool is not None:
        return fmt("{}/{}", row.pool.driver, row.pool.pool)
    if row.trouble in _COUNTED:
        return styled(counted(row.number, _COUNTED[row.trouble][0]), Style.WARN)
    return styled(counted(row.devices, "device"), Style.WARN)


def _attention_words(row: Attention) -> Safe:
    if row.pool is not None:
        return _trouble(row.pool)
    if row.trouble is TroubleKind.TAINTED:
        return fmt("tainted, in {}", counted(row.number, "pool"))
    if row.trouble in _COUNTED:
        return _COUNTED[row.trouble][1]
    return fmt("held but unused, by {}", counted(row.number, "claim"))


def _trouble(pool: PoolSummary) -> Safe:
    if pool.views:
        return styled(Safe("nodes disagree"), Style.BAD)
    if pool.views_bound is Bound.UNKNOWN:
        return styled(Safe("unknown"), Style.WARN)
    view = pool.view
    return styled(fmt("{}: {} of {} slices", view.state, view.seen, view.expected), Style.BAD)
