"""A driver whose DaemonSet runs on no node: why nothing is published, and which labels would change that."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.devices.node_page import node_page
from kubectl_dra.reports.devices.nodes import node_report
from kubectl_dra.reports.pending import idle_daemons as module
from kubectl_dra.reports.pending.drivers import words_of
from kubectl_dra.reports.pending.idle_daemons import idle_daemons
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import CRASHING, POD, driver_pod, first_line, page_of, report_of

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
        "ResourceSlices with devices. DaemonSet example-dra/gpu-dra-plugin (the driver's, judging by its "
        "name) runs on no node: "
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


def test_labels_that_nodes_have_with_other_values_are_not_set() -> None:
    """``kubectl label`` refuses that, and whoever set them knows the hardware."""
    selecting = daemon_set(nodeSelector={"example.com/gpu.present": "true"})
    says_no = build.node("gpu-1", labels={**MARKED, "example.com/gpu.present": "false"})
    page = page_of(report_of(says_no, NODES[2], selecting, POD, build.claim("claim")))
    assert "kubectl label nodes gpu-2 example.com/gpu.present=true" in page
    assert "kubectl label" not in page_of(report_of(says_no, selecting, POD, build.claim("claim")))


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


# --- it runs, and not where it matters --------------------------------------------------------------------------------

WITH = {"example.com/gpu.present": "true", "pool": "a"}
SELECTING = daemon_set(nodeSelector={"example.com/gpu.present": "true"})
NAMED = "DaemonSet example-dra/gpu-dra-plugin (the driver's, judging by its name) runs on node-1 but not on node-2"


def plugin(node: str = "node-1") -> dict[str, Any]:
    made = driver_pod(f"gpu-dra-plugin-{node}", node, ready=True, state={"running": {}})
    made["metadata"]["namespace"] = "example-dra"
    return made


def unregistered(*others: dict[str, Any]) -> PendingReport:
    """A pod that is on node-2, with a device of the network."""
    words = (
        "Failed to prepare dynamic resources: prepare dynamic resources: DRA driver gpu.example.com is not registered"
    )
    pod, event = build.pod(claims=["claim"], node_name="node-2"), build.event("pod", "FailedPrepare", words)
    event["reason"] = "FailedPrepareDynamicResources"
    claim = build.claim("claim", held=[("net", "gpu-0")], by=["pod"])
    slice_ = build.slice_("node-1", build.device("gpu-0"), pool="net")
    return report_of(build.node(labels=WITH), slice_, pod, claim, event, plugin(), *others)


def test_a_driver_that_is_not_registered_runs_elsewhere_only() -> None:
    report = unregistered(build.node("node-2"), SELECTING)
    assert report.code is Code.DRIVER_NOT_REGISTERED
    assert first_line(report).endswith(f"{NAMED}, which does not match example.com/gpu.present=true.")
    page = page_of(report)
    assert "kubectl label nodes node-2 example.com/gpu.present=true" in page
    assert "plugins_registry" not in page


def test_a_node_that_it_selects_and_has_no_pod_on() -> None:
    report = unregistered(build.node("node-2", labels=WITH), SELECTING)
    assert first_line(report).endswith(f"{NAMED}, although it selects that node.")
    page = page_of(report)
    assert "kubectl describe daemonset/gpu-dra-plugin -n example-dra" in page
    assert "kubectl label" not in page


def test_a_pod_of_it_that_waits_may_be_the_one_for_that_node() -> None:
    waiting = plugin("node-2")
    del waiting["spec"]["nodeName"]
    waiting["status"] = {"phase": "Pending"}
    report = unregistered(build.node("node-2", labels=WITH), SELECTING, waiting)
    assert "although it selects that node" not in first_line(report)
    assert report.idle_daemon_sets == ()


@pytest.mark.parametrize(
    ("labels", "more"),
    [({"example.com/gpu.present": "false"}, {}), ({"kubernetes.io/arch": "amd64"}, {"kubernetes.io/arch": "arm64"})],
    ids=["it has another value", "another label is not to be set"],
)
def test_a_label_with_which_it_would_not_run_there_is_no_advice(labels: dict[str, str], more: dict[str, str]) -> None:
    selecting = daemon_set(nodeSelector={"example.com/gpu.present": "true", **more})
    report = unregistered(build.node("node-2", labels=labels), selecting)
    assert "which does not match example.com/gpu.present=true" in first_line(report)
    page = page_of(report)
    assert "kubectl label" not in page
    assert "then starts a pod there" not in page


def test_where_a_taint_keeps_it_away_as_well_both_are_told() -> None:
    tainted = build.node("node-2")
    tainted["spec"]["taints"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    report = unregistered(tainted, SELECTING)
    assert first_line(report).endswith(
        f"{NAMED}, which does not match example.com/gpu.present=true, and it does not tolerate "
        "dedicated=gpu:NoSchedule."
    )
    page = page_of(report)
    assert "or remove the taint. The node needs the label as well." in page
    assert "kubectl label nodes node-2 example.com/gpu.present=true" in page
    assert "then starts a pod there" not in page


def test_the_daemon_sets_of_a_driver_are_looked_for_once_for_all_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def counting(driver: str) -> Any:
        looked.append(driver)
        return words_of(driver)

    monkeypatch.setattr(module, "words_of", counting)
    objects = [build.node(), daemon_set(nodeSelector={"a": "b"}), POD, build.claim("claim"), build.device_class()]
    world = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    first = idle_daemons(found, (), world)
    assert first
    before = len(looked)
    assert idle_daemons(found, (), world) == first
    assert len(looked) == before


def test_where_it_has_a_pod_its_log_is_next() -> None:
    page = page_of(unregistered(build.node("node-2", labels=WITH), SELECTING, plugin("node-2")))
    assert "runs on node-1" not in page
    assert "kubectl logs pod/gpu-dra-plugin-node-2 -n example-dra" in page


def test_a_node_to_which_the_pod_is_bound_without_the_driver() -> None:
    tainted = build.node("node-2", labels={**WITH, "pool": "b"})
    tainted["spec"]["taints"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    pod = build.pod(claims=["claim"], nodeSelector={"pool": "b"}, tolerations=[{"operator": "Exists"}])
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    report = report_of(build.node(labels=WITH), tainted, slice_, SELECTING, plugin(), pod, build.claim("claim"))
    assert first_line(report).endswith(f"{NAMED}: it does not tolerate dedicated=gpu:NoSchedule.")
    assert "What usually helps: Add to the tolerations of the DaemonSet" in page_of(report)


def test_where_something_else_is_in_the_way_a_node_without_the_driver_is_beside_the_point() -> None:
    """node-1 has a free device and too few CPUs; nobody labels cpu-1, which may have no hardware."""
    objects = [build.node(labels=WITH, cpu="1"), build.node("cpu-1"), build.slice_("node-1", build.device("gpu-0"))]
    pod = build.pod(claims=["claim"], requests={"cpu": "2"})
    report = report_of(*objects, SELECTING, plugin(), pod, build.claim("claim"))
    assert first_line(report).startswith("Pod ml/pod is pending: node-1 has the device but only 1 CPU in all")
    assert "DaemonSet" not in first_line(report)
    assert "kubectl label" not in page_of(report)


def test_nodes_without_hardware_are_no_news_where_others_have_devices() -> None:
    held = build.claim("held", held=[("node-1", "gpu-0")], by=["other"])
    other = build.pod("other", claims=["held"], node_name="node-1", phase="Running")
    objects = [build.node(labels=WITH), build.node("cpu-1"), build.slice_("node-1", build.device("gpu-0"))]
    report = report_of(*objects, SELECTING, plugin(), held, other, POD, build.claim("claim"))
    assert report.idle_daemon_sets == ()


# --- it runs, and a taint keeps it off another node -------------------------------------------------------------------


def tainted_node(*taints: tuple[str, str, str], **labels: str) -> dict[str, Any]:
    made = build.node("node-2", labels={key.replace("_", "."): value for key, value in labels.items()})
    made["spec"]["taints"] = [{"key": key, "value": value, "effect": effect} for key, value, effect in taints]
    return made


DEDICATED = ("dedicated", "ml", "NoSchedule")
KEPT_OFF = (
    "Node node-2 publishes no devices of gpu.example.com: DaemonSet example-dra/gpu-dra-plugin (the driver's, "
    "judging by its name) does not tolerate its taint dedicated=ml:NoSchedule. If it has such devices, add to the "
    "tolerations of the DaemonSet (with the values of the driver's chart) {key: dedicated, operator: Equal, "
    'value: "ml", effect: NoSchedule}.'
)


def short_of_one(node: dict[str, Any], *others: dict[str, Any], **pod: Any) -> PendingReport:
    """A pod of two devices, and a node with one."""
    waiting, slice_ = build.pod(claims=["claim"], **pod), build.slice_("node-1", build.device("gpu-0"))
    two = build.claim("claim", build.request(count=2))
    return report_of(build.node(), node, slice_, plugin(), waiting, two, *others)


def test_a_taint_that_keeps_the_driver_off_a_node() -> None:
    marked = tainted_node(DEDICATED, example_com_gpu="yes")
    tolerating = short_of_one(marked, daemon_set(), tolerations=[{"operator": "Exists"}])
    assert page_of(tolerating).count(KEPT_OFF) == 1
    assert "as well" not in page_of(tolerating)
    assert f"{KEPT_OFF} The pod has to tolerate it as well." in page_of(short_of_one(marked, daemon_set()))


@pytest.mark.parametrize(
    ("node", "others"),
    [
        # Nothing tells that the node has the hardware.
        (tainted_node(DEDICATED), [daemon_set()]),
        # The state of a node, and its role, keep drivers off rightly.
        (tainted_node(("node.kubernetes.io/not-ready", "", "NoSchedule"), gpu="yes"), [daemon_set()]),
        (tainted_node(("node-role.kubernetes.io/control-plane", "", "NoSchedule"), gpu="yes"), [daemon_set()]),
        (tainted_node(("dedicated", "ml", "PreferNoSchedule"), gpu="yes"), [daemon_set()]),
        # It tolerates the taint, does not select the node, or runs there.
        (tainted_node(DEDICATED, gpu="yes"), [daemon_set(tolerations=[{"operator": "Exists"}])]),
        (tainted_node(DEDICATED, gpu="yes"), [daemon_set(nodeSelector={"pool": "a"})]),
        (tainted_node(DEDICATED, gpu="yes"), [daemon_set(), plugin("node-2")]),
        # Which of several is the driver's for that node is not known.
        (tainted_node(DEDICATED, gpu="yes"), [daemon_set(), daemon_set("gpu-dra-other")]),
    ],
)
def test_where_no_taint_keeps_the_driver_off(node: dict[str, Any], others: list[dict[str, Any]]) -> None:
    assert short_of_one(node, *others).idle_daemon_sets == ()


def test_what_selects_few_nodes_selects_those_with_the_hardware() -> None:
    both = [build.node(labels={"pool": "a"}), tainted_node(DEDICATED, pool="a")]
    slice_, two = build.slice_("node-1", build.device("gpu-0")), build.claim("claim", build.request(count=2))
    report = report_of(*both, slice_, plugin(), daemon_set(nodeSelector={"pool": "a"}), POD, two)
    assert [(each.tainted, each.more, each.pod_too) for each in report.idle_daemon_sets] == [(("node-2",), 0, True)]


def test_describe_node_says_it_of_any_node() -> None:
    objects = [build.node(), tainted_node(DEDICATED), build.slice_("node-1", build.device("gpu-0")), daemon_set()]
    world = ClusterState(facts.inventory([*objects, plugin()]), facts.evidence(), features(), CLOCK)
    told = " ".join(" ".join(node_page(node_report("node-2", world), CLOCK.now())).split())
    assert told.endswith(KEPT_OFF)
    assert "does not tolerate" not in " ".join(node_page(node_report("node-1", world), CLOCK.now()))


def test_the_toleration_of_one_that_runs_nowhere_is_spelled_out() -> None:
    pod = build.pod(claims=["claim"], tolerations=[{"operator": "Exists"}])
    told = page_of(report_of(tainted_node(("gpu", "", "NoSchedule")), daemon_set(), pod, build.claim("claim")))
    assert "(with the values of the driver's chart) {key: gpu, operator: Exists, effect: NoSchedule}, or remove" in told
