"""What a line after ``:`` means: words of the registry, short ones of habit, and what the commands are called."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Final

from kubectl_dra.api.controllers import MAKERS
from kubectl_dra.api.kinds import POD, Kind, kind_for_word
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.tui.actions import COMMANDS, Action, Group

# Short words that people type from habit.
ALIASES: Final = {
    "q": "quit", "q!": "quit", "h": "help", "?": "help", "po": "pending", "pods": "pending", "pod": "pod",
    "resourceclaims": "claims", "resourceslices": "pools", "slices": "pools", "deviceclasses": "classes",
    "devicetaintrules": "taints",
    "explain": "reasons", "no": "nodes", "node": "nodes", "tree": "xray", "pg": "podgroups", "dc": "classes",
    "rc": "claims", "rs": "pools", "yank": "copytable",
    "w": "save", "dev": "devices", "selector": "lab", "namespace": "ns", "context": "ctx",
    "why-pending": "pending", "test-selector": "lab", "describe-pool": "pool", "describe-claim": "claim",
    "describe-node": "nodes", "taint-device": "taint", "simulate": "whatif",
}  # fmt: skip
# What commands call a page of one object, where the word alone is a list.
_PAGES: Final = {"why-pending": "pod"}
# Verbs of commands before the type: ":get claims", ":describe pool NAME".
_VERBS: Final = {"get": "", "describe": "describe-"}
#: What ``:whatif`` supposes, where its word alone can mean nothing else.
SUPPOSED: Final = frozenset({"add-node", "remove-node", "drain", "add-devices"})
#: Commands of the shell that read or write files.
_OF_THE_SHELL: Final = {
    "lint": "lint -f FILE",
    "convert": "convert -f FILE",
    "snapshot": "snapshot",
    "version": "version",
    "completion": "completion SHELL",
}
_ALL_NAMESPACES: Final = frozenset({"-A", "--all-namespaces", "all"})
_ONE_NAMESPACE: Final = ("-n", "--namespace")


def parsed(line: str) -> tuple[str, str]:
    """The word and the argument of what was typed after ``:``, which may be what the commands are called."""
    word, _, argument = line.strip().partition(" ")
    if word in SUPPOSED:
        return "whatif", line.strip()
    prefix = _VERBS.get(word)
    if prefix is not None and argument:
        of, _, argument = argument.strip().partition(" ")
        word = prefix + of if command_of(prefix + of) is not None else of
    return (_PAGES.get(word, word) if argument else word), argument.strip()


def command_of(word: str) -> Action | None:
    """The action behind a word after ``:``; a start that only one command has will do."""
    name = ALIASES.get(word, word)
    if name in COMMANDS:
        return COMMANDS[name]
    starting = [action for command, action in COMMANDS.items() if word and command.startswith(word)]
    # ":tai" goes to the taints: looking comes before changing.
    places = [action for action in starting if action.group is Group.GO]
    return next((found[0] for found in (starting, places) if len(found) == 1), None)


def unknown(word: str) -> Safe:
    """What is said of a word that is none."""
    known = _OF_THE_SHELL.get(word)
    if known is not None:
        return fmt("“{}” is a command of the shell: kubectl dra {}", word, known)
    return fmt("no command “{}”: ? lists them all", word)


def namespace_of(text: str, known: Container[str]) -> str | None:
    """The namespace that follows the word of a list, empty for all: ``ml``, ``-n ml``, ``-A``; None where none does."""
    if text in _ALL_NAMESPACES and text not in known:
        return ""
    option, _, name = text.replace("=", " ", 1).partition(" ")
    if option in _ONE_NAMESPACE and name.strip():
        return name.strip()
    return text if text in known else None


@dataclass(frozen=True, slots=True)
class TypedObject:
    """An object that was typed; ``namespace`` is empty where none was."""

    kind: Kind
    namespace: str
    name: str

    @property
    def text(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def object_of(text: str, namespaces: Container[str], default: Kind = POD) -> TypedObject:
    """``NAMESPACE/NAME`` as it is written here, or ``NAME``, ``TYPE/NAME`` and ``TYPE NAME``, with ``-n NAMESPACE``."""
    rest, namespace = _without_namespace(text.split())
    word, slash, name = rest[0].partition("/") if len(rest) == 1 else (rest[0] if rest else "", "", " ".join(rest[1:]))
    if not name:
        return TypedObject(default, namespace, word)
    kind = None if slash and word in namespaces and not namespace else kind_for_word(word, MAKERS)
    if kind is not None:
        return TypedObject(kind, namespace, name)
    return TypedObject(default, namespace or word, name) if slash else TypedObject(default, namespace, " ".join(rest))


def _without_namespace(words: list[str]) -> tuple[list[str], str]:
    rest, namespace = list[str](), ""
    left = iter(words)
    for word in left:
        option, equals, value = word.partition("=")
        if option in _ONE_NAMESPACE:
            namespace = value if equals else next(left, "")
        else:
            rest.append(word)
    return rest, namespace
