"""A driver whose DaemonSet runs on no node: why nothing is published, and which labels would change that."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import build
from tests.output.pending.test_situations import CRASHING, POD, first_line, page_of, report_of

MARKED = {"cloud.example.org/accelerator": "example-a"}


def daemon_set(name: str = "gpu-dra-plugin", namespace: str = "example-dra", **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main"}], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "uid": f"daemonset-{name}"},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template},
    }


def wanting(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": [{"matchExpressions": [term]} for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


FEATURE = {"key": "feature.node.kubernetes.io/pci-10de.present", "operator": "In", "values": ["true"]}
PRESENT = {"key": "example.com/gpu.present", "operator": "In", "values": ["true"]}
NODES = (build.node("cpu-1"), build.node("gpu-1", labels=MARKED), build.node("gpu-2", labels=MARKED))


def test_the_labels_that_its_daemon_set_wants_are_why_nothing_is_published() -> None:
    report = report_of(*NODES, daemon_set(**wanting(FEATURE, PRESENT)), POD, build.claim("claim"))
    assert first_line(report) == (
        "Pod ml/pod is pending: no driver publishes devices for class gpu.example.com: there are no "
        "ResourceSlices with devices. DaemonSet example-dra/gpu-dra-plugin, by its name the driver's, runs on no node: "
        "no node matches feature.node.kubernetes.io/pci-10de.present=true or example.com/gpu.present=true."
    )
    page = page_of(report)
    # The label that no other program owns, of the nodes that have one with a word of the driver's name.
    assert "kubectl label nodes gpu-1 gpu-2 example.com/gpu.present=true" in page
    assert "cloud.example.org/accelerator=example-a" in page
    assert "publish one more device" not in page


def test_of_nodes_that_nothing_tells_apart_none_is_named() -> None:
    selecting = daemon_set(nodeSelector={"example.com/gpu.present": "true"})
    page = page_of(report_of(build.node(), selecting, POD, build.claim("claim")))
    assert "kubectl label nodes NODE example.com/gpu.present=true" in page


def test_taints_that_it_does_not_tolerate() -> None:
    tainted = build.node()
    tainted["spec"]["taints"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    pod = build.pod(claims=["claim"], tolerations=[{"operator": "Exists"}])
    report = report_of(tainted, daemon_set(), pod, build.claim("claim"))
    assert "runs on no node: it does not tolerate dedicated=gpu:NoSchedule of node-1." in first_line(report)
    assert "kubectl label" not in page_of(report)


@pytest.mark.parametrize(
    "others",
    [
        (daemon_set(),),
        (daemon_set(nodeSelector={"a": "b"}), daemon_set("gpu-dra-driver")),
        (daemon_set("gpu-dra-plugin", "other-vendor", nodeSelector={"a": "b"}),),
        (daemon_set(nodeSelector={"a": "b"}), CRASHING),
    ],
    ids=["it runs", "another of the driver runs", "another's", "a pod of it exists"],
)
def test_a_daemon_set_that_is_not_why(others: tuple[dict[str, Any], ...]) -> None:
    report = report_of(build.node(), *others, POD, build.claim("claim"))
    assert report.idle_daemon_sets == ()
    assert "runs on no node" not in page_of(report)
