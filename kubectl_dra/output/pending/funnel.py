"""The funnel of a request: how many devices of each node are left after each check, and what took the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records import Certainty, Funnel, ObjectRef, Stage, StageName
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import padded, width, wrapped
from kubectl_dra.output.pending.removals import amounts_left, removal_note
from kubectl_dra.output.safe import Safe, Style, fmt, plain, safe, styled
from kubectl_dra.output.words import plural
from kubectl_dra.reports.pending.nodes import NodeGroupRecord

#: So many requests of a pod have a table.
MAX_FUNNELS: Final = 3
_MIN_NOTE: Final = 16
_STAGES: Final = {
    StageName.CLASS: "in the class",
    StageName.SELECTORS: "match the selector",
    StageName.NODE: "for this node",
    StageName.FEATURES: "usable here",
    StageName.TAINTS: "not tainted",
    StageName.UNUSED: "not in use",
    StageName.CAPACITY: "enough capacity",
    StageName.COUNTERS: "counters allow",
}
#: The same as heads of columns.
_SHORT: Final = {
    StageName.CLASS: "class",
    StageName.SELECTORS: "selector",
    StageName.NODE: "node",
    StageName.FEATURES: "usable",
    StageName.TAINTS: "untainted",
    StageName.UNUSED: "unused",
    StageName.CAPACITY: "capacity",
    StageName.COUNTERS: "counters",
}
_HEADER: Final = Safe("Devices left after each check")
_OTHERS: Final = Safe("--node NAME")
_SIDE_BY_SIDE: Final = 3
#: Columns of a number.
_COUNT: Final = 4
_LINES: Final = 8
#: Two short names stand side by side in one heading.
_LISTED: Final = 2
_SHORT_NAMES: Final = 16
#: What stands behind a taint in the first line.
_AGES: Final = re.compile(r" for (?:[0-9]+[a-z]+)+(?=[,)])")
_ALWAYS: Final = frozenset({StageName.CLASS})
_AMOUNTS: Final = frozenset({StageName.CAPACITY, StageName.COUNTERS})
_FREE_STAGES: Final = frozenset({StageName.TAINTS, StageName.UNUSED, StageName.CAPACITY, StageName.COUNTERS})


class Track(msgspec.Struct, frozen=True):
    """One column: the nodes with the same story and their funnel."""

    group: NodeGroupRecord
    funnel: Funnel


class FunnelView(msgspec.Struct, frozen=True):
    """All columns of one request of one claim."""

    claim: ObjectRef
    request: str
    tracks: tuple[Track, ...]

    @property
    def needed(self) -> int:
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
    return track.funnel.total > 0


def stage_label(name: StageName) -> Safe:
    """What a check leaves over, in words."""
    return Safe(_STAGES[name])


def funnel_lines(view: FunnelView, certainty: Certainty, others: Safe = _OTHERS, said: str = "") -> Iterator[Safe]:
    """The table: one line per check that took something out, one column per group of nodes.

    Where the names of the nodes do not fit side by side, nodes become lines and checks become columns; a name that
    leaves no room for the columns has a line of its own. ``others`` says how to see the nodes that are not shown; notes
    on amounts that stand in ``said``, the first line, are not repeated.
    """
    tracks = [track for track in view.tracks if has_devices(track)]
    if not tracks:
        return
    rows = _rows(tracks)
    labels = [*(len(text) for text, _ in rows), len(_constraint_label(tracks[0].funnel)), len(_HEADER) - 2]
    label = max(labels) + 2
    shown, titles = _fitting(tracks, [track_title(track) for track in tracks], label)
    few = min(len(tracks), _SIDE_BY_SIDE)
    if len(shown) < few or width(_head(titles, label)) > page_width():
        # More nodes are worth more than notes beside them: those stand below.
        wider = _fitting(tracks, [track_title(track) for track in tracks], label, note=0)
        for one_line in (True, False):
            lines = list(_by_node(view, tracks, rows, certainty, others, said, one_line=one_line))
            if max(map(width, lines)) <= page_width() and (one_line or len(wider[0]) < few):
                yield from lines
                return
        shown, titles = wider
    sizes = [max(width(title), _COUNT) for title in titles]
    head = _head(titles, label)
    if width(head) <= page_width():
        yield head
    else:
        yield from (_HEADER, Safe("  ") + titles[0])
        sizes = [_COUNT]
    for text, name in rows:
        counts = [_count(track.funnel, name, certainty) for track in shown]
        note = _unsaid(_note(view, name, shown), name, said)
        yield from _noted(_line(Safe(text), counts, sizes, label), note)
    if any(track.funnel.best is not None for track in shown):
        best = [_best(track.funnel) for track in shown]
        yield _line(_constraint_label(shown[0].funnel), best, sizes, label)
    yield _line(Safe("needed"), [_needed(track.funnel) for track in shown], sizes, label)
    yield from _hidden(tracks[len(shown) :], others)


def _head(titles: Sequence[Safe], label: int) -> Safe:
    sizes = [max(width(title), _COUNT) for title in titles]
    return padded(_HEADER, label + 2) + _line(Safe(""), titles, sizes, 0).removeprefix("  ")


def is_served(view: FunnelView, node: str = "") -> bool:
    """Whether every node that has any device of the class, or that one ``node``, has as many as the request needs."""
    funnels = [track.funnel for track in view.tracks if has_devices(track)]
    funnels = [funnel for funnel in funnels if funnel.node == node] or funnels
    return bool(funnels) and all(
        not funnel.all_devices
        and len(funnel.left) >= funnel.needed
        and (funnel.best is None or funnel.best >= funnel.needed)
        for funnel in funnels
    )


def is_said(view: FunnelView, certainty: Certainty, said: str, *, about: bool) -> bool:
    """Whether the first line, ``said``, has all of the table that matters.

    So it is of one column where the reason of each check that takes devices out stands there, selectors left aside,
    which the request shows; ``about``: where none does, the constraint decides, or nothing matches, that the sentence
    is about this request. Of several columns, see :func:`_are_said`. Of an alternative the sentence names what it
    wants, and what nodes have against it.
    """
    tracks, said = [track for track in view.tracks if has_devices(track)], _AGES.sub("", said)
    if not tracks or certainty.devices.sign or certainty.free_devices.sign:
        return False
    if "/" in view.request:
        found = [stage for track in tracks for stage in track.funnel.stages if stage.removed]
        others = [stage for stage in found if stage.name is not StageName.SELECTORS]
        constrained = any(track.funnel.best is not None for track in tracks)
        return not constrained and bool(found) and all(_is_noted(stage, view, said) for stage in others or found)
    if len(tracks) > 1 or not (about or _matches(tracks[0])):
        return _are_said(tracks, view, said, about=about)
    funnel = tracks[0].funnel
    stages = [stage for stage in funnel.stages if stage.removed]
    if stages and funnel.best is not None:
        return False
    later = [stage for stage in stages if stage.name is not StageName.SELECTORS]
    if not stages or (about and not later and not stages[0].count):
        return about
    return all(_is_noted(stage, view, said) for stage in later or stages)


def _are_said(tracks: Sequence[Track], view: FunnelView, said: str, *, about: bool) -> bool:
    """Whether the first line has why the closest nodes have too few devices, and the others lack no other thing.

    Nodes without a device that matches say nothing that the selector, which the request shows, does not. Where the
    sentence is not ``about`` the request, it has to name all nodes.
    """
    matching = [track for track in tracks if _matches(track)]
    if not matching and not about:
        return True
    if not matching or any(track.funnel.best is not None for track in matching):
        return False
    if not about:
        named = all(name in said for track in tracks for name in track.group.names)
        return named and all(_is_track_said(track, view, said) for track in matching)
    lacking = {stage.name for stage in _later(matching[0])}
    return _is_track_said(matching[0], view, said) and all(
        lacking.issuperset(stage.name for stage in _later(track)) for track in matching
    )


def _matches(track: Track) -> bool:
    """Whether the selectors leave anything of the node."""
    selected = track.funnel.stage(StageName.SELECTORS)
    return bool(selected.count or not selected.removed)


def _later(track: Track) -> list[Stage]:
    """The checks behind the selectors that take devices out."""
    return [stage for stage in track.funnel.stages if stage.removed and stage.name is not StageName.SELECTORS]


def _is_track_said(track: Track, view: FunnelView, said: str) -> bool:
    """Whether the first line names the node, and what takes its devices."""
    stages, funnel = _later(track), track.funnel
    how_many = bool(stages) or f"with {len(funnel.left)} of {funnel.needed}" in said
    return how_many and funnel.node in said and all(_is_noted(stage, view, said) for stage in stages)


def _is_noted(stage: Stage, view: FunnelView, said: str) -> bool:
    """Whether the note of a check stands in the first line."""
    notes = [removal_note(stage.name, stage.removed, view.claim.namespace, users=users) for users in (False, True)]
    if stage.name is StageName.CAPACITY and (note := amounts_left(stage.removed, view.claim.namespace, rounded=True)):
        notes.append(note)
    return any(plain(note) in said for note in notes)


def _hidden(tracks: Sequence[Track], others: Safe) -> Iterator[Safe]:
    hidden = sum(track.group.count for track in tracks)
    if hidden:
        yield fmt("  {} more {} not shown: {}", hidden, Safe(plural("node", hidden)), others)


def _by_node(
    view: FunnelView,
    tracks: Sequence[Track],
    rows: Sequence[tuple[str, StageName]],
    certainty: Certainty,
    others: Safe,
    said: str,
    *,
    one_line: bool,
) -> Iterator[Safe]:
    """One line per group of nodes, or its name and below it the numbers; names are never cut."""
    shown = tracks[:_LINES]
    titles = [track_title(track) for track in shown]
    heads = [Safe(_SHORT[name]) for _, name in rows]
    constrained = any(track.funnel.best is not None for track in shown)
    if constrained:
        heads.append(_constraint_label(shown[0].funnel))
    needed = _needed(shown[0].funnel)
    title = fmt("NODE ({} needed)", needed) if one_line else Safe("")
    first = max(width(text) for text in (title, *titles)) if one_line else 0
    if not one_line:
        yield fmt("{} ({} needed)", _HEADER, needed)
    yield Safe("  ") + padded(title, first) + Safe("").join([Safe("  ") + head for head in heads])
    for track, name in zip(shown, titles, strict=True):
        counts = [_count(track.funnel, stage, certainty) for _, stage in rows]
        counts += [_best(track.funnel)] if constrained else []
        cells = [Safe("  ") + padded(count, width(head), right=True) for count, head in zip(counts, heads, strict=True)]
        if not one_line:
            yield Safe("  ") + name
        yield Safe("  ") + padded(name if one_line else title, first) + Safe("").join(cells)
    for text, stage in rows:
        note = _unsaid(_note(view, stage, shown), stage, said)
        if note:
            yield from wrapped(fmt("{}: {}", Safe(text), note), indent=4, first=2)
    yield from _hidden(tracks[len(shown) :], others)


def _unsaid(note: Safe, stage: StageName, said: str) -> Safe:
    """A note on amounts, which are long, unless the first line has it."""
    return Safe("") if stage in _AMOUNTS and plain(note) in said else note


def _note(view: FunnelView, stage: StageName, tracks: Sequence[Track]) -> Safe:
    """What a check takes from the nodes of a table; who holds devices stands behind the node that has them.

    Of nodes that are alike but for who holds their devices, the holders are those of the first.
    """
    namespace = view.claim.namespace
    removed = [removal for track in tracks for removal in track.funnel.stage(stage).removed]
    whole = removal_note(stage, removed, namespace)
    taken = [track for track in tracks if track.funnel.stage(stage).removed]
    several = len(taken) > 1 or any(track.group.count > 1 for track in taken)
    if stage is not StageName.UNUSED or not several or not whole:
        return whole
    notes = [(track, removal_note(stage, track.funnel.stage(stage).removed, namespace)) for track in taken]
    if len(taken) > 1 and len({note for _, note in notes}) == 1:
        return whole
    located = Safe("; ").join(fmt("on {}: {}", track.funnel.node, note) for track, note in notes[:_SIDE_BY_SIDE])
    # Long names of nodes would say more than those of who is there.
    return located if len(taken) == 1 or width(located) < page_width() else whole


def _rows(tracks: Sequence[Track]) -> list[tuple[str, StageName]]:
    """Labels of the checks that took something out anywhere; the others would only repeat numbers."""
    told = [n for n in StageName if n in _ALWAYS or any(track.funnel.stage(n).removed for track in tracks)]
    return [(_STAGES[name], name) for name in told]


def _closeness(track: Track) -> tuple[int, int]:
    return track.funnel.together, len(track.funnel.left)


def track_title(track: Track) -> Safe:
    """The nodes of a column: the first one, and how many more."""
    first = safe(track.group.names[0])
    group = track.group
    if group.count == len(group.names) == _LISTED and sum(map(len, group.names)) <= _SHORT_NAMES:
        return Safe(", ").join(group.names)
    return first if group.count == 1 else fmt("{} (and {} alike)", first, group.count - 1)


def _constraint_label(funnel: Funnel) -> Safe:
    short = funnel.constraint.rpartition("/")[2]
    if not short:
        return Safe("")
    return fmt("differ in {}", short) if funnel.distinct else fmt("in one {}", short)


def _fitting(
    tracks: list[Track], titles: list[Safe], label: int, note: int = _MIN_NOTE
) -> tuple[list[Track], list[Safe]]:
    """As many columns as leave room for the notes."""
    used, kept = 2 + label, 0
    for title in titles:
        used += max(width(title), _COUNT) + 2
        if kept and used > page_width() - note:
            break
        kept += 1
    return tracks[:kept], titles[:kept]


def _line(label: Safe, cells: Sequence[Safe], sizes: Sequence[int], label_width: int) -> Safe:
    columns = [padded(cell, size, right=True) for cell, size in zip(cells, sizes, strict=True)]
    return Safe(("  " + padded(label, label_width) + "  ".join(columns)).rstrip())


def _count(funnel: Funnel, name: StageName, certainty: Certainty) -> Safe:
    """The number after a check; a dash where nothing was left for it. The number that decides is red."""
    stage = funnel.stage(name)
    if not stage.count and not stage.removed and name not in _ALWAYS:
        return styled(Safe("-"), Style.DIM)
    bound = certainty.free_devices if name in _FREE_STAGES else certainty.devices
    text = Safe(f"{bound.sign}{stage.count}")
    if name is _deciding(funnel):
        return styled(text, Style.BAD)
    return styled(text, Style.WARN) if stage.removed else text


def _deciding(funnel: Funnel) -> StageName | None:
    """The first check that leaves less than is needed; of a request for all devices the first that takes one."""
    for stage in funnel.stages:
        if bool(stage.removed) if funnel.all_devices else stage.count < funnel.needed:
            return stage.name
    return None


def _best(funnel: Funnel) -> Safe:
    if funnel.best is None or not funnel.left:
        return styled(Safe("-"), Style.DIM)
    short = not funnel.all_devices and funnel.best < funnel.needed
    return styled(Safe(str(funnel.best)), Style.BAD) if short else Safe(str(funnel.best))


def _needed(funnel: Funnel) -> Safe:
    return Safe("all") if funnel.all_devices else Safe(str(funnel.needed))


def _noted(line: Safe, note: Safe) -> Iterator[Safe]:
    if not note:
        yield line
        return
    column = width(line) + 2
    longest = max(width(Safe(word)) for word in note.split(" "))
    # A name is not broken where it fits on a line of its own.
    if column + max(_MIN_NOTE, longest) > page_width():
        yield line
        yield from wrapped(note, indent=6)
        return
    lines, below = wrapped(note, indent=column), wrapped(note, indent=6)
    if len(lines) > len(below) + 1:
        yield from (line, *below)
        return
    yield line + Safe("  ") + Safe(lines[0][column:])
    yield from lines[1:]
