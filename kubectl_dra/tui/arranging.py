"""Long lists are filtered, sorted and measured in a thread of their own; the UI only takes what is finished."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from kubectl_dra.tui.columns import Column

#: Lists of so many rows are arranged where they are asked for.
AT_ONCE: Final = 1000
#: How long to rest after an arrangement that took so much processor time, before the same of newer rows.
_REST: Final = 2.0
RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class Arranged(Generic[RowT]):
    """Rows as a grid shows them: ``columns`` with the widths that they would like to have, and the cursor's place."""

    rows: Sequence[RowT]
    columns: Sequence[Column[RowT]]
    widths: list[int]
    place: int | None = None


class Job(Generic[RowT]):
    """One arrangement: of which ``rows``, in which ``manner`` (order, filter, …: whatever decides how)."""

    def __init__(self, rows: Sequence[RowT], manner: tuple[object, ...], make: Callable[[], Arranged[RowT]]) -> None:
        self.rows = rows
        self.manner = manner
        self.make = make
        self.done: Arranged[RowT] | None = None


class Arranger:
    """The thread. ``wake`` is called from it when a job is done, or with ``error`` set."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.error: BaseException | None = None
        self._wake = wake
        self._changed = threading.Condition()
        self._next: Job[Any] | None = None
        self._last: tuple[object, ...] | None = None
        self._due = 0.0
        self._working = False
        self._stopped = False

    def start(self) -> None:
        """Begin to work."""
        threading.Thread(target=self._run, name="tui-lists", daemon=True).start()

    def stop(self) -> None:
        """Take up nothing more."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def ask(self, job: Job[Any] | None) -> None:
        """What the list in front waits for; a job that was not begun is dropped."""
        with self._changed:
            self._next = job
            self._changed.notify()

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        with self._changed:
            return self._next is None and not self._working

    def _run(self) -> None:
        try:
            while (job := self._job()) is not None:
                began = time.thread_time()
                job.done = job.make()
                self._last, self._due = job.manner, time.monotonic() + _REST * (time.thread_time() - began)
                del job
                self._wake()
        except BaseException as error:
            # A thread has nobody to raise to; the app ends the program with the error.
            self.error = error
            self._wake()

    def _job(self) -> Job[Any] | None:
        with self._changed:
            self._working = False
            while not self._stopped:
                job = self._next
                # What somebody has typed is not kept waiting.
                pause = 0.0 if job is None or job.manner != self._last else self._due - time.monotonic()
                if job is not None and pause <= 0:
                    self._next, self._working = None, True
                    return job
                self._changed.wait(pause if job is not None else None)
            return None
