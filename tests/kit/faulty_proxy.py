"""A proxy in front of an API server that does what networks, load balancers and busy servers do, at a seeded rate.

With ``certificate`` and ``key`` it speaks TLS to its clients.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import queue
import random
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from kubectl_dra.model.clock import SYSTEM
from tests.kit.proxy import Call, ProxyHandler, ProxyServer, serving


class Fault(StrEnum):
    """What can happen to a request, or to an event of a watch."""

    # instead of an answer
    RESET = "connection reset"
    SILENT = "accepted and never answered"
    GONE = "410"
    THROTTLED = "429 with Retry-After"
    FAILED = "500"
    UNAVAILABLE = "503"
    LOGGED_OUT = "401"
    # to the body of an answer, or in the middle of a watch
    CUT = "cut off within an object"
    BROKEN = "reset within an object"
    SLOW = "byte by byte"
    STALLED = "stops in the middle"
    # to the events of a watch
    EXPIRED = "410 as an event"
    ENDED = "watch ends"
    DUPLICATE = "an event again"
    LATE = "an older event again"
    REORDERED = "two events of different objects change places"
    # to all answers
    SKEWED = "the server's clock is wrong"


INSTEAD = frozenset({Fault.RESET, Fault.SILENT, Fault.GONE, Fault.THROTTLED, Fault.FAILED, Fault.UNAVAILABLE})
INSTEAD |= {Fault.LOGGED_OUT}
BODY = frozenset({Fault.CUT, Fault.BROKEN, Fault.SLOW, Fault.STALLED})
EVENTS = frozenset({Fault.EXPIRED, Fault.ENDED, Fault.DUPLICATE, Fault.LATE, Fault.REORDERED})
CUTTING = frozenset({Fault.CUT, Fault.BROKEN, Fault.STALLED, Fault.EXPIRED, Fault.ENDED})
_CODES = {Fault.GONE: 410, Fault.THROTTLED: 429, Fault.FAILED: 500, Fault.UNAVAILABLE: 503, Fault.LOGGED_OUT: 401}
TRICKLE_SECONDS = 0.02
_REMEMBERED = 20
_HELD_SECONDS = 0.1
_Wants = Callable[[Call], bool]


@dataclass
class Faults:
    """Which faults happen: each of ``kinds`` with the probability ``rate``, and what the test has ordered."""

    seed: int = 0
    rate: float = 0.0
    kinds: frozenset[Fault] = frozenset(Fault)
    bookmarks: bool = True
    stalled: threading.Event = field(default_factory=threading.Event)
    counts: Counter[Fault] = field(default_factory=Counter)
    calls: list[Call] = field(default_factory=list)
    _ordered: list[tuple[Fault, _Wants]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def order(self, fault: Fault, wants: _Wants = lambda call: True, times: int = 1) -> None:
        """Let a fault happen to the next requests that ``wants`` says yes to, or to events of their watches."""
        with self._lock:
            self._ordered += [(fault, wants)] * times

    def stop(self) -> None:
        """Nothing goes wrong any more."""
        with self._lock:
            self.rate, self._ordered = 0.0, []

    def choose(self, call: Call, among: frozenset[Fault]) -> Fault | None:
        """The fault that happens now, if any."""
        with self._lock:
            for index, (fault, wants) in enumerate(self._ordered):
                if fault in among and wants(call):
                    del self._ordered[index]
                    self.counts[fault] += 1
                    return fault
            possible = sorted(among & self.kinds)
            if not possible or self._random.random() >= self.rate:
                return None
            fault = self._random.choice(possible)
            self.counts[fault] += 1
            return fault

    def number(self, below: int) -> int:
        """A random number."""
        with self._lock:
            return self._random.randrange(max(below, 1))


@contextmanager
def faulty(
    upstream: str, faults: Faults, trusted: Path | None = None, certificate: Path | None = None, key: Path | None = None
) -> Iterator[str]:
    """A running proxy; its URL. ``trusted`` is the certificate of ``upstream``."""
    server = _Server(_Handler, upstream, trusted, certificate, key)
    server.faults = faults
    with serving(server) as url:
        yield url


class _Server(ProxyServer):
    faults: Faults

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken connections are what this is for."""


class _Handler(ProxyHandler):
    server: _Server

    def answer(self, call: Call, body: bytes) -> None:
        faults = self.server.faults
        faults.calls.append(call)
        self._wait_while_stalled()
        fault = faults.choose(
            call, INSTEAD - ({Fault.GONE} if "continue" not in call.query and not call.watch else set())
        )
        if fault is not None:
            self._instead(fault)
            return
        connection = self.server.connect()
        try:
            answer = self.ask(connection, body)
            if call.watch and answer.status == 200:
                self._relay_events(call, answer, connection)
            else:
                self._relay(call, answer.status, answer.read())
        finally:
            connection.close()

    def _wait_while_stalled(self) -> None:
        while self.server.faults.stalled.is_set() and not self.server.closed.is_set():
            time.sleep(0.02)

    # --- instead of an answer ---------------------------------------------------------------------------------------

    def _instead(self, fault: Fault) -> None:
        if fault is Fault.RESET:
            self._reset()
        elif fault is Fault.SILENT:
            self.server.closed.wait(30)
            self.close_connection = True
        else:
            code = _CODES[fault]
            body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": f"fault {code}", "code": code}
            more = {"Retry-After": "1"} if fault is Fault.THROTTLED else {}
            self.send(code, json.dumps(body).encode(), more)

    def _reset(self) -> None:
        """No farewell: the client's next byte meets a closed door."""
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True
        self.wfile = _Nowhere()  # type: ignore[assignment]

    # --- answers that end -------------------------------------------------------------------------------------------

    def _relay(self, call: Call, code: int, data: bytes) -> None:
        fault = self.server.faults.choose(call, BODY)
        if fault is None or len(data) < 2:
            self.send(code, data)
            return
        self.head(code, {"Content-Length": str(len(data))})
        if fault is Fault.SLOW:
            self._trickle(data)
            return
        self.wfile.write(data[: 1 + self.server.faults.number(len(data) - 1)])
        self.wfile.flush()
        self._break(fault)

    def _trickle(self, data: bytes) -> None:
        step = max(1, len(data) // 20)
        for start in range(0, len(data), step):
            self.wfile.write(data[start : start + step])
            self.wfile.flush()
            self.server.closed.wait(TRICKLE_SECONDS)

    def _break(self, fault: Fault) -> None:
        if fault is Fault.STALLED:
            self.server.closed.wait(30)
        if fault is Fault.BROKEN:
            self._reset()
        self.close_connection = True

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date header."""
        skewed = Fault.SKEWED in self.server.faults.kinds
        return super().date_time_string((timestamp or SYSTEM.now().timestamp()) + (86_400 if skewed else 0))

    # --- watches ----------------------------------------------------------------------------------------------------

    def _relay_events(self, call: Call, answer: http.client.HTTPResponse, connection: Any) -> None:
        self.head(200, {"Transfer-Encoding": "chunked"})
        self.wfile.flush()
        lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=_read_lines, args=(answer, lines), daemon=True).start()
        try:
            self._pass_on(call, lines)
        finally:
            sock = connection.sock
            if sock is not None:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def _pass_on(self, call: Call, lines: queue.Queue[bytes]) -> None:
        faults, recent = self.server.faults, deque[bytes](maxlen=_REMEMBERED)
        while not self.server.closed.is_set():
            line = _next(lines, 0.5)
            if line is None:
                self._check_client()
                continue
            self._wait_while_stalled()
            if not line:
                self.wfile.write(b"0\r\n\r\n")
                return
            if b'"BOOKMARK"' in line[:40]:
                if faults.bookmarks:
                    self._chunk(line)
                continue
            fault = faults.choose(call, EVENTS | BODY)
            if fault in CUTTING:
                self._end(fault, line)
                return
            self._deliver(fault, line, lines, recent)
            recent.append(line)

    def _deliver(self, fault: Fault | None, line: bytes, lines: queue.Queue[bytes], recent: deque[bytes]) -> None:
        if fault is Fault.REORDERED:
            self._swap(line, lines)
            return
        if fault is Fault.SLOW:
            for start in range(0, len(line), 1 + len(line) // 5):
                self._chunk(line[start : start + 1 + len(line) // 5])
                self.server.closed.wait(0.01)
            return
        self._chunk(line)
        if fault is Fault.DUPLICATE:
            self._chunk(line)
        elif fault is Fault.LATE and recent:
            self._chunk(recent[self.server.faults.number(len(recent))])

    def _swap(self, line: bytes, lines: queue.Queue[bytes]) -> None:
        """Both in one piece: what reorders must not lose."""
        other = _next(lines, _HELD_SECONDS)
        if not other:
            self._chunk(line)
            if other is not None:
                lines.put(other)
        elif b'"BOOKMARK"' in other[:40] or _object(line) == _object(other):
            self._chunk(line + other)
        else:
            self._chunk(other + line)

    def _end(self, fault: Fault | None, line: bytes) -> None:
        if fault is Fault.EXPIRED:
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "fault 410", "code": 410}
            self._chunk(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")
        if fault in (Fault.EXPIRED, Fault.ENDED):
            self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True
            return
        half = line[: 1 + self.server.faults.number(len(line) - 1)]
        self.wfile.write(b"%x\r\n%s" % (len(line), half))
        self.wfile.flush()
        self._break(fault or Fault.CUT)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _check_client(self) -> None:
        """A client that has gone away is noticed even when nothing happens."""
        raw = socket.socket(fileno=socket.dup(self.connection.fileno()))
        with raw:
            raw.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                if not raw.recv(1, socket.MSG_PEEK):
                    raise ConnectionResetError


class _Nowhere:
    """Takes what is written after a reset."""

    closed = True

    def write(self, data: bytes) -> int:
        """Gone."""
        return len(data)

    def flush(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def _read_lines(answer: http.client.HTTPResponse, lines: queue.Queue[bytes]) -> None:
    """Every line, and an empty one at the end."""
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError, AttributeError):
        while line := answer.readline():
            lines.put(line)
    lines.put(b"")


def _next(lines: queue.Queue[bytes], seconds: float) -> bytes | None:
    try:
        return lines.get(timeout=seconds)
    except queue.Empty:
        return None


def _object(line: bytes) -> tuple[str, str]:
    metadata = json.loads(line)["object"]["metadata"]
    return metadata.get("namespace", ""), metadata.get("name", "")
