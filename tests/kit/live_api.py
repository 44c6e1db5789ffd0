"""A fake API server with one history for all kinds: lists, watches that resume, bookmarks, positions that expire."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from tests.kit.fake_api import Answer, FakeApi, Request, chunk_of, status

Object = dict[str, Any]
_RESOURCE = "resource.k8s.io/v1"
KINDS = {
    "Node": "v1",
    "Pod": "v1",
    "Namespace": "v1",
    "Event": "v1",
    "ResourceClaim": _RESOURCE,
    "ResourceSlice": _RESOURCE,
    "DeviceClass": _RESOURCE,
    "DeviceTaintRule": _RESOURCE,
}
_BOOKMARK_SECONDS = 1.0


class LiveApi(FakeApi):
    """Objects by kind, and what happened to them."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, dict[tuple[str, str], Object]] = {kind: {} for kind in KINDS}
        self.version = 100
        # Fields that this server can't select slices by.
        self.unselectable: frozenset[str] = frozenset()
        self._history: list[tuple[int, str, bytes]] = []
        self._oldest = 100
        self._news = threading.Condition()
        self._closed = False
        for kind, api_version in KINDS.items():
            path = self.serve(kind, [], api_version)
            self.routes[path] = lambda request, kind=kind: self._answer(request, kind)  # type: ignore[misc]

    def put(self, kind: str, item: Object) -> None:
        """Create or change an object."""
        metadata = item["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        with self._news:
            event = "MODIFIED" if key in self.objects[kind] else "ADDED"
            self._add(kind, key, event, deepcopy(item))

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Delete an object, if it is there."""
        with self._news:
            item = self.objects[kind].get((namespace, name))
            if item is not None:
                self._add(kind, (namespace, name), "DELETED", deepcopy(item))

    def forget(self) -> None:
        """From now on positions before this moment are too old."""
        with self._news:
            self._history.clear()
            self._oldest = self.version

    def close(self) -> None:
        """End all watches."""
        with self._news:
            self._closed = True
            self._news.notify_all()

    def _add(self, kind: str, key: tuple[str, str], event: str, item: Object) -> None:
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        if event == "DELETED":
            del self.objects[kind][key]
        else:
            self.objects[kind][key] = item
        line = json.dumps({"type": event, "object": item}).encode() + b"\n"
        self._history.append((self.version, kind, line))
        self._news.notify_all()

    def _answer(self, request: Request, kind: str) -> Answer:
        fields = self._fields(request) if kind == "ResourceSlice" else {}
        if self.unselectable & fields.keys():
            return status(400, "field label not supported", "BadRequest")
        with self._news:
            if "watch" in request.query:
                if int(request.query["resourceVersion"]) < self._oldest:
                    return status(410, "too old resource version", "Expired")
                return Answer(stream=self._stream(kind, int(request.query["resourceVersion"]), fields))
            chosen = [item for item in self.objects[kind].values() if _has(item, fields)]
            answer = chunk_of(request, kind, chosen, KINDS[kind])
            answer.body["metadata"]["resourceVersion"] = str(self.version)
            return Answer(json.dumps(answer.body).encode())

    def _fields(self, request: Request) -> dict[str, str]:
        pairs = filter(None, request.query.get("fieldSelector", "").split(","))
        return dict(pair.split("=", 1) for pair in pairs)  # type: ignore[misc]

    def _stream(self, kind: str, position: int, fields: dict[str, str]) -> Iterator[bytes]:
        while not self._closed:
            with self._news:
                if self.version <= position and not self._news.wait(_BOOKMARK_SECONDS):
                    lines = []
                else:
                    if position < self._oldest:
                        return
                    lines = [line for version, of, line in self._history if version > position and of == kind]
                    if fields:
                        lines = [line for line in lines if _has(json.loads(line)["object"], fields)]
                position = self.version
            if not lines:
                bookmark = {"kind": kind, "metadata": {"resourceVersion": str(position)}}
                lines = [json.dumps({"type": "BOOKMARK", "object": bookmark}).encode() + b"\n"]
            yield b"".join(lines)


def _has(item: Object, fields: dict[str, str]) -> bool:
    spec = item.get("spec", {})
    known = {"spec.driver": spec.get("driver"), "spec.pool.name": spec.get("pool", {}).get("name")}
    return all(known.get(path) == value for path, value in fields.items())
