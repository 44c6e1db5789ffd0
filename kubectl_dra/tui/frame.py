"""The frame around every view: header, tabs, breadcrumbs, footer, and the line to type into."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from textual import events
from textual.message import Message
from textual.widgets import Static

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.model.clock import parse_time
from kubectl_dra.output.layout import width
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import duration
from kubectl_dra.tui.actions import Action, key_name, typing_key
from kubectl_dra.tui.feed import FeedStatus, Link
from kubectl_dra.tui.text import clipped, content, spread

_GAP: Final = "   "
# Left and right of every line of the frame.
_PADDING: Final = 2
# A connection that is back within this time is not worth a line that moves all others.
_PASSING_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab: the action that goes there, its words, and a number beside them where there is one."""

    action: str
    key: str
    text: str
    number: int | None = None
    alarm: bool = False
    bound: Bound = Bound.EXACT


class Bar(Static):
    """One line of the frame; drawn again only when it says something else, and nothing else is laid out for it."""

    said: Safe | None = None

    @property
    def columns(self) -> int:
        """How many there are for text; before it is laid out as many as there will be."""
        return max(self.size.width or self.app.size.width - _PADDING, 20)

    def say(self, text: Safe) -> None:
        if text != self.said:
            self.said = text
            self.update(content(text), layout=False)


class ActionBar(Bar):
    """Actions side by side; a click carries one out."""

    @dataclass
    class Chosen(Message):
        action: str

    def __init__(self) -> None:
        super().__init__()
        self._ends: list[tuple[int, str]] = []

    def offer(self, parts: Sequence[tuple[str, Safe]], gap: Safe) -> None:
        place, self._ends = 1, []
        for action, text in parts:
            place += width(text) + len(gap)
            self._ends.append((place, action))
        self.say(gap.join(text for _, text in parts))

    def on_click(self, event: events.Click) -> None:
        action = next((action for end, action in self._ends if event.x < end), None)
        if action is not None:
            self.post_message(self.Chosen(action))


class Header(Bar):
    """Where the data comes from, which namespace is in view, how old it is, what is allowed.

    Not Textual's own, which has a title and a clock, and grows when it is clicked.
    """

    DEFAULT_CSS = """
    Header { height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    def show(self, source: Safe, namespace: str, states: Sequence[Safe], unlocked: bool) -> None:
        """Other facts; ``states`` says one thing in fewer and fewer words: the first for which there is room counts."""
        where = fmt("ns {}", namespace) if namespace else Safe("all namespaces")
        left = styled(styled(Safe("kubectl dra"), Style.BOLD), Style.NAME) + Safe(_GAP) + source + Safe(_GAP) + where
        allowed = (
            styled(styled(Safe("CAN WRITE"), Style.BOLD), Style.WARN)
            if unlocked
            else styled(Safe("read-only"), Style.DIM)
        )
        columns = self.columns
        whole = [state + Safe(_GAP) + allowed for state in states]
        # Nothing can be written to what was read once, so that this goes first where there is little room.
        texts = [*whole[:-1], *states[:-1], whole[-1]]
        right = next((text for text in texts if width(left) + 2 + width(text) <= columns), texts[-1])
        self.say(spread(left, right, columns))


def state_texts(
    status: FeedStatus, cluster: ClusterState | None, now: float | None = None, partial: bool = False
) -> Sequence[Safe]:
    """One state in fewer and fewer words: ``recorded 2026-11-04 12:05 UTC, read once`` to ``2026-11-04 12:05 UTC``."""
    return _recorded(cluster) if status.link is Link.RECORDED else [_state_text(status, now, partial=partial)]


def _state_text(status: FeedStatus, now: float | None, *, partial: bool) -> Safe:
    """``live``, ``read 12s ago``, ``reconnecting 7s``, ``reading …``."""
    for_seconds = duration((time.monotonic() if now is None else now) - status.since)
    if partial and status.link in (Link.LIVE, Link.READ):
        word = fmt("live {}" if status.link is Link.LIVE else "read {} ago", for_seconds)
        return styled(fmt("◐ {}, incomplete", word), Style.WARN)
    match status.link:
        case Link.LIVE:
            return styled(Safe("● live"), Style.GOOD) + fmt(" {}", for_seconds)
        case Link.READ:
            return styled(Safe("●"), Style.GOOD) + fmt(" read {} ago", for_seconds)
        case Link.RECONNECTING:
            return styled(fmt("◌ reconnecting {}", for_seconds), Style.WARN)
        case Link.FAILED:
            return styled(Safe("✗ can't read"), Style.BAD) + fmt(" {}", for_seconds)
    return styled(Safe("◌ reading …"), Style.WARN)


def _recorded(cluster: ClusterState | None) -> Sequence[Safe]:
    taken = parse_time(cluster.as_of) if cluster is not None else None
    if taken is None:
        return [Safe("■ recorded, read once"), Safe("■ recorded")]
    time_ = f"{taken:%Y-%m-%d %H:%M}"
    return [fmt("■ recorded {} UTC, read once", time_), fmt("■ recorded {}, read once", time_), fmt("■ {} UTC", time_)]


class Trouble(Static):
    """Why the cluster is not followed at the moment, for as long as that is so; takes no room otherwise.

    What is on the screen stays, and may be out of date meanwhile.
    """

    DEFAULT_CSS = """
    Trouble { height: auto; max-height: 4; padding: 0 1; background: $panel; display: none; }
    """
    said: Safe | None = None

    def show(self, status: FeedStatus | None) -> None:
        """``None``: nothing has been read, and the views say why."""
        text = trouble_text(status) if status is not None else Safe("")
        if text != self.said:
            self.said, self.display = text, bool(text)
            self.update(content(text))


def trouble_text(status: FeedStatus, now: float | None = None) -> Safe:
    """What is wrong with the connection, once it has lasted a moment; nothing while it works."""
    seconds = (time.monotonic() if now is None else now) - status.since
    if not status.text or (status.link is not Link.FAILED and seconds < _PASSING_SECONDS):
        return Safe("")
    return styled(Safe("✗ "), Style.BAD) + fmt("{}   (r tries again)", status.text)


class Tabs(ActionBar):
    """The tabs; a click goes there.

    Not Textual's own, which is two lines high, moves its line in steps, takes the focus, and has no room for numbers.
    """

    DEFAULT_CSS = """
    Tabs { height: 1; background: $surface; color: $dim; padding: 0 1; }
    """

    def show(self, tabs: Sequence[Tab], current: str) -> None:
        texts = [self._text(tab, tab.action == current) for tab in tabs]
        room = sum(map(width, texts)) + 2 * (len(texts) - 1)
        gap = " " * (3 if room + len(texts) <= self.size.width else 2)
        self.offer([(tab.action, text) for tab, text in zip(tabs, texts, strict=True)], Safe(gap))

    def _text(self, tab: Tab, current: bool) -> Safe:
        word = styled(Safe(tab.text), Style.DIM)
        if current:
            word = styled(styled(Safe(tab.text.upper()), Style.BOLD), Style.NAME)
        number = Safe("")
        if tab.number is not None:
            amount = "" if tab.bound is Bound.UNKNOWN and not tab.number else f"{tab.number:,}"
            number = Safe(" ") + styled(
                fmt("{}{}", Safe(tab.bound.sign), amount), Style.WARN if tab.alarm and tab.number else Style.NAME
            )
        return styled(Safe(tab.key), Style.NAME if current else Style.DIM) + Safe(" ") + word + number


def _as_many(words: Sequence[Safe], columns: int) -> Safe:
    """The words that fit into a line, and how many more there are."""
    for shown in range(len(words), 0, -1):
        more = fmt("  … {} more", len(words) - shown) if shown < len(words) else Safe("")
        line = Safe("  ").join(words[:shown]) + more
        if width(line) <= columns:
            return line
    return clipped(words[0], columns)


class Crumbs(Bar):
    """Where we are, and a few words about it; also what just went wrong or is not possible.

    Textual has none. Its toasts say what was carried out; a refusal in one would lie over the rows that it is about.
    """

    DEFAULT_CSS = """
    Crumbs { height: 1; padding: 0 1; }
    """

    @dataclass
    class Chosen(Message):
        """A breadcrumb was clicked: so many levels are to stay open."""

        depth: int

    def __init__(self) -> None:
        super().__init__()
        self._ends: list[tuple[int, int]] = []

    def on_click(self, event: events.Click) -> None:
        for depth, end in self._ends:
            if event.x < end:
                self.post_message(self.Chosen(depth))
                return

    def show(
        self, crumbs: Sequence[Safe], filter_: str, info: Safe, notice: Safe, choices: Sequence[Safe] = ()
    ) -> None:
        """Other words; while a command is typed, the ``choices`` for it, as many as there is room for."""
        columns = self.columns
        if choices:
            self.say(_as_many(choices, columns))
            return
        if notice:
            self.say(clipped(styled(Safe("! "), Style.WARN) + notice, columns))
            return
        typed = Safe("  ") + styled(fmt("/{}", filter_), Style.WARN) if filter_ else Safe("")
        way, self._ends = _way(crumbs, columns - width(typed) - width(info) - 2)
        self.say(spread(way + typed, info, columns))


def _way(crumbs: Sequence[Safe], columns: int) -> tuple[Safe, list[tuple[int, int]]]:
    """The breadcrumbs; where there is no room for all, those where we are, whole. And where each ends, by its depth."""
    arrow = styled(Safe(" › "), Style.DIM)
    names = [*crumbs[:-1], styled(crumbs[-1], Style.BOLD)] if crumbs else []
    left_out = 0
    while (
        left_out < len(names) - 1 and width(arrow.join(([Safe("…")] if left_out else []) + names[left_out:])) > columns
    ):
        left_out += 1
    shown = ([Safe("…")] if left_out else []) + names[left_out:]
    ends, place = [], 1
    for depth, name in enumerate(shown, left_out or 1):
        place += width(name) + width(arrow)
        ends.append((depth, place))
    return arrow.join(shown), ends


class Footer(ActionBar):
    """The keys that do something here, the most useful first, as many as fit, and how many more; a click runs one.

    Not Textual's own, which shows bindings in the order of their declaration and says nothing of those it has no room
    for.
    """

    DEFAULT_CSS = """
    Footer { height: 1; background: $surface; color: $dim; padding: 0 1; }
    """

    def show(self, actions: Sequence[Action], typing: bool) -> None:
        """Other keys; while something is being typed only those that are not typed themselves."""
        keys = {action.id: typing_key(action) if typing else action.keys[0] for action in actions}
        ranked = sorted((a for a in actions if a.footer and keys[a.id]), key=lambda action: action.footer)
        parts = [(a.id, styled(Safe(key_name(keys[a.id])), Style.NAME) + Safe(f" {a.label}")) for a in ranked]
        palette = styled(Safe("^p"), Style.NAME) + Safe(" palette")
        fitting = self._fitting(parts, width(palette) + 2)
        left_out = len(parts) - len(fitting)
        if left_out:
            fitting.append(("help", fmt("… {} more", left_out)))
        fitting.append(("palette", palette))
        self.offer(fitting, Safe("  "))

    def _fitting(self, parts: Sequence[tuple[str, Safe]], taken: int) -> list[tuple[str, Safe]]:
        """The first parts that fit beside what else is said."""
        room = self.columns - taken
        whole = sum(width(text) + 2 for _, text in parts)
        if whole <= room:
            return list(parts)
        room -= width(Safe("… 99 more")) + 2
        fitting = []
        for name, text in parts:
            if width(text) > room:
                break
            fitting.append((name, text))
            room -= width(text) + 2
        return fitting
