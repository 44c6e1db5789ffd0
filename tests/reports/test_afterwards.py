"""Ways out for pods of files: how many of all copies fit with each, not only whether the next one does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import PlacedCopies, place
from kubectl_dra.model.core import Pod
from kubectl_dra.reports.pending.renewal import FitThen
from kubectl_dra.reports.simulation import SimulationReport
from kubectl_dra.reports.simulation.gangs import domain_fits
from kubectl_dra.reports.simulation.pods import Copies
from kubectl_dra.reports.simulation.stops import DomainFit
from kubectl_dra.reports.simulation.trials import PodTrial
from tests.kit import build
from tests.reports.test_simulated_files import cluster, page, pod_template, simulated, template, thing

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
TERM = {"labelSelector": {"matchLabels": {"app": "w"}}, "topologyKey": "kubernetes.io/hostname"}


def deployment(replicas: int, name: str = "w", of: str = "one", **spec: Any) -> dict[str, Any]:
    made = pod_template(of)
    made["spec"] |= {"restartPolicy": "Always", **spec}
    made["metadata"] = {"labels": {"app": name}}
    fields = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": made}
    return thing("apps/v1", "Deployment", fields, name=name)


def then(report: SimulationReport, position: int = 0) -> list[FitThen | None]:
    pending = report.pods[position].pending
    assert pending is not None
    ways = [*pending.remedies, *pending.additions]
    return [next((note for note in way.notes if isinstance(note, FitThen)), None) for way in ways if way.verified]


def holder(name: str, devices: int) -> list[dict[str, Any]]:
    """A pod that has some of the devices, which nothing starts again."""
    held = [("node-1", f"gpu-{number}") for number in range(devices)]
    claim = build.claim(f"{name}-claim", build.request(count=devices), held=held, by=[name], on="node-1")
    return [claim, build.pod(name, node_name="node-1", claims=[f"{name}-claim"], phase="Running")]


def test_a_toleration_makes_all_copies_fit() -> None:
    node = {**build.node(cpu="64"), "spec": {"taints": [TAINT]}}
    report = simulated(template("one"), deployment(4), world=cluster(node))
    assert then(report) == [FitThen(4, 4)]
    assert "This would make all 4 copies fit" in page(report)


def test_of_a_way_out_that_is_not_enough_it_is_told_how_many_fit() -> None:
    report = simulated(template("two", 2), deployment(3, of="two"), world=cluster(*holder("h", 3)))
    told = page(report)
    assert then(report)[:2] == [FitThen(1, 3), FitThen(2, 3)]
    assert "request 1 device instead of 2" in told
    assert "(then 1 of 3 fits)" in told
    assert "(then 2 of 3 fit)" in told
    assert "Any one of these would make more copies fit" in told


def test_how_many_new_nodes_are_enough_for_all() -> None:
    report = simulated(template("four", 4), deployment(4, of="four"))
    assert FitThen(2, 4, nodes=3) in then(report)
    assert "or another such node (then 2 of 4 fit; with 3 such nodes all do)" in page(report)


def test_large_numbers_are_written_as_in_the_first_sentence() -> None:
    told = page(simulated(template("four", 4), deployment(5000, of="four")))
    assert "1 of 5,000 copies fit" in told
    assert "This would make 2 of 5,000 copies fit" in told


def test_nodes_for_any_number_of_copies_are_not_even_named() -> None:
    """An annotation may hold any number."""
    made = pod_template("four")
    made["metadata"] = {"annotations": {"autoscaling.knative.dev/min-scale": str(2**70)}}
    del made["spec"]["restartPolicy"]
    report = simulated(template("four", 4), thing("serving.knative.dev/v1", "Service", {"template": made}))
    assert FitThen(2, 2**70) in then(report)


def test_what_no_node_takes_needs_more_nodes_once_it_is_changed() -> None:
    """Neither the change nor new nodes alone would do for all of them."""
    node = {**build.node(cpu="64"), "spec": {"taints": [TAINT]}}
    report = simulated(template("two", 2), deployment(5, of="two"), world=cluster(node))
    assert then(report) == [FitThen(2, 5, more=2, like="node-1")]
    assert "(then 2 of 5 fit; with 2 more nodes like node-1 all do)" in " ".join(page(report).split())


def test_what_heals_other_parts_of_the_files_is_told() -> None:
    """Both have their claims from one template."""
    wrong = template("one", selector='device.attributes["gpu.example.com"].model == "H101"')
    gpus = [build.device(f"h-{number}", attributes={"model": "H100"}) for number in range(4)]
    world = cluster(build.slice_("node-1", *gpus))
    report = simulated(wrong, deployment(2), deployment(2, "v"), world=world)
    assert FitThen(2, 2, rest=True) in then(report)
    assert FitThen(2, 2, rest=True) in then(report, 1)


def test_of_a_single_pod_that_may_become_more_it_is_told_how_many_fit() -> None:
    node = {**build.node(cpu="64"), "spec": {"taints": [TAINT]}}
    head = {
        "template": {"spec": {"containers": [{"name": "h", "image": "x"}], "tolerations": [{"operator": "Exists"}]}}
    }
    group = {"groupName": "gpu", "replicas": 1, "maxReplicas": 6, "template": pod_template("one")}
    ray = thing(
        "ray.io/v1",
        "RayCluster",
        {"enableInTreeAutoscaling": True, "headGroupSpec": head, "workerGroupSpecs": [group]},
    )
    report = simulated(template("one"), ray, world=cluster(node))
    (pod,) = [at for at, each in enumerate(report.pods) if each.role == "gpu"]
    assert then(report, pod) == [FitThen(1, 1, most=6, grown=4)]
    assert "(then 4 of up to 6 fit)" in page(report)


def test_copies_are_placed_once_however_many_ways_out_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none plays a part for others they are counted by nodes alike: the numbers are those of placing them."""
    objects = [*holder("h", 1), *holder("second", 1)]
    objects[2]["status"]["allocation"]["devices"]["results"][0]["device"] = "gpu-1"
    tried: list[int] = []

    def counted(world: ClusterState, pods: Iterable[Pod], *, per_node: bool = False) -> PlacedCopies:
        tried.append(1)
        return place(world, pods, per_node=per_node)

    monkeypatch.setattr("kubectl_dra.reports.simulation.course.place", counted)
    report = simulated(template("one"), deployment(40), world=cluster(*objects))
    placed = len(tried)
    assert then(report) == [*[FitThen(3, 40)] * 2, FitThen(6, 40, nodes=10), FitThen(3, 40)]
    assert placed == 1
    # A pod that is kept apart from others of its kind plays a part for them.
    apart = {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}
    report = simulated(template("one"), deployment(40, affinity={"podAntiAffinity": apart}), world=cluster(*objects))
    assert len(tried) - placed > 1


def _unlike(many: int) -> list[dict[str, Any]]:
    """Workloads none of which fits, each for a reason of its own."""
    made = [deployment(2, f"w-{number}", "one") for number in range(many)]
    for number, each in enumerate(made):
        spec = each["spec"]["template"]["spec"]
        if number % 3 == 0:
            spec["nodeSelector"] = {"zone": f"z-{number}"}
        elif number % 3 == 1:
            spec["containers"][0]["resources"]["requests"] = {"cpu": str(40 + number)}
        else:
            spec["resourceClaims"][0]["resourceClaimTemplateName"] = "five"
            spec["containers"][0]["resources"]["requests"] = {"cpu": f"{number}m"}
    return [template("one"), template("five", 5), *made]


def test_ways_out_of_many_workloads_do_not_place_all_the_others_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many workloads, each with ways out of its own, place twice as many and not four times as many."""
    tried: list[int] = []

    def counted(world: ClusterState, pods: Iterable[Pod], *, per_node: bool = False) -> PlacedCopies:
        tried.append(1)
        return place(world, pods, per_node=per_node)

    monkeypatch.setattr("kubectl_dra.reports.simulation.course.place", counted)
    placed = []
    for many in (9, 18):
        tried.clear()
        report = simulated(*_unlike(many), world=cluster(build.node(cpu="32", labels={"zone": "a"})))
        assert all(pod.lacks for pod in report.pods)
        assert sum(note is not None for at in range(many) for note in then(report, at)) >= many * 2 // 3
        placed.append(len(tried))
    assert placed[1] <= 2.4 * placed[0], placed


def test_domains_of_nodes_are_looked_at_once_however_many_ways_out_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of them have room is part of the page, and not of how many fit after a way out."""
    asked: list[str] = []

    def fits(world: ClusterState, trial: PodTrial, copies: Copies) -> Iterator[DomainFit]:
        asked.append(trial.planned.name)
        return domain_fits(world, trial, copies)

    monkeypatch.setattr("kubectl_dra.reports.simulation.course.domain_fits", fits)
    report = simulated(*_unlike(6), world=cluster(build.node(cpu="32", labels={"zone": "a"})))
    assert asked == [f"w-{number}" for number in range(6)]
    assert any(note is not None for at in range(6) for note in then(report, at))
