"""What is started again in place of deleted pods: where there is room for it, and which ways out are told first."""

from __future__ import annotations

from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.diagnosis.remedies.records import DeletePod
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.remedies import remedy_lines, remedy_text
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.remedies import RemedyReport, find_remedies
from kubectl_dra.reports.pending.renewal import CountsAsFailed, StartsAgain
from tests.kit import build, facts
from tests.kit.clock import CLOCK

ZONE = {"zone": "a"}


def node(name: str, devices: int, labels: dict[str, str] | None = None) -> list[dict[str, Any]]:
    slice_ = build.slice_(name, *(build.device(f"gpu-{number}") for number in range(devices)))
    return [build.node(name, labels=labels or {}), slice_]


def held(name: str, on: str, device: str, kind: str = "", **spec: Any) -> list[dict[str, Any]]:
    """A running pod with a claim from the template ``t``."""
    pod = build.pod(name, templates=["t"], node_name=on, phase="Running", **spec)
    if kind:
        owner = {"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": "o", "controller": True}
        pod["metadata"]["ownerReferences"] = [owner]
    pod["status"]["resourceClaimStatuses"] = [{"name": "t", "resourceClaimName": f"{name}-t"}]
    mine = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"pod-{name}", "controller": True}
    meta = {"metadata": {"ownerReferences": [mine]}}
    return [pod, build.claim(f"{name}-t", build.request(), held=[(on, device)], by=[name], on=on, **meta)]


def ways(*parts: list[dict[str, Any]]) -> tuple[RemedyReport, ...]:
    spec = {"devices": {"requests": [build.request()]}}
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "ml"}, "spec": {"spec": spec}}
    waits = build.pod(claims=["claim"], nodeSelector=ZONE)
    waits["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    objects = [build.device_class(), template, waits, build.claim("claim"), *(each for part in parts for each in part)]
    world = ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)
    return find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies


def deletions(found: tuple[RemedyReport, ...]) -> list[tuple[str, tuple[str, ...]]]:
    told = []
    for way in found:
        for action in way.actions:
            if isinstance(action, DeletePod):
                notes = [note.nodes for note in way.notes if isinstance(note, StartsAgain)]
                told.append((action.pod.name, notes[0] if notes else ()))
    return told


def test_what_finds_another_place_comes_first_and_what_nothing_starts_again_last() -> None:
    found = ways(
        node("a", 3, ZONE),
        node("b", 1),
        held("bare", "a", "gpu-0"),
        held("web", "a", "gpu-1", "ReplicaSet"),
        held("stuck", "a", "gpu-2", "ReplicaSet", nodeSelector=ZONE),
    )
    assert deletions(found) == [("web", ("b",)), ("stuck", ("",)), ("bare", ())]
    harmless, waits, gone = (plain(remedy_text(way)) for way in found if isinstance(way.actions[0], DeletePod))
    assert harmless == "delete pod ml/web: frees 1 device; its ReplicaSet starts it again, and b has room for it"
    assert waits.endswith("but its ReplicaSet starts it again, and that one then waits")
    assert gone.endswith("nothing starts it again")
    # Who is first plays no part where there is room for both.
    page = " ".join(" ".join(map(plain, remedy_lines(found[:1], Verdict.UNSCHEDULABLE))).split())
    assert "tries this pod first" not in page


def test_a_stateful_set_waits_for_its_old_pod_and_comes_second() -> None:
    found = ways(node("a", 1, ZONE), node("b", 1), held("db", "a", "gpu-0", "StatefulSet"))
    assert deletions(found) == [("db", ("b",))]


def test_of_bare_pods_the_less_important_comes_first() -> None:
    found = ways(
        node("a", 2, ZONE),
        held("dear", "a", "gpu-0", priority=1000),
        held("poor", "a", "gpu-1", priority=-10),
    )
    assert [name for name, _ in deletions(found)] == ["poor", "dear"]


def job(failed: int, limit: int) -> list[dict[str, Any]]:
    meta = {"name": "o", "namespace": "ml", "uid": "o"}
    spec = {"backoffLimit": limit, "template": {"spec": {"containers": []}}}
    return [{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec, "status": {"failed": failed}}]


def test_a_deleted_pod_of_a_job_counts_as_failed() -> None:
    for failed, limit, told in (
        (1, 6, "counts as failed pod 2 of the 6 that Job o may have"),
        (2, 2, "Job o then fails"),
    ):
        found = ways(node("a", 1, ZONE), node("b", 1), held("run", "a", "gpu-0", "Job"), job(failed, limit))
        (note,) = (each for way in found for each in way.notes if isinstance(each, CountsAsFailed))
        assert (note.failed, note.limit) == (failed + 1, limit)
        page = " ".join(" ".join(map(plain, remedy_lines(found, Verdict.UNSCHEDULABLE))).split())
        assert told in page
        # What ends with it is not started again.
        assert ("its Job is over" in page, "starts it again" in page) == (failed >= limit, failed < limit)
