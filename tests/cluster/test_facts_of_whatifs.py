"""Facts about all pods or nodes, in clusters that differ in a few of them: the same as made anew, from what differs."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.diagnosis.pod.preempting import lowest_priority
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.model.edited import edited
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending import failing_pods
from kubectl_dra.scheduler import search, snapshot
from kubectl_dra.scheduler.claims import EXTENDED_CLAIM_ANNOTATION, known_extended_claims
from tests.kit import build, facts
from tests.kit.state import state_of


def state(objects: list[dict[str, Any]]) -> ClusterState:
    return state_of(facts.inventory(objects), facts.evidence(), features())


@pytest.mark.parametrize("seed", range(8))
def test_the_lowest_priority_follows_the_pods_that_differ(seed: int) -> None:
    numbers = random.Random(seed)
    pods = {f"p{i}": build.pod(f"p{i}", priority=numbers.choice((-5, 0, 7))) for i in range(6)}
    before = state(list(pods.values()))
    lowest_priority(before)
    now = before
    for _ in range(12):
        some = {name: pods.setdefault(name, build.pod(name)) for name in (f"p{numbers.randrange(9)}",)}
        made = facts.inventory(
            [
                {**each, "spec": {**each["spec"], "priority": numbers.choice((-9, -5, 0, 3, 7))}}
                for each in some.values()
            ]
        ).pods
        gone = numbers.sample(list(now.inventory.pods), min(len(now.inventory.pods), numbers.randrange(2)))
        now = now.changed(now.inventory.replace(pods=edited(now.inventory.pods, made, gone)))
        anew = state_of(now.inventory, facts.evidence(), features())
        assert lowest_priority(now) == lowest_priority(anew)


def test_pods_are_not_looked_through_for_the_lowest_priority_of_each_what_if() -> None:
    before = state([build.pod("low", priority=-1), build.pod("high", priority=1)])
    lowest_priority(before)
    more = facts.inventory([build.pod("lower", priority=-2)]).pods
    after = before.changed(before.inventory.replace(pods=edited(before.inventory.pods, more)))
    after.settle()
    assert -2 in vars(after).values()
    left = before.changed(before.inventory.replace(pods=edited(before.inventory.pods, without=[Key("ml", "low")])))
    assert lowest_priority(left) == 1


def test_what_is_first_asked_of_a_what_if_is_made_once_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    before = state([build.node("n1"), build.node("n2"), build.pod("web", node_name="n1", phase="Running")])
    made: list[list[str]] = []
    make = snapshot._places._make

    def making(world: ClusterState) -> Any:
        made.append(list(world.inventory.nodes))
        return make(world)

    monkeypatch.setattr(snapshot._places, "_make", making)

    def with_pod(world: ClusterState, name: str) -> ClusterState:
        put = facts.inventory([build.pod(name)]).pods
        return world.changed(world.inventory.replace(pods=edited(world.inventory.pods, put)))

    for world in (one := with_pod(before, "a"), with_pod(one, "b"), with_pod(before, "c"), before):
        assert snapshot.Snapshot(world).places == {"n1": 0, "n2": 1}
    assert made == [["n1", "n2"]]
    fewer = before.changed(before.inventory.replace(nodes={"n2": before.inventory.nodes["n2"]}))
    assert snapshot.Snapshot(fewer).places == {"n2": 0}


def test_a_pod_that_goes_changes_what_is_known_of_pods_like_it_alone() -> None:
    names = ("web", "web-2", "batch")
    cpus = {"web": "1", "web-2": "1", "batch": "2"}
    pods = [build.pod(each, node_name="n1", phase="Running", requests={"cpu": cpus[each]}) for each in names]
    before = state([build.node("n1"), *pods])
    known = snapshot._shapes(before)
    after = before.changed(without_pods([Key(build.NAMESPACE, "web")])(before.inventory))
    then = snapshot._shapes(after)
    assert sorted(tuple(each.nodes.items()) for each in then.values()) == [(("n1", 1),), (("n1", 1),)]
    same = [each for key, each in then.items() if known.get(key) is each]
    assert len(same) == 1


def test_claims_for_extended_resources_are_looked_for_again_only_where_one_differs() -> None:
    own = build.claim(
        "made",
        metadata={
            "annotations": {EXTENDED_CLAIM_ANNOTATION: "true"},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "pod-web", "controller": True}
            ],
        },
    )
    before = state([build.claim("other"), own])
    known = known_extended_claims(before)
    assert len(known) == 1

    def changed(*put: dict[str, Any], without: tuple[str, ...] = ()) -> ClusterState:
        gone = [Key(build.NAMESPACE, name) for name in without]
        claims = edited(before.inventory.claims, facts.inventory(list(put)).claims, gone)
        return before.changed(before.inventory.replace(claims=claims))

    assert known_extended_claims(changed(build.claim("third"), without=("other",))) is known
    assert known_extended_claims(changed(without=("made",))) == {}
    assert known_extended_claims(changed(build.claim("made"))) == {}


def test_images_of_further_nodes_are_added_to_those_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def node(name: str, *images: str) -> dict[str, Any]:
        found = build.node(name)
        found["status"]["images"] = [{"names": [image], "sizeBytes": 5} for image in images]
        return found

    before = state([node("n1", "a"), node("n2", "a", "b")])
    images = snapshot.Snapshot(before).images
    assert {name: image.nodes for name, image in images.items()} == {"a": 2, "b": 1}
    looked_at: list[str] = []
    make = snapshot._with_images

    def seen(known: Any, nodes: Any) -> Any:
        nodes = list(nodes)
        looked_at.extend(each.metadata.name for each in nodes)
        return make(known, nodes)

    monkeypatch.setattr(snapshot, "_with_images", seen)
    more = {**before.inventory.nodes, **facts.inventory([node("n3", "b", "c")]).nodes}
    after = before.changed(before.inventory.replace(nodes=more))
    assert {name: image.nodes for name, image in snapshot.Snapshot(after).images.items()} == {"a": 2, "b": 2, "c": 1}
    assert looked_at == ["n3"]
    other = before.changed(before.inventory.replace(nodes=dict(list(more.items())[1:])))
    assert {name: image.nodes for name, image in snapshot.Snapshot(other).images.items()} == {"a": 1, "b": 2, "c": 1}


def test_pods_of_drivers_are_looked_for_again_only_where_one_of_a_daemon_set_differs() -> None:
    def daemon(phase: str) -> dict[str, Any]:
        pod = build.pod("gpu-plugin-x", node_name="n1", phase="Pending")
        pod["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "gpu-plugin", "uid": "ds", "controller": True}
        ]
        waiting = {"name": "main", "restartCount": 3, "state": {"waiting": {"reason": phase}}}
        pod["status"]["containerStatuses"] = [waiting]
        return pod

    before = state([build.node("n1"), build.pod("web"), daemon("CrashLoopBackOff")])

    def failing(world: ClusterState) -> list[str]:
        return [each.state for each in failing_pods._on_any_node(world, build.DRIVER).failing]

    assert failing(before) == ["CrashLoopBackOff"]

    def with_pod(pod: dict[str, Any]) -> ClusterState:
        put = facts.inventory([pod]).pods
        return before.changed(before.inventory.replace(pods=edited(before.inventory.pods, put)))

    def kept(world: ClusterState) -> object:
        return failing_pods._on_any_node(world, build.DRIVER)

    assert kept(with_pod(build.pod("other"))) is kept(before)
    other = with_pod(daemon("ImagePullBackOff"))
    assert kept(other) is not kept(before)
    assert failing(other) == ["ImagePullBackOff"]
    gone = before.changed(
        before.inventory.replace(pods=edited(before.inventory.pods, without=[Key("ml", "gpu-plugin-x")]))
    )
    assert failing(gone) == []


def test_devices_are_named_on_the_node_that_a_copy_gets_and_on_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [f"n{number:02}" for number in range(40)]
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one", "namespace": build.NAMESPACE},
        "spec": {"spec": {"devices": {"requests": [build.request()]}}},
    }
    objects = [each for name in nodes for each in (build.node(name), build.slice_(name, build.device("gpu-0")))]
    inventory = facts.inventory([build.device_class(), template, *objects])
    made = facts.inventory([build.pod(f"copy-{number}", templates=["one"]) for number in range(2)])
    named: list[str] = []
    on = search.Searched.on

    def naming(self: search.Searched, node: Any) -> search.Searched:
        named.append(node.metadata.name)
        return on(self, node)

    monkeypatch.setattr(search.Searched, "on", naming)
    done = place(state_of(inventory, facts.evidence(), features()), made.pods.values())
    assert done.copies == 2
    held = {
        result.pool
        for claim in done.state.inventory.claims.values()
        if claim.status.allocation
        for result in claim.status.allocation.devices.results
    }
    assert held == set(done.nodes)
    assert len(named) <= 8
