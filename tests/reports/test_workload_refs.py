"""Gangs of Kubernetes 1.35, of which pods name a Workload: in force there with the gate, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kubectl_dra.api.lint import Mistake
from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.evidence import Coverage, Read
from kubectl_dra.model.features import NEWEST_MINOR, features
from kubectl_dra.reports.capacity.capacity import capacity_report
from kubectl_dra.reports.simulation import SimulationReport
from tests.kit import facts
from tests.reports.test_simulated_files import cluster, page, pod_template, simulated, template, thing

GANG = {"podGroups": [{"name": "workers", "policy": {"gang": {"minCount": 6}}}]}
WORKLOAD = thing("scheduling.k8s.io/v1alpha1", "Workload", GANG)


def job(number: int = 6) -> dict[str, Any]:
    body = pod_template("one")
    body["spec"]["workloadRef"] = {"name": "w", "podGroup": "workers"}
    return thing("batch/v1", "Job", {"parallelism": number, "completions": number, "template": body})


def server(minor: int | None, coverage: Coverage = Coverage.COMPLETE) -> ClusterState:
    known = facts.evidence()
    reads = (*(each for each in known.reads if each.kind != "Workload"), Read("Workload", coverage=coverage))
    version = (1, minor) if minor is not None else None
    shown = ("GenericWorkload", "GangScheduling") if minor == 35 and coverage is Coverage.COMPLETE else ()
    world = cluster(evidence=replace(known, reads=reads, server_version=version))
    return replace(world, features=features(minor or NEWEST_MINOR, shown=shown))


def tried(minor: int | None, coverage: Coverage = Coverage.COMPLETE) -> SimulationReport:
    return simulated(template("one"), WORKLOAD, job(), world=server(minor, coverage))


def codes(report: SimulationReport) -> list[Mistake]:
    return [finding.code for each in report.manifests for finding in each.findings]


def test_without_the_gate_the_pods_are_placed_one_by_one() -> None:
    report = tried(35, Coverage.NOT_SERVED)
    assert (codes(report), report.gangs) == ([Mistake.UNSERVED_FIELD], ())
    told = page(report)
    assert 'would be refused: no matches for kind "Workload" in version "scheduling.k8s.io/v1alpha1"' in told
    assert "this server has no Workloads (feature gate GenericWorkload): each pod is placed by itself" in told
    assert "4 of 6 copies fit" in told


def test_with_the_gate_all_start_or_none() -> None:
    report = tried(35)
    assert codes(report) == []
    assert page(report).startswith(
        "The scheduler of Kubernetes 1.35 would start no pod of Workload ml/w: it needs 6 at once, and only 4 of its 6"
    )


def test_where_the_version_is_not_known_the_newest_is_taken() -> None:
    report = tried(None)
    assert (codes(report), report.gangs) == ([Mistake.UNKNOWN_FIELD], ())
    assert "only Kubernetes 1.35 has this field; later versions have schedulingGroup" in page(report)


@pytest.mark.parametrize("minor", [34, 37])
def test_no_other_version_has_the_field(minor: int) -> None:
    report = tried(minor)
    assert (codes(report), report.gangs) == ([Mistake.UNKNOWN_FIELD], ())
    told = page(report)
    assert "only Kubernetes 1.35 has this field; later versions have schedulingGroup" in told
    assert "Workload ml/w would be refused" in told
    assert "DRA-211" in told  # its Job is tried all the same


def test_capacity_counts_whole_gangs() -> None:
    objects = read_all([Source(json.dumps(each).encode()) for each in (WORKLOAD, template("one"), job())], "ml")
    (found,) = capacity_report(server(35), objects, "ml").groups
    assert (found.subject.kind, found.subject.name, found.groups.value) == ("Workload", "w", 0)
    # Elsewhere the server drops the field, so that there is no gang.
    assert not capacity_report(server(37), objects, "ml").groups
