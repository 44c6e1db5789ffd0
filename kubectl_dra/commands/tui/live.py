"""The terminal UI's feed of a live cluster: what the watches publish, and whether the server still answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from kubectl_dra.commands.shared.cluster import features_of
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live.feed import FedState, Feed
from kubectl_dra.source.live.pulse import Pulse
from kubectl_dra.source.live.store import Store
from kubectl_dra.source.needs import Needs
from kubectl_dra.source.spec import Connection
from kubectl_dra.tui.feed import FeedStatus, Link, Listener, ThreadedFeed, with_hint

_BACK_OFF_SECONDS: Final = (1.0, 15.0)


class WatchedFeed(ThreadedFeed):
    """Follows a cluster until it is stopped; connects again by itself, with growing pauses."""

    live = True

    def __init__(self, title: str, connection: Connection, needs: Needs, gates: dict[str, bool]) -> None:
        super().__init__()
        self.title = title
        self._connection = connection
        self._needs = needs
        self._gates = gates
        self._lock = threading.Lock()
        self._pause = _BACK_OFF_SECONDS[0]
        self._proof = time.monotonic()
        self._trouble: tuple[float, str] | None = None
        self._silence: tuple[float, str] | None = None
        self._has_data = False
        self._heard: Store | None = None

    # --- the connection ---------------------------------------------------------------------------------------------

    def _go_round(self, listener: Listener) -> None:
        if self._follow(listener):
            self._pause = _BACK_OFF_SECONDS[0]
        else:
            self._due.wait(self._pause)
            self._pause = min(self._pause * 2, _BACK_OFF_SECONDS[1])

    def _follow(self, listener: Listener) -> bool:
        """One feed until somebody wants another one; False if there was no connection."""
        feed = Feed(self._connection, self._needs, self._taker(listener), listener.on_crash, self._heard)
        # The feed lets go of it once it has read everything.
        self._heard = None
        pulse = Pulse(self._connection, lambda problem: self._answered(problem, listener, feed))
        try:
            try:
                feed.start()
            except ClusterError as error:
                link = Link.RECONNECTING if self._has_data else Link.FAILED
                listener.on_status(FeedStatus(link, time.monotonic(), with_hint(error.what, error.hint)))
                return False
            pulse.start()
            self._due.wait()
            return True
        finally:
            pulse.close()
            feed.close()
            self._heard = feed.heard

    def _taker(self, listener: Listener) -> Callable[[FedState], None]:
        last: FedState | None = None

        def take(published: FedState) -> None:
            nonlocal last
            if self._stopped:
                return
            try:
                features = features_of(published.inventory, published.evidence, self._gates)
            except UsageProblem as problem:
                listener.on_status(FeedStatus(Link.FAILED, time.monotonic(), problem.message))
                return
            if last is None or published.evidence is not last.evidence or published.inventory is not last.inventory:
                listener.on_loaded((published.inventory, published.evidence, features))
            last = published
            with self._lock:
                self._has_data = True
                self._proof = max(self._proof, published.heard)
                first = min(published.troubles, key=lambda trouble: trouble.since, default=None)
                self._trouble = (first.since, with_hint(first.what, first.hint)) if first is not None else None
                listener.on_status(self._status())

        return take

    def _answered(self, problem: ClusterError | None, listener: Listener, feed: Feed) -> None:
        with self._lock:
            now = time.monotonic()
            if problem is None:
                if self._silence is not None:
                    # What failed meanwhile is not kept waiting.
                    feed.wake()
                self._proof, self._silence = now, None
            else:
                since = self._silence[0] if self._silence is not None else self._proof
                self._silence = since, with_hint(problem.what, problem.hint)
            if self._has_data and not self._stopped:
                listener.on_status(self._status())

    def _status(self) -> FeedStatus:
        """Something that is wrong counts before any proof of life."""
        wrong = self._trouble or self._silence
        return FeedStatus(Link.RECONNECTING, *wrong) if wrong is not None else FeedStatus(Link.LIVE, self._proof)
