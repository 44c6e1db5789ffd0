"""ProvisioningRequests: as many pods of a PodTemplate as an autoscaler is asked to make room for."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation.records import Role
from tests.kit import build
from tests.reports.test_simulated_files import page, pod_template, simulated, template, thing


def request(*sets: tuple[Any, Any]) -> dict[str, Any]:
    listed = [{"count": count, "podTemplateRef": {"name": name}} for name, count in sets]
    return thing("autoscaling.x-k8s.io/v1", "ProvisioningRequest", {"podSets": listed})


def pods(name: str = "worker", of: str = "one") -> dict[str, Any]:
    meta = {"name": name, "namespace": build.NAMESPACE}
    return {"apiVersion": "v1", "kind": "PodTemplate", "metadata": meta, "template": pod_template(of)}


def test_as_many_pods_as_are_asked_for() -> None:
    report = simulated(template("one"), pods(), request(("worker", 6)))
    assert [(each.subject.kind, each.copies, each.wanted) for each in report.pods] == [("ProvisioningRequest", 4, 6)]
    told = page(report)
    assert "ProvisioningRequest ml/w, worker: 4 of 6 copies fit" in told
    assert "all fit with spec.podSets[0].count: 4" in told
    assert "PodTemplate ml/worker fits" not in told
    assert simulated(template("one"), pods(), request(("worker", 4))).fits is Fits.YES


def test_sets_of_several_templates_count_together() -> None:
    report = simulated(
        template("one"), template("two", 2), pods(), pods("big", "two"), request(("worker", 1), ("big", 2))
    )
    assert [(each.role, each.copies, each.wanted) for each in report.pods] == [("worker", 1, 1), ("big", 1, 2)]


def test_a_template_that_is_not_in_the_files() -> None:
    report = simulated(template("one"), pods(), request(("other", 2)))
    (untried,) = [each.untried for each in report.manifests if each.role is Role.UNTRIED]
    assert untried == "its pods are described by PodTemplate other, which is not among the files"
    assert report.fits is Fits.UNKNOWN
    assert "PodTemplate ml/worker fits" in page(report)


def test_a_template_alone_is_tried_once() -> None:
    assert [(each.subject.kind, each.copies) for each in simulated(template("one"), pods()).pods] == [
        ("PodTemplate", 1)
    ]


def test_a_template_that_can_not_be_read() -> None:
    broken = {**pods("other"), "template": {"spec": {"containers": "x"}}}
    for metadata in (broken["metadata"], {"name": "other"}):
        told = page(simulated(template("one"), {**broken, "metadata": metadata}, request(("other", 2))))
        assert "its pods are described by PodTemplate other, which can't be read" in " ".join(told.split())


@pytest.mark.parametrize(
    ("sets", "problem"),
    [
        ([("worker", -3)], "spec.podSets[0].count: must be a whole number from 1 to 2147483647, got -3"),
        ([("worker", 0)], "spec.podSets[0].count: must be a whole number from 1 to 2147483647, got 0"),
        ([("worker", 1), ("worker", "4")], "spec.podSets[1].count: must be a whole number from 1 to 2147483647, got "),
        ([("worker", None)], "spec.podSets[0].count: missing"),
        ([("worker", 1 << 31)], "spec.podSets[0].count: must be a whole number from 1 to 2147483647, got 2147483648"),
        ([(None, 1)], "spec.podSets[0].podTemplateRef.name: missing"),
        ([], "spec.podSets: must have 1 to 32 items"),
        ([("worker", 1)] * 33, "spec.podSets: must have 1 to 32 items"),
    ],
)
def test_what_the_definition_does_not_allow(sets: list[tuple[Any, Any]], problem: str) -> None:
    """Upstream: the markers of PodSets and of PodSet in the API's types.go."""
    report = simulated(template("one"), pods(), request(*sets))
    (error,) = [each.error for each in report.manifests if each.object.kind == "ProvisioningRequest"]
    assert error.startswith(problem)
    assert report.fits is not Fits.YES
    assert [each.subject.kind for each in report.pods] == ["PodTemplate"]
