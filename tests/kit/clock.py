"""The time that tests give to what has no time of its own: documents without reads, facts made in a test."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from kubectl_dra.model.clock import FixedClock

#: Ages that goldens and docs/fields.md hold are counted from it.
CLOCK: Final = FixedClock(datetime(2026, 11, 21, 12, tzinfo=UTC))
