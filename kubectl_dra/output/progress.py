"""A line on stderr that says what takes so long: only on a terminal, after two seconds, and gone before anything else.

One thread shows it, so that whoever works only says now and then what it does. Nothing is shown once an answer goes to
a terminal: the answer is the progress then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from kubectl_dra.output.safe import safe

if TYPE_CHECKING:
    import threading

PATIENCE_SECONDS: Final = 2.0
INTERVAL_SECONDS: Final = 0.5
_ERASE: Final = b"\r\x1b[K"
_WIDTH: Final = 80
# A terminal that takes no more must not keep anybody from leaving.
_MOMENT_SECONDS: Final = 0.2


class Progress:
    """What is shown at the moment. All methods may be called whether anything is shown or not."""

    def __init__(self, patience: float = PATIENCE_SECONDS, interval: float = INTERVAL_SECONDS) -> None:
        self._patience = patience
        self._interval = interval
        self._descriptor = -1
        self._lock: threading.RLock | None = None
        self._closed: threading.Event | None = None
        self._what = ""
        self._share: float | None = None
        self._since = 0
        self._shown = False

    def begin(self, stream: TextIO) -> None:
        """From now on show what is said, if ``stream`` is a terminal."""
        if self._closed is not None or not stream.isatty():
            return
        import threading  # help and errors need none

        self._descriptor = stream.fileno()
        self._lock, self._closed = threading.RLock(), threading.Event()
        threading.Thread(target=self._run, name="progress", args=(self._closed, self._lock), daemon=True).start()

    def say(self, what: str, share: float | None = None) -> None:
        """What is going on, and how much of it is done (0 to 1) if that is known."""
        if what != self._what:
            self._what, self._since = what, 0
        self._share = share

    def end(self) -> None:
        if self._closed is not None:
            with self.aside():
                self._closed.set()
        self._closed = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Nothing is shown within, so that something else can be written."""
        if self._lock is None:
            yield
            return
        with self._lock:
            self._put(self.leftover())
            self._shown = False
            yield

    def leftover(self) -> bytes:
        """What removes the line that is shown."""
        return _ERASE if self._shown else b""

    def leave(self) -> bytes:
        """The same, for a process that ends now: a line that is being written is waited for, none comes after it."""
        if self._lock is not None:
            self._lock.acquire(timeout=_MOMENT_SECONDS)
        return self.leftover()

    def _run(self, closed: threading.Event, lock: threading.RLock) -> None:
        pause = self._patience
        while not closed.wait(pause):
            pause = self._interval
            with lock:
                if not closed.is_set() and self._what:
                    self._put(_ERASE + self._line())
                    self._shown = True
                    self._since += 1

    def _line(self) -> bytes:
        if self._share is None:
            amount = f"{self._patience + self._since * self._interval:.0f} s"
        else:
            amount = f"{self._share:.0%}"
        try:
            columns = os.get_terminal_size(self._descriptor).columns
        except OSError:
            columns = _WIDTH
        what = safe(self._what).encode("ascii", "backslashreplace")
        # The last column stays free: some terminals would break the line.
        return what[: max((columns or _WIDTH) - len(amount) - 6, 0)] + f" ... {amount}".encode("ascii")

    def _put(self, data: bytes) -> None:
        if data:
            try:
                os.write(self._descriptor, data)
            except OSError:
                # A terminal that is gone needs no progress.
                self._what = ""


PROGRESS: Final = Progress()
