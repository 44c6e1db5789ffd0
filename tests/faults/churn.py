"""A cluster that never rests: objects of all kinds come, change and go, at random and seeded."""

from __future__ import annotations

import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from tests.controlplane import Client, StatusError
from tests.controlplane.client import object_path
from tests.e2e.situations import node_object, pod_object
from tests.kit.live_api import LiveApi

Object = dict[str, Any]
NAMESPACE = "default"
DRIVER = "gpu.example.com"
_NAMES = 12
_RESOURCE = "resource.k8s.io/v1"


class Target(Protocol):
    """Where objects are written."""

    def put(self, item: Object, change: Object) -> None:
        """Create ``item``, or apply ``change`` as a merge patch where it is there already."""

    def delete(self, kind: str, name: str) -> None:
        """Delete an object."""


class RealTarget:
    """A real API server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def put(self, item: Object, change: Object) -> None:
        """Create or patch."""
        try:
            self._client.create(item)
        except StatusError as error:
            if error.code != 409:
                raise
            meta = item["metadata"]
            path = object_path(item["apiVersion"], item["kind"], meta.get("namespace", ""), meta["name"])
            self._client.request("PATCH", path, change)

    def delete(self, kind: str, name: str) -> None:
        """Delete."""
        version = "v1" if kind in ("Node", "Pod") else _RESOURCE
        self._client.delete(version, kind, name, NAMESPACE)


class FakeTarget:
    """A fake one."""

    def __init__(self, api: LiveApi) -> None:
        self._api = api

    def put(self, item: Object, change: Object) -> None:
        """Create or change; a change is another label."""
        item["metadata"].setdefault("uid", str(uuid.uuid4()))
        item["metadata"]["labels"] = change["metadata"]["labels"]
        self._api.put(item["kind"], item)

    def delete(self, kind: str, name: str) -> None:
        """Delete."""
        self._api.delete(kind, name, NAMESPACE if kind in ("Pod", "ResourceClaim") else "")


def _slice(name: str) -> Object:
    devices = [{"name": f"gpu-{n}", "attributes": {"uuid": {"string": str(uuid.uuid4())}}} for n in range(4)]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": name.replace("slice", "node"), "pool": pool, "devices": devices}
    return {"apiVersion": _RESOURCE, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def _claim(name: str) -> Object:
    request = {"name": "gpu", "exactly": {"deviceClassName": "class-1", "count": 1}}
    spec = {"devices": {"requests": [request]}}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": _RESOURCE, "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def _class(name: str) -> Object:
    return {"apiVersion": _RESOURCE, "kind": "DeviceClass", "metadata": {"name": name}, "spec": {}}


def _rule(name: str) -> Object:
    taint = {"key": "example.com/broken", "effect": "NoSchedule"}
    spec = {"deviceSelector": {"driver": DRIVER, "pool": "slice-1"}, "taint": taint}
    return {"apiVersion": _RESOURCE, "kind": "DeviceTaintRule", "metadata": {"name": name}, "spec": spec}


def _pod(name: str) -> Object:
    pod = pod_object(name, claims=(name.replace("pod", "claim"),), requests={"cpu": "100m"})
    pod["metadata"]["namespace"] = NAMESPACE
    return pod


_MAKERS: dict[str, tuple[str, Callable[[str], Object]]] = {
    "Node": ("node", node_object),
    "ResourceSlice": ("slice", _slice),
    "ResourceClaim": ("claim", _claim),
    "DeviceClass": ("class", _class),
    "DeviceTaintRule": ("rule", _rule),
    "Pod": ("pod", _pod),
}


class Churn:
    """Threads that write until they are stopped."""

    def __init__(self, target: Target, seed: int, threads: int = 2, pause: float = 0.0) -> None:
        self.done: Counter[str] = Counter()
        self.errors: list[BaseException] = []
        self._target = target
        self._stopped = threading.Event()
        self._pause = pause
        self._threads = [threading.Thread(target=self._run, args=(seed + n,), daemon=True) for n in range(threads)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End, and wait for what is under way."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(60)

    def _run(self, seed: int) -> None:
        chance = random.Random(seed)
        try:
            while not self._stopped.wait(self._pause):
                self._step(chance)
        except BaseException as error:
            self.errors.append(error)

    def _step(self, chance: random.Random) -> None:
        kind = chance.choice(sorted(_MAKERS))
        prefix, make = _MAKERS[kind]
        name = f"{prefix}-{chance.randrange(_NAMES)}"
        try:
            if chance.random() < 0.3:
                self._target.delete(kind, name)
                self.done["deleted"] += 1
            else:
                change = {"metadata": {"labels": {"churn": str(chance.randrange(10**6))}}}
                self._target.put(make(name), change)
                self.done["written"] += 1
        except StatusError as error:
            # Two threads meet at one object, or a controller was faster.
            if error.code not in (404, 409):
                raise
            self.done["conflicts"] += 1


def clear(client: Client) -> None:
    """Delete what a churn may have left on a real server."""
    target = RealTarget(client)
    for kind in ("Pod", *(kind for kind in _MAKERS if kind != "Pod")):
        for number in range(_NAMES):
            target.delete(kind, f"{_MAKERS[kind][0]}-{number}")
