"""The clock: what tells the present time. It is made where the program begins and carried down from there.

Nothing else asks the computer for the date (a lint rule forbids it), so that an answer depends on what it is given:
the facts, and a clock. Pauses and deadlines are measured by ``time.monotonic``, which has no date.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol


class Clock(Protocol):
    """Tells the present time."""

    def now(self) -> datetime:
        """The present time, in UTC."""


class SystemClock:
    """The computer's clock."""

    def now(self) -> datetime:
        """What the computer takes for the present time, in UTC."""
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that stands still."""

    moment: datetime

    def now(self) -> datetime:
        """Always the same time."""
        return self.moment


#: The clock of a program that was given none. Only where a program begins is it a default.
SYSTEM: Final[Clock] = SystemClock()


def timestamp(clock: Clock) -> str:
    """The present time as the API writes times (RFC 3339): in UTC, to the second."""
    return clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
