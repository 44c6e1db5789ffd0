"""An extended resource that one node offers by a device plugin, and another by the devices of a class."""

from __future__ import annotations

from typing import Any

from kubectl_dra.diagnosis.codes import Code
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

GPU = "example.com/gpu"
CLASS = build.device_class(extendedResourceName=GPU)
DEVICES = build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(4)))
HELD = build.claim("trio", held=[("node-1", f"gpu-{number}") for number in range(3)], on="node-1", by=["trainer"])
TRAINER = build.pod("trainer", claims=["trio"], node_name="node-1", phase="Running")
POD = build.pod(requests={GPU: "2"})
BY_CLASS = (CLASS, build.node(), DEVICES, HELD, TRAINER, POD)


def plugin_node(name: str, offered: int, **used: int) -> list[dict[str, Any]]:
    """A node with a device plugin, and the pods that use so many of its devices."""
    pods = [build.pod(pod, node_name=name, phase="Running", requests={GPU: str(n)}) for pod, n in used.items()]
    return [build.node(name, **{GPU: str(offered)}), *pods]


def test_both_kinds_of_nodes_are_in_the_first_line_with_who_holds_their_devices() -> None:
    report = report_of(*BY_CLASS, *plugin_node("plugin-1", 4, serve=1, train=3))
    assert report.code is Code.DEVICES_IN_USE
    assert first_line(report) == (
        "Pod ml/pod is pending: no node has 2 free gpu.example.com devices. Closest: node-1, with 1 of 2: 3 of 4 are "
        "in use (trainer). plugin-1, which offers example.com/gpu by a device plugin, has none free (in use by "
        "ml/train: 3, ml/serve)."
    )
    assert "Ruled out earlier" not in page_of(report)


def test_some_that_are_free_there_and_nodes_that_never_had_enough_are_told_apart() -> None:
    some = first_line(report_of(*BY_CLASS, *plugin_node("plugin-1", 4, train=3)))
    assert some.endswith("by a device plugin, has only 1 of 2 free (in use by ml/train: 3).")
    few = first_line(report_of(*BY_CLASS, *plugin_node("plugin-1", 1)))
    assert few.endswith("by a device plugin, has only 1 in all.")


def test_devices_that_a_driver_publishes_beside_a_device_plugin_may_be_the_same() -> None:
    """They look free, and the scheduler gives none of them to a pod that requests the resource."""
    beside = build.slice_("plugin-1", *(build.device(f"gpu-{number}") for number in range(4)))
    nodes = plugin_node("plugin-1", 4, train=4)
    told = "; devices that a DRA driver publishes there, which may be the same, do not serve it."
    line = first_line(report_of(*BY_CLASS, *nodes, beside))
    assert line.endswith(f"by a device plugin, has none free (in use by ml/train: 4){told}")
    assert "DRA driver" not in first_line(report_of(*BY_CLASS, *nodes))


def test_of_several_nodes_alike_no_users_are_named() -> None:
    nodes = [*plugin_node("plugin-1", 2, a=2), *plugin_node("plugin-2", 2, b=2)]
    line = first_line(report_of(*BY_CLASS, *nodes))
    assert line.endswith("plugin-1 and plugin-2, which offer example.com/gpu by a device plugin, have none free.")


def test_what_only_a_device_plugin_offers_names_its_users_too() -> None:
    report = report_of(POD, *plugin_node("plugin-1", 4, train=4))
    assert first_line(report) == (
        "Pod ml/pod is pending: plugin-1 has no free example.com/gpu (2 requested; in use by ml/train: 4)."
    )


def test_of_nodes_that_are_ruled_out_only_those_with_devices_of_the_class_have_the_devices() -> None:
    tainted, other = build.node(), build.node("node-2")
    tainted["spec"] = {"taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]}
    other["spec"] = {"taints": [{"key": "system", "effect": "NoSchedule"}]}
    line = first_line(report_of(CLASS, tainted, other, DEVICES, POD))
    assert "node-1 has the devices but has the taint sku=gpu:NoSchedule" in line
    assert "node-2" not in line


def test_of_a_node_with_a_device_plugin_alone_nothing_is_said_of_devices() -> None:
    """node-1 has free devices and no pod slots; what plugin-1 offers are no devices that may be free."""
    node = build.node(pods="1")
    report = report_of(CLASS, node, DEVICES, build.pod("log", node_name="node-1", phase="Running"), POD)
    assert "node-1 has the devices but no pod slots left" in first_line(report)
    both = report_of(
        CLASS,
        node,
        DEVICES,
        build.pod("log", node_name="node-1", phase="Running"),
        POD,
        *plugin_node("plugin-1", 2, a=2),
    )
    assert "plugin-1 has no free example.com/gpu (2 requested; in use by ml/a: 2)" in first_line(both)
    assert "not known" not in page_of(both)
