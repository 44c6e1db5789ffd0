"""A fast API server whose cluster changes: ``python -m bench.churning FOLDER`` prints its URL and serves.

``GET /bench/rate/NUMBER`` sets how many events a second it makes: pods that report or are replaced, claims that come,
go and change hands, nodes that report. Lists always say what the events add up to.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import sys
import threading
import time
from array import array
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from bench.world import KINDS

_GROUP = "resource.k8s.io"
_EMPTY = {
    "namespaces": ("v1", "Namespace"),
    "events": ("v1", "Event"),
    "resourcequotas": ("v1", "ResourceQuota"),
    "devicetaintrules": (f"{_GROUP}/v1", "DeviceTaintRule"),
    "resourceclaimtemplates": (f"{_GROUP}/v1", "ResourceClaimTemplate"),
}
_SERVED = {**KINDS, **_EMPTY}
_PATH = re.compile(r"/(?:api/v1|apis/resource\.k8s\.io/v1)/([a-z]+)")
_TICK = 0.02
#: How many of a thousand events are about which kind.
_SHARES = {"pods": 700, "resourceclaims": 200, "nodes": 100}
_VERSION = re.compile(rb'"resourceVersion":"\d+"')
_RESERVED = re.compile(rb'"reservedFor":\[.*?\]')


class Kind:
    """One kind's objects: what was recorded, and what has become of some of them."""

    def __init__(self, folder: Path, plural: str) -> None:
        self.version, self.kind = _SERVED[plural]
        self.offsets = array("Q", [0])
        self.file = -1
        if (path := folder / f"{plural}.index").exists():
            self.offsets = array("Q", path.read_bytes())
            self.file = os.open(folder / f"{plural}.items", os.O_RDONLY)
        self.changed: dict[int, bytes | None] = {}
        self.events: list[tuple[int, bytes]] = []
        self.news = threading.Condition()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def item(self, index: int) -> bytes | None:
        """An object as it is now; None where it is gone."""
        if index in self.changed:
            return self.changed[index]
        start, end = self.offsets[index], self.offsets[index + 1]
        return os.pread(self.file, end - start - 2, start)

    def page(self, limit: int, start: int, position: int) -> bytes:
        """A list from ``start`` on; the continue token is the index."""
        end = min(start + limit, len(self)) if limit else len(self)
        meta: dict[str, object] = {"resourceVersion": str(position)}
        if end < len(self):
            meta["continue"] = str(end)
        head = json.dumps({"kind": f"{self.kind}List", "apiVersion": self.version, "metadata": meta})[:-1]
        items = (self.item(index) for index in range(start, end))
        return b'%s,"items":[%s]}' % (head.encode(), b",".join(item for item in items if item is not None))

    def tell(self, position: int, event: str, item: bytes) -> None:
        """One event to every watch."""
        line = b'{"type":"%s","object":{"kind":"%s","apiVersion":"%s",%s}\n' % (
            event.encode(),
            self.kind.encode(),
            self.version.encode(),
            item[1:],
        )
        with self.news:
            self.events.append((position, line))
            self.news.notify_all()


class Cluster:
    """All kinds, and the thread that changes them."""

    def __init__(self, folder: Path) -> None:
        self.kinds = {plural: Kind(folder, plural) for plural in _SERVED}
        self.position = 1_000_000
        self.rate = 0
        self._chance = random.Random(1)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        owed, last = 0.0, time.monotonic()
        while True:
            time.sleep(_TICK)
            now = time.monotonic()
            owed, last = min(owed + (now - last) * self.rate, 2.0 * self.rate * 0.1 + 1), now
            while owed >= 1:
                owed -= 1
                self._step()

    def _step(self) -> None:
        position = self.position + 1
        self._change(position)
        # Only now: a list that is said to be of this position without its change would never hear of that.
        self.position = position

    def _change(self, position: int) -> None:
        plural = self._chance.choices(list(_SHARES), list(_SHARES.values()))[0]
        kind = self.kinds[plural]
        index = self._chance.randrange(len(kind))
        item, fresh = kind.item(index), b'"resourceVersion":"%d"' % position
        if item is None:
            start, end = kind.offsets[index], kind.offsets[index + 1]
            item = _VERSION.sub(fresh, os.pread(kind.file, end - start - 2, start), count=1)
            kind.changed[index] = item
            kind.tell(position, "ADDED", item)
            return
        item = _VERSION.sub(fresh, item, count=1)
        if plural != "nodes" and self._chance.random() < 0.2:
            kind.changed[index] = None
            kind.tell(position, "DELETED", item)
            return
        if plural == "resourceclaims" and self._chance.random() < 0.5:
            item = _RESERVED.sub(b'"reservedFor":[]', item, count=1)
        kind.changed[index] = item
        kind.tell(position, "MODIFIED", item)


def _discovery() -> dict[str, bytes]:
    names = [{"name": name} for name, (version, _) in _SERVED.items() if version != "v1"]
    versions = [{"groupVersion": f"{_GROUP}/v1", "version": "v1"}]
    return {
        "/version": b'{"major":"1","minor":"37","gitVersion":"v1.37.1"}',
        f"/apis/{_GROUP}": json.dumps({"kind": "APIGroup", "name": _GROUP, "versions": versions}).encode(),
        f"/apis/{_GROUP}/v1": json.dumps({"kind": "APIResourceList", "resources": names}).encode(),
    }


def serve(folder: Path) -> None:
    """Print the URL and serve until the process is ended."""
    cluster, fixed = Cluster(folder), _discovery()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query, match = dict(parse_qsl(url.query)), _PATH.fullmatch(url.path)
            if url.path.startswith("/bench/rate/"):
                cluster.rate = int(url.path.rpartition("/")[2])
                self._send(200, str(cluster.position).encode())
            elif url.path in fixed:
                self._send(200, fixed[url.path])
            elif match is None or match[1] not in cluster.kinds:
                self._send(404, b'{"kind":"Status","code":404}')
            elif "watch" in query:
                self._watch(cluster.kinds[match[1]], int(query["resourceVersion"]))
            else:
                limit, start = int(query.get("limit") or 0), int(query.get("continue") or 0)
                self._send(200, cluster.kinds[match[1]].page(limit, start, cluster.position))

        def _send(self, code: int, body: bytes) -> None:
            head = f"HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            self.wfile.write(head.encode() + body)

        def _watch(self, kind: Kind, position: int) -> None:
            self.wfile.write(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n")
            # Until the client has gone.
            with contextlib.suppress(OSError):
                for lines in _stream(kind, position):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(lines), lines))
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


def _stream(kind: Kind, position: int) -> Iterator[bytes]:
    seen = 0
    while True:
        with kind.news:
            while seen == len(kind.events):
                kind.news.wait()
            fresh, seen = kind.events[seen:], len(kind.events)
        lines = b"".join(line for version, line in fresh if version > position)
        if lines:
            yield lines


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
