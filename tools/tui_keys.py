"""The keys and commands of the terminal UI in docs/tui.md, from the registry: ``python tools/tui_keys.py``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from kubectl_dra.tui.actions import ACTIONS, MOVES, Action, Group, key_name

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tui.md"
_BEGIN, _END = "<!-- keys -->\n", "<!-- /keys -->\n"


def tables() -> str:
    """A table for each group."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    for group in Group:
        yield from (f"### {group.value}", "", "| keys | command | what it does |", "|---|---|---|")
        if group is Group.MOVE:
            yield from (f"| {_keys(move.keys)} | | {move.help} |" for move in MOVES)
        yield from (f"| {_keys(a.keys)} | {_command(a)} | {_cell(a.help)} |" for a in ACTIONS if a.group is group)
        yield ""


def _keys(keys: tuple[str, ...]) -> str:
    return " ".join(f"`{key_name(key)}`" for key in keys)


def _command(action: Action) -> str:
    return f"`{f':{action.command} {action.takes}'.strip()}`" if action.command else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page(text: str) -> str:
    """The page with the present tables."""
    before, _, rest = text.partition(_BEGIN)
    return before + _BEGIN + tables() + _END + rest.partition(_END)[2]


def main() -> int:
    """Write it."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
