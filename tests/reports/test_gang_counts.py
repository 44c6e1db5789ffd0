"""Gangs whose pods are made only when others of them are ready: they never start, whatever is free."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import SimulationReport
from tests.reports.test_simulated_files import page, pod_template, simulated, template, thing

POD_GROUP = thing("scheduling.x-k8s.io/v1alpha1", "PodGroup", {"minMember": 3})


def labelled() -> dict[str, Any]:
    return {**pod_template("one"), "metadata": {"labels": {"scheduling.x-k8s.io/pod-group": "w"}}}


def stateful(replicas: int = 3, **spec: Any) -> dict[str, Any]:
    body = labelled()
    body["spec"] = {**body["spec"], "restartPolicy": "Always"}
    selector = {"matchLabels": body["metadata"]["labels"]}
    return thing("apps/v1", "StatefulSet", {"replicas": replicas, "selector": selector, "template": body, **spec})


def test_a_stateful_set_makes_its_pods_one_by_one() -> None:
    report = simulated(template("one"), POD_GROUP, stateful())
    assert (report.fits, report.bad) == (Fits.NO, True)
    told = page(report)
    assert told.startswith(
        "The coscheduling plugin would start no pod of PodGroup ml/w, whatever is free: it needs 3 at once, and only "
        "1 is ever there, as StatefulSet ml/w makes each pod when the one before it is ready. "
        "Set spec.podManagementPolicy: Parallel."
    )
    assert "Then only" not in told


def test_then_devices_may_be_too_few_as_well() -> None:
    group = {**POD_GROUP, "spec": {"minMember": 6}}
    assert "Set spec.podManagementPolicy: Parallel. Then only 4 of its 6 pods fit." in page(
        simulated(template("one"), group, stateful(6))
    )


def test_a_stateful_set_that_makes_all_at_once_can_be_a_gang() -> None:
    report = simulated(template("one"), POD_GROUP, stateful(podManagementPolicy="Parallel"))
    assert (report.bad, report.gangs) == (False, ())


def of_kubernetes(least: int) -> list[dict[str, Any]]:
    policy = {"schedulingPolicy": {"gang": {"minCount": least}}}
    body = stateful()
    body["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "w"}
    return [thing("scheduling.k8s.io/v1beta1", "PodGroup", policy), body]


@pytest.mark.parametrize(("least", "starts"), [(3, False), (1, True)])
def test_gangs_of_kubernetes_wait_alike(least: int, starts: bool) -> None:
    report: SimulationReport = simulated(template("one"), *of_kubernetes(least))
    assert (report.gangs == ()) is starts
    assert ("The scheduler would start no pod of PodGroup ml/w" in page(report)) is not starts


def test_workers_that_wait_for_a_leader_of_their_gang() -> None:
    groups = {"leaderTemplate": labelled(), "workerTemplate": labelled(), "size": 3}
    spec = {"replicas": 1, "leaderWorkerTemplate": groups}
    together = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)
    assert simulated(template("one"), POD_GROUP, together).gangs == ()
    waiting = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {**spec, "startupPolicy": "LeaderReady"})
    told = page(simulated(template("one"), POD_GROUP, waiting))
    assert "only 1 is ever there, as LeaderWorkerSet ml/w makes some when others are ready." in told
