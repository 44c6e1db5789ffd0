"""The one worker: computes the records that views want, one after another, and cancels what newer facts overtake.

The unit of work is a topic (one table, one pod). A newer state never interrupts a topic, but what is on the screen is
computed from it next, and each second turn goes to the topic that has waited longest, so that nothing starves while
facts change faster than they can be thought through.

What is shown for the first time is computed at once. What is only refreshed is paced by its own cost, so that keys find
the processor free: what is on the screen may take a quarter of it, the rest a tenth.
"""

from __future__ import annotations

import math
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.workloads import ReadOwner
from kubectl_dra.model.pace import BEHIND, SHOWN, Pace

RecordT = TypeVar("RecordT")
RecordT_co = TypeVar("RecordT_co", covariant=True)


class Topic(Hashable, Protocol[RecordT_co]):
    """Something that a view shows; equal topics have equal records of the same state of the cluster."""

    @abstractmethod
    def compute(self, cluster: ClusterState) -> RecordT_co:
        """The record, in the worker's thread."""


@runtime_checkable
class TopicOfOwners(Protocol):
    """A topic for which owners of pods are read that no watch follows: a cluster has more than anybody asks about."""

    def compute_with(self, cluster: ClusterState, read_owner: ReadOwner | None) -> object:
        """The record, in the worker's thread."""


@dataclass(frozen=True, slots=True)
class Result(Generic[RecordT]):
    """A record and the state of the cluster that it is about."""

    cluster: ClusterState
    record: RecordT


class Desk:
    """Holds results by topic. ``wake`` is called from the worker's thread when there is something new, or an error."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.error: BaseException | None = None
        #: Reads owners of pods, in the worker's thread; None where facts come from a file.
        self.read_owner: ReadOwner | None = None
        self._wake = wake
        self._changed = threading.Condition()
        #: Grows with every result.
        self.version = 0
        self._cluster: ClusterState | None = None
        # What is behind the screen is computed from one state, until all of it is of this state.
        self._behind: ClusterState | None = None
        self._pace, self._pace_behind = Pace(SHOWN), Pace(BEHIND)
        self._urgent: tuple[Topic[object], ...] = ()
        self._others: tuple[Topic[object], ...] = ()
        self._results: dict[Topic[object], Result[object]] = {}
        self._stopped = False
        self._working = False
        self._turn = 0

    def start(self) -> None:
        """Begin to work."""
        threading.Thread(target=self._run, name="tui-desk", daemon=True).start()

    def stop(self) -> None:
        """Take up nothing more."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def show(self, cluster: ClusterState | None) -> None:
        """From now on compute from ``cluster``; None forgets everything (another cluster)."""
        with self._changed:
            if cluster is None:
                self._results.clear()
                self._behind = None
            self._cluster = cluster
            self._changed.notify()

    def want(self, urgent: Iterable[Topic[object]], others: Iterable[Topic[object]] = ()) -> None:
        """What is on the screen, and what else is kept up to date; the results of other topics are dropped."""
        with self._changed:
            self._urgent = tuple(dict.fromkeys(urgent))
            self._others = tuple(topic for topic in dict.fromkeys(others) if topic not in self._urgent)
            wanted = {*self._urgent, *self._others}
            for topic in [topic for topic in self._results if topic not in wanted]:
                del self._results[topic]
            self._changed.notify()

    def result(self, topic: Topic[RecordT]) -> Result[RecordT] | None:
        """The newest result; None while there is none."""
        return self._results.get(topic)  # type: ignore[return-value]

    def record(self, topic: Topic[RecordT]) -> RecordT | None:
        """The newest record; None while there is none."""
        found = self.result(topic)
        return None if found is None else found.record

    @property
    def has_all(self) -> bool:
        """Whether there is a result of everything wanted, however old."""
        with self._changed:
            return bool(self._results) and all(topic in self._results for topic in (*self._urgent, *self._others))

    @property
    def idle(self) -> bool:
        """Whether everything wanted is up to date, and was announced."""
        with self._changed:
            return self._cluster is not None and not self._working and self._next() is None

    def _run(self) -> None:
        try:
            while (job := self._job()) is not None:
                cluster, topic = job
                began = time.thread_time()
                record = self._record(topic, cluster)
                with self._changed:
                    if self._is_wanted(topic) and self._cluster is not None:
                        self._results[topic] = Result(cluster, record)
                        self.version += 1
                    self._rest(topic, time.thread_time() - began)
                del job, cluster, record
                self._wake()
        except BaseException as error:
            # A thread has nobody to raise to; the app ends the program with the error.
            self.error = error
            self._wake()

    def _record(self, topic: Topic[object], cluster: ClusterState) -> object:
        if isinstance(topic, TopicOfOwners):
            return topic.compute_with(cluster, self.read_owner)
        return topic.compute(cluster)

    def _rest(self, topic: Topic[object], took: float) -> None:
        if topic in self._urgent:
            self._pace.worked(took)
        else:
            self._pace.wait(took)
            self._pace_behind.worked(took)

    def _job(self) -> tuple[ClusterState, Topic[object]] | None:
        with self._changed:
            self._working = False
            while not self._stopped:
                found = self._next() if self._cluster is not None else None
                if found is None:
                    self._changed.wait()
                elif (pause := found[2] - time.monotonic()) > 0:
                    self._changed.wait(pause)
                else:
                    self._turn += 1
                    self._working = True
                    return found[0], found[1]
            return None

    def _next(self) -> tuple[ClusterState, Topic[object], float] | None:
        """What to compute next from which state, and not before when; what has no record yet comes first."""
        cluster = self._cluster
        if cluster is None:
            return None
        now, urgent, others = time.monotonic(), self._stale(self._urgent, cluster), self._stale(self._others, cluster)
        first = min(urgent, key=self._number, default=None)
        due = self._due_of(first, self._pace.due)
        other = min(others, key=self._number, default=None)
        other_due = self._due_of(other, self._pace_behind.due)
        is_new, turn_of_other = due == 0.0, self._turn % 2 and other_due <= now
        if first is not None and (is_new or (not turn_of_other and (due <= now or due <= other_due))):
            return cluster, first, due
        if other is None:
            return None
        if self._behind is None or self._number(other) >= self._behind.revision:
            self._behind = cluster
        return self._behind, other, other_due

    def _due_of(self, topic: Topic[object] | None, due: float) -> float:
        """When to compute a topic at the earliest: one without a record at once."""
        return math.inf if topic is None else due if topic in self._results else 0.0

    def _stale(self, topics: Iterable[Topic[object]], cluster: ClusterState) -> list[Topic[object]]:
        return [topic for topic in topics if self._number(topic) < cluster.revision]

    def _number(self, topic: Topic[object]) -> int:
        found = self._results.get(topic)
        return found.cluster.revision if found is not None else -1

    def _is_wanted(self, topic: Topic[object]) -> bool:
        return topic in self._urgent or topic in self._others
