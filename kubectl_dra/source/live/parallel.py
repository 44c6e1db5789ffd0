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
