"""Devices that are published for nodes with a label that no node has: the label, what the nodes have, and who acts."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ClassOffer
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import POD, first_line, report_of

RACKS = [build.node(labels={"rack": "rack-07"}), build.node("node-2", labels={"rack": "rack-08"})]


def term(*requirements: tuple[str, str, list[str]]) -> dict[str, Any]:
    keys = ("key", "operator", "values")
    return {"matchExpressions": [dict(zip(keys, each, strict=True)) for each in requirements]}


def slice_for(*terms: dict[str, Any], pool: str = "rack") -> dict[str, Any]:
    found = build.slice_("", build.device("gpu-0"), pool=pool, nodeSelector={"nodeSelectorTerms": list(terms)})
    del found["spec"]["nodeName"]
    return found


def told(*objects: dict[str, Any]) -> PendingReport:
    return report_of(*RACKS, *objects, POD, build.claim("claim"))


def page(report: PendingReport) -> str:
    address = Address(flags=("--context", "prod"))
    return " ".join(" ".join(map(str, pending_page(report, CLOCK.now(), address))).split())


def test_the_label_is_named_with_what_the_nodes_have_and_the_command() -> None:
    report = told(slice_for(term(("rack", "In", ["rack-7"]))))
    assert report.code is Code.DEVICES_FOR_OTHER_NODES
    assert first_line(report) == (
        "Pod ml/pod is pending: no node can use the 1 device of class gpu.example.com, which is published for nodes "
        "with rack=rack-7 (no node has that; rack is rack-07 or rack-08 on those that have it)."
    )
    text = page(report)
    assert "the label rack=rack-7, or corrects the nodeSelector" in text
    assert "kubectl label node NODE rack=rack-7 --overwrite --context prod" in text
    assert "node selector, affinity and tolerations decide" not in text


@pytest.mark.parametrize(
    ("requirement", "wanted", "command"),
    [
        (("rack", "In", ["a", "b"]), "rack In [a b] (no node has that;", "rack=a"),
        (
            ("rac", "In", ["rack-07"]),
            "rac=rack-07 (no node has the label rac; did you mean rack=rack-07?)",
            "rac=rack-07",
        ),
        (("gpu", "Exists", []), "gpu Exists (no node has the label gpu)", "gpu="),
    ],
)
def test_so_are_labels_in_other_forms(requirement: tuple[str, str, list[str]], wanted: str, command: str) -> None:
    report = told(slice_for(term(requirement)))
    assert f"published for nodes with {wanted}" in first_line(report)
    assert f"kubectl label node NODE {command} --overwrite" in page(report)


@pytest.mark.parametrize(
    "slices",
    [
        # A node has the label, and lacks another one: it is not a label of no node; and a term that excludes.
        [slice_for(term(("rack", "In", ["rack-07"]), ("rack", "In", ["rack-08"])))],
        [slice_for(term(("rack", "NotIn", ["rack-07", "rack-08"])))],
        [slice_for(term(("rack", "In", ["rack-7"])), term(("rack", "In", ["rack-07"]), ("rack", "In", ["rack-08"])))],
        # Some other device is published for a node by its name.
        [slice_for(term(("rack", "In", ["rack-7"]))), build.slice_("gone", build.device("gpu-0"))],
    ],
)
def test_nothing_is_said_of_labels_where_not_all_devices_are_kept_back_by_them(slices: list[dict[str, Any]]) -> None:
    report = told(*slices)
    assert "no node has" not in first_line(report)
    assert not any(each.detail.nowhere for each in report.causes if isinstance(each.detail, ClassOffer))
    assert "kubectl label" not in page(report)


def test_of_several_pools_all_labels_are_named() -> None:
    slices = [slice_for(term(("rack", "In", [f"rack-{n}"])), pool=f"pool-{n}") for n in (7, 8)]
    line = first_line(told(*slices))
    assert (
        "the 2 devices of class gpu.example.com, which are published for nodes with rack=rack-7 or rack=rack-8 ("
        in line
    )


def test_no_label_becomes_a_flag_of_the_command() -> None:
    report = told(slice_for(term(("--kubeconfig", "In", ["evil"]))))
    assert "kubectl label" not in page(report)
