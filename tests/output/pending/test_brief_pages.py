"""Situations of a third judge, docs/development/judged: what made pages long, wrong or of no use."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.page import pending_page
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.kit.facts import SCENARIOS, scenario
from tests.output.pending.test_more_situations import before, holding, tainted
from tests.output.pending.test_situations import DRIVER, POD, first_line, page_of, report_of
from tests.scenario_files import snapshot_path

MODEL = f'device.attributes["{DRIVER}"].model == "{{}}"'
GPUS = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
TABLE = "Devices left after each check"


def kinds(report: Any) -> list[RemedyKind]:
    return [remedy.kind for remedy in report.remedies]


# --- what the first line has is not said again ------------------------------------------------------------------------


def test_a_table_that_repeats_the_first_line_is_left_out() -> None:
    report = report_of(build.node(), GPUS, *holding("a", "gpu-0"), *holding("b", "gpu-1"), POD, build.claim("claim"))
    assert "on node-1, both are in use (a 1, b 1)" in first_line(report)
    assert TABLE not in page_of(report)


def test_two_checks_of_the_first_line_have_no_table_and_what_was_never_asked_for_is_no_check() -> None:
    devices = [build.device(f"gpu-{i}", attributes={"model": model}) for i, model in enumerate(("T4", "A100"))]
    slice_ = build.slice_("node-1", *devices, tainted("gpu-2", 3) | {"attributes": {"model": {"string": "A100"}}})
    wish = build.request(selector=MODEL.format("A100"))
    report = report_of(build.node(), slice_, *holding("a", "gpu-1"), POD, build.claim("claim", wish))
    assert "1 of 2 is tainted" in first_line(report) and "1 of 2 is in use (a)" in first_line(report)
    assert TABLE not in page_of(report)


def test_a_table_with_more_than_the_first_line_stays() -> None:
    others = build.slice_("node-2", tainted("gpu-0", 3))
    two_nodes = report_of(
        build.node(), build.node("node-2"), GPUS, others, POD, build.claim("claim", build.request(count=3))
    )
    assert TABLE in page_of(two_nodes)


def test_alternatives_whose_obstacles_are_told_have_no_tables() -> None:
    first = build.slice_("node-1", build.device("gpu-0", attributes={"model": "H100"}))
    sick = tainted("gpu-0", 5) | {"attributes": {"model": {"string": "A100"}}}
    wishes = [
        {
            "name": model.lower(),
            "deviceClassName": DRIVER,
            "allocationMode": "ExactCount",
            "count": 1,
            "selectors": [{"cel": {"expression": MODEL.format(model)}}],
        }
        for model in ("H100", "A100")
    ]
    claim = build.claim("claim", {"name": "gpu", "firstAvailable": wishes})
    nodes = [build.node(), build.node("node-2")]
    report = report_of(*nodes, first, build.slice_("node-2", sick), *holding("train", "gpu-0"), POD, claim)
    # The nearest node of the first alternative has none of the second, which exists all the same.
    assert "a100: no node has a free A100 device: on node-2, the only one is tainted" in first_line(report)
    assert TABLE not in page_of(report)


def test_the_age_of_a_taint_stands_behind_it_in_the_first_line() -> None:
    page = page_of(report_of(build.node(), build.slice_("node-1", tainted("gpu-0", 3)), POD, build.claim("claim")))
    assert page.count(f"{DRIVER}/xid=79:NoExecute") == 2  # the first line, and the way out that tolerates it
    assert f"is tainted ({DRIVER}/xid=79:NoExecute for 3h)" in page
    assert "Tainted" not in page


def test_the_age_of_a_taint_has_a_line_where_the_first_lines_are_not_the_page_s_own() -> None:
    report = report_of(build.node(), build.slice_("node-1", tainted("gpu-0", 3)), POD, build.claim("claim"))
    page = [str(line) for line in pending_page(report, CLOCK.now(), head=[pending_summary(report)])]
    assert "Tainted for 3h." in page


def test_holders_of_alike_nodes_are_said_of_the_node_in_the_sentence() -> None:
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    objects = [*holding("a", "gpu-0"), *holding("b", "gpu-0", node="node-2")]
    report = report_of(build.node(), build.node("node-2"), *slices, *objects, POD, build.claim("claim"))
    assert "on node-1 and node-2, the only one of each is in use (on node-1: a)" in first_line(report)


def test_ways_out_that_differ_in_a_name_share_a_line() -> None:
    devices = [build.device(f"gpu-{number}") for number in range(4)]
    held = [each for number in range(4) for each in holding(f"job-{number}", f"gpu-{number}")]
    report = report_of(build.node(), build.slice_("node-1", *devices), *held, POD, build.claim("claim"))
    page = page_of(report)
    assert kinds(report).count(RemedyKind.FREE_DEVICES) == 4
    assert "2-4 the same with ml/job-1, ml/job-2 or ml/job-3" in page
    assert page.count("nothing starts it again") == 1


def test_ways_out_that_differ_in_name_and_node_share_a_line_that_says_the_node() -> None:
    nodes = [f"node-{number}" for number in (1, 2, 3)]
    slices = [build.slice_(name, build.device("gpu-0")) for name in nodes]
    held = [each for number, name in enumerate(nodes) for each in holding(f"job-{number}", "gpu-0", node=name)]
    page = page_of(report_of(*map(build.node, nodes), *slices, *held, POD, build.claim("claim")))
    assert "2-3 the same with ml/job-1 (runs on node-2) or ml/job-2 (runs on node-3)" in page


def test_ways_out_with_the_same_change_of_the_pod_share_a_line() -> None:
    taint = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
    node = build.node() | {"spec": {"taints": [taint]}}
    devices = [build.device(f"gpu-{number}") for number in range(4)]
    held = [each for number in range(4) for each in holding(f"job-{number}", f"gpu-{number}")]
    page = page_of(report_of(node, build.slice_("node-1", *devices), *held, POD, build.claim("claim")))
    assert page.count("tolerate the node taint dedicated=ml:NoSchedule") == 1
    assert "2-3 the same with ml/job-1 or ml/job-2" in page


def test_claims_held_for_pods_that_are_gone_are_told_together() -> None:
    claims = [build.claim(f"gang-{i}", held=[("node-1", f"gpu-{i}")], by=[f"gang-{i}"], on="node-1") for i in range(4)]
    for claim in claims:
        claim["metadata"]["deletionTimestamp"] = before(11)
    devices = [build.device(f"gpu-{number}") for number in range(4)]
    report = report_of(build.node(), build.slice_("node-1", *devices), *claims, POD, build.claim("claim"))
    assert "claims gang-0, gang-1, gang-2 +1 (being deleted) held for 4 pods that no longer exist" in first_line(report)
    assert page_of(report).count("deleted 11h ago") == 1


# --- wrong or of no use -----------------------------------------------------------------------------------------------


def test_a_pod_that_is_being_deleted_already_is_waited_for() -> None:
    old, held = holding("old", "gpu-0")
    old["metadata"]["deletionTimestamp"] = (CLOCK.now() - timedelta(minutes=40)).strftime("%Y-%m-%dT%H:%M:%SZ")
    report = report_of(
        build.node(), build.slice_("node-1", build.device("gpu-0")), old, held, POD, build.claim("claim")
    )
    assert "the only one is in use (old: being deleted)" in first_line(report)
    assert kinds(report) == [RemedyKind.WAIT]
    assert report.remedies[0].nodes == ("node-1",)
    page = page_of(report)
    assert "Pod old should have ended 40m ago." in page
    assert "kubectl describe pod/old -n ml" in page
    assert "delete pod" not in page


def test_another_pod_is_deleted_where_the_one_that_goes_is_not_enough() -> None:
    old, held = holding("old", "gpu-0")
    old["metadata"]["deletionTimestamp"] = before(1)
    other = holding("other", "gpu-1")
    report = report_of(build.node(), GPUS, old, held, *other, POD, build.claim("claim", build.request(count=2)))
    assert "delete pod ml/old" not in page_of(report)


@pytest.mark.parametrize(("text", "value"), [("0", {"int": 0}), ("true", {"bool": True})])
def test_a_text_that_only_looks_like_the_value_is_told_so(text: str, value: dict[str, Any]) -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0") | {"attributes": {"model": value}})
    report = report_of(build.node(), slice_, POD, build.claim("claim", build.request(selector=MODEL.format(text))))
    assert f'no {DRIVER} device has the text "{text}" as model: it is {text} there, not a text' in first_line(report)
    assert TABLE not in page_of(report)


TEMPLATE = {
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "gpus", "namespace": "ml"},
    "spec": {"spec": {"devices": {"requests": [build.request()]}}},
}


def test_a_template_that_is_named_as_a_claim_is_recognized() -> None:
    report = report_of(build.node(), GPUS, TEMPLATE, build.pod(claims=["gpus"]))
    assert report.code is Code.CLAIM_MISSING
    assert "there is a ResourceClaimTemplate of that name" in first_line(report)
    assert 'name "gpus" as resourceClaimTemplateName, not as resourceClaimName' in page_of(report)
    patch = str(report.remedies[0].steps)
    assert '"op": "remove", "path": "/spec/resourceClaims/0/resourceClaimName"' in patch
    assert '"path": "/spec/resourceClaims/0/resourceClaimTemplateName", "value": "gpus"' in patch


def test_a_claim_whose_words_stand_in_another_order_is_offered_in_place_of_the_missing_one() -> None:
    report = report_of(build.node(), GPUS, build.claim("gpu-big"), build.pod(claims=["big-gpu"]))
    assert report.code is Code.CLAIM_MISSING
    assert (report.remedies[0].kind, report.remedies[0].verified) == (RemedyKind.NAME_OBJECT, True)
    assert 'name "gpu-big" instead of "big-gpu" in the pod' in page_of(report)


def test_a_claim_that_is_named_as_a_template_is_recognized_and_tried() -> None:
    report = report_of(build.node(), GPUS, build.claim("gpus"), build.pod(templates=["gpus"]))
    assert report.code is Code.TEMPLATE_MISSING
    assert "there is a ResourceClaim of that name" in first_line(report)
    way = report.remedies[0]
    assert (way.kind, way.verified, way.nodes) == (RemedyKind.NAME_OBJECT, True, ("node-1",))


@pytest.mark.parametrize(
    ("key", "said"),
    [("unreachable", "is unreachable: its kubelet has stopped reporting"), ("not-ready", "is not ready")],
)
def test_no_pod_is_to_tolerate_a_node_that_does_not_work(key: str, said: str) -> None:
    node = build.node()
    node["spec"]["taints"] = [{"key": f"node.kubernetes.io/{key}", "effect": "NoSchedule"}]
    report = report_of(node, GPUS, POD, build.claim("claim"))
    assert said in first_line(report)
    assert RemedyKind.EDIT_POD not in kinds(report)
    assert "kubectl describe node/node-1" in page_of(report)


def test_a_taint_of_an_administrator_can_still_be_tolerated() -> None:
    node = build.node()
    node["spec"]["taints"] = [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]
    assert RemedyKind.EDIT_POD in kinds(report_of(node, GPUS, POD, build.claim("claim")))


def test_a_constraint_over_what_nothing_publishes_names_the_attribute_that_is_meant() -> None:
    root = "resource.kubernetes.io/pcieRoot"
    devices = [build.device(name, attributes={root: "pci0000:15"}) for name in ("gpu-0", "gpu-1")]
    wrong = [{"matchAttribute": f"{DRIVER}/pcieRoot", "requests": ["gpu", "nic"]}]
    claim = build.claim("claim", build.request(), build.request("nic"), constraints=wrong)
    report = report_of(build.node(), build.slice_("node-1", *devices), POD, claim)
    assert report.code is Code.CONSTRAINT
    nobody = f"which no {DRIVER} device publishes, on any node; they publish {root}"
    told = f"over gpu and nic compares {DRIVER}/pcieRoot, {nobody}"
    assert told in first_line(report)
    way = report.remedies[0]
    assert (way.verified, way.nodes) == (True, ("node-1",))
    (step,) = way.steps
    (constraint,) = (step.manifest or {})["spec"]["devices"]["constraints"]
    assert constraint["matchAttribute"] == root


def test_where_the_pod_may_run_is_named_beside_where_the_devices_are() -> None:
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["cpu-1"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [here]}}}
    pod = build.pod(claims=["claim"], affinity=affinity)
    report = report_of(build.node(), build.node("cpu-1"), GPUS, pod, build.claim("claim"))
    told = f"it may only run on cpu-1, as its node affinity says, and the free {DRIVER} devices are on node-1."
    assert told in first_line(report)
    assert "is rejected" not in page_of(report)


# --- the first command, where prose alone said what to do -------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "command"),
    [
        ("38-template-not-instantiated", "kubectl get pods -n kube-system -l component=kube-controller-manager"),
        ("39-template-claim-not-owned", "kubectl get pod/pod -n s39 -o yaml"),
        ("41-claim-reserved-for-max", "kubectl dra describe-claim claim -n s41"),
    ],
)
def test_what_to_do_about_a_claim_begins_with_a_command(
    capfd: pytest.CaptureFixture[str], scenario: str, command: str
) -> None:
    assert run(["why-pending", "pod/pod", "-n", f"s{scenario[:2]}", "--from", str(snapshot_path(scenario))]) == 0
    page = capfd.readouterr().out
    assert command in page
    assert "Wait a few seconds" not in page


def test_a_selector_that_fails_and_matches_nothing_else_has_no_table() -> None:
    devices = [build.device("gpu-0", attributes={"model": "A100"}), build.device("gpu-1", attributes={"type": "x"})]
    slices = [build.slice_("node-1", devices[0]), build.slice_("node-2", devices[1])]
    wish = build.request(selector=MODEL.format("H200"))
    report = report_of(build.node(), build.node("node-2"), *slices, POD, build.claim("claim", wish))
    assert report.code is Code.SELECTOR_FAILS
    assert "(their model is A100)" in first_line(report)
    assert TABLE not in page_of(report)


def test_who_holds_devices_may_be_waited_for_unless_it_never_ends() -> None:
    report = report_of(build.node(), GPUS, *holding("a", "gpu-0"), *holding("b", "gpu-1"), POD, build.claim("claim"))
    assert "Stop other work, or wait until it ends" in page_of(report)
    pods = [each for name, gpu in (("a", "gpu-0"), ("b", "gpu-1")) for each in holding(name, gpu)]
    for each in pods:
        if each["kind"] == "Pod":
            owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
            each["metadata"]["ownerReferences"] = [owner]
    again = page_of(report_of(build.node(), GPUS, *pods, POD, build.claim("claim")))
    assert "Stop other work" in again and "or wait until" not in again


def test_nobody_adds_a_device_like_one_that_is_tainted() -> None:
    report = report_of(build.node(), build.slice_("node-1", tainted("gpu-0", 3)), POD, build.claim("claim"))
    assert any(each.kind is RemedyKind.ADD_DEVICES for each in report.additions)
    assert "more device" not in page_of(report)


def test_a_list_without_slices_leaves_open_whether_the_device_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    path = snapshot_path("68-allocated-device-vanished")
    run(["why-pending", "pod/pod", "-n", "s68", "--from", str(path)])
    text = " ".join(capsys.readouterr().out.split())
    assert "If there is none, the driver does not publish gpu.example.com/node-1/gpu-0 any more" in text


def test_what_does_not_match_anyway_stands_before_the_error_on_one_device() -> None:
    devices = [build.device("gpu-0", attributes={"model": "A100"}), build.device("gpu-1", attributes={"type": "x"})]
    slices = [build.slice_("node-1", devices[0]), build.slice_("node-2", devices[1])]
    claim = build.claim("claim", build.request(selector=MODEL.format("H200")))
    line = first_line(report_of(build.node(), build.node("node-2"), *slices, POD, claim))
    assert line.index("has model H200") < line.index("raises an error")


def test_a_consequence_of_several_ways_out_stands_once_below_them() -> None:
    held = [each for number in range(2) for each in holding(f"job-{number}", f"gpu-{number}")]
    first = build.pod("first", claims=["firsts"])
    first["spec"]["priority"] = 10
    report = report_of(build.node(), GPUS, *held, POD, first, build.claim("claim"), build.claim("firsts"))
    page = page_of(report)
    assert page.partition("Or add hardware")[0].count("comes first, and will probably take it") == 1
    assert "(1 and 2: " in page


def test_requests_of_an_extended_resource_have_the_names_that_somebody_wrote() -> None:
    wish = {"requests": {"cpu": "1", f"{DRIVER}/gpu": "2"}, "limits": {f"{DRIVER}/gpu": "2"}}
    pod = build.pod()
    pod["spec"]["containers"] = [{"name": name, "image": "i", "resources": wish} for name in ("main", "side")]
    device_class = build.device_class()
    device_class["spec"]["extendedResourceName"] = f"{DRIVER}/gpu"
    slices = [build.slice_(f"node-{n}", build.device("a"), build.device("b")) for n in (1, 2)]
    report = report_of(device_class, build.node(), build.node("node-2"), *slices, pod, *holding("h", "a"))
    page = page_of(report)
    assert f"{DRIVER}/gpu of container main" in page and f"{DRIVER}/gpu of container side" in page
    assert "container-0" not in page and "<extended" not in page


def test_a_new_node_is_like_one_that_is_large_enough() -> None:
    """Of one that is too small another would be too small as well, however many of those come before."""
    small = [build.node("small-1", cpu="1"), build.node("small-2", memory="1Gi"), build.node("small-3", pods="0")]
    free = [build.slice_(f"small-{n}", build.device("gpu-0")) for n in (1, 2, 3)]
    wish = {"requests": {"cpu": "2", "memory": "2Gi"}}
    pod = POD | {"spec": {**POD["spec"], "containers": [{"name": "c", "resources": wish}]}}
    objects = [*small, *free, build.node(), GPUS, *holding("a", "gpu-0", "gpu-1"), pod, build.claim("claim")]
    assert "Or add hardware: a node like node-1." in " ".join(page_of(report_of(*objects)).split())


def test_nodes_where_the_pod_may_run_lack_only_devices() -> None:
    pod = POD | {"spec": {**POD["spec"], "nodeSelector": {"zone": "b"}}}
    nodes = [build.node(labels={"zone": "a"}), build.node("node-2", labels={"zone": "b"})]
    there = [build.slice_("node-2", build.device("gpu-0")), *holding("other", "gpu-0", node="node-2")]
    page = " ".join(page_of(report_of(*nodes, GPUS, *there, pod, build.claim("claim"))).split())
    assert "Or add hardware: a node like node-2." in page
    assert "not checked" not in page
    # Where another change helps, nobody adds devices to a node that has never had any.
    assert "Or add hardware" not in page_of(report_of(*nodes, GPUS, pod, build.claim("claim")))
    assert "Or publish" not in page_of(
        report_of(*nodes, GPUS, *holding("a", "gpu-0", "gpu-1"), POD, build.claim("claim"))
    )


def test_a_bare_pod_is_not_only_deleted_because_nothing_would_make_it_anew(capsys: pytest.CaptureFixture[str]) -> None:
    page = scenario_page("39-template-claim-not-owned", capsys)
    assert "kubectl get pod/pod -n s39 -o yaml --context CONTEXT | kubectl replace --force -f -" in page


def scenario_page(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The page of the pod that waits in a recorded scenario."""
    run(["why-pending", "pod/pod", "-n", f"s{name[:2]}", "--from", str(snapshot_path(name))])
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["02-no-device-class", "50-extended-resource-implicit-no-class"])
def test_where_only_a_class_is_missing_its_driver_need_not_be_installed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page = scenario_page(name, capsys)
    assert "has no DeviceClass at all, although 2 devices of gpu.example.com are published. If they were only" in page
    assert "nstall the d" not in page


def test_a_new_node_has_not_the_taint_of_the_one_that_it_is_like(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Or add hardware: a node like node-3, without its taint." in scenario_page("53-mixed-three-nodes", capsys)


def test_a_shortened_message_of_the_scheduler_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    page = scenario_page("12-all-allocated-to-others", capsys)
    assert ": … 1 cannot allocate all claims. matches this diagnosis" in page


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_no_command_stands_on_a_page_twice(
    name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    namespace, _, pod = scenario(name)[1]["pod"].partition("/")
    run(["why-pending", f"pod/{pod}", "-n", namespace, "--from", str(SCENARIOS / name / "snapshot.json")])
    lines = [line.strip() for line in capfd.readouterr().out.splitlines()]
    commands = [line for line in lines if line.startswith("kubectl ")]
    assert len(commands) == len(set(commands)), commands
