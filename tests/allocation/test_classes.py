"""Nodes are compared once: what one attempt found out of them serves the next, and never gives it another answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from kubectl_dra.allocation import Budget, ClaimSearch, Cluster
from kubectl_dra.allocation.input.allocated import AllocatedState
from kubectl_dra.allocation.search.alike import Answers
from kubectl_dra.model.core import Node
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaim
from tests.allocation.clusters import (
    DRIVER,
    allocate,
    allocate_many,
    claim_of,
    cluster_of,
    device,
    exactly,
    holding,
    node_named,
    prepared,
    slice_of,
)
from tests.kit.sample import sampled
from tests.vectors.answer_alloc import decode, features, render
from tests.vectors.rows import rows

pytestmark = pytest.mark.one_in(3)

Claims = dict[Key, ResourceClaim]
NAMES = [f"n{number}" for number in range(6)]
NODES = [node_named(name) for name in NAMES]
MODEL = "device.attributes['gpu.example.com'].model == '%s'"
UUID = "device.attributes['gpu.example.com'].uuid.startsWith('%s')"


def by_key(claims: Sequence[ResourceClaim]) -> Claims:
    return {key_of(claim.metadata): claim for claim in claims}


def following(cluster: Cluster, before: Claims, after: Claims) -> Cluster:
    """The cluster when other claims hold devices."""
    held = cluster.allocated.later(before, after)
    return Cluster(cluster.index, cluster.classes, held, cluster.features, cluster)


def asked(cluster: Cluster, nodes: Sequence[Node], claims: Sequence[ResourceClaim]) -> dict[str, Any]:
    answers = allocate_many(cluster, nodes, claims)
    return {name: render(answers[name]) for name in answers}


def alone(cluster: Cluster, nodes: Sequence[Node], claims: Sequence[ResourceClaim]) -> dict[str, Any]:
    return {node.metadata.name: render(allocate(cluster, node, claims)) for node in nodes}


RECORDED = ["alloc_probes", "alloc", "alloc_mutated"]


@pytest.mark.parametrize("name", sampled(RECORDED, 3))
def test_what_is_known_never_changes_an_answer(name: str) -> None:
    """Several attempts on the same cluster, and on what becomes of it, as on one that nobody has asked before."""
    chosen = [row for row in rows(name)[:: 23 if name == "alloc" else 3] if row["expect"]]
    for row, other in pairwise(chosen):
        nodes = decode(row["nodes"], "Node", "v1")
        slices, classes = decode(row["slices"], "ResourceSlice"), decode(row["classes"], "DeviceClass")
        held = by_key(decode(row.get("allocatedClaims") or [], "ResourceClaim"))
        fewer = dict(list(held.items())[1:])
        wanted = [decode(each["claims"], "ResourceClaim") for each in (row, other, row)]
        for run in row["expect"]:
            on = features(run["features"])
            cluster = prepared(slices, classes, held.values(), on)
            later = following(cluster, held, fewer)
            again = following(later, fewer, held)
            for world, claims_held in ((cluster, held), (later, fewer), (again, held)):
                fresh = prepared(slices, classes, claims_held.values(), on)
                for claims in wanted:
                    assert asked(world, nodes, claims) == alone(fresh, nodes, claims), (row["id"], run["name"])


def world(*held: ResourceClaim) -> Cluster:
    """Nodes with two devices each; every device has a uuid of its own, the models are in turn."""
    slices = []
    for number, name in enumerate(NAMES):
        attributes = [{"uuid": f"gpu-{number}-{each}", "model": "ab"[number % 2]} for each in range(2)]
        devices = [device(f"d{each}", attributes=values) for each, values in enumerate(attributes)]
        slices.append(slice_of(devices, pool=name, node=name))
    cluster = cluster_of(*slices, held=list(held))
    # The first attempt on a cluster may be the only one.
    asked(cluster, NODES, [claim_of(exactly("r", 1))])
    assert cluster.alike.compared == 0
    return cluster


def looked_into(cluster: Cluster, *claims: ResourceClaim) -> int:
    before = cluster.alike.compared
    asked(cluster, NODES, claims)
    return cluster.alike.compared - before


def test_a_second_kind_of_pod_compares_nothing_again() -> None:
    cluster = world()
    assert looked_into(cluster, claim_of(exactly("r", 1, MODEL % "a"))) > 0
    assert looked_into(cluster, claim_of(exactly("r", 2, MODEL % "a"))) == 0
    assert looked_into(cluster, claim_of(exactly("r", 1, MODEL % "b"))) == 0
    assert looked_into(cluster, claim_of(exactly("r", 1))) == 0


def test_only_a_column_that_nobody_has_read_is_compared() -> None:
    cluster = world()
    looked_into(cluster, claim_of(exactly("r", 1, MODEL % "a")))
    # Of the two keys that name the attribute, with the domain and without, no device has the first.
    assert looked_into(cluster, claim_of(exactly("r", 1, UUID % "gpu-0"))) == len(NODES)
    assert looked_into(cluster, claim_of(exactly("r", 1, MODEL % "a", UUID % "gpu-0"))) == 0


def test_only_pools_whose_claims_have_changed_are_compared() -> None:
    holder = holding("d0", pool="n2")
    before, after = by_key([holder]), by_key([holder, holding("d1", pool="n4", name="new")])
    cluster, claim = world(holder), claim_of(exactly("r", 1, MODEL % "a"))
    looked_into(cluster, claim)
    later = following(cluster, before, after)
    assert looked_into(later, claim) == 1
    assert asked(later, NODES, [claim]) == alone(world(*after.values()), NODES, [claim])


def test_what_a_driver_comes_to_publish_is_read_from_then_on() -> None:
    """What no device of a driver had is no column; a slice that comes later may bring it."""
    cluster, claim = world(), claim_of(exactly("r", 1, "'tier' in device.attributes['gpu.example.com']"))
    looked_into(cluster, claim)
    brought = slice_of([device("d0", attributes={"tier": "gold"}), device("d1")], pool="n3", node="n3")
    slices = [brought if each.spec.node_name == "n3" else each for each in cluster.index.slices]
    later = Cluster(cluster.index.following(slices), cluster.classes, cluster.allocated, cluster.features, cluster)
    fresh = cluster_of(*slices)
    assert later.index.follows(cluster.index)
    assert asked(later, NODES, [claim]) == alone(fresh, NODES, [claim]) != asked(cluster, NODES, [claim])


def test_a_state_that_follows_from_nothing_is_compared_anew() -> None:
    """Where the allocated state was not made from the earlier one, all its pools count as changed."""
    holder = holding("d0", pool="n2")
    cluster, claim = world(holder), claim_of(exactly("r", 2))
    looked_into(cluster, claim)
    other = AllocatedState([holding("d0", pool="n5")], cluster.features)
    later = Cluster(cluster.index, cluster.classes, other, cluster.features, cluster)
    assert asked(later, NODES, [claim]) == alone(world(holding("d0", pool="n5")), NODES, [claim])
    assert asked(cluster, NODES, [claim]) == alone(world(holder), NODES, [claim])


def test_what_is_unique_but_judged_alike_is_judged_once() -> None:
    cluster, claim = world(), claim_of(exactly("r", 1, UUID % "gpu-4"))
    first, second = (Answers(ClaimSearch(cluster, [claim]), NODES, Budget()) for _ in range(2))
    assert [group.nodes for group in first.groups] == [group.nodes for group in second.groups]
    assert [group.nodes for group in first.groups] == [[name for name in NAMES if name != "n4"], ["n4"]]
    attempt = ClaimSearch(cluster, [claim])
    seen: list[str] = []
    told = attempt.selection.seen
    attempt.selection.seen = lambda driver, device: (seen.append(device.name), told(driver, device))[1]  # type: ignore[method-assign]
    Answers(attempt, NODES, Budget())
    # The first node of each group, and the ends of its paths; not all devices of all nodes.
    assert len(seen) <= 2 * 2 * 2


def test_a_node_that_becomes_another_is_looked_at_anew() -> None:
    devices = [device("d0", attributes={"model": "a"})]
    cluster = cluster_of(*(slice_of(devices, pool=name, node=name) for name in NAMES[:2]))
    claim = claim_of(exactly("r", 1))
    for _ in range(2):
        asked(cluster, NODES[:2], [claim])
    renamed = msgspec.structs.replace(NODES[0].metadata, name="n1")
    twin = msgspec.structs.replace(NODES[0], metadata=renamed)
    assert asked(cluster, [NODES[0], twin], [claim]) == alone(cluster, [NODES[0], twin], [claim])


# --- other slices ---------------------------------------------------------------------------------------------------


def without_first_device(slice_: Any) -> Any:
    spec = slice_.spec
    return msgspec.structs.replace(slice_, spec=msgspec.structs.replace(spec, devices=spec.devices[1:]))


@pytest.mark.parametrize("name", sampled(RECORDED, 3))
def test_slices_that_change_never_leave_an_old_answer(name: str) -> None:
    """Each slice once without its first device, once gone, and once as it was, after what was asked before."""
    for row in rows(name)[:: 29 if name == "alloc" else 4]:
        nodes = decode(row["nodes"], "Node", "v1")
        slices, classes = decode(row["slices"], "ResourceSlice"), decode(row["classes"], "DeviceClass")
        held, claims = decode(row.get("allocatedClaims") or [], "ResourceClaim"), decode(row["claims"], "ResourceClaim")
        for run in row["expect"][:2]:
            on = features(run["features"])
            before = prepared(slices, classes, held, on)
            for _ in range(2):
                asked(before, nodes, claims)
            for place, changed in enumerate(slices):
                for other in ([without_first_device(changed)], []):
                    now = [*slices[:place], *other, *slices[place + 1 :]]
                    index = before.index.following(now)
                    later = Cluster(index, before.classes, before.allocated, on, before)
                    fresh = prepared(now, classes, held, on)
                    expected = alone(fresh, nodes, claims)
                    assert asked(later, nodes, claims) == expected, (row["id"], run["name"], place)
                    assert asked(later, nodes, claims) == expected, (row["id"], run["name"], place)
            assert asked(before, nodes, claims) == alone(before, nodes, claims)


def test_only_pools_whose_slices_have_changed_are_compared() -> None:
    cluster, claim = world(), claim_of(exactly("r", 1, MODEL % "a"))
    looked_into(cluster, claim)
    slices = [without_first_device(each) if each.spec.node_name == "n3" else each for each in cluster.index.slices]
    later = Cluster(cluster.index.following(slices), cluster.classes, cluster.allocated, cluster.features, cluster)
    assert later.index.follows(cluster.index)
    assert later.index.affected == {"n3"}
    # What is in it, and the column that is read.
    assert looked_into(later, claim) <= 3
    assert asked(later, NODES, [claim]) == alone(cluster_of(*slices), NODES, [claim])


def test_slices_of_no_node_may_matter_to_all() -> None:
    shared = slice_of([device("s0", attributes={"model": "a"})], pool="all", node=None, all_nodes=True)
    own = [slice_of([device("d0", attributes={"model": "b"})], pool=name, node=name) for name in NAMES]
    cluster = cluster_of(*own, shared)
    index = cluster.index.following([*own, without_first_device(shared)])
    assert not index.follows(cluster.index)
    assert cluster.index.following([*own[1:], shared]).follows(cluster.index)


def test_an_index_that_follows_knows_the_same_pools() -> None:
    slices = world().index.slices
    changed = [without_first_device(slices[0]), *slices[1:]]
    others = {"the same": list(slices), "another": changed, "one less": slices[1:], "one more": [*slices, changed[0]]}
    for asked_before in (False, True):
        for name, now in others.items():
            index = cluster_of(*slices).index
            if asked_before:
                index.of_pool(PoolId(DRIVER, NAMES[0]))
            later, fresh = index.following(now), cluster_of(*now).index
            again = later.following(slices)
            for pool in (PoolId(DRIVER, each) for each in NAMES):
                assert list(later.of_pool(pool)) == list(fresh.of_pool(pool)), name
                assert list(again.of_pool(pool)) == list(index.of_pool(pool)), name
