"""The HTTP server that tests answer from: one thread for each connection, and silent when a client goes away."""

from __future__ import annotations

import sys
from http.server import ThreadingHTTPServer
from typing import Any


class Server(ThreadingHTTPServer):
    """Clients of tests give up before they are answered: that is no traceback on the stderr that is looked at."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)
