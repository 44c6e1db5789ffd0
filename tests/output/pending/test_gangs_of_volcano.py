"""Ways out for a gang of Volcano's: by the default scheduler's rules, and of the gang as a whole."""

from __future__ import annotations

from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.why_pending.named import _told
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import GangElsewhere
from kubectl_dra.diagnosis.remedies.records import DeletePod, EditPod
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import first_line, page_of


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
