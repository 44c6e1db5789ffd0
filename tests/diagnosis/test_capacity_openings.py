"""capacity: what nodes and devices are closed by, and how many copies more would fit without it."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.records import Opening, OpeningKind
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.capacity.capacity import CapacityRequest, capacity_report
from tests.diagnosis.test_capacity import ask, nodes, world
from tests.diagnosis.test_whatif import owned
from tests.kit import build

HPC = {"key": "dedicated", "value": "hpc", "effect": "NoSchedule"}
XID = {"key": "xid", "value": "94", "effect": "NoSchedule"}
FULL = [*nodes("full", devices=1), *owned("x", "full", ("full", "gpu-0"))]


def closed(name: str, *taints: dict[str, str], cordoned: bool = False, **status: str) -> list[dict[str, Any]]:
    """A node with two devices."""
    node, slice_ = nodes(name, devices=2)
    return [node | {"spec": {"taints": list(taints), "unschedulable": cordoned}}, slice_]


def page(state: ClusterState) -> str:
    report = capacity_report(state, CapacityRequest(build.DRIVER), build.NAMESPACE)
    return " ".join(" ".join(plain(line) for line in capacity_page(report, HERE)).split())


def test_a_cordon_and_a_node_taint_are_counted_each_by_itself() -> None:
    both = closed("both", HPC, cordoned=True)
    state = world(*FULL, *closed("c1", cordoned=True), *closed("c2", cordoned=True), *both, *closed("hpc", HPC))
    assert ask(state).openings == (
        Opening(OpeningKind.CORDON, "", 4, 2, ("c1", "c2")),
        Opening(OpeningKind.NODE_TAINT, "dedicated=hpc:NoSchedule", 2, 1, ("hpc",)),
    )
    told = page(state)
    assert "4 more fit: uncordon c1 and c2 (kubectl uncordon), once nobody works on them" in told
    assert "2 more fit: tolerate the node taint dedicated=hpc:NoSchedule of hpc, if such pods may run there" in told


def test_a_device_taint_is_the_drivers_or_a_rules() -> None:
    bad = [build.device(f"gpu-{number}", taints=[XID]) for number in (0, 1)]
    (own,) = ask(world(*FULL, build.node("ill"), build.slice_("ill", *bad))).openings
    assert own == Opening(OpeningKind.DEVICE_TAINT, "xid=94:NoSchedule", 2, 1, ("ill",))
    rule = {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "recall"},
        "spec": {"deviceSelector": {"driver": build.DRIVER, "pool": "ill"}, "taint": XID},
    }
    state = world(*FULL, build.node("ill"), build.slice_("ill", *(build.device(f"gpu-{n}") for n in (0, 1))), rule)
    (ruled,) = ask(state).openings
    assert (ruled.more, ruled.rule) == (2, "recall")
    assert "end the device taint xid=94:NoSchedule on ill: delete DeviceTaintRule recall" in page(state)


def test_a_taint_of_another_value_or_of_somebody_else_stays() -> None:
    """What is repaired, or deleted, ends one of them: no more copies fit than there are devices without the others."""
    other = {**XID, "value": "63"}
    bad = [build.device(f"gpu-{number}", taints=[taint]) for number, taint in enumerate((XID, XID, other))]
    rule = {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "recall"},
        "spec": {"deviceSelector": {"driver": build.DRIVER, "pool": "ill", "device": "gpu-3"}, "taint": XID},
    }
    found = ask(world(*FULL, build.node("ill"), build.slice_("ill", *bad, build.device("gpu-3")), rule)).openings
    assert {(each.taint, each.rule): each.more for each in found} == {
        ("xid=94:NoSchedule", ""): 2,
        ("xid=63:NoSchedule", ""): 1,
        ("xid=94:NoSchedule", "recall"): 1,
    }


@pytest.mark.parametrize(
    "taint",
    [
        {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},
        {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"},
        {"key": "node.cilium.io/agent-not-ready", "effect": "NoSchedule"},
    ],
)
def test_what_says_that_a_node_is_not_ready_or_goes_is_not_to_be_tolerated(taint: dict[str, str]) -> None:
    state = world(*FULL, *closed("a", taint))
    assert ask(state).openings == ()
    assert "Opening what is closed" not in page(state)


def test_what_brings_nothing_or_may_not_be_all_is_not_told() -> None:
    assert ask(world(*FULL, *closed("a", HPC), *owned("y", "a", ("a", "gpu-0"), ("a", "gpu-1")))).openings == ()
    assert ask(world(*FULL, *closed("a", HPC), withheld=("ResourceClaim",))).openings == ()
