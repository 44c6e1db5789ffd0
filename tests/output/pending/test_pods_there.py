"""Pods in the way on nodes that have the devices: whose they are, and what can be done about them."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.actions import RemoveLabel, ScaleDown
from kubectl_dra.diagnosis.remedies.records import DeletePod, EditPod
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
BATCH = {"matchLabels": {"tier": "batch"}}


def anti(selector: dict[str, Any], key: str = HOST) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": selector, "namespaceSelector": {}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def controller(kind: str, name: str, uid: str) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}


def owned(pod: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    pod["metadata"]["ownerReferences"] = [controller(kind, name, f"{kind}-{name}")]
    return pod


def deployment(name: str, replicas: int = 1, labels: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """A Deployment and its ReplicaSet, of the same name; ``labels``: those that it selects its pods by."""
    selector = {"matchLabels": labels or {"app": name}}
    spec = {"replicas": replicas, "selector": selector, "template": {"metadata": {"labels": selector["matchLabels"]}}}
    found = []
    for kind in ("Deployment", "ReplicaSet"):
        meta: dict[str, Any] = {"name": name, "namespace": build.NAMESPACE, "uid": f"{kind}-{name}"}
        if kind == "ReplicaSet":
            meta["ownerReferences"] = [controller("Deployment", name, f"Deployment-{name}")]
        found.append({"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec})
    return found


def waiting(labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    pod = build.pod(claims=["claim"], **spec)
    pod["metadata"]["labels"] = labels or {"tier": "batch", "app": "train"}
    return pod


def running(name: str, node: str = "gpu-1", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    pod = build.pod(name, node_name=node, phase="Running", **spec)
    pod["metadata"]["labels"] = labels or {"app": name}
    return pod


def cluster(*objects: dict[str, Any], nodes: tuple[str, ...] = ("gpu-1",), **allocatable: str) -> PendingReport:
    """``nodes`` with a free device each, in zones of the first letter of their names."""
    made = [build.node(name, labels={HOST: name, ZONE: name[0]}, **allocatable) for name in nodes]
    slices = [build.slice_(name, build.device("gpu-0")) for name in nodes]
    return report_of(build.claim(), build.namespace(), *made, *slices, *objects)


# --- anti-affinity of pods that are there -----------------------------------------------------------------------------


def probe(selector: dict[str, Any] = BATCH, key: str = HOST, node: str = "gpu-1") -> dict[str, Any]:
    return owned(running("probe-zz", node, affinity=anti(selector, key)), "ReplicaSet", "probe")


def test_a_pod_that_keeps_another_away_is_named_with_its_owner_and_the_label() -> None:
    report = cluster(waiting(), probe(), *deployment("probe"))
    assert report.code is Code.KEPT_AWAY
    line = first_line(report)
    assert "runs ml/probe-zz (Deployment probe), whose required anti-affinity excludes pods with tier=batch" in line
    assert "like this one (per kubernetes.io/hostname)" in line


def test_a_replica_set_that_was_not_read_is_told_as_the_deployment_that_named_it() -> None:
    """A list reads no owners of a live cluster; the name and the label of a Deployment's ReplicaSet tell it."""
    there = owned(probe(), "ReplicaSet", "probe-5d8f7c9b4")
    there["metadata"]["labels"]["pod-template-hash"] = "5d8f7c9b4"
    assert "(Deployment probe)" in first_line(cluster(waiting(), there))
    there["metadata"]["labels"]["pod-template-hash"] = "other"
    assert "(ReplicaSet probe-5d8f7c9b4)" in first_line(cluster(waiting(), there))


def test_the_label_that_it_meets_is_told_where_the_selector_does_not() -> None:
    selector = {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["batch", "idle"]}]}
    report = cluster(waiting(), probe(selector), *deployment("probe"))
    assert "excludes pods with tier in (batch,idle), and this pod has tier=batch" in first_line(report)
    everyone = cluster(waiting(), probe({}), *deployment("probe"))
    assert "excludes all pods, like this one" in first_line(everyone)


def test_in_a_zone_the_node_of_the_pod_is_told() -> None:
    report = cluster(waiting(), probe(key=ZONE, node="gpu-2"), *deployment("probe"), nodes=("gpu-1", "gpu-2"))
    line = first_line(report)
    assert f"share {ZONE} with ml/probe-zz (Deployment probe) on gpu-2, whose required anti-affinity" in line


def ways(report: PendingReport, kind: type) -> list[Any]:
    return [action for way in report.remedies if way.verified for action in way.actions if isinstance(action, kind)]


def test_without_the_label_or_without_that_deployment_it_fits() -> None:
    report = cluster(waiting(), probe(), *deployment("probe"))
    pod = ObjectRef("Pod", "ml", "pod")
    assert ways(report, RemoveLabel) == [RemoveLabel(pod, "tier", "batch")]
    (scaled,) = ways(report, ScaleDown)
    assert (scaled.workload, scaled.replicas) == (ObjectRef("Deployment", "ml", "probe"), 1)
    commands = [words for way in report.remedies for step in way.steps for words in step.commands]
    assert ("kubectl", "label", "pod/pod", "-n", "ml", "tier-") in commands
    assert ("kubectl", "scale", "deployment/probe", "-n", "ml", "--replicas=0") in commands
    page = page_of(report)
    assert "remove the label tier=batch from the pod" in page
    assert "scale Deployment ml/probe to 0 (now 1)" in page


def test_a_pod_that_is_scaled_away_too_does_not_compete() -> None:
    """It waits for longer than this pod, and is gone with the one that is in the way."""
    older = owned(build.pod("probe-yy", claims=["claim"]), "ReplicaSet", "probe")
    older["metadata"] |= {"labels": {"app": "probe"}, "creationTimestamp": "2020-01-01T00:00:00Z"}
    report = cluster(waiting(), probe(), older, *deployment("probe", replicas=2))
    (way,) = [each for each in report.remedies if isinstance(each.actions[0], ScaleDown)]
    assert (way.verified, way.competition) == (True, None)


def test_a_label_that_its_owner_selects_it_by_stays() -> None:
    mine = owned(waiting(), "ReplicaSet", "train")
    report = cluster(mine, probe(), *deployment("probe"), *deployment("train", labels={"tier": "batch"}))
    assert report.code is Code.KEPT_AWAY
    assert ways(report, RemoveLabel) == []
    free = cluster(mine, probe(), *deployment("probe"), *deployment("train"))
    assert [each.workload for each in ways(free, RemoveLabel)] == [ObjectRef("Deployment", "ml", "train")]


def test_a_label_is_no_way_out_where_the_term_is_met_without_it() -> None:
    selector = {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["web"]}]}
    report = cluster(waiting(), probe(selector), *deployment("probe"))
    assert ways(report, RemoveLabel) == []
    assert len(ways(report, ScaleDown)) == 1


# --- the pod's own terms ----------------------------------------------------------------------------------------------


def test_pods_that_the_own_anti_affinity_excludes_are_named() -> None:
    mine = waiting(affinity=anti({"matchLabels": {"app": "db"}}))
    report = cluster(mine, running("db-0", labels={"app": "db"}))
    assert report.code is Code.UNWANTED_COMPANY
    assert "runs ml/db-0, which its own anti-affinity excludes (pods with app=db, per kubernetes.io/hostname)" in (
        first_line(report)
    )


def test_replicas_of_its_own_are_called_so() -> None:
    mine = owned(waiting(affinity=anti({"matchLabels": {"app": "train"}})), "ReplicaSet", "train")
    other = owned(running("train-a", labels={"app": "train"}), "ReplicaSet", "train")
    report = cluster(mine, other, *deployment("train", 2))
    assert "runs its own replica ml/train-a, which its own anti-affinity excludes" in first_line(report)


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("jobset.sigs.k8s.io/job-key", "JobSet"),
        ("leaderworkerset.sigs.k8s.io/group-key", "LeaderWorkerSet"),
        ("leaderworkerset.sigs.k8s.io/subgroup-key", "LeaderWorkerSet"),
    ],
)
def test_the_exclusive_topology_of_a_group_is_called_so(label: str, kind: str) -> None:
    terms = [{"key": label, "operator": "Exists"}, {"key": label, "operator": "NotIn", "values": ["mine"]}]
    report = cluster(waiting(affinity=anti({"matchExpressions": terms})), running("w-0", labels={label: "other"}))
    told = f"runs ml/w-0, which the exclusive topology of its {kind} excludes (per kubernetes.io/hostname)"
    assert told in first_line(report)


def test_pods_that_a_spread_constraint_counts_are_named() -> None:
    constraint = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    mine = waiting(topologySpreadConstraints=[{**constraint, "labelSelector": {"matchLabels": {"app": "train"}}}])
    there = [running("train-a", "a1", {"app": "train"}), running("train-b", "a1", {"app": "train"})]
    held = build.claim("held", held=[("b1", "gpu-0")], by=["user"], on="b1")
    user = running("user", "b1", claims=["held"])
    report = cluster(mine, *there, held, user, nodes=("a1", "b1"))
    assert "which already has 2 pods with app=train, ml/train-a and ml/train-b" in first_line(report)


# --- what is short on a node ------------------------------------------------------------------------------------------


def test_host_ports_name_their_pods_by_node() -> None:
    port = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    mine = owned(waiting(), "ReplicaSet", "train")
    theirs = owned(running("train-a", "gpu-2"), "ReplicaSet", "train")
    proxy = running("proxy", "gpu-1")
    for pod in (mine, theirs, proxy):
        pod["spec"]["containers"][0]["ports"] = port[0]["ports"]
    report = cluster(mine, theirs, proxy, *deployment("train", 2), nodes=("gpu-1", "gpu-2"))
    assert report.code is Code.NODE_PORTS
    assert (
        "have the host port 0.0.0.0:80/TCP taken: on gpu-1 by ml/proxy, on gpu-2 by its own replica ml/train-a"
        in first_line(report)
    )


def with_port(pod: dict[str, Any], number: int = 80) -> dict[str, Any]:
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": number}]
    return pod


def test_its_own_deployment_is_not_scaled_down_because_of_an_older_pod() -> None:
    """A pod of an older ReplicaSet is no replica of this one, and the Deployment's scale ends both."""
    mine = owned(waiting(), "ReplicaSet", "train")
    old = owned(running("train-old"), "ReplicaSet", "train-old")
    items = deployment("train")
    items.append({**items[1], "metadata": {**items[1]["metadata"], "name": "train-old", "uid": "ReplicaSet-train-old"}})
    report = cluster(with_port(mine), with_port(old), *items)
    assert "taken by ml/train-old (Deployment train)" in first_line(report)
    assert ways(report, ScaleDown) == []
    assert [each.pod.name for each in ways(report, DeletePod)] == ["train-old"]


def test_another_host_port_is_a_way_out() -> None:
    report = cluster(with_port(waiting()), with_port(running("proxy")), with_port(running("other"), 81))
    (edit,) = ways(report, EditPod)
    assert (edit.field, edit.before, edit.after) == ("hostPorts", "80", "82")
    page = page_of(report)
    assert "use hostPort 82 instead of 80 (recreate the pod)" in page
    commands = [" ".join(words) for way in report.remedies for step in way.steps for words in step.commands]
    assert any("/spec/containers/0/ports/0/hostPort" in line for line in commands)


def test_a_pod_on_the_network_of_its_host_keeps_its_ports() -> None:
    report = cluster(with_port(waiting(hostNetwork=True)), with_port(running("proxy")))
    assert report.code is Code.NODE_PORTS
    assert ways(report, EditPod) == []


def test_who_has_the_most_of_what_is_short() -> None:
    mine = waiting()
    mine["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
    cache = [owned(running(f"cache-{i}", requests={"cpu": "1200m"}), "StatefulSet", "cache") for i in range(2)]
    report = cluster(mine, *cache, running("nb", requests={"cpu": "100m"}))
    assert report.code is Code.NODE_RESOURCES
    line = first_line(report)
    assert "only 1.5 of the 2 requested CPUs free (in use by 2 pods of StatefulSet ml/cache: 2.4, ml/nb: 0.1)" in line


def ending(name: str, cpu: str, **fields: Any) -> dict[str, Any]:
    pod = running(name, requests={"cpu": cpu}, **fields)
    pod["metadata"]["deletionTimestamp"] = "2026-11-21T12:30:00Z"
    return pod


def test_who_ends_or_comes_is_told_beside_what_it_has() -> None:
    mine = waiting(requests={"cpu": "2"})
    report = cluster(mine, ending("old", "3"), running("nb", requests={"cpu": "500m"}))
    assert "free (in use by ml/old (being deleted): 3, ml/nb: 0.5)" in first_line(report)
    assert "wait for pod ml/old, which is being deleted" in page_of(report)
    first = build.pod("first", claims=["other"], requests={"cpu": "3"}, priority=10)
    first["status"]["nominatedNodeName"] = "gpu-1"
    report = cluster(mine, ending("old", "3"), first, build.claim("other"))
    line = first_line(report)
    assert "in use by ml/first (nominated for this node): 3, ml/old (being deleted): 3" in line
    assert "wait for pod ml/old" not in page_of(report)


@pytest.mark.parametrize(
    ("minor", "labels", "needs"),
    [
        (37, {}, "; this needs the label resource.kubernetes.io/admin-access=true on namespace ml"),
        (37, {"resource.kubernetes.io/admin-access": "true"}, ""),
        (33, {}, "; this needs the label resource.k8s.io/admin-access=true on namespace ml and the feature gate "),
        (32, {}, "; this needs the feature gate DRAAdminAccess"),
    ],
)
def test_a_daemon_set_that_takes_all_devices_of_its_node_wants_admin_access(
    minor: int, labels: dict[str, str], needs: str
) -> None:
    """Upstream: DRAAdminNamespaceLabelKey of 1.33 and of 1.34; DRAAdminAccess is on by default since 1.34."""
    hint = "if DaemonSet exporter only monitors devices, request them with adminAccess: true, which takes none"
    namespace = build.namespace(**labels)
    there = [build.node(), build.slice_("node-1", build.device("gpu-0")), namespace]
    mine = [build.pod(claims=["claim"]), build.claim("claim")]
    for kind, mode in (("DaemonSet", "All"), ("DaemonSet", "ExactCount"), ("StatefulSet", "All")):
        one = build.pod("exporter-0", claims=["all"], node_name="node-1", phase="Running")
        request = build.request()
        request["exactly"] |= {"allocationMode": mode}
        if mode == "All":
            del request["exactly"]["count"]
        held = build.claim("all", request, held=[("node-1", "gpu-0")], by=["exporter-0"])
        page = page_of(report_of(*there, owned(one, kind, "exporter"), held, *mine, minor=minor))
        assert "delete pod ml/exporter-0" in page
        assert (f"{hint}{needs}" in page) is ((kind, mode) == ("DaemonSet", "All"))
        assert ("this needs" in page) is (bool(needs) and (kind, mode) == ("DaemonSet", "All"))


def test_resizes_of_all_pods_of_a_workload_are_counted() -> None:
    pods = []
    for number in range(6):
        one = owned(
            build.pod(f"web-{number}", requests={"cpu": "7"}, node_name="node-1", phase="Running"), "Job", "web"
        )
        status = {"name": "main", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}}
        conditions = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]
        one["status"] |= {"containerStatuses": [status], "conditions": conditions}
        pods.append(one)
    objects = build.node(cpu="48"), build.slice_("node-1", build.device("a")), build.claim()
    report = report_of(*objects, waiting(requests={"cpu": "20"}), *pods)
    assert "42, 36 of them for a resize" in first_line(report)


@pytest.mark.parametrize(("reason", "more"), [("Deferred", ", 2 of them for a resize"), ("Infeasible", ""), ("", "")])
def test_a_resize_that_waits_counts_already(reason: str, more: str) -> None:
    """Upstream: component-helpers/resource, PodRequests with UseStatusResources."""
    holder = build.pod("web", requests={"cpu": "3"}, node_name="node-1", phase="Running")
    given = {"cpu": "1"} if reason else {"cpu": "3"}
    status = {"name": "main", "allocatedResources": given, "resources": {"requests": given}}
    conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    holder["status"] |= {"containerStatuses": [status], "conditions": conditions}
    pod = waiting(requests={"cpu": "4"})
    report = report_of(build.node(cpu="4"), build.slice_("node-1", build.device("a")), build.claim(), pod, holder)
    amount = "1" if reason == "Infeasible" else "3"
    text = first_line(report)
    assert f"(in use by ml/web: {amount}{more}" in text or (amount == "1" and "(in use by ml/web" in text)
    assert ("resize" in text) is bool(more)
