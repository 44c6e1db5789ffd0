"""A server that fails to give one list: every command answers from the others, and says what that leaves open."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.output.pending.visible import visible_lines
from kubectl_dra.reports.pending.visible import VisibleDevices
from kubectl_dra.source.demo import CLUSTER
from tests.kit.clock import PassingClock
from tests.kit.fake_api import Answer, FakeApi, Request, running, serve_cluster, status, write_kubeconfig

CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"
FAILED = "not read, because the server failed to list them"
BUSY = "the server was unable to return a response in the time allotted"
NODE = "gke-prod-h100-5f3a2b1c-x9zk"


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    """The demo cluster, whose list of all claims never comes; those of one namespace do."""
    monkeypatch.setenv("NO_COLOR", "1")
    with running(FakeApi()) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"])
        api.routes[CLAIMS] = status(504, BUSY, "Timeout")
        yield api


def said(capfd: Any, *words: str) -> tuple[int, str, str]:
    clock = PassingClock()
    clock.slept = 300.0
    code = run(words, clock)
    out, err = capfd.readouterr()
    return code, out, err


def unfolded(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("why-pending", "trainer-0"),
        ("why-pending -A", "21 pods with device claims are pending"),
        ("why-pending claim", "trainer-0-gpus-x9grb"),
        ("get pools", f"{NODE} {NODE} 8 ≤3 ?"),
        ("get devices", "gpu-7"),
        ("get classes", "gpu.example.com 32"),
        ("get nodes", f"{NODE} Ready 8 ≤3"),
        ("describe-pool rack-7", "Pool nic.example.com/rack-7"),
        (f"describe-node {NODE}", "8 devices of its own: ≤3 free"),
        ("capacity --class gpu.example.com", "gpu.example.com"),
        ("top classes", "gpu.example.com"),
        ("test-selector true", "Compiles"),
    ],
)
def test_what_the_other_lists_tell_is_said(api: FakeApi, capfd: Any, words: str, known: str) -> None:
    code, out, err = said(capfd, *words.split(), "--exit-code")
    told = unfolded(err + out)
    assert known in unfolded(out)
    assert told.count("note: http") == told.count(BUSY) == 1
    assert "This answer is incomplete: " in told
    assert FAILED in told
    assert "clusterrole" not in told, "no right is lacking"
    assert code in (3, 4)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("get claims -A", "kubectl dra get claims -n ml; without -A only one namespace is read"),
        ("why-pending claim -A", "kubectl dra why-pending resourceclaims -n ml; without -A only one namespace is read"),
    ],
)
def test_what_nothing_else_tells_is_an_error(api: FakeApi, capfd: Any, words: str, hint: str) -> None:
    code, out, err = said(capfd, *words.split())
    assert (code, out) == (1, "")
    assert "error: resourceclaims.resource.k8s.io could not be listed: the server failed\n" in err
    assert err.splitlines()[-1] == f"try:   {hint}"
    assert BUSY in err


def test_a_list_without_a_smaller_one_is_asked_for_again(api: FakeApi, capfd: Any) -> None:
    api.routes["/apis/resource.k8s.io/v1/resourceslices"] = status(429, "too many requests", "TooManyRequests")
    code, _, err = said(capfd, "get", "pools")
    assert code == 1
    assert "error: resourceslices.resource.k8s.io could not be listed: the server failed\n" in err
    assert "too many requests" in err
    assert "can-i" not in err
    assert err.splitlines()[-1].startswith("try:   again in a moment; ")


def test_a_name_that_is_not_there_is_left_open(api: FakeApi, capfd: Any) -> None:
    api.routes["/api/v1/nodes"] = status(500, BUSY)
    code, _, err = said(capfd, "describe-node", "nobody-knows")
    assert code == 1
    assert 'nodes "nobody-knows" could not be read: the server failed\n' in err
    assert "can-i" not in err


def test_of_a_kind_that_is_refused_beside_it_only_that_right_is_asked_for(api: FakeApi, capfd: Any) -> None:
    api.forbid("/api/v1/nodes", 'nodes is forbidden: User "dev" cannot list resource "nodes" in API group ""')
    _, out, _ = said(capfd, "describe-pool", "rack-7")
    assert "--resource=nodes " in out
    assert FAILED in unfolded(out)


def test_a_snapshot_says_which_list_failed(api: FakeApi, capfd: Any) -> None:
    _, out, err = said(capfd, "snapshot", "-n", "ml")
    reads = [each for each in json.loads(out)["reads"] if each["kind"] == "ResourceClaim"]
    assert {each["namespace"]: each["coverage"] for each in reads} == {"": "failed", "ml": "complete"}
    assert "ResourceClaim could be read" in err


def test_a_taint_is_not_planned_on_half_of_the_claims(api: FakeApi, capfd: Any) -> None:
    code, out, err = said(capfd, "taint-device", f"gpu.example.com/{NODE}/gpu-7", "a=b:NoSchedule", "--dry-run=client")
    assert (code, out) == (1, "")
    assert "the pods that a taint affects are unknown" in err
    assert BUSY in err
    assert err.splitlines()[-1].startswith("try:   again in a moment; ")


def test_the_first_part_of_a_list_of_claims_is_an_answer_in_part(api: FakeApi, capfd: Any) -> None:
    """What is in use according to it is; the rest is not known, and pods and slices are taken whole or not at all."""
    for kind in ("pods", "resourceslices", "resourceclaims"):
        path = "/api/v1/pods" if kind == "pods" else f"/apis/resource.k8s.io/v1/{kind}"
        serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"])
        whole = api.routes[path]
        assert callable(whole)

        def answer(request: Request, whole: Any = whole) -> Answer:
            if "continue" in request.query:
                return status(504, BUSY, "Timeout")
            first: Answer = whole(dataclasses.replace(request, query={**request.query, "limit": "2"}))
            return first

        api.routes[path] = answer
        _, out, err = said(capfd, "get", "claims", "-A", "-o", "json")
        missing = {each["kind"]: each["coverage"] for each in json.loads(out)["missing"]}
        if kind == "resourceclaims":
            assert missing == {"ResourceClaim": "partial"}
            assert len(json.loads(out)["items"]) > 0
        elif kind == "pods":
            assert missing == {"Pod": "failed"}
        assert (BUSY in err) is (kind != "resourceslices")


def small_cluster(held: bool, shared: bool) -> list[dict[str, Any]]:
    """A pod that waits for the only device, which another one has."""

    def claim(name: str, **status_: Any) -> dict[str, Any]:
        requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "count": 1}}]
        meta = {"name": name, "namespace": "ml", "uid": name}
        head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta}
        return {**head, "spec": {"devices": {"requests": requests}}, "status": status_}

    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}
    user = [{"resource": "pods", "name": "web", "uid": "w"}]
    given = {"allocation": {"devices": {"results": [result]}}, "reservedFor": user} if held else {}
    message = "0/1 nodes are available: 1 cannot allocate all claims."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    device = {"name": "gpu-0", **({"allowMultipleAllocations": True} if shared else {})}
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "nodeName": "n1", "devices": [device], "pool": pool}
    selector = {"cel": {"expression": "device.driver == 'gpu.example.com'"}}
    return [
        claim("taken", **given),
        claim("wanted"),
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "waits", "namespace": "ml", "uid": "p"},
            "spec": {
                "containers": [{"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
                "resourceClaims": [{"name": "gpu", "resourceClaimName": "wanted"}],
            },
            "status": {"phase": "Pending", "conditions": [condition]},
        },
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu.example.com"},
            "spec": {"selectors": [selector]},
        },
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec},
    ]


@pytest.mark.parametrize(("held", "shared"), [(True, False), (False, False), (True, True)])
def test_without_nodes_it_is_certain_that_no_device_is_free(api: FakeApi, capfd: Any, held: bool, shared: bool) -> None:
    serve_cluster(api, small_cluster(held, shared))
    api.routes["/api/v1/nodes"] = status(429, "too many requests")
    _, out, _ = said(capfd, "why-pending", "waits")
    text = unfolded(out)
    assert "The exact cause is unknown: Node could not be read" in text
    assert ("1 device matches the request; it is in use (web)." in text) is (held and not shared), text


def test_what_the_scheduler_says_of_a_class_comes_with_what_helps(api: FakeApi, capfd: Any) -> None:
    items = small_cluster(held=True, shared=False)
    pod = next(item for item in items if item["kind"] == "Pod")
    words = "0/1 nodes are available: request gpu: device class gpu.example.con does not exist."
    pod["status"]["conditions"][0]["message"] = words
    serve_cluster(api, items)
    for path in ("/api/v1/nodes", "/apis/resource.k8s.io/v1/deviceclasses"):
        api.routes[path] = status(429, "too many requests")
    _, out, _ = said(capfd, "why-pending", "waits")
    text = unfolded(out)
    assert '"request gpu: device class gpu.example.con does not exist"' in text
    assert "What usually helps: Install the driver, which normally creates the class. Or name an existing class" in text


def test_who_holds_devices_is_said_of_namespaces_only_where_all_of_them_are_there() -> None:
    def told(*holders: str) -> str:
        found = VisibleDevices("claim", "gpu", 16, 7, holders, ("ml",))
        return unfolded(" ".join(visible_lines((found,), "ml")))

    rest = "and who holds the others"
    assert told("ml/web") == f"16 devices match the request; 7 are in use in namespace ml (web), {rest} in other " + (
        "namespaces could not be read."
    )
    assert (
        told("ml/web", "lab/x") == f"16 devices match the request; 7 are in use (web, lab/x), {rest} could not be read."
    )


def test_a_snapshot_of_a_failing_server_is_read_as_it_was_taken(api: FakeApi, capfd: Any, tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    said(capfd, "snapshot", "-A", "-f", str(path))
    _, out, err = said(capfd, "get", "pools", "--from", str(path))
    assert "nic.example.com rack-1 rack=rack-1 4 ≤4 ?" in unfolded(out)
    assert FAILED in unfolded(err)
    assert "clusterrole" not in err


REFUSED = 'nodes is forbidden: User "dev" cannot list resource "nodes" in API group "" at the cluster scope'


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", ""),
        (': requires one of ["container.nodes.list"] permission(s).', 'requires one of ["container.nodes.list"]'),
        (': RBAC: clusterrole.rbac.authorization.k8s.io "nodes" not found', "RBAC: clusterrole.rbac.authorization"),
    ],
)
def test_what_the_authorizer_adds_to_a_refusal_is_told(api: FakeApi, capfd: Any, more: str, told: str) -> None:
    """A cloud names the permission of its own; RBAC a role that is bound and does not exist."""
    serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"])
    api.forbid("/api/v1/nodes", REFUSED + more)
    _, out, _ = said(capfd, "describe-pool", "rack-7")
    assert ("The server says of Node: " in out) is bool(told)
    assert told in unfolded(out)
    assert "A role for all commands is in: kubectl dra explain DRA-800" in out
    _, document, _ = said(capfd, "describe-pool", "rack-7", "-o", "json")
    (missing,) = json.loads(document)["missing"]
    assert missing["reason"] == more.removeprefix(": ")
