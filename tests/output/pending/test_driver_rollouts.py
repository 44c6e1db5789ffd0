"""Drivers that are being replaced node by node: what is not published meanwhile, and what stops a rollout."""

from __future__ import annotations

from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.devices.node_page import node_page
from kubectl_dra.reports.capacity.capacity import CapacityRequest, capacity_report
from kubectl_dra.reports.devices.nodes import node_report
from kubectl_dra.reports.pending.failing_pods import failing_among
from kubectl_dra.reports.pending.pending import pending_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_idle_daemons import daemon_set
from tests.output.pending.test_situations import POD, SLICE, driver_pod, first_line, page_of, report_of

NS = "gpu-dra-driver"
TAKEN = build.claim("theirs", held=[("node-1", "gpu-0"), ("node-1", "gpu-1")], by=["theirs"])
THEIRS = build.pod("theirs", claims=["theirs"], node_name="node-1", phase="Running")
CLUSTER = [build.node(), SLICE, TAKEN, THEIRS, POD, build.claim("claim")]
CRASH = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}
INITIALIZING = {"waiting": {"reason": "PodInitializing"}}


def cordoned(name: str) -> dict[str, Any]:
    node = build.node(name)
    return node | {"spec": {**node.get("spec", {}), "unschedulable": True}}


def member(name: str, node: str, template: str, created: str, **status: Any) -> dict[str, Any]:
    """A pod of the driver's DaemonSet, of one of its templates."""
    pod = driver_pod(name, node, **status)
    pod["metadata"] |= {"labels": {"controller-revision-hash": template}, "creationTimestamp": created}
    return pod


def starting(node: str = "node-2") -> dict[str, Any]:
    pod = driver_pod("gpu-dra-plugin-new", node, state=INITIALIZING)
    first = {"name": "driver-manager", "ready": False, "state": {"running": {}}}
    return pod | {"status": {**pod["status"], "phase": "Pending", "initContainerStatuses": [first]}}


def updated(number: int) -> dict[str, Any]:
    status = {"desiredNumberScheduled": 3, "updatedNumberScheduled": number, "observedGeneration": 2}
    return daemon_set(namespace=NS) | {"status": status}


def told_of(name: str, *objects: dict[str, Any]) -> str:
    state = ClusterState(facts.inventory([build.device_class(), *objects]), facts.evidence(), features(), CLOCK)
    return " ".join(" ".join(node_page(node_report(name, state), CLOCK.now())).split())


def test_a_cordoned_node_whose_driver_is_starting_has_the_devices_soon() -> None:
    """As where an operator replaces the kernel module: it cordons the node, and nothing is published meanwhile."""
    report = report_of(*CLUSTER, cordoned("node-2"), starting())
    assert report.code is Code.DEVICES_IN_USE
    told = "node-2, which is cordoned, publishes no devices yet: the driver is still starting there (PodInitializing)"
    assert told in first_line(report)
    page = page_of(report)
    assert "gpu-dra-driver/gpu-dra-plugin-new" in page
    assert "kubectl describe pod/gpu-dra-plugin-new -n gpu-dra-driver" in page
    assert "is still starting (PodInitializing)" in told_of("node-2", *CLUSTER, cordoned("node-2"), starting())


def test_a_node_that_is_only_starting_its_driver_is_told_of_as_well() -> None:
    line = first_line(report_of(*CLUSTER, build.node("node-2"), starting()))
    assert line.endswith(". node-2 publishes no devices yet: the driver is still starting there (PodInitializing).")


def test_a_driver_whose_first_container_crashes_is_not_starting() -> None:
    pod = starting()
    pod["status"]["initContainerStatuses"] = [{"name": "driver-manager", "ready": False, "state": CRASH}]
    assert "still starting" not in page_of(report_of(*CLUSTER, cordoned("node-2"), pod))


def test_a_driver_that_starts_on_a_node_with_devices_or_kept_off_for_another_reason_is_not_waited_for() -> None:
    assert "still starting" not in page_of(report_of(*CLUSTER, starting("node-1")))
    tainted = build.node("node-2")
    tainted["spec"] = {**tainted.get("spec", {}), "taints": [{"key": "dedicated", "effect": "NoSchedule"}]}
    assert "still starting" not in page_of(report_of(*CLUSTER, tainted, starting()))


def test_a_rollout_that_stands_because_the_new_driver_crashes_is_told_with_the_way_back() -> None:
    old = member("gpu-dra-plugin-old", "node-1", "a", "2026-01-01T00:00:00Z", ready=True, state={"running": {}})
    new = member("gpu-dra-plugin-new", "node-2", "b", "2026-01-01T00:03:00Z", restartCount=4, state=CRASH)
    objects = [*CLUSTER, build.node("node-2"), old, new, updated(1)]
    report = report_of(*objects)
    assert "On node-2 the driver does not run since its update (CrashLoopBackOff)" in first_line(report)
    page = page_of(report)
    assert "DaemonSet gpu-dra-driver/gpu-dra-plugin is being updated: 1 of 3 pods have its new template" in page
    assert "kubectl rollout undo daemonset/gpu-dra-plugin -n gpu-dra-driver" in page
    node = told_of("node-2", *objects)
    assert "1 of 3 pods have its new template" in node
    assert "kubectl rollout undo daemonset/gpu-dra-plugin -n gpu-dra-driver" in node


def test_a_pod_of_the_old_template_that_crashes_and_a_finished_rollout_have_no_way_back() -> None:
    old = member("gpu-dra-plugin-old", "node-2", "a", "2026-01-01T00:00:00Z", restartCount=4, state=CRASH)
    new = member("gpu-dra-plugin-new", "node-1", "b", "2026-01-01T00:03:00Z", ready=True, state={"running": {}})
    objects = [*CLUSTER, build.node("node-2"), old, new]
    for rollout in (updated(1), updated(3)):
        page = page_of(report_of(*objects, rollout))
        assert "On node-2 the driver does not run (CrashLoopBackOff)" in page
        assert "rollout undo" not in page


class Counted(dict[Key, Pod]):
    """Pods, and how often somebody went through all of them."""

    passes = 0

    def values(self) -> Any:
        self.passes += 1
        return super().values()


def test_the_newest_pod_of_a_rollout_is_searched_once_for_all_that_crash() -> None:
    many = [member(f"new-{n}", "node-2", "b", "2026-01-01T00:03:00Z", restartCount=4, state=CRASH) for n in range(5)]
    inventory = facts.inventory([*many, updated(1)])
    pods = Counted(inventory.pods)
    refs = [ObjectRef.of("Pod", key) for key in pods]
    found = failing_among(refs, inventory.replace(pods=pods))
    assert [each.rollout is not None for each in found] == [True] * 5
    assert pods.passes == 1


def test_a_rollout_that_goes_on_meanwhile_is_told_as_it_is_now() -> None:
    old = member("gpu-dra-plugin-old", "node-1", "a", "2026-01-01T00:00:00Z", ready=True, state={"running": {}})
    new = member("gpu-dra-plugin-new", "node-2", "b", "2026-01-01T00:03:00Z", restartCount=4, state=CRASH)
    inventory = facts.inventory([build.device_class(), *CLUSTER, build.node("node-2"), old, new, updated(1)])
    state = ClusterState(inventory, facts.evidence(), features(), CLOCK)
    assert _updated(state) == [1]
    later = inventory.replace(workloads=facts.inventory([updated(2)]).workloads)
    assert _updated(state.later(later, state.evidence)) == [2]


def _updated(state: ClusterState) -> list[int]:
    report = pending_report(Diagnoser(state).pod(Key(build.NAMESPACE, "pod")), state)
    return [each.rollout.updated for each in report.failing if each.rollout is not None]


def test_capacity_names_the_nodes_whose_driver_does_not_run() -> None:
    crashing = driver_pod("gpu-dra-plugin-x", "node-2", restartCount=4, state=CRASH)
    objects = [build.device_class(), *CLUSTER, build.node("node-2"), crashing]
    state = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    report = capacity_report(state, CapacityRequest(build.DRIVER), build.NAMESPACE)
    told = " ".join(" ".join(capacity_page(report, HERE)).split())
    assert "On node-2 the driver does not run (CrashLoopBackOff)." in told
