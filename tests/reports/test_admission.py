"""LimitRanges, RuntimeClasses and autoscalers of the cluster, in simulate and capacity."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.output.capacity.page import capacity_page, capacity_summary
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.capacity.capacity import CapacityReport, capacity_report
from tests.kit import facts
from tests.reports.test_simulated_files import NS, a_pod, cluster, page, template, thing
from tests.reports.test_strangers import autoscaler, deployment, simulated


def limit_range(*limits: dict[str, Any], namespace: str = NS) -> dict[str, Any]:
    meta = {"name": "limits", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": list(limits)}}


def runtime_class(name: str = "kata", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": name,
        **fields,
    }


def container(**bounds: Any) -> dict[str, Any]:
    return {"type": "Container", **bounds}


def room(*bodies: dict[str, Any], world: Any) -> CapacityReport:
    sources = [Source(json.dumps({"apiVersion": "v1", **body}).encode()) for body in bodies]
    return capacity_report(world, read_all(sources, NS), NS)


# --- LimitRanges ------------------------------------------------------------------------------------------------------


def test_what_a_limit_range_of_the_cluster_gives_counts() -> None:
    world = cluster(limit_range(container(default={"cpu": "100"})))
    report = simulated(template("one"), a_pod("p", templates=["one"]), world=world)
    assert report.fits is Fits.NO
    assert "(100 requested, the default of LimitRange limits, as container main requests none)" in page(report)
    there = cluster(limit_range(container(default={"cpu": "100"}), namespace="other"))
    assert simulated(template("one"), a_pod("p", templates=["one"]), world=there).fits is Fits.YES
    assert not room(template("one"), a_pod("p", templates=["one"]), world=world).shapes[0].capacity.copies.value


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (container(max={"cpu": "1"}), "maximum cpu usage per Container is 1, but limit is 2"),
        (container(min={"memory": "1Gi"}), "minimum memory usage per Container is 1Gi, but request is 512Mi"),
        (
            container(maxLimitRequestRatio={"cpu": "3"}),
            "cpu max limit to request ratio per Container is 3, but provided ratio is 4.000000",
        ),
        ({"type": "Pod", "max": {"cpu": "1500m"}}, "maximum cpu usage per Pod is 1500m, but limit is 2"),
        (
            {"type": "Pod", "max": {"nvidia.com/gpu": "1"}},
            "maximum nvidia.com/gpu usage per Pod is 1.  No limit is specified",
        ),
        ({"type": "PersistentVolumeClaim", "max": {"storage": "1"}}, ""),
    ],
)
def test_a_limit_range_refuses_what_is_out_of_its_bounds(item: dict[str, Any], told: str) -> None:
    """Upstream: PodValidateLimitFunc."""
    world = cluster(limit_range(item))
    resources = {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"cpu": "2", "memory": "1Gi"}}
    pod = a_pod("p", templates=["one"])
    pod["spec"]["containers"][0]["resources"] |= resources
    report = simulated(template("one"), pod, world=world)
    (refused,) = [each.refused for each in report.manifests if each.object.kind == "Pod"]
    assert refused == ((f'pods "p" is forbidden: {told}',) if told else ())
    assert report.fits is (Fits.NO if told else Fits.YES)
    body = deployment(2)
    body["spec"]["template"]["spec"]["containers"][0]["resources"] |= resources
    report = simulated(template("one"), body, world=world)
    assert report.fits is (Fits.NO if told else Fits.YES)
    assert report.pods[0].refused == ((told,) if told else ())
    if told:
        refused = (
            f"Deployment ml/w: its pods would be refused: {' '.join(told.split())} (LimitRange limits). Change spec"
        )
        assert refused in page(report)
        counted = room(template("one"), body, world=world)
        assert counted.bad
        assert f"would be refused: {' '.join(told.split())}." in " ".join(capacity_summary(counted).split())


def test_a_default_lies_within_the_bounds_of_its_range() -> None:
    world = cluster(limit_range(container(max={"cpu": "1"})))
    report = simulated(template("one"), a_pod("p", templates=["one"]), world=world)
    assert report.fits is Fits.YES


@pytest.mark.parametrize("coverage", [Coverage.FORBIDDEN, Coverage.NOT_READ])
def test_limit_ranges_that_were_not_read_leave_it_open(coverage: Coverage) -> None:
    reads = tuple(each for each in facts.evidence().reads if each.kind != "LimitRange")
    evidence = Evidence((*reads, Read("LimitRange", coverage=coverage)), server_version=(1, 37))
    world = cluster(evidence=evidence)
    objects = template("one"), a_pod("p", templates=["one"])
    report = simulated(*objects, world=world)
    assert report.fits is Fits.UNKNOWN
    assert [(each.kind, each.namespace) for each in report.missing if each.decides] == [("LimitRange", NS)]
    assert "nothing that was read keeps it from running; whether it fits is unknown." in page(report)
    assert "not read, and may change what is created: the LimitRanges of namespace ml" in page(report)
    counted = room(*objects, world=world)
    assert "fits at most 4 more times now." in capacity_summary(counted)
    assert counted.partial
    shown = " ".join(" ".join(capacity_page(counted, world.evidence.address)).split())
    assert "not read, and may change what is created: the LimitRanges of namespace ml" in shown
    # A bare pod stands for any; and in a namespace that is made first there is none.
    assert simulated(template("one"), world=world).fits is Fits.YES
    # What does not fit without them does not fit with them.
    assert simulated(template("one", count=9), a_pod("p", templates=["one"]), world=world).fits is Fits.NO


def test_which_fields_a_limit_range_is_about() -> None:
    body = deployment(1)
    containers = body["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "side", "image": "x", "resources": {"limits": {"cpu": "24"}}})
    containers[0]["resources"]["limits"] = {"cpu": "1"}
    item = {"type": "Container", "max": {"cpu": "16"}}
    told = page(simulated(template("one"), body, world=cluster(limit_range(item))))
    text = "Change spec.template.spec.containers[1].resources in Deployment w, or the bounds in LimitRange limits."
    assert text in told
    pods = page(simulated(template("one"), body, world=cluster(limit_range({**item, "type": "Pod"}))))
    assert "Change spec.template.spec.containers[0].resources, spec.template.spec.containers[1].resources in" in pods


# --- RuntimeClasses ---------------------------------------------------------------------------------------------------


def test_a_runtime_class_of_the_cluster_adds_to_its_pods() -> None:
    pod = a_pod("p", templates=["one"], runtimeClassName="kata")
    objects = template("one"), pod
    assert simulated(*objects, world=cluster(runtime_class())).fits is Fits.YES
    heavy = cluster(runtime_class(overhead={"podFixed": {"cpu": "100"}}))
    assert simulated(*objects, world=heavy).fits is Fits.NO
    chosen = cluster(runtime_class(scheduling={"nodeSelector": {"kata": "yes"}}))
    assert "kata=yes" in page(simulated(*objects, world=chosen))
    counted = room(*objects, world=chosen)
    assert not counted.shapes[0].capacity.copies.value


def test_a_runtime_class_that_does_not_exist_refuses_its_pods() -> None:
    """Upstream: prepareObjects."""
    pod = a_pod("p", templates=["one"], runtimeClassName="kata")
    report = simulated(template("one"), pod)
    assert report.fits is Fits.NO
    assert 'is forbidden: pod rejected: RuntimeClass "kata" not found' in page(report)
    body = deployment(2)
    body["spec"]["template"]["spec"]["runtimeClassName"] = "kata"
    report = simulated(template("one"), body)
    told = page(report)
    assert "Deployment ml/w: its pods are refused: RuntimeClass kata does not exist." in told
    assert "RuntimeClasses that exist: none. Remove spec.template.spec.runtimeClassName if it is there for" in told
    assert "As if RuntimeClass kata existed: Deployment ml/w: both copies fit." in told
    assert (report.fits, report.pods[0].copies) == (Fits.NO, 2)


def test_behind_a_runtime_class_that_does_not_exist_the_next_obstacle_is_told() -> None:
    body = deployment(2)
    body["spec"]["template"]["spec"]["runtimeClassName"] = "kata"
    body["spec"]["template"]["spec"]["nodeSelector"] = {"pool": "gpu"}
    told = page(simulated(template("one"), body, world=cluster(runtime_class("gvisor"))))
    assert "RuntimeClasses that exist: gvisor." in told
    assert "As if RuntimeClass kata existed: Deployment ml/w: 0 of 2 copies fit: " in told
    assert "pool=gpu" in told


@pytest.mark.parametrize(
    ("fields", "spec", "told"),
    [
        (
            {"overhead": {"podFixed": {"cpu": "1"}}},
            {"overhead": {"cpu": "2"}},
            "pod rejected: Pod's Overhead doesn't match",
        ),
        ({}, {"overhead": {"cpu": "2"}}, "pod rejected: Pod Overhead set without corresponding RuntimeClass"),
        (
            {"scheduling": {"nodeSelector": {"a": "b"}}},
            {"nodeSelector": {"a": "c"}},
            "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c",
        ),
    ],
)
def test_a_pod_that_contradicts_its_runtime_class_is_refused(
    fields: dict[str, Any], spec: dict[str, Any], told: str
) -> None:
    pod = a_pod("p", templates=["one"], runtimeClassName="kata", **spec)
    report = simulated(template("one"), pod, world=cluster(runtime_class(**fields)))
    assert report.fits is Fits.NO
    assert told in page(report)


# --- autoscalers ------------------------------------------------------------------------------------------------------


def test_an_autoscaler_of_the_cluster_says_how_many_pods_there_are() -> None:
    there = autoscaler(6, 20)
    there["metadata"]["namespace"] = NS
    report = simulated(template("one"), deployment(1), world=cluster(there))
    assert (report.pods[0].wanted, report.fits) == (6, Fits.NO)
    assert "spec.minReplicas of HorizontalPodAutoscaler w HorizontalPodAutoscaler w may make up to 20" in page(report)
    # That of the files replaces it.
    assert simulated(template("one"), deployment(1), autoscaler(2, 3), world=cluster(there)).pods[0].wanted == 2


def test_autoscalers_that_were_not_read_leave_open_whether_all_fit() -> None:
    world = cluster(evidence=facts.evidence("HorizontalPodAutoscaler"))
    report = simulated(template("one"), deployment(2), world=world)
    assert report.fits is Fits.UNKNOWN
    assert "not read, and may change what is created: the HorizontalPodAutoscalers of namespace ml" in page(report)
    assert simulated(template("one"), deployment(9), world=world).fits is Fits.NO
    job = thing("batch/v1", "Job", {"template": deployment(1)["spec"]["template"]})
    job["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    for body in (a_pod("p", templates=["one"]), job):
        assert simulated(template("one"), body, world=world).fits is Fits.YES


def test_nothing_is_said_of_a_namespace_that_is_made_first() -> None:
    withheld = facts.evidence("LimitRange", "HorizontalPodAutoscaler")
    there, body = template("one"), deployment(2)
    there["metadata"]["namespace"] = body["metadata"]["namespace"] = "new"
    report = simulated(there, body, world=cluster(evidence=withheld))
    assert report.new_namespaces == ("new",)
    assert report.fits is Fits.YES
