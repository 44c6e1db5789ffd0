"""Devices of a node of which only claims tell, because slices could not be read."""

from __future__ import annotations

import re

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.devices.node_page import node_page
from kubectl_dra.output.top.page import top_page
from kubectl_dra.reports.devices.nodes import NodeReport, node_report
from kubectl_dra.reports.top import By, top_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK


def report(name: str, *withheld: str) -> NodeReport:
    return node_report(name, world(*withheld))


def world(*withheld: str) -> ClusterState:
    held = build.claim("held", held=[("node-1", "gpu-1"), ("node-1", "gpu-0")], on="node-1", by=["user"])
    admin = build.claim("admin", held=[("node-1", "gpu-2")], on="node-1", by=["watcher"])
    admin["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
    user = build.pod("user", claims=["held"], node_name="node-1", phase="Running")
    there = facts.inventory([build.device_class(), build.node(), build.node("node-2"), held, admin, user])
    return ClusterState(there, facts.evidence(*withheld), features(), CLOCK)


def page(found: NodeReport) -> str:
    return " ".join(re.sub("\x1b\\[[0-9;]*m", "", " ".join(node_page(found, CLOCK.now()))).split())


@pytest.mark.parametrize(("withheld", "told"), [((), 2), (("ResourceSlice",), 0)])
def test_lists_name_devices_that_claims_hold_and_nothing_publishes(withheld: tuple[str, ...], told: int) -> None:
    """Of slices that were not read nothing is known to be gone; what is held with admin access is taken from nobody."""
    found = top_report(world(*withheld), By.NODES, "")
    assert len(found.vanished) == told
    text = (
        "2 devices that claims hold are not listed, because no ResourceSlice publishes them any more: gpu.example.com/"
    )
    assert (text in " ".join(" ".join(top_page(found, CLOCK.now(), HERE)).split())) == bool(told)
    assert top_report(world(*withheld), By.PODS, "").vanished == ()


def test_what_claims_have_there_is_told() -> None:
    found = report("node-1", "ResourceSlice")
    assert [each.device for each in found.allocated] == ["gpu-0", "gpu-1"]
    text = page(found)
    assert "Node node-1 has at least 2 devices, which are in use; whether it has more is unknown." in text
    assert "gpu-0 pod ml/user" in text
    assert "Which devices node node-2 has is unknown." in page(report("node-2", "ResourceSlice"))


def test_devices_that_no_slice_publishes_are_told_where_slices_were_read() -> None:
    found = report("node-1")
    assert [each.device for each in found.allocated] == ["gpu-0", "gpu-1"]
    assert "Node node-1 publishes no devices, but 2 devices are allocated there." in page(found)
    assert "Node node-2 has no devices." in page(report("node-2"))


def test_a_node_object_is_called_unread_only_where_it_was_not_read() -> None:
    """A sentence of its own; a node that was read may have no status yet."""
    assert "allocated there. Its Node object was not read" in page(report("node-1", "Node"))
    read = page(report("node-1"))
    assert "not read" not in read
    assert "Its readiness is unknown: it has no Node object, or its kubelet has not reported yet" in read
