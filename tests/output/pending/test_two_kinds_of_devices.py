"""An extended resource whose nodes are full, while a class has the same hardware free on others."""

from __future__ import annotations

import json

from kubectl_dra.diagnosis.remedies.records import EXTENDED_NAME, EditClass, EditPod
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

GPU = "example.com/gpu"
FULL = build.node("plugin-1", **{GPU: "2"})
TAKING = build.pod("other", node_name="plugin-1", phase="Running", requests={GPU: "2"})
POD = build.pod(requests={GPU: "2"})
FREE = build.slice_("node-1", build.device("a"), build.device("b"))


def report_with(*objects: dict) -> PendingReport:  # type: ignore[type-arg]
    return report_of(FULL, build.node(), TAKING, POD, *objects)


def test_only_nodes_that_offer_a_resource_have_none_free() -> None:
    line = first_line(report_with())
    assert "plugin-1 has no free example.com/gpu (2 requested; in use by ml/other: 2)" in line
    assert "node-1 has no example.com/gpu at all (2 requested)" in line


def test_a_class_may_serve_the_resource_from_its_free_devices() -> None:
    report = report_with(FREE)
    line = first_line(report)
    assert line.endswith(f"enough free gpu.example.com devices, but no DeviceClass has the extendedResourceName {GPU}.")
    way = next(way for way in report.remedies if isinstance(way.actions[0], EditClass))
    assert (way.verified, way.nodes) == (True, ("node-1",))
    assert way.actions[0] == EditClass(build.DRIVER, EXTENDED_NAME, "", GPU)


def test_a_claim_of_the_class_takes_the_place_of_the_resource() -> None:
    report = report_with(FREE)
    way = next(way for way in report.remedies if isinstance(way.actions[-1], EditPod))
    assert (way.verified, way.nodes) == (True, ("node-1",))
    template, pod = way.steps
    assert template.manifest is not None
    (request,) = template.manifest["spec"]["spec"]["devices"]["requests"]
    assert (request["exactly"]["deviceClassName"], request["exactly"]["count"]) == (build.DRIVER, 2)
    patch = json.loads(next(word for word in pod.commands[0] if word.startswith("[")))
    assert [(each["op"], each["path"]) for each in patch] == [
        ("remove", "/spec/containers/0/resources/requests/example.com~1gpu"),
        ("add", "/spec/containers/0/resources/claims"),
        ("add", "/spec/resourceClaims"),
    ]
    assert patch[-1]["value"] == [{"name": "devices", "resourceClaimTemplateName": "pod-gpu"}]
    assert 'create the ResourceClaimTemplate "pod-gpu" with 2 devices' in page_of(report)


def test_neither_is_said_where_the_class_has_too_few_devices() -> None:
    report = report_with(build.slice_("node-1", build.device("a")))
    assert not any(isinstance(action, EditClass | EditPod) for way in report.remedies for action in way.actions)
    assert "extendedResourceName" not in page_of(report)


def test_a_class_of_another_vendor_is_no_answer() -> None:
    others = build.device_class("gpu.other.com"), build.device_class()
    actions = [action for way in report_with(FREE, *others).remedies for action in way.actions]
    assert [action.device_class for action in actions if isinstance(action, EditClass)] == [build.DRIVER]
