"""Lists of devices, classes and taints, and the names that people type for pools and devices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubectl_dra.model.ids import DeviceId
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.device_list import DeviceFilter, device_list
from kubectl_dra.reports.find import find_devices, find_pools
from kubectl_dra.reports.taints.taint_list import taint_rows
from kubectl_dra.reports.unread import POOLS, unread
from kubectl_dra.selectors.evaluate import SelectorSet
from tests.reports.clusters import DEMO, FULL, GPU, SMALL, changed, document, facts, items, withheld


def names(cluster=None, **conditions):
    listed = device_list(cluster or facts(), DeviceFilter(**conditions))
    return [f"{each.pool}/{each.device.name}" for each in listed.items]


def typed(expression, cluster):
    return SelectorSet.of_text(expression, cluster.features.shows_sharing)


# --- devices --------------------------------------------------------------------------------------------------------


def test_without_conditions_every_device_is_listed():
    cluster = facts()
    listed = device_list(cluster, DeviceFilter())
    assert len(list(listed.items)) == len(list(listed.items)) == 20


def test_free_devices_include_those_with_something_left():
    assert names(free=True) == [
        "fabric/fpga-0",
        "node-b/small-1",
        "node-b/small-2",
        "node-b/small-3",
        "rack-1/nic-0",
        "rack-1/nic-2",
        "rack-1/nic-3",
    ]


def test_used_devices_include_those_under_admin_access():
    assert "node-a/gpu-2" in names(used=True)
    assert names(used=True, free=True) == ["rack-1/nic-0"]


def test_tainted_devices_include_those_with_effect_none():
    def only_a_note(content):
        device = items(content, "ResourceSlice")["node-a-gpu"]["spec"]["devices"][3]
        device["taints"] = [taint for taint in device["taints"] if taint["effect"] == "None"]

    assert names(changed(only_a_note), tainted=True) == ["node-a/gpu-0", "node-a/gpu-2", "node-a/gpu-3"]


@pytest.mark.parametrize(
    ("node", "pools"),
    [("node-a", {"fabric", "node-a", "rack-7"}), ("node-c", {"rack-1", "rack-7"}), ("nosuch", {"rack-7"})],
)
def test_devices_of_a_node(node, pools):
    assert {name.partition("/")[0] for name in names(node=node)} == pools


def test_devices_that_an_expression_selects():
    cluster = facts()
    found = names(
        cluster, selectors=(typed('device.attributes["mig.example.com"].?profile.orValue("") == "1g.5gb"', cluster),)
    )
    assert found == [f"node-b/small-{n}" for n in range(4)]


def test_an_expression_that_fails_on_some_devices_says_so():
    cluster = facts()
    expression = 'device.driver == "fpga.example.com" || device.attributes["mig.example.com"].profile == "7g.40gb"'
    listed = device_list(cluster, DeviceFilter(selectors=(typed(expression, cluster),)))
    assert [each.device.name for each in listed.items] == ["fpga-0", "fpga-0", "fpga-0", "whole"]
    assert sum(listed.errors.values()) == 10
    assert all("no such key: profile" in text for text in listed.errors)


def test_an_expression_that_does_not_compile():
    assert "undefined field" in (typed("device.nosuch", facts()).problem or "")


def test_selectors_of_a_class():
    cluster = facts()
    selects = SelectorSet.of_class(cluster.inventory.classes["gpu.example.com"], cluster.features.shows_sharing)
    assert names(cluster, selectors=(selects,)) == [f"node-a/gpu-{n}" for n in range(4)]


def test_named_devices():
    wanted = {DeviceId(*GPU, "gpu-1")}
    assert names(devices=wanted) == ["node-a/gpu-1"]


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["node-a", "gpu.example.com/node-a"])
def test_pools_by_name(word):
    assert find_pools(word, facts()) == (GPU,)


def test_a_pool_name_of_several_drivers_finds_all():
    def rename(content):
        items(content, "ResourceSlice")["rack-1-nics"]["spec"]["pool"]["name"] = "node-a"

    assert [pool.driver for pool in find_pools("node-a", changed(rename))] == ["gpu.example.com", "nic.example.com"]


def test_a_pool_with_slashes_in_its_name():
    def rename(content):
        items(content, "ResourceSlice")["rack-1-nics"]["spec"]["pool"]["name"] = "rack/1"

    cluster = changed(rename)
    assert [str(pool) for pool in find_pools("rack/1", cluster)] == ["nic.example.com/rack/1"]
    assert [str(device) for device in find_devices("rack/1/nic-0", cluster)] == ["nic.example.com/rack/1/nic-0"]


@pytest.mark.parametrize(("word", "number"), [("nic-0", 2), ("rack-1/nic-0", 1), ("nic.example.com/rack-1/nic-0", 1)])
def test_devices_by_name(word, number):
    assert len(find_devices(word, facts())) == number


# --- classes --------------------------------------------------------------------------------------------------------


def rows(cluster=None):
    cluster = cluster or facts()
    return {row.name: row for row in class_rows(cluster.inventory.classes.values(), cluster)}


def test_what_a_class_offers_by_node():
    a, b = "gke-prod-h100-5f3a2b1c-k4tq", "gke-prod-h100-5f3a2b1c-x9zk"
    others = ("ip-192-168-153-160.ec2.internal", "ip-192-168-171-24.ec2.internal")
    row = rows(facts(DEMO))["gpu.example.com"]
    assert row.offers is not None
    offers = {offer.nodes: (offer.devices, offer.free.value, offer.together.value) for offer in row.offers}
    assert offers == {(a,): (8, 4, 4), (b,): (8, 3, 3), others: (8, 5, 5)}
    alike = {
        offer.nodes: [(each.attribute, each.value, each.size.value) for each in offer.alike] for offer in row.offers
    }
    assert alike[(a,)] == [("gpu.example.com/nvlinkDomain", "0", 2)]
    assert alike[(b,)] == [("gpu.example.com/nvlinkDomain", "1", 3)]
    assert alike[others] == []


def test_partitions_of_a_class_that_exclude_each_other_do_not_add_up():
    (offer,) = rows(facts(DEMO))["mig.example.com"].offers or ()
    assert (offer.free.value, offer.together.value) == (3, 1)


def test_totals_of_a_class_and_its_claims():
    row = rows()["gpu.example.com"]
    assert (row.totals.devices.value, row.claims.value, row.pending.value) == (4, 4, 2)
    assert (row.extended_resource, row.configs) == ("example.com/gpu", 1)


def test_a_class_whose_selector_does_not_compile():
    def broken(content):
        items(content, "DeviceClass")["mig.example.com"]["spec"]["selectors"][0]["cel"]["expression"] = "device.x"

    row = rows(changed(broken))["mig.example.com"]
    assert row.problem is not None
    assert row.totals.devices.value == 0


def test_a_device_that_cannot_be_read_fails_even_where_only_the_driver_is():
    def broken(content):
        devices = items(content, "ResourceSlice")["node-a-gpu"]["spec"]["devices"]
        devices[-1]["attributes"]["firmware"] = {"version": "not a version"}

    before, row = rows(facts())["gpu.example.com"], rows(changed(broken))["gpu.example.com"]
    assert before.selectors == ('device.driver == "gpu.example.com"',)
    assert sum(before.errors.values()) == 0
    assert sum(row.errors.values()) == 1
    assert row.totals.devices.value == before.totals.devices.value - 1


def test_devices_for_several_nodes_need_nodes():
    blind = rows(facts(withheld(document(SMALL), ("Node",))))
    assert blind["nic.example.com"].offers is None
    assert blind["gpu.example.com"].offers is not None


@pytest.mark.parametrize(("absent", "times"), [((), 0), (("Node",), 1)])
def test_whether_nodes_matter_to_a_list_is_found_out_once_and_only_where_they_were_not_read(absent, times):
    # Each frame of the terminal UI asks that of four lists, between a key and what it changes.
    looked = []

    class Slices(dict):
        def values(self):
            looked.append(self)
            return super().values()

    state = facts(withheld(document(SMALL), absent))
    inventory = replace(state.inventory, slices=Slices(state.inventory.slices))
    state = replace(state, inventory=inventory)
    for _ in range(4):
        unread(state, POOLS, shown=True)
    assert len(looked) == times


# --- taints ---------------------------------------------------------------------------------------------------------


def test_rules_and_drivers_taints():
    found = [
        (row.key, row.effect, row.rule, row.devices, row.in_use.value, row.claims.value) for row in taint_rows(facts())
    ]
    assert found == [
        ("ecc", "NoSchedule", "ecc-errors", ("gpu.example.com/node-a/gpu-2",), 1, 1),
        ("hot", "NoSchedule", "hot", ("gpu.example.com/node-a/gpu-0",), 1, 1),
        ("note", "None", "", ("gpu.example.com/node-a/gpu-3",), 0, 0),
        ("xid", "NoExecute", "", ("gpu.example.com/node-a/gpu-3",), 0, 0),
    ]


def test_a_rule_without_a_selector_hits_nothing_and_an_empty_one_everything():
    def change(selector):
        def edit(content):
            spec = items(content, "DeviceTaintRule")["hot"]["spec"]
            del spec["deviceSelector"]
            spec |= selector

        return {row.rule: row for row in taint_rows(changed(edit))}["hot"]

    assert change({}).device_count.value == 0
    assert change({"deviceSelector": {}}).device_count.value == 20


def test_without_claims_in_use_is_at_least():
    row = taint_rows(facts(withheld(document(SMALL), ("ResourceClaim",))))[0]
    assert (row.in_use.value, row.in_use.bound, row.device_count.bound) == (0, Bound.AT_LEAST, Bound.EXACT)


def test_old_selectors_of_rules_are_kept():
    assert facts(FULL).inventory.taint_rules["rule-1"].spec.device_selector is not None
