"""Pods that say nothing about spreading: whose pods they are, and that the scheduler keeps them apart."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.scheduler.plugins.default_selector import default_selector
from tests.kit.decisions import decide
from tests.scheduler.edges import objects as edges
from tests.scheduler.rows import pod_of, snapshot_of

LABELS = {"app": "web", "tier": "front"}


def node(name: str) -> dict[str, Any]:
    return edges.node(name, name, cpu="8")


def pod(name: str, on: str = "", labels: dict[str, str] = LABELS, **meta: Any) -> dict[str, Any]:
    more = {"uid": name, **meta}
    return edges.pod(name, on, cpu="1" if on else "2", memory="1Gi", labels=labels, metadata=more)


def service(name: str, selector: dict[str, str] | None, namespace: str = "default") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector} if selector else {}}


def owned(kind: str, group: str = "apps/v1") -> dict[str, Any]:
    owner = {"apiVersion": group, "kind": kind, "name": "web", "uid": "w", "controller": True}
    return {"ownerReferences": [owner]}


def best(row: dict[str, Any]) -> tuple[str, ...]:
    snapshot = snapshot_of(row)
    found = decide(snapshot, pod_of(snapshot, "default/want"))
    assert found.scores is not None
    return found.scores.best


#: On a is another pod of the Service, on b two of nobody: but for the Service the emptier a would be best.
RUNNING = [pod("one", "a"), pod("two", "b", {}), pod("three", "b", {})]


@pytest.mark.parametrize(
    ("services", "expected"),
    [
        ([], ("a",)),
        ([service("web", {"app": "web"})], ("b",)),
        ([service("front", {"tier": "front"}), service("web", {"app": "web"})], ("b",)),
        ([service("db", {"app": "db"})], ("a",)),
        ([service("web", {"app": "web"}, "elsewhere")], ("a",)),
        # Without a selector its addresses are somebody's own affair.
        ([service("outside", None)], ("a",)),
    ],
)
def test_pods_of_a_service_are_kept_apart(services: list[dict[str, Any]], expected: tuple[str, ...]) -> None:
    row = {"nodes": [node("a"), node("b")], "pods": [*RUNNING, pod("want")], "services": services}
    assert best(row) == expected
    # A Job has no say in it; the Service has.
    job = {**row, "pods": [*RUNNING, pod("want", **owned("Job", "batch/v1"))]}
    assert best(job) == expected


def _selected(objects: dict[str, Any], unread: tuple[str, ...] = (), **meta: Any) -> dict[str, tuple[str, ...]]:
    snapshot = snapshot_of({"pods": [pod("want", **meta)], **objects}, unread=unread)
    return {each.key: each.values for each in default_selector(snapshot, pod_of(snapshot, "default/want"))}


@pytest.mark.parametrize(("kind", "plural"), [("ReplicaSet", "replicasets"), ("StatefulSet", "statefulsets")])
def test_the_selector_of_a_controller_that_is_known(kind: str, plural: str) -> None:
    web = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}}
    assert _selected({plural: [web]}, **owned(kind)) == {"app": ("web",)}
    both = {plural: [web], "services": [service("front", {"tier": "front"})]}
    assert _selected(both, **owned(kind)) == {"app": ("web",), "tier": ("front",)}
    # Of one that was not read the labels stand for the selector; one that is gone has none any more.
    assert _selected({}, (kind,), **owned(kind)) == {"app": ("web",), "tier": ("front",)}
    assert _selected({}, **owned(kind)) == {}
    assert _selected({"services": both["services"]}, **owned(kind)) == {"tier": ("front",)}


@pytest.mark.parametrize(
    "owner", [owned("ReplicaSet", "example.com/v1"), owned("ReplicaSet", "apps/v1beta2"), owned("DaemonSet"), {}]
)
def test_others_do_not_spread_their_pods(owner: dict[str, Any]) -> None:
    unread = ("ReplicaSet", "DaemonSet")
    assert _selected({}, unread, **owner) == {}


def test_the_selector_of_a_replication_controller_is_a_plain_map() -> None:
    owner = owned("ReplicationController", "v1")
    web = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    assert _selected({"replicationcontrollers": [web]}, **owner) == {"app": ("web",)}
    assert _selected({}, ("ReplicationController",), **owner) == {"app": ("web",), "tier": ("front",)}
    assert _selected({}, **owner) == {}


@pytest.mark.parametrize(
    ("selector", "other", "expected"),
    [
        ({"app": "web"}, {"app": "web"}, ("c",)),
        # The pod on b lacks the second label, so that it is none of them.
        (LABELS, {"app": "web"}, ("b", "c")),
        (LABELS, LABELS, ("c",)),
        # Of a controller that is gone nothing is kept apart.
        (None, LABELS, ("b", "c")),
    ],
)
def test_pods_of_a_controller_are_kept_apart_by_its_selector(
    selector: dict[str, str] | None, other: dict[str, str], expected: tuple[str, ...]
) -> None:
    """As the real scheduler answers."""
    made = [{"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"matchLabels": selector}}}]
    running = [pod("one", "a", {}), pod("two", "a", {}), pod("three", "b", other), pod("four", "c", {})]
    row = {
        "nodes": [node("a"), node("b"), node("c")],
        "pods": [*running, pod("want", **owned("ReplicaSet"))],
        "replicasets": made if selector else [],
    }
    assert best(row) == expected
