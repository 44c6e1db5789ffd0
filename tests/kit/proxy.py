"""The proxy between a program and an API server, the real one or a fake one.

It hands on what passes. What else it does is its handler's: :mod:`tests.kit.faulty_proxy` lets things go wrong at a
seeded rate, :mod:`tests.kit.recording_proxy` keeps what was asked, and lets single writes go wrong.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.kit.http import Server

# A watch is silent for a minute and more.
_SECONDS = 600.0


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    query: dict[str, str]

    @property
    def watch(self) -> bool:
        """Whether it follows a list."""
        return "watch" in self.query


class ProxyServer(Server):
    """``trusted`` is the certificate of ``upstream``; with ``certificate`` and ``key`` it speaks TLS to its clients."""

    request_queue_size = 128

    def __init__(
        self,
        handler: type[ProxyHandler],
        upstream: str,
        trusted: Path | None = None,
        certificate: Path | None = None,
        key: Path | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.upstream = urlsplit(upstream)
        self.trusted = ssl.create_default_context(cafile=str(trusted)) if trusted else None
        #: Set when the test is over.
        self.closed = threading.Event()
        self.context: ssl.SSLContext | None = None
        if certificate is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate, key)

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.server_address[1]}"

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        if self.context is not None:
            # The handshake is the handler's: here it would hold up all others.
            connection = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def connect(self) -> http.client.HTTPConnection:
        """A connection to the server behind."""
        if self.upstream.scheme == "https":
            return http.client.HTTPSConnection(self.upstream.netloc, timeout=_SECONDS, context=self.trusted)
        return http.client.HTTPConnection(self.upstream.netloc, timeout=_SECONDS)


class ProxyHandler(BaseHTTPRequestHandler):
    """Reads a request; the subclass answers it."""

    protocol_version = "HTTP/1.1"
    server: ProxyServer

    @abstractmethod
    def answer(self, call: Call, body: bytes) -> None:
        """Answer a request, or don't."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        url = urlsplit(self.path)
        self.answer(Call(self.command, url.path, dict(parse_qsl(url.query))), body)

    do_POST = do_PATCH = do_DELETE = do_PUT = do_GET

    def ask(self, connection: http.client.HTTPConnection, body: bytes) -> http.client.HTTPResponse:
        """The same request to the server behind."""
        kept = {n: v for n, v in self.headers.items() if n.lower() not in ("host", "accept-encoding")}
        connection.request(self.command, self.path, body or None, kept)
        return connection.getresponse()

    def head(self, code: int, headers: dict[str, str]) -> None:
        """The beginning of an answer."""
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def send(self, code: int, data: bytes, more: dict[str, str] | None = None) -> None:
        """A whole answer."""
        self.head(code, {"Content-Length": str(len(data)), **(more or {})})
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@contextmanager
def serving(server: ProxyServer) -> Iterator[str]:
    """A running proxy; its URL."""
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server.url
    finally:
        server.closed.set()
        server.shutdown()
        server.server_close()
