"""Whether a server still answers: a watch that says nothing may be quiet or dead, and only asking tells which.

Following objects is ``feed``'s work; this asks for ``/version``, which every user may read, every few seconds.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Final

from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live.errors import LoginError, RefusedError
from kubectl_dra.source.live.session import Session, open_session
from kubectl_dra.source.spec import Connection

INTERVAL_SECONDS: Final = 2.0
PATIENCE_SECONDS: Final = 2.0


class Pulse:
    """Calls ``tell`` from its own thread after every question: with None, or with what is wrong."""

    def __init__(self, connection: Connection, tell: Callable[[ClusterError | None], None]) -> None:
        self._connection = dataclasses.replace(connection, request_timeout=PATIENCE_SECONDS)
        self._tell = tell
        self._closed = threading.Event()
        self._session: Session | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name="pulse", daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(INTERVAL_SECONDS):
            problem = self._problem()
            if not self._closed.is_set():
                self._tell(problem)

    def _problem(self) -> ClusterError | None:
        try:
            # One session for all questions, because logging in may mean to run a helper.
            self._session = self._session or open_session(self._connection)
            self._session.get("/version", "check that it answers")
        except RefusedError:
            return None
        except LoginError as error:
            self._session = None
            return error
        except ClusterError as error:
            return error
        finally:
            # A connection that was kept may be one that is stuck.
            if self._session is not None:
                self._session.close()
        return None
