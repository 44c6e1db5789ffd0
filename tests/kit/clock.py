"""Clocks for tests: one that stands still, and one on which time passes only while somebody sleeps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class FixedClock:
    """Stands still; who sleeps by it would never wake up."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError(f"{seconds} s of sleep in a test that has no time for it")


class PassingClock:
    """Time passes from ``start`` on while somebody sleeps, and takes none."""

    def __init__(self, start: datetime | None = None) -> None:
        self.start = start or CLOCK.moment
        self.slept = 0.0

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.slept)

    def monotonic(self) -> float:
        return self.slept

    def sleep(self, seconds: float) -> None:
        self.slept += seconds


#: The time that tests give to what has no time of its own: documents without reads, facts made in a test. Ages that
#: goldens and docs/fields.md hold are counted from it. No object of the demo cluster is younger.
CLOCK: Final = FixedClock(datetime(2026, 11, 21, 13, tzinfo=UTC))
