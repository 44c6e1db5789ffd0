"""The levels of the search, and what is left on its stack to come back to.

Upstream recurses; a frame here is what one of its calls would still have to do when those below it find nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kubectl_dra.allocation.requests import Request
    from kubectl_dra.allocation.search import Search


class Level(NamedTuple):
    """One entry into the search: option is None while no alternative of ``firstAvailable`` is chosen."""

    claim: int
    request: int
    option: int | None
    device: int
    start: int


class DeadEnd:
    """Why a level has no solution; ``TOO_MANY`` also skips the siblings of the device chosen last."""


class Found:
    """All claims have their devices."""


ROOT: Final = Level(0, 0, None, 0, 0)
FAILED: Final = DeadEnd()
TOO_MANY: Final = DeadEnd()
FOUND: Final = Found()


class Frame(ABC):
    """A level to come back to. ``after`` says how the search goes on when what follows it is a dead end."""

    __slots__ = ("search",)

    def __init__(self, search: Search) -> None:
        self.search = search

    @abstractmethod
    def after(self, end: DeadEnd) -> Level | DeadEnd:
        """Go on with the next possibility, or leave the stack with a dead end of its own."""


class ClaimEnd(Frame):
    """Too many devices in a later claim are a plain failure here: other choices may leave room there."""

    __slots__ = ()

    def after(self, end: DeadEnd) -> DeadEnd:
        """Fail."""
        self.search.leave()
        return FAILED


class Alternatives(Frame):
    """The subrequests of ``firstAvailable``, tried in order."""

    __slots__ = ("exceeded", "level", "option", "options")

    def __init__(self, search: Search, level: Level, options: int) -> None:
        super().__init__(search)
        self.level = level
        self.option = 0
        self.options = options
        self.exceeded = True

    def after(self, end: DeadEnd) -> Level | DeadEnd:
        """Try the next one; that all were too many is told upwards."""
        if end is FAILED:
            self.exceeded = False
        self.option += 1
        if self.option < self.options:
            return Level(self.level.claim, self.level.request, self.option, 0, 0)
        self.search.leave()
        return TOO_MANY if self.exceeded else FAILED


class Forced(Frame):
    """A device of an ``All`` request: there is no other choice."""

    __slots__ = ()

    def after(self, end: DeadEnd) -> DeadEnd:
        """Give the device back."""
        self.search.take_back()
        self.search.leave()
        return end


class Pick(Frame):
    """One device of an ``ExactCount`` request: the candidates in order."""

    __slots__ = ("level", "position", "request")

    def __init__(self, search: Search, level: Level, request: Request) -> None:
        super().__init__(search)
        self.level = level
        self.request = request
        self.position = 0

    def advance(self, start: int) -> Level | DeadEnd:
        """Place the next acceptable candidate from ``start`` on."""
        position = self.search.pick(self.request, start)
        if position is None:
            self.search.leave()
            return FAILED
        self.position = position
        claim, request, option, device, _ = self.level
        return Level(claim, request, option, device + 1, self.search.next_position(position))

    def after(self, end: DeadEnd) -> Level | DeadEnd:
        """Give the device back and try those behind it."""
        self.search.take_back()
        if end is TOO_MANY:
            self.search.leave()
            return end
        return self.advance(self.position + 1)
