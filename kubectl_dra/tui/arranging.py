"""Long lists are filtered, sorted and measured in a thread of their own; the UI only takes what is finished."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from kubectl_dra.model.pace import LISTS, Pace
from kubectl_dra.tui.columns import Column

#: Lists of so many rows are arranged where they are asked for.
AT_ONCE: Final = 1000
RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class Arranged(Generic[RowT]):
    """Rows as a grid shows them: ``columns`` with the widths that they would like to have, and the cursor's place."""

    rows: Sequence[RowT]
    columns: Sequence[Column[RowT]]
    widths: list[int]
    place: int | None = None


class Job(Generic[RowT]):
    """One arrangement: of which ``rows``, in which ``manner`` (order, filter, …: whatever decides how).

    ``again``: the same as before, of newer rows.
    """

    def __init__(
        self, rows: Sequence[RowT], manner: tuple[object, ...], again: bool, make: Callable[[], Arranged[RowT]]
    ) -> None:
        self.rows = rows
        self.manner = manner
        self.again = again
        self.make = make
        self.done: Arranged[RowT] | None = None


class Arranger:
    """The thread. ``wake`` is called from it when a job is done, or with ``error`` set."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.error: BaseException | None = None
        self._wake = wake
        self._changed = threading.Condition()
        # One for each list: several are there when a view is opened on another.
        self._waiting: dict[Hashable, Job[Any]] = {}
        self._pace = Pace(LISTS)
        self._working = False
        self._stopped = False

    def start(self) -> None:
        threading.Thread(target=self._run, name="tui-lists", daemon=True).start()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def ask(self, owner: Hashable, job: Job[Any]) -> None:
        """What a list waits for now; a job of the same list that was not begun is dropped."""
        with self._changed:
            self._waiting[owner] = job
            self._changed.notify()

    @property
    def idle(self) -> bool:
        with self._changed:
            return not self._waiting and not self._working

    def _run(self) -> None:
        try:
            while (job := self._job()) is not None:
                began = time.thread_time()
                job.done = job.make()
                self._pace.worked(time.thread_time() - began)
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
                # What somebody has typed or opened is not kept waiting.
                owner = min(self._waiting, key=lambda each: self._waiting[each].again, default=None)
                if owner is None:
                    self._changed.wait()
                elif self._waiting[owner].again and (pause := self._pace.left) > 0:
                    self._changed.wait(pause)
                else:
                    self._working = True
                    return self._waiting.pop(owner)
            return None
