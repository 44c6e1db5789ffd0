"""Help: every key and command, made from the registry of actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from kubectl_dra.output.layout import padded, width
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.tui.actions import ACTIONS, MOVES, Group, key_name
from kubectl_dra.tui.text import clipped
from kubectl_dra.tui.views.reader import ReportView

_KEYS = 13
_COMMAND = 26
_TWO_FROM = 120


class HelpView(ReportView):
    """The list; two columns where there is room."""

    crumb = Safe("help")

    def lines(self) -> Sequence[Safe]:
        """All groups."""
        blocks = [list(_block(group)) for group in Group]
        room = self.dra.size.width - 4
        if self.dra.size.width < _TWO_FROM:
            return [line for block in blocks for line in [*block, Safe("")]]
        left = [line for block in blocks[:3] for line in [*block, Safe("")]]
        right = [line for block in blocks[3:] for line in [*block, Safe("")]]
        half = room // 2
        pairs = zip_longest(left, right, fillvalue=Safe(""))
        return [padded(clipped(a, half - 2), half) + clipped(b, room - half) for a, b in pairs]

    def on_resize(self) -> None:
        """One column or two."""
        self.show()


def _block(group: Group) -> Iterator[Safe]:
    yield styled(Safe(group.value), Style.BOLD)
    if group is Group.MOVE:
        for move in MOVES:
            yield _line(move.keys, "", move.help)
    for action in ACTIONS:
        if action.group is group:
            command = f":{action.command} {action.takes}".strip() if action.command else ""
            yield _line(action.keys, command, action.help)
    if group is Group.LIST:
        yield _line((), "", "A filter that reads device… is CEL, and shows the devices that match")


def _line(keys: Sequence[str], command: str, text: str) -> Safe:
    names = Safe(" ").join(styled(Safe(key_name(key)), Style.NAME) for key in keys)
    named = Safe("  ") + padded(names, max(_KEYS, width(names)))
    return named + padded(styled(Safe(command), Style.WARN), _COMMAND if command else 0) + fmt("{}", Safe(text))
