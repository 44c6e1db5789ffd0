"""Requests to one API server: raw bytes in and out, errors of our own, no silent retries.

The kubernetes package provides credentials and the connection pool where these take more than a kubeconfig says; its
models and its API classes are not used.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from kubectl_dra.source.live import bodies
from kubectl_dra.source.live.credentials import credentials_of
from kubectl_dra.source.live.errors import (
    ApiError,
    BadAnswerError,
    KubeconfigError,
    LoginError,
    capped,
    error_from_status,
)
from kubectl_dra.source.live.expiry import of_certificate, of_token
from kubectl_dra.source.live.kubeconfig import Target, target_of
from kubectl_dra.source.live.tls import read_field
from kubectl_dra.source.live.transport import pool_of, translated_errors
from kubectl_dra.source.live.urls import without_query
from kubectl_dra.source.secrets import hidden
from kubectl_dra.source.spec import Connection
from kubectl_dra.version import __version__

if TYPE_CHECKING:
    import urllib3

Query = Mapping[str, str]
CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 60.0
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_log: Final = logging.getLogger("kubectl_dra.live")


class Session:
    """Requests as one user. Threads may share it."""

    def __init__(self, target: Target, connection: Connection) -> None:
        credentials = credentials_of(target, connection.request_timeout, connection.clock)
        configuration = credentials.configuration
        _silence_warnings(verified=bool(configuration.verify_ssl))
        self.target = target
        self.server: str = configuration.host
        # Inside a pod there is no context that kubectl could be told.
        context = "" if target.in_cluster else target.context
        self.address = replace(connection.address, context=context, server=without_query(self.server))
        self._login = credentials.login
        with translated_errors(self.server, "prepare a connection"):
            self._pool = pool_of(configuration, credentials.tls)
        self._timeout = connection.request_timeout
        self.clock = connection.clock
        self.max_bytes = connection.max_bytes
        self._fixed_headers = _headers(target, connection, self.server)
        self._streams: set[urllib3.BaseHTTPResponse] = set()

    def get(self, path: str, what: str, query: Query | None = None) -> bytes:
        """The body of an answer below 400; ``what`` says what we want (``list pods``). Raises ``ClusterError``."""
        return self.request("GET", path, what, query)

    def request(
        self,
        method: str,
        path: str,
        what: str,
        query: Query | None = None,
        body: bytes | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        """One request and its whole answer. Raises ``ClusterError``."""
        began = time.monotonic()
        url = f"{self.server}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers({"Content-Type": content_type} if body is not None else {})
        with translated_errors(self.server, what), self._open(method, url, headers, self._timeouts(), body) as answer:
            data = self._whole(answer, what, began)
        self._tell(method, url, answer.status, began)
        if answer.status >= 400:
            raise self._error(answer, data, what)
        if answer.status >= 300:
            where = without_query(answer.headers.get("Location", "")) or "another place"
            raise BadAnswerError(f"{self.server} redirects to {capped(where)}", "is this an API server?")
        return data

    def _tell(self, method: str, url: str, status: int, began: float) -> None:
        """Without the server, which may be written with a password, and without headers."""
        path = url.removeprefix(self.server)
        _log.debug("%s %s %d in %d ms", method, hidden(path), status, (time.monotonic() - began) * 1000)

    def lines(self, path: str, what: str, query: Query, idle_seconds: float) -> Iterator[bytes]:
        """An empty line when the server has accepted, then each line as it comes in. Raises ``ClusterError``.

        A server that says nothing for ``idle_seconds``, or begins a line and does not end it, raises ``TimedOutError``.
        """
        from urllib3 import Timeout

        url = f"{self.server}{path}?{urlencode(query)}"
        timeout = Timeout(connect=CONNECT_SECONDS, read=idle_seconds)
        began = time.monotonic()
        with translated_errors(self.server, what), self._open("GET", url, self._headers({}), timeout) as answer:
            self._tell("GET", url, answer.status, began)
            if answer.status >= 300:
                raise self._error(answer, self._whole(answer, what, began), what)
            self._streams.add(answer)
            try:
                yield b""
                yield from bodies.lines(answer, self.server, what, idle_seconds)
            finally:
                self._streams.discard(answer)

    @contextmanager
    def _open(
        self,
        method: str,
        url: str,
        headers: Any,  # noqa: ANN401 - urllib3's multi-valued headers
        timeout: urllib3.Timeout,
        body: bytes | None = None,
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """An answer of which nothing but the head was read; a connection that was not read to its end is closed."""
        answer = self._pool.request(
            method,
            url,
            body=body,
            headers=headers,
            timeout=timeout,
            retries=False,
            redirect=False,
            preload_content=False,
        )
        try:
            yield answer
        finally:
            answer.close()

    def _whole(self, answer: urllib3.BaseHTTPResponse, what: str, began: float) -> bytes:
        seconds, steady = self._timeout or READ_SECONDS, self._timeout is None
        return bodies.whole(answer, self.server, what, began, seconds, steady)

    def _error(self, answer: urllib3.BaseHTTPResponse, body: bytes, what: str) -> ApiError:
        error = error_from_status(answer.status, body, what, self.server, answer.headers.get("Retry-After", ""))
        user, context = self.target.user, self.target.context
        ended = self._ended() if isinstance(error, LoginError) else ""
        if ended:
            error = LoginError(
                f"{self.server} does not accept the login: {ended}", error.hint, error.code, error.reason
            )
        if isinstance(error, LoginError) and user is not None and user.name and context:
            error.hint = (
                f'log in again as user "{user.name}" of context "{context}", or choose another --context or --user'
            )
        return error

    def _ended(self) -> str:
        """That the token or the certificate has run out, and when; empty where they do not say so."""
        user = self.target.user
        certificate = read_field(user, "client-certificate") if user is not None else None
        ends = {"token": of_token(self._login.header()), "client certificate": of_certificate(certificate or b"")}
        past = {what: end for what, end in ends.items() if end is not None and end <= self.clock.now()}
        return ", ".join(f"the {what} expired on {end:%Y-%m-%d at %H:%M} UTC" for what, end in past.items())

    def close(self) -> None:
        """Close idle connections, and end streams that threads are waiting on."""
        self._pool.clear()
        for answer in tuple(self._streams):
            # Only newer versions of the library can; with older ones a stream ends with the next line.
            if hasattr(answer, "shutdown"):
                # One that ended meanwhile has no socket any more.
                with suppress(ValueError, RuntimeError, OSError):
                    answer.shutdown()

    def _headers(self, more: Mapping[str, str]) -> Any:  # noqa: ANN401 - urllib3's multi-valued headers
        from urllib3 import HTTPHeaderDict

        login = self._login.header()
        headers = HTTPHeaderDict({**({"authorization": login} if login else {}), **more})
        for name, value in self._fixed_headers:
            headers.add(name, value)
        return headers

    def _timeouts(self) -> urllib3.Timeout:
        from urllib3 import Timeout

        if self._timeout is None:
            return Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        return Timeout(connect=min(CONNECT_SECONDS, self._timeout), read=self._timeout)


def open_session(connection: Connection) -> Session:
    """A session for kubectl's connection flags. Raises ``ClusterError``; the server is not asked anything yet."""
    return Session(target_of(connection), connection)


def _headers(target: Target, connection: Connection, server: str) -> list[tuple[str, str]]:
    headers = [("Accept", "application/json"), ("User-Agent", f"kubectl-dra/{__version__}")]
    # On the same machine compression costs more than it saves.
    if urlsplit(server).hostname not in _LOOPBACK and not _compression_disabled(target):
        headers.append(("Accept-Encoding", "gzip"))
    return [(name, _header_value(value)) for name, value in (*headers, *_impersonation(target, connection))]


def _compression_disabled(target: Target) -> bool:
    return target.cluster is not None and bool(target.cluster.value.get("disable-compression"))


def _impersonation(target: Target, connection: Connection) -> Iterator[tuple[str, str]]:
    """``--as`` and ``--as-group``, or what the kubeconfig's user says; the flags replace it."""
    user = target.user.value if target.user is not None else {}
    name = connection.as_user or user.get("as")
    if not name:
        return
    yield "Impersonate-User", str(name)
    for group in connection.as_groups or user.get("as-groups") or ():
        yield "Impersonate-Group", str(group)
    if connection.as_user:
        return
    if user.get("as-uid"):
        yield "Impersonate-Uid", str(user["as-uid"])
    for key, values in (user.get("as-user-extra") or {}).items():
        for value in values:
            yield f"Impersonate-Extra-{key}", str(value)


def _header_value(text: str) -> str:
    """Names are sent in UTF-8, as kubectl does; what would end a header line is refused."""
    if not text.isprintable():
        raise KubeconfigError(f"a user or group to impersonate has unprintable characters: {text}", "check --as")
    return text.encode().decode("latin-1")


def _silence_warnings(verified: bool) -> None:
    """Whoever skips verification in the kubeconfig has decided; a warning per request would drown the answer."""
    if not verified:
        import urllib3

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
