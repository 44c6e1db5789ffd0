"""One machine under two node names: the Node that is left over keeps pods and devices until somebody deletes it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import build
from tests.output.pending.test_driver_rollouts import told_of
from tests.output.pending.test_situations import first_line, page_of, report_of

UUIDS = ("GPU-0", "GPU-1")


def published(node: str, *uuids: str, name: str = "uuid") -> dict[str, Any]:
    devices = [build.device(f"gpu-{number}", attributes={name: uuid}) for number, uuid in enumerate(uuids)]
    return build.slice_(node, *devices)


def silent(name: str) -> dict[str, Any]:
    node = build.node(name)
    condition = {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return node | {"status": {**node["status"], "conditions": [condition]}}


def stuck() -> list[dict[str, Any]]:
    """A pod on the old node that should have ended, with one of its devices."""
    pod = build.pod(claims=["claim"], node_name="old", phase="Running")
    pod["metadata"] |= {"deletionTimestamp": "2026-01-01T00:01:00Z", "deletionGracePeriodSeconds": 30}
    return [pod, build.claim("claim", held=[("old", "gpu-0")], by=["pod"], on="old")]


OLD = [silent("old"), published("old", *UUIDS), *stuck()]


@pytest.mark.parametrize("name", ["uuid", "gpu.example.com/uuid", "UUID"])
def test_a_node_whose_devices_another_one_publishes_is_left_over(name: str) -> None:
    objects = [silent("old"), published("old", *UUIDS, name=name), *stuck()]
    objects += [build.node("new"), published("new", *UUIDS, name=name)]
    report = report_of(*objects)
    assert "its machine probably runs as new now" in first_line(report)
    page = page_of(report)
    assert "Delete the Node old, if its machine runs as new now" in page
    assert "kubectl delete node/old" in page
    told = told_of("old", *objects)
    assert (
        "new publishes the same devices as old (by their uuid): probably its machine was reinstalled under that" in told
    )
    assert "kubectl delete node/old" in told
    # The one that is ready is not to be deleted.
    told = told_of("new", *objects)
    assert "old publishes the same devices as new" in told
    assert "kubectl delete node" not in told


def ready(name: str) -> dict[str, Any]:
    node = build.node(name)
    return node | {"status": {**node["status"], "conditions": [{"type": "Ready", "status": "True"}]}}


def test_two_nodes_that_are_both_ready_are_no_reinstalled_machine() -> None:
    """As nodes of kind, which are containers of one machine and all see its GPUs."""
    objects = [ready("a"), published("a", *UUIDS), ready("b"), published("b", *UUIDS)]
    told = told_of("a", *objects)
    assert "b publishes the same devices as a (by their uuid): the scheduler may allocate each of them twice" in told
    assert "reinstalled" not in told
    assert "kubectl delete node" not in told


def test_other_devices_and_slices_of_nodes_that_are_gone_tell_nothing() -> None:
    for others in (
        [build.node("new"), published("new", "GPU-2", "GPU-3")],
        [published("new", *UUIDS)],
        [build.node("new"), build.slice_("new", build.device("gpu-0"))],
    ):
        page = page_of(report_of(*OLD, *others))
        assert "Bring node old back" in page
        assert "same devices" not in page


def test_a_uuid_that_many_nodes_publish_is_not_of_hardware() -> None:
    """As of drivers that pretend to have devices, which publish the same ones on each node of a large cluster."""
    many = [f"node-{number}" for number in range(21)]
    objects = [each for name in many for each in (ready(name), published(name, *UUIDS))]
    assert "the same devices" not in told_of("node-0", *objects)
    assert "the same devices" in told_of("node-0", *objects[:40])
