"""The funnel of a request: how many devices of each node are left after each check, and what took the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.diagnosis.records import Certainty, Funnel, ObjectRef, Removal
from kubectl_dra.output.layout import padded, width, wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.reports.base import BOUND_SIGNS
from kubectl_dra.reports.pending import NodeGroupRecord

_WIDTH: Final = 80
_MIN_NOTE: Final = 16
_STAGES: Final = {
    "visible": "on the node",
    "pool": "in a usable pool",
    "class": "in the class",
    "selector": "pass the selector",
    "node": "for this node",
    "feature": "usable",
    "taint": "not tainted",
    "inUse": "not in use",
    "capacity": "enough capacity",
    "compatibility": "compatible",
    "counters": "counters allow",
}
_FREE_STAGES: Final = frozenset({"inUse", "capacity", "counters", "constraint", "taint", "compatibility"})


@dataclass(frozen=True, slots=True)
class Track:
    """One column: the nodes with the same story and their funnel."""

    group: NodeGroupRecord
    funnel: Funnel


@dataclass(frozen=True, slots=True)
class FunnelView:
    """All columns of one request of one claim."""

    claim: ObjectRef
    request: str
    tracks: tuple[Track, ...]

    @property
    def needed(self) -> int:
        """Devices that the request needs."""
        return max((track.funnel.needed for track in self.tracks), default=0)


def funnel_views(groups: Sequence[NodeGroupRecord]) -> list[FunnelView]:
    """The requests that have funnels, each with its columns: the node that comes closest first."""
    found: dict[tuple[ObjectRef, str], list[Track]] = {}
    for group in groups:
        for request in group.requests:
            if request.funnel is not None:
                found.setdefault((request.claim, request.request), []).append(Track(group, request.funnel))
    return [
        FunnelView(claim, request, tuple(sorted(tracks, key=_closeness, reverse=True)))
        for (claim, request), tracks in found.items()
    ]


def has_devices(track: Track) -> bool:
    """Whether any device of the node belongs to the class of the request."""
    return any(stage.count for stage in track.funnel.stages if stage.name == "class")


def funnel_lines(view: FunnelView, certainty: Certainty) -> Iterator[Safe]:
    """The table: one line per check, one column per group of nodes, and what the check took out."""
    tracks = [track for track in view.tracks if has_devices(track)]
    if not tracks:
        return
    names = [stage.name for stage in tracks[0].funnel.stages]
    titles = [_title(track) for track in tracks]
    label = max(len(_label(name, tracks[0].funnel)) for name in [*names, "constraint"]) + 2
    tracks, titles = _fitting(tracks, titles, label)
    sizes = [max(width(title), 4) for title in titles]
    yield _line(Safe(""), titles, sizes, label)
    for index, name in enumerate(names):
        counts = [_count(track.funnel, index, name, certainty) for track in tracks]
        note = _note([removal for track in tracks for removal in _removed(track.funnel, index)])
        yield from _noted(_line(Safe(_label(name, tracks[0].funnel)), counts, sizes, label), note)
    if any(track.funnel.best >= 0 for track in tracks):
        best = [Safe(str(track.funnel.best)) if track.funnel.best >= 0 else Safe("-") for track in tracks]
        yield _line(Safe(_label("constraint", tracks[0].funnel)), best, sizes, label)
    yield _line(Safe("needed"), [_needed(track.funnel) for track in tracks], sizes, label)
    hidden = sum(track.group.count for track in view.tracks if has_devices(track)) - sum(t.group.count for t in tracks)
    if hidden > 0:
        yield fmt("  {} more {} not shown: --node NAME", hidden, Safe("node" if hidden == 1 else "nodes"))


def _closeness(track: Track) -> tuple[int, int]:
    last = track.funnel.stages[-1].count if track.funnel.stages else 0
    return (track.funnel.best if track.funnel.best >= 0 else last), last


def _title(track: Track) -> Safe:
    first = safe(track.group.names[0])
    return first if track.group.count == 1 else fmt("{} +{}", first, track.group.count - 1)


def _label(name: str, funnel: Funnel) -> str:
    if name == "constraint":
        kind, _, attribute = funnel.constraint.partition(" ")
        short = attribute.rpartition("/")[2] or "value"
        return f"differ in {short}" if kind == "distinct" else f"in one {short}"
    return _STAGES.get(name, name)


def _fitting(tracks: list[Track], titles: list[Safe], label: int) -> tuple[list[Track], list[Safe]]:
    """As many columns as leave room for the notes."""
    used, kept = 2 + label, 0
    for title in titles:
        used += max(width(title), 4) + 2
        if kept and used > _WIDTH - _MIN_NOTE:
            break
        kept += 1
    return tracks[:kept], titles[:kept]


def _line(label: Safe, cells: Sequence[Safe], sizes: Sequence[int], label_width: int) -> Safe:
    columns = [padded(cell, size, right=True) for cell, size in zip(cells, sizes, strict=True)]
    return Safe(("  " + padded(label, label_width) + "  ".join(columns)).rstrip())


def _count(funnel: Funnel, index: int, name: str, certainty: Certainty) -> Safe:
    if index >= len(funnel.stages):
        return Safe("-")
    if index and not funnel.stages[index - 1].count:
        return Safe("-")
    bound = certainty.free_devices if name in _FREE_STAGES else certainty.devices
    return Safe(f"{BOUND_SIGNS[bound]}{funnel.stages[index].count}")


def _needed(funnel: Funnel) -> Safe:
    return Safe("all") if funnel.all_devices else Safe(str(funnel.needed))


def _removed(funnel: Funnel, index: int) -> tuple[Removal, ...]:
    return funnel.stages[index].removed if index < len(funnel.stages) else ()


def _note(removals: Sequence[Removal]) -> Safe:
    """``serve-1 5, serve-0 2``: what took devices out, the biggest first; the number only where there are several."""
    totals: dict[tuple[str, str], int] = {}
    for removal in removals:
        key = (removal.reason, removal.source)
        totals[key] = totals.get(key, 0) + len(removal.devices)
    ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    texts = [_removal(reason, source, number if len(ranked) > 1 else 0) for (reason, source), number in ranked[:3]]
    if len(ranked) > len(texts):
        texts.append(fmt("{} more", len(ranked) - len(texts)))
    return Safe(", ").join(texts)


def _removal(reason: str, source: str, number: int) -> Safe:
    text = safe(source) if source and not reason else safe(reason)
    if source and reason:
        text = fmt("{} ({})", text, source)
    return fmt("{} {}", text, number) if number else text


def _noted(line: Safe, note: Safe) -> Iterator[Safe]:
    if not note:
        yield line
        return
    column = width(line) + 2
    if column + _MIN_NOTE > _WIDTH:
        yield line
        yield from wrapped(note, indent=6)
        return
    lines = wrapped(note, indent=column)
    yield line + Safe("  ") + Safe(lines[0][column:])
    yield from lines[1:]
