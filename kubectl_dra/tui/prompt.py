"""The prompt: commands, filters and answers, with what may come next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Static

from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.actions import COMMANDS
from kubectl_dra.tui.text import content

NOTHING: Final = Safe("")


class Completer(Suggester):
    """Completes what is typed after ``:`` with commands, and with names where a command takes one."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._prompt = prompt

    async def get_suggestion(self, value: str) -> str | None:
        """The first word that goes on like ``value``; none behind a whole command, which enter runs as it is."""
        if self._prompt.sign != ":" or value in self._prompt.candidates(value):
            return None
        return next(iter(self._prompt.suggestions(value)), None)


class Line(Input):
    """The line to type into. Keys that arrive after it was closed belong to what has the focus then."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(suggester=Completer(prompt), compact=True, select_on_focus=False)
        self._prompt = prompt

    async def _on_key(self, event: events.Key) -> None:
        if self._prompt.is_open and event.key == "enter":
            # Done at once, so that the next key finds the prompt closed: a binding would wait its turn in the app.
            event.stop()
            event.prevent_default()
            self._prompt.submit(self.value)
        elif self._prompt.is_open and event.key == "escape":
            # After the keys before it: the app, which would be faster, leaves it to this line.
            event.stop()
            event.prevent_default()
            self._prompt.leave()
        elif self._prompt.is_open and event.key in ("tab", "right", "up", "down") and self._prompt.walk(event.key):
            event.stop()
            event.prevent_default()
        elif self._prompt.is_open:
            await super()._on_key(event)
        else:
            event.stop()
            event.prevent_default()
            # Not simulate_key, which loses the character of a key that has a name: space, minus.
            self.app.post_message(events.Key(event.key, event.character))


class Prompt(Horizontal):
    """One line in place of the footer: ``:`` for commands, ``/`` for filters, ``?`` for an answer.

    Textual's Input with its Suggester in a line of our own: its command palette covers what is being filtered.

    Letters typed here do nothing else.
    """

    DEFAULT_CSS = """
    Prompt { height: 1; background: $surface; display: none; padding: 0 1; }
    Prompt.open { display: block; }
    Prompt Static { width: auto; color: $primary; text-style: bold; padding: 0 1 0 0; }
    Prompt Input { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    Prompt Input:focus { border: none; background: $surface; }
    """

    @dataclass
    class Typed(Message):
        sign: str
        text: str

    def __init__(self, done: Callable[[str, str | None], None]) -> None:
        super().__init__()
        self.sign = ""
        self._done = done
        #: Commands that were typed, the last one at the end.
        self.history: list[str] = []
        # What was typed before the arrows went through what it may become.
        self._typed: str | None = None
        self._after: Callable[[Sequence[str]], Iterable[str]] = lambda _words: ()

    def compose(self) -> ComposeResult:
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
        if sign != ":":
            # The next word replaces the last one, or what is suggested; an arrow goes into it.
            line.select_all()
        self.add_class("open")
        # Not line.focus(), which comes later: the next key may be here already.
        self.screen.set_focus(line)

    def close(self) -> None:
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

    def leave(self) -> None:
        self._done(self.sign, None)

    def submit(self, text: str) -> None:
        if self.sign == ":" and text.strip():
            self.history = [*(each for each in self.history if each != text), text]
        self._done(self.sign, text)
