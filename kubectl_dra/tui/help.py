"""Help in two columns: what can be done here, and everywhere. Typing filters, enter runs what is chosen.

Not Textual's own help panel, which shows bindings and neither finds nor runs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from textual import events
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from kubectl_dra.output.layout import padded, width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.tui.actions import ACTIONS, MOVES, Action, Group, key_name
from kubectl_dra.tui.text import content

_KEYS: Final = 12
_EVERYWHERE: Final = (Group.GO, Group.PROGRAM)
_MARGIN: Final = 6


class HelpScreen(ModalScreen[str]):
    """Ends with the id of the chosen action; empty if none was chosen."""

    BINDINGS = [("escape", "leave", "close")]  # noqa: RUF012 - as Textual declares it
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > Vertical { width: 100%; height: 100%; max-width: 140; background: $panel; padding: 0 1; }
    HelpScreen Input { height: 1; border: none; background: $panel; padding: 0; margin-bottom: 1; }
    HelpScreen Input:focus { border: none; background: $panel; }
    HelpScreen OptionList { width: 1fr; height: 1fr; border: round $border; border-title-color: $primary;
        background: $panel; padding: 0; scrollbar-size: 1 1; }
    HelpScreen OptionList.active { border: round $primary; border-title-style: bold reverse; }
    HelpScreen OptionList > .option-list--option-highlighted { background: $cursor-blurred; color: $foreground; }
    HelpScreen OptionList.active > .option-list--option-highlighted { background: $cursor; text-style: bold; }
    """

    def __init__(self, here: Sequence[Action], general: Sequence[Action] = ()) -> None:
        super().__init__()
        self._here, self._general = here, general
        self.lists = OptionList(id="here"), OptionList(id="everywhere")
        self._active = 0

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        with Vertical():
            yield Input(placeholder="type to filter · enter runs · tab other column · esc closes", compact=True)
            with Horizontal():
                yield from self.lists

    def on_mount(self) -> None:
        for each, title in zip(self.lists, ("Here", "Everywhere"), strict=True):
            each.can_focus = False
            each.border_title = title
        self._fill("")
        # Not focus(), which comes later: the next key may be here already.
        self.set_focus(self.query_one(Input))

    def on_resize(self) -> None:
        self.call_after_refresh(self._fill, self.query_one(Input).value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def _fill(self, text: str) -> None:
        words = text.casefold().split()
        room = max(min(self.size.width, 140) // 2 - _KEYS - _MARGIN, 16)
        for each, entries in zip(self.lists, (_here(self._here), _everywhere(self._here, self._general)), strict=True):
            each.clear_options()
            kept = [entry for entry in entries if all(word in _searched(*entry) for word in words)]
            each.add_options([_option(*entry, room) for entry in kept])
        if not self.lists[self._active].option_count and self.lists[1 - self._active].option_count:
            self._active = 1 - self._active
        for index, each in enumerate(self.lists):
            each.set_class(index == self._active, "active")
            each.highlighted = next((i for i, option in enumerate(each.options) if not option.disabled), None)

    # --- keys -------------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        active = self.lists[self._active]
        moves = {
            "up": active.action_cursor_up,
            "down": active.action_cursor_down,
            "pageup": active.action_page_up,
            "pagedown": active.action_page_down,
            "tab": self._other,
            "shift+tab": self._other,
        }
        if event.key in moves:
            event.stop()
            event.prevent_default()
            moves[event.key]()
            if event.key == "pagedown":
                # Textual scrolls until the whole entry is seen, which may go past a line above it.
                active.scroll_to_highlight(top=True)

    def _other(self) -> None:
        self._active = 1 - self._active
        for index, each in enumerate(self.lists):
            each.set_class(index == self._active, "active")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        option = self.lists[self._active].highlighted_option
        self.dismiss(option.id if option is not None and option.id is not None else "")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option.id or "")

    def action_leave(self) -> None:
        self.dismiss("")


_Entry = tuple[str, Safe, str, str]


def _here(offered: Sequence[Action]) -> Iterator[_Entry]:
    yield from (_entry(action) for action in offered if action.group not in _EVERYWHERE)


def _everywhere(offered: Sequence[Action], general: Sequence[Action]) -> Iterator[_Entry]:
    """Where one can go, what the program does, how lists and texts move."""
    taken = {action.id for action in offered if action.group not in _EVERYWHERE}
    for action in ACTIONS:
        if action.group in _EVERYWHERE and action.id not in taken:
            yield _entry(action)
    # A key that something else has here is not theirs.
    yield from (_entry(action) for action in general if action.keys or action.command)
    for move in MOVES:
        yield "", _names(move.keys), move.help, ""


def _entry(action: Action) -> _Entry:
    keys = _names(action.keys) if action.keys else Safe(f":{action.command}")
    more = f" (:{action.command}{' ' * bool(action.takes)}{action.takes})" if action.keys and action.command else ""
    more = more or (f" ({action.takes})" if action.takes else "")
    return action.id, keys, f"{action.help}{more}", action.label


def _searched(_id: str, keys: Safe, words: str, label: str) -> str:
    return f"{keys} {label} {words}".casefold()


def _option(id_: str, keys: Safe, words: str, _label: str, room: int) -> Option:
    head = styled(padded(keys, max(_KEYS, width(keys) + 1)), Style.NAME)
    lines = wrapped(Safe(words), room)
    text = fmt("{}{}", head, lines[0])
    for line in lines[1:]:
        text += Safe("\n" + " " * _KEYS) + line
    return Option(content(text), id=id_ or None, disabled=not id_)


def _names(keys: Sequence[str]) -> Safe:
    return Safe(" ").join(Safe(key_name(key)) for key in keys)
