"""The app without its commands: threads, the frame around the views, what views ask for."""

from __future__ import annotations

import dataclasses
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.containers import Container
from textual.filter import LineFilter
from textual.message import Message
from textual.widgets import Input, TextArea

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.unread import ListGaps, Subject, unread
from kubectl_dra.tui.actions import ACTIONS, BY_ID, Action, with_own_keys
from kubectl_dra.tui.arranging import Arranger
from kubectl_dra.tui.feed import FeedStatus, Inbox, Link, Loaded
from kubectl_dra.tui.frame import Crumbs, Footer, Header, Tab, Tabs, Trouble, state_texts
from kubectl_dra.tui.layouts import BREAKPOINTS, Room, room_of
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.prompt import Prompt
from kubectl_dra.tui.queries import ALL_POOLS, ALL_TAINTS, CLAIM_COUNTS, PENDING_KEYS, PodQuery
from kubectl_dra.tui.report_worker import Query, ReportWorker
from kubectl_dra.tui.screens import TABS
from kubectl_dra.tui.settings import Draft, Settings
from kubectl_dra.tui.stacks import Stacks
from kubectl_dra.tui.text import joined
from kubectl_dra.tui.theme import DARK, THEMES, FewColours
from kubectl_dra.tui.unread import COUNTED, absent_api, none_there, unknown_kinds
from kubectl_dra.tui.view import READING

_NOTICE_SECONDS: Final = 6.0
# How often ages grow while nothing else changes.
_STEP_SECONDS: Final = 10


class Shell(Stacks):
    """One screen: header, tabs, breadcrumbs, the view in front, footer."""

    TITLE = "kubectl dra"
    CSS: ClassVar[str] = """
    Screen { layout: vertical; background: $background; color: $foreground; }
    Screen:inline { height: 22; border: none; }
    CommandPalette > Vertical { background: $panel; width: 76; }
    CommandPalette SearchIcon { display: none; }
    CommandPalette #--input { background: $panel; height: 3; }
    #body { height: 1fr; width: 1fr; layout: vertical; }
    """

    HORIZONTAL_BREAKPOINTS = BREAKPOINTS

    class Given(Message):
        """A feed or the worker has something new; posted from their threads."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, Shell.Given)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.tab)
        self.settings = settings
        self.memory = settings.memory
        self.namespace = settings.namespace
        self.context = ""
        self.worker = ReportWorker(self._wake)
        self.arranger = Arranger(self._wake)
        self.cluster: ClusterState | None = None
        self.feed = settings.connect("")
        self.worker.on_demand = settings.on_demand("")
        self.status = FeedStatus(Link.READING, time.monotonic())
        self.draft = Draft(settings.expression, settings.device_class)
        #: Whether the user has allowed writing to the present cluster.
        self.unlocked = False
        #: Commands that were copied, planned or carried out: when, what became of them, their lines.
        self.commands: list[tuple[datetime, str, tuple[Safe, ...]]] = []
        #: Whether the screen is held as it is, and what was read meanwhile.
        self.paused = False
        self._held: Loaded | None = None
        #: What was written, for the terminal when the user has left.
        self.written: list[Safe] = []
        few = self.no_color or self.console.color_system in (None, "standard")
        self._few_colours = [FewColours(foreground=not self.no_color)] if few else []
        self._notice_until = 0.0
        #: What the line that is being typed may become.
        self.choices: list[Safe] = []
        # When the newest facts came (``time.monotonic``), and how many steps have passed while they were true.
        self.came, self._steps = time.monotonic(), 0
        self._inbox = Inbox(self._wake)
        self._number = 0
        self._frame_due = False
        # Looked up so often that searching for them would show.
        self._header, self._tabs, self._crumbs, self._footer = Header(), Tabs(), Crumbs(), Footer()
        self._trouble = Trouble()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = settings.theme

    # --- for the subclass -------------------------------------------------------------------------------------------

    @abstractmethod
    def offers(self, action: str) -> bool:
        """Whether an action does something here and now."""

    @abstractmethod
    def run_action_id(self, name: str, argument: str = "") -> None:
        """Carry out an action."""

    @abstractmethod
    def ask(self, question: Safe, answer: Callable[[str], None], text: str = "") -> None:
        """A question in place of the footer."""

    @abstractmethod
    def prompt_done(self, sign: str, text: str | None) -> None:
        """Something was typed into the prompt; None: it was left with escape."""

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of ours that a theme may lack."""
        return dict(DARK.variables)

    @property
    def has_few_colours(self) -> bool:
        """Whether a theme would change nothing: with NO_COLOR, and on a terminal that has only 16 colours of its own.

        Without a terminal, as where pictures are made, there are all colours.
        """
        return self.no_color or (bool(self._few_colours) and not self.is_headless)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is changed in every line before it reaches the terminal."""
        own = () if self.is_headless else self._few_colours
        return [*super().get_line_filters(), *own]

    # --- life -------------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self._header
        yield self._tabs
        yield self._crumbs
        yield self._trouble
        yield Container(id="body")
        yield Prompt(self.prompt_done)
        yield self._footer

    def on_mount(self) -> None:
        self.worker.start()
        self.arranger.start()
        self.feed.start(self._inbox)
        self.set_interval(1.0, self._pass_time)
        self.app_resume_signal.subscribe(self, self._paint)
        self.go(self._tab)
        for problem in self.settings.problems:
            self.notify(str(safe(problem)), severity="warning", timeout=10, markup=False)

    def on_unmount(self) -> None:
        self.feed.stop()
        self.worker.stop()
        self.arranger.stop()
        self.memory.save()

    def connect_again(self, context: str) -> None:
        """Another cluster: everything known so far is forgotten, and writing is locked."""
        self.feed.stop()
        self.feed = self.settings.connect(context)
        self.worker.on_demand = self.settings.on_demand(context)
        self.context, self.unlocked = context, False
        self.cluster, self._inbox = None, Inbox(self._wake)
        self.paused, self._held = False, None
        self.worker.show(None)
        self.status = FeedStatus(Link.READING, time.monotonic())
        self.feed.start(self._inbox)
        self.start_over()

    # --- what threads say -------------------------------------------------------------------------------------------

    def _pass_time(self) -> None:
        if self.cluster is not None and self.status.link is Link.LIVE:
            steps = int(time.monotonic() - self.came) // _STEP_SECONDS
            if steps != self._steps and self.view is not None and self.view.is_mounted:
                self._steps = steps
                self.view.show()
        self.refresh_frame()

    def _paint(self, _resumed: object) -> None:
        """All of it, after ``fg``: the terminal's other screen is empty then, and Textual paints what has changed."""
        self.screen.refresh()

    def _wake(self) -> None:
        if self.is_running:
            self.post_message(self.Given())

    def on_shell_given(self, event: Shell.Given) -> None:
        """Take everything at once, however often it was announced."""
        event.stop()
        loaded, status = self._inbox.take()
        for worker in (self.worker, self.arranger):
            if worker.error is not None:
                raise worker.error
        if status is not None:
            self.status = status
            if status.link is Link.FAILED:
                self.say(safe(status.text))
        if loaded is not None and self.paused:
            self._held = loaded
        elif loaded is not None:
            self._take(loaded)
        self.queries_changed()
        if self.view is not None:
            self.view.show()
        self.refresh_frame()

    def choose_preview(self, shown: bool) -> None:
        """Pages beside lists, whatever the width."""
        self.settings = dataclasses.replace(self.settings, preview=shown)
        self.memory.preview = shown

    @property
    def room(self) -> Room:
        return room_of(self.size.width)

    def _take(self, loaded: Loaded) -> None:
        self._number += 1
        former, clock = self.cluster, self.settings.clock
        if former is None:
            self.cluster = ClusterState(*loaded, clock, keeps=True, revision=self._number)
        else:
            self.cluster = former.later(*loaded)
        self.came, self._steps = time.monotonic(), 0
        self.worker.show(self.cluster)

    def set_paused(self, paused: bool) -> None:
        self.paused = paused
        held, self._held = self._held, None
        if held is not None and not paused:
            self._take(held)
            self.queries_changed()
        if self.view is not None:
            self.view.show()
        self.refresh_frame()

    # --- what views ask ---------------------------------------------------------------------------------------------

    @property
    def address(self) -> Address:
        return self.cluster.evidence.address if self.cluster is not None else HERE

    @property
    def state_now(self) -> ClusterState:
        """The newest facts; only asked for by views that show some of them."""
        if self.cluster is None:
            raise LookupError("nothing has been read yet")
        return self.cluster

    @property
    def now(self) -> datetime:
        """The time that ages are counted from: that of the data, or later where they are known to be true still."""
        if self.cluster is None:
            return self.settings.clock.now()
        return self.cluster.now + timedelta(seconds=self._steps * _STEP_SECONDS)

    @property
    def reading_words(self) -> Safe:
        """What stands where nothing is known yet: that it is being read, or why it can't be."""
        if self.cluster is not None or self.status.link is not Link.FAILED:
            return READING
        return fmt("{}   (r tries again)", self.status.text)

    @property
    def knows_pending(self) -> bool:
        return self.worker.record(PENDING_KEYS) is not None

    def pending_keys(self) -> tuple[Key, ...]:
        """Pods that wait, in the namespaces in view."""
        keys = self.worker.record(PENDING_KEYS) or ()
        return tuple(key for key in keys if self.namespace in ("", key.namespace))

    def queries_changed(self) -> None:
        """Tell the worker what is on the screen, and what the tabs count."""
        shown = (*self.view.queries(), *self.view.preview_queries()) if self.view is not None else ()
        # The way back should not have to wait.
        behind = (query for view in self._stacks.get(self._tab, ())[:-1] for query in view.queries())
        pods = (PodQuery(key) for key in self.worker.record(PENDING_KEYS) or ())
        counted: tuple[Query[object], ...] = (PENDING_KEYS, ALL_POOLS, CLAIM_COUNTS, ALL_TAINTS)
        self.worker.want([PENDING_KEYS, *shown], [*counted, *behind, *pods])

    def say(self, text: Safe) -> None:
        """A few words where the breadcrumbs are, for some seconds."""
        self.notice = text
        self._notice_until = time.monotonic() + _NOTICE_SECONDS
        self.refresh_frame()

    @property
    def is_idle(self) -> bool:
        working = (
            any(each.is_running for each in self.workers)
            or (self.view is not None and self.view.is_waiting)
            or any(page.is_stale for page in self.query(Page))
        )
        return (
            self.status.link is not Link.READING
            and self._inbox.is_empty
            and self.worker.idle
            and self.arranger.idle
            and not working
            and not self._early
        )

    @property
    def is_typing(self) -> bool:
        return isinstance(self.focused, Input | TextArea)

    # --- frame ------------------------------------------------------------------------------------------------------

    def refresh_frame(self) -> None:
        """Header, tabs, breadcrumbs, footer; once for everything that happens together."""
        if not self._frame_due and self.is_running:
            self._frame_due = True
            self.call_later(self._draw_frame)

    def _draw_frame(self) -> None:
        self._frame_due = False
        if not self.is_running or not self._footer.is_attached:
            return
        state = (
            [styled(Safe("‖ paused: z goes on"), Style.WARN)]
            if self.paused
            else state_texts(self.status, self.cluster, partial=bool(unknown_kinds(self.cluster)))
        )
        self._header.show(safe(self.feed.title), self.namespace, state, self.unlocked)
        self._tabs.show(self._tab_texts(), self._tab)
        self._trouble.show(self.status if self.cluster is not None else None)
        if self.notice and time.monotonic() > self._notice_until:
            self.notice = Safe("")
        view = self.view
        if view is None:
            return
        filter_ = view.filter if isinstance(view, ListView) else ""
        crumbs = [each.crumb for each in self._stacks[self._tab]]
        info = joined([absent_api(self.cluster), unknown_kinds(self.cluster), view.info], "   ")
        self._crumbs.show(crumbs, filter_, info, self.notice, self.choices)
        here = [action for action in ACTIONS if not action.general or action.id in view.extras]
        offered = with_own_keys(action for action in here if self.offers(action.id))
        foremost = view.foremost
        ranked = (dataclasses.replace(each, footer=2) if each.id in foremost else each for each in offered)
        self._footer.show([action for action in ranked if action.keys], self.is_typing)

    def _tab_texts(self) -> list[Tab]:
        numbers = {"pools": self._count(ALL_POOLS), "claims": self._count_claims(), "taints": self._count(ALL_TAINTS)}
        numbers["pending"] = len(self.pending_keys()) if self.knows_pending else None
        actions = [BY_ID[name] for name in TABS]
        bounds = {name: self.unread(subject, shown=bool(numbers.get(name))).bound for name, subject in COUNTED.items()}
        return [
            Tab(a.id, a.keys[0], a.label, numbers.get(a.id), a.id == "pending", bounds.get(a.id, Bound.EXACT))
            for a in actions
        ]

    def unread(self, subject: Subject, *, shown: bool = False) -> ListGaps:
        """What a list about ``subject`` lacks in the namespaces in view."""
        return ListGaps() if self.cluster is None else unread(self.cluster, subject, self.namespace, shown=shown)

    def none_of(self, subject: Subject | None, words: Safe) -> Safe:
        """What an empty list says: ``words``, unless something that makes its lines could not be read."""
        found = self.unread(subject) if subject is not None else ListGaps()
        return none_there(self.cluster, subject, found, words)

    def _count(self, query: Query[Sequence[object]]) -> int | None:
        rows = self.worker.record(query)
        return len(rows) if rows is not None else None

    def _count_claims(self) -> int | None:
        counts = self.worker.record(CLAIM_COUNTS)
        if counts is None:
            return None
        return counts.get(self.namespace, 0) if self.namespace else sum(counts.values())

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_frame)

    def actions_now(self) -> list[Action]:
        return [action for action in ACTIONS if not action.needs_argument and self.offers(action.id)]
