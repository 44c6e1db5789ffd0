"""A cluster that changes, followed through a proxy that fails: in the end the Store is what a fresh list says."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kubectl_dra.model.inventory import Inventory
from kubectl_dra.source.live import Needs, read
from kubectl_dra.source.live.feed import FedState, Feed
from kubectl_dra.source.spec import Connection
from tests.faults.churn import Churn
from tests.kit.faulty_proxy import Fault, Faults

NEEDS = Needs(frozenset({"Node", "Pod", "ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule"}))
_FIELDS = ("nodes", "pods", "usage", "claims", "slices", "classes", "taint_rules")


@dataclass
class Outcome:
    """What a run saw."""

    seconds: float = 0.0
    settled: float = 0.0
    publications: int = 0
    troubled: int = 0
    requests: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    objects: int = 0


class Follower:
    """The newest publication of a feed."""

    def __init__(self, connection: Connection, needs: Needs = NEEDS) -> None:
        self.last: FedState | None = None
        self.publications = self.troubled = 0
        self.errors: list[BaseException] = []
        self._news = threading.Condition()
        self._feed = Feed(connection, needs, self._take, self.errors.append)

    def start(self) -> None:
        """Connect, however often that fails."""
        from kubectl_dra.source.errors import ClusterError

        for _ in range(50):
            try:
                self._feed.start()
                return
            except ClusterError:
                time.sleep(0.2)
        raise AssertionError("no connection in 50 attempts")

    def pauses(self, thread: str) -> list[float]:
        """Seconds, one after the other, that the thread of this name waits from now on before it goes on."""
        closed, waited = self._feed._closed, []
        wait = closed.wait

        def waiting(seconds: float | None = None) -> bool:
            if threading.current_thread().name == thread:
                waited.append(seconds or 0.0)
            return wait(seconds)

        closed.wait = waiting  # type: ignore[method-assign]
        return waited

    def close(self) -> None:
        """End."""
        self._feed.close()

    def _take(self, published: FedState) -> None:
        with self._news:
            self.last = published
            self.publications += 1
            self.troubled += bool(published.troubles)
            self._news.notify_all()


def differences(seen: Inventory, truth: Inventory) -> list[str]:
    """What one has and the other has not, or has otherwise."""
    found = []
    for name in _FIELDS:
        ours, theirs = getattr(seen, name), getattr(truth, name)
        found += [f"invented {name} {key}" for key in ours if key not in theirs]
        found += [f"lost {name} {key}" for key in theirs if key not in ours]
        found += [f"old {name} {key}" for key in ours if key in theirs and not _same(ours[key], theirs[key])]
    return found


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)


def run(
    faulty: Connection, direct: Connection, faults: Faults, churn: Churn, seconds: float, patience: float = 180
) -> Outcome:
    """Follow for ``seconds``; AssertionError when the Store does not become a fresh list within ``patience``."""
    follower = Follower(faulty)
    began = time.monotonic()
    churn.start()
    try:
        follower.start()
        while time.monotonic() - began < seconds:
            time.sleep(0.2)
            assert not follower.errors, follower.errors
            assert not churn.errors, churn.errors
        churn.stop()
        stopped = time.monotonic()
        while found := _differences(follower, direct):
            assert time.monotonic() - stopped < patience, f"seed {faults.seed}, rate {faults.rate}: {found[:20]}"
            time.sleep(0.2)
        settled = time.monotonic() - stopped
        assert follower.last is not None
        objects = sum(len(getattr(follower.last.inventory, name)) for name in _FIELDS)
    finally:
        churn.stop()
        follower.close()
    return Outcome(
        time.monotonic() - began,
        settled,
        follower.publications,
        follower.troubled,
        len(faults.calls),
        Counter(faults.counts),
        Counter(churn.done),
        objects,
    )


def _differences(follower: Follower, direct: Connection) -> list[str]:
    truth, _ = read(direct, NEEDS)
    if follower.last is None or not follower.last.whole:
        return ["nothing whole was published"]
    return differences(follower.last.inventory, truth)


def impatient(monkeypatch: Any) -> None:
    """Time-outs and pauses of seconds instead of minutes, so that a short run sees many of them."""
    from kubectl_dra.source.live import session, watch

    monkeypatch.setattr(watch, "IDLE_SECONDS", 2.5)
    monkeypatch.setattr(watch, "_BACK_OFF_SECONDS", (0.05, 1.0))
    monkeypatch.setattr(session, "READ_SECONDS", 2.5)


__all__ = ["NEEDS", "Follower", "Outcome", "differences", "impatient", "run"]
