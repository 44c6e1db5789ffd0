"""Every view that says in which state a device is says the same, and what the scheduler would do with it.

Which devices a selector matches is compared by tests/selectors/test_one_answer.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.output.devices.lists import device_columns
from kubectl_dra.output.devices.parts import STATE_WORDS
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.capacity.capacity import CapacityRequest, capacity_report
from kubectl_dra.reports.claims.claim import claim_report
from kubectl_dra.reports.claims.claim_list import claim_rows
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.device_list import DeviceFilter, device_list
from kubectl_dra.reports.devices.device_state import AVAILABLE, DeviceState
from kubectl_dra.reports.devices.nodes import node_report, node_summaries
from kubectl_dra.reports.devices.pool import pool_report, pool_summaries
from kubectl_dra.reports.devices.totals import DeviceTotals
from kubectl_dra.reports.selector import Setting, expression_question, selector_report
from kubectl_dra.reports.top import By, top_report
from kubectl_dra.tui.filters import is_kept
from kubectl_dra.tui.queries import DevicesQuery
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.sample import sampled

SEEDS, PARTS = 120, 8
NODES = ("node-a", "node-b", "node-c")
#: Of totals, by the states that they count.
TOTALS = {
    DeviceState.FREE: "free",
    DeviceState.PARTLY: "partly",
    DeviceState.IN_USE: "in_use",
    DeviceState.TAINTED: "tainted",
    DeviceState.BLOCKED: "blocked",
    DeviceState.CLOSED: "closed",
    DeviceState.NOT_OFFERED: "not_offered",
}
States = Mapping[DeviceId, DeviceState]


def any_cluster(seed: int) -> ClusterState:
    """Three nodes with a pool each, of which one may be closed, one incomplete, one partitioned."""
    choose = Random(seed)
    objects: list[dict[str, Any]] = [build.device_class()]
    held: list[tuple[str, dict[str, Any]]] = []
    for name in NODES:
        node = build.node(name)
        node["spec"]["unschedulable"] = choose.random() < 0.3
        counted = choose.random() < 0.3
        devices = [_device(choose, f"{name}-{number}", counted) for number in range(choose.randint(1, 4))]
        slices = [build.slice_(name, *devices)]
        if counted:
            counters = {"sm": {"value": str(choose.randint(1, 3))}}
            slices.append(build.slice_(name, sharedCounters=[{"name": "gpu", "counters": counters}]))
            slices[1]["metadata"]["name"] = f"{name}-counters"
        for slice_ in slices:
            slice_["spec"]["pool"]["resourceSliceCount"] = len(slices) + (choose.random() < 0.15)
        objects += [node, *slices]
        held += [(name, device) for device in devices if choose.random() < 0.35]
    objects += [_claim(choose, f"held-{number}", *each) for number, each in enumerate(held)]
    if choose.random() < 0.4:
        selector = {"driver": build.DRIVER, "pool": choose.choice(NODES)}
        taint = {"key": "broken", "effect": choose.choice(["NoSchedule", "NoExecute", "None"])}
        spec = {"deviceSelector": selector, "taint": taint}
        objects.append({"kind": "DeviceTaintRule", "metadata": {"name": "rule"}, "spec": spec})
    return ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)


def _claim(choose: Random, name: str, node: str, device: Mapping[str, Any]) -> dict[str, Any]:
    claim = build.claim(name, held=[(node, device["name"])], on=node)
    (result,) = claim["status"]["allocation"]["devices"]["results"]
    if device.get("allowMultipleAllocations"):
        result |= {"shareID": f"00000000-0000-4000-8000-{choose.randrange(10**12):012}"}
        result |= {"consumedCapacity": {"memory": choose.choice(["10Gi", "80Gi"])}}
    elif choose.random() < 0.2:
        result["adminAccess"] = True
    return claim


def _device(choose: Random, name: str, counted: bool) -> dict[str, Any]:
    found: dict[str, Any] = build.device(name, attributes={"id": name})
    if counted:
        found["consumesCounters"] = [{"counterSet": "gpu", "counters": {"sm": {"value": "1"}}}]
    elif choose.random() < 0.3:
        memory = {"value": "80Gi", "requestPolicy": {"default": choose.choice(["10Gi", "0"])}}
        found |= {"allowMultipleAllocations": True, "capacity": {"memory": memory}}
    if choose.random() < 0.2:
        found["taints"] = [{"key": "hot", "effect": choose.choice(["NoSchedule", "None"])}]
    return found


def listed(cluster: ClusterState, **wanted: Any) -> States:
    """As ``get devices`` says it."""
    found = device_list(cluster, DeviceFilter(**wanted)).items
    return {DeviceId(each.driver, each.pool, each.device.name): each.device.state for each in found}


# --- one device at a time -------------------------------------------------------------------------------------------


def printed_wide(cluster: ClusterState) -> States:
    """The column STATE of ``get devices -o wide``; of closed nodes it says why they are."""
    rows = list(device_list(cluster, DeviceFilter()).items)
    (state,) = (column for column in device_columns(rows, wide=True) if column.title == "STATE")
    assert state.detail is not None
    words = {word: each for each, word in STATE_WORDS.items()}
    words |= {f"{word} (node cordoned)": DeviceState.CLOSED for word in ("free", "partly used")}
    told = ((row, plain(state.detail(row, CLOCK.now()))) for row in rows)
    return {DeviceId(row.driver, row.pool, row.device.name): words[text] for row, text in told}


def described_pools(cluster: ClusterState) -> States:
    reports = (pool_report(pool, cluster) for pool in cluster.pools)
    return {DeviceId(each.driver, each.pool, device.name): device.state for each in reports for device in each.devices}


def described_nodes(cluster: ClusterState) -> States:
    reports = (node_report(name, cluster) for name in NODES)
    return {DeviceId(d.driver, d.pool, d.device.name): d.device.state for report in reports for d in report.devices}


def in_the_tui(cluster: ClusterState) -> States:
    return {row.id: row.state for row in DevicesQuery().compute(cluster)}


# --- which of them are in a state -----------------------------------------------------------------------------------


def filtered_in_get(cluster: ClusterState) -> Mapping[DeviceState, frozenset[DeviceId]]:
    return {DeviceState.FREE: frozenset(listed(cluster, free=True))}


def filtered_in_the_tui(cluster: ClusterState) -> Mapping[DeviceState, frozenset[DeviceId]]:
    """What ``/`` leaves of the list when the words of a state are typed; ``free`` is for what a pod could get."""
    rows = DevicesQuery().compute(cluster)
    words = {state: word.removeprefix("free ") for state, word in STATE_WORDS.items()}
    kept = {state: is_kept(word) for state, word in words.items() if state is not DeviceState.FREE}
    return {state: frozenset(row.id for row in rows if test and test(row.text)) for state, test in kept.items()}


def free_in_the_lab(cluster: ClusterState) -> Mapping[DeviceState, frozenset[DeviceId]]:
    """What test-selector calls free of all devices."""
    pools = selector_report(expression_question("true"), Setting(cluster)).pools
    return {DeviceState.FREE: frozenset(DeviceId(each.driver, each.pool, name) for each in pools for name in each.free)}


def placed(cluster: ClusterState) -> Mapping[DeviceState, frozenset[DeviceId]]:
    """The devices that a new pod would get if it asked for them, as ``capacity`` finds by placing it."""
    names = [id_ for id_ in listed(cluster) if _is_placed(cluster, id_.device)]
    return {DeviceState.FREE: frozenset(names)}


def _is_placed(cluster: ClusterState, name: str) -> bool:
    selector = f'device.attributes["{build.DRIVER}"].id == "{name}"'
    (shape,) = capacity_report(cluster, CapacityRequest(build.DRIVER, 1, (selector,)), build.NAMESPACE).shapes
    return shape.capacity.copies.value > 0


# --- the property ---------------------------------------------------------------------------------------------------


def test_every_state_occurs() -> None:
    seen = Counter(state for seed in range(SEEDS) for state in listed(any_cluster(seed)).values())
    assert set(seen) == set(DeviceState)


@pytest.mark.parametrize("part", sampled(range(PARTS), PARTS))
def test_every_view_says_the_same_state_of_every_device(part: int) -> None:
    for seed in range(part, SEEDS, PARTS):
        cluster = any_cluster(seed)
        truth = listed(cluster)
        for view in (printed_wide, described_pools, described_nodes, in_the_tui):
            assert view(cluster) == truth, f"{view.__name__} of seed {seed}"
        for of_states in (filtered_in_get, filtered_in_the_tui, free_in_the_lab, placed):
            for state, found in of_states(cluster).items():
                expected = AVAILABLE if state is DeviceState.FREE else {state}
                ids = frozenset(id_ for id_, each in truth.items() if each in expected)
                assert found == ids, f"{of_states.__name__} of seed {seed}, {state}"
        check_numbers(cluster, truth, seed)
        check_claims(cluster, seed)


def check_numbers(cluster: ClusterState, truth: States, seed: int) -> None:
    """``get pools``, ``get nodes``, ``get classes``, ``top`` and ``top classes`` count the same devices."""
    by_pool = {name: Counter(state for id_, state in truth.items() if id_.pool == name) for name in NODES}
    for pool in pool_summaries(cluster):
        check_totals(pool.totals, by_pool[pool.pool], f"pool {pool.pool} of seed {seed}")
    for node in node_summaries(cluster):
        check_totals(node.totals, by_pool[node.name], f"node {node.name} of seed {seed}")
    everything = Counter(truth.values())
    (of_class,) = class_rows(cluster.inventory.classes.values(), cluster)
    check_totals(of_class.totals, everything, f"the class of seed {seed}")
    rows = [(row, by_pool[row.name]) for row in top_report(cluster, By.NODES, "").rows]
    rows += [(row, everything) for row in top_report(cluster, By.CLASSES, "").rows]
    for row, expected in rows:
        assert row.devices is not None and row.partly is not None and row.free is not None
        told = (row.devices.value, row.used.value, row.partly.value, row.free.value)
        states = (DeviceState.IN_USE, DeviceState.PARTLY, DeviceState.FREE)
        assert told == (expected.total(), *(expected[state] for state in states)), f"top {row.name} of seed {seed}"


def check_totals(totals: DeviceTotals, expected: Counter[DeviceState], which: str) -> None:
    assert {state: getattr(totals, field).value for state, field in TOTALS.items()} == {
        state: expected[state] for state in TOTALS
    }, which


def check_claims(cluster: ClusterState, seed: int) -> None:
    """``get claims``, ``describe-claim`` and the users that lists of devices name say who has which device."""
    by_claim: dict[str, set[str]] = {}
    for each in device_list(cluster, DeviceFilter()).items:
        for holder in each.device.holders:
            by_claim.setdefault(holder.claim, set()).add(f"{each.driver}/{each.pool}/{each.device.name}")
    for claim in cluster.inventory.claims.values():
        (row,) = claim_rows([claim], cluster)
        report = claim_report(claim, cluster)
        found = {f"{each.driver}/{each.pool}/{each.device}" for each in report.results}
        assert found == set(row.devices) == by_claim.get(row.name, set()), f"claim {row.name} of seed {seed}"
        assert all(each.published for each in report.results)
