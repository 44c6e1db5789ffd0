"""The clock: what tells the present time, and lets some of it pass. Made where the program begins, and carried down.

Nothing else asks the computer for the date (a lint rule forbids it), so that an answer depends on what it is given:
the facts, and a clock. What only measures how long something takes may use ``time.monotonic``, which has no date.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final, Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present time, in UTC."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back, whatever is done to the date."""

    def sleep(self, seconds: float) -> None:
        """Come back after that many seconds."""


class SystemClock:
    def now(self) -> datetime:
        """What the computer takes for the present time, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Come back after that many seconds."""
        time.sleep(seconds)


#: The clock of a program that was given none. Only where a program begins is it a default.
SYSTEM: Final[Clock] = SystemClock()


def parse_time(text: str | None) -> datetime | None:
    """A time as the API writes it (RFC 3339), taken for UTC where it names no zone; None if absent or malformed."""
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def timestamp(clock: Clock) -> str:
    """The present time as the API writes times (RFC 3339): in UTC, to the second."""
    return clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
