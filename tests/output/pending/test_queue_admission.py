"""A pod that Kueue has admitted: its quota stays in use, and the node is the one that Kueue chose."""

from __future__ import annotations

from typing import Any

from kubectl_dra.api.queues import queue_objects
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.diagnosis.test_queues import ALL, NS, source
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import DRIVER, first_line, page_of

HOST = "kubernetes.io/hostname"
TAS = {"labels": {"kueue.x-k8s.io/tas": "true"}, "annotations": {"kueue.x-k8s.io/workload": "w"}}


def report_of(metadata: dict[str, Any], *, admitted: bool = True) -> PendingReport:
    pod = build.pod(claims=["claim"], nodeSelector={HOST: "node-1"})
    pod["metadata"] |= metadata
    condition = {"type": "Admitted", "status": "True" if admitted else "False", "reason": "Admitted", "message": ""}
    status = {"conditions": [condition], "admission": {"clusterQueue": "research"}}
    meta = {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod"}]}
    queues = queue_objects([source("Workload", "w", NS, meta=meta, status=status)], ALL)
    devices = [build.device("a"), build.device("b")]
    held = build.claim("held", held=[("node-1", "a")], by=["other"])
    other = build.pod("other", claims=["held"], node_name="node-1", phase="Running")
    nodes = [build.node(name, labels={HOST: name}) for name in ("node-1", "node-2")]
    slices = [build.slice_(name, *devices) for name in ("node-1", "node-2")]
    objects = [*nodes, *slices, build.device_class(), pod, build.claim("claim", build.request(count=2)), other, held]
    world = ClusterState(facts.inventory(objects).replace(queues=queues), facts.evidence(), features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    return pending_report(found, world, ways=find_remedies(world, found))


def test_the_node_that_kueue_chose_is_said_with_what_it_lacks() -> None:
    report = report_of(TAS)
    assert first_line(report) == (
        "Pod ml/pod is pending: Kueue assigned it to node-1, which has only 1 of the 2 free gpu.example.com devices; "
        "node-2 has enough."
    )
    page = page_of(report)
    assert 'kubectl patch workload.kueue.x-k8s.io/w -n ml --type=merge -p \'{"spec":{"active":false}}\'' in page
    assert "its quota in ClusterQueue research stays in use while it waits." in page


def test_a_node_selector_of_the_pod_itself_is_not_kueues() -> None:
    report = report_of({})
    assert f"it may only run on nodes with {HOST}=node-1" in first_line(report)
    assert "kubectl patch workload" not in page_of(report)
    assert "stays in use while it waits" in page_of(report)


def test_what_kueue_has_not_admitted_has_no_quota() -> None:
    assert report_of({}, admitted=False).admission is None


def on_a_flavor(own: dict[str, str], *, flavors: dict[str, str]) -> PendingReport:
    """A pod that needs an H100 of node-h and selects node-a; ``own``: what the template of its work selects itself."""
    pod = build.pod(claims=["claim"], nodeSelector={"gpu-type": "a100"})
    condition = {"type": "Admitted", "status": "True", "reason": "Admitted", "message": ""}
    assigned = [{"name": "main", "flavors": flavors}]
    status = {"conditions": [condition], "admission": {"clusterQueue": "research", "podSetAssignments": assigned}}
    meta = {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod"}]}
    sets = [{"name": "main", "template": {"spec": {"nodeSelector": own}}}]
    queues = queue_objects([source("Workload", "w", NS, meta=meta, spec={"podSets": sets}, status=status)], ALL)
    kinds = {"node-a": "a100", "node-h": "h100"}
    wish = build.request(selector=f'device.attributes["{DRIVER}"].model == "h100"')
    objects = [build.device_class(), pod, build.claim("claim", wish)]
    objects += [build.node(name, labels={"gpu-type": kind}) for name, kind in kinds.items()]
    objects += [build.slice_(name, build.device("a", attributes={"model": kind})) for name, kind in kinds.items()]
    world = ClusterState(facts.inventory(objects).replace(queues=queues), facts.evidence(), features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    return pending_report(found, world, ways=find_remedies(world, found))


def edited(report: PendingReport) -> list[str]:
    return [action.field for way in report.remedies for action in way.actions if isinstance(action, EditPod)]


def test_a_node_selector_that_kueue_adds_for_its_flavor_is_not_dropped() -> None:
    report = on_a_flavor({}, flavors={"cpu": "a100"})
    assert report.code is Code.NODE_AFFINITY
    assert edited(report) == []
    told = "nodes with gpu-type=a100 (node-a), as Kueue put it on flavor a100, and the free h100 devices are on node-h."
    assert told in first_line(report)
    page = " ".join(page_of(report).split())
    assert "Kueue put it on flavor a100, and adds the node labels of a flavor to the node selector" in page
    assert "or have the order of flavors in ClusterQueue research changed" in page


def test_a_node_selector_of_the_work_itself_may_be_dropped_whatever_its_flavor() -> None:
    for report in (on_a_flavor({"gpu-type": "a100"}, flavors={"cpu": "any"}), on_a_flavor({}, flavors={})):
        assert edited(report) == ["nodeSelector[gpu-type]"]
        assert "Kueue put it on" not in page_of(report)
