"""Pool reports of a small cluster in which everything that makes counting tricky happens at once."""

from __future__ import annotations

import pytest

from kubectl_dra.model.ids import PoolId
from kubectl_dra.output.devices.pool_page import pool_page
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.drivers import driver_summaries
from kubectl_dra.reports.devices.pool import pool_report, pool_summaries
from kubectl_dra.reports.devices.pool_state import PoolState
from kubectl_dra.reports.devices.totals import DeviceTotals
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.kit.facts import evidence
from tests.kit.state import inventory_of, state_of
from tests.reports.clusters import DEMO, FABRIC, FULL, GPU, MIG, NIC, NIC_INCOMPLETE, SMALL, changed, facts, items

STATES = ("free", "partly", "in_use", "tainted", "blocked", "closed", "not_offered")


def states(report):
    return {device.name: device.state for device in report.devices}


def numbers(totals: DeviceTotals):
    return {name: getattr(totals, name).value for name in STATES if getattr(totals, name).value}


def test_a_device_that_is_allocated_and_tainted_counts_once():
    report = pool_report(GPU, facts())
    assert states(report) == {"gpu-0": "inUse", "gpu-1": "inUse", "gpu-2": "tainted", "gpu-3": "tainted"}
    assert numbers(report.totals) == {"in_use": 2, "tainted": 2}
    assert report.totals.in_use_tainted.value == 1


def test_only_the_newest_generation_counts_and_stale_slices_are_named():
    report = pool_report(GPU, facts())
    assert (report.view.generation, report.view.seen, report.view.expected) == (7, 1, 1)
    assert [(s.name, s.current) for s in report.slices] == [("node-a-gpu", True), ("node-a-gpu-old", False)]
    assert report.stale_slices == 1


def test_admin_access_leaves_a_device_as_free_as_it_is():
    def untaint(content):
        content["items"] = [item for item in content["items"] if item["metadata"]["name"] != "ecc-errors"]

    report = pool_report(GPU, changed(untaint))
    monitored = report.devices[2]
    assert monitored.state is DeviceState.FREE
    assert [holder.admin_access for holder in monitored.holders] == [True]
    assert report.totals.admin_only.value == 1


def test_who_put_a_taint_there():
    report = pool_report(GPU, facts())
    taints = {d.name: [(t.key, t.effect, t.rule, t.prevents) for t in d.taints] for d in report.devices if d.taints}
    assert taints == {
        "gpu-0": [("hot", "NoSchedule", "hot", True)],
        "gpu-2": [("ecc", "NoSchedule", "ecc-errors", True)],
        "gpu-3": [("xid", "NoExecute", "", True), ("note", "None", "", False)],
    }


def test_a_taint_rule_counts_for_nothing_while_the_feature_is_off():
    report = pool_report(GPU, facts(SMALL, {"DRADeviceTaintRules": False}))
    assert states(report)["gpu-2"] is DeviceState.FREE
    assert states(report)["gpu-3"] is DeviceState.TAINTED


def test_partitions_block_each_other_through_their_counters():
    report = pool_report(MIG, facts())
    assert {name for name, state in states(report).items() if state is DeviceState.BLOCKED} == {"whole", "half-1"}
    blocked = next(device for device in report.devices if device.name == "half-1")
    assert blocked.held_back_by == ("half-0", "small-0")
    assert [(c.counter, c.used, c.total, c.available) for c in report.counters] == [
        ("compute", "4", "7", "3"),
        ("memory", "25Gi", "40Gi", "15Gi"),
    ]


def test_partitions_that_can_never_be_allocated_side_by_side():
    report = pool_report(MIG, facts())
    excludes = {device.name: set(device.excludes) for device in report.devices}
    assert excludes["whole"] == {"half-0", "half-1", "small-0", "small-1", "small-2", "small-3"}
    assert excludes["half-0"] == {"whole"}


def test_what_still_fits_together_is_less_than_what_is_free():
    partitions = {each.name: each for each in pool_report(MIG, facts()).partitions}
    assert {name: (p.devices, p.free.value, p.together.value) for name, p in partitions.items()} == {
        "7g.40gb": (1, 0, 0),
        "3g.20gb": (2, 0, 0),
        "1g.5gb": (4, 3, 3),
    }
    assert partitions["1g.5gb"].takes == "compute 1, memory 5Gi"


def test_shared_capacity_is_summed_over_shares_and_full_devices_are_in_use():
    report = pool_report(NIC, facts())
    assert states(report) == {"nic-0": "partly", "nic-1": "inUse", "nic-2": "free", "nic-3": "free"}
    (total,) = report.capacity
    assert (total.total, total.consumed.value, total.available.value) == ("400G", "180G", "220G")
    shared = report.devices[0]
    assert [(c.consumed, c.available) for c in shared.capacity] == [("80G", "20G")]
    assert [(h.claim, h.consumed_capacity) for h in shared.holders] == [
        ("nb", {"bandwidth": "20G"}),
        ("serve-1-net", {"bandwidth": "60G"}),
    ]


def test_a_rest_smaller_than_the_smallest_share_is_no_rest():
    def fill(content):
        claim = items(content, "ResourceClaim")["nb"]
        claim["status"]["allocation"]["devices"]["results"][0]["consumedCapacity"]["bandwidth"] = "36G"

    assert states(pool_report(NIC, changed(fill)))["nic-0"] is DeviceState.IN_USE


def test_a_tainted_share_is_not_available():
    def taint(content):
        slice_ = items(content, "ResourceSlice")["rack-1-nics"]
        slice_["spec"]["devices"][0]["taints"] = [{"key": "link", "effect": "NoSchedule"}]

    report = pool_report(NIC, changed(taint))
    assert states(report)["nic-0"] is DeviceState.TAINTED
    assert (report.capacity[0].consumed.value, report.capacity[0].available.value) == ("180G", "200G")


def test_an_incomplete_pool_offers_nothing():
    report = pool_report(NIC_INCOMPLETE, facts())
    assert report.view.state is PoolState.INCOMPLETE
    assert (report.view.seen, report.view.expected) == (1, 2)
    assert set(states(report).values()) == {DeviceState.NOT_OFFERED}
    assert report.capacity[0].available.value == "0"


def test_too_many_slices_are_incomplete_too():
    def add(content):
        slice_ = items(content, "ResourceSlice")["rack-7-nics"]
        slice_["spec"]["pool"]["resourceSliceCount"] = 0

    assert pool_report(NIC_INCOMPLETE, changed(add)).view.state is PoolState.INCOMPLETE


def test_nodes_that_disagree_about_a_pool_are_told_apart():
    report = pool_report(FABRIC, facts())
    views = {view.nodes: (view.state, view.fault.name if view.fault else None) for view in report.views}
    assert views == {("node-a",): (PoolState.READY, None), ("node-b",): (PoolState.INVALID, "fpga-0")}
    assert [device.state for device in report.devices] == ["free", "notOffered", "notOffered"]
    assert [device.scope.node for device in report.devices if device.scope] == ["node-a", "node-b", "node-b"]


def test_a_stale_slice_of_another_node_is_an_older_pool_for_that_node():
    def stale(content):
        old = items(content, "ResourceSlice")["node-a-gpu-old"]
        old["spec"]["nodeName"] = "node-b"

    views = pool_report(GPU, changed(stale)).views
    assert views is not None
    assert [(view.nodes, view.state, view.generation) for view in views] == [
        (("node-a",), PoolState.READY, 7),
        (("node-b",), PoolState.READY, 6),
    ]


def test_an_unparsable_node_selector():
    def broken(content):
        term = items(content, "ResourceSlice")["rack-1-nics"]["spec"]["nodeSelector"]["nodeSelectorTerms"][0]
        term["matchExpressions"][0] |= {"operator": "Gt", "values": ["x"]}

    report = pool_report(NIC, changed(broken))
    assert report.scope.nodes is None
    assert report.view.state is PoolState.UNPARSABLE
    assert report.totals.not_offered.value == 3


def test_what_is_the_same_for_all_is_said_once():
    report = pool_report(GPU, facts())
    assert report.same == {"model": "H100", "driverVersion": "570.12.0", "memory": "80Gi"}
    assert report.differing == ("nvlinkDomain", "uuid")


def test_health_comes_from_the_status_of_pods():
    report = pool_report(GPU, facts())
    health = {d.name: [(h.pod, h.health, h.message) for h in d.health] for d in report.devices if d.health}
    assert health == {"gpu-0": [("serve-0", "Healthy", "")], "gpu-1": [("serve-0", "Unhealthy", "ECC errors")]}


def test_an_ignored_slice_is_named():
    report = pool_report(facts(FULL).pools[1], facts(FULL))
    assert [(s.name, s.ignored) for s in report.slices] == [("slice-counters", False), ("slice-parts", True)]


@pytest.mark.parametrize("path", [SMALL, FULL, DEMO], ids=["small", "full", "demo"])
def test_every_device_counts_once_everywhere(path):
    cluster = facts(path)
    for summary in pool_summaries(cluster):
        report = pool_report(next(p for p in cluster.pools if p == (summary.driver, summary.pool)), cluster)
        assert summary.totals == report.totals
        assert sum(getattr(summary.totals, name).value for name in STATES) == summary.totals.devices.value
        assert summary.totals.devices.value == len(report.devices)
        for name, state in zip(
            STATES, ("free", "partly", "inUse", "tainted", "blocked", "nodeClosed", "notOffered"), strict=True
        ):
            assert getattr(report.totals, name).value == sum(d.state == state for d in report.devices)


@pytest.mark.parametrize("path", [SMALL, DEMO], ids=["small", "demo"])
def test_totals_of_drivers_are_sums_of_pools(path):
    pools = pool_summaries(facts(path))
    for driver in driver_summaries(pools):
        own = [pool for pool in pools if pool.driver == driver.driver]
        assert driver.pools == len(own)
        assert driver.totals.devices.value == sum(pool.totals.devices.value for pool in own)


def test_all_numbers_of_complete_evidence_are_exact():
    for summary in pool_summaries(facts(DEMO)):
        assert {getattr(summary.totals, name).bound for name in summary.totals.__struct_fields__} == {Bound.EXACT}


def controllers_available(report):
    """The arithmetic of the ResourcePoolStatusRequest controller, which subtracts some devices twice."""
    held = sum(any(not holder.admin_access for holder in device.holders) for device in report.devices)
    tainted = sum(any(taint.prevents for taint in device.taints) for device in report.devices)
    return max(0, len(report.devices) - held - tainted)


def test_the_status_controller_counts_a_tainted_device_in_use_twice():
    def one_taint(content):
        content["items"] = [item for item in content["items"] if item["metadata"]["name"] != "ecc-errors"]
        items(content, "ResourceSlice")["node-a-gpu"]["spec"]["devices"][3].pop("taints")

    report = pool_report(GPU, changed(one_taint))
    assert controllers_available(report) == 1
    assert numbers(report.totals) == {"free": 2, "in_use": 2}


def test_without_special_cases_our_totals_are_the_status_controllers():
    for summary in pool_summaries(facts(DEMO)):
        totals = summary.totals
        plain = not (totals.partly.value or totals.blocked.value or totals.not_offered.value)
        if plain and not totals.in_use_tainted.value:
            cluster = facts(DEMO)
            report = pool_report(next(p for p in cluster.pools if p == (summary.driver, summary.pool)), cluster)
            assert totals.free.value == controllers_available(report)


def _slice_of_memory(name, places, profile=""):
    taken = {f"memory-slice-{place}": {"value": "1"} for place in places} | {"sm": {"value": str(14 * len(places))}}
    attributes = {"profile": profile} if profile else {}
    return build.device(name, attributes=attributes, consumesCounters=[{"counterSet": "gpu", "counters": taken}])


def _partitioned(*devices):
    counters = {f"memory-slice-{place}": {"value": "1"} for place in range(4)} | {"sm": {"value": "56"}}
    sets = build.slice_("node-1", sharedCounters=[{"name": "gpu", "counters": counters}])
    sets["metadata"]["name"] = "sets"
    slices = [build.slice_("node-1", *devices), sets]
    for each in slices:
        each["spec"]["pool"]["resourceSliceCount"] = 2
    return pool_report(PoolId(build.DRIVER, "node-1"), state_of(inventory_of([build.node(), *slices]), evidence()))


def test_partitions_of_one_profile_are_of_one_type_wherever_they_are_on_the_hardware():
    small = [_slice_of_memory(f"small-{place}", [place], "1g") for place in range(4)]
    large = [_slice_of_memory(f"large-{place}", [place, place + 1], "2g") for place in (0, 2)]
    report = _partitioned(*small, *large, _slice_of_memory("whole", range(4)))
    types = [(each.name, each.takes, each.devices, each.together.value) for each in report.partitions]
    assert types == [
        ("1g", "memory-slice 1, sm 14", 4, 4),
        ("2g", "memory-slice 2, sm 28", 2, 2),
        ("memory-slice 4, sm 56", "memory-slice 4, sm 56", 1, 1),
    ]
    page = " ".join(" ".join(pool_page(report, CLOCK.now())).split())
    assert "1g memory-slice 1, sm 14 4 4 4" in page
    assert "- memory-slice 4, sm 56 1 1 1" in page
    assert "DEVICE PROFILE STATE" in page
    assert "… (-o wide shows all)" not in page
    places = [[place for place in range(4) if number >> place & 1] for number in range(1, 16)]
    many = _partitioned(*(_slice_of_memory(f"p-{''.join(map(str, each))}-x", each) for each in places))
    assert "… (-o wide shows all)" in " ".join(pool_page(many, CLOCK.now()))
    assert "… (-o wide shows all)" not in " ".join(pool_page(many, CLOCK.now(), wide=True))


def test_slices_that_disagree_about_their_number_are_told():
    slices = [build.slice_("node-1", build.device(f"gpu-{number}")) for number in range(2)]
    slices[1]["metadata"]["name"] = "other"
    for each in slices:
        each["spec"]["pool"]["resourceSliceCount"] = 2

    def page():
        report = pool_report(
            PoolId(build.DRIVER, "node-1"), state_of(inventory_of([build.node(), *slices]), evidence())
        )
        return " ".join(" ".join(pool_page(report, CLOCK.now())).split())

    assert "disagree" not in page()
    slices[1]["spec"]["pool"]["resourceSliceCount"] = 3
    assert "Its slices disagree about their number (2 and 3)." in page()
