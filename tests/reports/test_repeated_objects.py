"""Objects that the files hold more than once, in simulate: each is one object, as kubectl apply leaves it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.output.simulation.page import simulation_summary
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import Copies, simulation_report
from tests.kit import build
from tests.reports.test_simulated_files import a_pod, cluster, page, pod_template, template, thing
from tests.reports.test_strangers import simulated

POD = a_pod("p", templates=["one"])


def deployment(replicas: int) -> dict[str, Any]:
    labelled = {"metadata": {"labels": {"app": "w"}}, **pod_template("one")}
    labelled["spec"] = {**labelled["spec"], "restartPolicy": "Always"}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "w"}}, "template": labelled}
    return thing("apps/v1", "Deployment", spec)


def test_the_same_object_twice_is_one() -> None:
    report = simulated(template("one"), POD, template("one"), POD)
    assert len(report.pods) == 1
    assert report.repeated == ()
    assert "different versions" not in page(report)


def test_of_what_can_be_changed_the_last_counts() -> None:
    report = simulated(template("one"), deployment(1), deployment(3))
    assert [each.wanted for each in report.pods] == [3]
    assert "The files have different versions of Deployment ml/w. kubectl apply leaves the last" in page(report)


@pytest.mark.parametrize(("first", "fits"), [(1, Fits.YES), (9, Fits.NO)])
def test_of_what_cannot_be_changed_the_first_counts(first: int, fits: Fits) -> None:
    report = simulated(template("one", first), POD, template("one", 10 - first))
    assert [each.fits for each in report.pods] == [fits]
    assert report.fits is Fits.NO, "kubectl apply fails on the next one"
    assert "refuses to change its spec" in str(simulation_summary(report))
    assert [each.first for each in report.repeated] == [True]
    assert "The files have different versions of ResourceClaimTemplate ml/one." in page(report)
    assert "kubectl apply creates the first one, which was tried" in page(report)


def test_where_both_of_them_stand_is_told() -> None:
    bodies = [("a.yaml, line 1", template("one")), ("b.yaml, line 9", template("one", 2)), ("c.yaml, line 3", POD)]
    sources = [Source(json.dumps(body).encode(), origin=origin) for origin, body in bodies]
    report = simulation_report(cluster(), read_all(sources, build.NAMESPACE), Copies())
    assert [each.at for each in report.repeated] == [("a.yaml, line 1", "b.yaml, line 9")]
    assert "ResourceClaimTemplate ml/one (a.yaml, line 1; b.yaml, line 9)." in page(report)


def test_labels_of_what_is_kept_may_change() -> None:
    labelled = template("one")
    labelled["metadata"] = {**labelled["metadata"], "labels": {"team": "x"}}
    report = simulated(template("one"), POD, labelled)
    assert [each.first for each in report.repeated] == [False]
    assert "refuses to change its spec" not in page(report)


def test_the_image_of_a_pod_may_change() -> None:
    """Upstream: ValidatePodUpdate takes other images."""
    other = a_pod("p", templates=["one"])
    other["spec"]["containers"][0]["image"] = "y"
    report = simulated(template("one"), POD, other)
    assert [each.first for each in report.repeated] == [False]
    assert "kubectl apply leaves the last one" in page(report)


def test_the_pods_of_a_job_stay_and_their_number_changes() -> None:
    def job(number: int, name: str = "one") -> dict[str, Any]:
        return thing("batch/v1", "Job", {"parallelism": number, "template": pod_template(name)})

    more = simulated(template("one"), job(1), job(2))
    assert [(each.wanted, more.repeated[0].first) for each in more.pods] == [(2, False)]
    others = simulated(template("one"), template("two"), job(1), job(2, "two"))
    assert (others.pods[0].wanted, others.repeated[0].first) == (1, True)


def test_names_that_the_server_makes_up_are_never_the_same() -> None:
    pod = {**POD, "metadata": {"generateName": "p-", "namespace": build.NAMESPACE}}
    assert len(simulated(template("one"), pod, pod, world=cluster()).pods) == 2


def owned(kind: str, name: str, by: str, body: dict[str, Any]) -> dict[str, Any]:
    owners = [{"apiVersion": "v1", "kind": by.split("/")[0], "name": by.split("/")[1], "uid": "u", "controller": True}]
    return {
        **body,
        "kind": kind,
        "metadata": {"name": name, "namespace": build.NAMESPACE, "uid": name, "ownerReferences": owners},
    }


def test_what_controllers_make_of_other_objects_of_the_files_is_left_out() -> None:
    """kubectl get lists a Deployment with its ReplicaSets, pods and claims; only what nobody makes is applied."""
    top = deployment(2)
    replica_set = owned("ReplicaSet", "w-1", "Deployment/w", top)
    pod = {"apiVersion": "v1", **a_pod("w-1-x", templates=["one"], node_name="elsewhere")}
    claim = {"apiVersion": "resource.k8s.io/v1", **build.claim("w-1-x-one")}
    files = [template("one"), top, replica_set, owned("Pod", "w-1-x", "ReplicaSet/w-1", pod)]
    report = simulated(*files, owned("ResourceClaim", "w-1-x-one", "Pod/w-1-x", claim))
    assert [(each.subject.kind, each.copies) for each in report.pods] == [("Deployment", 2)]
    assert report.fits is Fits.YES
    told = (
        "Left out, because the controllers of other objects in the files create them: ReplicaSet ml/w-1, Pod ml/w-1-x"
    )
    assert f"{told}, ResourceClaim ml/w-1-x-one." in page(report)
    # Who names an owner that the files do not have means the pod itself.
    alone = simulated(template("one"), owned("Pod", "w-1-x", "ReplicaSet/w-1", {"apiVersion": "v1", **a_pod("w-1-x")}))
    assert alone.owned == ()
