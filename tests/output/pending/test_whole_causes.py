"""The whole cause in the first line, from what the data has: numbers, labels, names, and nothing told twice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_dra.diagnosis.gates.queues import FlavorQuota, HeldBy, Queued
from kubectl_dra.diagnosis.remedies import Tried
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.pending.queues import queue_lines, queue_reason
from kubectl_dra.reports.claims.ask import claim_ask
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_brief_pages import TABLE
from tests.output.pending.test_more_situations import holding
from tests.output.pending.test_said_causes import FORBIDDEN, on_the_node
from tests.output.pending.test_situations import DRIVER, POD, SLICE, first_line, page_of, refused, report_of

NIC = "nic.example.com"


def test_a_request_that_finds_enough_on_every_node_has_no_table() -> None:
    cards = build.slice_("node-1", build.device("nic-0"), pool="nics", driver=NIC)
    claim = build.claim("claim", build.request(), build.request("nic", cls=NIC))
    classes = [
        build.device_class(),
        build.device_class(NIC, selectors=[{"cel": {"expression": f'device.driver == "{NIC}"'}}]),
    ]
    report = report_of(*classes, build.node(), SLICE, cards, *holding("a", "gpu-0"), *holding("b", "gpu-1"), POD, claim)
    assert "both are in use (a 1, b 1)" in first_line(report)
    assert TABLE not in page_of(report)


def test_requests_of_a_claim_that_need_the_same_devices_lead_where_these_are_in_use_too() -> None:
    claim = build.claim(
        "claim",
        build.request("mon", allocationMode="All", adminAccess=True),
        build.request(),
        build.request("nic", cls=NIC),
    )
    cards = build.slice_("node-1", build.device("nic-0"), pool="nics", driver=NIC)
    classes = [
        build.device_class(selectors=[{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]),
        build.device_class(NIC, selectors=[{"cel": {"expression": f'device.driver == "{NIC}"'}}]),
    ]
    report = report_of(*classes, build.node(), SLICE, cards, *holding("a", "gpu-0"), *holding("b", "gpu-1"), POD, claim)
    assert first_line(report) == (
        "Pod ml/pod is pending: mon and gpu cannot be served together: on node-1 they need the same devices, and a "
        "claim gets each device only once."
    )
    page = page_of(report)
    assert "drop the request gpu" in page
    assert "also DRA-211" in page
    assert "delete pod" not in page


def test_users_stand_behind_the_node_that_they_are_on() -> None:
    others = build.slice_("node-2", build.device("gpu-0"), build.device("gpu-1"), build.device("gpu-2"))
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-0", node="node-2")]
    wish = build.claim("claim", build.request(count=3))
    report = report_of(build.node(), build.node("node-2"), SLICE, others, *held, POD, wish)
    assert "Closest: node-2, with 2 of 3: 1 of 3 is in use (b)" in first_line(report)
    page = " ".join(" ".join(map(str, pending_page(report, CLOCK.now(), full=True))).split())
    assert "on node-2: b; on node-1: a" in page


def test_all_of_few_nodes_are_named_where_none_has_any_device_left() -> None:
    others = build.slice_("node-2", build.device("gpu-0"), build.device("gpu-1"), build.device("gpu-2"))
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-1")]
    held += [each for n in range(3) for each in holding(f"c-{n}", f"gpu-{n}", node="node-2")]
    wish = build.claim("claim", build.request(count=2))
    report = report_of(build.node(), build.node("node-2"), SLICE, others, *held, POD, wish)
    assert "on node-1, both are in use (a 1, b 1)" in first_line(report)
    assert "on node-2, all 3 are in use (c-0 1, c-1 1, c-2 1)" in first_line(report)
    assert TABLE not in page_of(report)


def test_a_rule_that_taints_the_only_devices_is_in_the_first_line_and_in_no_table() -> None:
    rule = {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "rule"},
        "spec": {
            "deviceSelector": {"driver": DRIVER},
            "taint": {"key": "sick", "effect": "NoSchedule", "timeAdded": "2025-12-31T20:00:00Z"},
        },
    }
    report = report_of(build.node(), SLICE, rule, POD, build.claim("claim"))
    assert "are tainted (sick:NoSchedule, rule rule)" in first_line(report)
    assert TABLE not in page_of(report)


def test_changes_without_success_are_not_counted_where_more_devices_would_do() -> None:
    """Which would contradict the sentence above."""
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-1")]
    found = report_of(build.node(), SLICE, *held, POD, build.claim("claim"))
    without = msgspec.structs.replace(found, remedies=(), no_pair_helps=True, tried=Tried(singles=1))
    assert "This would make it fit: add" in page_of(without)
    assert "No change was found" not in page_of(without)
    assert "No change was found" in page_of(msgspec.structs.replace(without, additions=()))


def test_amounts_of_devices_are_told_once_each() -> None:
    policy = {"default": "1", "validRange": {"min": "1"}}

    def zone(name: str, cpus: str) -> dict[str, Any]:
        return build.device(
            name, allowMultipleAllocations=True, capacity={"cpu": {"value": cpus, "requestPolicy": policy}}
        )

    wish = build.claim("claim", build.request(capacity={"requests": {"cpu": "24"}}))
    user, held = holding("web", "zone-0")
    held["status"]["allocation"]["devices"]["results"][0] |= {"consumedCapacity": {"cpu": "12"}, "shareID": "1"}
    slice_ = build.slice_("node-1", zone("zone-0", "32"), zone("zone-1", "16"))
    report = report_of(build.node(), slice_, user, held, POD, wish)
    assert "on node-1, zone-0 has 20 of 32 left (web uses the rest), zone-1 has 16 in all" in first_line(report)
    assert TABLE not in page_of(report)


@pytest.mark.parametrize(
    ("labels", "told"),
    [({}, "(no node has the label product)"), ({"product": "L40"}, "(no node has that; product is L40 on those that")],
)
def test_a_label_that_no_node_has(labels: dict[str, str], told: str) -> None:
    pod = build.pod(claims=["claim"], nodeSelector={"product": "H100"})
    assert told in first_line(report_of(build.node(labels=labels), SLICE, build.claim("claim"), pod))


def test_a_label_that_another_node_has() -> None:
    pod = build.pod(claims=["claim"], nodeSelector={"product": "H100"})
    other = build.node("node-2", labels={"product": "H100"})
    assert "product=H100 (node-2)" in first_line(report_of(build.node(), other, SLICE, build.claim("claim"), pod))


def test_that_devices_are_taken_where_the_pod_may_run_is_told_beside_where_free_ones_are() -> None:
    nodes = [build.node("node-1", labels={"pool": "a"}), build.node("node-2", labels={"pool": "b"})]
    devices = [build.slice_("node-1", build.device("gpu-1")), build.slice_("node-2", build.device("gpu-2"))]
    pod = build.pod(claims=["claim"], nodeSelector={"pool": "a"})
    line = first_line(report_of(*nodes, *devices, *holding("nb", "gpu-1"), pod, build.claim("claim")))
    assert (
        f"it may only run on nodes with pool=a (node-1), which has no free {DRIVER} devices: the only one is in" in line
    )
    assert line.endswith(f"(nb). The free {DRIVER} devices are on node-2.")


def test_an_attribute_that_is_a_capacity() -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0", capacity={"memory": {"value": "16Gi"}}))
    wish = build.claim("claim", build.request(selector=f'device.attributes["{DRIVER}"].memory >= 16'))
    told = first_line(report_of(build.node(), slice_, POD, wish))
    assert "it reads memory as an attribute, and the devices publish it as a capacity" in told


def test_what_a_node_has_in_all() -> None:
    pod = build.pod(claims=["claim"])
    pod["spec"]["containers"][0].setdefault("resources", {})["requests"] = {"cpu": "500"}
    told = first_line(report_of(build.node(), SLICE, build.claim("claim"), pod))
    assert "in all (500 requested)" in told


def test_whose_right_is_lacked_comes_first() -> None:
    pod = refused(build.pod(claims=["claim"], schedulerName="batch"), FORBIDDEN, "SchedulerError")
    told = first_line(report_of(build.node(), SLICE, build.claim("claim"), pod))
    assert (
        "is pending: the API server refuses its scheduler batch: system:serviceaccount:kube-system:batch cannot" in told
    )


def test_the_driver_and_the_device_that_it_cannot_prepare_are_named() -> None:
    told = first_line(on_the_node("NodePrepareResources failed for ResourceClaim claim: no such GPU: 3"))
    assert f"but driver {DRIVER} failed to prepare device gpu-0: no such GPU: 3." in told


def short(message: str) -> Queued:
    row = FlavorQuota("h100", "nvidia.com/gpu", "8", "8", borrows=False)
    return Queued("team-a", HeldBy.QUOTA, "research", message, (row,))


def test_a_quota_of_a_queue_is_told_in_numbers_once() -> None:
    words = "insufficient unused quota for nvidia.com/gpu in flavor h100, 2 more needed"
    found = short(f"couldn't assign flavors to pod set main: {words}")
    told = (
        "8 of 8 nvidia.com/gpu (flavor h100) of ClusterQueue research are reserved, and it needs 2 more than are left"
    )
    assert queue_reason(found) == told
    assert "reserved" not in " ".join(queue_lines(found, "ml"))
    assert "insufficient" not in " ".join(queue_lines(found, "ml"))


def test_words_about_several_flavors_are_printed() -> None:
    found = short(
        "couldn't assign flavors to pod set main: insufficient unused quota for x in flavor a; and in flavor b"
    )
    assert queue_reason(found) == "the quota of ClusterQueue research is in use by other work"
    assert "insufficient unused quota" in " ".join(queue_lines(found, "ml"))


def test_parameters_in_another_order_are_no_change_of_the_template() -> None:
    def spec(parameters: dict[str, Any]) -> dict[str, Any]:
        opaque = {"driver": DRIVER, "parameters": parameters}
        return {"devices": {"requests": [build.request()], "config": [{"requests": ["gpu"], "opaque": opaque}]}}

    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "ml"}}
    inventory = facts.inventory(
        [
            build.claim("claim") | {"spec": spec({"a": 1, "b": 2})},
            template | {"spec": {"spec": spec({"b": 2, "a": 1})}},
        ]
    )
    (claim,), (made_from,) = inventory.claims.values(), inventory.templates.values()
    assert not claim_ask(claim, "gpu", "t", made_from).template_changed
    other = facts.inventory([template | {"spec": {"spec": spec({"b": 3, "a": 1})}}])
    (changed,) = other.templates.values()
    assert claim_ask(claim, "gpu", "t", changed).template_changed


def test_a_template_that_has_another_amount_by_now_is_told_of() -> None:
    """The claim keeps the amount that it was made with."""

    def request(memory: str) -> dict[str, Any]:
        return build.request(capacity={"requests": {"memory": memory}})

    def template(memory: str) -> Any:
        (made,) = facts.inventory(
            [
                {
                    "kind": "ResourceClaimTemplate",
                    "metadata": {"name": "t", "namespace": "ml"},
                    "spec": {"spec": {"devices": {"requests": [request(memory)]}}},
                }
            ]
        ).templates.values()
        return made

    (claim,) = facts.inventory([build.claim("c", request("12Gi"))]).claims.values()
    assert claim_ask(claim, "gpu", "t", template("8Gi")).template_changed
    assert not claim_ask(claim, "gpu", "t", template("12Gi")).template_changed
