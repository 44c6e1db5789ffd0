"""The views that are open: a stack of them in each tab, the ways between them, keys for one that is not ready yet."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from textual import events
from textual.app import App

from kubectl_dra.output.safe import Safe
from kubectl_dra.tui import lines
from kubectl_dra.tui.prompt import Prompt
from kubectl_dra.tui.screens import SCREEN_BY_ID, Screen
from kubectl_dra.tui.trail import Trail
from kubectl_dra.tui.view import CursorObject, View

_LINE_FEED: Final = "ctrl+j"


class Stacks(App[None]):
    """One view of one tab is in front; closed ones are forgotten."""

    def __init__(self, tab: str) -> None:
        super().__init__()
        lines.let_go()
        self.trail = Trail()
        #: A few words that belong to the view in front.
        self.notice = Safe("")
        #: When a key was pressed last (``time.monotonic``), and how many views were closed since somebody tidied up.
        self.last_key = 0.0
        self.closed = 0
        self._stacks: dict[str, list[View]] = {}
        self._tab = self._before = tab
        # Views that are open in no tab until somebody goes forward to them again.
        self._ahead: list[View] = []
        # Keys for a view that is not mounted yet.
        self._early: deque[events.Key] = deque()

    # --- for the subclass -------------------------------------------------------------------------------------------

    @abstractmethod
    def queries_changed(self) -> None:
        """Another view asks for something else."""

    @abstractmethod
    def refresh_frame(self) -> None:
        """What stands around the view in front has changed."""

    # --- keys -------------------------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        """Everything from the terminal comes by here."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.last_key = time.monotonic()
            if event.key == _LINE_FEED:
                # What enter sends becomes this while the terminal is still the shell's: it was typed that early.
                event = events.Key("enter", "\r")
            if self._early or not self._takes_keys:
                # It was pressed for the view that is being opened, not for the one that is still on the screen.
                self._early.append(event)
                return
        await super().on_event(event)

    @property
    def _takes_keys(self) -> bool:
        return self.view is None or self.view.is_ready

    def view_is_ready(self) -> None:
        """Keys that came while the view in front was being opened go there now."""
        if self._early:
            self.call_next(self._press_early)

    async def _press_early(self) -> None:
        while self._early and self._takes_keys:
            # It counts as waiting until it has done what it does.
            await super().on_event(self._early[0])
            self._early.popleft()

    # --- what is open -----------------------------------------------------------------------------------------------

    @property
    def view(self) -> View | None:
        stack = self._stacks.get(self._tab)
        return stack[-1] if stack else None

    @property
    def depth(self) -> int:
        return len(self._stacks.get(self._tab, ()))

    @property
    def subject(self) -> CursorObject | None:
        return self.view.subject if self.view is not None else None

    @property
    def stays(self) -> Safe:
        """Why the present cluster can't be left now; empty if it can."""
        opened = [view for stack in self._stacks.values() for view in stack]
        return next((view.stays for view in (*opened, *self._ahead) if view.stays), Safe(""))

    # --- from one to another ----------------------------------------------------------------------------------------

    def start_over(self) -> None:
        for stack in (*self._stacks.values(), self._ahead):
            self._close(stack)
        self._stacks.clear()
        self._ahead.clear()
        self.go("overview")

    def go(self, tab: str) -> None:
        """Bring a tab to the front; a tab that is in front already goes back to its first view."""
        if tab == self._tab:
            self._close(self._stacks.get(tab, [])[1:])
            del self._stacks.get(tab, [])[1:]
        self._hide()
        if tab != self._tab:
            self._before = self._tab
        self._tab = tab
        if tab not in self._stacks:
            self._stacks[tab] = [SCREEN_BY_ID[tab].new_view()]
            self.query_one("#body").mount(self._stacks[tab][0])
        self._to_front()

    def go_to(self, screen: Screen) -> None:
        """A tab, or a list on top of one: where it is open already, what was opened above it is closed."""
        if screen.on and self._return_to(screen.on, lambda view: view.opened_as == screen.id):
            return
        self.go(screen.on or screen.id)
        if screen.on:
            view = screen.new_view()
            view.opened_as = screen.id
            self.push(view)

    def _return_to(self, tab: str, is_wanted: Callable[[View], bool]) -> bool:
        """Whether a view of that kind is open in a tab, and nothing above it has to stay."""
        stack = self._stacks.get(tab, [])
        place = next((index for index, view in enumerate(stack) if is_wanted(view)), None)
        if place is None or any(view.stays for view in stack[place + 1 :]):
            return False
        self._hide()
        if tab != self._tab:
            self._before, self._tab = self._tab, tab
        self._close(stack[place + 1 :])
        del stack[place + 1 :]
        self._to_front()
        return True

    def jump(self, tab: str) -> None:
        """Bring a tab to the front because of something elsewhere: ``esc`` returns there."""
        origin = (self._tab, self.view)
        self.go(tab)
        if self.view is not None and origin[1] is not None and origin[0] != tab:
            self.view.came_from = (origin[0], origin[1])

    def return_from_jump(self) -> bool:
        """Whether the view in front was jumped to from one that is still open, which then comes back."""
        view = self.view
        came, tab = (view.came_from, self._tab) if view is not None else (None, "")
        if view is None or came is None:
            return False
        view.came_from = None
        if came[1] not in self._stacks.get(came[0], ()):
            return False
        if view.lent_filter:
            view.lent_filter = False
            view.set_filter("")
        self._hide()
        self._tab, self._before = came[0], tab
        self._to_front()
        return True

    def go_to_last(self) -> bool:
        """The tab that was in front before, as it was left; whether there is one."""
        if self._before == self._tab or self._before not in self._stacks:
            return False
        self._hide()
        self._tab, self._before = self._before, self._tab
        self._to_front()
        return True

    def go_along(self, step: int) -> bool:
        """Back (-1) or forward (1) to a view that was seen and is still open; whether there is one."""
        place = self.trail.move(step)
        if place is None:
            return False
        self._hide()
        tab, view = place
        if tab != self._tab:
            self._before = self._tab
        self._tab = tab
        stack = self._stacks[tab]
        if view in stack:
            # What was opened above it is open nowhere, but lies ahead.
            above = stack.index(view) + 1
            self._ahead += stack[above:]
            del stack[above:]
        else:
            self._ahead.remove(view)
            stack.append(view)
        self._to_front()
        return True

    def push(self, view: View) -> None:
        self._hide()
        self._stacks[self._tab].append(view)
        self.query_one("#body").mount(view)
        self._to_front()

    def pop(self) -> None:
        self._close([self._stacks[self._tab].pop()])
        self._to_front()

    def close_view(self, view: View) -> None:
        for stack in self._stacks.values():
            if view in stack:
                stack.remove(view)
                self._close([view])

    def _close(self, views: Sequence[View]) -> None:
        for view in views:
            view.remove()
        self.trail.forget(views)
        self.closed += len(views)

    def _hide(self) -> None:
        view, focused = self.view, self.focused
        if view is not None:
            if focused is not None and view in focused.ancestors:
                view.left_at = focused
            view.display = False

    def _to_front(self) -> None:
        view = self.view
        if view is None:
            return
        view.display = True
        self.trail.saw((self._tab, view))
        forgotten = [each for each in self._ahead if each not in self.trail]
        self._ahead = [each for each in self._ahead if each in self.trail]
        self._close(forgotten)
        # What was said belongs to where we were.
        self.notice = Safe("")
        self.queries_changed()
        if view.is_mounted:
            view.show()
        if view.is_ready:
            self.focus_view()
            self.view_is_ready()
        self.call_after_refresh(self.focus_view)
        self.refresh_frame()

    def focus_view(self) -> None:
        view = self.view
        if view is not None and not self.query_one(Prompt).is_open:
            target = view.left_at if view.left_at is not None else view.focus_target
            if target is not None:
                # Not the screen in front, which may be a list or question above the view by now.
                self.screen_stack[0].set_focus(target)
        self.refresh_frame()
