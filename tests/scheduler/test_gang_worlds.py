"""A gang that is tried leaves a cluster of which it is known what differs: no other pod is compared for that."""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.edited import Edited
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.attempt import attempt
from kubectl_dra.scheduler.gangs.world import with_pod
from kubectl_dra.scheduler.snapshot import Snapshot
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.kit.facts import evidence, inventory


def test_what_a_pod_on_a_node_changes_is_known_and_not_searched_for() -> None:
    others = [build.pod(f"r-{number}", node_name="node-1", phase="Running") for number in range(3)]
    objects = [build.namespace(), build.node(cpu="8"), *others, build.pod("waits")]
    before = inventory(objects)
    snapshot = Snapshot(ClusterState(before, evidence(), features(), CLOCK))
    key = next(key for key in before.pods if key.name == "waits")
    later = with_pod(attempt(snapshot, before.pods[key]), "node-1").inventory
    assert later.pods[key].spec.node_name == "node-1"
    assert later.usage["node-1"].pods == before.usage["node-1"].pods + 1
    assert isinstance(later.pods, Edited)
    assert isinstance(later.usage, Edited)
    assert later.pods.touched_since(before.pods) == (key,)
    assert later.usage.touched_since(before.usage) == ("node-1",)
    assert later.pods.keys() >= {Key(key.namespace, f"r-{number}") for number in range(3)}
