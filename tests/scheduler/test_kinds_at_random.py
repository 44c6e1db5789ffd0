"""Random clusters with nodes alike: a node of a kind gets the answer that it gets where it is asked about alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_dra.allocation.outcome import Allocated
from kubectl_dra.allocation.search.classes import NodeClasses
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Pod
from kubectl_dra.model.podinfo import pod_info
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.attempt import Attempt, attempt, scores
from kubectl_dra.scheduler.filtering import filter_node, pre_filter
from kubectl_dra.scheduler.framework import Cycle
from kubectl_dra.scheduler.gangs.world import with_pod
from kubectl_dra.scheduler.plugins.dynamic_resources import devices_on
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import NodeError, Status
from tests.differential.gang_rows import changed
from tests.differential.whole.cluster import whole_cluster
from tests.differential.whole.pods import PRIORITIES
from tests.kit.clock import CLOCK
from tests.kit.sample import sampled, seed
from tests.scheduler.rows import snapshot_of
from tests.scheduler.state_edits import EDITS, edited
from tests.scheduler.twins import BEFORE, CHANGES, with_twins
from tests.vectors import answer_sched
from tests.vectors.rows import rows

Row = dict[str, Any]
#: How many are drawn; `make test` draws the first of them.
CLUSTERS: Final = int(os.environ.get("KINDS_CLUSTERS", "500"))
FEW: Final = 50
HOW_MANY: Final = (FEW, pytest.param(CLUSTERS, marks=pytest.mark.rows))
GANGS: Final = int(os.environ.get("KINDS_GANGS", "40"))
#: Plugins that say what they read, and refuse nodes of the random clusters.
READING: Final = frozenset(
    (
        *("NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "NodeVolumeLimits"),
        *("VolumeRestrictions", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources"),
        "NodeDeclaredFeatures",
    )
)
#: Branches of the generators that must have been taken.
BRANCHES: Final = frozenset(
    (
        *("devices for all nodes", "devices for nodes of a zone", "device for several claims", "shared counters"),
        *("device plugin for a class's extended resource", "extended resource of a class", "binding conditions"),
        *("shared device claim", "device taint rule", "node affinity by name", "nominated node", "host port"),
        *("required podAffinity", "required podAntiAffinity", "spread DoNotSchedule", "volume attachment"),
        *("limit of volumes", "volume gcePersistentDisk", "toleration", "images on nodes", "claim exclusive"),
        *("a pod beside others placed before", *BEFORE, *CHANGES, *EDITS),
    )
)


def alone(snapshot: Snapshot) -> Snapshot:
    """The same cluster, of which nothing is known yet."""
    state = snapshot.state
    fresh = ClusterState(state.inventory, state.evidence, state.features, CLOCK)
    return Snapshot(fresh, snapshot.pending, snapshot.copied)


def told(status: Status) -> tuple[object, ...]:
    """What a status says, errors in the words for their node."""
    detail = status.detail.text() if isinstance(status.detail, NodeError) else status.detail
    return status.code, status.plugin, status.reasons, status.message, detail


def found_on(cycle: Cycle, node: str) -> tuple[object, ...]:
    """The devices that were found on a node, and what can't be used there."""
    found = devices_on(cycle, node)
    if found is None:
        return ()
    own = found.searched.own if found.searched is not None else None
    devices = own.allocations if isinstance(own, Allocated) else type(own)
    return found.extended, found.unavailable, found.timed_out, devices


def check(found: Attempt, seen: Counter[str]) -> None:
    """Each node of the attempt is asked about on its own, in a cluster of which nothing is known."""
    cycle = found.cycle
    verdicts = found.verdicts
    for info in found.filtered.nodes:
        own = Cycle(cycle.pod, pod_info(cycle.pod), alone(cycle.snapshot))
        pre_filter(own)
        expected = filter_node(own, own.snapshot.nodes[info.name])
        about = str(cycle.pod.metadata.name), info.name
        assert told(found.status_of(info.name)) == told(expected.status), about
        assert list(map(told, verdicts[info.name].unsure)) == list(map(told, expected.unsure)), about
        devices = found_on(own, info.name)
        # Nothing was found where another plugin refused the node first.
        assert not devices or found_on(cycle, info.name) == devices, about
        kept = cycle.asked.get(expected.status.plugin)
        if kept is not None and kept.instead_of(info.name) != info.name:
            seen[f"{expected.status.plugin} refuses in another's place"] += 1
        if expected.status.ok and len(verdicts) > len(found.filtered.verdicts):
            seen["fits in another's place"] += 1


def waiting(snapshot: Snapshot) -> Iterator[Pod]:
    pods = snapshot.inventory.pods.values()
    return (pod for pod in pods if not pod.spec.node_name and not is_terminal(pod))


def large(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kinds, "_FEW", 0)
    patch.setattr(NodeClasses, "compares", True)


def cluster(number: int) -> tuple[Row, set[str]]:
    """Every other one is about devices, of which most is read."""
    drawn = (whole_cluster(f"{seed()}-kinds-{number}-{again}") for again in count())
    row, taken = next(found for found in drawn if number % 2 or "devices" in found[0]["category"])
    for pod in row["pods"]:
        _admit(pod["spec"])
    twins, changes = with_twins(row, row["id"], 4)
    return twins, taken | changes


def _admit(spec: Row) -> None:
    """What the API server writes into pods, as far as nodes are refused for it."""
    spec["priority"] = PRIORITIES.get(spec.get("priorityClassName", ""), 0)
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        resources = container.setdefault("resources", {})
        resources["requests"] = {**resources.get("limits", {}), **resources.get("requests", {})}


@pytest.fixture(scope="module", params=HOW_MANY)
def clusters(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def seen(clusters: int) -> Counter[str]:
    """What occurred in all clusters; a difference ends it."""
    found: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        large(patch)
        for number in range(clusters):
            one_after_another(number, found)
    return found


def _another(pod: Pod) -> Pod:
    """One more pod that says the same, with the same claims."""
    meta = pod.metadata
    return replace(pod, metadata=replace(meta, name=f"{meta.name}-again", uid=f"{meta.uid}-again"))


def one_after_another(number: int, seen: Counter[str]) -> None:
    """Each waiting pod, beside those that have got a node before, in a cluster that changes from one to the other."""
    row, taken = cluster(number)
    seen.update(taken)
    snapshot, placed, random = snapshot_of(row), 0, Random(number)
    for pod in [again for each in waiting(snapshot) for again in (each, _another(each))]:
        found = attempt(snapshot, pod)
        check(found, seen)
        seen["a pod beside others placed before"] += placed > 0
        best = scores(found).best if found.stop is None else ()
        if best:
            placed += 1
            snapshot = with_pod(found, best[0])
        snapshot, name = edited(snapshot, random)
        seen[name] += 1


def test_a_node_gets_the_answer_that_it_gets_alone(seen: Counter[str], clusters: int) -> None:
    assert seen["fits in another's place"] > clusters


@pytest.fixture
def as_large() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        large(patch)
        yield


@pytest.mark.usefixtures("as_large")
@pytest.mark.parametrize("plugin", sampled(sorted(READING), 4))
def test_a_plugin_that_says_too_little_is_found_out(plugin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = next(type(each) for each in PLUGINS if each.name == plugin)
    monkeypatch.setattr(own, "reads", lambda _self, _cycle: kinds.NOTHING)
    # It ends with the first cluster where it matters, which is a rare one for the zones of volumes.
    with pytest.raises(AssertionError):
        for number in range(10 * CLUSTERS):
            one_after_another(number, Counter())


def answers(row: Row) -> tuple[Row, Row]:
    """Decisions with scores and evictions in a cluster that counts as large, and in one that counts as small."""
    with pytest.MonkeyPatch.context() as patch:
        large(patch)
        of_large = answer_sched.answer(row)
    return of_large, answer_sched.answer(row)


def test_scores_and_evictions_are_the_same(clusters: int) -> None:
    evicting = 0
    for number in range(clusters // 2):
        of_large, of_small = answers(cluster(number)[0])
        assert of_large == of_small, number
        evicting += any("preemption" in entry for entry in of_small["expect"])
    assert evicting or clusters < CLUSTERS


def test_groups_are_decided_the_same() -> None:
    recorded, random, outcomes = rows("sched_gangs"), Random(seed()), Counter[str]()
    for number in range(GANGS):
        name = f"{seed()}-kinds-{number}"
        row, _ = with_twins(changed(random.choice(recorded), name)[0], name, 3)
        of_large, of_small = answers(row)
        assert of_large == of_small, name
        outcomes.update(entry["outcome"] for entry in of_small["expect"])
    assert {"scheduled", "unschedulable"} <= outcomes.keys(), outcomes


@pytest.mark.skipif(CLUSTERS < 500, reason="too few clusters for everything")
@pytest.mark.parametrize("clusters", HOW_MANY[1:], indirect=True)
def test_all_of_it_occurs(seen: Counter[str]) -> None:
    assert sorted(BRANCHES - seen.keys()) == []
    assert sorted(name for name in READING if not seen[f"{name} refuses in another's place"]) == []
