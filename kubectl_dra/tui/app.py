"""The app: which view is in front, what it may be asked, and the frame around it. Views know what they show."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from textual.app import App, ComposeResult
from textual.command import CommandPalette
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input, TextArea

from kubectl_dra.diagnosis import needs
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.find import find_pools, pool_names
from kubectl_dra.reports.selector.known import known_selectors
from kubectl_dra.tui.actions import ACTIONS, BY_ID, Action, app_bindings, command_of
from kubectl_dra.tui.desk import Desk, Topic
from kubectl_dra.tui.feed import Link, Moment, Status
from kubectl_dra.tui.frame import Crumbs, Footer, Header, Prompt, Tab, Tabs, state_text
from kubectl_dra.tui.help import HelpView
from kubectl_dra.tui.mail import Mail
from kubectl_dra.tui.palette import Actions
from kubectl_dra.tui.settings import Draft, Settings
from kubectl_dra.tui.text import joined
from kubectl_dra.tui.theme import DARK, LIGHT, THEMES
from kubectl_dra.tui.topics import Claims, Devices, PendingPods, Pod, Pools, Taints
from kubectl_dra.tui.view import ListView, Subject, View
from kubectl_dra.tui.views.claim import ClaimView
from kubectl_dra.tui.views.claims import ClaimsView
from kubectl_dra.tui.views.classes import ClassesView
from kubectl_dra.tui.views.devices import DevicesView
from kubectl_dra.tui.views.diagnosis import DiagnosisView
from kubectl_dra.tui.views.lab import KnownView, LabView
from kubectl_dra.tui.views.overview import Overview
from kubectl_dra.tui.views.pending import PendingView
from kubectl_dra.tui.views.pool import PoolView
from kubectl_dra.tui.views.pools import PoolsView
from kubectl_dra.tui.views.reader import YamlView
from kubectl_dra.tui.views.taints import TaintsView

_TABS: Final[dict[str, Callable[[], View]]] = {
    "overview": Overview,
    "pools": PoolsView,
    "claims": ClaimsView,
    "pending": PendingView,
    "lab": LabView,
    "taints": TaintsView,
}
_DECISIVE: Final = tuple(need.kind for need in needs.POD if need.decides)
_NOTICE_SECONDS: Final = 6.0


class DraApp(App[None]):
    """One screen: header, tabs, breadcrumbs, the view in front, footer."""

    TITLE = "kubectl dra"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar = {Actions}
    BINDINGS = app_bindings()
    CSS: ClassVar[str] = """
    Screen { layout: vertical; background: $background; color: $foreground; }
    #body { height: 1fr; width: 1fr; layout: vertical; }
    """

    class Given(Message):
        """A feed or the worker has something new; posted from their threads."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.namespace = settings.namespace
        self.desk = Desk(self._wake)
        self.moment: Moment | None = None
        self.feed = settings.connect("")
        self.status = Status(Link.READING, time.monotonic())
        self.draft = Draft(settings.expression, settings.device_class)
        self.notice = Safe("")
        self._notice_until = 0.0
        self._mail = Mail(self._wake)
        self._stacks: dict[str, list[View]] = {}
        self._tab = settings.tab
        self._filtering: str | None = None
        self._number = 0
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = settings.theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of ours that a theme may lack."""
        return dict(DARK.variables)

    # --- life -------------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """The frame."""
        yield Header()
        yield Tabs()
        yield Crumbs()
        yield Container(id="body")
        yield Prompt(self._prompt_done)
        yield Footer()

    def on_mount(self) -> None:
        """Start reading and working."""
        self.desk.start()
        self.feed.start(self._mail)
        self.set_interval(1.0, self.refresh_frame)
        self.go(self._tab)

    def on_unmount(self) -> None:
        """Stop the threads."""
        self.feed.stop()
        self.desk.stop()

    # --- what threads say -------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        if self.is_running:
            self.post_message(self.Given())

    def on_dra_app_given(self, event: DraApp.Given) -> None:
        """Take everything at once, however often it was announced."""
        event.stop()
        loaded, status = self._mail.take()
        if self.desk.error is not None:
            raise self.desk.error
        if status is not None:
            self.status = status
            if status.link is Link.FAILED:
                self.say(safe(status.text))
        if loaded is not None:
            self._number += 1
            self.moment = Moment(self._number, *loaded)
            self.desk.show(self.moment)
        self.topics_changed()
        if self.view is not None:
            self.view.show()
        self.refresh_frame()

    # --- what views ask ---------------------------------------------------------------------------------------------

    @property
    def facts_now(self) -> Moment:
        """The newest facts; only asked for by views that show some of them."""
        if self.moment is None:
            raise LookupError("nothing has been read yet")
        return self.moment

    @property
    def now(self) -> datetime:
        """The time that ages are counted from."""
        return self.moment.facts.now if self.moment is not None else datetime.now(UTC)

    @property
    def knows_pending(self) -> bool:
        """Whether it is known which pods wait."""
        return self.desk.record(PendingPods()) is not None

    def pending_keys(self) -> tuple[Key, ...]:
        """Pods that wait, in the namespaces in view."""
        keys = self.desk.record(PendingPods()) or ()
        return tuple(key for key in keys if self.namespace in ("", key.namespace))

    def topics_changed(self) -> None:
        """Tell the worker what is on the screen, and what the tabs count."""
        shown = self.view.topics() if self.view is not None else ()
        # The way back should not have to wait.
        behind = (topic for view in self._stacks.get(self._tab, ())[:-1] for topic in view.topics())
        pods = (Pod(key) for key in self.desk.record(PendingPods()) or ())
        counted: tuple[Topic[object], ...] = (PendingPods(), Pools(), Claims(), Taints())
        self.desk.want([PendingPods(), *shown], [*counted, *behind, *pods])

    def say(self, text: Safe) -> None:
        """A few words where the breadcrumbs are, for some seconds."""
        self.notice = text
        self._notice_until = time.monotonic() + _NOTICE_SECONDS
        self.refresh_frame()

    @property
    def is_idle(self) -> bool:
        """Whether everything on the screen is up to date."""
        return self.desk.idle and self._mail.is_empty

    # --- views ------------------------------------------------------------------------------------------------------

    @property
    def view(self) -> View | None:
        """The view in front."""
        stack = self._stacks.get(self._tab)
        return stack[-1] if stack else None

    def go(self, tab: str) -> None:
        """Bring a tab to the front; a tab that is in front already goes back to its first view."""
        if tab == self._tab:
            for view in self._stacks.get(tab, [])[1:]:
                view.remove()
            del self._stacks.get(tab, [])[1:]
        self._hide()
        self._tab = tab
        if tab not in self._stacks:
            self._stacks[tab] = [_TABS[tab]()]
            self.query_one("#body").mount(self._stacks[tab][0])
        self._to_front()

    def push(self, view: View) -> None:
        """One level deeper."""
        self._hide()
        self._stacks[self._tab].append(view)
        self.query_one("#body").mount(view)
        self._to_front()

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
        # What was said belongs to where we were.
        self.notice = Safe("")
        self.topics_changed()
        if view.is_mounted:
            view.show()
        self.call_after_refresh(self._focus_view)
        self.refresh_frame()

    def _focus_view(self) -> None:
        view = self.view
        if view is not None and not self.query_one(Prompt).is_open:
            target = view.left_at if view.left_at is not None else view.focus_target
            if target is not None:
                self.screen.set_focus(target)
        self.refresh_frame()

    def open_pools(self, driver: str) -> None:
        """The pools of a driver."""
        self.go("pools")
        if isinstance(self.view, ListView):
            self.view.set_filter(f"{driver}/")

    def open_reason(self, code: Code | None) -> None:
        """The pods with a reason."""
        self.go("pending")
        if isinstance(self.view, PendingView):
            self.view.go_to_reason(code)

    def open_claim(self, key: Key) -> None:
        """A claim."""
        self.push(ClaimView(key))

    def open_pod(self, key: Key) -> None:
        """A pod's diagnosis."""
        self.push(DiagnosisView(key))

    def open_pod_of(self, claim: Key) -> None:
        """The diagnosis of the pod that uses a claim or waits for it."""
        pods = self.facts_now.inventory.pods_by_claim.get(claim, ())
        if pods:
            meta = pods[0].metadata
            self.open_pod(Key(meta.namespace, meta.name))
        else:
            self.say(Safe("no pod uses this claim"))

    def open_node(self, node: str) -> None:
        """All devices of a node."""
        self.push(DevicesView(Devices(node=node), fmt("node {}", node)))

    def open_devices(self, devices: frozenset[DeviceId], crumb: Safe) -> None:
        """Some devices."""
        self.push(DevicesView(Devices(among=devices), crumb))

    def try_claim(self, key: Key) -> None:
        """The selectors of a claim in the lab."""
        self._try_selectors(key, key.namespace)

    def try_class(self, name: str) -> None:
        """The selectors of a class in the lab."""
        self._try_selectors(Key("", name), "")

    def _try_selectors(self, of: Key, namespace: str) -> None:
        """One selector goes straight into the editor; of several one is chosen first."""
        found = [each for each in known_selectors(self.facts_now.inventory) if (each.namespace, each.name) == of]
        if not found:
            self.say(fmt("{} has no selector", str(Key(namespace, of.name))))
            return
        self.go("lab")
        lab = self._stacks["lab"][0]
        if isinstance(lab, LabView):
            if len(found) == 1:
                self.call_after_refresh(lab.load, found[0])
            else:
                self.push(KnownView(lab, of))

    # --- frame ------------------------------------------------------------------------------------------------------

    def refresh_frame(self) -> None:
        """Header, tabs, breadcrumbs, footer."""
        if not self.is_running or not self.query(Header):
            return
        source = safe(self.feed.title)
        self.query_one(Header).show(source, self.namespace, state_text(self.status, self.moment))
        self.query_one(Tabs).show(self._tab_texts(), self._tab)
        if self.notice and time.monotonic() > self._notice_until:
            self.notice = Safe("")
        view = self.view
        if view is None:
            return
        filter_ = view.filter if isinstance(view, ListView) else ""
        crumbs = [each.crumb for each in self._stacks[self._tab]]
        info = joined([self._unknown(), view.info], "   ")
        self.query_one(Crumbs).show(crumbs, filter_, info, self.notice)
        offered = [action for action in ACTIONS if action.keys and self.offers(action.id)]
        self.query_one(Footer).show(offered, self.is_typing)

    def _unknown(self) -> Safe:
        """Kinds that decide and could not be read completely: numbers carry ``≥ ≤ ?`` because of them."""
        missing = self.moment.evidence.missing(_DECISIVE) if self.moment is not None else ()
        return styled(fmt("unknown: {}", Safe(", ").join(missing)), Style.WARN) if missing else Safe("")

    def _tab_texts(self) -> list[Tab]:
        numbers = {"pools": self._count(Pools()), "claims": self._count_claims(), "taints": self._count(Taints())}
        numbers["pending"] = len(self.pending_keys()) if self.knows_pending else None
        tabs = ("overview", "pools", "claims", "pending", "lab", "taints")
        return [
            Tab(name, BY_ID[name].keys[0], BY_ID[name].label, numbers.get(name), name == "pending")
            for name in tabs
            if name in _TABS
        ]

    def _count(self, topic: Topic[Sequence[object]]) -> int | None:
        rows = self.desk.record(topic)
        return len(rows) if rows is not None else None

    def _count_claims(self) -> int | None:
        rows = self.desk.record(Claims())
        return None if rows is None else sum(self.namespace in ("", row.namespace) for row in rows)

    def on_resize(self) -> None:
        """Everything is laid out again."""
        self.call_after_refresh(self.refresh_frame)

    # --- actions ----------------------------------------------------------------------------------------------------

    def offers(self, action: str) -> bool:
        """Whether an action does something here and now."""
        view = self.view
        if view is not None and view.can(action):
            return True
        if action == "back":
            return view is not None and (len(self._stacks[self._tab]) > 1 or self._has_filter(view))
        if action == "context":
            return bool(self.settings.contexts())
        return action not in ("yaml", "copy") and hasattr(self, f"do_{action}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of actions that are not offered fall through."""
        if action != "do":
            return True
        name = str(parameters[0])
        if BY_ID[name].anywhere:
            return self.offers(name)
        if len(self.screen_stack) > 1 and name not in ("back",):
            return False
        return name == "back" or self.offers(name)

    def action_do(self, name: str) -> None:
        """A key was pressed."""
        self.run_action_id(name)

    def run_action_id(self, name: str, argument: str = "") -> None:
        """Carry out an action: the view's way if it has one."""
        method = getattr(self.view, f"do_{name}", None) or getattr(self, f"do_{name}", None)
        if method is None:
            self.say(fmt("{}: not possible here", BY_ID[name].label))
        elif BY_ID[name].takes:
            method(argument)
        else:
            method()

    def do_overview(self) -> None:
        """The tab."""
        self.go("overview")

    def do_pools(self) -> None:
        """The tab."""
        self.go("pools")

    def do_claims(self) -> None:
        """The tab."""
        self.go("claims")

    def do_pending(self) -> None:
        """The tab."""
        self.go("pending")

    def do_lab(self) -> None:
        """The tab."""
        self.go("lab")

    def do_taints(self) -> None:
        """The tab."""
        self.go("taints")

    def do_devices(self) -> None:
        """All devices, below the pools."""
        self.go("pools")
        self.push(DevicesView(Devices(), Safe("all devices")))

    def do_classes(self) -> None:
        """Below the pools."""
        self.go("pools")
        self.push(ClassesView())

    def do_pool(self, argument: str) -> None:
        """One pool by name."""
        found = find_pools(argument, self.facts_now.facts) if self.moment is not None else ()
        if not found:
            self.say(fmt("pool “{}” not found", argument))
            return
        self.go("pools")
        self.push(PoolView(PoolId(*found[0])))

    def do_claim(self, argument: str) -> None:
        """One claim by name."""
        key = self._key(argument, self.facts_now.inventory.claims if self.moment is not None else ())
        if key is None:
            self.say(fmt("claim “{}” not found", argument))
            return
        self.go("claims")
        self.open_claim(key)

    def do_pod(self, argument: str) -> None:
        """One pod by name."""
        key = self._key(argument, self.facts_now.inventory.pods if self.moment is not None else ())
        if key is None:
            self.say(fmt("pod “{}” not found", argument))
            return
        self.go("pending")
        self.open_pod(key)

    def _key(self, argument: str, known: Any) -> Key | None:  # noqa: ANN401 - any mapping by key
        """``NAMESPACE/NAME``, or a name in the namespace in view, or one that only one namespace has."""
        namespace, slash, name = argument.strip().rpartition("/")
        matches = [key for key in known if key.name == name and namespace in ("", key.namespace)]
        here = [key for key in matches if key.namespace == self.namespace]
        return next(iter(here or matches), None) if slash or here or len(matches) == 1 else None

    def do_back(self) -> None:
        """Close what is open, drop a filter, or go one level up."""
        if self.query_one(Prompt).is_open:
            self._cancel_prompt()
            return
        view, stack = self.view, self._stacks[self._tab]
        if isinstance(view, LabView) and view.leave_editor():
            self.refresh_frame()
        elif view is not None and self._has_filter(view):
            view.set_filter("")
            self.refresh_frame()
        elif view is not None and len(stack) > 1:
            stack.pop()
            view.remove()
            self._to_front()
        elif self.focused is None:
            self._focus_view()

    def _has_filter(self, view: View) -> bool:
        return bool(getattr(view, "filter", "") or getattr(view, "_mark", ""))

    def do_yaml(self) -> None:
        """The object under the cursor."""
        subject = self.subject
        if subject is not None:
            self.push(YamlView(subject))

    def do_copy(self) -> None:
        """The name of what is under the cursor."""
        if self.subject is not None:
            self.copy_lines([safe(self.subject.name)])

    @property
    def subject(self) -> Subject | None:
        """What is under the cursor of the view in front."""
        return self.view.subject if self.view is not None else None

    def copy_lines(self, lines: Sequence[Safe]) -> None:
        """Escaped text to the clipboard of the terminal."""
        self.copy_to_clipboard("\n".join(lines))
        self.say(fmt("copied {}", lines[0]) if len(lines) == 1 else fmt("copied {} lines", len(lines)))

    def do_next_part(self) -> None:
        """The next part of the screen."""
        self.screen.focus_next()

    def do_help(self) -> None:
        """All keys and commands."""
        if not isinstance(self.view, HelpView):
            self.push(HelpView())

    def do_all_namespaces(self) -> None:
        """No namespace in particular."""
        self._set_namespace("")

    def do_namespace(self, argument: str) -> None:
        """Only one namespace."""
        word = argument.strip()
        self._set_namespace("" if word in ("all", "-A", "") else word)

    def _set_namespace(self, namespace: str) -> None:
        self.namespace = namespace
        view = self.view
        if isinstance(view, ListView):
            view.grid.set_columns(view.columns())
        if view is not None:
            view.show()
        self.refresh_frame()

    def do_refresh(self) -> None:
        """Read again."""
        self.feed.refresh()
        if self.feed.live:
            self.say(Safe("reading again"))

    def do_context(self, argument: str) -> None:
        """Another cluster: everything known so far is forgotten."""
        if argument not in self.settings.contexts():
            self.say(fmt("context “{}” is not in the kubeconfig", argument))
            return
        self.feed.stop()
        self.feed = self.settings.connect(argument)
        self.moment, self._mail = None, Mail(self._wake)
        self.desk.show(None)
        self.status = Status(Link.READING, time.monotonic())
        for stack in self._stacks.values():
            for view in stack:
                view.remove()
        self._stacks.clear()
        self.feed.start(self._mail)
        self.go("overview")

    def do_theme(self) -> None:
        """Dark or light."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def do_quit(self) -> None:
        """Leave."""
        self.exit()

    def do_leave(self) -> None:
        """Leave, also while typing."""
        self.exit()

    # --- typing -----------------------------------------------------------------------------------------------------

    def do_command(self) -> None:
        """``:``."""
        self._open_prompt(":", "")

    def ask_filter(self, text: str) -> None:
        """``/``."""
        self._filtering = text
        self._open_prompt("/", text)

    def _open_prompt(self, sign: str, text: str) -> None:
        self.query_one(Footer).display = False
        self.query_one(Prompt).open(sign, text, self._names() if sign == ":" else {})

    def _names(self) -> dict[str, Sequence[str]]:
        """What commands can take."""
        if self.moment is None:
            return {"ctx": self.settings.contexts()}
        inventory = self.moment.inventory
        return {
            "ns": sorted({key.namespace for key in (*inventory.claims, *inventory.pods)}),
            "pool": pool_names(self.moment.facts),
            "claim": sorted(map(str, inventory.claims)),
            "pod": sorted(map(str, self.pending_keys())),
            "ctx": self.settings.contexts(),
        }

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        """The filter works as it is typed."""
        event.stop()
        if event.sign == "/" and self.view is not None:
            self.view.set_filter(event.text)
            self.refresh_frame()

    def _prompt_done(self, sign: str, text: str) -> None:
        """Enter."""
        self._close_prompt()
        if sign == ":":
            self.run_command(text)

    def run_command(self, line: str) -> None:
        """What was typed after ``:``."""
        word, _, argument = line.strip().partition(" ")
        action = command_of(word)
        if not word:
            return
        if action is None:
            self.say(fmt("no command “{}”: ? lists them all", word))
        elif action.takes and not argument and not action.takes.startswith("[COLUMN"):
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

    def _close_prompt(self) -> None:
        self.query_one(Prompt).close()
        self.query_one(Footer).display = True
        self._focus_view()

    def on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        """A click on a tab."""
        event.stop()
        self.run_action_id(event.action)

    @property
    def is_typing(self) -> bool:
        """Whether letters go into text."""
        return isinstance(self.focused, Input | TextArea)

    def actions_now(self) -> list[Action]:
        """What the command palette offers."""
        return [action for action in ACTIONS if not action.takes and self.offers(action.id)]

    def show_palette(self) -> None:
        """The command palette."""
        self.push_screen(CommandPalette())
