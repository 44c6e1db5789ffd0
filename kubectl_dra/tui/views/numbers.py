"""The devices behind each number of a diagnosis: what every check left over, and what it took out for which reason."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kubectl_dra.diagnosis.records import Funnel, Removal, StageName
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.output.devices.parts import in_order, ranges
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.asks import extended_title
from kubectl_dra.output.pending.funnel import FunnelView, Track, funnel_views, has_devices, stage_label, track_title
from kubectl_dra.output.pending.removals import removal_note
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import counted
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.queries import PodQuery


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One number: what passed a check on some nodes; without a stage the heading of those nodes."""

    view: FunnelView
    track: Track
    stage: StageName | None
    devices: tuple[str, ...] = ()
    removed: tuple[Removal, ...] = ()


class NumbersView(ListView[NumberRow]):
    """Numbers above, their devices below."""

    DEFAULT_CSS = """
    NumbersView > Grid { height: 3fr; }
    NumbersView > Page { height: 2fr; border-top: hkey $border; }
    """
    crumb = Safe("devices behind the numbers")
    nothing = Safe("No devices were counted.")
    document = object_document("Pod")

    def __init__(self, pod: Key) -> None:
        self.named = self.pod = pod
        self.page = Page()
        self.page.can_focus = False
        self.question: PodQuery = PodQuery(pod)
        super().__init__()

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        yield self.grid
        yield self.page

    def columns(self) -> Sequence[Column[NumberRow]]:
        return [
            Column("  CHECK", lambda r: Safe("  ") + stage_label(r.stage) if r.stage else Safe(""), least=16),
            Column("LEFT", lambda r: fmt("{}", len(r.devices)), right=True),
            Column("OUT", lambda r: fmt("{}", _out(r)) if r.removed else Safe(""), right=True),
            Column("BECAUSE", lambda r: removal_note(r.stage, r.removed, self.pod.namespace) if r.stage else Safe("")),
        ]

    def all_rows(self) -> Sequence[NumberRow] | None:
        """Request by request, the nodes that come closest first."""
        found = self.worker.answer(self.question)
        if found is None:
            return None
        return list(_rows(funnel_views(found.record.nodes))) if found.record is not None else ()

    def heading(self, row: NumberRow) -> Safe | None:
        if row.stage is not None:
            return None
        claim, funnel = row.view.claim, row.track.funnel
        needed = Safe("all") if funnel.all_devices else fmt("{}", funnel.needed)
        asked = self.worker.answer(self.question)
        extended = asked.record.extended if asked is not None and asked.record is not None else ()
        title = extended_title(row.view.request, extended) or fmt("request {} of {}", row.view.request, claim.name)
        return fmt("{}  {}, needs {}", track_title(row.track), title, needed)

    def identity(self, row: NumberRow) -> Hashable:
        return row.view.claim.key, row.view.request, row.track.funnel.node, row.stage

    def named_by(self, _row: NumberRow) -> Key:
        return self.pod

    def text_of(self, row: NumberRow) -> str:
        return f"{track_title(row.track)} {' '.join(row.devices)}"

    def moved(self, row: NumberRow | None) -> None:
        self.page.make(lambda: list(_device_lines(row, max(self.size.width - 3, 40))) if row is not None else ())

    def opened(self, row: NumberRow) -> None:
        names = [*row.devices, *(name for removal in row.removed for name in removal.devices)]
        self.dra.open_devices(
            frozenset(map(DeviceId.of, names)), stage_label(row.stage) if row.stage else Safe("devices")
        )

    @property
    def focus_target(self) -> Any:  # noqa: ANN401 - a widget
        return self.grid


def _rows(views: Sequence[FunnelView]) -> Iterator[NumberRow]:
    for view in views:
        for track in filter(has_devices, view.tracks):
            yield NumberRow(view, track, None)
            yield from _stages(view, track, track.funnel)


def _stages(view: FunnelView, track: Track, funnel: Funnel) -> Iterator[NumberRow]:
    for stage in funnel.stages:
        if stage.removed or stage.name is StageName.CLASS:
            yield NumberRow(view, track, stage.name, in_order(funnel.after(stage.name)), stage.removed)


def _out(row: NumberRow) -> int:
    return sum(len(removal.devices) for removal in row.removed)


def _device_lines(row: NumberRow, columns: int) -> Iterator[Safe]:
    yield styled(fmt("{} left", counted(len(row.devices), "device")), Style.GOOD if row.devices else Style.DIM)
    if row.devices:
        yield from wrapped(Safe("  ").join(ranges(row.devices)), columns, indent=2)
    for removal in row.removed:
        source = fmt(", {}", removal.source) if removal.source else Safe("")
        lacks = removal.short
        short = fmt(" (needs {}, {} left)", lacks.needs, lacks.left or "none") if lacks is not None else Safe("")
        yield from wrapped(
            styled(fmt("{} out: ", len(removal.devices)), Style.WARN) + fmt("{}{}{}", removal.reason, source, short),
            columns,
        )
        yield from wrapped(Safe("  ").join(ranges(removal.devices)), columns, indent=2)
