"""A page has what decides: nodes, checks and ways out that say nothing new are left to ``-o wide``, or share a line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.records import Preemption
from kubectl_dra.diagnosis.remedies.records import DeletePod
from kubectl_dra.output.pending.next_in_the_way import preemption_lines
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_more_situations import holding, tainted
from tests.output.pending.test_situations import DRIVER, POD, first_line, page_of, refused, report_of

MODEL = f'device.attributes["{DRIVER}"].model == "{{}}"'
TABLE = "Devices left after each check"
FITS = "0/1 nodes are available: 1 cannot allocate all claims."
ONE = build.slice_("node-1", build.device("gpu-0"))
IN_USE = [build.node(), ONE, *holding("a", "gpu-0"), POD, build.claim("claim")]


def wide(report: PendingReport) -> str:
    return " ".join(" ".join(map(str, pending_page(report, CLOCK.now(), full=True))).split())


def with_taint(name: str, key: str) -> dict[str, Any]:
    return build.node(name) | {"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}}


def of_set(name: str, *devices: str, node: str = "node-1", kind: str = "StatefulSet") -> list[dict[str, Any]]:
    """A pod of a workload with devices of a node."""
    pod, claim = holding(name, *devices, node=node)
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    return [pod, claim]


# --- nodes ------------------------------------------------------------------------------------------------------------


def test_nodes_without_a_device_that_is_requested_are_named_on_the_wide_page_only() -> None:
    report = report_of(*IN_USE, build.node("cpu-1"), with_taint("cpu-2", "maintenance"))
    assert "cpu-" not in page_of(report)
    assert "Ruled out earlier: cpu-2 (taint maintenance:NoSchedule). No device of the class: cpu-1." in wide(report)


def test_a_node_with_devices_that_is_ruled_out_is_named_wherever_it_has_them_in_use() -> None:
    there = [with_taint("node-2", "maintenance"), build.slice_("node-2", build.device("gpu-0"))]
    report = report_of(*IN_USE, *there, *holding("b", "gpu-0", node="node-2"))
    assert "Ruled out earlier: node-2 (taint maintenance:NoSchedule)." in page_of(report)


def test_a_node_that_is_not_ready_yet_is_named_though_it_has_no_devices() -> None:
    report = report_of(*IN_USE, with_taint("node-2", "node.kubernetes.io/not-ready"))
    assert "Ruled out earlier: node-2 (is not ready" in page_of(report)


def test_nodes_are_no_matter_where_an_error_ends_the_attempt() -> None:
    there = [with_taint("node-2", "maintenance"), build.slice_("node-2", build.device("gpu-0"))]
    claim = build.claim("claim", build.request(selector=MODEL.format("T4")))
    report = report_of(build.node(), ONE, *there, POD, claim)
    assert "raises an error on device" in first_line(report)
    assert "node-2" not in page_of(report)
    assert "Ruled out earlier: node-2" in wide(report)


def test_a_node_that_has_the_devices_of_one_request_only_is_named() -> None:
    nics = build.device_class("nic.example.com")
    nics["spec"]["selectors"] = [{"cel": {"expression": 'device.driver == "nic.example.com"'}}]
    nic = build.slice_("node-2", build.device("nic-0"), pool="nics")
    nic["spec"]["driver"] = "nic.example.com"
    claim = build.claim("claim", build.request(), build.request("nic", cls="nic.example.com"))
    objects = [
        nics,
        build.device_class(),
        build.node(),
        build.node("node-2"),
        build.node("cpu-1"),
        ONE,
        nic,
        POD,
        claim,
    ]
    page = page_of(report_of(*objects))
    assert "node-2" in page and "cpu-1" not in page


# --- tables -----------------------------------------------------------------------------------------------------------


def modelled(name: str, model: str) -> dict[str, Any]:
    return build.device(name, attributes={"model": model})


def test_no_table_where_the_other_nodes_have_nothing_that_the_selector_admits() -> None:
    slices = [build.slice_("node-1", modelled("gpu-0", "A100")), build.slice_("node-2", modelled("gpu-0", "T4"))]
    claim = build.claim("claim", build.request(selector=MODEL.format("A100")))
    nodes = [build.node(), build.node("node-2")]
    report = report_of(*nodes, *slices, *holding("a", "gpu-0"), POD, claim)
    assert "on node-1, the only one is in use (a)" in first_line(report)
    assert TABLE not in page_of(report)
    assert "model is T4" in wide(report) and TABLE in wide(report)


def test_no_table_where_all_nodes_lack_the_same_and_the_closest_is_told() -> None:
    slices = [build.slice_(name, build.device("gpu-0"), build.device("gpu-1")) for name in ("node-1", "node-2")]
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-0", "gpu-1", node="node-2")]
    claim = build.claim("claim", build.request(count=2))
    report = report_of(build.node(), build.node("node-2"), *slices, *held, POD, claim)
    assert "Closest: node-1, with 1 of 2: 1 of 2 is in use (a)" in first_line(report)
    assert TABLE not in page_of(report) and TABLE in wide(report)


def test_a_node_that_lacks_something_else_has_its_table_with_the_age_of_the_taint() -> None:
    slices = [
        build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1")),
        build.slice_("node-2", tainted("gpu-0", 3)),
    ]
    claim = build.claim("claim", build.request(count=2))
    report = report_of(build.node(), build.node("node-2"), *slices, *holding("a", "gpu-0"), POD, claim)
    page = page_of(report)
    assert TABLE in page
    assert f"{DRIVER}/xid=79:NoExecute for 3h" in page
    assert "Tainted on" not in page


def test_behind_the_words_of_another_scheduler_a_table_repeats_the_first_line_no_less() -> None:
    pod = POD | {"spec": {**POD["spec"], "schedulerName": "binpack"}}
    said = build.event("pod", "FailedScheduling", "0/1 nodes are available: 1 cannot allocate all claims.")
    said |= {"reportingComponent": "binpack"}
    slices = [build.slice_("node-1", modelled("gpu-0", "A100")), build.slice_("node-2", modelled("gpu-0", "T4"))]
    claim = build.claim("claim", build.request(selector=MODEL.format("A100")))
    nodes = [build.node(), build.node("node-2")]
    report = report_of(*nodes, *slices, *holding("a", "gpu-0"), pod, claim, said)
    assert report.code == "DRA-150"
    assert "on node-1, the only one is in use (a)" in first_line(report)
    assert TABLE not in page_of(report)


# --- ways out ---------------------------------------------------------------------------------------------------------


def test_ways_out_that_differ_in_who_where_and_how_much_share_a_line() -> None:
    four = build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(4)))
    slices = [four, build.slice_("node-2", build.device("gpu-0"), build.device("gpu-1"))]
    held = [*holding("a", "gpu-0", "gpu-1"), *holding("b", "gpu-2"), *holding("c", "gpu-0", "gpu-1", node="node-2")]
    claim = build.claim("claim", build.request(count=2))
    report = report_of(build.node(), build.node("node-2"), *slices, *held, POD, claim)
    ways = [each for each in report.remedies if isinstance(each.actions[0], DeletePod)]
    assert {each.actions[0].pod.name for each in ways if isinstance(each.actions[0], DeletePod)} == {"a", "b", "c"}
    page = page_of(report)
    assert page.count("delete pod ml/") == 1
    assert "ml/b (frees 1 device)" in page and "ml/c (runs on node-2)" in page


def test_one_other_shares_the_line_as_well() -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-1")]
    page = page_of(report_of(build.node(), slice_, *held, POD, build.claim("claim")))
    assert page.count("nothing starts it again") == 1
    assert " 2 the same with ml/b " in page


def test_pods_of_different_fates_do_not_share_a_line() -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    held = [*holding("a", "gpu-0"), *of_set("b", "gpu-1")]
    page = page_of(report_of(build.node(), slice_, *held, POD, build.claim("claim")))
    assert "the same with" not in page
    assert page.count("delete pod") == 2


def test_several_pods_of_a_way_out_are_deleted_in_one_phrase() -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    held = [*holding("a", "gpu-0"), *holding("b", "gpu-1")]
    claim = build.claim("claim", build.request(count=2))
    page = page_of(report_of(build.node(), slice_, *held, POD, claim))
    assert "delete pods ml/a and ml/b: frees 2 devices; nothing starts them" in page


def test_that_what_is_started_again_waits_is_said_once() -> None:
    page = page_of(report_of(build.node(), ONE, *of_set("a", "gpu-0"), POD, build.claim("claim")))
    assert "again, and that one then waits" in page
    assert "tries this pod first" not in page


# --- simulations and lists --------------------------------------------------------------------------------------------


def listed(tmp_path: Path, name: str, *objects: dict[str, Any]) -> str:
    path = tmp_path / name
    items = [
        {"apiVersion": "v1" if each["kind"] in ("Node", "Pod") else "resource.k8s.io/v1", **each} for each in objects
    ]
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
    return str(path)


def test_nothing_is_written_about_a_pod_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = listed(tmp_path, "cluster.json", build.device_class(), *IN_USE[:4])
    files = listed(tmp_path, "pod.json", POD, build.claim("claim"))
    assert run(["simulate", "-f", files, "--from", cluster]) == 0
    page = capsys.readouterr().out
    assert "does not fit" in page
    assert "has written nothing" not in page


def test_a_list_tells_of_a_message_that_matches_and_has_the_words_of_one_that_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = listed(
        tmp_path, "cluster.json", build.device_class(), *IN_USE[:4], refused(POD, FITS), build.claim("claim")
    )
    assert run(["why-pending", "-A", "--from", cluster]) == 0
    same = capsys.readouterr().out
    assert "its message matches this diagnosis." in same
    assert "cannot allocate all claims" not in same
    other = refused(POD, "0/1 nodes are available: 1 Insufficient cpu.")
    cluster = listed(tmp_path, "other.json", build.device_class(), *IN_USE[:4], other, build.claim("claim"))
    assert run(["why-pending", "-A", "--from", cluster]) == 0
    assert "1 Insufficient cpu." in capsys.readouterr().out


def test_bare_templates_that_fit_alike_share_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = listed(tmp_path, "cluster.json", build.device_class(), build.node(), ONE)
    templates = [
        {
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": name, "namespace": "ml"},
            "spec": {"spec": {"devices": {"requests": [build.request(f"of-{name}")]}}},
        }
        for name in ("one", "two", "three")
    ]
    files = listed(tmp_path, "templates.json", *templates)
    assert run(["simulate", "-f", files, "--from", cluster]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert page.count("A bare pod with") == 1
    assert "2 more ResourceClaimTemplates: ml/two, ml/three" in page


def test_nodes_that_are_uncordoned_share_a_line() -> None:
    nodes = [build.node(f"node-{n}") | {"spec": {"unschedulable": True}} for n in (1, 2, 3)]
    slices = [build.slice_(f"node-{n}", build.device("gpu-0")) for n in (1, 2, 3)]
    page = page_of(report_of(*nodes, *slices, POD, build.claim("claim")))
    assert page.count("uncordon node") == 1
    assert "the same with node-2 or node-3" in page


def test_a_note_that_would_stand_in_a_narrow_column_stands_below() -> None:
    names = [f"a-workload-with-a-long-name-{number}" for number in range(4)]
    slices = [
        build.slice_("node-1", *(build.device(f"gpu-{n}") for n in range(4))),
        build.slice_("node-2", tainted("gpu-0", 3)),
    ]
    held = [each for n, name in enumerate(names) for each in holding(name, f"gpu-{n}")]
    claim = build.claim("claim", build.request(count=2))
    report = report_of(build.node(), build.node("node-2"), *slices, *held, POD, claim)
    lines = [str(line) for line in pending_page(report, CLOCK.now())]
    at = next(number for number, line in enumerate(lines) if line.startswith("  not in use"))
    assert lines[at + 1].startswith("      ")
    assert len(lines[at + 1]) > 60


# --- the first line ---------------------------------------------------------------------------------------------------


def test_the_pods_of_a_workload_that_hold_devices_are_one_entry() -> None:
    slice_ = build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(4)))
    three = [each for number in range(3) for each in of_set(f"web-{number}", f"gpu-{number}")]
    report = report_of(build.node(), slice_, *three, *holding("nb", "gpu-3"), POD, build.claim("claim"))
    assert "all 4 are in use (3 pods of StatefulSet web 3, nb 1)" in first_line(report)
    two = [*three[:4], *holding("nb", "gpu-2"), *holding("old", "gpu-3")]
    report = report_of(build.node(), slice_, *two, POD, build.claim("claim"))
    assert "in use (nb 1, old 1, web-0 1, 1 more)" in first_line(report)


def test_the_obstacle_of_an_alternative_that_nothing_matches_has_no_table() -> None:
    wishes = [
        {"name": model.lower(), "deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": 1}
        | {"selectors": [{"cel": {"expression": MODEL.format(model)}}]}
        for model in ("H100", "A100")
    ]
    claim = build.claim("claim", {"name": "gpu", "firstAvailable": wishes})
    held = holding("a", "gpu-0")
    report = report_of(build.node(), build.slice_("node-1", modelled("gpu-0", "A100")), *held, POD, claim)
    assert "h100: no" in first_line(report) and "is in use (a)" in first_line(report)
    assert TABLE not in page_of(report)


def test_a_pod_that_was_evicted_for_this_one_is_told_of_once() -> None:
    found = Preemption("…", ("node-1",), ("ml/low",), under_way=True)
    said = "Pod ml/pod is pending: 1 pod evicted for it on node-1 (ml/low) has not ended yet. Until then …"
    assert preemption_lines(found, said) == []
    assert "has evicted 1 pod of lower priority" in " ".join(map(str, preemption_lines(found)))


def test_who_has_next_to_nothing_of_what_lacks_is_one_of_the_others() -> None:
    def running(name: str, cpu: str) -> dict[str, Any]:
        return build.pod(name, node_name="node-1", phase="Running", requests={"cpu": cpu})

    pod = build.pod(claims=["claim"], requests={"cpu": "2"})
    others = [running("big", "3"), running("small", "10m"), pod]
    line = first_line(report_of(build.node(), ONE, *others, build.claim("claim")))
    assert "in use by ml/big: 3, others: 0.01" in line


def test_that_none_exists_is_left_out_where_the_one_of_another_namespace_is_named() -> None:
    claim = build.claim("claim")
    missing = [build.node(), ONE, POD]
    assert "No ResourceClaim exists in namespace ml." in page_of(report_of(*missing))
    page = page_of(report_of(*missing, claim | {"metadata": {**claim["metadata"], "namespace": "other"}}))
    assert "there is one in other" in page
    assert "No ResourceClaim exists" not in page


def test_nodes_stand_below_the_ways_out_where_that_takes_fewer_lines() -> None:
    def lines(node: str) -> list[str]:
        slice_ = build.slice_(node, *(build.device(f"gpu-{number}") for number in range(2)))
        pods = [f"a-pod-with-a-name-of-some-length-{number}" for number in range(2)]
        held = [each for n, name in enumerate(pods) for each in of_set(name, f"gpu-{n}", node=node)]
        claim = build.claim("claim", build.request(count=2))
        report = report_of(build.node(node), slice_, *held, POD, claim)
        return [str(line) for line in pending_page(report, CLOCK.now())]

    short, long = lines("node-1"), lines("a-node-of-a-cloud-with-30-chars")
    assert any(line.endswith("  node-1") for line in short)
    assert any("runs on a-node-of-a-cloud-with-30-chars" in line for line in long)


def test_a_shortage_that_the_closest_node_tells_has_no_table() -> None:
    slices = [
        build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1")),
        build.slice_("node-2", build.device("gpu-0")),
    ]
    claim = build.claim("claim", build.request(count=3))
    report = report_of(build.node(), build.node("node-2"), *slices, POD, claim)
    assert "Closest: node-1, with 2 of 3" in first_line(report)
    assert TABLE not in page_of(report) and TABLE in wide(report)


def test_what_a_file_does_not_have_is_told_below_the_answer(tmp_path: Path) -> None:
    cluster = listed(tmp_path, "cluster.json", build.device_class(), *IN_USE)
    words = [sys.executable, "-m", "kubectl_dra", "why-pending", "pod", "-n", "ml", "--from", cluster]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=True)
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("1 pod with device claims is pending")
    assert last.startswith("note: ") and last.endswith("taken as if the cluster had none")


def test_nodes_that_have_nothing_that_matches_have_no_table_where_others_are_the_matter() -> None:
    cordoned = build.node() | {"spec": {"unschedulable": True}}
    slices = [build.slice_("node-1", modelled("gpu-0", "A100")), build.slice_("node-2", modelled("gpu-0", "T4"))]
    claim = build.claim("claim", build.request(selector=MODEL.format("A100")))
    report = report_of(cordoned, build.node("node-2"), build.node("cpu-1"), *slices, POD, claim)
    assert "node-1 has the device but is cordoned; node-2 has no" in first_line(report)
    assert "cpu-1" not in first_line(report)
    assert TABLE not in page_of(report) and TABLE in wide(report)


def test_a_plain_request_of_a_file_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = listed(tmp_path, "cluster.json", build.device_class(), *IN_USE[:4])

    def page(request: dict[str, Any]) -> str:
        files = listed(tmp_path, "pod.json", POD, build.claim("claim", request))
        assert run(["simulate", "-f", files, "--from", cluster]) == 0
        return capsys.readouterr().out

    assert "It requests" not in page(build.request())
    assert "It requests" in page(build.request(selector=f'device.driver == "{DRIVER}"'))
    # The claim of a pod that exists has a name to look for.
    assert "It requests" in page_of(report_of(*IN_USE))
