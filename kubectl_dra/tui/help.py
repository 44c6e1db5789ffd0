"""Help: every key and command, made from the registry of actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from kubectl_dra.output.layout import padded, width, wrapped
from kubectl_dra.output.safe import Safe, Style, styled
from kubectl_dra.tui.actions import ACTIONS, MOVES, Group, key_name
from kubectl_dra.tui.views.reader import ReportView

_TWO_FROM: Final = 130
_LEFT: Final = (Group.MOVE, Group.GO, Group.LOOK)
_RIGHT: Final = (Group.LIST, Group.LAB, Group.TAINT, Group.PROGRAM)


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


@dataclass(frozen=True, slots=True)
class _Entry:
    keys: Safe
    command: Safe
    help: str


def _block(group: Group, columns: int) -> Iterator[Safe]:
    """A group: keys, commands and what they do, each in its own column."""
    entries = list(_entries(group))
    keys, commands = (max(map(width, texts)) for texts in zip(*((e.keys, e.command) for e in entries), strict=True))
    yield styled(Safe(group.value), Style.BOLD)
    for entry in entries:
        head = Safe("  ") + padded(entry.keys, keys) + Safe("  ")
        if commands:
            head += padded(entry.command, commands) + Safe("  ")
        lines = wrapped(Safe(entry.help), columns, indent=width(head))
        yield head + Safe(lines[0][width(head) :])
        yield from lines[1:]


def _entries(group: Group) -> Iterator[_Entry]:
    if group is Group.MOVE:
        yield from (_Entry(_names(move.keys), Safe(""), move.help) for move in MOVES)
    for action in ACTIONS:
        if action.group is group:
            command = f":{action.command} {action.takes}".strip() if action.command else ""
            yield _Entry(_names(action.keys), styled(Safe(command), Style.WARN), action.help)
    if group is Group.LIST:
        yield _Entry(Safe(""), Safe(""), "A filter that reads device… is CEL: it shows the devices that match")


def _names(keys: Sequence[str]) -> Safe:
    return Safe(" ").join(styled(Safe(key_name(key)), Style.NAME) for key in keys)
