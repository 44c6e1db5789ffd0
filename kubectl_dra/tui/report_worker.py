"""The one worker: computes the records that views want, one after another, and cancels what newer facts overtake.

The unit of work is a query (one table, one pod). A newer state never interrupts a query, but what is on the screen is
computed from it next, and each second turn goes to the query that has waited longest, so that nothing starves while
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
from kubectl_dra.model.pace import BEHIND, SHOWN, Pace
from kubectl_dra.tui.on_demand import NOTHING_MORE, OnDemand

RecordT = TypeVar("RecordT")
RecordT_co = TypeVar("RecordT_co", covariant=True)


class Query(Hashable, Protocol[RecordT_co]):
    """Something that a view shows; equal queries have equal records of the same state of the cluster."""

    @abstractmethod
    def compute(self, cluster: ClusterState) -> RecordT_co:
        """The record, in the worker's thread."""


@runtime_checkable
class ReadingQuery(Protocol):
    """A query for which more is read, which no watch follows: a cluster has more than anybody asks about."""

    def compute_with(self, cluster: ClusterState, reading: OnDemand) -> object:
        """The record, in the worker's thread."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[RecordT]):
    """A record and the state of the cluster that it is about."""

    cluster: ClusterState
    record: RecordT


class ReportWorker:
    """Holds answers by query. ``wake`` is called from the worker's thread when there is something new, or an error."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.error: BaseException | None = None
        self.on_demand = NOTHING_MORE
        self._wake = wake
        self._changed = threading.Condition()
        #: Grows with every answer.
        self.version = 0
        self._cluster: ClusterState | None = None
        # What is behind the screen is computed from one state, until all of it is of this state.
        self._behind: ClusterState | None = None
        self._pace, self._pace_behind = Pace(SHOWN), Pace(BEHIND)
        self._urgent: tuple[Query[object], ...] = ()
        self._others: tuple[Query[object], ...] = ()
        self._answers: dict[Query[object], Answer[object]] = {}
        self._stopped = False
        self._working = False
        self._turn = 0

    def start(self) -> None:
        threading.Thread(target=self._run, name="tui-worker", daemon=True).start()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def show(self, cluster: ClusterState | None) -> None:
        """From now on compute from ``cluster``; None forgets everything (another cluster)."""
        with self._changed:
            if cluster is None:
                self._answers.clear()
                self._behind = None
            self._cluster = cluster
            self._changed.notify()

    def want(self, urgent: Iterable[Query[object]], others: Iterable[Query[object]] = ()) -> None:
        """What is on the screen, and what else is kept up to date; the answers to other queries are dropped."""
        with self._changed:
            self._urgent = tuple(dict.fromkeys(urgent))
            self._others = tuple(query for query in dict.fromkeys(others) if query not in self._urgent)
            wanted = {*self._urgent, *self._others}
            for query in [query for query in self._answers if query not in wanted]:
                del self._answers[query]
            self._changed.notify()

    def answer(self, query: Query[RecordT]) -> Answer[RecordT] | None:
        """The newest answer; None while there is none."""
        return self._answers.get(query)  # type: ignore[return-value]

    def record(self, query: Query[RecordT]) -> RecordT | None:
        """The newest record; None while there is none."""
        found = self.answer(query)
        return None if found is None else found.record

    @property
    def has_all(self) -> bool:
        """Whether there is a result of everything wanted, however old."""
        with self._changed:
            return bool(self._answers) and all(query in self._answers for query in (*self._urgent, *self._others))

    @property
    def idle(self) -> bool:
        """Whether everything wanted is up to date, and was announced."""
        with self._changed:
            return self._cluster is not None and not self._working and self._next() is None

    def _run(self) -> None:
        try:
            while (job := self._job()) is not None:
                cluster, query = job
                began = time.thread_time()
                record = self._record(query, cluster)
                with self._changed:
                    if self._is_wanted(query) and self._cluster is not None:
                        self._answers[query] = Answer(cluster, record)
                        self.version += 1
                    self._rest(query, time.thread_time() - began)
                del job, cluster, record
                self._wake()
        except BaseException as error:
            # A thread has nobody to raise to; the app ends the program with the error.
            self.error = error
            self._wake()

    def _record(self, query: Query[object], cluster: ClusterState) -> object:
        if isinstance(query, ReadingQuery):
            return query.compute_with(cluster, self.on_demand)
        return query.compute(cluster)

    def _rest(self, query: Query[object], took: float) -> None:
        if query in self._urgent:
            self._pace.worked(took)
        else:
            self._pace.wait(took)
            self._pace_behind.worked(took)

    def _job(self) -> tuple[ClusterState, Query[object]] | None:
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

    def _next(self) -> tuple[ClusterState, Query[object], float] | None:
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

    def _due_of(self, query: Query[object] | None, due: float) -> float:
        """When to compute a query at the earliest: one without a record at once."""
        return math.inf if query is None else due if query in self._answers else 0.0

    def _stale(self, queries: Iterable[Query[object]], cluster: ClusterState) -> list[Query[object]]:
        return [query for query in queries if self._number(query) < cluster.revision]

    def _number(self, query: Query[object]) -> int:
        found = self._answers.get(query)
        return found.cluster.revision if found is not None else -1

    def _is_wanted(self, query: Query[object]) -> bool:
        return query in self._urgent or query in self._others
