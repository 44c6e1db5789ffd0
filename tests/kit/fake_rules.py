"""A fake API server that holds a cluster and lets DeviceTaintRules be written, with the checks of the real one."""

from __future__ import annotations

import json
import threading
from copy import deepcopy
from typing import Any

from kubectl_dra.source.demo import CLUSTER
from tests.kit.fake_api import Answer, FakeApi, Request, chunk_of, status

Object = dict[str, Any]
GROUP = "resource.k8s.io"
PLURAL = "devicetaintrules"
_SERVED = ["resourceclaims", "resourceslices", "deviceclasses"]
_CONDITION = {"type": "EvictionInProgress", "status": "False", "lastTransitionTime": "2026-11-21T12:00:00Z"}


class FakeCluster(FakeApi):
    """The demo cluster, or other ``items``; ``rules`` by name are what is true at the moment."""

    def __init__(self, items: list[Object] | None = None, version: str = "v1") -> None:
        super().__init__()
        self.items: list[Object] = items if items is not None else json.loads(CLUSTER.read_bytes())["items"]
        self.version = version
        self.rules = {i["metadata"]["name"]: i for i in self.items if i["kind"] == "DeviceTaintRule"}
        self.counts: str | None = None
        self._lock = threading.Lock()
        self._revision = 100_000
        self.serve_versions(
            {v: [*_SERVED, *([PLURAL] if v == version else [])] for v in dict.fromkeys(("v1", version))}
        )
        for kind, api_version in (("Pod", "v1"), ("ResourceClaim", f"{GROUP}/v1"), ("ResourceSlice", f"{GROUP}/v1")):
            self.serve(kind, self._of(kind), api_version)

    @property
    def base(self) -> str:
        """The path of the list of rules."""
        return f"/apis/{GROUP}/{self.version}/{PLURAL}"

    def _of(self, kind: str) -> list[Object]:
        return [item for item in self.items if item["kind"] == kind]

    def find(self, kind: str, name: str) -> Object:
        """An object by kind and name."""
        return next(item for item in self._of(kind) if item["metadata"]["name"] == name)

    def add(self, item: Object) -> None:
        """One more object of a kind that is served already."""
        self.items.append(item)
        version = "v1" if item["kind"] == "Pod" else f"{GROUP}/v1"
        self.serve(item["kind"], self._of(item["kind"]), version)

    def answer(self, request: Request) -> Answer:
        """Rules and single pods; everything else by its route."""
        override = self.routes.get(request.path)
        if request.path.startswith(self.base) and not isinstance(override, Answer):
            self.requests.append(request)
            with self._lock:
                return self._rules(request)
        if request.path.startswith("/api/v1/namespaces/"):
            return self._pod(request)
        return super().answer(request)

    def _pod(self, request: Request) -> Answer:
        _, _, _, _, namespace, _, name = request.path.split("/")
        for pod in self._of("Pod"):
            if (pod["metadata"]["namespace"], pod["metadata"]["name"]) == (namespace, name):
                return Answer({"apiVersion": "v1", **pod})
        return status(404, f'pods "{name}" not found', "NotFound")

    def _rules(self, request: Request) -> Answer:
        name = request.path.removeprefix(self.base).strip("/")
        if request.method == "POST":
            return self._create(request)
        if not name:
            return chunk_of(request, "DeviceTaintRule", list(self.rules.values()), f"{GROUP}/{self.version}")
        if name not in self.rules:
            return status(404, f'{PLURAL}.{GROUP} "{name}" not found', "NotFound")
        if request.method == "GET":
            return Answer(self.rules[name])
        return self._patch(request, name) if request.method == "PATCH" else self._delete(request, name)

    def _create(self, request: Request) -> Answer:
        rule = json.loads(request.body)
        name = rule["metadata"]["name"]
        if name in self.rules:
            return status(409, f'{PLURAL}.{GROUP} "{name}" already exists', "AlreadyExists")
        rule["metadata"] |= {"uid": f"uid-{name}", "generation": 1, "resourceVersion": self._next()}
        rule["spec"]["taint"].setdefault("timeAdded", "2026-11-21T12:00:00Z")
        if "All" not in request.query.get("dryRun", ""):
            self.rules[name] = rule
            if self.counts is not None and rule["spec"]["taint"]["effect"] == "None":
                condition = {**_CONDITION, "reason": "NoEffect", "message": self.counts, "observedGeneration": 1}
                rule["status"] = {"conditions": [condition]}
        return Answer(rule, 201)

    def _patch(self, request: Request, name: str) -> Answer:
        patch, rule = json.loads(request.body), deepcopy(self.rules[name])
        if (conflict := self._conflict(patch["metadata"], name)) is not None:
            return conflict
        taint = {**rule["spec"]["taint"], **patch["spec"]["taint"]}
        rule["spec"]["taint"] = {key: value for key, value in taint.items() if value is not None}
        rule["metadata"]["resourceVersion"] = self._next()
        if "All" not in request.query.get("dryRun", ""):
            self.rules[name] = rule
        return Answer(rule)

    def _delete(self, request: Request, name: str) -> Answer:
        options = json.loads(request.body or b"{}")
        if (conflict := self._conflict(options.get("preconditions", {}), name)) is not None:
            return conflict
        if "All" not in options.get("dryRun", ()):
            del self.rules[name]
        return Answer({"kind": "Status", "apiVersion": "v1", "status": "Success"})

    def _conflict(self, wanted: Object, name: str) -> Answer | None:
        metadata = self.rules[name]["metadata"]
        if all(wanted.get(field, metadata[field]) == metadata[field] for field in ("uid", "resourceVersion")):
            return None
        return status(
            409, f'Operation cannot be fulfilled on {PLURAL}.{GROUP} "{name}": it has been modified', "Conflict"
        )

    def _next(self) -> str:
        self._revision += 1
        return str(self._revision)
