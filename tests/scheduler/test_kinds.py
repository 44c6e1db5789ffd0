"""Nodes that a plugin can't tell apart: it is asked about one of them, and says of each what it says of it alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import counted, world
from kubectl_dra.allocation.search.classes import NodeClasses
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.attempt import attempt
from kubectl_dra.scheduler.device_reads import DeviceReads
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.snapshot import NodeInfo
from tests.diagnosis import gangs
from tests.kit import build, work
from tests.kit.sample import sampled
from tests.scheduler.edges import objects as edges
from tests.scheduler.rows import pod_of, snapshot_of
from tests.scheduler.test_recorded import check
from tests.vectors.rows import rows

KINDS = 10


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a large cluster whose nodes are worth comparing."""
    monkeypatch.setattr(kinds, "_FEW", 0)
    monkeypatch.setattr(NodeClasses, "compares", True)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("first", sampled(range(16), 4))
def test_recorded_decisions_are_the_same(first: int) -> None:
    for row in rows("sched")[first::64]:
        check(row)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """About how many nodes each plugin was asked."""
    found: dict[str, int] = {}
    for plugin in PLUGINS:
        own = type(plugin).filter_all

        def counting(self: Any, cycle: Any, nodes: list[NodeInfo], own: Any = own) -> Any:
            found[self.name] = found.get(self.name, 0) + len(nodes)
            return own(self, cycle, nodes)

        monkeypatch.setattr(type(plugin), "filter_all", counting)
    yield found


def node(number: int) -> dict[str, Any]:
    labels = {"zone": "abc"[number % 3], "kubernetes.io/hostname": f"node-{number}"}
    return edges.node(f"node-{number}", labels=labels, cpu="64" if number % 5 else "1")


@pytest.mark.parametrize("nodes", [60, 600])
def test_a_plugin_is_asked_once_for_nodes_alike(nodes: int, asked: dict[str, int]) -> None:
    subject = edges.pod("pod", cpu="2", memory="1Gi", metadata={"uid": "pod"}, nodeSelector={"zone": "a"})
    snapshot = snapshot_of({"nodes": list(map(node, range(nodes))), "pods": [subject]})
    found = attempt(snapshot, pod_of(snapshot, "default/pod"))
    assert len(found.feasible) == nodes * 4 // 15
    assert found.status_of("node-1").plugin == "NodeAffinity"
    assert found.status_of("node-0").plugin == "NodeResourcesFit"
    assert asked["NodeAffinity"] == 3
    assert max(asked.values()) <= 3, asked


def test_a_resource_that_a_node_has_none_of_is_not_one_that_it_does_not_know() -> None:
    """Upstream: plugins/dynamicresources, filterExtendedResources."""
    nodes = [edges.node("a"), edges.node("b", **{"x.com/nic": "0"}), edges.node("c", **{"x.com/nic": "2"})]
    snapshot = snapshot_of({"nodes": nodes})
    read = DeviceReads(snapshot, (), ("x.com/gpu", "x.com/nic"), frozenset({"x.com/gpu"})).reading(None)
    assert read is not None
    assert len(set(read.of(tuple(snapshot.nodes.values())))) == len(nodes)


def test_one_more_kind_of_pods_costs_the_same_whatever_the_number_of_nodes(tmp_path: Path) -> None:
    """Of other processors: nothing that is read of nodes or devices is new."""
    more = []
    for nodes in (24, 96):
        calls = []
        for each in (KINDS, 2 * KINDS):
            path = tmp_path / f"{nodes}-{each}.json"
            world.write_snapshot(path, world.objects(nodes, 2 * KINDS, each))
            calls.append(counted.of_command(["why-pending", "-A", "--from", str(path)])["calls"])
        more.append(calls[1] - calls[0])
    # Of up to 2,000 nodes that other plugins reject it is told whether the devices would be there, node by node.
    assert more[1] < more[0] * 1.15


def test_a_gang_that_is_tried_in_each_rack_takes_as_long_as_there_are_racks() -> None:
    """After each pod that it places other things are read of nodes: only those of the rack are sorted anew."""

    def tried(racks: int) -> object:
        group = gangs.group(12, schedulingConstraints={"topology": [{"key": "rack"}]})
        places = ((f"node-{number}", f"rack-{number % racks}") for number in range(racks * 40))
        nodes = [build.node(name, labels={"rack": rack}, cpu="1") for name, rack in places]
        pods = gangs.members(12, requests={"cpu": "1"})
        return gangs.of_group(gangs.cluster(group, *pods, *nodes, TopologyAwareWorkloadScheduling=True))

    work.grows_with_its_size(tried, 16)
