"""Running requests side by side."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def in_parallel(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of ``calls`` in their order; the first exception ends the wait and is raised.

    Daemon threads instead of an executor: neither Ctrl-C nor an error waits for requests that still hang.
    """
    outcomes: queue.SimpleQueue[tuple[int, T | None, BaseException | None]] = queue.SimpleQueue()

    def run(number: int) -> None:
        try:
            outcomes.put((number, calls[number](), None))
        except BaseException as error:  # handed over to the caller's thread
            outcomes.put((number, None, error))

    for number in range(len(calls)):
        threading.Thread(target=run, args=(number,), daemon=True).start()
    results: dict[int, T] = {}
    for _ in calls:
        number, value, error = outcomes.get()
        if error is not None:
            raise error
        results[number] = value  # type: ignore[assignment]
    return [results[number] for number in range(len(calls))]


class NotInTimeError(Exception):
    """Raised by :func:`within` when a call takes longer."""


def within(seconds: float, call: Callable[[], T]) -> T:
    """The result of ``call``, which is left to itself when it hangs.

    Raises what it raises, and :class:`NotInTimeError`.
    """
    outcome: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((call(), None))
        except BaseException as error:  # handed over to the caller's thread
            outcome.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        value, error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise NotInTimeError from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]
