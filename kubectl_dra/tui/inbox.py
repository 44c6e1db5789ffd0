"""From the threads of a feed to the thread of the UI: the newest facts, the state of the connection, errors."""

from __future__ import annotations

import threading
from collections.abc import Callable

from kubectl_dra.tui.feed import FeedStatus, Loaded


class Inbox:
    """What one feed said since the UI's thread last looked; written from the feed's threads.

    Every feed has one of its own, so that what a former cluster still says is never taken for the present one's.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None
        self._status: FeedStatus | None = None
        self._error: BaseException | None = None

    def on_loaded(self, loaded: Loaded) -> None:
        """New facts; only the newest are kept."""
        with self._lock:
            self._loaded = loaded
        self._wake()

    def on_status(self, status: FeedStatus) -> None:
        with self._lock:
            self._status = status
        self._wake()

    def on_crash(self, error: BaseException) -> None:
        """The feed met an error of the program."""
        with self._lock:
            self._error = error
        self._wake()

    def take(self) -> tuple[Loaded | None, FeedStatus | None]:
        """Everything since the last time. Raises what the feed met."""
        with self._lock:
            if self._error is not None:
                raise self._error
            taken = self._loaded, self._status
            self._loaded = self._status = None
            return taken

    @property
    def is_empty(self) -> bool:
        return self._loaded is None and self._status is None
