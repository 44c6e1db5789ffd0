"""Ways out for a gang of Volcano's: by the default scheduler's rules, and of the gang as a whole."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.api.queues import gang_objects
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.why_pending.named import _told
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import GangElsewhere
from kubectl_dra.diagnosis.remedies.records import DeletePod, EditPod
from kubectl_dra.model.features import features
from kubectl_dra.model.gang_objects import QUALIFIED
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import first_line, page_of

VERSION = "scheduling.volcano.sh/v1beta1"


def member(number: int, job: str = "train") -> list[dict[str, Any]]:
    pod = build.pod(f"w-{number}", claims=[f"w-{number}"], schedulerName="volcano")
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": job, "uid": job, "controller": True}
    pod["metadata"] |= {"annotations": {"scheduling.k8s.io/group-name": f"{job}-0"}, "ownerReferences": [owner]}
    return [pod, build.claim(f"w-{number}", build.request(count=2))]


def world(members: int = 3, *more: dict[str, Any]) -> ClusterState:
    """Three nodes of two devices each, of which one is held by a notebook on node-3."""
    names = ("node-1", "node-2", "node-3")
    slices = [build.slice_(name, build.device("gpu-0"), build.device("gpu-1")) for name in names]
    nodes = [build.node(name) for name in names]
    notebook = build.pod("notebook", claims=["notebook"], node_name="node-3", phase="Running")
    held = build.claim("notebook", held=[("node-3", "gpu-0")], by=["notebook"])
    gang = [each for number in range(members) for each in member(number)]
    objects = [build.device_class(), *nodes, *slices, notebook, held, *gang, *more]
    return ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)


def with_objects(
    state: ClusterState, least: int, phase: str = "Pending", queue: str = "Open", limit: str = ""
) -> ClusterState:
    """With the PodGroup of the gang, and its queue, which may have so many GPUs and has 6."""
    meta = {"name": "train-0", "namespace": build.NAMESPACE}
    spec = {"minMember": least, "queue": "research", "minResources": {"nvidia.com/gpu": "3", "cpu": "1"}}
    group = {"apiVersion": VERSION, "kind": "PodGroup", "metadata": meta, "spec": spec, "status": {"phase": phase}}
    there = {"apiVersion": VERSION, "kind": "Queue", "metadata": {"name": "research"}}
    there["spec"] = {"capability": {"nvidia.com/gpu": limit, "cpu": "64"}} if limit else {}
    there["status"] = {"state": queue, "allocated": {"nvidia.com/gpu": "6"}}
    sources = [Source(json.dumps(each).encode(), VERSION, str(each["kind"])) for each in (group, there)]
    return state.changed(state.inventory.replace(gangs=gang_objects(sources, QUALIFIED)))


def report_of(state: ClusterState, name: str = "w-0") -> PendingReport:
    found = Diagnoser(state).pod(Key("ml", name))
    return pending_report(found, state, ways=find_remedies(state, found))


def test_it_says_which_node_lacks_what_and_who_has_it() -> None:
    report = report_of(world())
    assert report.code is Code.OTHER_SCHEDULER
    told = first_line(report)
    assert "only 2 of its 3 waiting pods find a node now. w-2 finds none beside the others: no node has 2 free" in told
    assert "Closest: node-3, with 1 of 2" in told
    assert "(notebook)" in told


def test_a_way_out_is_one_of_the_gang() -> None:
    report = report_of(world())
    deleted = [action.pod.name for way in report.remedies for action in way.actions if isinstance(action, DeletePod)]
    assert deleted == ["notebook"]
    assert not any(isinstance(action, EditPod) for way in report.remedies for action in way.actions)
    page = page_of(report)
    assert "Any one of these would make the rest of its group fit" in page
    assert "(checked by the default scheduler's rules: whether its group starts then is decided by Volcano)" in page
    patch = """kubectl patch jobs.batch.volcano.sh/train -n ml --type=merge -p '{"spec":{"minAvailable":2}}'"""
    assert f"If the program runs with 2 pods: {patch}" in page
    assert "without schedulerName" not in page


def test_all_pods_of_a_gang_have_one_page() -> None:
    state = world()
    assert len({_told(report_of(state, f"w-{number}")) for number in range(3)}) == 1


def test_a_gang_that_fits_lacks_nothing() -> None:
    report = report_of(world(2))
    gang = report.causes[0].detail
    assert isinstance(gang, GangElsewhere)
    assert (gang.fitting, gang.lacking, len(report.causes)) == (2, "", 1)
    assert "If the program runs with" not in page_of(report)


def test_a_gang_that_lacks_pods() -> None:
    report = report_of(with_objects(world(2), 4))
    assert first_line(report) == (
        "Pod ml/w-0 is pending: its group train-0 needs 4 pods at a time, and only 2 exist: w-0, w-1."
    )
    page = page_of(report)
    assert "Have Job train make 2 more pods" in page
    assert "kubectl get pods -n ml -l volcano.sh/job-name=train" in page
    patch = """kubectl patch jobs.batch.volcano.sh/train -n ml --type=merge -p '{"spec":{"minAvailable":2}}'"""
    assert f"To lower it: {patch}" in page
    assert report.remedies == ()


def test_a_queue_that_is_closed_takes_no_group() -> None:
    report = report_of(with_objects(world(), 3, queue="Closed"))
    told = first_line(report)
    assert (
        'Volcano (scheduler "volcano") starts no group of queue research before it is open again: it is Closed' in told
    )
    page = page_of(report)
    assert "Its capability, and what is allocated: kubectl get queues.scheduling.volcano.sh/research" in page
    running = report_of(with_objects(world(), 3, "Inqueue", "Closing"))
    assert "open again" not in first_line(running)
    assert "in queue research" in first_line(running)


def test_what_its_queue_may_have() -> None:
    line = "Queue research may have 8 nvidia.com/gpu (spec.capability): 6 are allocated, and the group needs 3"
    assert line in page_of(report_of(with_objects(world(), 3, limit="8")))
    assert "may have" not in page_of(report_of(with_objects(world(), 3, limit="9")))
    # What its queue has let go is no longer held by it.
    assert "may have" not in page_of(report_of(with_objects(world(), 3, phase="Inqueue", limit="8")))
