"""A fast API server that plays a recorded cluster back: ``python -m bench.server FOLDER`` prints its URL and serves.

Each kind is a file with one item a line and an index of where its pages begin, so that a page costs one read. It runs
in a process of its own: what it takes counts for nobody.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from bench.world import KINDS

_GROUP = "resource.k8s.io"
_EMPTY = {
    "namespaces": ("v1", "Namespace"),
    "events": ("v1", "Event"),
    "resourcequotas": ("v1", "ResourceQuota"),
    "devicetaintrules": ("resource.k8s.io/v1", "DeviceTaintRule"),
    "resourceclaimtemplates": ("resource.k8s.io/v1", "ResourceClaimTemplate"),
}
_SERVED = {**KINDS, **_EMPTY}
_WHOLE = frozenset({"nodes", "namespaces", "resourceslices", "deviceclasses", "devicetaintrules"})
_PATH = re.compile(r"/(?:api/v1|apis/resource\.k8s\.io/v1)(?:/namespaces/([^/]+))?/([a-z]+)(?:/([^/]+))?")


def record(folder: Path, cluster: dict[str, Iterable[str]]) -> None:
    """Write the files that :func:`serve` plays back: a line ends in a comma, so that a page is a piece of the file."""
    for plural, items in cluster.items():
        offsets, position = array("Q", [0]), 0
        with (folder / f"{plural}.items").open("wb") as file:
            for item in items:
                position += file.write(f"{item},\n".encode())
                offsets.append(position)
        (folder / f"{plural}.index").write_bytes(offsets.tobytes())


class _Recorded:
    """One kind's items."""

    def __init__(self, folder: Path, plural: str) -> None:
        self.offsets = array("Q", [0])
        self.file = -1
        if (path := folder / f"{plural}.index").exists():
            self.offsets = array("Q", path.read_bytes())
            self.file = os.open(folder / f"{plural}.items", os.O_RDONLY)
        self.version, self.kind = _SERVED[plural]
        self.found: dict[str, bytes] = {}

    def selected(self, fields: str) -> bytes:
        """The items with such fields, as ``spec.driver=D,spec.nodeName=N``: as texts, which is enough here."""
        if fields not in self.found:
            wanted = [pair.partition("=") for pair in fields.split(",")]
            texts = [f'"{path.rpartition(".")[2]}":"{value}"'.encode() for path, _, value in wanted]
            lines = os.pread(self.file, self.offsets[-1], 0).split(b"\n") if self.file >= 0 else []
            items = b",".join(line[:-1] for line in lines if line and all(text in line for text in texts))
            head = {"kind": f"{self.kind}List", "apiVersion": self.version, "metadata": {"resourceVersion": "900000"}}
            self.found[fields] = b'%s,"items":[%s]}' % (json.dumps(head)[:-1].encode(), items)
        return self.found[fields]

    def page(self, limit: int, start: int) -> bytes:
        """A list from ``start`` on; the continue token is the position."""
        last = len(self.offsets) - 1
        end = min(start + limit, last) if limit else last
        meta: dict[str, object] = {"resourceVersion": "900000"}
        if end < last:
            meta |= {"continue": str(end), "remainingItemCount": last - end}
        head = json.dumps({"kind": f"{self.kind}List", "apiVersion": self.version, "metadata": meta})[:-1]
        size = self.offsets[end] - self.offsets[start]
        items = os.pread(self.file, max(size - 2, 0), self.offsets[start]) if size else b""
        return b'%s,"items":[%s]}' % (head.encode(), items)

    def one(self, namespace: str, name: str) -> bytes | None:
        """The object of that name."""
        for start, end in zip(self.offsets, self.offsets[1:], strict=False):
            item = os.pread(self.file, end - start - 2, start)
            if f'"name":"{name}"'.encode() in item:
                found = json.loads(item)
                if found["metadata"]["name"] == name and found["metadata"].get("namespace", "") == namespace:
                    return json.dumps({"apiVersion": self.version, "kind": self.kind, **found}).encode()
        return None


def _discovery() -> dict[str, bytes]:
    core = {name: kind for name, (version, kind) in _SERVED.items() if version == "v1"}
    ours = {name: kind for name, (version, kind) in _SERVED.items() if version != "v1"}

    def resources(version: str, kinds: dict[str, str]) -> bytes:
        found = [
            {"name": n, "singularName": k.lower(), "namespaced": n not in _WHOLE, "kind": k, "verbs": ["get", "list"]}
            for n, k in kinds.items()
        ]
        return json.dumps({"kind": "APIResourceList", "groupVersion": version, "resources": found}).encode()

    version = {"groupVersion": f"{_GROUP}/v1", "version": "v1"}
    group = {"name": _GROUP, "versions": [version], "preferredVersion": version}
    return {
        "/version": b'{"major":"1","minor":"37","gitVersion":"v1.37.1"}',
        "/api": b'{"kind":"APIVersions","versions":["v1"]}',
        "/api/v1": resources("v1", core),
        "/apis": json.dumps({"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]}).encode(),
        f"/apis/{_GROUP}": json.dumps({"kind": "APIGroup", "apiVersion": "v1", **group}).encode(),
        f"/apis/{_GROUP}/v1": resources(f"{_GROUP}/v1", ours),
    }


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that don't wait for the whole answer are no matter."""


def serve(folder: Path) -> None:
    """Print the URL and serve until the process is ended."""
    fixed = _discovery()
    recorded = {plural: _Recorded(folder, plural) for plural in _SERVED}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            body = fixed.get(url.path) or self._recorded(url.path, dict(parse_qsl(url.query)))
            code = 200 if body is not None else 404
            text = body if body is not None else b'{"kind":"Status","status":"Failure","reason":"NotFound","code":404}'
            head = f"HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
            self.wfile.write(head.encode() + text)

        def _recorded(self, path: str, query: dict[str, str]) -> bytes | None:
            match = _PATH.fullmatch(path)
            if match is None or match[2] not in recorded:
                return None
            kind = recorded[match[2]]
            if match[3]:
                return kind.one(match[1] or "", match[3])
            fields = query.get("fieldSelector", "")
            # Lists of pods leave out finished ones, and there are none here; asked for alone they are an empty list.
            if fields == "status.phase=Failed" or (fields and match[2] == "resourceslices"):
                return kind.selected(fields)
            return kind.page(int(query.get("limit") or 0), int(query.get("continue") or 0))

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


@contextmanager
def serving(folder: Path) -> Iterator[dict[str, str]]:
    """Serve what was recorded in ``folder``; the environment in which clients talk to it, with caches of their own."""
    command = [sys.executable, "-m", "bench.server", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        try:
            kubeconfig = {
                "current-context": "bench",
                "clusters": [{"name": "bench", "cluster": {"server": process.stdout.readline().strip()}}],
                "users": [{"name": "bench", "user": {}}],
                "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
            }
            (folder / "kubeconfig").write_text(json.dumps(kubeconfig), encoding="utf-8")
            places = {
                "KUBECONFIG": folder / "kubeconfig",
                "KUBECACHEDIR": folder / "kube",
                "XDG_CACHE_HOME": folder / "xdg",
            }
            yield {**os.environ, **{name: str(path) for name, path in places.items()}}
        finally:
            process.terminate()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
