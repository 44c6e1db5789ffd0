"""What the UI is started with, and the one thing that a user makes in it: a selector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kubectl_dra.model.clock import SYSTEM, Clock
from kubectl_dra.tui.feed import Feed
from kubectl_dra.tui.memory import Memory
from kubectl_dra.tui.on_demand import NOTHING_MORE, OnDemand
from kubectl_dra.tui.theme import DARK
from kubectl_dra.tui.writing import TaintWriter


def _nothing_more(_context: str) -> OnDemand:
    return NOTHING_MORE


def _no_writer(_context: str) -> TaintWriter:
    raise LookupError("no command brought what plans taints")


@dataclass(frozen=True)
class Settings:
    """What the command line says. ``connect`` opens a feed for a context (empty: the chosen one or the file).

    ``on_demand`` gives what reads for single pages in a context. ``contexts`` names those of the kubeconfig, none for
    files. ``writer`` plans and writes taints in a context. ``namespace`` is empty for all namespaces.
    ``inline``: in some lines below the shell's prompt. ``preview``: pages beside lists, None where there is room.
    ``memory`` is kept from one start to the next; ``problems`` of the user's settings, unescaped.
    """

    connect: Callable[[str], Feed]
    on_demand: Callable[[str], OnDemand] = _nothing_more
    contexts: Callable[[], Sequence[str]] = tuple
    writer: Callable[[str], TaintWriter] = _no_writer
    namespace: str = ""
    theme: str = DARK.name
    tab: str = "overview"
    expression: str = ""
    device_class: str | None = None
    inline: bool = False
    preview: bool | None = None
    memory: Memory = field(default_factory=Memory)
    problems: tuple[str, ...] = ()
    clock: Clock = SYSTEM


@dataclass
class Draft:
    """The selector that is being written, wherever the lab is; ``edited`` says whether it is in no object yet."""

    expression: str = ""
    device_class: str | None = None
    edited: bool = False

    def keep(self, expression: str, device_class: str | None) -> None:
        self.edited = self.edited or expression != self.expression
        self.expression, self.device_class = expression, device_class
