"""Slices read by their fields: only what a question is about, and never taken for more than that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.evidence import Coverage, Evidence, pool_fields
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.reports.devices.holders import consumers_of
from kubectl_dra.reports.find import device_selections, pool_selections
from kubectl_dra.source.live import Needs, read
from kubectl_dra.source.spec import Connection
from tests.kit.clock import CLOCK
from tests.kit.fake_api import Answer, FakeApi, Request, chunk_of, connection_to, status

API = "resource.k8s.io/v1"
SLICES = f"/apis/{API}/resourceslices"
ALL = ("spec.driver", "spec.pool.name", "spec.nodeName")


@pytest.fixture
def connection(tmp_path: Path, api: FakeApi) -> Connection:
    return connection_to(tmp_path, api)


def _slice(driver: str, pool: str) -> dict[str, Any]:
    spec = {"driver": driver, "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1}, "allNodes": True}
    return {"metadata": {"name": f"{driver}.{pool}".replace("/", ".")}, "spec": spec}


def _serve(api: FakeApi, *slices: dict[str, Any], selectable: tuple[str, ...] = ALL) -> None:
    def answer(request: Request) -> Answer:
        terms = dict(t.split("=", 1) for t in request.query.get("fieldSelector", "").split(",") if t)
        unknown = next((path for path in terms if path not in selectable), None)
        if unknown:
            return status(400, f"field label not supported: {unknown}", "BadRequest")
        matching = [each for each in slices if all(_value(each, path) == value for path, value in terms.items())]
        return chunk_of(request, "ResourceSlice", matching, API)

    api.routes[SLICES] = answer


def _on(slice_: dict[str, Any], node: str) -> dict[str, Any]:
    del slice_["spec"]["allNodes"]
    slice_["spec"]["nodeName"] = node
    slice_["metadata"]["name"] += f".{node}"
    return slice_


def _value(slice_: dict[str, Any], path: str) -> Any:
    value: Any = slice_
    for step in path.split("."):
        value = value.get(step, "")
    return value


def _asked(api: FakeApi) -> list[str]:
    return [request.query.get("fieldSelector", "") for request in api.asked(SLICES)]


def test_one_pool_is_complete_and_others_are_unknown(connection: Connection, api: FakeApi) -> None:
    _serve(api, _slice("a.example.com", "p1"), _slice("a.example.com", "p2"), _slice("b.example.com", "p1"))
    needs = Needs(frozenset({"ResourceSlice"}), slices=pool_selections("a.example.com/p1"))
    inventory, evidence = read(connection, needs)
    assert list(inventory.slices) == ["a.example.com.p1"]
    assert evidence.coverage("ResourceSlice") is Coverage.FILTERED
    assert not evidence.complete("ResourceSlice")
    assert evidence.within(pool_fields(PoolId("a.example.com", "p1"))).complete("ResourceSlice")
    assert not evidence.within(pool_fields(PoolId("a.example.com", "p2"))).complete("ResourceSlice")
    assert not evidence.within(pool_fields(PoolId("b.example.com", "p1"))).complete("ResourceSlice")


def test_a_name_without_driver_is_that_of_every_driver(connection: Connection, api: FakeApi) -> None:
    _serve(api, _slice("a.example.com", "p1"), _slice("b.example.com", "p1"), _slice("b.example.com", "p2"))
    needs = Needs(frozenset({"ResourceSlice"}), slices=pool_selections("p1"))
    inventory, evidence = read(connection, needs)
    assert set(inventory.slices) == {"a.example.com.p1", "b.example.com.p1"}
    assert evidence.within(pool_fields(PoolId("c.example.com", "p1"))).complete("ResourceSlice")
    assert _asked(api) == ["spec.pool.name=p1"]


def test_slashes_may_belong_to_the_pool(connection: Connection, api: FakeApi) -> None:
    _serve(
        api, _slice("a.example.com", "b.example.com/p1"), _slice("b.example.com", "p1"), _slice("c.example.com", "x")
    )
    inventory, _ = read(connection, Needs(frozenset({"ResourceSlice"}), slices=pool_selections("b.example.com/p1")))
    assert set(inventory.slices) == {"a.example.com.b.example.com.p1", "b.example.com.p1"}
    assert device_selections("b.example.com/p1/gpu-0") == pool_selections("b.example.com/p1")
    assert device_selections("gpu-0") == frozenset()


@pytest.mark.parametrize(
    ("selectable", "word", "asked", "seen"),
    [
        (("spec.driver",), "a.example.com/p1", "spec.driver=a.example.com", 2),
        (("spec.driver",), "p1", "", 3),
        ((), "a.example.com/p1", "", 3),
    ],
)
def test_a_server_that_cannot_select_is_asked_for_more(
    connection: Connection, api: FakeApi, selectable: tuple[str, ...], word: str, asked: str, seen: int
) -> None:
    slices = (_slice("a.example.com", "p1"), _slice("a.example.com", "p2"), _slice("b.example.com", "p1"))
    _serve(api, *slices, selectable=selectable)
    inventory, evidence = read(connection, Needs(frozenset({"ResourceSlice"}), slices=pool_selections(word)))
    assert _asked(api)[-1] == asked
    assert len(inventory.slices) == seen
    assert evidence.complete("ResourceSlice") is (not asked)
    assert evidence.within(pool_fields(PoolId("a.example.com", "p1"))).complete("ResourceSlice")


def test_a_node_leads_to_the_whole_of_its_pools(connection: Connection, api: FakeApi) -> None:
    here, there = _on(_slice("a.example.com", "p1"), "n1"), _on(_slice("a.example.com", "p1"), "n2")
    _serve(api, here, there, _on(_slice("a.example.com", "p2"), "n2"), _slice("net.example.com", "p3"))
    inventory, evidence = read(connection, Needs(frozenset({"ResourceSlice"}), node="n1"))
    assert set(inventory.slices) == {"a.example.com.p1.n1", "a.example.com.p1.n2", "net.example.com.p3"}
    assert evidence.coverage("ResourceSlice") is Coverage.FILTERED
    assert evidence.within(pool_fields(PoolId("a.example.com", "p1"))).complete("ResourceSlice")


@pytest.mark.parametrize("pools", [8, 9])
def test_many_pools_are_read_with_everything(connection: Connection, api: FakeApi, pools: int) -> None:
    _serve(api, *(_slice("net.example.com", f"p{n}") for n in range(pools)), _on(_slice("a.example.com", "p"), "n2"))
    _, evidence = read(connection, Needs(frozenset({"ResourceSlice"}), node="n1"))
    drivers = ["spec.driver=net.example.com"]
    assert _asked(api)[2:] == (
        [f"spec.driver=net.example.com,spec.pool.name=p{n}" for n in range(8)] if pools == 8 else drivers
    )
    assert evidence.within(pool_fields(PoolId("net.example.com", "p0"))).complete("ResourceSlice")


def test_a_node_without_devices_costs_no_more(connection: Connection, api: FakeApi) -> None:
    _serve(api, _on(_slice("a.example.com", "p"), "n2"))
    inventory, _ = read(connection, Needs(frozenset({"ResourceSlice"}), node="n1"))
    assert not inventory.slices
    assert _asked(api) == ["spec.nodeName=", "spec.nodeName=n1"]


def test_a_bad_object_of_a_node_is_not_forgotten(connection: Connection, api: FakeApi) -> None:
    broken = _on(_slice("a.example.com", "p1"), "n1")
    broken["spec"]["pool"]["generation"] = "seven"
    _serve(api, broken, _slice("net.example.com", "p"))
    _, evidence = read(connection, Needs(frozenset({"ResourceSlice"}), node="n1"))
    assert evidence.coverage("ResourceSlice") is Coverage.PARTIAL
    assert len(evidence.bad_objects) == 1


def test_a_bad_object_is_no_complete_pool(connection: Connection, api: FakeApi) -> None:
    broken = _slice("a.example.com", "p1")
    broken["spec"]["pool"]["generation"] = "seven"
    _serve(api, broken)
    _, evidence = read(connection, Needs(frozenset({"ResourceSlice"}), slices=pool_selections("a.example.com/p1")))
    assert not evidence.within(pool_fields(PoolId("a.example.com", "p1"))).complete("ResourceSlice")


def test_a_refused_filter_is_a_refusal(connection: Connection, api: FakeApi) -> None:
    api.forbid(SLICES)
    needs = Needs(frozenset({"ResourceSlice", "Node"}), slices=pool_selections("a.example.com/p1"))
    _, evidence = read(connection, needs)
    assert evidence.coverage("ResourceSlice") is Coverage.FORBIDDEN


def test_a_name_that_would_break_the_selector_is_escaped(connection: Connection, api: FakeApi) -> None:
    api.routes[SLICES] = lambda request: chunk_of(request, "ResourceSlice", [], API)
    read(connection, Needs(frozenset({"ResourceSlice"}), slices=pool_selections("p1,spec.driver=x\\")))
    assert _asked(api) == ["spec.pool.name=p1\\,spec.driver\\=x\\\\"]


def _claim(name: str, *devices: tuple[str, str]) -> dict[str, Any]:
    results = [{"request": "r", "driver": driver, "pool": pool, "device": "d"} for driver, pool in devices]
    status_ = {"allocation": {"devices": {"results": results}}} if devices else {}
    return {"metadata": {"name": name, "namespace": "ml"}, "spec": {}, "status": status_}


def test_claims_lead_to_the_pools_that_they_hold(connection: Connection, api: FakeApi) -> None:
    _serve(api, _slice("a.example.com", "p1"), _slice("a.example.com", "p2"), _slice("b.example.com", "p3"))
    claims = [_claim("c", ("a.example.com", "p1"), ("a.example.com", "p1")), _claim("other", ("b.example.com", "p3"))]
    api.serve("ResourceClaim", claims, API, namespace="ml")
    kinds = frozenset({"ResourceClaim", "ResourceSlice"})
    needs = Needs(kinds, ("ml",), local=True, claims=frozenset({Key("ml", "c")}))
    inventory, evidence = read(connection, needs)
    assert list(inventory.slices) == ["a.example.com.p1"]
    assert _asked(api) == ["spec.driver=a.example.com,spec.pool.name=p1"]
    assert evidence.complete("ResourceClaim", "ml")
    assert not evidence.complete("ResourceClaim")


def test_a_claim_that_holds_nothing_leads_to_no_slices(connection: Connection, api: FakeApi) -> None:
    api.serve("ResourceClaim", [_claim("c")], API, namespace="ml")
    kinds = frozenset({"ResourceClaim", "ResourceSlice"})
    _, evidence = read(connection, Needs(kinds, ("ml",), local=True, claims=frozenset({Key("ml", "c")})))
    assert _asked(api) == []
    assert evidence.coverage("ResourceSlice") is Coverage.NOT_READ


def test_a_finished_consumer_is_read_though_lists_leave_it_out(connection: Connection, api: FakeApi) -> None:
    claim = _claim("c", ("a.example.com", "p1"))
    claim["status"]["reservedFor"] = [
        {"resource": "pods", "name": name, "uid": name} for name in ("done", "gone", "other-uid")
    ]
    api.serve("ResourceClaim", [claim], API)
    api.serve("Pod", [])
    path = "/api/v1/namespaces/ml/pods"
    for name, uid in (("done", "done"), ("other-uid", "successor")):
        pod = {"metadata": {"name": name, "namespace": "ml", "uid": uid}, "status": {"phase": "Succeeded"}}
        api.routes[f"{path}/{name}"] = Answer({**pod, "spec": {}})
    inventory, evidence = read(connection, Needs(frozenset({"ResourceClaim", "Pod"}), ("ml",)))
    states = {
        each.name: each.state for each in consumers_of(inventory.claims[Key("ml", "c")], _facts(inventory, evidence))
    }
    assert states == {"done": "finished", "gone": "gone", "other-uid": "gone"}


def _facts(inventory: Inventory, evidence: Evidence) -> ClusterState:
    return ClusterState(inventory, evidence, Features(), CLOCK)


def test_what_a_list_was_limited_to_is_noted(connection: Connection, api: FakeApi) -> None:
    api.serve("Event", [], namespace="ml")
    _, evidence = read(connection, Needs(frozenset({"Event", "Pod", "Node"}), ("ml",)))
    notes = {each.kind: each.note for each in evidence.reads}
    assert notes["Event"].startswith("only warnings, and what schedulers, autoscalers ")
    assert notes["Pod"] == "only status.phase!=Succeeded,status.phase!=Failed"
    assert notes["Node"] == ""
