"""A recording proxy between a command and an API server: what was asked, in which order, and faults on demand."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.kit.http import Server

ANSWERED = "confirmed"
_GROUP = "/apis/resource.k8s.io"


class Fault(StrEnum):
    """What happens to the next write: an error instead of it, or after it was carried out."""

    CONFLICT = "409"
    FAILS = "500"
    FAILS_AFTER = "500 after"
    CONFLICT_AFTER = "409 after"
    SILENT = "no answer"
    SILENT_AFTER = "no answer after"
    DIES = "500 for ever"


@dataclass(frozen=True)
class Exchange:
    """One request and the code of its answer."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    code: int

    @property
    def dry(self) -> bool:
        """Whether the server was told to change nothing: a DELETE with a body says so in the body."""
        asked = self.body.get("dryRun", []) if self.method == "DELETE" and self.body else self.query.get("dryRun", "")
        return "All" in asked

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.method != "GET" and not self.dry


@dataclass
class Proxy:
    """``log`` holds the exchanges, and a text wherever the test noted that the user agreed.

    In the versions of resource.k8s.io that are ``hidden``, discovery does not find DeviceTaintRules; those that are
    ``unserved`` it does not find at all, nor does any other request.
    """

    upstream: str
    certificate: Path | None = None
    log: list[Exchange | str] = field(default_factory=list)
    fault: Fault | None = None
    hidden: frozenset[str] = frozenset()
    unserved: frozenset[str] = frozenset()
    dead: bool = False
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)

    def confirmed(self) -> None:
        """Note that the user has agreed to what was shown."""
        self.log.append(ANSWERED)

    @property
    def exchanges(self) -> list[Exchange]:
        """The requests alone."""
        return [each for each in self.log if isinstance(each, Exchange)]

    @property
    def writes(self) -> list[Exchange]:
        """The requests that may have changed something."""
        return [each for each in self.exchanges if each.writes]

    def check(self) -> None:
        """What holds for every call: nothing is written before somebody agreed, and only rules for a device or pool."""
        agreed = False
        for each in self.log:
            if isinstance(each, str):
                agreed = True
                continue
            if each.method == "GET":
                continue
            assert "/devicetaintrules" in each.path, each
            assert agreed or each.dry, f"written before anybody agreed: {each}"
            if each.method == "POST":
                selector = each.body["spec"]["deviceSelector"]
                assert selector.keys() in ({"driver", "pool"}, {"driver", "pool", "device"}), each
                assert all(selector.values()), each
            elif each.method == "PATCH":
                assert each.body.keys() == {"metadata", "spec"}, each
                assert each.body["metadata"].keys() == {"uid", "resourceVersion"}, each
                assert each.body["spec"].keys() == {"taint"}, each

    @property
    def _hiding(self) -> set[str]:
        return {f"{_GROUP}/{version}" for version in self.hidden}

    def forward(self, method: str, target: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        """Ask the real server, as if it had no ``unserved`` versions."""
        if _version(target) in self.unserved:
            return 404, b'{"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}'
        address = urlsplit(self.upstream)
        connection: http.client.HTTPConnection
        if address.scheme == "https":
            context = ssl.create_default_context(cafile=str(self.certificate))
            connection = http.client.HTTPSConnection(address.netloc, timeout=30, context=context)
        else:
            connection = http.client.HTTPConnection(address.netloc, timeout=30)
        try:
            connection.request(method, target, body or None, headers)
            answer = connection.getresponse()
            data = answer.read()
            if target == _GROUP and self.unserved:
                data = _without_versions(data, self.unserved)
            return answer.status, _without_rules(data) if target in self._hiding else data
        finally:
            connection.close()


def _version(target: str) -> str:
    """The version of resource.k8s.io that a request is about; empty for all others."""
    return target.removeprefix(f"{_GROUP}/").partition("/")[0] if target.startswith(f"{_GROUP}/") else ""


def _without_versions(data: bytes, unserved: frozenset[str]) -> bytes:
    group = json.loads(data)
    group["versions"] = [each for each in group["versions"] if each["version"] not in unserved]
    group["preferredVersion"] = group["versions"][0]
    return json.dumps(group).encode()


def _without_rules(data: bytes) -> bytes:
    listed = json.loads(data)
    listed["resources"] = [each for each in listed["resources"] if not each["name"].startswith("devicetaintrules")]
    return json.dumps(listed).encode()


@contextmanager
def recording(upstream: str, certificate: Path | None = None) -> Iterator[Proxy]:
    """A proxy on a free port; what holds for every call is checked at the end."""
    proxy = Proxy(upstream, certificate)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            url = urlsplit(self.path)
            parsed = json.loads(body) if body else None
            exchange = Exchange(self.command, url.path, dict(parse_qsl(url.query)), parsed, 0)
            fault = proxy.fault if exchange.writes or proxy.dead else None
            proxy.dead = proxy.dead or fault is Fault.DIES
            if fault is not None and not proxy.dead:
                proxy.fault = None
            code, data = 0, b"{}"
            if fault in (None, Fault.FAILS_AFTER, Fault.CONFLICT_AFTER, Fault.SILENT_AFTER):
                kept = {n: v for n, v in self.headers.items() if n.lower() not in ("host", "accept-encoding")}
                code, data = proxy.forward(self.command, self.path, kept, body)
            if fault is not None:
                code = int(fault.partition(" ")[0]) if fault[0].isdigit() else 0
                data = json.dumps({"kind": "Status", "message": f"fault {fault}"}).encode()
            proxy.log.append(Exchange(exchange.method, exchange.path, exchange.query, parsed, code))
            if fault in (Fault.SILENT, Fault.SILENT_AFTER):
                proxy.released.wait(60)
                self.close_connection = True
                return
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_PATCH = do_DELETE = do_PUT = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Silence."""

    server = Server(("127.0.0.1", 0), Handler)
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield proxy
        proxy.check()
    finally:
        proxy.released.set()
        server.shutdown()
        server.server_close()
