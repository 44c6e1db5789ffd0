"""A pseudo-terminal that is read all the time, as a real one is: what writes to it never waits for the test."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_PATIENCE = 60.0
# No program writes it.
_END = b"\0end\0"


class Screen:
    """What came to a terminal; each method waits a minute at most, and fails then."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._data = b""
        self._came = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def until(self, text: bytes) -> bytes:
        """All that came since what was taken before, up to ``text`` at least; it is taken."""
        with self._came:
            came = self._came.wait_for(lambda: text in self._data, _PATIENCE)
            assert came, f"never shown: {text!r}\n{self._data!r}"
            taken, self._data = self._data, b""
        return taken

    def rest(self, stream: TextIO) -> bytes:
        """All that was written to the terminal before this call, and not taken yet."""
        stream.flush()
        os.write(stream.fileno(), _END)
        return self.until(_END).partition(_END)[0]

    def wait_until_closed(self) -> None:
        """For the other side to be closed."""
        self._reader.join(_PATIENCE)
        assert not self._reader.is_alive()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # Linux: the other side is closed
            while data := os.read(self._master, 65536):
                with self._came:
                    self._data += data
                    self._came.notify_all()


@contextmanager
def pseudo_terminal(columns: int = 0) -> Iterator[tuple[Screen, TextIO]]:
    """What a person sees of a terminal of so many columns, 0 if it does not know, and the stream that writes to it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    screen = Screen(master)
    try:
        with open(slave, "w", encoding="utf-8") as stream:
            yield screen, stream
        screen.wait_until_closed()
    finally:
        os.close(master)
