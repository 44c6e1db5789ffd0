"""Whole pages: nothing is said twice, no way out is listed twice, and every page leads on."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.pending import pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.diagnosis.test_fixes import FIXES
from tests.diagnosis.test_remedies import recorded
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit import build, facts
from tests.kit.clock import CLOCK

DRIVER = build.DRIVER
CHECKED = ("(checked against the current cluster)", "After this the scheduler would try it")
OPEN = ("What could help", "Could also help, but cannot be checked here", "Could help, but cannot be checked here")


def page_of(world: ClusterState, diagnosis: Any) -> str:
    found = find_remedies(world, diagnosis)
    return "\n".join(map(plain, pending_page(pending_report(diagnosis, world, ways=found), world.now)))


def page(*objects: dict[str, Any]) -> str:
    classes = [] if any(each["kind"] == "DeviceClass" for each in objects) else [build.device_class()]
    world = ClusterState(facts.inventory([*classes, *objects]), facts.evidence(), features(), CLOCK)
    return page_of(world, Diagnoser(world).pod(Key("ml", "pod")))


def joined(text: str) -> str:
    return " ".join(text.split())


POD = build.pod(claims=["claim"])


@pytest.mark.parametrize("name", FIXES)
def test_what_helped_in_a_real_cluster_is_printed_or_something_that_was_checked(name: str) -> None:
    steps, _ = FIXES[name]
    world, diagnosis, _ = recorded(name)
    text = page_of(world, diagnosis)
    checked = text.partition(CHECKED[0])[2] or text.partition(CHECKED[1])[2]
    if checked:
        assert "    1  " in checked
        return
    ways = next(text.partition(lead)[2] for lead in OPEN if lead in text)
    names = [step[2] for step in steps if step[1] != "ResourceSlice"]
    assert all(each in ways for each in names)
    assert names or "publish" in ways


@pytest.mark.parametrize("name", EXPECTED)
def test_no_page_ends_without_a_next_step(name: str) -> None:
    world, diagnosis, _ = recorded(name)
    if diagnosis.verdict is Verdict.NOT_PENDING or not diagnosis.causes:
        return
    text = page_of(world, diagnosis)
    assert f"kubectl dra explain {diagnosis.causes[0].code}" in joined(text)
    nexts = (
        *CHECKED,
        *OPEN,
        "What usually helps:",
        "If this lasts more than a minute:",
        "something holds it up:",
        "The scheduler retries",
        "Waiting longer is unlikely to help:",
    )
    assert any(each in joined(text) for each in nexts)
    assert "0 single changes" not in text


def test_a_pod_whose_deletion_frees_cpu_and_devices_is_one_way_out() -> None:
    world, diagnosis, _ = recorded("44-shared-claim-cpu-full-on-its-node")
    text = page_of(world, diagnosis)
    assert text.count("delete pod ") == 1
    assert "frees 1 device and 2 cpu" in text


def test_an_alternative_whose_class_is_missing_may_be_dropped() -> None:
    world, diagnosis, _ = recorded("29-first-available-one-class-missing")
    verified = [remedy for remedy in find_remedies(world, diagnosis).remedies if remedy.verified]
    assert [(action.field, action.before) for each in verified for action in each.actions] == [  # type: ignore[union-attr]
        ("firstAvailable", "gpu/x")
    ]
    assert "drop the alternative gpu/x" in page_of(world, diagnosis)


def test_dropping_an_alternative_drops_what_only_spoke_of_it() -> None:
    subs = [
        {"name": n, "deviceClassName": c, "allocationMode": "ExactCount", "count": 1}
        for n, c in (("x", "none"), ("y", DRIVER), ("z", DRIVER))
    ]
    constraints = [
        {"requests": ["gpu/x"], "matchAttribute": f"{DRIVER}/a"},
        {"requests": ["gpu/x", "gpu/y"], "matchAttribute": f"{DRIVER}/b"},
        {"requests": ["gpu"], "matchAttribute": f"{DRIVER}/c"},
    ]
    claim = build.claim("claim", {"name": "gpu", "firstAvailable": subs}, constraints=constraints)
    attributes = {"a": "1", "b": "1", "c": "1"}
    objects = [
        build.device_class(),
        build.node(),
        build.slice_("node-1", build.device("g", attributes=attributes)),
        POD,
        claim,
    ]
    world = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    found = find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies
    edit = next(each for each in found if each.verified)
    manifest = edit.steps[0].manifest
    assert manifest is not None
    devices = manifest["spec"]["devices"]
    assert [each["name"] for each in devices["requests"][0]["firstAvailable"]] == ["y", "z"]
    assert [each["requests"] for each in devices["constraints"]] == [["gpu/y"], ["gpu"]]


def test_a_pool_that_is_not_used_stands_beside_devices_that_are_in_use() -> None:
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 2}
    broken = build.slice_("node-1", build.device("a"))
    broken["spec"]["pool"] = pool
    tainted = build.device("b", taints=[{"key": "ecc", "effect": "NoSchedule"}])
    text = joined(
        page(
            build.node("node-1"),
            build.node("node-2"),
            build.slice_("node-2", tainted),
            {**broken, "metadata": {**broken["metadata"], "creationTimestamp": "2026-01-01T00:00:00Z"}},
            POD,
            build.claim("claim"),
        )
    )
    first = text.partition("It requests")[0]
    assert "is tainted (ecc:NoSchedule)" in first
    assert f"In addition, pool {DRIVER}/node-1 is incomplete" in first
    assert "No device of the class: node-1" not in text
    assert f"The newest ResourceSlice of pool {DRIVER}/node-1 was created" in text


def test_holders_are_said_of_the_node_that_they_are_on() -> None:
    """Two nodes are alike but for who holds their devices: the holder is not one of both."""
    names = ("node-1", "node-2")
    objects: list[dict[str, Any]] = []
    for node in names:
        objects += [build.node(node), build.slice_(node, build.device("gpu-0"))]
        holder = f"holder-{node}"
        objects.append(build.pod(holder, node_name=node, claims=[f"held-{node}"], phase="Running"))
        objects.append(build.claim(f"held-{node}", held=[(node, "gpu-0")], by=[holder], on=node))
    text = joined(page(*objects, POD, build.claim("claim")))
    assert "on node-1: holder-node-1" in text


def test_beside_another_column_too_the_holder_is_said_of_its_node() -> None:
    objects: list[dict[str, Any]] = [build.node("node-3"), build.slice_("node-3", build.device("gpu-0"))]
    for node in ("node-1", "node-2"):
        objects += [build.node(node), build.slice_(node, *(build.device(f"gpu-{number}") for number in range(3)))]
        holder, held = f"holder-{node}", [(node, "gpu-0"), (node, "gpu-1")]
        objects.append(build.pod(holder, node_name=node, claims=[f"held-{node}"], phase="Running"))
        objects.append(build.claim(f"held-{node}", held=held, by=[holder], on=node))
    text = joined(page(*objects, POD, build.claim("claim", build.request(count=2))))
    assert "on node-1: holder-node-1" in text
    elsewhere = text.replace("on node-1: holder-node-1", "").replace("delete pod ml/holder-node-1", "")
    assert "holder-node-1" not in elsewhere


def test_more_devices_than_a_node_has_may_be_those_of_several_pods() -> None:
    devices = build.slice_("node-1", build.device("a"), build.device("b"))
    more = build.slice_("node-2", build.device("a"), build.device("b"))
    claim = build.claim("claim", build.request(count=4))
    text = joined(page(build.node(), build.node("node-2"), devices, more, POD, claim))
    assert "split over several pods" in text
    assert "several pods" not in joined(page(build.node(), devices, POD, claim))
    used = joined(page(build.node(), devices, POD, build.claim("claim", build.request(count=2))))
    assert "several pods" not in used


def test_what_was_said_of_an_attempt_that_is_over_is_left_out_while_devices_are_made_ready() -> None:
    world, diagnosis, _ = recorded("47-binding-conditions-timeout")
    text = joined(page_of(world, diagnosis))
    assert "outdated" not in text
    assert "Scheduler, " not in text
    # An answer that the scheduler contradicts for another reason keeps its words.
    assert "Scheduler, " in joined(page_of(*recorded("20-device-taint-wrong-toleration")[:2]))


def test_a_pod_of_another_scheduler_that_is_in_no_gang_is_not_told_of_gangs() -> None:
    world, diagnosis, _ = recorded("59-other-scheduler-name")
    text = joined(page_of(world, diagnosis))
    assert "Check that this scheduler runs" in text
    assert "Of a gang" not in text


def test_who_can_remove_the_consumers_of_a_claim_depends_on_their_kind() -> None:
    world, diagnosis, _ = recorded("41-claim-reserved-for-max")
    text = joined(page_of(world, diagnosis))
    assert "already reserved for 256 consumers (jobs.example.com), the maximum" in text
    assert "they are jobs.example.com, which are removed by whoever made them" in text
    assert "controller removes pods" not in text


def test_pods_that_use_all_of_a_claim_are_removed_by_the_controller() -> None:
    held = build.claim("claim", held=[("node-1", "gpu-0")], by=[f"pod-{i}" for i in range(256)])
    text = joined(page(build.node(), build.slice_("node-1", build.device("gpu-0")), held, POD))
    assert "already reserved for 256 consumers (pods), the maximum" in text
    assert "the controller removes pods that have ended." in text


def test_pods_that_share_a_claim_are_told_of_templates() -> None:
    told = "with a ResourceClaimTemplate each pod gets devices of its own"
    nodes = [build.node("node-1", cpu="0"), build.node("node-2")]
    shared = build.claim("claim", held=[("node-1", "gpu-0")], by=["holder"], on="node-1")
    holder = build.pod("holder", claims=["claim"], node_name="node-1", phase="Running")
    pod = build.pod(claims=["claim"], requests={"cpu": "1"})
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    assert "give the pod a claim of its own" in joined(page(*nodes, *slices, shared, holder, pod))
    # In general only where the devices of other nodes are in use now.
    theirs = build.claim("theirs", held=[("node-2", "gpu-0")], by=["other"], on="node-2")
    assert told in joined(page(*nodes, *slices, shared, holder, pod, theirs))
    # Not where devices of their own would be on the same node only.
    assert told not in joined(page(*nodes, slices[0], shared, holder, pod))
    assert told not in joined(page_of(*recorded("44-shared-claim-cpu-full-on-its-node")[:2]))


@pytest.mark.parametrize("where", ["{}", "({}) && true"])
def test_an_error_of_a_selector_is_said_once(where: str) -> None:
    """The expression where it is requested, with the caret below it; the scheduler's text does not repeat it."""
    selector = where.format(f'device.attributes["{DRIVER}"].index > 0')
    objects = [
        build.claim("claim", build.request(selector=selector)),
        build.slice_("node-1", build.device("gpu-0")),
        build.node(),
    ]
    said = (
        'running "DynamicResources" filter plugin: claim ml/claim: selector #0 on device '
        f"{DRIVER}/node-1/gpu-0: CEL runtime error: no such key: index. consider using CEL optional chaining "
        "(.? followed by orValue()) or guarding the check with has() for optional fields"
    )
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": said}
    text = page(*objects, POD | {"status": {**POD["status"], "conditions": [condition]}})
    before, _, after = text.partition(f"where {selector}\n")
    pointer = after.splitlines()[0]
    assert pointer.strip() == "^ no such key"
    assert pointer.index("^") == len(before.splitlines()[-1]) + len("where ") + selector.index("index")
    assert joined(text).count(selector) == 1
    assert joined(text).count("no such key: index") == 0
    assert "(SchedulerError): its message matches this diagnosis." in joined(text)


def test_an_amount_that_the_first_line_tells_is_not_repeated_in_the_table() -> None:
    counters = [{"counterSet": "card", "counters": {"memory": {"value": "12Gi"}}}]
    slices = [
        build.slice_("node-1", *(build.device(f"half-{n}", consumesCounters=counters) for n in range(2))),
        build.slice_("node-1", sharedCounters=[{"name": "card", "counters": {"memory": {"value": "18Gi"}}}]),
    ]
    for number, each in enumerate(slices):
        each["metadata"]["name"] = f"slice-{number}"
        each["spec"]["pool"]["resourceSliceCount"] = 2
    del slices[1]["spec"]["devices"]
    held = build.claim("held", held=[("node-1", "half-0")], by=["other"])
    # More nodes than the first line tells.
    names = [f"node-{number}" for number in range(2, 5)]
    taints = [[{"key": f"ecc-{name}", "effect": "NoSchedule"}] for name in names]
    more = [build.slice_(name, build.device("gpu-0", taints=taint)) for name, taint in zip(names, taints, strict=True)]
    nodes = map(build.node, ("node-1", *names))
    text = joined(page(*slices, *more, held, build.claim("claim"), POD, *nodes))
    assert "counters allow 0" in text
    assert text.count("needs 12Gi, 6Gi of 18Gi left") == 1


def test_no_table_shows_only_the_request_that_is_met() -> None:
    """No device is in the class of the other request on the only node that the pod may go to; its GPU is free."""
    nodes = [build.node(name, labels={"pool": name}, cpu="64") for name in ("node-1", "node-2")]
    slices = [build.slice_("node-1", build.device("gpu-0")), build.slice_("node-2", build.device("n-0"), driver="nic")]
    nic = build.device_class("nic", selectors=[{"cel": {"expression": 'device.driver == "nic"'}}])
    claim = build.claim("dev", build.request("gpu"), build.request("nic", cls="nic"))
    pod = build.pod(claims=["dev"], nodeSelector={"pool": "node-1"})
    told = page(*nodes, *slices, nic, build.device_class(), claim, pod)
    assert "without nic devices" in joined(told)
    assert "Request gpu (claim dev)" not in told
