"""The program in a process of its own, without the half second in which a new interpreter imports everything.

For tests that need a process (a terminal, signals, an exit code) but not its start: a server that has imported what
live commands import forks one child per run. How Python starts and ends is not seen here; ``tests/faults`` sees it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection

_LOADED = ("kubernetes.client", "kubernetes.config", "kubectl_dra.__main__", "kubectl_dra.commands.taint.answers")


class Forked:
    """``kubectl-dra WORDS`` in a session of its own, on a terminal; with the methods of ``subprocess.Popen``."""

    stdout = None

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], terminal: str) -> None:
        server = multiprocessing.get_context("forkserver")
        server.set_forkserver_preload(list(_LOADED))
        here, there = server.Pipe()
        self._process = server.Process(target=_run, args=(words, dict(environment), terminal, there), daemon=True)
        self._process.start()
        there.close()
        # From now on the terminal is open, and read to its end when the child has ended.
        here.recv()
        here.close()

    def send_signal(self, number: signal.Signals) -> None:
        """A signal, to this process alone."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def poll(self) -> int | None:
        """The exit code, or minus the signal that ended it; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """The same, when it has ended."""
        self._process.join(timeout)
        assert self._process.exitcode is not None, "it has not ended"
        return self._process.exitcode

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()


def _run(words: Sequence[str], environment: Mapping[str, str], terminal: str, opened: Connection) -> None:
    os.setsid()
    # The first terminal that the leader of a session opens is the one that controls it.
    device = os.open(terminal, os.O_RDWR)
    for number in range(3):
        os.dup2(device, number)
    os.close(device)
    opened.send(None)
    opened.close()
    sys.stdin, sys.stdout = (
        os.fdopen(0, closefd=False, encoding="utf-8"),
        os.fdopen(1, "w", closefd=False, encoding="utf-8"),
    )
    sys.stderr = os.fdopen(2, "w", closefd=False, errors="backslashreplace", buffering=1, encoding="utf-8")
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["kubectl-dra", *words]
    from kubectl_dra.__main__ import main

    main()
