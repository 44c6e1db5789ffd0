"""A constraint over an attribute that no candidate publishes: what was meant, and on how many nodes that is so."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain import class_facts
from kubectl_dra.model.features import features
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.selectors.catalog import published_value
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import DRIVER, POD, first_line, page_of, report_of

TWO = build.request(count=2)
VALUES = {"pcieRoot": "pci0000:15", "numaNode": "0"}


def cluster(*values: dict[str, str]) -> list[dict[str, Any]]:
    devices = [build.device(f"gpu-{number}", attributes=each) for number, each in enumerate(values)]
    nodes = ("node-1", "node-2")
    return [*map(build.node, nodes), *(build.slice_(name, *devices) for name in nodes), POD]


def claim(kind: str, attribute: str, request: dict[str, Any] = TWO) -> dict[str, Any]:
    return build.claim("claim", request, constraints=[{kind: attribute}])


@pytest.mark.parametrize("name", ["numaNod", "numanode", "numa-node"])
def test_a_misspelled_attribute_is_corrected(name: str) -> None:
    report = report_of(*cluster(VALUES, VALUES), claim("matchAttribute", f"{DRIVER}/{name}"))
    assert first_line(report) == (
        f"Pod ml/pod is pending: the constraint compares {DRIVER}/{name}, which no {DRIVER} device publishes, on any "
        f"node; they publish {DRIVER}/numaNode."
    )
    way = report.remedies[0]
    assert (way.verified, way.nodes) == (True, ("node-1", "node-2"))
    assert f"compare {DRIVER}/numaNode instead of {DRIVER}/{name}" in remedy_text(way)


def test_where_nothing_is_near_what_they_publish_is_listed() -> None:
    report = report_of(*cluster(VALUES, VALUES), claim("distinctAttribute", f"{DRIVER}/uuid"))
    assert first_line(report).endswith(f"on any node; they publish {DRIVER}/numaNode and {DRIVER}/pcieRoot.")
    assert [way.verified for way in report.remedies] == [True]
    assert "drop the constraint on uuid" in page_of(report)


def test_devices_without_attributes_publish_none() -> None:
    report = report_of(*cluster({}, {}), claim("matchAttribute", f"{DRIVER}/uuid"))
    assert first_line(report).endswith("publishes, on any node; they publish no attributes.")


def test_free_devices_that_a_constraint_does_not_allow_are_not_called_in_use() -> None:
    nodes = [build.node(name) for name in ("node-1", "node-2")]
    nodes[1]["spec"]["taints"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    numas = {"node-1": ("0", "1"), "node-2": ("0", "0")}
    slices = [
        build.slice_(name, *(build.device(f"gpu-{i}", attributes={"numaNode": numa}) for i, numa in enumerate(each)))
        for name, each in numas.items()
    ]
    line = first_line(report_of(*nodes, *slices, POD, claim("matchAttribute", f"{DRIVER}/numaNode")))
    assert line.endswith(f"node-1 has no {DRIVER} devices that meet the constraint on numaNode.")


def test_of_very_many_attributes_some_are_named() -> None:
    many = {f"attribute{number:02}": "x" for number in range(30)}
    line = first_line(report_of(*cluster(many, many), claim("matchAttribute", f"{DRIVER}/uuid")))
    assert line.endswith(f"{DRIVER}/attribute02, {DRIVER}/attribute03 and others.")


def test_of_devices_that_the_selector_leaves_it_is_said_of_the_free_ones_on_nodes_that_were_tried() -> None:
    selecting = build.request(count=2, selector=f'device.attributes["{DRIVER}"].model == "H100"')
    objects = cluster({"model": "H100"}, {"model": "H100"}, {"model": "A100", "numaNode": "0"})
    report = report_of(*objects, claim("matchAttribute", f"{DRIVER}/numaNode", selecting))
    told = "with the same numaNode; the free ones on node-1 and node-2 do not publish numaNode."
    assert first_line(report).endswith(told)
    # One on a node that is ruled out publishes it.
    tainted = build.node("node-3")
    tainted["spec"]["taints"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    other = build.slice_("node-3", build.device("gpu-0", attributes={"model": "H100", "numaNode": "0"}))
    report = report_of(*objects, tainted, other, claim("matchAttribute", f"{DRIVER}/numaNode", selecting))
    assert first_line(report).endswith(told)


def test_all_devices_are_looked_through_once_for_all_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def counting(*asked: Any) -> Any:
        looked.append(asked[-1])
        return published_value(*asked)

    monkeypatch.setattr(class_facts, "published_value", counting)
    objects = [*cluster(VALUES, VALUES), build.device_class(), claim("matchAttribute", f"{DRIVER}/uuid")]
    known = class_facts.offers(ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK))
    assert not known.publishes(DRIVER, "attributes", DRIVER, "uuid")
    first = len(looked)
    assert first
    assert not known.publishes(DRIVER, "attributes", DRIVER, "uuid")
    assert len(looked) == first


ROOT = "resource.kubernetes.io/pcieRoot"
NIC = "nic.example.com"


@pytest.mark.parametrize(
    ("nic", "offered"),
    [
        ({ROOT: "r1", "a.example.com/x": "1"}, ROOT),
        # No two of them have the same root; then nothing is offered that would not make it fit.
        ({ROOT: "r7"}, ""),
        ({f"{NIC}/numaNode": "1"}, ""),
        # Both publish what is compared, with other values.
        ({ROOT: "r1", f"{DRIVER}/numaNode": "9"}, ""),
    ],
)
def test_what_devices_of_both_drivers_publish_is_compared_instead(nic: dict[str, str], offered: str) -> None:
    gpus = [
        build.device(f"gpu-{i}", attributes={ROOT: f"r{i}", "numaNode": str(i), "a.example.com/x": "0"}) for i in (0, 1)
    ]
    nics = build.slice_("node-1", build.device("nic-0", attributes=nic), driver=NIC, pool="nics")
    its_class = build.device_class(NIC, selectors=[{"cel": {"expression": f'device.driver == "{NIC}"'}}])
    requests = build.request("gpu"), build.request("nic", cls=NIC)
    both = build.claim("claim", *requests, constraints=[{"matchAttribute": f"{DRIVER}/numaNode"}])
    classes = build.device_class(), its_class
    report = report_of(build.node("node-1"), build.slice_("node-1", *gpus), nics, *classes, POD, both)
    texts = [remedy_text(way) for way in report.remedies if way.verified]
    instead = [text for text in texts if text.startswith("compare ")]
    assert instead == ([f"compare {offered} instead of {DRIVER}/numaNode in the constraint"] if offered else [])
    assert texts[0] == (instead or ["drop the constraint on numaNode"])[0]


def test_a_constraint_over_several_devices_of_each_request_is_over_all_of_them() -> None:
    pairs = [{ROOT: f"r{i}"} for i in (0, 1)]
    gpus = build.slice_("node-1", *(build.device(f"gpu-{i}", attributes=each) for i, each in enumerate(pairs)))
    nics = build.slice_(
        "node-1", *(build.device(f"nic-{i}", attributes=each) for i, each in enumerate(pairs)), driver=NIC, pool="nics"
    )
    classes = (
        build.device_class(),
        build.device_class(NIC, selectors=[{"cel": {"expression": f'device.driver == "{NIC}"'}}]),
    )
    requests = build.request("gpu", count=2), build.request("nic", cls=NIC, count=2)
    both = build.claim("claim", *requests, constraints=[{"matchAttribute": ROOT}])
    line = first_line(report_of(build.node("node-1"), gpus, nics, *classes, POD, both))
    assert "no node has free devices for 2 gpu and 2 nic, all 4 with the same pcieRoot. On node-1, the gpu" in line
    assert line.endswith("make one request of each, and one constraint, per pair.")
