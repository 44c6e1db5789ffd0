"""Pauses of the threads of a feed: until it is closed, their time is over, or the server answers again."""

from __future__ import annotations

import threading


class Pauses:
    """As an event that is set when the feed is closed, whose waits can be ended before."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._closed = False
        self._woken = 0

    def is_set(self) -> bool:
        return self._closed

    def set(self) -> None:
        """The feed is closed."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wake(self) -> None:
        with self._changed:
            self._woken += 1
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Pause; whether the feed is closed."""
        with self._changed:
            before = self._woken
            self._changed.wait_for(lambda: self._closed or self._woken != before, seconds)
            return self._closed
