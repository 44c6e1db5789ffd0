"""Signals that end the program. Who only reads ends at once; who has begun something ends that first."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

# SIGHUP comes when the terminal is closed; other systems do not have it.
_ENDING: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(KeyboardInterrupt):
    """Raised within :func:`signals_raise` for a signal that asks the program to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def signals_raise() -> Iterator[None]:
    """Signals that ask the program to end raise :class:`Ended` within; afterwards it ends as they say."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _raise) for number in _ENDING}
    try:
        yield
    except Ended as ended:
        if ended.number == signal.SIGINT:
            raise
        _die(ended.number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Ended(number)


def _die(number: int) -> None:
    """End by the signal itself, so that whoever sent it sees that it worked."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
