"""The one registry of actions: keys, footer, help, command palette and ``:`` commands are all made from it.

An action is carried out by the method ``do_ID`` of the view on the screen, else of the app; an action that neither has
is not offered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from textual.binding import Binding, BindingType

from kubectl_dra.output.safe import Safe
from kubectl_dra.tui.screens import SCREENS, Screen


class Group(StrEnum):
    """Where help lists an action."""

    MOVE = "Move"
    GO = "Go to"
    LOOK = "Look closer"
    LIST = "Lists"
    LAB = "Selector lab"
    TAINT = "Taints"
    PROGRAM = "Program"


@dataclass(frozen=True, slots=True)
class Action:
    """``keys`` as Textual names them; ``label`` for the footer; ``command`` is its word after ``:`` if it has one.

    ``footer`` ranks it there (0: not shown). ``takes`` names the argument of the command, in brackets if it may be
    left out. ``anywhere``: the keys also
    work while something is being typed, so they are no printable ones. ``general``: offered everywhere, so the footer
    shows it only where it matters.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: Group
    footer: int = 0
    command: str = ""
    takes: str = ""
    anywhere: bool = False
    general: bool = False

    @property
    def needs_argument(self) -> bool:
        # "[COLUMN]" may be left out, "[DRIVER/]POOL" not.
        return bool(self.takes) and self.takes.find("]") != len(self.takes) - 1


def _go_to(screen: Screen) -> Action:
    keys = (screen.key,) if screen.key else ()
    return Action(screen.id, keys, screen.label or screen.id, screen.help, Group.GO, command=screen.id)


ACTIONS: Final[tuple[Action, ...]] = (
    *map(_go_to, SCREENS),
    Action("pool", (), "pool", "One pool", Group.GO, command="pool", takes="[DRIVER/]POOL"),
    Action("claim", (), "claim", "One ResourceClaim", Group.GO, command="claim", takes="[NAMESPACE/]NAME"),
    Action("pod", (), "pod", "Why a pod is pending", Group.GO, command="pod", takes="[NAMESPACE/]NAME"),
    Action("reason", (), "reasons", "What a reason means; without CODE all", Group.GO, 0, "reasons", "[CODE]"),
    Action("open", ("enter",), "open", "Open what is under the cursor", Group.LOOK, footer=3),
    Action("back", ("escape",), "back", "Back to where you came from; drops a filter first", Group.LOOK, footer=9),
    Action("last", ("minus",), "last view", "The tab that was in front before this one", Group.GO),
    Action("earlier_view", ("left_square_bracket",), "view before", "Back through the views that you saw", Group.GO),
    Action("later_view", ("right_square_bracket",), "view after", "Forward again", Group.GO),
    Action("describe", ("d",), "describe", "The whole report as the command prints it", Group.LOOK, footer=5),
    Action("yaml", ("y",), "yaml", "The object as YAML", Group.LOOK, footer=4),
    Action("why", ("w",), "why", "Why it waits: the diagnosis", Group.LOOK, footer=4),
    Action(
        "numbers", ("v",), "devices behind", "The devices behind each number of the diagnosis", Group.LOOK, footer=3
    ),
    Action("steps", ("x",), "ways out", "To the ways out, with the command of each", Group.LOOK, footer=2),
    Action("explain", ("E",), "explain", "What the reason means, how to confirm and fix it", Group.LOOK, footer=7),
    Action(
        "used_by", ("u",), "used by", "Jump to who uses it: claim of a device, pod of a claim", Group.LOOK, footer=6
    ),
    Action("node", ("o",), "node", "Its node: the devices there, and who holds them", Group.LOOK, footer=7),
    Action("pool_of", ("P",), "pool", "The pool of the device", Group.LOOK, footer=8),
    Action("tree", ("X",), "tree", "Pod, claims, devices and nodes as a tree", Group.LOOK, footer=8),
    Action("preview", ("p",), "preview", "Show the page of the row under the cursor, or hide it", Group.LOOK, footer=7),
    Action("copy", ("c",), "copy", "Copy the name, the YAML or the commands of a page (OSC 52)", Group.LOOK, footer=8),
    Action("copy_all", ("C",), "copy all", "Copy all ways out as comments, to choose one later", Group.LOOK, footer=8),
    Action("edit_way", ("e",), "$EDITOR", "The commands of the way out in $EDITOR, then copied", Group.LOOK, footer=6),
    Action("try_selector", ("t",), "try selector", "Open its selectors in the selector lab", Group.LOOK, footer=7),
    Action(
        "filter",
        ("slash",),
        "filter",
        "Show only rows with this text, or devices by a CEL expression; else search everything",
        Group.LIST,
        2,
    ),
    Action("next_hit", ("n",), "next hit", "The next row or line that the search found", Group.LIST, 3),
    Action("previous_hit", ("N",), "hit before", "The one before", Group.LIST),
    Action("faults", ("f",), "faults only", "Only rows that need attention, or all again", Group.LIST, 7),
    Action("mark", ("space",), "mark", "Mark the row; a taint then is planned for all marked ones", Group.LIST, 7),
    Action(
        "fold",
        ("space",),
        "fold",
        "Fold what is below the line, or its group, or unfold it; ← → do so too",
        Group.LIST,
        4,
    ),
    Action("fold_all", ("Z",), "fold all", "Fold everything, or unfold it", Group.LIST, 7),
    Action("sort", ("s",), "sort", "Sort by the next column", Group.LIST, footer=8, command="sort", takes="[COLUMN]"),
    Action("reverse", ("S",), "reverse", "Reverse the order", Group.LIST),
    Action(
        "columns", ("W",), "columns", "Choose which attributes are columns; the choice is remembered", Group.LIST, 8
    ),
    Action(
        "save",
        ("ctrl+s",),
        "save",
        "Save the table as .csv, .json or .md",
        Group.LIST,
        0,
        "save",
        "[FILE]",
    ),
    Action(
        "copy_table",
        ("Y",),
        "copy table",
        "Copy the table as Markdown, CSV or JSON",
        Group.LIST,
        0,
        "copytable",
        "[FORMAT]",
    ),
    Action("all_namespaces", ("0",), "all ns", "All namespaces", Group.LIST),
    Action(
        "namespace",
        ("n",),
        "namespace",
        "Only one namespace, from a list",
        Group.LIST,
        9,
        "ns",
        takes="[NAMESPACE]",
        general=True,
    ),
    Action(
        "load",
        ("f2", "ctrl+o"),
        "load",
        "Load a selector: of a claim, template or class, tried or kept",
        Group.LAB,
        2,
        anywhere=True,
    ),
    Action(
        "scope", ("f3", "ctrl+l"), "class", "Try it behind the next DeviceClass, or alone", Group.LAB, 3, anywhere=True
    ),
    Action("copy_yaml", ("f4",), "copy yaml", "Copy the selector as a request in YAML", Group.LAB, 4, anywhere=True),
    Action("outcomes", ("f7",), "devices", "Device by device: matches, fails, or why not", Group.LAB, 3, anywhere=True),
    Action("would_get", ("ctrl+g",), "would get", "What a claim with it would get now", Group.LAB, 4, anywhere=True),
    Action("copy_command", ("f9",), "copy command", "Copy as a test-selector command", Group.LAB, 7, anywhere=True),
    Action("editor", ("f6",), "$EDITOR", "The selector in $EDITOR", Group.LAB, 7, anywhere=True),
    Action("keep", (), "keep", "Keep the selector under a name", Group.LAB, 0, "keep", "NAME"),
    Action(
        "earlier",
        ("f8",),
        "earlier",
        "The selector that was here before another was loaded",
        Group.LAB,
        6,
        anywhere=True,
    ),
    Action("accept", ("tab",), "complete", "Take the completion", Group.LAB, 1, anywhere=True),
    Action("turn", ("ctrl+n",), "next one", "The next completion", Group.LAB, 5, anywhere=True),
    Action("edit", ("e", "i"), "edit", "Back into the selector", Group.LAB, 2),
    Action(
        "shape",
        (),
        "shape",
        "Count pods with so many devices of a class, also of one model or that a selector matches",
        Group.GO,
        0,
        "shape",
        "[CLASS COUNT VALUE]",
    ),
    Action("more", ("plus",), "more devices", "One device more per pod", Group.LIST, 5),
    Action("fewer", ("underscore",), "fewer", "One device fewer per pod", Group.LIST, 6),
    Action(
        "top",
        (),
        "top",
        "Who uses how many devices, by namespaces, nodes, classes or pods",
        Group.GO,
        0,
        "top",
        "[BY]",
    ),
    Action("whatif", (), "what if", "Suppose a change, or none any more", Group.GO, 0, "whatif", "[SWITCH]"),
    Action(
        "taint",
        ("a",),
        "plan taint",
        "Plan a taint: KEY[=VALUE]:EFFECT on a device; KEY- removes it",
        Group.TAINT,
        5,
        command="taint",
        takes="[DEVICE TAINT]",
        general=True,
    ),
    Action("remove", ("ctrl+d", "delete"), "remove rule", "Plan the deletion of the rule", Group.TAINT, 4),
    Action("apply", ("A",), "apply", "Carry out the plan on the screen; asks first", Group.TAINT, 2),
    Action(
        "unlock",
        ("U",),
        "unlock",
        "Unlock writing to this cluster after a question, or lock it; another context is always locked",
        Group.TAINT,
        3,
        command="unlock",
        general=True,
    ),
    Action("next_part", ("tab",), "next part", "Focus the next part of the screen", Group.MOVE, 4, general=True),
    Action("command", ("colon",), "command", "Type a command", Group.PROGRAM, footer=8),
    Action("palette", ("ctrl+p",), "palette", "Find an action or an object by a few letters", Group.PROGRAM),
    Action("help", ("question_mark", "f1"), "help", "This list", Group.PROGRAM, footer=1, command="help"),
    Action(
        "unread",
        ("exclamation_mark",),
        "not read",
        "What could not be read, and who can permit it",
        Group.LOOK,
        2,
        "unread",
    ),
    Action("refresh", ("r", "f5"), "read again", "Read the cluster again now", Group.PROGRAM, command="refresh"),
    Action(
        "context",
        (),
        "context",
        "Another context of the kubeconfig, from a list",
        Group.PROGRAM,
        0,
        "ctx",
        takes="[CONTEXT]",
    ),
    Action("aliases", ("ctrl+a",), "aliases", "All words that : takes", Group.PROGRAM, command="aliases"),
    Action("pause", ("z",), "pause", "Hold the screen as it is, or go on", Group.PROGRAM, command="pause"),
    Action("log", (), "log", "The commands that were shown, copied or carried out", Group.PROGRAM, command="log"),
    Action("suspend", ("ctrl+z",), "suspend", "Back to the shell; fg returns", Group.PROGRAM),
    Action("theme", ("T",), "theme", "Dark or light", Group.PROGRAM, command="theme"),
    Action("quit", ("q",), "quit", "Leave", Group.PROGRAM, footer=10, command="quit"),
    Action("leave", ("ctrl+q",), "leave", "Leave at once, also while typing", Group.PROGRAM, anywhere=True),
    Action("interrupt", ("ctrl+c",), "end", "Leave at once with exit code 130", Group.PROGRAM, anywhere=True),
)
BY_ID: Final = {action.id: action for action in ACTIONS}
COMMANDS: Final = {action.command: action for action in ACTIONS if action.command}


@dataclass(frozen=True, slots=True)
class Movement:
    """A movement inside a list or a text: not offered as an action, but listed in help."""

    where: str
    keys: tuple[str, ...]
    help: str


MOVES: Final[tuple[Movement, ...]] = (
    Movement("up", ("up", "k"), "One line up"),
    Movement("down", ("down", "j"), "One line down"),
    Movement("page_up", ("pageup", "ctrl+b"), "One page up"),
    Movement("page_down", ("pagedown", "ctrl+f", "space"), "One page down"),
    Movement("left", ("left", "h"), "To the left, where columns are wider than the screen"),
    Movement("right", ("right", "l"), "To the right"),
    Movement("top", ("home", "g"), "To the top"),
    Movement("bottom", ("end", "G"), "To the bottom"),
)
# Keys that Textual itself has bindings for.
_TEXTUALS: Final = frozenset({"palette"})
# Keys that mean something else to what is typed into, and elsewhere have to be done before the next key comes.
_FIRST: Final = frozenset({"enter", "tab"})
# Keys that Textual gives a long name but that type something.
_PRINTABLE: Final = frozenset(
    {
        "slash",
        "colon",
        "question_mark",
        "minus",
        "space",
        "left_square_bracket",
        "right_square_bracket",
        "plus",
        "underscore",
        "exclamation_mark",
    }
)
_KEY_NAMES: Final = {
    "left_square_bracket": "[", "right_square_bracket": "]", "plus": "+", "underscore": "_",
    "exclamation_mark": "!", "ctrl+z": "^z", "slash": "/", "minus": "-", "colon": ":", "question_mark": "?",
    "escape": "esc", "pageup": "pgup", "pagedown": "pgdn",
}  # fmt: skip


def _types(key: str) -> bool:
    return len(key) == 1 or key in _PRINTABLE


def _refusable(key: str) -> bool:
    """Whether a key could do nothing: what moves moves something everywhere."""
    return key != "escape" and not any(key in move.keys for move in MOVES)


# Keys that do something only in some views, and move nothing in the others.
_REFUSED: Final = tuple(dict.fromkeys(key for action in ACTIONS for key in action.keys if _refusable(key)))


def bindings(moves: Iterable[Movement]) -> list[BindingType]:
    """Movements as Textual wants them; done before the next key comes, which may open what they went to."""
    return [
        Binding(",".join(move.keys), f"move('{move.where}')", move.help, show=False, priority=True) for move in moves
    ]


def app_bindings() -> list[BindingType]:
    """All actions as Textual wants them.

    Keys that type something are taken before any widget sees them, unless something is being typed into: so a prompt
    has the focus before the next key comes, however fast they come.
    """
    bound = [_binding(action, key) for action in ACTIONS if action.id not in _TEXTUALS for key in action.keys]
    return [*bound, *(Binding(key, f"refuse('{key}')", show=False, priority=_is_first(key)) for key in _REFUSED)]


def refused(key: str) -> Safe:
    """What is said of a key that does something elsewhere."""
    labels = Safe(", ").join(Safe(action.label) for action in ACTIONS if key in action.keys)
    return Safe(f"{key_name(key)} ({labels}) does nothing here; ? lists what does")


def _is_first(key: str) -> bool:
    """Whether a key is taken before any widget sees it."""
    return _types(key) or key == "enter"


def _binding(action: Action, key: str) -> BindingType:
    verb = "press" if _types(key) or (key in _FIRST and not action.anywhere) else "do"
    first = verb == "press" or action.anywhere or key == "escape"
    return Binding(key, f"{verb}('{action.id}')", action.label, show=False, priority=first)


def with_own_keys(offered: Iterable[Action]) -> list[Action]:
    """Actions that are offered together: of two with the same key it is the first one's, which also gets it."""
    taken: set[str] = set()
    found = []
    for action in offered:
        found.append(replace(action, keys=tuple(key for key in action.keys if key not in taken)))
        taken.update(action.keys)
    return found


def typing_key(action: Action) -> str:
    """The key that also works while something is being typed; empty if all its keys would be typed."""
    return next((key for key in action.keys if not _types(key)), "")


def key_name(key: str) -> str:
    return _KEY_NAMES.get(key, key)
