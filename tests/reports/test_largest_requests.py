"""Sums of requests: whose request makes them is named, and the field that is lowered is the one that counts.

Upstream: k8s.io/component-helpers/resource, PodRequests.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.pod_edits import edited
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.model.core import Container, Pod, PodSpec, ResourceRequirements
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.request_parts import lowered, maker_of
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.reports.base import Fits
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.ways import remedies
from tests.reports.test_simulated_files import a_pod, page, simulated

NS = build.NAMESPACE
GPU = "example.com/gpu"


def container(name: str, requests: dict[str, str], limits: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": "x", "resources": {"requests": requests, "limits": limits or {}}, **more}


def sidecar(name: str, requests: dict[str, str]) -> dict[str, Any]:
    return container(name, requests, restartPolicy="Always")


def pod(*containers: dict[str, Any], init: tuple[dict[str, Any], ...] = (), **spec: Any) -> dict[str, Any]:
    body = {"apiVersion": "v1", **a_pod("p")}
    body["spec"] |= {"containers": list(containers), "initContainers": list(init), **spec}
    return body


def told(body: dict[str, Any]) -> str:
    return page(simulated(body))


def cpu(amount: str) -> dict[str, str]:
    return {"cpu": amount}


OF_POD = pod(container("a", cpu("2")), container("b", cpu("1")), resources={"requests": cpu("80"), "limits": cpu("90")})


@pytest.mark.parametrize(
    ("body", "reason", "way"),
    [
        (
            OF_POD,
            "only 64 CPUs in all (80 requested by the pod's own spec.resources)",
            "request 64 cpu instead of 80 in the pod's own spec.resources",
        ),
        (
            pod(container("a", cpu("2")), init=(container("fetch", cpu("80")),)),
            "(80 requested by init container fetch)",
            "request 64 cpu instead of 80 in init container fetch",
        ),
        (
            pod(container("a", cpu("2")), init=(sidecar("log", cpu("4")), container("fetch", cpu("80")))),
            "(84 requested, 80 of them by init container fetch)",
            "request 60 cpu instead of 80 in init container fetch",
        ),
        (
            pod(container("a", cpu("2")), init=(container("fetch", cpu("80")), sidecar("log", cpu("4")))),
            "(80 requested by init container fetch)",
            "request 64 cpu instead of 80 in init container fetch",
        ),
        (
            pod(container("a", cpu("20")), container("b", cpu("50"))),
            "(70 requested, 50 of them by container b)",
            "request 44 cpu instead of 50 in container b",
        ),
        (
            pod(container("a", cpu("20")), init=(sidecar("log", cpu("50")),)),
            "(70 requested, 50 of them by init container log)",
            "request 44 cpu instead of 50 in init container log",
        ),
        (
            pod(container("a", cpu("70")), init=(container("fetch", cpu("80")),)),
            "(80 requested by init container fetch)",
            "request 64 cpu instead of 70 in container a, and request 64 cpu instead of 80 in init container fetch",
        ),
    ],
)
def test_the_request_that_makes_the_sum_is_named_and_lowered(body: dict[str, Any], reason: str, way: str) -> None:
    text = told(body)
    assert reason in text
    assert way in re.sub(r" \(in Pod p\)|(?<=and )node-1 ", "", text)


def test_the_only_container_is_not_named() -> None:
    assert "(80 requested)" in told(pod(container("a", cpu("80"))))


def test_what_the_pod_requests_as_a_whole_is_not_less_than_its_containers() -> None:
    """Upstream: pkg/apis/core/validation, validatePodResourceConsistency."""
    body = pod(container("a", cpu("70")), resources={"requests": cpu("80")})
    text = told(body)
    assert "(80 requested by the pod's own spec.resources)" in text
    assert "in the pod's own spec.resources (" not in text
    assert "request 64 cpu" not in text


def test_the_limit_of_the_pod_stays_as_it_is() -> None:
    spec = {"requests": cpu("80"), "limits": cpu("90")}
    text = told(pod(container("a", cpu("2"), cpu("64")), resources=spec))
    assert "spec.resources.requests.cpu" in text
    assert "spec.resources.limits.cpu" not in text


@pytest.mark.parametrize("resource", ["cpu", "memory"])
@pytest.mark.parametrize("requests", [True, False])
def test_the_limit_of_a_container_stays_where_it_may_be_higher(resource: str, requests: bool) -> None:
    """A container that has a limit alone requests as much, until it is given a request of its own."""
    much = {resource: "9999Gi"}
    text = told(pod(container("a", much if requests else {}, much)))
    assert f"spec.containers[0].resources.requests.{resource}" in text
    assert "resources.limits" not in text


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize(
    ("resource", "field"),
    [
        *((each, f"containers[a].resources[{each}]") for each in ("cpu", "memory", "ephemeral-storage")),
        ("memory", "resources.requests[memory]"),
        (GPU, f"containers[a].resources[{GPU}]"),
    ],
)
def test_a_template_with_a_limit_alone_is_given_the_lower_request(resource: str, field: str, written: bool) -> None:
    """The API server makes requests of limits in pods, not in templates. Devices are requested as limited."""
    most, less = {resource: Quantity.parse("8")}, {resource: Quantity.parse("2")}
    resources = ResourceRequirements(requests=most if written else {}, limits=most)
    spec = PodSpec(containers=(Container(name="a", resources=resources),), resources=resources)
    after = edited(spec, EditPod(ObjectRef("Pod", NS, "p"), field, "8", "2"))
    found = after.resources if field.startswith("resources") else after.containers[0].resources
    whole = resource == GPU
    assert found == ResourceRequirements(requests={} if whole and not written else less, limits=less if whole else most)


def stored(body: dict[str, Any]) -> Pod:
    (found,) = facts.inventory([body]).pods.values()
    return found


WITH_SIDECARS = (sidecar("s", cpu("4")), container("i", cpu("31")), sidecar("t", cpu("1")))
LARGE_SIDECAR = (sidecar("s", cpu("40")), container("i", cpu("2")), container("j", cpu("5")))


@pytest.mark.parametrize(
    ("body", "room", "parts"),
    [
        (OF_POD, 36_000, {"": 36_000}),
        (OF_POD, 2_000, {}),
        (pod(container("a", cpu("8")), overhead=cpu("1")), 2_000, {"a": 1_000}),
        (pod(container("a", cpu("8")), overhead=cpu("1")), 1_000, {}),
        (pod(container("a", cpu("8")), container("b", cpu("9")), overhead=cpu("500m")), 12_000, {"b": 3_500}),
        (pod(container("a", cpu("30")), init=WITH_SIDECARS), 15_000, {"a": 10_000, "i": 11_000}),
        (pod(container("a", cpu("3")), init=LARGE_SIDECAR), 36_000, {"s": 33_000, "j": 3_000}),
        (pod(container("a", cpu("3")), init=LARGE_SIDECAR), 45_000, {}),
    ],
)
def test_what_is_lowered_leaves_what_there_is_room_for(body: dict[str, Any], room: int, parts: dict[str, int]) -> None:
    found = {each.name if each is not None else "": number for each, number in lowered(stored(body), "cpu", room)}
    assert found == parts
    spec = dict(body["spec"])
    for containers in ("containers", "initContainers"):
        spec[containers] = [
            each | {"resources": {"requests": cpu(f"{found[each['name']]}m")}} if each["name"] in found else each
            for each in spec[containers]
        ]
    if "" in found:
        spec["resources"] = {"requests": cpu(f"{found['']}m")}
    assert not found or pod_requests(stored(body | {"spec": spec}))["cpu"] == room


def test_nothing_decides_alone_what_one_container_requests() -> None:
    assert maker_of(stored(pod(container("a", cpu("8")))), "cpu") is None


# --- extended resources ---------------------------------------------------------------------------------------------


def gpus(number: int) -> dict[str, str]:
    return {GPU: str(number)}


def extended(init: int, main: int, free: int = 3) -> tuple[ClusterState, dict[str, Any]]:
    body = pod(container("serve", gpus(main), gpus(main)), init=(container("build", gpus(init), gpus(init)),))
    there = [build.namespace(), build.device_class(extendedResourceName=GPU), build.node(), body]
    there.append(build.slice_("node-1", *[build.device(f"gpu-{number}") for number in range(free)]))
    return ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK), body


def ways(init: int, main: int) -> list[list[tuple[str, str]]]:
    world, _ = extended(init, main)
    found = remedies(world, Diagnoser(world).pod(Key(NS, "p")))
    edits = [[each for each in remedy.actions if isinstance(each, EditPod)] for remedy in found]
    return [[(each.field.partition("[")[0], each.after) for each in actions] for actions in edits if actions]


def test_an_init_container_asks_for_fewer_devices() -> None:
    assert ways(4, 2) == [[("initContainers", "3")]]
    assert ways(2, 4) == [[("containers", "3")]]
    assert ways(4, 4) == [[("containers", "3"), ("initContainers", "3")]]


def test_devices_of_an_init_container_are_not_added_to_those_of_the_others() -> None:
    world, body = extended(4, 2)
    empty = world.inventory.replace(pods={})
    report = simulated(body, world=world.changed(empty))
    assert report.fits is Fits.NO
    text = page(report)
    assert "init container build needs 4 example.com/gpu (with those of container serve)" in text
    assert "and no node has 4: node-1 has 3 devices" in text
    assert "held until the pod ends" in text
