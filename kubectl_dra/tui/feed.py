"""Where the UI's facts come from: a feed publishes what was read and says how it is connected.

A feed for a live cluster that watches publishes anew whenever something changed; :class:`RereadFeed`
reads everything again when it is asked to, or at an interval. Both look the same from here.

From the threads of a feed to the thread of the UI: the newest facts, the state of the connection, errors.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.source.errors import SourceError

Loaded = tuple[Inventory, Evidence, Features]


class Link(StrEnum):
    """How the data on the screen relates to the cluster."""

    READING = "reading"  # nothing has arrived yet
    LIVE = "live"  # changes arrive as they happen
    READ = "read"  # true when it was read
    RECONNECTING = "reconnecting"  # changes stopped arriving
    FAILED = "failed"  # the last attempt to read failed
    RECORDED = "recorded"  # a file: it will never change


@dataclass(frozen=True, slots=True)
class FeedStatus:
    """A state, since when (``time.monotonic``), and an unescaped text where something is wrong."""

    link: Link
    since: float
    text: str = ""


def with_hint(what: str, hint: str) -> str:
    """What is wrong and what to try, in one line; that ``r`` tries again is said beside it."""
    return f"{what} - try: {hint}" if hint not in ("", "try again") else what


class Listener(Protocol):
    """Who is told; called from the feed's own threads."""

    def on_loaded(self, loaded: Loaded) -> None:
        """New facts."""

    def on_status(self, status: FeedStatus) -> None:
        """The connection changed."""

    def on_crash(self, error: BaseException) -> None:
        """The feed met an error of the program."""


class Feed(Protocol):
    """A source of moments. ``title`` names it unescaped (``ctx prod-eu``, ``demo``), ``live`` unless it is a file."""

    title: str
    live: bool

    def start(self, listener: Listener) -> None:
        """Begin to publish; returns at once."""

    def refresh(self) -> None:
        """Make sure that the next facts are newer than now."""

    def stop(self) -> None:
        """End; nothing is published afterwards."""


class ThreadedFeed:
    """A feed with a thread of its own, which goes round until it is stopped."""

    def __init__(self) -> None:
        self._due = threading.Event()
        self._stopped = False

    def start(self, listener: Listener) -> None:
        threading.Thread(target=self._run, args=(listener,), name="tui-feed", daemon=True).start()

    def refresh(self) -> None:
        self._due.set()

    def stop(self) -> None:
        self._stopped = True
        self._due.set()

    def _run(self, listener: Listener) -> None:
        try:
            while not self._stopped:
                self._due.clear()
                self._go_round(listener)
        except BaseException as error:
            # A thread has nobody to raise to; the listener ends the program with the error.
            listener.on_crash(error)

    @abstractmethod
    def _go_round(self, listener: Listener) -> None:
        """Read, and wait until it is to be done again."""


@dataclass
class RereadFeed(ThreadedFeed):
    """Reads everything in one thread of its own: at first, on demand, and every ``interval`` seconds if there is one.

    ``load`` raises :class:`SourceError` for what a user can fix; then what was read last stays. ``first`` is what was
    read already.
    """

    title: str
    live: bool
    load: Callable[[], Loaded]
    interval: float | None = None
    first: Loaded | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__init__()

    def _go_round(self, listener: Listener) -> None:
        self._read(listener)
        self._due.wait(self.interval)

    def _read(self, listener: Listener) -> None:
        started = time.monotonic()
        try:
            loaded, self.first = self.first or self.load(), None
        except SourceError as error:
            status = FeedStatus(Link.FAILED, time.monotonic(), with_hint(error.what, error.hint))
        else:
            status = FeedStatus(Link.READ if self.live else Link.RECORDED, started)
            if not self._stopped:
                listener.on_loaded(loaded)
        if not self._stopped:
            listener.on_status(status)


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
