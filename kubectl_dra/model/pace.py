"""Pace: how long to rest after work that repeats, so that it takes no more than its share of the time."""

from __future__ import annotations

import math
import time
from typing import Final

#: Rest per second of work: what is on the screen may take a quarter of the processor, what is behind it a tenth, the
#: order of a list a third. A terminal that follows a cluster leaves it three quarters, for ten seconds at most.
SHOWN: Final = 3.0
BEHIND: Final = 9.0
LISTS: Final = 2.0
LONGEST: Final = 10.0


class Pace:
    """When work of one sort may be done again. ``rest``: seconds per second that it took, ``longest`` at most."""

    def __init__(self, rest: float, longest: float = math.inf) -> None:
        self._rest = rest
        self._longest = longest
        #: By ``time.monotonic``.
        self.due = 0.0

    def worked(self, seconds: float) -> None:
        """Work was done just now that took so long."""
        self.wait(self.rest_after(seconds))

    def rest_after(self, seconds: float) -> float:
        """How long to rest after work that took so long."""
        return min(self._longest, self._rest * seconds)

    def wait(self, seconds: float) -> None:
        """Rest for so long at least."""
        self.due = max(self.due, time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """How long to rest still, in seconds; not more than 0 if it is time."""
        return self.due - time.monotonic()
