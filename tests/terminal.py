"""A command on a pseudo-terminal: what it shows, and answers to what it asks."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from tests.forked import Forked

_PATIENCE = 60.0


def read_terminal(master: int) -> bytes:
    """What has come to a terminal and was not read; waits for something. Empty at the end: everybody has closed it.

    Linux says now and then that it is closed while what was written last is still on its way, and gives that when it is
    asked again: ``n_tty_read`` (drivers/tty/n_tty.c) looks for data first and then whether the other side is closed.
    """
    for _ in range(2):
        with contextlib.suppress(OSError):  # EIO: the other side is closed
            return os.read(master, 65536)
    return b""


class Terminal:
    """``shown`` is all that came to the terminal so far."""

    def __init__(self, start: Callable[[int], subprocess.Popen[str] | Forked]) -> None:
        """``start`` gets the terminal's file descriptor."""
        self._master, slave = pty.openpty()
        self._child = start(slave)
        os.close(slave)
        self.shown = ""

    def until(self, text: str) -> str:
        """Wait until ``text`` is shown behind what was waited for before; what was shown since then."""
        deadline = time.monotonic() + _PATIENCE
        start = getattr(self, "_seen", 0)
        while text not in self.shown[start:]:
            assert self._read(deadline), f"never shown: {text!r}\n{self.shown}"
        self._seen = self.shown.index(text, start) + len(text)
        return self.shown[start : self._seen]

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._master, f"{line}\n".encode())

    def interrupt(self) -> None:
        """Ctrl-C."""
        self._child.send_signal(signal.SIGINT)

    def send(self, number: signal.Signals) -> None:
        """A signal."""
        self._child.send_signal(number)

    def settings(self) -> list[object]:
        """What stty knows."""
        return termios.tcgetattr(self._master)

    def change(self, settings: list[object]) -> None:
        """What stty does."""
        termios.tcsetattr(self._master, termios.TCSANOW, settings)  # type: ignore[arg-type]

    def end(self) -> tuple[int, str, str]:
        """Wait for the end: exit code, what came to the pipe, what was shown."""
        deadline = time.monotonic() + _PATIENCE
        while self._read(deadline):
            pass
        out = self._child.stdout.read() if self._child.stdout is not None else ""
        return self._child.wait(_PATIENCE), out, self.shown

    def close(self) -> None:
        """End the command if it still runs."""
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
        if self._child.stdout is not None:
            self._child.stdout.close()
        os.close(self._master)

    def _read(self, deadline: float) -> bool:
        """Whether there was more; False when the command has closed the terminal, or time is up."""
        # select() itself takes no descriptor beyond 1,023, and a long run of tests has so many open.
        waiting = select.poll()
        waiting.register(self._master, select.POLLIN)
        if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return False
        data = read_terminal(self._master)
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


@contextmanager
def terminal(command: Sequence[str], environment: Mapping[str, str], *, piped: bool = False) -> Iterator[Terminal]:
    """A running command, stdout in a pipe where ``piped``; it is ended at the latest when the block ends."""

    def start(slave: int) -> subprocess.Popen[str]:
        stdout = subprocess.PIPE if piped else slave
        return subprocess.Popen(
            command,
            stdin=slave,
            stdout=stdout,
            stderr=slave,
            env=dict(environment),
            start_new_session=True,
            encoding="utf-8",
        )

    with closing(Terminal(start)) as running:
        yield running


@contextmanager
def forked_terminal(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[Terminal]:
    """``kubectl-dra WORDS``, where it does not matter how Python starts and ends."""
    with closing(Terminal(lambda slave: Forked(words, environment, os.ttyname(slave)))) as running:
        yield running
