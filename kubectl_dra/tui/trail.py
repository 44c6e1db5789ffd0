"""The views that were seen, in order, over all tabs: back and forward as in a browser."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubectl_dra.tui.view import View

    Place = tuple[str, View]

_LONGEST: Final = 100


class Trail:
    """Places are a tab and a view in it; closed ones are forgotten, with all that they showed."""

    def __init__(self) -> None:
        self._seen: list[Place] = []
        self._at = -1
        self._moving = False

    def __contains__(self, view: View) -> bool:
        return any(seen is view for _, seen in self._seen)

    def saw(self, place: Place) -> None:
        """A view came to the front; what lay ahead is forgotten, unless that was a step on the trail itself."""
        if self._moving:
            self._moving = False
            return
        if self._seen and self._at >= 0 and self._seen[self._at] == place:
            return
        self._seen = [*self._seen[: self._at + 1], place][-_LONGEST:]
        self._at = len(self._seen) - 1

    def forget(self, closed: Collection[View]) -> None:
        """Views were closed; what lay ahead of the one in front is forgotten with it."""
        behind, ahead = self._seen[: self._at + 1], self._seen[self._at + 1 :]
        if behind and behind[-1][1] in closed:
            ahead = []
        behind = [place for place in behind if place[1] not in closed]
        self._seen = behind + [place for place in ahead if place[1] not in closed]
        self._at = len(behind) - 1

    def move(self, step: int) -> Place | None:
        """The next place in a direction that is another one; None where there is none.

        What was opened from a place and closed again lay on the trail between that place and itself.
        """
        here = self._seen[self._at] if self._seen else None
        at = self._at + step
        while 0 <= at < len(self._seen):
            if self._seen[at] != here:
                self._at, self._moving = at, True
                return self._seen[at]
            at += step
        return None
