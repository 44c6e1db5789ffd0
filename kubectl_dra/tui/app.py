"""What the keys and commands of the registry do, whichever view is in front; a view may do them in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual.command import CommandPalette

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.tui.actions import ACTIONS, BY_ID, Action, app_bindings, refused, with_own_keys
from kubectl_dra.tui.editor import Editor
from kubectl_dra.tui.frame import ActionBar, Crumbs
from kubectl_dra.tui.help import HelpScreen
from kubectl_dra.tui.host import Host
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.palette import Actions, Contexts, Namespaces, Objects
from kubectl_dra.tui.prompt import Line, Prompt
from kubectl_dra.tui.screens import SCREEN_BY_ID
from kubectl_dra.tui.theme import DARK, LIGHT
from kubectl_dra.tui.typed_places import TypedPlaces
from kubectl_dra.tui.unread import unknown_kinds
from kubectl_dra.tui.view import View
from kubectl_dra.tui.views.lab import LabView
from kubectl_dra.tui.views.plan import PlanView
from kubectl_dra.tui.views.reader import YamlView
from kubectl_dra.tui.views.reasons import ReasonsView
from kubectl_dra.tui.views.search import SearchView
from kubectl_dra.tui.views.unread import UnreadView
from kubectl_dra.tui.writing import TaintRequest

_NOT_WITHOUT_SUBJECT: Final = ("yaml", "copy")


class DraApp(TypedPlaces):
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar = {Actions, Objects}
    BINDINGS = app_bindings()

    # --- which actions there are ------------------------------------------------------------------------------------

    def offers(self, action: str) -> bool:
        view = self.view
        if view is not None and view.can(action):
            return True
        if action == "back":
            return view is not None and (self.depth > 1 or view.is_filtered or view.came_from is not None)
        if action == "context":
            return bool(self.settings.contexts())
        if action == "unread":
            return bool(unknown_kinds(self.cluster)) and not isinstance(view, UnreadView)
        if action == "suspend":
            return self.can_leave_terminal
        if action in _NOT_WITHOUT_SUBJECT or (action == "unlock" and not self.feed.live):
            return False
        return action in SCREEN_BY_ID or hasattr(self, f"do_{action}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of actions that are not offered fall through."""
        if action == "refuse":
            return len(self.screen_stack) == 1 and not self.is_typing
        if action not in ("do", "press"):
            return True
        name = str(parameters[0])
        if BY_ID[name].anywhere:
            return self.offers(name) and (len(self.screen_stack) == 1 or name in ("leave", "interrupt"))
        if len(self.screen_stack) > 1 or (action == "press" and self.is_typing and not self._is_key(name)):
            return False
        if name == "back":
            return not (isinstance(self.focused, Line) and self.query_one(Prompt).is_open)
        return self.offers(name)

    def _is_key(self, name: str) -> bool:
        """Whether what would be typed is a key all the same: not in the line of a command."""
        return isinstance(self.focused, Editor) and self.view is not None and self.view.is_key(name)

    def action_do(self, name: str) -> None:
        self.run_action_id(name)

    def action_press(self, name: str) -> None:
        """A key was pressed that would have typed something elsewhere."""
        key, view = BY_ID[name].keys[0], self.view
        if name in SCREEN_BY_ID and key.isdecimal() and view is not None and view.digit(int(key)):
            return
        self.run_action_id(name)

    def action_refuse(self, key: str) -> None:
        self.say(refused(key))

    def run_action_id(self, name: str, argument: str = "") -> None:
        """Carry out an action: the view's way if it has one."""
        method = getattr(self.view, f"do_{name}", None) or getattr(self, f"do_{name}", None)
        if name in SCREEN_BY_ID:
            self.go_to(SCREEN_BY_ID[name])
            self._drop_lent_filter()
            self.narrow(name, argument)
        elif method is None:
            self.say(fmt("{}: not possible here", BY_ID[name].label))
        elif BY_ID[name].takes:
            method(argument)
        else:
            method()

    def _drop_lent_filter(self) -> None:
        """Who opens a tab by its key wants all of it, whatever brought somebody there earlier."""
        view = self.view
        if view is not None:
            view.came_from = None
            if view.lent_filter:
                view.lent_filter = False
                view.set_filter("")

    # --- go to ------------------------------------------------------------------------------------------------------

    def do_reason(self, argument: str = "") -> None:
        word = argument.strip().upper()
        found = [code for code in Code if word in (code.value, code.value.removeprefix("DRA-"))]
        if word and not found:
            self.say(fmt("no reason “{}”: :reasons lists them all", argument))
        elif found:
            self.open_explanation(found[0])
        else:
            self.push(ReasonsView())

    def do_unread(self) -> None:
        self.push(UnreadView())

    # --- look closer ------------------------------------------------------------------------------------------------

    def do_back(self) -> None:
        """Close what is open, drop a filter, or go one level up."""
        if self.query_one(Prompt).is_open:
            self.cancel_prompt()
            return
        view = self.view
        if view is None or (isinstance(view, LabView) and view.leave_editor()):
            self.refresh_frame()
        elif view.is_filtered and not view.lent_filter:
            view.set_filter("")
            self.refresh_frame()
        elif view.stays:
            self.say(view.stays)
        elif self._left_by_jump(view):
            return
        elif view.is_filtered:
            view.set_filter("")
        elif self.depth > 1:
            self.pop()
        elif self.focused is None:
            self.focus_view()

    def _left_by_jump(self, view: View) -> bool:
        pushed = self.depth > 1
        if not self.return_from_jump():
            return False
        if pushed:
            self.close_view(view)
        return True

    def do_earlier_view(self) -> None:
        if not self.go_along(-1):
            self.say(Safe("there is no view before"))

    def do_later_view(self) -> None:
        if not self.go_along(1):
            self.say(Safe("there is no view after"))

    def do_last(self) -> None:
        if not self.go_to_last():
            self.say(Safe("no other tab was open before"))

    def do_yaml(self) -> None:
        if self.subject is not None:
            self.push(YamlView(self.subject))

    def do_copy(self) -> None:
        if self.subject is not None:
            self.copy_lines([safe(self.subject.name)])

    def action_focus_next(self) -> None:
        """Tab, which is Textual's own binding of the screen."""
        if len(self.screen_stack) > 1:
            super().action_focus_next()
        else:
            self.run_action_id("next_part")

    def do_next_part(self) -> None:
        before = self.focused
        if self.screen.focus_next() is before:
            self.say(Safe("this screen has one part"))

    # --- taints -----------------------------------------------------------------------------------------------------

    def do_taint(self, argument: str = "") -> None:
        """A plan; without words they are asked for, beginning with what is marked or under the cursor."""
        if argument:
            self._plan_taint(argument)
            return
        targets = self.view.targets if self.view is not None else ()
        self.open_prompt(":", " ".join(["taint", *targets, ""]))

    def _plan_taint(self, words: str) -> None:
        """Words that can't be planned stay in the line, to be corrected."""
        order = TaintRequest(words=tuple(words.split()))
        wrong = self.settings.writer(self.context).wrong_words(order)
        if wrong:
            self.open_prompt(":", f"taint {words}")
            self.say(wrong)
        else:
            self.open_plan(order)

    def do_unlock(self) -> None:
        """Allow writing to this cluster after a question, or lock it again."""
        if self.unlocked:
            self._set_unlocked(False)
        else:
            self.ask(fmt("Allow writing to {}? [y/N, then enter]", self.feed.title), self._unlock)

    def _unlock(self, answer: str) -> None:
        if answer.strip().lower() in ("y", "yes"):
            self._set_unlocked(True)
        else:
            self.say(Safe("writing stays locked"))

    def _set_unlocked(self, unlocked: bool) -> None:
        self.unlocked = unlocked
        where = safe(self.feed.title)
        if isinstance(self.view, PlanView):
            self.view.plan_again()
        self.say(fmt("writing to {} is unlocked: U locks it again", where) if unlocked else Safe("writing is locked"))

    # --- the program ------------------------------------------------------------------------------------------------

    def do_help(self) -> None:
        offered = with_own_keys(action for action in ACTIONS if self.offers(action.id))
        here = [action for action in offered if self._belongs_here(action)]
        rest = [action for action in offered if action.general and action not in here]
        self.push_screen(HelpScreen(here, rest), self._run_chosen)

    def _belongs_here(self, action: Action) -> bool:
        view = self.view
        return self.offers(action.id) and (not action.general or (view is not None and action.id in view.extras))

    def _run_chosen(self, name: str | None) -> None:
        if name and BY_ID[name].needs_argument:
            self.begin_command(BY_ID[name].command)
        elif name and self.offers(name):
            self.run_action_id(name)

    def do_all_namespaces(self) -> None:
        if not self.namespace:
            self.say(Safe("all namespaces are shown"))
        else:
            self.set_namespace("")

    def do_namespace(self, argument: str = "") -> None:
        """Only one namespace; without a name it is chosen from a list."""
        known = self.names.namespaces()
        alike = [name for name in known if name.startswith(argument)]
        if not argument:
            self.push_screen(CommandPalette([Namespaces], placeholder="Namespace …"))
        elif argument in ("all", "-A") and argument not in known:
            self.set_namespace("")
        elif argument in known or not alike:
            self.set_namespace(argument)
            if argument not in known:
                self.say(fmt("no pod or claim that could be read is in namespace “{}”; 0 shows all", argument))
        elif len(alike) == 1:
            self.set_namespace(alike[0])
        else:
            self.say(fmt("namespaces that begin with “{}”: {}", argument, ", ".join(alike)))

    def set_namespace(self, namespace: str) -> None:
        self.namespace = namespace
        view = self.view
        if isinstance(view, ListView):
            view.grid.set_columns(view.columns())
        self.queries_changed()
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
        self.feed.refresh()
        self.say(Safe("reading again"))

    def do_theme(self) -> None:
        """Dark or light, where the colours are not the terminal's own."""
        if self.has_few_colours:
            self.say(Safe("the terminal's own colours are used: there is no theme to choose"))
            return
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name
        self.memory.theme = "light" if self.theme == LIGHT.name else "dark"

    def do_quit(self) -> None:
        self.exit()

    def do_leave(self) -> None:
        self.exit()

    def do_interrupt(self) -> None:
        """Leave as from any other command that ctrl-c ends."""
        self.exit(return_code=130)

    def do_filter(self) -> None:
        """Where nothing can be filtered: look for a pod, claim, pool or device of this name."""
        if not isinstance(self.view, SearchView):
            self.push(SearchView())
        self.ask_filter("")

    def do_palette(self) -> None:
        self.action_command_palette()

    def action_command_palette(self) -> None:
        """As Textual's, which has nothing but commands to find."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder="An action, pod, claim, pool, node or device …"))

    # --- the mouse --------------------------------------------------------------------------------------------------

    def on_action_bar_chosen(self, event: ActionBar.Chosen) -> None:
        event.stop()
        self.run_action_id(event.action)

    def on_crumbs_chosen(self, event: Crumbs.Chosen) -> None:
        event.stop()
        while self.depth > event.depth and self.view is not None and not self.view.stays:
            self.pop()


if TYPE_CHECKING:
    _HAS_WHAT_VIEWS_ASK: type[Host] = DraApp  # what mypy proves
