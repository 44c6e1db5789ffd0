"""The line in place of the footer: commands behind ``:``, filters behind ``/``, answers to questions."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.tui.actions import COMMANDS
from kubectl_dra.tui.frame import Footer
from kubectl_dra.tui.names import CommandNames
from kubectl_dra.tui.prompt import NOTHING, Prompt
from kubectl_dra.tui.settings import Settings
from kubectl_dra.tui.tools import Tools
from kubectl_dra.tui.typed_words import command_of, parsed, unknown


class CommandLine(Tools):
    """One line at a time; what it means is known when it is entered."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.names = CommandNames(self)
        self._answer: Callable[[str], None] | None = None
        #: The filter as it was when it was asked for, or is by what was typed since.
        self._asked = ""

    def do_command(self) -> None:
        self.open_prompt(":", "")
        self._suggest("")

    def _suggest(self, text: str) -> None:
        """What the line may become, where the breadcrumbs are, until it is entered or left."""
        self.choices = [safe(word.rpartition(" ")[2]) for word in self.query_one(Prompt).suggestions(text)]
        self.refresh_frame()

    def ask_filter(self, text: str) -> None:
        self._asked = text
        self.open_prompt("/", text)

    def ask(self, question: Safe, answer: Callable[[str], None], text: str = "") -> None:
        """A question in place of the footer; ``answer`` gets what was typed, nothing after escape."""
        self._answer = answer
        self.open_prompt("?", text, question)

    def open_prompt(self, sign: str, text: str, label: Safe = NOTHING) -> None:
        """``sign`` says what the line is for; ``text`` stands in it already."""
        self.query_one(Footer).display = False
        self.query_one(Prompt).open(sign, text, self.names.after if sign == ":" else None, label)

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        event.stop()
        if not self.query_one(Prompt).is_open:
            # Keys are faster than messages: what was typed counts since it was entered or left.
            return
        if event.sign == "/":
            self._filter(event.text)
        elif event.sign == ":":
            self._suggest(event.text)

    def _filter(self, text: str) -> None:
        self._asked = text
        if self.view is not None:
            self.view.lent_filter = False
            self.view.set_filter(text)
            self.refresh_frame()

    def prompt_done(self, sign: str, text: str | None) -> None:
        """Enter, or escape."""
        if text is None:
            self.cancel_prompt()
            return
        self._close_prompt()
        if sign == ":":
            self.run_command(text)
        elif sign == "?":
            self._answered(text)
        elif sign == "/" and text != self._asked:
            self._filter(text)

    def _answered(self, text: str) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer(text)

    def begin_command(self, command: str) -> None:
        """Carry a command out; what it needs is asked for first."""
        if COMMANDS[command].needs_argument:
            self.open_prompt(":", f"{command} ")
            self._suggest(f"{command} ")
        else:
            self.run_command(command)

    def run_command(self, line: str) -> None:
        word, argument = parsed(line)
        action = command_of(word)
        if not word:
            return
        if action is None:
            self.say(unknown(word))
        elif action.needs_argument and not argument:
            self.say(fmt(":{} needs {}", action.command, action.takes))
        elif not self.offers(action.id):
            self.say(fmt("{}: not possible here", action.label))
        else:
            self.run_action_id(action.id, argument)

    def cancel_prompt(self) -> None:
        prompt = self.query_one(Prompt)
        if prompt.sign == "/" and self.view is not None:
            self.view.set_filter("")
        self._close_prompt()
        if prompt.sign == "?":
            self._answered("")

    def _close_prompt(self) -> None:
        self.query_one(Prompt).close()
        self.choices = []
        self.query_one(Footer).display = True
        self.focus_view()
