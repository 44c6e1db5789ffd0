"""A pod that should have ended holds the devices: since when, what was reported, and what does not run there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import POD, driver_pod, page_of, report_of

WHY = "NodeUnprepareResources failed for ResourceClaim held: connection refused"


def stamp(minutes: int) -> str:
    return (CLOCK.now() - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def cluster(*others: dict[str, Any], due: int = 30, finalizers: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    old = build.pod("old", claims=["held"], node_name="node-1", phase="Running")
    old["metadata"] |= {"deletionTimestamp": stamp(due), "finalizers": list(finalizers)}
    held = build.claim("held", held=[("node-1", "gpu-0")], by=["old"])
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    return [build.node(), slice_, old, held, POD, build.claim("claim"), *others]


def plain_page(objects: list[dict[str, Any]]) -> str:
    return " ".join(page_of(report_of(*objects)).replace("\x1b[1m", "").replace("\x1b[0m", "").split())


def test_since_when_and_what_the_kubelet_reported() -> None:
    crashing = driver_pod(restartCount=4, state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})
    event = build.event("old", "FailedUnprepareDynamicResources", WHY, time=stamp(5))
    page = plain_page(cluster(crashing, event))
    assert f"Pod old should have ended 30m ago, but FailedUnprepareDynamicResources was reported: {WHY}." in page
    assert "The failure to end it was reported last 5m ago." in page
    assert "The driver's pod gpu-dra-driver/gpu-dra-plugin-x7k2p there: CrashLoopBackOff, 4 restarts." in page
    assert "kubectl logs pod/gpu-dra-plugin-x7k2p -n gpu-dra-driver --all-containers --previous" in page
    assert "kubectl describe pod/old" not in page


def test_a_driver_that_does_not_run_is_why_where_nothing_was_reported() -> None:
    crashing = driver_pod(restartCount=4, state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})
    page = plain_page(cluster(crashing))
    assert "Pod old should have ended 30m ago, and the driver does not run on node-1 (CrashLoopBackOff)." in page
    assert "kubectl describe pod/old -n ml" in page


def test_the_log_of_a_driver_that_runs_is_next() -> None:
    running = driver_pod(ready=True, state={"running": {}})
    page = plain_page(cluster(running, build.event("old", "FailedKillPod", WHY, time=stamp(5))))
    assert "kubectl logs pod/gpu-dra-plugin-x7k2p -n gpu-dra-driver --all-containers --since=1h" in page
    assert "The driver's pod" not in page


def test_a_finalizer_keeps_the_object() -> None:
    page = plain_page(cluster(finalizers=("example.com/drain",)))
    assert "Its finalizer example.com/drain keeps the object of the pod, not its devices." in page
    assert "kubectl describe pod/old -n ml" in page


@pytest.mark.parametrize("reason", ["Unhealthy", "FailedScheduling"])
def test_what_was_reported_of_its_life_is_not_why(reason: str) -> None:
    page = plain_page(cluster(build.event("old", reason, "readiness probe failed", time=stamp(50))))
    assert "Pod old should have ended 30m ago." in page
    assert reason not in page


def test_a_pod_whose_time_is_not_over_is_only_waited_for() -> None:
    page = plain_page(cluster(build.event("old", "FailedKillPod", WHY, time=stamp(0)), due=-1))
    assert "should have ended" not in page
    assert "wait for pod ml/old" in page


def test_a_pod_without_a_node_has_nothing_to_end() -> None:
    objects = cluster(finalizers=("example.com/drain",))
    (old,) = (each for each in objects if each["metadata"]["name"] == "old")
    del old["spec"]["nodeName"]
    old["status"]["phase"] = "Pending"
    page = plain_page(objects)
    assert "should have ended" not in page
    assert "the kubelet and the driver" not in page


def test_a_pod_of_another_namespace_is_named_with_it() -> None:
    objects = cluster()
    for each in objects:
        if each["metadata"]["name"] in ("old", "held"):
            each["metadata"]["namespace"] = "other"
    assert "Pod other/old should have ended 30m ago." in plain_page(objects)


def leaving(
    status: str, *others: dict[str, Any], published: str = "node-1", withheld: tuple[str, ...] = (), **metadata: Any
) -> str:
    """The page of a pod that should have ended half an hour ago, on a node whose kubelet says so, or nothing.

    ``published``: the node that the driver publishes devices of.
    """
    node = build.node()
    node["status"]["conditions"] = [{"type": "Ready", "status": status, "lastTransitionTime": stamp(38)}]
    pod = build.pod("pod", claims=["claim"], node_name="node-1", phase="Running")
    pod["metadata"] |= {"deletionTimestamp": stamp(30), **metadata}
    pod["spec"]["nodeName"] = "node-1"
    held = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
    objects = [node, build.slice_(published, build.device("gpu-0")), pod, held, *others]
    return " ".join(
        page_of(report_of(*objects, withheld=withheld)).replace("\x1b[1m", "").replace("\x1b[0m", "").split()
    )


def test_a_pod_on_a_node_that_cannot_be_reached_says_both_times_and_what_removes_it() -> None:
    page = leaving("Unknown")
    told = "Pod ml/pod should have ended 30m ago, but the kubelet of its node node-1 has not reported for 38m."
    assert page.startswith(told)
    assert "Bring node node-1 back: its kubelet then ends the pod." in page
    assert "Only if that machine is certainly off" in page
    assert "kubectl taint nodes node-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" in page
    assert "kubectl delete pod/pod -n ml --force --grace-period=0" in page


def test_a_node_that_reports_loses_nothing_by_force() -> None:
    for status in ("True", "False"):
        page = leaving(status)
        assert page.startswith("Pod ml/pod should have ended 30m ago and is still there.")
        assert "--force" not in page
        assert "out-of-service" not in page


def test_why_a_pod_does_not_end_is_said_on_its_own_page() -> None:
    crashing = driver_pod(restartCount=4, state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}})
    said = build.event("pod", "FailedKillPod", WHY, time=stamp(5))
    page = leaving("True", crashing, said)
    assert page.startswith(f"Pod ml/pod should have ended 30m ago, but FailedKillPod was reported: {WHY}.")
    assert "kubectl logs pod/gpu-dra-plugin-x7k2p -n gpu-dra-driver --all-containers --previous" in page
    assert page.count("CrashLoopBackOff") == 1
    assert "once it runs, the kubelet ends the pod by itself" in page


def test_a_driver_that_publishes_the_devices_no_longer_is_waited_for_by_the_kubelet() -> None:
    page = leaving("True", published="node-2")
    assert page.startswith(
        "Pod ml/pod should have ended 30m ago, but driver gpu.example.com, which has to release its devices, publishes "
        "them no longer and seems not to run on node-1."
    )
    assert "Get driver gpu.example.com running on node-1 again" in page
    assert "kubectl get pods -A -o wide --field-selector spec.nodeName=node-1" in page
    told = "Only if that driver is gone for good"
    assert page.index(told) < page.index("kubectl delete pod/pod -n ml --force --grace-period=0")
    for other in (
        leaving("True", published="node-2", withheld=("ResourceSlice",)),
        leaving("Unknown", published="node-2"),
        leaving("True", build.event("pod", "FailedKillPod", WHY, time=stamp(5)), published="node-2"),
    ):
        assert "no longer" not in other
        assert told not in other


def test_a_finalizer_alone_keeps_the_words_about_finalizers() -> None:
    page = leaving("True", finalizers=["example.com/drain"])
    assert page.startswith("Pod ml/pod is being deleted, held by the finalizer example.com/drain.")


def test_who_waits_for_a_pod_on_a_node_that_cannot_be_reached_hears_of_the_node() -> None:
    objects = cluster()
    objects[0]["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "lastTransitionTime": stamp(38)}]
    page = plain_page(objects)
    assert "Pod old should have ended 30m ago, but the kubelet of its node node-1 has not reported for 38m." in page
    assert "kubectl taint nodes node-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" in page
    assert "wait for pod" not in page


# --- pods that are in the way by something else than devices ----------------------------------------------------------


def lost(name: str = "node-1") -> dict[str, Any]:
    node = build.node(name)
    ready = {"type": "Ready", "status": "Unknown", "lastTransitionTime": stamp(90)}
    node["status"]["conditions"] = [ready]
    node["spec"]["taints"] = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
    return node


def deleted(name: str, **more: Any) -> dict[str, Any]:
    pod = build.pod(name, node_name="node-1", phase="Running", **more)
    pod["metadata"]["deletionTimestamp"] = stamp(60)
    return pod


def test_a_claim_that_is_deleted_is_kept_by_those_that_use_it_and_not_by_former_pods() -> None:
    shared = build.claim("claim", held=[("node-1", "gpu-0")], by=["other"])
    shared["metadata"] |= {"deletionTimestamp": stamp(120), "finalizers": ["resource.kubernetes.io/delete-protection"]}
    shared["status"]["reservedFor"].append({"resource": "pods", "name": "pod", "uid": "of-a-former-pod"})
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    page = plain_page([lost(), slice_, shared, deleted("other", claims=["claim"]), POD])
    assert "serves no new pod; other, which still uses it, keeps it from going" in page
    assert "Pod other should have ended 60m ago, but the kubelet of its node node-1 has not reported for 90m." in page
    assert "It is still used by Pod ml/other" in page
    assert "wait for the pods that still use the claim" not in page
    assert "kubectl delete pod/other -n ml --force --grace-period=0" in page


def test_a_pod_on_a_lost_node_that_has_the_volume_is_not_waited_for() -> None:
    data = {"name": "data", "persistentVolumeClaim": {"claimName": "d"}}
    volume_claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "d", "namespace": "ml", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"accessModes": ["ReadWriteOncePod"], "volumeName": "v", "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"},
    }
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": "v"},
        "spec": {
            "accessModes": ["ReadWriteOncePod"],
            "capacity": {"storage": "1Gi"},
            "claimRef": {"name": "d", "namespace": "ml"},
            "csi": {"driver": "disk.example.com", "volumeHandle": "v"},
        },
    }
    slice_ = build.slice_("node-2", build.device("gpu-0"))
    nodes = [lost(), build.node("node-2"), slice_, volume, volume_claim]
    waits = build.pod(claims=["claim"], volumes=[data])
    page = plain_page([*nodes, deleted("other", volumes=[data]), waits, build.claim("claim")])
    assert "Pod other should have ended 60m ago, but the kubelet of its node node-1 has not reported for 90m." in page
    assert "it may still run there, and what it has stays taken" in page
    assert "What usually helps: Bring node node-1 back" in page
    assert "Wait until the other pod has ended, or delete it" not in page


def test_the_user_of_a_claim_elsewhere_that_is_being_deleted_is_waited_for() -> None:
    """To delete it once more changes nothing; what ends it is told beside."""
    old = build.pod("old", claims=["held"], node_name="node-1", phase="Running")
    old["metadata"]["deletionTimestamp"] = stamp(30)
    held = build.claim("held", held=[("node-1", "gpu-0")], by=["old"], on="node-1")
    nodes = [build.node("node-1", cpu="1"), build.node("node-2")]
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    mine = build.pod("pod", claims=["held"], requests={"cpu": "2"})
    for other in (), (build.pod("more", claims=["held"], node_name="node-1", phase="Running"),):
        held["status"]["reservedFor"] = [{"resource": "pods", "name": n, "uid": f"pod-{n}"} for n in ("old", "more")]
        held["status"]["reservedFor"] = held["status"]["reservedFor"][: 1 + len(other)]
        page = plain_page([*nodes, *slices, old, held, mine, *other])
        assert "delete pod/old -n ml --context" not in page
        assert "delete pod ml/old" not in page
        assert "wait for pod ml/old, which is being deleted" in page
        assert ("ml/more: frees 1 device" in page) == bool(other)


@pytest.mark.parametrize(("minutes", "told"), [(0, False), (27, True)])
def test_of_a_pod_with_a_long_grace_is_said_until_when_it_may_take(minutes: int, told: bool) -> None:
    held = build.claim("held", held=[("node-1", "gpu-0")], by=["old"], on="node-1")
    held["metadata"] |= {"ownerReferences": [{"kind": "Pod", "name": "old", "uid": "pod-old", "controller": True}]}
    old = build.pod("old", claims=["held"], node_name="node-1", phase="Running")
    old["metadata"]["deletionTimestamp"] = until = stamp(-minutes)
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    mine = [build.pod("pod", claims=["claim"]), build.claim("claim")]
    page = plain_page([build.node("node-1"), slice_, old, held, *mine])
    assert "wait for pod ml/old, which is being deleted" in page
    assert (until in page) == told


@pytest.mark.parametrize("out_of_service", [False, True])
def test_who_uses_a_claim_on_a_lost_node_is_waited_for_only_where_something_ends_it(out_of_service: bool) -> None:
    """Upstream: pkg/controller/podgc, gcTerminating, which ends pods of such nodes as soon as they have the taint."""
    node = lost()
    if out_of_service:
        node["spec"]["taints"].append({"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"})
    held = build.claim("held", held=[("node-1", "gpu-0")], by=["old"], on="node-1")
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    old, mine = deleted("old", claims=["held"]), build.pod("pod", claims=["held"])
    page = plain_page([node, build.node("node-2"), *slices, old, held, mine])
    assert ("wait for pod ml/old, which is being deleted" in page) is out_of_service
    assert ("kubectl delete pod/old -n ml --force --grace-period=0" in page) is not out_of_service


def test_cpu_of_a_lost_node_is_not_waited_for() -> None:
    nodes = [lost(), build.node("node-2")]
    del nodes[0]["spec"]["taints"]
    nodes[0]["status"]["allocatable"]["cpu"] = "4"
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    mine = build.pod("pod", claims=["claim"], requests={"cpu": "3"})
    for node in (nodes[0], build.node("node-1", cpu="4")):
        page = plain_page([node, nodes[1], slice_, deleted("old", requests={"cpu": "3"}), mine, build.claim("claim")])
        assert ("wait for pod ml/old" in page) is (node is not nodes[0])


def test_a_pod_on_a_lost_node_would_not_end_either_if_it_were_deleted() -> None:
    """It tolerates that its node is not reachable, so nobody has deleted it: to do so frees nothing."""
    shared = build.claim("claim", held=[("node-1", "gpu-0")], by=["other"], on="node-1")
    other = build.pod("other", claims=["claim"], node_name="node-1", phase="Running")
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    nodes = [lost(), build.node("node-2"), *slices]
    page = plain_page([*nodes, shared, other, POD])
    assert (
        "Pod other would not end if it were deleted: the kubelet of its node node-1 has not reported for 90m." in page
    )
    assert "delete pod ml/other" not in page
    assert "Nothing ends pod ml/other until the kubelet of node-1 is back" in page
    assert "Only if that machine is certainly off" in page
    # On a node that is well it ends, and its claim can move.
    well = build.node() | {"spec": {"taints": [{"key": "maintenance", "effect": "NoSchedule"}]}}
    assert "delete pod ml/other" in plain_page([well, *nodes[1:], shared, other, POD])


def test_a_pod_on_a_lost_node_is_not_deleted_for_a_port_or_a_volume_either() -> None:
    node = lost()
    del node["spec"]["taints"]
    other = build.pod("other", node_name="node-1", phase="Running", requests={"cpu": "4"})
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    waits = build.pod(claims=["claim"], requests={"cpu": "1"})
    objects = [slice_, other, waits, build.claim("claim")]
    assert "delete pod ml/other" in plain_page([build.node(), *objects])
    page = plain_page([node, *objects])
    assert "delete pod ml/other" not in page
    assert "Pod other would not end if it were deleted" in page
