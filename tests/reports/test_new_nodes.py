"""Nodes of the files, and nodes that are supposed: DaemonSets put their pods there before any other pod comes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.whatif.records import AddNode
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import Copies, SimulationReport, simulation_report
from tests.kit import build, facts
from tests.reports.test_simulated_files import cluster, page, template
from tests.reports.test_strangers import deployment, simulated

NS = build.NAMESPACE


def daemon_set(cpu: str = "12", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    labelled = {"metadata": {"labels": {"app": "agents"}}, "spec": {"containers": [container], **spec}}
    body = {"selector": {"matchLabels": {"app": "agents"}}, "template": labelled}
    meta = {"name": "agents", "namespace": NS, "uid": "agents"}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta, "spec": body}


def its_pod(node: str, name: str = "agents", cpu: str = "12") -> dict[str, Any]:
    made = build.pod(f"{name}-{node}", node_name=node, phase="Running", requests={"cpu": cpu})
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": name, "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    return made


def new_node(taints: list[dict[str, Any]] | None = None, **fields: Any) -> list[dict[str, Any]]:
    slice_ = build.slice_("new", build.device("gpu-0"), build.device("gpu-1"))
    made = build.node("new", cpu="16", **fields)
    made["spec"] = {"taints": taints or []}
    return [made, {"apiVersion": "resource.k8s.io/v1", **slice_}]


def infer(cpu: str = "6") -> dict[str, Any]:
    web = deployment(2)
    web["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": cpu}
    return web


def no_daemon_sets_read() -> Evidence:
    return Evidence(reads=(*facts.evidence().reads, Read("DaemonSet", coverage=Coverage.FORBIDDEN)))


def tried(*there: dict[str, Any], node: list[dict[str, Any]] | None = None, **options: Any) -> SimulationReport:
    """Two pods of 6 cpu each, with a node of 16 cpu in the files; the node that there is has no free devices."""
    return simulated(*(node or new_node()), template("one"), infer(), world=cluster(*there, devices=0, **options))


def test_daemon_sets_of_the_cluster_run_on_a_node_of_the_files() -> None:
    assert tried().fits is Fits.YES
    report = tried(daemon_set(), its_pod("node-1"))
    (pod,) = report.pods
    assert (pod.copies, report.fits) == (0, Fits.NO)
    assert "only 4 of the 6 requested CPUs free" in page(report)
    assert "Pods of DaemonSet ml/agents run on the new nodes first." in page(report)
    assert "delete pod ml/agents-new" not in page(report)


@pytest.mark.parametrize(
    ("spec", "node", "copies"),
    [
        ({"nodeSelector": {"pool": "other"}}, {}, 2),
        ({"nodeSelector": {"pool": "gpu"}}, {"labels": {"pool": "gpu"}}, 0),
        ({}, {"taints": [{"key": "a", "effect": "NoExecute"}]}, 2),
        ({"tolerations": [{"operator": "Exists"}]}, {"taints": [{"key": "a", "effect": "NoExecute"}]}, 0),
    ],
)
def test_only_where_a_daemon_set_belongs(spec: dict[str, Any], node: dict[str, Any], copies: int) -> None:
    web = infer()
    web["spec"]["template"]["spec"]["tolerations"] = [{"operator": "Exists"}]
    world = cluster(daemon_set(**spec), devices=0)
    report = simulated(*new_node(**node), template("one"), web, world=world)
    assert [pod.copies for pod in report.pods] == [copies]


def test_a_daemon_set_that_was_not_read_is_told_by_its_pods() -> None:
    report = tried(its_pod("node-1"), evidence=no_daemon_sets_read())
    assert [pod.copies for pod in report.pods] == [0]


def test_where_one_runs_that_is_not_everywhere_is_open() -> None:
    """Its affinity is not in its pods."""
    other = its_pod("node-2", "proxy", "0")
    report = tried(
        its_pod("node-1"), its_pod("node-1", "proxy", "0"), build.node("node-2"), other, evidence=no_daemon_sets_read()
    )
    assert report.fits is Fits.UNKNOWN
    assert "not simulated, and may allow less: DaemonSet ml/agents (its node affinity)" in page(report)
    assert "Whether DaemonSet ml/agents also runs on the new nodes is unknown" in page(report)


def test_a_node_like_another_gets_daemons_that_are_late_on_that_one() -> None:
    world = cluster(daemon_set("60"), devices=1)
    assert counted(world, free=True) == 2
    assert counted(world, free=False) == 1


def counted(world: ClusterState, *, free: bool) -> int:
    objects = read_all([Source(json.dumps(body).encode()) for body in (template("one"), infer())], NS)
    switch = AddNode("node-1", 1, free=free)
    return sum(pod.copies for pod in simulation_report(world, objects, Copies(), [switch]).pods)


def test_daemons_of_the_files_are_first_on_a_new_node() -> None:
    report = simulated(*new_node(), template("one"), infer(), daemon_set(), world=cluster(devices=0))
    assert [(pod.subject.kind, pod.copies) for pod in report.pods] == [("DaemonSet", 2), ("Deployment", 0)]


# --- nodes that are only planned --------------------------------------------------------------------------------------


def test_a_new_node_without_slices_has_no_devices() -> None:
    (node, slice_) = new_node()
    told = page(simulated(node, template("one"), infer()))
    assert "new has no devices of its own: drivers publish their ResourceSlices once a node has joined" in told
    assert "--add-node like=node-1" in told
    assert "take no pod" not in told
    assert "has no devices" not in page(simulated(node, slice_, template("one"), infer()))
    # One that is there already is as the cluster has it.
    assert "has no devices" not in page(simulated(build.node("node-1"), template("one"), infer()))


def test_new_nodes_that_do_not_help_come_first() -> None:
    node = new_node()[0]
    web = infer()
    web["spec"]["replicas"] = 9
    told = page(simulated(node, template("one"), web))
    assert told.startswith("The planned nodes take no pod of the files: new has no devices of its own: drivers publish")
    assert told.count("no devices of its own") == 1


def test_a_taint_that_goes_by_itself_is_told() -> None:
    key = "node.cloudprovider.kubernetes.io/uninitialized"
    taints = [{"key": key, "value": "true", "effect": "NoSchedule"}, {"key": "gpu", "effect": "NoSchedule"}]
    report = simulated(*new_node(taints), template("one"), infer())
    assert [(each.node, each.key) for each in report.effects.unready] == [("new", key)]
    assert f"new has the taint {key}, which the cloud controller manager removes once the node is ready." in page(
        report
    )


@pytest.mark.parametrize(
    ("version", "kind"),
    [("karpenter.sh/v1", "NodePool"), ("karpenter.sh/v1", "NodeClaim"), ("cluster.x-k8s.io/v1beta1", "MachineSet")],
)
def test_what_makes_nodes_says_that_they_are_not_known(version: str, kind: str) -> None:
    maker = {"apiVersion": version, "kind": kind, "metadata": {"name": "gpus"}, "spec": {}}
    told = page(simulated(maker, template("one"), infer()))
    assert f"Nodes that come after {kind} gpus are not known yet. --add-node like=NODE supposes one" in told
    assert "Not involved in scheduling" not in told


@pytest.mark.parametrize("small", ["node-0", "node-9"])
def test_a_node_without_room_for_its_daemon_keeps_no_other_node_from_its_own(small: str) -> None:
    """Each pod of a DaemonSet has a node of its own (upstream: util.ReplaceDaemonSetPodNodeNameNodeAffinity)."""
    world = cluster(build.node(small, cpu="1"), build.node("node-2", cpu="64"), devices=0)
    report = simulated(daemon_set(), world=world)
    (pod,) = report.pods
    assert (pod.copies, pod.wanted, report.fits) == (2, 3, Fits.NO)
    assert {each.node for each in pod.nodes} == {"node-1", "node-2"}
    assert f"2 of 3 copies fit; on {small} it does not: " in page(report)
