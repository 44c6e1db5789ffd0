"""An attribute that nothing publishes, with a name that is meant: what the pod would lack with that one."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.selectors.hidden import with_attribute
from tests.kit import build
from tests.output.pending.test_situations import DRIVER, POD, first_line, page_of, report_of

STILL = "With model in place of modle it would still not fit:"
ATTRIBUTES = f'device.attributes["{DRIVER}"]'


def gpu(name: str, model: str, numa: int) -> dict[str, Any]:
    return {"name": name, "attributes": {"model": {"string": model}, "numaNode": {"int": numa}}}


SLICE = build.slice_("node-1", gpu("gpu-0", "H100", 0), gpu("gpu-1", "L40", 1))
HELD = (
    build.claim("of-other", held=[("node-1", "gpu-0")], on="node-1", by=["other"]),
    build.pod("other", claims=["of-other"], node_name="node-1", phase="Running"),
)


def report_for(*objects: dict[str, Any], constraint: str = "", **request: Any) -> PendingReport:
    fields = {"constraints": [{"matchAttribute": constraint}]} if constraint else {}
    return report_of(build.node(), SLICE, POD, *objects, build.claim("claim", build.request(**request), **fields))


def test_a_value_that_no_device_has_under_the_corrected_name() -> None:
    report = report_for(selector=f'{ATTRIBUTES}.modle == "B200"')
    assert first_line(report).endswith("which no device publishes (it has model and numaNode; did you mean model?).")
    assert f"{STILL} no gpu.example.com device has model B200 (their model is " in page_of(report)


def test_the_device_that_the_corrected_name_selects_is_in_use() -> None:
    page = page_of(report_for(*HELD, selector=f'{ATTRIBUTES}.modle == "H100"'))
    assert f"{STILL} no node has a free H100 device: on node-1, the only one is in use (other)." in page
    assert "still not fit" not in page_of(report_for(selector=f'{ATTRIBUTES}.modle == "H100"'))


def test_a_guarded_name_and_one_in_a_constraint() -> None:
    guarded = f'"modle" in {ATTRIBUTES} && {ATTRIBUTES}.modle == "B200"'
    assert STILL in page_of(report_for(selector=guarded))
    page = page_of(report_for(count=2, constraint=f"{DRIVER}/numaNod"))
    told = f"With {DRIVER}/numaNode in place of {DRIVER}/numaNod it would still not fit: no node has 2 free"
    assert told in page


def test_a_template_is_not_said_to_have_changed_because_a_name_was_tried() -> None:
    wanted = build.request(selector=f'{ATTRIBUTES}.modle == "B200"')
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "gpus", "namespace": "ml"}}
    template["spec"] = {"spec": {"devices": {"requests": [wanted]}}}
    pod = build.pod(templates=["gpus"])
    pod["status"]["resourceClaimStatuses"] = [{"name": "gpus", "resourceClaimName": "pod-gpus-x"}]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": pod["metadata"]["uid"], "controller": True}
    made = build.claim("pod-gpus-x", wanted, metadata={"ownerReferences": [owner]})
    page = page_of(report_of(build.node(), SLICE, template, pod, made))
    assert STILL in page
    assert "has changed since" not in page


def test_a_name_that_some_devices_publish_is_no_mistake() -> None:
    other = {"name": "gpu-2", "attributes": {"modle": {"string": "B200"}, "numaNode": {"int": 0}}}
    more = (build.node("node-2"), build.slice_("node-2", other))
    page = page_of(report_for(*more, selector=f'{ATTRIBUTES}.modle == "B200"'))
    assert "DRA-310" in page
    assert "still not fit" not in page


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f'{ATTRIBUTES}.modle == "x"', f'{ATTRIBUTES}.model == "x"'),
        (f'{ATTRIBUTES}["modle"] == "x"', f'{ATTRIBUTES}["model"] == "x"'),
        (f'"modle" in {ATTRIBUTES}', f'"model" in {ATTRIBUTES}'),
        ('device.attributes["other.example.com"].modle == 1', 'device.attributes["other.example.com"].modle == 1'),
        ("device.attributes[", "device.attributes["),
    ],
)
def test_an_attribute_by_another_name(expression: str, expected: str) -> None:
    assert with_attribute(expression, DRIVER, "modle", "model") == expected
