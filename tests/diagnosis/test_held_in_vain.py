"""Nodes whose devices are held by pods that should end: known for what-ifs from the cluster that they change."""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.reserved import nodes_held_in_vain
from kubectl_dra.model.edited import edited
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.kit.facts import evidence, inventory

LATER = "2026-11-21T12:00:00Z"


def cluster() -> tuple[ClusterState, Key, Key]:
    """Two pods on a node, one of which uses a claim; and the keys of both."""
    held = build.claim("used", build.request(), held=[("node-1", "gpu-0")], by=["user"], on="node-1")
    user = build.pod("user", node_name="node-1", claims=["used"], phase="Running")
    idle = build.pod("idle", node_name="node-1", phase="Running")
    there = inventory([build.namespace(), build.node(), build.device_class(), held, user, idle])
    keys = {key.name: key for key in there.pods}
    return ClusterState(there, evidence(), features(), CLOCK), keys["user"], keys["idle"]


def ending(state: ClusterState, key: Key) -> ClusterState:
    pod = state.inventory.pods[key]
    gone = replace(pod, metadata=replace(pod.metadata, deletion_timestamp=LATER))
    return state.changed(state.inventory.replace(pods=edited(state.inventory.pods, {key: gone})))


def test_of_a_pod_that_changes_its_claims_alone_are_looked_at() -> None:
    state, user, idle = cluster()
    assert nodes_held_in_vain(state) == frozenset()
    pod = replace(state.inventory.pods[idle], spec=replace(state.inventory.pods[idle].spec, priority=3))
    moved = state.changed(state.inventory.replace(pods=edited(state.inventory.pods, {idle: pod})))
    assert nodes_held_in_vain(moved) == frozenset()
    assert "pods_by_uid" not in vars(moved.inventory)
    assert nodes_held_in_vain(ending(state, user)) == {"node-1"}
    assert nodes_held_in_vain(ending(state, idle)) == frozenset()


def test_a_claim_that_a_pod_which_should_end_comes_to_use_counts() -> None:
    state, user, idle = cluster()
    before = ending(state, idle)
    assert nodes_held_in_vain(before) == frozenset()
    (claim,) = before.inventory.claims
    found, uid = before.inventory.claims[claim], before.inventory.pods[idle].metadata.uid
    taken = replace(found.status.reserved_for[0], name=idle.name, uid=uid)
    used = replace(found, status=replace(found.status, reserved_for=(*found.status.reserved_for, taken)))
    later = before.changed(before.inventory.replace(claims=edited(before.inventory.claims, {claim: used})))
    assert nodes_held_in_vain(later) == {"node-1"}
    assert nodes_held_in_vain(ending(later, user)) == {"node-1"}
