"""A recording proxy between a command and an API server: what was asked, in which order, and faults on demand."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.kit.proxy import Call, ProxyHandler, ProxyServer, serving

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
class Exchange(Call):
    """One request and the code of its answer."""

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

    log: list[Exchange | str] = field(default_factory=list)
    fault: Fault | None = None
    hidden: frozenset[str] = frozenset()
    unserved: frozenset[str] = frozenset()
    dead: bool = False
    url: str = ""
    #: What somebody else does while the next write is under way.
    meanwhile: Callable[[], object] | None = None
    watches: set[http.client.HTTPConnection] = field(default_factory=set)

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

    def lose(self) -> None:
        """Nothing is answered any more, and what is followed ends, until :meth:`restore`."""
        self.fault, self.dead = Fault.DIES, True
        self.end_watches()

    def restore(self) -> None:
        """As before."""
        self.fault, self.dead = None, False

    def end_watches(self) -> None:
        """Whoever follows lists has to begin anew."""
        for connection in list(self.watches):
            with suppress(OSError, AttributeError):
                connection.sock.shutdown(socket.SHUT_RDWR)


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


class _Handler(ProxyHandler):
    server: _Server

    def answer(self, call: Call, body: bytes) -> None:
        proxy = self.server.proxy
        parsed = json.loads(body) if body else None
        exchange = Exchange(call.method, call.path, call.query, parsed, 0)
        fault = proxy.fault if exchange.writes or proxy.dead else None
        proxy.dead = proxy.dead or fault is Fault.DIES
        if fault is not None and not proxy.dead:
            proxy.fault = None
        if call.watch and fault is None:
            proxy.log.append(exchange)
            self._follow()
            return
        if exchange.writes and proxy.meanwhile is not None:
            act, proxy.meanwhile = proxy.meanwhile, None
            act()
        code, data = 0, b"{}"
        if fault in (None, Fault.FAILS_AFTER, Fault.CONFLICT_AFTER, Fault.SILENT_AFTER):
            code, data = self._forward(body)
        if fault is not None:
            code = int(fault.partition(" ")[0]) if fault[0].isdigit() else 0
            data = json.dumps({"kind": "Status", "message": f"fault {fault}"}).encode()
        proxy.log.append(replace(exchange, code=code))
        if fault in (Fault.SILENT, Fault.SILENT_AFTER):
            self.server.closed.wait(60)
            self.close_connection = True
            return
        self.send(code, data)

    def _follow(self) -> None:
        """Hand on a watch as it comes, until it ends."""
        proxy, connection = self.server.proxy, self.server.connect()
        proxy.watches.add(connection)
        # Whoever watches lists anew when it ends.
        with suppress(OSError, http.client.HTTPException), closing(connection):
            answer = self.ask(connection, b"")
            self.head(answer.status, {"Connection": "close"})
            while not proxy.dead and (data := answer.read1()):
                self.wfile.write(data)
                self.wfile.flush()
        proxy.watches.discard(connection)
        self.close_connection = True

    def _forward(self, body: bytes) -> tuple[int, bytes]:
        """Ask the real server, as if it had no ``unserved`` versions."""
        proxy, target = self.server.proxy, self.path
        if _version(target) in proxy.unserved:
            return 404, b'{"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}'
        with closing(self.server.connect()) as connection:
            answer = self.ask(connection, body)
            data = answer.read()
        if target == _GROUP and proxy.unserved:
            data = _without_versions(data, proxy.unserved)
        hidden = {f"{_GROUP}/{version}" for version in proxy.hidden}
        return answer.status, _without_rules(data) if target in hidden else data


class _Server(ProxyServer):
    proxy: Proxy


@contextmanager
def recording(upstream: str, certificate: Path | None = None) -> Iterator[Proxy]:
    """A proxy on a free port; what holds for every call is checked at the end."""
    server = _Server(_Handler, upstream, certificate)
    server.proxy = proxy = Proxy(url=server.url)
    with serving(server):
        try:
            yield proxy
            proxy.check()
        finally:
            proxy.end_watches()
