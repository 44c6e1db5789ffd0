"""The first sentence of a page names the whole cause: what an expert would say from the objects alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.asks import ask_words
from kubectl_dra.output.pending.groups import groups_page
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.reports.pending.by_reason import reason_groups
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK

CLASSIC = Path(__file__).parents[2] / "reports" / "classic.json"
DRIVER = build.DRIVER
GPU = f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].type == "{{}}"'


def told(*objects: dict[str, Any]) -> tuple[Code | None, str]:
    classes = [] if any(each["kind"] == "DeviceClass" for each in objects) else [build.device_class()]
    world = ClusterState(facts.inventory([*classes, *objects]), facts.evidence(), features(), CLOCK)
    report: PendingReport = pending_report(Diagnoser(world).pod(Key("ml", "pod")), world)
    return report.code, str(pending_summary(report))


def gpu(name: str, product: str = "NVIDIA H100 80GB HBM3", memory: str = "81559Mi", **fields: Any) -> dict[str, Any]:
    attributes = {"productName": product, "type": "gpu", **fields.pop("attributes", {})}
    return build.device(name, attributes=attributes, capacity={"memory": {"value": memory}}, **fields)


def gpus(node: str = "node-1", number: int = 2, **fields: Any) -> dict[str, Any]:
    return build.slice_(node, *(gpu(f"gpu-{i}", **fields) for i in range(number)))


def classed(name: str, expression: str) -> dict[str, Any]:
    return {
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


POD = build.pod(claims=["claim"])


def test_a_size_that_no_device_reaches_is_shown_beside_the_one_it_has() -> None:
    selector = f"device.capacity['{DRIVER}'].memory.compareTo(quantity('80Gi')) >= 0"
    code, text = told(build.node(), gpus(), POD, build.claim("claim", build.request(selector=selector)))
    assert code is Code.SELECTOR_MATCHES_NOTHING
    assert "80Gi" in text
    assert "81559Mi" in text


def test_an_attribute_that_nobody_publishes_is_named_with_those_that_are() -> None:
    selector = f"'model' in device.attributes['{DRIVER}'] && device.attributes['{DRIVER}'].model == 'H100'"
    code, text = told(build.node(), gpus(), POD, build.claim("claim", build.request(selector=selector)))
    assert code is Code.ATTRIBUTE_UNPUBLISHED
    assert f"{DRIVER}/model" in text
    assert "productName" in text


def test_an_error_over_such_an_attribute_says_so_too() -> None:
    selector = f"device.attributes['{DRIVER}'].model == 'H100'"
    code, text = told(build.node(), gpus(), POD, build.claim("claim", build.request(selector=selector)))
    assert code is Code.SELECTOR_FAILS
    assert "model, which no device publishes" in text
    assert "productName" in text


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (GPU.format("mig"), 'its selector needs type == "mig", but the devices have gpu there'),
        ('device.driver == "gpu.example.org"', f"but the devices are published by {DRIVER}"),
    ],
)
def test_a_class_that_selects_nothing_says_where_its_selector_and_the_devices_part(expression: str, words: str) -> None:
    asked = build.claim("claim", build.request(cls="mig"))
    code, text = told(classed("mig", expression), build.node(), gpus(), POD, asked)
    assert code is Code.CLASS_SELECTS_NOTHING
    assert words in text


def test_without_any_slice_no_class_is_blamed() -> None:
    code, text = told(build.node(), POD, build.claim("claim"))
    assert code is Code.NO_DEVICE_IN_CLASS
    assert "no driver publishes devices" in text


def test_requests_that_only_different_nodes_could_serve_are_told_together() -> None:
    here = build.slice_("node-1", gpu("gpu-0"), gpu("gpu-1"))
    there = build.slice_("node-2", build.device("nic-0", attributes={"type": "nic", "productName": "cx7"}))
    asked = build.claim("claim", build.request("gpu", cls="gpu", count=2), build.request("nic", cls="nic"))
    classes = [classed("gpu", GPU.format("gpu")), classed("nic", GPU.format("nic"))]
    code, text = told(*classes, build.node("node-1"), build.node("node-2"), here, there, POD, asked)
    assert code is Code.NO_SINGLE_NODE
    assert "no single node has both" in text
    assert "node-1" in text
    assert "node-2" in text


def test_a_node_selector_is_held_against_the_nodes_of_the_devices() -> None:
    nodes = [build.node("node-1"), build.node("cpu-1", labels={"pool": "a100"})]
    pod = build.pod(claims=["claim"], nodeSelector={"pool": "a100"})
    code, text = told(*nodes, gpus(), pod, build.claim("claim"))
    assert code is Code.NODE_AFFINITY
    assert "pool=a100 (cpu-1)" in text
    assert "devices are on node-1" in text


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ([build.request(selector=f'device.attributes["{DRIVER}"].productName == "H100"')], "the free H100 devices are"),
        (
            [build.request(selector=f'device.attributes["{DRIVER}"].productName.startsWith("H")')],
            "the free gpu.example.com devices that match the selector are",
        ),
        (
            [build.request(n, selector=f'device.attributes["{DRIVER}"].productName == "H100"') for n in "ab"],
            "the free devices that match its requests are",
        ),
    ],
)
def test_free_devices_elsewhere_are_those_that_match(requests: list[dict[str, Any]], words: str) -> None:
    """Others of the class are free on the node where the pod may run."""
    nodes = [build.node("node-1"), build.node("node-2", labels={"pool": "a100"})]
    slices = [gpus(product="H100"), build.slice_("node-2", gpu("gpu-9", "L40"))]
    pod = build.pod(claims=["claim"], nodeSelector={"pool": "a100"})
    _, text = told(*nodes, *slices, pod, build.claim("claim", *requests))
    assert f"{words} on node-1" in text


def test_each_alternative_is_named_with_what_is_in_its_way() -> None:
    subs = [
        {
            "name": name,
            "deviceClassName": device_class,
            "allocationMode": "ExactCount",
            "count": 1,
            "selectors": [{"cel": {"expression": selector}}] if selector else [],
        }
        for name, device_class, selector in (
            ("big", "gpu", f"device.attributes['{DRIVER}'].productName.contains('B200')"),
            ("slice", "mig", ""),
        )
    ]
    asked = build.claim("claim", {"name": "gpu", "firstAvailable": subs})
    classes = [classed("gpu", GPU.format("gpu")), classed("mig", GPU.format("mig"))]
    _, text = told(*classes, build.node(), gpus(), POD, asked)
    assert "big: " in text
    assert "B200" in text
    assert "slice: DeviceClass mig selects none of the 2 published devices" in text


def test_of_alternatives_the_one_that_comes_nearest_gives_the_code() -> None:
    """A model that nobody has is less of an answer than devices of another one, which are in use."""
    none = f"device.attributes['{DRIVER}'].productName.contains('B200')"
    subs = [
        {
            "name": name,
            "deviceClassName": "gpu",
            "allocationMode": "ExactCount",
            "count": count,
            **({"selectors": [{"cel": {"expression": s}}]} if s else {}),
        }
        for name, count, s in (("big", 1, none), ("two", 2, ""))
    ]
    asked = build.claim("claim", {"name": "gpu", "firstAvailable": subs})
    held = build.claim("held", build.request(), held=[("node-1", "gpu-0")], by=["holder"])
    classes = [classed("gpu", GPU.format("gpu"))]
    code, text = told(*classes, build.node(), gpus(), POD, asked, held)
    assert code is Code.DEVICES_IN_USE
    assert text.index("big: ") < text.index("two: ")


def test_causes_that_differ_under_one_reason_each_name_their_pods() -> None:
    pods = [build.pod(name, claims=[name]) for name in ("a", "b", "c")]
    claims = [build.claim(name, build.request(count=n)) for name, n in (("a", 3), ("b", 3), ("c", 4))]
    objects = [build.device_class(), build.node(), gpus(), *pods, *claims]
    world = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    diagnoser = Diagnoser(world)
    reports = [pending_report(diagnoser.pod(Key("ml", name)), world) for name in ("a", "b", "c")]
    page = " ".join(" ".join(map(str, groups_page(reports, reason_groups(reports), "ml"))).split())
    assert "a, b: no node has 3" in page
    assert "c: no node has 4" in page


def test_of_very_many_pods_one_is_an_example() -> None:
    pods = [build.pod(f"p{number}", claims=["c"]) for number in range(501)]
    objects = [build.device_class(), build.node(), gpus(), build.claim("c", build.request(count=3)), *pods]
    world = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    diagnoser = Diagnoser(world)
    reports = [pending_report(diagnoser.pod(Key("ml", f"p{number}")), world) for number in range(501)]
    few, many = (" ".join(map(str, groups_page(some, reason_groups(some), "ml"))) for some in (reports[:500], reports))
    assert "for example" not in few
    assert "for example p0: no node has 3 gpu.example.com devices" in " ".join(many.split())


def test_values_of_a_constraint_over_two_requests_are_laid_side_by_side() -> None:
    root = "resource.kubernetes.io/pcieRoot"
    devices = [
        build.device("gpu-0", attributes={"type": "gpu", root: "pci0"}),
        build.device("nic-0", attributes={"type": "nic", root: "pci4"}),
    ]
    asked = build.claim(
        "claim",
        build.request("gpu", cls="gpu"),
        build.request("nic", cls="nic"),
        constraints=[{"requests": ["gpu", "nic"], "matchAttribute": root}],
    )
    classes = [classed("gpu", GPU.format("gpu")), classed("nic", GPU.format("nic"))]
    code, text = told(*classes, build.node(), build.slice_("node-1", *devices), POD, asked)
    assert code is Code.CONSTRAINT
    assert "pci0" in text
    assert "pci4" in text


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (
            f"device.capacity['{DRIVER}'].memory.compareTo(quantity('80Gi')) >= 0",
            "has at least 80Gi of memory (they have 81559Mi)",
        ),
        (
            f'device.capacity["{DRIVER}"].memory.compareTo(quantity("1Gi")) < 0',
            "has less than 1Gi of memory (they have 81559Mi)",
        ),
        (
            f"device.capacity['{DRIVER}'].memory.isGreaterThan(quantity('80Gi'))",
            "has more than 80Gi of memory (they have 81559Mi)",
        ),
    ],
)
def test_a_bound_is_said_in_words_with_what_the_devices_have(selector: str, words: str) -> None:
    _, text = told(build.node(), gpus(), POD, build.claim("claim", build.request(selector=selector)))
    assert words in text


def test_a_node_that_is_named_is_not_said_twice() -> None:
    nodes = [build.node("node-1"), build.node("cpu-1", labels={"kubernetes.io/hostname": "cpu-1"})]
    pod = build.pod(claims=["claim"], nodeSelector={"kubernetes.io/hostname": "cpu-1"})
    _, text = told(*nodes, gpus(), pod, build.claim("claim"))
    assert "kubernetes.io/hostname=cpu-1, and the free" in text


def test_admin_access_names_the_namespace_and_the_label() -> None:
    asked = build.claim("claim", build.request(allocationMode="All", adminAccess=True))
    code, text = told(build.namespace(), build.node(), gpus(), POD, asked)
    assert code is Code.ADMIN_LABEL_AT_BINDING
    assert "namespace ml lacks the label resource.kubernetes.io/admin-access=true" in text
    assert "although" not in text


def test_a_class_that_nobody_knows_leaves_no_gap(capfd: pytest.CaptureFixture[str]) -> None:
    """Classic DRA: the request's class is no DeviceClass."""
    assert run(["why-pending", "pod/named", "-n", "ml", "--from", str(CLASSIC), "-o", "json"], CLOCK) == 0
    summary = json.loads(capfd.readouterr().out)["summary"]
    assert (
        summary == 'Pod ml/named is pending: no device matches the selector (attributes.string["aString"] == "none").'
    )


def test_of_several_nodes_that_fit_those_are_named_of_which_the_scheduler_takes_one() -> None:
    """The one with the most cpu left has the best score; of equal ones none is better."""

    def fitting(*amounts: str) -> str:
        of_nodes = [build.node(f"node-{number}", cpu=amount) for number, amount in enumerate(amounts, 1)]
        slices = [gpus(f"node-{number}") for number, _ in enumerate(amounts, 1)]
        return told(*of_nodes, *slices, POD, build.claim("claim"))[1]

    start = "Pod ml/pod is pending, but would fit now on"
    assert fitting("4") == f"{start} node-1."
    assert fitting("4", "4") == f"{start} node-1 and node-2."
    assert fitting("4", "8", "4") == f"{start} node-2, the best of 3 nodes that fit."
    assert fitting("4", "8", "8") == f"{start} node-2 or node-3, the best of 3 nodes that fit."
    several = "node-2, node-3, node-4 or 2 more"
    assert fitting("4", *["8"] * 5) == f"{start} {several}, the best of 6 nodes that fit."
    first = "node-1, node-10, node-100 and 98 more nodes"
    assert (
        fitting(*["4"] * 100, "8") == f"{start} {first}; the scheduler takes the best of the first 100 that it meets."
    )


def test_before_its_claim_is_made_the_template_says_what_a_pod_requests() -> None:
    made = build.claim("four", build.request(count=4))
    made |= {"kind": "ResourceClaimTemplate", "spec": {"spec": made["spec"]}}
    del made["status"]
    pod = build.pod(templates=["four"])
    world = ClusterState(
        facts.inventory([build.device_class(), build.node(), gpus(), made, pod]), facts.evidence(), features(), CLOCK
    )
    report = pending_report(Diagnoser(world).pod(Key("ml", "pod")), world)
    page = " ".join(" ".join(map(str, pending_page(report, CLOCK.now()))).split())
    assert str(ask_words(report.asks)) == f"4 × {DRIVER}"
    assert "It requests" in page
    assert "template four, from which its claim is not made yet" in page


def test_the_request_that_no_node_serves_is_the_cause_and_the_node_that_lacks_least_the_closest() -> None:
    """node-1 has both GPUs and one of two NICs, the other is tainted; node-2 has all of them in use."""
    taint = {"key": "link-flap", "effect": "NoSchedule"}
    kinds = [("gpu-0", "gpu"), ("gpu-1", "gpu"), ("nic-0", "nic"), ("nic-1", "nic")]
    slices = [
        build.slice_(
            node,
            *(
                build.device(name, attributes={"type": kind}, **({"taints": [taint]} if (node, name) == sick else {}))
                for name, kind in kinds
            ),
        )
        for node in ("node-1", "node-2")
        for sick in [("node-1", "nic-1")]
    ]
    held = build.claim("held", held=[("node-2", name) for name, _ in kinds], by=["other"], on="node-2")
    other = build.pod("other", claims=["held"], node_name="node-2", phase="Running")
    asked = build.claim("claim", build.request("gpus", cls="gpu", count=2), build.request("nics", cls="nic", count=2))
    classes = [classed("gpu", GPU.format("gpu")), classed("nic", GPU.format("nic"))]
    nodes = [build.node("node-1"), build.node("node-2")]
    code, text = told(*classes, *nodes, *slices, held, other, POD, asked)
    assert code is Code.DEVICES_TAINTED
    assert (
        "no node has 2 free nic devices. Closest: node-1, with 1 of 2: 1 of 2 is tainted (link-flap:NoSchedule)" in text
    )
