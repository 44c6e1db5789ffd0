"""The one worker: computes the records that views want, one after another, and cancels what newer facts overtake.

The unit of work is a topic (one table, one pod). A newer moment never interrupts a topic, but every topic that follows
is computed from it, and each second turn goes to the topic that has waited longest, so that nothing starves while
facts change faster than they can be thought through.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kubectl_dra.tui.feed import Moment

RecordT = TypeVar("RecordT")
RecordT_co = TypeVar("RecordT_co", covariant=True)


class Topic(Hashable, Protocol[RecordT_co]):
    """Something that a view shows; equal topics have equal records at the same moment."""

    @abstractmethod
    def compute(self, moment: Moment) -> RecordT_co:
        """The record, in the worker's thread."""


@dataclass(frozen=True, slots=True)
class Result(Generic[RecordT]):
    """A record and the moment it is about."""

    moment: Moment
    record: RecordT


class Desk:
    """Holds results by topic. ``wake`` is called from the worker's thread when there is something new, or an error."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.error: BaseException | None = None
        self._wake = wake
        self._changed = threading.Condition()
        self._moment: Moment | None = None
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

    def show(self, moment: Moment | None) -> None:
        """From now on compute from ``moment``; None forgets everything (another cluster)."""
        with self._changed:
            if moment is None:
                self._results.clear()
            self._moment = moment
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
    def idle(self) -> bool:
        """Whether everything wanted is up to date, and was announced."""
        with self._changed:
            return self._moment is not None and not self._working and self._next() is None

    def _run(self) -> None:
        try:
            while (job := self._job()) is not None:
                moment, topic = job
                record = topic.compute(moment)
                with self._changed:
                    if self._is_wanted(topic) and self._moment is not None:
                        self._results[topic] = Result(moment, record)
                self._wake()
        except BaseException as error:
            # A thread has nobody to raise to; the app ends the program with the error.
            self.error = error
            self._wake()

    def _job(self) -> tuple[Moment, Topic[object]] | None:
        with self._changed:
            self._working = False
            while not self._stopped:
                topic = self._next() if self._moment is not None else None
                if topic is not None and self._moment is not None:
                    self._turn += 1
                    self._working = True
                    return self._moment, topic
                self._changed.wait()
            return None

    def _next(self) -> Topic[object] | None:
        urgent, others = self._stale(self._urgent), self._stale(self._others)
        if urgent and (self._turn % 2 == 0 or not others):
            return urgent[0]
        return min(others, key=self._number) if others else None

    def _stale(self, topics: Iterable[Topic[object]]) -> list[Topic[object]]:
        current = self._moment.number if self._moment is not None else 0
        return [topic for topic in topics if self._number(topic) < current]

    def _number(self, topic: Topic[object]) -> int:
        found = self._results.get(topic)
        return found.moment.number if found is not None else -1

    def _is_wanted(self, topic: Topic[object]) -> bool:
        return topic in self._urgent or topic in self._others
