"""What the keys and commands of the registry do, whichever view is in front; a view may do them in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final

from textual.command import CommandPalette

from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.output.safe import Safe, fmt, plain, safe
from kubectl_dra.reports.find import find_pools
from kubectl_dra.tui.actions import BY_ID, app_bindings, command_of
from kubectl_dra.tui.frame import NOTHING, Footer, Prompt, Tabs
from kubectl_dra.tui.help import HelpView
from kubectl_dra.tui.jumps import Jumps
from kubectl_dra.tui.names import Names
from kubectl_dra.tui.palette import Actions, Contexts, Namespaces
from kubectl_dra.tui.screens import SCREEN_BY_ID
from kubectl_dra.tui.settings import Settings
from kubectl_dra.tui.theme import DARK, LIGHT
from kubectl_dra.tui.view import ListView
from kubectl_dra.tui.views.lab import LabView
from kubectl_dra.tui.views.plan import PlanView
from kubectl_dra.tui.views.reader import YamlView
from kubectl_dra.tui.writing import Order

_NOT_WITHOUT_SUBJECT: Final = ("yaml", "copy")


class DraApp(Jumps):
    """The terminal UI."""

    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar = {Actions}
    BINDINGS = app_bindings()

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.names = Names(self)
        self._answer: Callable[[str], None] | None = None

    # --- which actions there are ------------------------------------------------------------------------------------

    def offers(self, action: str) -> bool:
        """Whether an action does something here and now."""
        view = self.view
        if view is not None and view.can(action):
            return True
        if action == "back":
            return view is not None and (self.depth > 1 or view.is_filtered)
        if action == "context":
            return bool(self.settings.contexts())
        if action in _NOT_WITHOUT_SUBJECT:
            return False
        return action in SCREEN_BY_ID or hasattr(self, f"do_{action}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of actions that are not offered fall through."""
        if action not in ("do", "press"):
            return True
        name = str(parameters[0])
        if BY_ID[name].anywhere:
            return self.offers(name)
        if len(self.screen_stack) > 1 or (action == "press" and self.is_typing):
            return False
        return name == "back" or self.offers(name)

    def action_do(self, name: str) -> None:
        """A key was pressed."""
        self.run_action_id(name)

    def action_press(self, name: str) -> None:
        """A key was pressed that would have typed something elsewhere."""
        self.run_action_id(name)

    def run_action_id(self, name: str, argument: str = "") -> None:
        """Carry out an action: the view's way if it has one."""
        method = getattr(self.view, f"do_{name}", None) or getattr(self, f"do_{name}", None)
        if name in SCREEN_BY_ID:
            self.go_to(SCREEN_BY_ID[name])
        elif method is None:
            self.say(fmt("{}: not possible here", BY_ID[name].label))
        elif BY_ID[name].takes:
            method(argument)
        else:
            method()

    # --- go to ------------------------------------------------------------------------------------------------------

    def do_pool(self, argument: str) -> None:
        """One pool by name."""
        found = find_pools(argument, self.facts_now) if self.cluster is not None else ()
        if found:
            self.open_pool(PoolId(*found[0]))
        else:
            self.say(fmt("pool “{}” not found", argument))

    def do_claim(self, argument: str) -> None:
        """One claim by name."""
        key = self._key(argument, self.facts_now.inventory.claims if self.cluster is not None else ())
        if key is None:
            self.say(fmt("claim “{}” not found", argument))
            return
        self.go("claims")
        self.open_claim(key)

    def do_pod(self, argument: str) -> None:
        """One pod by name."""
        key = self._key(argument, self.facts_now.inventory.pods if self.cluster is not None else ())
        if key is None:
            self.say(fmt("pod “{}” not found", argument))
            return
        self.go("pending")
        self.open_pod(key)

    def _key(self, argument: str, known: Iterable[Key]) -> Key | None:
        """``NAMESPACE/NAME``, or a name in the namespace in view, or one that only one namespace has."""
        namespace, slash, name = argument.strip().rpartition("/")
        matches = [key for key in known if key.name == name and namespace in ("", key.namespace)]
        here = [key for key in matches if key.namespace == self.namespace]
        return next(iter(here or matches), None) if slash or here or len(matches) == 1 else None

    # --- look closer ------------------------------------------------------------------------------------------------

    def do_back(self) -> None:
        """Close what is open, drop a filter, or go one level up."""
        if self.query_one(Prompt).is_open:
            self._cancel_prompt()
            return
        view = self.view
        if view is None or (isinstance(view, LabView) and view.leave_editor()):
            self.refresh_frame()
        elif view.is_filtered:
            view.set_filter("")
            self.refresh_frame()
        elif view.stays:
            self.say(view.stays)
        elif self.depth > 1:
            self.pop()
        elif self.focused is None:
            self.focus_view()

    def do_yaml(self) -> None:
        """The object under the cursor."""
        if self.subject is not None:
            self.push(YamlView(self.subject))

    def do_copy(self) -> None:
        """The name of what is under the cursor."""
        if self.subject is not None:
            self.copy_lines([safe(self.subject.name)])

    def copy_lines(self, lines: Sequence[Safe]) -> None:
        """Escaped text to the clipboard of the terminal."""
        self.copy_to_clipboard("\n".join(map(plain, lines)))
        self.say(fmt("copied {}", lines[0]) if len(lines) == 1 else fmt("copied {} lines", len(lines)))

    def do_next_part(self) -> None:
        """The next part of the screen."""
        self.screen.focus_next()

    # --- taints -----------------------------------------------------------------------------------------------------

    def do_taint(self, argument: str = "") -> None:
        """A plan; without words they are asked for, beginning with the device under the cursor."""
        if argument:
            self.open_plan(Order(words=tuple(argument.split())))
            return
        device = self.view.device if self.view is not None else None
        self._open_prompt(":", f"taint {device} " if device is not None else "taint ")

    def do_unlock(self) -> None:
        """Allow writing to this cluster, or lock it again."""
        refusal = self.settings.pen(self.context).refusal
        if refusal:
            self.say(refusal)
            return
        self.unlocked = not self.unlocked
        where = safe(self.feed.title)
        said = fmt("writing to {} is unlocked: U locks it again", where) if self.unlocked else Safe("writing is locked")
        if isinstance(self.view, PlanView):
            self.view.plan_again()
        self.say(said)

    # --- the program ------------------------------------------------------------------------------------------------

    def do_help(self) -> None:
        """All keys and commands."""
        if not isinstance(self.view, HelpView):
            self.push(HelpView())

    def do_all_namespaces(self) -> None:
        """No namespace in particular."""
        self.set_namespace("")

    def do_namespace(self, argument: str = "") -> None:
        """Only one namespace; without a name it is chosen from a list."""
        if argument:
            self.set_namespace("" if argument in ("all", "-A") else argument)
        else:
            self.push_screen(CommandPalette([Namespaces], placeholder="Namespace …"))

    def set_namespace(self, namespace: str) -> None:
        """Show only one; empty for all."""
        self.namespace = namespace
        view = self.view
        if isinstance(view, ListView):
            view.grid.set_columns(view.columns())
        self.topics_changed()
        if view is not None:
            view.show()
        self.refresh_frame()

    def do_context(self, argument: str = "") -> None:
        """Another cluster; without a name it is chosen from a list."""
        if not argument:
            self.push_screen(CommandPalette([Contexts], placeholder="Context …"))
        elif argument not in self.settings.contexts():
            self.say(fmt("context “{}” is not in the kubeconfig", argument))
        elif self.stays:
            self.say(self.stays)
        else:
            self.connect_again(argument)

    def do_refresh(self) -> None:
        """Read again."""
        self.feed.refresh()
        if self.feed.live:
            self.say(Safe("reading again"))

    def do_theme(self) -> None:
        """Dark or light."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def do_quit(self) -> None:
        """Leave."""
        self.exit()

    def do_leave(self) -> None:
        """Leave, also while typing."""
        self.exit()

    def show_palette(self) -> None:
        """The command palette."""
        self.push_screen(CommandPalette())

    # --- typing -----------------------------------------------------------------------------------------------------

    def do_command(self) -> None:
        """``:``."""
        self._open_prompt(":", "")

    def ask_filter(self, text: str) -> None:
        """``/``."""
        self._open_prompt("/", text)

    def ask(self, question: Safe, answer: Callable[[str], None]) -> None:
        """A question in place of the footer; ``answer`` gets what was typed, nothing after escape."""
        self._answer = answer
        self._open_prompt("?", "", question)

    def _open_prompt(self, sign: str, text: str, label: Safe = NOTHING) -> None:
        self.query_one(Footer).display = False
        self.query_one(Prompt).open(sign, text, self.names.after if sign == ":" else None, label)

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        """The filter works as it is typed."""
        event.stop()
        if event.sign == "/" and self.view is not None:
            self.view.set_filter(event.text)
            self.refresh_frame()

    def prompt_done(self, sign: str, text: str) -> None:
        """Enter."""
        self._close_prompt()
        if sign == ":":
            self.run_command(text)
        elif sign == "?":
            self._answered(text)

    def _answered(self, text: str) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer(text)

    def run_command(self, line: str) -> None:
        """What was typed after ``:``."""
        word, _, argument = line.strip().partition(" ")
        action = command_of(word)
        if not word:
            return
        if action is None:
            self.say(fmt("no command “{}”: ? lists them all", word))
        elif action.needs_argument and not argument:
            self.say(fmt(":{} needs {}", action.command, action.takes))
        elif not self.offers(action.id):
            self.say(fmt("{}: not possible here", action.label))
        else:
            self.run_action_id(action.id, argument.strip())

    def _cancel_prompt(self) -> None:
        prompt = self.query_one(Prompt)
        if prompt.sign == "/" and self.view is not None:
            self.view.set_filter("")
        self._close_prompt()
        if prompt.sign == "?":
            self._answered("")

    def _close_prompt(self) -> None:
        self.query_one(Prompt).close()
        self.query_one(Footer).display = True
        self.focus_view()

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        """A click on a tab."""
        event.stop()
        self.run_action_id(event.action)
