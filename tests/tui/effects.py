"""What a person sees of each action: the words of the registry that ``?`` shows, and how a test observes them.

The words stand here a second time on purpose: whoever changes what the registry states looks at what is observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textual.command import CommandPalette

from kubectl_dra.output.safe import plain
from kubectl_dra.tui import tools
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.editor import Editor
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.help import HelpScreen
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.prompt import Prompt
from kubectl_dra.tui.screens import SCREEN_BY_ID
from kubectl_dra.tui.views.aliases import AliasesView
from kubectl_dra.tui.views.claim import ClaimView, WhyClaimPage
from kubectl_dra.tui.views.claims import ClaimsView
from kubectl_dra.tui.views.columns import ColumnsView
from kubectl_dra.tui.views.diagnosis import DiagnosisView
from kubectl_dra.tui.views.groups import GroupPage
from kubectl_dra.tui.views.lab import LabView
from kubectl_dra.tui.views.lab_devices import LabDevicesView, WouldGetPage
from kubectl_dra.tui.views.lab_known import KnownView
from kubectl_dra.tui.views.nodes import NodeView
from kubectl_dra.tui.views.numbers import NumbersView
from kubectl_dra.tui.views.plan import PlanView
from kubectl_dra.tui.views.pool import PoolDevices
from kubectl_dra.tui.views.reader import ReportView, YamlView
from kubectl_dra.tui.views.reasons import ExplanationView, ReasonsView
from kubectl_dra.tui.views.search import SearchView
from kubectl_dra.tui.views.unread import UnreadView
from kubectl_dra.tui.views.waiting import WaysOutView, WaysView
from kubectl_dra.tui.views.xray import XrayView


@dataclass
class State:
    """All that the keys change; widgets as they are, the rest as plain values."""

    tab: str
    view: Any
    depth: int
    crumb: str
    focused: Any
    rows: Any
    cursors: Any
    sorted: Any
    marked: Any
    pages: Any
    faults: Any
    filtered: bool
    prompt: tuple[str, str] | None
    above: Any
    previewing: Any
    lab: Any
    turned: Any
    device_class: Any
    plan: Any
    columns: Any
    theme: str
    paused: bool
    unlocked: bool
    namespace: str
    told: list[Any]

    def has_number(self, number):
        """Whether a digit goes to a way out here."""
        return any(getattr(row, "number", None) == number for rows in self.rows for row in rows) and self.on_ways

    @property
    def on_ways(self):
        return isinstance(self.view, WaysView) and self.focused is self.view.ways.grid

    @property
    def copied(self):
        return "\n".join(text for what, text in self.told if what == "copied").strip()


class Watched:
    """An app, and what it does besides changing its screen."""

    def __init__(self, app, monkeypatch):
        self.app, self.told, self.said = app, [], []
        say = DraApp.say

        def tell(what):
            return lambda *_args, **named: self.told.append((what, named.get("return_code", 0)))

        monkeypatch.setattr(DraApp, "exit", tell("left"))
        monkeypatch.setattr(DraApp, "action_suspend_process", tell("suspended"))
        monkeypatch.setattr(DraApp, "copy_to_clipboard", lambda _app, text: self.told.append(("copied", text)))
        monkeypatch.setattr(DraApp, "can_leave_terminal", True)
        # What is said goes from the screen after some seconds, which a busy machine may need for one key.
        monkeypatch.setattr(DraApp, "say", lambda app, text: (self.said.append(str(plain(text))), say(app, text))[1])
        monkeypatch.setattr(tools.Tools, "edited", lambda _app, text, _suffix: self.told.append(("edited", text)))
        monkeypatch.setattr(type(app.feed), "refresh", tell("read"))

    def forget(self):
        """What happened until now."""
        self.told.clear()
        self.said.clear()

    def state(self):
        """What is there now."""
        app, view = self.app, self.app.view
        grids = list(view.query(Grid))
        lab = view if isinstance(view, LabView) else None
        prompt = app.screen_stack[0].query_one(Prompt)
        return State(
            tab=app._tab,
            view=view,
            depth=app.depth,
            crumb=str(plain(view.crumb)),
            focused=app.focused,
            rows=[list(grid.rows) for grid in grids],
            cursors=[grid.cursor for grid in grids],
            sorted=[(grid.sorted_by and grid.sorted_by.title, grid.descending) for grid in grids],
            marked=[set(grid.marked) for grid in grids],
            pages=[(page.scroll_offset, page._hit) for page in view.query(Page)],
            faults=getattr(view, "faults_only", None),
            filtered=view.is_filtered,
            prompt=(prompt.sign, prompt.query_one("Line").value) if prompt.is_open else None,
            above=type(app.screen) if len(app.screen_stack) > 1 else None,
            previewing=view.has_class("previewing"),
            lab=lab.editor.text if lab else None,
            turned=str(lab.choice.render()) if lab else None,
            device_class=app.draft.device_class,
            plan=getattr(view, "_preview", None),
            columns=app.memory.columns,
            theme=app.theme,
            paused=app.paused,
            unlocked=app.unlocked,
            namespace=app.namespace,
            told=list(self.told),
        )


def changes(*names):
    """One of these is another one than before."""
    return lambda before, after: any(getattr(before, name) != getattr(after, name) for name in names)


def shows(*views):
    """A new view of one of these kinds is in front."""
    return lambda before, after: after.view is not before.view and isinstance(after.view, views)


def told(what, code=0):
    """It was asked of the terminal, or of the cluster."""
    return lambda _before, after: (what, code) in after.told


def asks(sign, start="", end=""):
    """A line to type into is open, with a text in it."""
    return lambda _before, after: (
        after.prompt is not None
        and after.prompt[0] == sign
        and after.prompt[1].startswith(start)
        and after.prompt[1].endswith(end)
    )


def copies(*texts):
    """The clipboard has something, with these texts in it."""
    return lambda _before, after: bool(after.copied) and all(text in after.copied for text in texts)


def above(screen):
    """A list to choose from stands above the screen."""
    return lambda before, after: before.above is None and after.above is screen


def either(*observers):
    """One of several, according to where it is."""
    return lambda before, after: any(observe(before, after) for observe in observers)


def _to_ways(before, after):
    at_list = isinstance(after.view, WaysView) and after.view is before.view and after.view.on_ways
    return at_list or shows(WaysOutView)(before, after)


def numbered(number):
    """The cursor is on the way out of that number, and nothing else is opened."""
    return lambda before, after: after.view is before.view and after.view.ways.selected.number == number


def _edited(_before, after):
    return any(what == "edited" and text.strip() for what, text in after.told)


def _hit(step):
    def observe(before, after):
        if isinstance(before.view, ReportView):
            return after.pages[0][1] != before.pages[0][1] and after.pages[0][1] >= 0
        return (after.cursors[0] - before.cursors[0]) * step > 0

    return observe


def _devices_per_pod(step):
    def number(state):
        return int(state.crumb.removeprefix("capacity for ").split()[0])

    return lambda before, after: number(after) == number(before) + step


def _tab(name):
    """Of the tab that is in front already its first view."""
    return lambda before, after: after.tab == name and (before.tab != name or after.depth == 1)


EFFECTS = {
    "open": ("Open what is under the cursor", changes("view", "tab", "columns")),
    "back": (
        "Back to where you came from; drops a filter first",
        lambda before, after: (
            (before.filtered and not after.filtered)
            or after.depth < before.depth
            or after.tab != before.tab
            or (isinstance(before.focused, Editor) and after.focused is not before.focused)
        ),
    ),
    "last": ("The tab that was in front before this one", changes("tab")),
    "earlier_view": ("Back through the views that you saw", changes("view")),
    "later_view": ("Forward again", changes("view")),
    "describe": ("The whole report as the command prints it", shows(ReportView)),
    "yaml": ("The object as YAML", shows(YamlView)),
    "why": ("Why it waits: the diagnosis", shows(DiagnosisView, WhyClaimPage, GroupPage)),
    "numbers": ("The devices behind each number of the diagnosis", shows(NumbersView)),
    "steps": ("To the ways out, with the command of each", _to_ways),
    "explain": ("What the reason means, how to confirm and fix it", shows(ExplanationView, ReasonsView)),
    "used_by": (
        "Jump to who uses it: claim of a device, pod of a claim",
        shows(ClaimView, ClaimsView, DiagnosisView, SearchView),
    ),
    "node": ("Its node: the devices there, and who holds them", shows(NodeView)),
    "pool_of": ("The pool of the device", shows(PoolDevices)),
    "tree": ("Pod, claims, devices and nodes as a tree", shows(XrayView)),
    "preview": ("Show the page of the row under the cursor, or hide it", changes("previewing")),
    "copy": ("Copy the name, the YAML or the commands of a page (OSC 52)", copies()),
    "copy_all": ("Copy all ways out as comments, to choose one later", copies("# ")),
    "edit_way": ("The commands of the way out in $EDITOR, then copied", _edited),
    "try_selector": ("Open its selectors in the selector lab", shows(LabView, KnownView)),
    "filter": (
        "Show only rows with this text, or devices by a CEL expression; else search everything",
        asks("/"),
    ),
    "next_hit": ("The next row or line that the search found", _hit(1)),
    "previous_hit": ("The one before", _hit(-1)),
    "faults": ("Only rows that need attention, or all again", changes("faults")),
    "mark": ("Mark the row; a taint then is planned for all marked ones", changes("marked", "columns")),
    "fold": ("Fold what is below the line, or its group, or unfold it; ← → do so too", changes("rows")),
    "fold_all": ("Fold everything, or unfold it", changes("rows")),
    "sort": ("Sort by the next column", changes("sorted")),
    "reverse": ("Reverse the order", changes("sorted")),
    "columns": (
        "Choose which attributes are columns; the choice is remembered",
        either(shows(ColumnsView), changes("columns")),
    ),
    "save": ("Save the table as .csv, .json or .md", asks("?", end=".csv")),
    "copy_table": ("Copy the table as Markdown, CSV or JSON", copies("|")),
    "all_namespaces": ("All namespaces", changes("namespace")),
    "namespace": ("Only one namespace, from a list", above(CommandPalette)),
    "load": ("Load a selector: of a claim, template or class, tried or kept", shows(KnownView)),
    "scope": ("Try it behind the next DeviceClass, or alone", changes("device_class")),
    "copy_yaml": ("Copy the selector as a request in YAML", copies("selectors:", "expression:")),
    "outcomes": ("Device by device: matches, fails, or why not", shows(LabDevicesView)),
    "would_get": ("What a claim with it would get now", shows(WouldGetPage)),
    "copy_command": ("Copy as a test-selector command", copies("test-selector")),
    "editor": ("The selector in $EDITOR", _edited),
    "earlier": ("The selector that was here before another was loaded", changes("lab")),
    "accept": ("Take the completion", changes("lab")),
    "turn": ("The next completion", changes("turned")),
    "edit": ("Back into the selector", lambda _before, after: isinstance(after.focused, Editor)),
    "more": ("One device more per pod", _devices_per_pod(1)),
    "fewer": ("One device fewer per pod", _devices_per_pod(-1)),
    "taint": ("Plan a taint: KEY[=VALUE]:EFFECT on a device; KEY- removes it", asks(":", "taint ")),
    "remove": ("Plan the deletion of the rule", shows(PlanView)),
    "apply": ("Carry out the plan on the screen; asks first", asks("?")),
    "unlock": (
        "Unlock writing to this cluster after a question, or lock it; another context is always locked",
        lambda before, after: (not before.unlocked and asks("?")(before, after)) or (before.unlocked > after.unlocked),
    ),
    "next_part": ("Focus the next part of the screen", changes("focused")),
    "command": ("Type a command", asks(":")),
    "palette": ("Find an action or an object by a few letters", above(CommandPalette)),
    "help": ("This list", above(HelpScreen)),
    "unread": ("What could not be read, and who can permit it", shows(UnreadView)),
    "refresh": (
        "Read the cluster again now",
        either(told("read"), lambda before, after: isinstance(after.view, PlanView) and after.plan is not before.plan),
    ),
    "aliases": ("All words that : takes", shows(AliasesView)),
    "pause": ("Hold the screen as it is, or go on", changes("paused")),
    "suspend": ("Back to the shell; fg returns", told("suspended")),
    "theme": ("Dark or light", changes("theme")),
    "quit": ("Leave", told("left")),
    "leave": ("Leave at once, also while typing", told("left")),
    "interrupt": ("Leave at once with exit code 130", told("left", 130)),
} | {name: (screen.help, _tab(name)) for name, screen in SCREEN_BY_ID.items() if screen.key}
# What an action says where it can't do what it is there for. Nothing else counts as a refusal.
REFUSALS = {
    "open": ("it holds no devices", "nothing to open"),
    "last": ("no other tab was open before",),
    "earlier_view": ("there is no view before",),
    "later_view": ("there is no view after",),
    "used_by": ("this pod has no claim yet", "no claim holds this device", "no pod uses this claim"),
    "node": ("not tied to one node", "this is node"),
    "more": ("32 devices are the most",),
    "fewer": ("one device is the least",),
    "apply": ("writing is locked: U unlocks it",),
    "theme": ("there is no theme to choose",),
    "copy_command": ("can't stand in a shell command",),
    "previous_hit": ("this is the first", "this is the only"),
    "next_hit": ("this is the last", "this is the only"),
    "try_selector": ("has no selector", "has no claim yet"),
    "all_namespaces": ("all namespaces are shown",),
    "next_part": ("this screen has one part",),
    "would_get": ("a claim needs a class",),
    "remove": ("only the driver can remove it",),
    "fold": ("there is nothing below this line", "do not fold while a filter is active"),
}
