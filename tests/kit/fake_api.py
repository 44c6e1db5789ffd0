"""A small HTTP server that answers as an API server would, or as none ever should."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.source.spec import Connection
from tests.kit.http import Server

PLURALS = {
    "Pod": "pods",
    "Node": "nodes",
    "Namespace": "namespaces",
    "ResourceClaim": "resourceclaims",
    "ResourceSlice": "resourceslices",
    "DeviceClass": "deviceclasses",
    "DeviceTaintRule": "devicetaintrules",
    "Event": "events",
    "ResourceQuota": "resourcequotas",
    "ResourceClaimTemplate": "resourceclaimtemplates",
    "ResourceClass": "resourceclasses",
    "PodSchedulingContext": "podschedulingcontexts",
    "ResourceClaimParameters": "resourceclaimparameters",
    "ResourceClassParameters": "resourceclassparameters",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "PersistentVolume": "persistentvolumes",
    "StorageClass": "storageclasses",
    "CSINode": "csinodes",
    "CSIDriver": "csidrivers",
    "CSIStorageCapacity": "csistoragecapacities",
    "VolumeAttachment": "volumeattachments",
    "PriorityClass": "priorityclasses",
    "DaemonSet": "daemonsets",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "Service": "services",
    "LimitRange": "limitranges",
    "RuntimeClass": "runtimeclasses",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers",
    "PodGroup": "podgroups",
    "Workload": "workloads",
    "CompositePodGroup": "compositepodgroups",
}

_ALWAYS_SERVED = ("Pod", "Node", "ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule")


@dataclass(frozen=True)
class Answer:
    """What a request gets; ``seconds`` before it, ``cut`` bytes left out at its end, ``closed``: no answer at all.

    ``stream`` gives lines of an answer that goes on, as a watch does; bytes are sent as they are.
    """

    body: Any = None
    code: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cut: int = 0
    closed: bool = False
    stream: Iterable[Any] | None = None


@dataclass(frozen=True)
class Request:
    """What was asked."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""


Route = Answer | Callable[[Request], Answer]


class FakeApi:
    """Routes by path; everything else is 404. Lists are served in chunks as the ``limit`` says."""

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        self.requests: list[Request] = []
        self.url = ""
        self.serve_versions({"v1": ["resourceclaims", "resourceslices", "deviceclasses", "devicetaintrules"]})
        self.routes["/version"] = Answer({"major": "1", "minor": "37", "gitVersion": "v1.37.1"})
        for kind in ("Pod", "Node", "Namespace", "Event"):
            self.serve(kind, [])
        for kind in ("ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule"):
            self.serve(kind, [], "resource.k8s.io/v1")

    def serve_versions(self, versions: Mapping[str, list[str]]) -> None:
        """Discovery of resource.k8s.io: versions, best first, with the plurals of each."""
        self._serve_group("resource.k8s.io", versions)

    def serve_groups(self, versions: Mapping[str, list[str]]) -> None:
        """Discovery of scheduling.k8s.io."""
        self._serve_group("scheduling.k8s.io", versions)

    def _serve_group(self, group: str, versions: Mapping[str, list[str]]) -> None:
        named = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
        self.routes[f"/apis/{group}"] = Answer({"kind": "APIGroup", "name": group, "versions": named})
        for version, plurals in versions.items():
            resources = [{"name": plural} for plural in plurals]
            self.routes[f"/apis/{group}/{version}"] = Answer({"kind": "APIResourceList", "resources": resources})

    def serve_foreign(self, group: str, version: str, **lists: list[dict[str, Any]]) -> None:
        """Kinds of another project by their plurals, in a version that the server prefers to an older one."""
        named = {"groupVersion": f"{group}/{version}", "version": version}
        older = {"groupVersion": f"{group}/v0", "version": "v0"}
        group_ = {"kind": "APIGroup", "versions": [older, named], "preferredVersion": named}
        self.routes[f"/apis/{group}"] = Answer(group_)
        resources = [{"name": plural} for plural in (*lists, "others")]
        self.routes[f"/apis/{group}/{version}"] = Answer({"kind": "APIResourceList", "resources": resources})
        self.routes[f"/apis/{group}/v0"] = Answer({"kind": "APIResourceList", "resources": [{"name": "old"}]})
        for plural, items in lists.items():
            self.routes[f"/apis/{group}/{version}/{plural}"] = lambda request, items=items: chunk_of(
                request, "Any", items, f"{group}/{version}"
            )

    def serve(self, kind: str, items: list[Any], api_version: str = "v1", namespace: str = "") -> str:
        """Serve a list; its path."""
        scope = f"/namespaces/{namespace}" if namespace else ""
        path = f"/{'apis' if '/' in api_version else 'api'}/{api_version}{scope}/{PLURALS[kind]}"
        self.routes[path] = lambda request: chunk_of(request, kind, items, api_version)
        return path

    def forbid(self, path: str, text: str = "forbidden") -> None:
        """Answer 403."""
        self.routes[path] = status(403, text, "Forbidden")

    def asked(self, path: str) -> list[Request]:
        """The requests for one path."""
        return [request for request in self.requests if request.path == path]

    def answer(self, request: Request) -> Answer:
        """What a request gets."""
        self.requests.append(request)
        route = self.routes.get(request.path, status(404, "the server could not find the requested resource"))
        return route if isinstance(route, Answer) else route(request)


def chunk_of(request: Request, kind: str, items: list[Any], api_version: str) -> Answer:
    """The part of a list that a request asks for; the continue token is the position."""
    if kind == "Pod":
        items = [each for each in items if _has_phase(each, request.query.get("fieldSelector", ""))]
    start = int(request.query.get("continue", "0"))
    end = start + (int(request.query.get("limit", "0")) or len(items))
    metadata: dict[str, Any] = {"resourceVersion": "7"}
    if end < len(items):
        metadata |= {"continue": str(end), "remainingItemCount": len(items) - end}
    return Answer({"kind": f"{kind}List", "apiVersion": api_version, "metadata": metadata, "items": items[start:end]})


def _has_phase(pod: Any, selector: str) -> bool:
    """Whether the API server would list a pod, by its phase."""
    phase = pod.get("status", {}).get("phase", "Pending")
    for part in selector.split(",") if selector else ():
        field, unequal, value = part.partition("!=") if "!=" in part else part.partition("=")
        if field == "status.phase" and (phase == value) is (unequal == "!="):
            return False
    return True


def status(code: int, message: str, reason: str = "") -> Answer:
    """A Status body."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason}
    return Answer({**body, "code": code}, code)


@contextmanager
def running(api: FakeApi) -> Iterator[FakeApi]:
    """Serve ``api`` on a free port."""
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            query, headers = dict(parse_qsl(url.query)), dict(self.headers.items())
            answer = api.answer(Request(url.path, query, headers, self.command, body))
            if answer.seconds:
                deadline = time.monotonic() + answer.seconds
                released.wait(max(0.0, deadline - time.monotonic()))
            if answer.closed:
                self.close_connection = True
                return
            if answer.stream is not None:
                self._send_stream(answer.stream)
                return
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.code)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: len(body) - answer.cut])
            self.close_connection = bool(answer.cut)

        def _send_stream(self, lines: Iterable[Any]) -> None:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            with contextlib.suppress(OSError):
                self._send_lines(lines)

        def _send_lines(self, lines: Iterable[Any]) -> None:
            for line in lines:
                data = line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        do_POST = do_PATCH = do_DELETE = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Silence."""

    server = Server(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        released.set()
        server.shutdown()
        server.server_close()


def serve_cluster(api: FakeApi, items: Iterable[Any], refused: Collection[str] = (), own: str = "") -> None:
    """Serve all of a cluster, in every namespace and across them; kinds that may not be read answer 403.

    In the namespace ``own`` everything that lives in namespaces may be read all the same.
    """
    items = list(items)
    plurals = ["resourceclaims", "resourceslices", "deviceclasses", "devicetaintrules", "resourceclaimtemplates"]
    api.serve_versions({"v1": plurals})
    if any(item["kind"] == "PodGroup" for item in items):
        api.serve_groups({"v1beta1": ["podgroups"]})
    for kind in PLURALS:
        of_kind = [item for item in items if item["kind"] == kind]
        if of_kind or kind in refused or kind in _ALWAYS_SERVED:
            _serve_kind(api, kind, of_kind, kind in refused, own)
    for item in items:
        if BY_NAME[item["kind"]].workload:
            path = f"{item['metadata']['namespace']}/{BY_NAME[item['kind']].plural}/{item['metadata']['name']}"
            api.routes[f"/apis/{item['apiVersion']}/namespaces/{path}"] = Answer(item)


def _serve_kind(api: FakeApi, kind: str, items: list[Any], refused: bool, own: str) -> None:
    version, group = BY_NAME[kind].api_version, BY_NAME[kind].group
    for namespace in {"", "ml", *(item["metadata"].get("namespace", "") for item in items)}:
        here = [item for item in items if namespace in ("", item["metadata"].get("namespace"))]
        path = api.serve(kind, here, version, namespace)
        if refused and not (own and namespace == own and BY_NAME[kind].namespaced):
            # As forbiddenMessage of apiserver/pkg/endpoints/handlers/responsewriters/errors.go has it.
            where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
            api.forbid(path, f'User "dev" cannot list resource "{PLURALS[kind]}" in API group "{group}" {where}')


def write_kubeconfig(
    folder: Path,
    server: str,
    user: Mapping[str, Any] | None = None,
    cluster: Mapping[str, Any] | None = None,
    namespace: str = "ml",
) -> Path:
    """A kubeconfig with the context ``fake``."""
    path = folder / "kubeconfig"
    content = {
        "current-context": "fake",
        "clusters": [{"name": "fake", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": "someone", "user": dict(user or {})}],
        "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "someone", "namespace": namespace}}],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def connection_to(folder: Path, api: FakeApi, user: Mapping[str, Any] | None = None, **options: Any) -> Connection:
    """kubectl's flags for ``api``."""
    return Connection(kubeconfig=str(write_kubeconfig(folder, api.url, user)), **options)
