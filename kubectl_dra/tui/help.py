"""Help: every key and command, made from the registry of actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from kubectl_dra.output.layout import padded, width, wrapped
from kubectl_dra.output.safe import Safe, Style, styled
from kubectl_dra.tui.actions import ACTIONS, MOVES, Group, key_name
from kubectl_dra.tui.views.reader import ReportView

_KEYS: Final = 17
_COMMAND: Final = 24
_TWO_FROM: Final = 130
_LEFT: Final = (Group.MOVE, Group.GO)
_RIGHT: Final = (Group.LOOK, Group.LIST, Group.LAB, Group.PROGRAM)


class HelpView(ReportView):
    """The list; two columns where there is room."""

    crumb = Safe("help")

    def lines(self) -> Sequence[Safe]:
        """All groups."""
        columns = self.dra.size.width
        if columns < _TWO_FROM:
            return _lines(tuple(Group), columns)
        half = columns // 2
        left, right = _lines(_LEFT, half - 2), _lines(_RIGHT, half - 2)
        return [padded(a, half) + b for a, b in zip_longest(left, right, fillvalue=Safe(""))]

    def on_resize(self) -> None:
        """One column or two."""
        self.show()


def _lines(groups: Sequence[Group], columns: int) -> list[Safe]:
    return [line for group in groups for line in [*_block(group, columns), Safe("")]]


def _block(group: Group, columns: int) -> Iterator[Safe]:
    yield styled(Safe(group.value), Style.BOLD)
    if group is Group.MOVE:
        for move in MOVES:
            yield from _entry(move.keys, "", move.help, columns)
    for action in ACTIONS:
        if action.group is group:
            command = f":{action.command} {action.takes}".strip() if action.command else ""
            yield from _entry(action.keys, command, action.help, columns)
    if group is Group.LIST:
        yield from _entry((), "", "A filter that reads device… is CEL: it shows the devices that match", columns)


def _entry(keys: Sequence[str], command: str, text: str, columns: int) -> Iterator[Safe]:
    """Keys, the command, what it does; without a command the text begins further left."""
    names = Safe(" ").join(styled(Safe(key_name(key)), Style.NAME) for key in keys)
    head = Safe("  ") + padded(names, _KEYS) + Safe(" ")
    if command:
        head += padded(styled(Safe(command), Style.WARN), _COMMAND) + Safe(" ")
    lines = wrapped(Safe(text), columns, indent=width(head))
    yield head + Safe(lines[0][width(head) :])
    yield from lines[1:]
