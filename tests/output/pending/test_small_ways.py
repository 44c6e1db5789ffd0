"""Smaller findings of a judge: numbers that were missing, ways out that nobody takes, things told twice."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.remedies.records import CreateObject, EditClaim, EditPod
from kubectl_dra.output.pending.page import pending_page
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import DRIVER, POD, SLICE, first_line, page_of, report_of


def test_all_of_more_devices_than_a_claim_can_hold_says_how_many_there_are() -> None:
    devices = [build.device(f"vf-{number}") for number in range(40)]
    wish = {"name": "gpu", "exactly": {"deviceClassName": DRIVER, "allocationMode": "All"}}
    report = report_of(build.node(), build.slice_("node-1", *devices), POD, build.claim("claim", wish))
    assert report.code is Code.TOO_MANY_DEVICES
    told = "claim ml/claim requests 40 devices, and a claim can hold at most 32, which ends every scheduling attempt"
    assert told in first_line(report)
    (way, *_) = report.remedies or ()
    assert way.verified
    (edit,) = way.actions
    assert isinstance(edit, EditClaim)
    assert (edit.field, edit.after) == ("allocationMode", "ExactCount 32")


def extended(resource: str, *classes: dict[str, Any]) -> Any:
    pod = build.pod(requests={resource: "1"})
    return report_of(build.node(), build.slice_("node-1", build.device("gpu-0")), *classes, pod)


def test_nobody_makes_a_class_for_the_name_of_a_resource_that_was_typed_wrong() -> None:
    served = build.device_class("mig", extendedResourceName="example.com/mig-1g10gb")
    report = extended("example.com/mig-1g.10gb", served)
    actions = [action for way in report.remedies or () for action in way.actions]
    assert [type(each) for each in actions] == [EditPod]
    # The name is told once, and in the way out.
    assert page_of(report).count("that exist") == 0
    # Without one like it a class can serve what was asked for.
    other = extended("example.com/tpu", served)
    assert any(isinstance(a, CreateObject) for way in other.remedies or () for a in way.actions)
    assert "extended resource that exists: example.com/mig-1g10gb" in page_of(other)


def test_nodes_without_the_class_are_not_listed_where_no_table_leaves_them_out() -> None:
    wish = build.request(selector=f'device.attributes["{DRIVER}"].model == "B"')
    nodes = [build.node("node-1"), build.node("cpu-1")]
    slice_ = build.slice_("node-1", build.device("a", attributes={"model": "A"}))
    report = report_of(*nodes, slice_, POD, build.claim("claim", wish))
    assert report.code is Code.SELECTOR_MATCHES_NOTHING
    assert "No device of the class" not in page_of(report)


def test_what_a_scheduler_may_have_written_is_no_advice_where_it_wrote_nothing() -> None:
    pod = {**POD, "spec": {**POD["spec"], "schedulerName": "volcano"}}
    page = page_of(report_of(build.node(), build.slice_("node-1", build.device("a")), pod, build.claim("claim")))
    assert "supports dynamic resource allocation" in page
    assert "Where it has written a message" not in page


@pytest.mark.parametrize("name", ["model", f"{DRIVER}/model"])
def test_a_device_of_another_model_is_what_a_request_for_different_ones_lacks(name: str) -> None:
    devices = [build.device(each, attributes={name: "A100"}) for each in ("gpu-0", "gpu-1")]
    different = [{"distinctAttribute": f"{DRIVER}/model"}]
    claim = build.claim("claim", build.request(count=2), constraints=different)
    report = report_of(build.node(), build.slice_("node-1", *devices), POD, claim)
    assert report.code is Code.CONSTRAINT
    assert "add hardware: 1 more device like gpu-0 on node-1, of another model" in page_of(report)


@pytest.mark.parametrize(("third", "dropped"), [(DRIVER, ["c"]), ("other", [])])
def test_requests_that_are_to_differ_in_more_values_than_there_are(third: str, dropped: list[str]) -> None:
    """One fewer of requests that say the same is a way out, as a smaller count is; another one is wanted for itself."""
    devices = [build.device(f"gpu-{number}", attributes={"model": "AB"[number % 2]}) for number in range(6)]
    requests = [build.request("a"), build.request("b"), build.request("c", cls=third)]
    claim = build.claim("claim", *requests, constraints=[{"distinctAttribute": f"{DRIVER}/model"}])
    classes = [build.device_class(), build.device_class("other")]
    report = report_of(build.node(), build.slice_("node-1", *devices), *classes, POD, claim)
    assert "3 different values are needed, and on node-1 6 free devices have 2: A and B." in first_line(report)
    edits = [each for way in report.remedies or () for each in way.actions if isinstance(each, EditClaim)]
    assert [each.before for each in edits if each.field == "requests"] == dropped


def test_a_missing_object_stands_on_the_page_as_a_shell_takes_it(tmp_path: Path) -> None:
    lines = [str(line) for line in pending_page(report_of(build.node(), SLICE, POD), CLOCK.now())]
    start = lines.index("Commands:")
    end = lines.index("EOF")
    sent = tmp_path / "sent.yaml"
    fake = f"kubectl() {{ cat > {sent}; }}\nCONTEXT=x\n"
    subprocess.run(["bash", "-euc", fake + "\n".join(lines[start + 1 : end + 1])], check=True)
    made = yaml.safe_load(sent.read_text(encoding="utf-8"))
    assert (made["kind"], made["metadata"]["name"]) == ("ResourceClaim", "claim")
