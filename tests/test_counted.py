"""Speed as counts that are the same on every machine: calls, evaluations, comparisons of nodes, bytes that are read.

No part does more than half more than when it was recorded (``python -m bench.counted --write``), and what a command
does grows with the cluster and not with its square.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bench import counted, world
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Observed
from kubectl_dra.diagnosis.said import unread, whole_words
from kubectl_dra.model.features import features
from kubectl_dra.reports.devices.unpublished import vanished
from kubectl_dra.source.file import load_file
from kubectl_dra.tui.queries import (
    ALL_CLASSES,
    ALL_POOLS,
    ALL_TAINTS,
    CLAIM_COUNTS,
    KNOWN_SELECTORS,
    LISTED_TAINTS,
    NAMED_VALUES,
    PENDING_KEYS,
    WHOLE,
    Claims,
    DevicesQuery,
    PodQuery,
    RecentChanges,
)
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.sample import sampled
from tests.kit.state import state_of

SIZES = (8, 16, 32, 64)
WAITING = 20
#: How much more each further node may cost in the largest cluster than in the smallest ones.
STEEPER = 1.25
#: Shapes of pods that each ask for something else.
KINDS = 40
COMMANDS = {
    "why-pending -A": ("why-pending", "-A"),
    "why-pending POD": ("why-pending", "train-0008", "-n", "team-1"),
    "get pools": ("get", "pools"),
    "get devices": ("get", "devices"),
    "get claims": ("get", "claims", "-A"),
    "capacity": ("capacity", *counted.SHAPE),
}


# It takes as long as hundreds of others.
@pytest.mark.rows
def test_no_part_does_half_more_than_was_recorded() -> None:
    assert counted.grown(counted.measured(), counted.recorded()) == []


def test_no_quick_part_does_half_more_than_was_recorded() -> None:
    assert counted.grown(counted.quick_parts(), counted.recorded()) == []


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="each Python calls other functions of its own")
def test_one_more_node_costs_a_list_of_pods_what_was_recorded(tmp_path: Path) -> None:
    """Many small additions to what is done for each pod or node add up: each of them is to be seen."""
    assert counted.grown(counted.each_node(tmp_path), counted.recorded()) == []


def test_what_grows_is_told() -> None:
    before = {"a": {"calls": 1000, "few": 0}}
    assert counted.grown({"a": {"calls": 1599, "few": 99}}, before) == []
    assert counted.grown({"a": {"calls": 1601}}, before) == ["a, calls: 1,601, recorded 1,000"]
    each = {counted.EACH_NODE: {"calls": 1000}}
    assert counted.grown({counted.EACH_NODE: {"calls": 1030}}, each) == []
    assert counted.grown({counted.EACH_NODE: {"calls": 1031}}, each) == [
        "each node: why-pending -A, calls: 1,031, recorded 1,000"
    ]
    assert counted.grown({"b": {"calls": 1}}, before) == ["b, calls: not recorded; python -m bench.counted --write"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Clusters in which the same pods wait; each has twice the nodes of the one before."""
    folder = tmp_path_factory.mktemp("growth")
    paths = [folder / f"{size}.json" for size in SIZES]
    for path, size in zip(paths, SIZES, strict=True):
        world.write_snapshot(path, world.objects(size, WAITING))
    return paths


@pytest.mark.parametrize("work", sampled((*COMMANDS, "kinds of pods", "screens of the terminal UI"), 8))
def test_nothing_grows_with_the_square_of_the_cluster(work: str, files: list[Path], tmp_path: Path) -> None:
    if work in COMMANDS:
        check_growth([counted.of_command([*COMMANDS[work], "--from", str(file)]) for file in files], SIZES)
        return
    found = []
    for size, file in zip(SIZES, files, strict=True):
        if work == "screens of the terminal UI":
            found.append(counted.counted(partial(show_all, file)))
        else:
            path = tmp_path / f"{size}.json"
            world.write_snapshot(path, world.objects(size, KINDS, KINDS))
            found.append(counted.of_command(["why-pending", "-A", "--from", str(path)]))
    check_growth(found, SIZES)


@pytest.mark.one_in(4)
def test_jobs_that_do_not_fit_cost_no_more_for_each_further_node(files: list[Path], tmp_path: Path) -> None:
    """Their ways out are tried in clusters that differ in a few pods, of which only these are looked at."""
    path = tmp_path / "jobs.yaml"
    path.write_text("\n---\n".join(json.dumps(each) for kind in (0, 4, 6) for each in job(kind)), encoding="utf-8")
    check_growth([counted.of_command(["simulate", "-f", str(path), "--from", str(file)]) for file in files], SIZES)


def job(kind: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A Job of two pods whose claims can't be allocated, and the template of these."""
    meta = {"name": f"job-{kind}", "namespace": "team-1"}
    container = {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpus"}]}}
    spec = {
        "restartPolicy": "Never",
        "containers": [container],
        "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": meta["name"]}],
    }
    work = {"parallelism": 2, "completions": 2, "template": {"spec": spec}}
    devices = {"spec": {"devices": world.asks()[kind]}}
    return (
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta, "spec": devices},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": work},
    )


def show_all(file: Path) -> None:
    """Every list of the terminal UI, and what it says of some of the pods that wait."""
    inventory, evidence = load_file(str(file))
    state = state_of(inventory, evidence, features(37, {}), keeps=True)
    lists = (
        ALL_POOLS,
        WHOLE,
        DevicesQuery(),
        Claims(),
        CLAIM_COUNTS,
        ALL_CLASSES,
        ALL_TAINTS,
        LISTED_TAINTS,
        RecentChanges(),
    )
    for query in (*lists, KNOWN_SELECTORS, NAMED_VALUES):
        query.compute(state)
    for pod in PENDING_KEYS.compute(state)[:4]:
        PodQuery(pod, remedies=True).compute(state)


def check_growth(found: list[counted.Counts], sizes: Sequence[int]) -> None:
    """Each further node costs no more in the largest cluster than in the smaller ones."""
    for name in found[0]:
        counts = [each[name] for each in found]
        per_node = [
            (after - before) / (b - a)
            for (before, after), (a, b) in zip(pairwise(counts), pairwise(sizes), strict=True)
        ]
        # The first steps meet what is new: models, shapes of pods, other reasons.
        usual = max(per_node[: len(sizes) - 2])
        assert per_node[-1] <= max(usual, 1.0) * STEEPER, (name, counts)


@pytest.mark.one_in(4)
def test_more_pods_of_the_same_kinds_compare_nothing_more(tmp_path: Path) -> None:
    compared = []
    for waiting in (world.WAITING_KINDS, 4 * world.WAITING_KINDS):
        path = tmp_path / f"{waiting}.json"
        world.write_snapshot(path, world.objects(20, waiting))
        compared.append(counted.of_command(["why-pending", "-A", "--from", str(path)]))
    for name in ("comparisons", "evaluations", "searches", "paths", "looks"):
        assert compared[0][name] == compared[1][name], name


@pytest.mark.one_in(4)
def test_more_kinds_of_pods_compare_nothing_more(tmp_path: Path) -> None:
    """Other kinds that ask for the same devices: nodes are compared once."""
    compared = []
    for kinds in (world.WAITING_KINDS, 5 * world.WAITING_KINDS):
        path = tmp_path / f"{kinds}.json"
        world.write_snapshot(path, world.objects(20, 5 * world.WAITING_KINDS, kinds))
        compared.append(counted.of_command(["why-pending", "-A", "--from", str(path)]))
    assert compared[0]["comparisons"] == compared[1]["comparisons"]
    assert compared[1]["searches"] > compared[0]["searches"]


#: Devices of a pool, or pods of a namespace.
MANY = (40, 80, 160)


def test_whether_devices_are_published_is_looked_up_and_not_searched_for() -> None:
    """A pool of many slices, of which claims have every device; some that they have are gone."""
    found = [counted.counted(partial(vanished, held_pool(size))) for size in MANY]
    check_growth(found, MANY)
    assert len(vanished(held_pool(MANY[0]))) == 8


def held_pool(size: int) -> ClusterState:
    names = [f"device-{number}" for number in range(size)]
    of_pool = {"name": "pool", "generation": 1, "resourceSliceCount": size // 8}
    slices = [build.slice_("node", *map(build.device, names[i : i + 8]), pool=f"pool-{i}") for i in range(0, size, 8)]
    for slice_ in slices:
        slice_["spec"]["pool"] = of_pool
    claims = [build.claim(name, held=[("pool", name)]) for name in (*names, *(f"gone-{number}" for number in range(8)))]
    return ClusterState(facts.inventory([*slices, *claims]), facts.evidence(), features(37, {}), CLOCK)


PORTS = "node(s) didn't have free ports for the requested pod ports"
VOLUMES = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


@pytest.mark.parametrize("text", [PORTS, VOLUMES])
def test_who_has_what_pods_wait_for_is_looked_up_and_not_searched_for(text: str) -> None:
    """What the scheduler says of many pods, each beside a pod that has its port and its volume."""
    said = Observed("False", "Unschedulable", f"0/9 nodes are available: 9 {text}.")
    found = []
    for size in MANY:
        state = pairs(size)
        waiting = [pod for pod in state.inventory.pods.values() if not pod.spec.node_name]
        found.append(counted.counted(lambda: [unread.reasons(state, pod, said) for pod in waiting]))  # noqa: B023
        (reason,), _ = unread.reasons(state, waiting[0], said)
        assert reason.users == ("runs-0 on node-0",)
    check_growth(found, MANY)


def test_the_pods_of_a_group_are_looked_up_and_not_searched_for() -> None:
    said = Observed("False", "Unschedulable", GANG)
    found = []
    for size in MANY:
        state = pairs(size)
        waiting = [pod for pod in state.inventory.pods.values() if not pod.spec.node_name]
        found.append(counted.counted(lambda: [list(whole_words.causes(state, pod, said)) for pod in waiting]))  # noqa: B023
        (cause,) = whole_words.causes(state, waiting[0], said)
        assert cause.code is Code.POD_GROUP_UNPLACED
    check_growth(found, MANY)


GANG = "pod group is unschedulable, minCount (2) cannot be satisfied: 1 scheduled, 3 remaining"


def pairs(size: int) -> ClusterState:
    pods = []
    for number in range(size):
        port = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 8000 + number}]}]
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{number}"}}]
        group = {"podGroupName": f"group-{number}"}
        waits = build.pod(f"waits-{number}", containers=port, volumes=volumes, schedulingGroup=group)
        pods += [waits, build.pod(f"runs-{number}", node_name=f"node-{number}", containers=port, volumes=volumes)]
    return ClusterState(facts.inventory(pods), facts.evidence("Node"), features(37, {}), CLOCK)
