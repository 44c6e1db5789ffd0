"""Devices that a device plugin offers, in capacity: counted by what pods request of the node."""

from __future__ import annotations

from typing import Any

from kubectl_dra.diagnosis.capacity.records import Capacity, Devices
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.safe import plain
from tests.kit import build, facts
from tests.kit.state import state_of
from tests.output.pending.test_device_plugins import CLASS, DEVICES, GPU, plugin_node
from tests.reports.test_admission import room
from tests.reports.test_simulated_files import a_pod


def counted(*objects: dict[str, Any], gpus: int = 1) -> tuple[Capacity, str]:
    world = state_of(facts.inventory([build.namespace(), *objects]), facts.evidence())
    report = room(a_pod("p", requests={GPU: str(gpus)}), world=world)
    shown = " ".join(" ".join(map(plain, capacity_page(report, HERE))).split())
    return report.shapes[0].capacity, shown


def test_pods_that_use_them_are_counted() -> None:
    found, shown = counted(*plugin_node("plugin-1", 4, serve=1, train=2))
    assert found.copies.value == 1
    assert found.devices == Devices(matching=4, in_use=3, taken=1)
    assert [(each.names, each.devices) for each in found.nodes] == [(("plugin-1",), found.devices)]
    assert "4 devices match the request:" in shown
    assert "3 in use" in shown


def test_what_is_left_over_is_told() -> None:
    found, _ = counted(*plugin_node("plugin-1", 4, serve=1), gpus=2)
    assert (found.copies.value, found.devices) == (1, Devices(matching=4, in_use=1, taken=2, left=1))


def test_nodes_of_both_kinds_are_added_up() -> None:
    """node-1 has four devices of the class, and plugin-1 and plugin-2 offer the resource themselves."""
    plugins = [*plugin_node("plugin-1", 4, serve=1), *plugin_node("plugin-2", 2)]
    found, shown = counted(CLASS, build.node(), DEVICES, *plugins)
    assert found.copies.value == 9
    assert found.devices == Devices(matching=10, in_use=1, taken=9)
    by_node = {name: each.devices for each in found.nodes for name in each.names}
    assert by_node["node-1"] == Devices(matching=4, taken=4)
    assert by_node["plugin-1"] == Devices(matching=4, in_use=1, taken=3)
    assert by_node["plugin-2"] == Devices(matching=2, taken=2)
    assert "10 devices match the request:" in shown


def test_a_node_without_either_has_none() -> None:
    found, _ = counted(build.node("bare"), *plugin_node("plugin-1", 1))
    by_node = {name: each.devices for each in found.nodes for name in each.names}
    assert by_node == {"bare": Devices(), "plugin-1": Devices(matching=1, taken=1)}
