"""How much room there is: the three widths that all views are laid out for, decided here and nowhere else.

Textual puts ``-narrow`` or ``-split`` on the screen, for rules of CSS; views that make lines ask for :func:`room_of`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Room(IntEnum):
    """From how many columns on: one thing after the other, two panes, a preview beside every list."""

    NARROW = 0
    SPLIT = 110
    WIDE = 140


#: A preview that somebody has closed is not to come back with the width, so that its views decide about it.
BREAKPOINTS: Final[list[tuple[int, str]]] = [(Room.NARROW.value, "-narrow"), (Room.SPLIT.value, "-split")]
#: Tables of a page may be as wide as this; prose is hard to read beyond.
WIDEST_PAGE: Final = 120
_NARROWEST_PAGE: Final = 40


def room_of(columns: int) -> Room:
    return max(room for room in Room if columns >= room.value)


def page_columns(columns: int) -> int:
    """Columns of a page's text in a pane that has so many."""
    return max(_NARROWEST_PAGE, min(columns, WIDEST_PAGE))
