"""Reading what is needed: discovery, refusals that become evidence, and pods that become sums."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import KINDS
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live import Needs, current_namespace, load, needs_of, read
from kubectl_dra.source.live.errors import (
    BadAnswerError,
    ImpersonationError,
    LoginError,
    ServerFailedError,
    TooLongListError,
)
from kubectl_dra.source.spec import Connection, SourceSpec
from tests.kit.fake_api import Answer, FakeApi, Request, chunk_of, connection_to, status

CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"


@pytest.fixture
def connection(tmp_path: Path, api: FakeApi) -> Connection:
    return connection_to(tmp_path, api)


def _read(connection: Connection, kinds: set[str], **needs: Any) -> tuple[Inventory, Evidence]:
    return read(connection, Needs(frozenset(kinds), **needs))


def _pod(name: str, namespace: str = "ml", node: str = "node-1", cpu: str = "500m", **more: Any) -> dict[str, Any]:
    spec = {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **more}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


# --- discovery ------------------------------------------------------------------------------------------------------


def test_only_what_is_needed_is_read(connection: Connection, api: FakeApi) -> None:
    _, evidence = _read(connection, {"Node", "DeviceClass"})
    lists = {request.path for request in api.requests if "limit" in request.query}
    assert lists == {"/api/v1/nodes", "/apis/resource.k8s.io/v1/deviceclasses"}
    assert {each.kind for each in evidence.reads} == {"Node", "DeviceClass"}
    assert evidence.server_version == (1, 37)


def test_the_best_served_version_is_chosen_for_each_kind(connection: Connection, api: FakeApi) -> None:
    api.serve_versions({"v1beta1": ["resourceclaims"], "v1beta2": ["resourceclaims"], "v1alpha3": ["devicetaintrules"]})
    api.serve("ResourceClaim", [], "resource.k8s.io/v1beta2")
    api.serve("DeviceTaintRule", [], "resource.k8s.io/v1alpha3")
    _, evidence = _read(connection, {"ResourceClaim", "DeviceTaintRule", "ResourceSlice"})
    lists = {request.path for request in api.requests if "limit" in request.query}
    assert lists == {
        "/apis/resource.k8s.io/v1beta2/resourceclaims",
        "/apis/resource.k8s.io/v1alpha3/devicetaintrules",
    }
    assert evidence.coverage("ResourceSlice") is Coverage.NOT_SERVED


def test_a_server_without_the_group_has_no_devices(connection: Connection, api: FakeApi) -> None:
    del api.routes["/apis/resource.k8s.io"]
    _, evidence = _read(connection, {"Node", "ResourceClaim"})
    assert evidence.coverage("ResourceClaim") is Coverage.NOT_SERVED
    assert evidence.complete("ResourceClaim")


def test_forbidden_discovery_tries_the_newest_version(connection: Connection, api: FakeApi) -> None:
    api.forbid("/apis/resource.k8s.io")
    api.forbid("/version")
    del api.routes["/apis/resource.k8s.io/v1/devicetaintrules"]
    _, evidence = _read(connection, {"ResourceClaim", "DeviceTaintRule"})
    assert evidence.coverage("ResourceClaim") is Coverage.COMPLETE
    assert evidence.coverage("DeviceTaintRule") is Coverage.NOT_SERVED
    assert evidence.server_version is None


@pytest.mark.parametrize(("minor", "expected"), [("33+", (1, 33)), ("34", (1, 34)), ("", None), ("x", None)])
def test_vendors_write_versions_in_their_own_way(
    connection: Connection, api: FakeApi, minor: str, expected: tuple[int, int] | None
) -> None:
    api.routes["/version"] = Answer({"major": "1", "minor": minor})
    assert _read(connection, {"Node"})[1].server_version == expected


@pytest.mark.parametrize(
    "body",
    [b"<html>Welcome</html>", b'{"major": 1}', b"", pytest.param(b'{"x":' + b"[" * 100_000, id="nests without end")],
)
def test_something_else_than_an_api_server(connection: Connection, api: FakeApi, body: bytes) -> None:
    api.routes["/version"] = Answer(body)
    why = "it sends a web page" if body.startswith(b"<") else ""
    with pytest.raises(BadAnswerError, match=f"does not answer as an API server: {why}"):
        _read(connection, {"Node"})


# --- refusals -------------------------------------------------------------------------------------------------------


def test_a_refused_kind_is_evidence(connection: Connection, api: FakeApi) -> None:
    api.forbid("/api/v1/nodes", 'User "x" cannot list resource "nodes"')
    api.serve("ResourceClaim", [{"metadata": {"name": "c", "namespace": "ml"}}], "resource.k8s.io/v1")
    inventory, evidence = _read(connection, {"Node", "ResourceClaim"})
    assert evidence.coverage("Node") is Coverage.FORBIDDEN
    assert "cannot list" in evidence.reads[-1].note
    assert list(inventory.claims) == [Key("ml", "c")]


def test_a_cluster_wide_refusal_falls_back_to_the_namespaces_in_question(connection: Connection, api: FakeApi) -> None:
    api.forbid(CLAIMS)
    api.forbid("/apis/resource.k8s.io/v1/namespaces/dev/resourceclaims")
    api.serve("ResourceClaim", [{"metadata": {"name": "c", "namespace": "ml"}}], "resource.k8s.io/v1", "ml")
    inventory, evidence = _read(connection, {"ResourceClaim", "Node"}, namespaces=("ml", "dev"))
    assert list(inventory.claims) == [Key("ml", "c")]
    assert evidence.coverage("ResourceClaim") is Coverage.FORBIDDEN
    assert evidence.coverage("ResourceClaim", "ml") is Coverage.COMPLETE
    assert evidence.coverage("ResourceClaim", "dev") is Coverage.FORBIDDEN
    assert evidence.coverage("ResourceClaim", "other") is Coverage.FORBIDDEN


def test_kinds_that_matter_only_in_a_namespace_are_read_only_there(connection: Connection, api: FakeApi) -> None:
    api.serve("Event", [], namespace="ml")
    _, evidence = _read(connection, {"Event", "Pod"}, namespaces=("ml",))
    assert evidence.complete("Event", "ml")
    assert not evidence.complete("Event")
    assert evidence.complete("Pod")
    assert not api.asked("/api/v1/events")


def test_ones_own_namespace_may_be_readable_by_name(connection: Connection, api: FakeApi) -> None:
    api.forbid("/api/v1/namespaces")
    api.routes["/api/v1/namespaces/ml"] = Answer({"kind": "Namespace", "metadata": {"name": "ml"}})
    inventory, evidence = _read(connection, {"Namespace", "Node"}, namespaces=("ml",))
    assert list(inventory.namespaces) == ["ml"]
    assert not evidence.complete("Namespace")


def test_claims_in_question_are_read_by_name_where_they_may_not_be_listed(connection: Connection, api: FakeApi) -> None:
    """A role may name single objects; those of others are not asked for."""
    claims = [{"name": "gpu", "resourceClaimName": "own"}, {"name": "nic", "resourceClaimTemplateName": "nics"}]
    made = {"resourceClaimStatuses": [{"name": "nic", "resourceClaimName": "p-nic-x"}]}
    mine = {"metadata": {"name": "p", "namespace": "ml"}, "spec": {"resourceClaims": claims}, "status": made}
    other = {"metadata": {"name": "q", "namespace": "ml"}, "spec": {"resourceClaims": [claims[0]]}}
    api.serve("Pod", [mine, {**other, "spec": {"resourceClaims": [{"name": "a", "resourceClaimName": "not-mine"}]}}])
    refused = 'User "x" cannot list resource "resourceclaims"'
    paths = (CLAIMS, "/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims")
    for path in paths:
        api.forbid(path, refused)
    for name in ("own", "asked"):
        body = {"kind": "ResourceClaim", "metadata": {"name": name, "namespace": "ml"}}
        api.routes[f"{paths[1]}/{name}"] = Answer(body)
    api.forbid(f"{paths[1]}/p-nic-x", refused)
    needs = {"namespaces": ("ml",), "pods": frozenset({Key("ml", "p")}), "claims": frozenset({Key("ml", "asked")})}
    inventory, evidence = _read(connection, {"Pod", "ResourceClaim"}, **needs)
    assert sorted(key.name for key in inventory.claims) == ["asked", "own"]
    assert evidence.coverage("ResourceClaim", "ml") is Coverage.FORBIDDEN
    assert not api.asked(f"{paths[1]}/not-mine")


def test_claims_in_question_are_read_by_name_where_the_server_fails_to_list_them(
    connection: Connection, api: FakeApi
) -> None:
    api.serve(
        "Pod",
        [
            {
                "metadata": {"name": "p", "namespace": "ml"},
                "spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "own"}]},
            }
        ],
    )
    within = "/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims"
    for path in (CLAIMS, within):
        api.routes[path] = status(504, "not in the time allotted")
    api.routes[f"{within}/own"] = Answer({"kind": "ResourceClaim", "metadata": {"name": "own", "namespace": "ml"}})
    needs = {"namespaces": ("ml",), "pods": frozenset({Key("ml", "p")})}
    inventory, evidence = _read(connection, {"Pod", "ResourceClaim"}, **needs)
    assert list(inventory.claims) == [Key("ml", "own")]
    assert not evidence.complete("ResourceClaim", "ml")


def test_claims_that_may_be_listed_are_not_asked_for_again(connection: Connection, api: FakeApi) -> None:
    api.forbid(CLAIMS)
    path = api.serve("ResourceClaim", [], "resource.k8s.io/v1", "ml")
    _read(connection, {"ResourceClaim"}, namespaces=("ml",), claims=frozenset({Key("ml", "gone")}))
    assert not api.asked(f"{path}/gone")


def test_refusal_of_everything_is_evidence_with_who_was_refused(connection: Connection, api: FakeApi) -> None:
    for path in ("/api/v1/nodes", "/api/v1/pods", "/api/v1/namespaces/ml/pods"):
        api.forbid(path, 'nodes is forbidden: User "dev" cannot list resource "nodes" in API group ""')
    inventory, evidence = _read(connection, {"Node", "Pod"}, namespaces=("ml",))
    assert not inventory.pods
    assert {read.coverage for read in evidence.reads} == {Coverage.FORBIDDEN}
    assert evidence.refused_user == "dev"


def test_an_expired_login_is_an_error(connection: Connection, api: FakeApi) -> None:
    for path in api.routes:
        api.routes[path] = status(401, "Unauthorized", "Unauthorized")
    with pytest.raises(LoginError, match="does not accept the login") as caught:
        _read(connection, {"Node", "Pod"})
    assert caught.value.hint.startswith('log in again as user "someone" of context "fake", or choose another')


@pytest.mark.parametrize(
    "verb", ['impersonate resource "users" in API group ""', 'impersonate:user-info resource "users" in API group "x"']
)
def test_who_may_not_act_as_another_is_not_told_of_rights_of_the_other(
    connection: Connection, api: FakeApi, verb: str
) -> None:
    words = f'users "dev" is forbidden: User "admin" cannot {verb} at the cluster scope'
    for path in api.routes:
        api.routes[path] = status(403, words, "Forbidden")
    with pytest.raises(ImpersonationError, match="does not answer as another user: ") as caught:
        _read(connection, {"Node", "Pod"}, pods=frozenset({Key("ml", "web")}), namespaces=("ml",))
    assert words in caught.value.what
    assert caught.value.hint.startswith("leave out --as")


def test_a_login_that_ends_is_an_error_and_nobody_waits_for_the_others(connection: Connection, api: FakeApi) -> None:
    api.routes["/api/v1/nodes"] = status(401, "Unauthorized")
    raised, came = threading.Event(), []

    def held(_: Request) -> Answer:
        came.append(raised.wait(120))
        return Answer({})

    api.routes["/api/v1/pods"] = held
    with pytest.raises(LoginError, match="Unauthorized"):
        _read(connection, {"Node", "Pod"})
    assert came == [], "the other list is still being waited for"
    raised.set()


def test_a_group_of_which_the_server_fails_to_say_what_it_serves_is_not_read(
    connection: Connection, api: FakeApi
) -> None:
    """It is not one that is not served, which would be known to be empty."""
    api.routes["/apis/scheduling.k8s.io"] = status(503, "the server is currently unable to handle the request")
    _, evidence = _read(connection, {"Node", "PodGroup"}, demanded=frozenset({"PodGroup"}))
    assert evidence.coverage("PodGroup") is Coverage.FAILED
    assert evidence.complete("Node")
    assert ["discover scheduling.k8s.io" in note for note in evidence.notes] == [True]


def test_where_every_list_fails_there_is_no_answer(connection: Connection, api: FakeApi) -> None:
    for path in ("/api/v1/nodes", "/api/v1/pods", "/api/v1/namespaces/ml/pods"):
        api.routes[path] = status(500, "etcd is on fire")
    with pytest.raises(ServerFailedError, match="etcd is on fire"):
        _read(connection, {"Node", "Pod"}, namespaces=("ml",))


def test_a_list_that_is_longer_than_allowed_is_still_an_error(tmp_path: Path, api: FakeApi) -> None:
    """Its option is the caller's to change; what would be left out is most of the answer."""
    api.serve("Node", [{"metadata": {"name": f"node-{number}"}} for number in range(100)])
    limited = dataclasses.replace(connection_to(tmp_path, api), max_bytes=1000)
    with pytest.raises(TooLongListError):
        _read(limited, {"Node", "Pod"})


@pytest.mark.parametrize(
    "failing",
    [
        *(status(code, "not in the time allotted") for code in (429, 410, 500, 504)),
        Answer({"kind": "ResourceClaimList", "items": []}, cut=5),
        Answer({}, closed=True),
        Answer({"kind": "Elsewhere"}),
    ],
    ids=["throttled", "expired", "broken", "timed-out", "cut-off", "closed", "not-a-list"],
)
@pytest.mark.parametrize("pods", [frozenset(), frozenset({Key("ml", "web")})], ids=["cluster", "pod"])
def test_a_failing_list_leaves_the_question_to_the_others(
    connection: Connection, api: FakeApi, pods: frozenset[Key], failing: Answer
) -> None:
    """It is read of the namespace; of the cluster it is never taken for complete."""
    api.routes[CLAIMS] = failing
    inventory, evidence = _read(connection, {"Node", "Pod", "ResourceClaim"}, namespaces=("ml",), pods=pods)
    assert evidence.coverage("ResourceClaim") is Coverage.FAILED
    assert evidence.complete("Node")
    assert not inventory.claims
    (note,) = evidence.notes
    assert "resourceclaims" in note or "broke" in note, note
    asked = [request.path for request in api.requests]
    assert "/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims" in asked


def test_lists_are_taken_side_by_side(connection: Connection, api: FakeApi) -> None:
    together = threading.Barrier(3, timeout=10)

    def meet(request: Request) -> Answer:
        together.wait()
        kind = {"nodes": "Node", "pods": "Pod", "resourceclaims": "ResourceClaim"}[request.path.rpartition("/")[2]]
        return chunk_of(request, kind, [], "v1")

    api.routes |= {"/api/v1/nodes": meet, "/api/v1/pods": meet, CLAIMS: meet}
    _read(connection, {"Node", "Pod", "ResourceClaim"})


# --- pods -----------------------------------------------------------------------------------------------------------


def test_pods_without_claims_become_sums(connection: Connection, api: FakeApi) -> None:
    many = [_pod(f"web-{number}") for number in range(1200)]
    claimed = _pod("trainer", cpu="2", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
    path = api.serve("Pod", [*many, claimed])
    inventory, evidence = _read(connection, {"Pod"})
    assert [key.name for key in inventory.pods] == ["trainer"]
    assert inventory.usage["node-1"].pods == 1201
    assert inventory.usage["node-1"].requests == {"cpu": 1200 * 500 + 2000}
    assert evidence.complete("Pod")
    assert api.asked(path)[0].query["fieldSelector"] == "status.phase!=Succeeded,status.phase!=Failed"


@pytest.mark.parametrize("resource", ["example.com/gpu", "deviceclass.resource.kubernetes.io/gpu", "cpu"])
def test_pods_that_wait_are_kept(connection: Connection, api: FakeApi, resource: str) -> None:
    """A class may serve what they ask for; and they may take first what becomes free, be it cpu."""
    containers = [{"name": "c", "resources": {"limits": {resource: "1"}}}]
    waiting = {"metadata": {"name": "w", "namespace": "ml"}, "spec": {"containers": containers}}
    running = {"metadata": {"name": "r", "namespace": "ml"}, "spec": {"containers": containers, "nodeName": "node-1"}}
    api.serve("Pod", [waiting, running])
    inventory, _ = _read(connection, {"Pod"})
    assert [key.name for key in inventory.pods] == ["w"]


def test_a_pod_with_a_claim_made_for_extended_resources_is_kept(connection: Connection, api: FakeApi) -> None:
    pod = {**_pod("e"), "status": {"extendedResourceClaimStatus": {"resourceClaimName": "made"}}}
    api.serve("Pod", [pod])
    assert [key.name for key in _read(connection, {"Pod"})[0].pods] == ["e"]


def test_pods_asked_for_by_name_are_kept_and_read_when_finished(connection: Connection, api: FakeApi) -> None:
    api.serve("Pod", [_pod("plain"), _pod("other")])
    done = {**_pod("done"), "status": {"phase": "Succeeded"}}
    api.routes["/api/v1/namespaces/ml/pods/done"] = Answer({"kind": "Pod", "apiVersion": "v1", **done})
    names = frozenset({Key("ml", "plain"), Key("ml", "done"), Key("ml", "nosuch")})
    inventory, _ = _read(connection, {"Pod"}, pods=names)
    assert sorted(key.name for key in inventory.pods) == ["done", "plain"]
    assert inventory.usage["node-1"].pods == 2, "a finished pod takes nothing"


def test_a_user_who_may_only_get_pods_still_gets_the_one_in_question(connection: Connection, api: FakeApi) -> None:
    api.forbid("/api/v1/pods")
    api.forbid("/api/v1/namespaces/ml/pods")
    api.routes["/api/v1/namespaces/ml/pods/p"] = Answer({"kind": "Pod", "apiVersion": "v1", **_pod("p")})
    inventory, evidence = _read(connection, {"Pod", "Node"}, namespaces=("ml",), pods=frozenset({Key("ml", "p")}))
    assert list(inventory.pods) == [Key("ml", "p")]
    assert not evidence.complete("Pod", "ml")


def test_without_kinds_everything_is_read_and_no_pod_reduced(connection: Connection, api: FakeApi) -> None:
    path = api.serve("Pod", [_pod("web")])
    inventory, evidence = load(SourceSpec(connection=connection, all_namespaces=True))
    assert [key.name for key in inventory.pods] == ["web"]
    assert inventory.usage["node-1"].pods == 1
    assert "fieldSelector" not in api.asked(path)[0].query
    assert {each.kind for each in evidence.reads} == {kind.name for kind in KINDS}


# --- scope ----------------------------------------------------------------------------------------------------------


def test_the_namespace_is_the_one_asked_for_or_the_contexts(connection: Connection) -> None:
    kinds = Needs(frozenset({"Pod"}))
    assert current_namespace(connection) == "ml"
    assert needs_of(SourceSpec(connection=connection, needs=kinds)).namespaces == ("ml",)
    assert needs_of(SourceSpec(connection=connection, needs=kinds, namespace="dev")).namespaces == ("dev",)
    assert needs_of(SourceSpec(connection=connection, needs=kinds, all_namespaces=True)).namespaces == ()


def test_no_kind_served_at_all_is_an_error(connection: Connection, api: FakeApi) -> None:
    del api.routes["/apis/resource.k8s.io"]
    with pytest.raises(ClusterError, match="serves none of the kinds"):
        _read(connection, {"ResourceClaim", "ResourceSlice"})


def test_the_kubernetes_package_is_loaded_only_for_requests() -> None:

    code = (
        "import kubectl_dra.source.live, sys; print([m for m in ('kubernetes', 'urllib3', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
