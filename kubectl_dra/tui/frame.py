"""The frame around every view: header, tabs, breadcrumbs, footer, and the line to type into."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Static

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.output.layout import width
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import duration, parse_time
from kubectl_dra.tui.actions import COMMANDS, Action, key_name, typing_key
from kubectl_dra.tui.feed import Link, Status
from kubectl_dra.tui.text import clipped, content, spread

NOTHING: Final = Safe("")
_GAP: Final = "   "


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

    def say(self, text: Safe) -> None:
        """Other words."""
        if text != self.said:
            self.said = text
            self.update(content(text), layout=False)


class Header(Bar):
    """Where the data comes from, which namespace is in view, how old it is, what is allowed."""

    DEFAULT_CSS = """
    Header { height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    def show(self, source: Safe, namespace: str, state: Safe, unlocked: bool) -> None:
        """Other facts."""
        where = fmt("ns {}", namespace) if namespace else Safe("all namespaces")
        left = styled(styled(Safe("kubectl dra"), Style.BOLD), Style.NAME) + Safe(_GAP) + source + Safe(_GAP) + where
        allowed = styled(styled(Safe("CAN WRITE"), Style.BOLD), Style.WARN) if unlocked else Safe("read-only")
        right = state + Safe(_GAP) + (allowed if unlocked else styled(allowed, Style.DIM))
        self.say(spread(left, right, max(self.size.width, 20)))


def state_text(status: Status, cluster: ClusterState | None, now: float | None = None, partial: bool = False) -> Safe:
    """``live``, ``read 12s ago``, ``snapshot of 2026-11-04 12:05 UTC``, ``reconnecting 7s``, ``reading …``."""
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
        case Link.RECORDED:
            return _recorded(cluster)
    return styled(Safe("◌ reading …"), Style.WARN)


def _recorded(cluster: ClusterState | None) -> Safe:
    taken = parse_time(cluster.as_of) if cluster is not None else None
    return fmt("■ {} UTC", f"{taken:%Y-%m-%d %H:%M}") if taken is not None else Safe("■ recorded")


class Tabs(Bar):
    """The tabs; a click goes there."""

    DEFAULT_CSS = """
    Tabs { height: 1; background: $surface; color: $dim; padding: 0 1; }
    """

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__()
        self._ends: list[tuple[int, str]] = []

    def show(self, tabs: Sequence[Tab], current: str) -> None:
        """Other numbers, or another tab in front."""
        texts = [self._text(tab, tab.action == current) for tab in tabs]
        room = sum(map(width, texts)) + 2 * (len(texts) - 1)
        gap = " " * (3 if room + len(texts) <= self.size.width else 2)
        position, self._ends = 1, []
        for tab, text in zip(tabs, texts, strict=True):
            position += width(text) + len(gap)
            self._ends.append((position, tab.action))
        self.say(Safe(gap).join(texts))

    def _text(self, tab: Tab, current: bool) -> Safe:
        word = styled(Safe(tab.text), Style.DIM)
        if current:
            word = styled(styled(Safe(tab.text.upper()), Style.BOLD), Style.NAME)
        number = Safe("")
        if tab.number is not None:
            number = Safe(" ") + styled(
                fmt("{}{}", Safe(tab.bound.sign), tab.number or "")
                if tab.bound is Bound.UNKNOWN
                else fmt("{}{}", Safe(tab.bound.sign), tab.number),
                Style.WARN if tab.alarm and tab.number else Style.NAME,
            )
        return styled(Safe(tab.key), Style.NAME if current else Style.DIM) + Safe(" ") + word + number

    def on_click(self, event: events.Click) -> None:
        """Go to the tab under the pointer."""
        for end, action in self._ends:
            if event.x < end:
                self.post_message(self.Chosen(action))
                return


def _as_many(words: Sequence[Safe], columns: int) -> Safe:
    """The words that fit into a line, and how many more there are."""
    for shown in range(len(words), 0, -1):
        more = fmt("  … {} more", len(words) - shown) if shown < len(words) else Safe("")
        line = Safe("  ").join(words[:shown]) + more
        if width(line) <= columns:
            return line
    return clipped(words[0], columns)


class Crumbs(Bar):
    """Where we are, and a few words about it; also what just went wrong."""

    DEFAULT_CSS = """
    Crumbs { height: 1; padding: 0 1; }
    """

    class Chosen(Message):
        """A breadcrumb was clicked: so many levels are to stay open."""

        def __init__(self, depth: int) -> None:
            super().__init__()
            self.depth = depth

    def __init__(self) -> None:
        super().__init__()
        self._ends: list[tuple[int, int]] = []

    def on_click(self, event: events.Click) -> None:
        """Back to the level under the pointer."""
        for depth, end in self._ends:
            if event.x < end:
                self.post_message(self.Chosen(depth))
                return

    def show(
        self, crumbs: Sequence[Safe], filter_: str, info: Safe, notice: Safe, choices: Sequence[Safe] = ()
    ) -> None:
        """Other words; while a command is typed, the ``choices`` for it, as many as there is room for."""
        columns = max(self.size.width, 20)
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


class Footer(Bar):
    """The keys that do something here, the most useful first, as many as fit, and how many more; a click runs one.

    Not Textual's own, which shows bindings in the order of their declaration and says nothing of those it has no room
    for.
    """

    DEFAULT_CSS = """
    Footer { height: 1; background: $surface; color: $dim; padding: 0 1; }
    """

    class Chosen(Message):
        """A key was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__()
        self._ends: list[tuple[int, str]] = []

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
        position, self._ends = 1, []
        for name, text in fitting:
            position += width(text) + 2
            self._ends.append((position, name))
        self.say(Safe("  ").join(text for _, text in fitting))

    def _fitting(self, parts: Sequence[tuple[str, Safe]], taken: int) -> list[tuple[str, Safe]]:
        """The first parts that fit beside what else is said."""
        room = max(self.size.width, 20) - taken
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

    def on_click(self, event: events.Click) -> None:
        """Do what the key under the pointer does."""
        for end, action in self._ends:
            if event.x < end:
                self.post_message(self.Chosen(action))
                return


class Completer(Suggester):
    """Completes what is typed after ``:`` with commands, and with names where a command takes one."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._prompt = prompt

    async def get_suggestion(self, value: str) -> str | None:
        """The first word that goes on like ``value``."""
        if self._prompt.sign != ":":
            return None
        words = self._prompt.candidates(value)
        return next((word for word in words if word.startswith(value) and word != value), None)


class Line(Input):
    """The line to type into. Keys that arrive after it was closed belong to what has the focus then."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(suggester=Completer(prompt), compact=True, select_on_focus=False)
        self._prompt = prompt

    async def _on_key(self, event: events.Key) -> None:
        if self._prompt.is_open and event.key in ("tab", "right", "up", "down") and self._prompt.walk(event.key):
            event.stop()
            event.prevent_default()
        elif self._prompt.is_open:
            await super()._on_key(event)
        elif event.is_printable:
            event.stop()
            event.prevent_default()
            self.app.simulate_key(event.key)

    async def action_submit(self) -> None:
        """Enter: done at once, so that the next key finds the prompt closed."""
        if self._prompt.is_open:
            self._prompt.submit(self.value)
        else:
            self.app.simulate_key("enter")


class Prompt(Horizontal):
    """One line in place of the footer: ``:`` for commands, ``/`` for filters, ``?`` for an answer.

    Letters typed here do nothing else.
    """

    DEFAULT_CSS = """
    Prompt { height: 1; background: $surface; display: none; padding: 0 1; }
    Prompt.open { display: block; }
    Prompt Static { width: auto; color: $primary; text-style: bold; padding: 0 1 0 0; }
    Prompt Input { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    Prompt Input:focus { border: none; background: $surface; }
    """

    class Typed(Message):
        """The text changed."""

        def __init__(self, sign: str, text: str) -> None:
            super().__init__()
            self.sign = sign
            self.text = text

    def __init__(self, done: Callable[[str, str], None]) -> None:
        super().__init__()
        self.sign = ""
        self._done = done
        #: Commands that were typed, the last one at the end.
        self.history: list[str] = []
        # What was typed before the arrows went through what it may become.
        self._typed: str | None = None
        self._after: Callable[[Sequence[str]], Iterable[str]] = lambda _words: ()

    def compose(self) -> ComposeResult:
        """The sign and the line."""
        yield Static("", markup=False)
        yield Line(self)

    def walk(self, key: str) -> bool:
        """Whether a key moves through what the line may become: tab and → take the suggestion, ↑ ↓ go through all.

        Where nothing is typed, ↑ ↓ go through what was typed before. Tab never leaves the line: enter would act there.
        """
        line = self.query_one(Input)
        if self.sign != ":" or (key == "right" and line.cursor_position < len(line.value)):
            return key == "tab"
        if key in ("tab", "right"):
            self._take(line, next(iter(self.suggestions(line.value)), line.value))
            return True
        if self._typed is None:
            self._typed = line.value
        choices = self.history[::-1] if not self._typed else self.suggestions(self._typed)
        if choices:
            step = 1 if (key == "up") is not bool(self._typed) else -1
            place = choices.index(line.value) + step if line.value in choices else 0 if step > 0 else len(choices) - 1
            self._take(line, choices[place % len(choices)], walking=True)
        return True

    def suggestions(self, value: str) -> list[str]:
        """What a command line that begins so may become, without what it is already."""
        return [word for word in self.candidates(value) if word.startswith(value) and word != value]

    def _take(self, line: Input, value: str, *, walking: bool = False) -> None:
        typed = self._typed
        line.value = value
        line.cursor_position = len(value)
        self._typed = typed if walking else None

    @property
    def is_open(self) -> bool:
        """Whether something is being typed."""
        return self.has_class("open")

    def open(
        self,
        sign: str,
        text: str,
        after: Callable[[Sequence[str]], Iterable[str]] | None = None,
        label: Safe = NOTHING,
    ) -> None:
        """Begin to type, behind a ``label`` or the sign; ``after`` says how words of a command can go on."""
        self.sign, self._after, self._typed = sign, after or (lambda _words: ()), None
        self.query_one(Static).update(content(label or Safe(sign)))
        line = self.query_one(Input)
        with line.prevent(Input.Changed):
            line.value = str(safe(text))
        line.cursor_position = len(line.value)
        self.add_class("open")
        # Not line.focus(), which comes later: the next key may be here already.
        self.screen.set_focus(line)

    def close(self) -> None:
        """No more typing."""
        self.remove_class("open")

    def candidates(self, value: str) -> Iterator[str]:
        """What a command line may become: commands, then a command with its names."""
        start, space, _ = value.rpartition(" ")
        names = self._after(start.split()) if space else sorted(COMMANDS)
        return (f"{start}{space}{name}" for name in names if safe(name) == name)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filters work as they are typed; what can't be seen is made visible before it reaches the terminal."""
        event.stop()
        visible = safe(event.value)
        if visible != event.value:
            event.input.value = str(visible)
            return
        if self._typed is not None and event.value not in (*self.suggestions(self._typed), *self.history):
            self._typed = None
        self.post_message(self.Typed(self.sign, event.value))

    def submit(self, text: str) -> None:
        """Enter was pressed."""
        if self.sign == ":" and text.strip():
            self.history = [*(each for each in self.history if each != text), text]
        self._done(self.sign, text)


__all__ = ["NOTHING", "Crumbs", "Footer", "Header", "Prompt", "Tab", "Tabs", "state_text"]
