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
from kubectl_dra.output.pending.consequences import note_texts
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.ways import remedies
from tests.output.pending.test_situations import page_of, report_of
from tests.reports.test_simulated_files import a_pod, cluster, page, simulated

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


# --- quality of service -----------------------------------------------------------------------------------------------

KEEPS = "so that the pod stays Guaranteed"
LOSES = "it is then Burstable, no longer Guaranteed"


def whole(body: dict[str, Any], *objects: dict[str, Any]) -> str:
    """The page without the column of nodes."""
    return page(simulated(body, world=cluster(*objects))).replace(" node-1 ", " ")


def both(cpus: str) -> dict[str, str]:
    return {"cpu": cpus, "memory": "1Gi"}


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("field", ["containers[a].resources[cpu]", "resources.requests[cpu]"])
def test_of_a_limit_alone_the_limit_is_lowered(field: str, *, written: bool) -> None:
    most, less = {"cpu": Quantity.parse("8")}, {"cpu": Quantity.parse("2")}
    resources = ResourceRequirements(requests=most if written else {}, limits=most)
    spec = PodSpec(containers=(Container(name="a", resources=resources),), resources=resources)
    after = edited(spec, EditPod(ObjectRef("Pod", NS, "p"), field, "8", "2", qos_class="Guaranteed"))
    found = after.resources if field.startswith("resources") else after.containers[0].resources
    assert found == ResourceRequirements(requests=less if written else {}, limits=less)


def test_the_limit_of_a_guaranteed_pod_is_lowered_with_its_request() -> None:
    text = whole(pod(container("a", both("80"), both("80"))))
    assert f"request and limit 64 cpu instead of 80 in container a, {KEEPS}" in text
    assert "spec.containers[0].resources.limits.cpu" in text
    assert "spec.containers[0].resources.requests.cpu" in text


@pytest.mark.parametrize(
    "body",
    [
        pod(container("a", both("80"), both("90"))),
        pod(container("a", both("80"), cpu("80"))),
        pod(container("a", both("80"), both("80")), container("b", {}, {"memory": "1Gi"})),
        pod(container("a", both("80"), both("80")), init=(container("i", both("1")),)),
    ],
)
def test_the_limit_of_other_pods_stays(body: dict[str, Any]) -> None:
    text = whole(body)
    assert "request 64 cpu instead of 80 in container a" in text
    assert "Guaranteed" not in text
    assert "limits" not in text


def test_disk_space_has_nothing_to_do_with_it() -> None:
    much = {**both("1"), "ephemeral-storage": "99Gi"}
    world = cluster().inventory.replace(nodes=facts.inventory([build.node(**{"ephemeral-storage": "9Gi"})]).nodes)
    text = page(simulated(pod(container("a", much, much)), world=cluster().changed(world)))
    assert "request 9Gi ephemeral-storage instead of 99Gi in container a" in text
    assert "Guaranteed" not in text


@pytest.mark.parametrize(("limit", "keeps"), [("64", True), ("65", False)])
def test_a_pod_may_not_be_limited_to_less_than_a_container(limit: str, keeps: bool) -> None:
    """Upstream: pkg/apis/core/validation, validatePodResourceConsistency."""
    own = {"requests": both("80"), "limits": both("80")}
    text = whole(pod(container("a", cpu("2"), cpu(limit)), resources=own))
    assert ("request and limit 64 cpu instead of 80 in the pod's own spec.resources" in text) is keeps
    assert (KEEPS in text, LOSES in text) == (keeps, not keeps)
    assert ("spec.resources.limits.cpu" in text) is keeps


def test_defaults_are_replaced_by_both() -> None:
    limits = {"limits": [{"type": "Container", "default": both("80"), "defaultRequest": both("80")}]}
    meta = {"name": "defaults", "namespace": NS}
    range_ = {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": limits}
    text = whole(pod(container("a", {})), range_)
    assert "request and limit 64 cpu in container a, in place of the default of 80 from the LimitRange" in text
    assert "spec.containers[0].resources.requests" in text
    assert "spec.containers[0].resources.limits" in text


@pytest.mark.parametrize("read", [True, False])
def test_a_limit_range_that_was_not_read_may_forbid_less(read: bool) -> None:
    evidence = facts.evidence(*(() if read else ("LimitRange",)))
    inventory = facts.inventory([build.node(), build.pod("p", requests=cpu("80"))])
    world = ClusterState(inventory, evidence, features(), CLOCK)
    found = find_remedies(world, Diagnoser(world).pod(Key(NS, "p"))).remedies
    (way,) = [each for each in found if any(isinstance(action, EditPod) for action in each.actions)]
    told = "a LimitRange may forbid so small a request: LimitRanges could not be read"
    assert (told in [str(each) for each in note_texts(way)]) is not read


@pytest.mark.parametrize(
    ("said", "by_it"),
    [
        ("container 0: cpu request, memory request", True),
        ("container 0: memory request", False),
        ("container 1: cpu request", False),
        ("container 0: cpu limit", False),
    ],
)
def test_what_a_vertical_autoscaler_sets_is_not_lowered_in_the_template(said: str, *, by_it: bool) -> None:
    body = build.pod("pod", requests=cpu("80"))
    body["metadata"]["annotations"] = {"vpaUpdates": f"Pod resources updated by web: {said}"}
    report = report_of(build.node(cpu="64"), body)
    text = re.sub(r"\x1b\[\d*m", "", page_of(report))
    assert ("80 requested, set by VerticalPodAutoscaler web for container main" in text) is by_it
    assert ("requests cpu for each new pod" in text) is by_it
    assert any(isinstance(each, EditPod) for way in report.remedies for each in way.actions) is not by_it


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


# --- what nodes have in pieces, or by device plugins ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("has", "way"),
    [
        ("5Mi", "request 4Mi hugepages-2Mi instead of 8Mi in container main (in Pod p)"),
        ("4Mi", "request 4Mi hugepages-2Mi instead of 8Mi in container main (in Pod p)"),
        ("1Mi", ""),
    ],
)
def test_huge_pages_are_whole_pages(has: str, way: str) -> None:
    pages = {"hugepages-2Mi": "8Mi"}
    body = pod(container("main", {**cpu("1"), **pages}, pages))
    node = build.node(**{"hugepages-2Mi": has})
    world = cluster().inventory.replace(nodes=facts.inventory([node]).nodes)
    text = page(simulated(body, world=cluster().changed(world))).replace("(in node-1 Pod p)", "(in Pod p)")
    assert "hugepages-2Mi in all (8Mi requested)" in text
    assert (way in text) if way else ("request" not in text.partition("requested)")[2].partition("What usually")[0])


def test_fewer_of_what_a_device_plugin_offers() -> None:
    body = pod(container("main", {"example.com/fpga": "4"}, {"example.com/fpga": "4"}))
    node = build.node(**{"example.com/fpga": "3"})
    world = cluster().inventory.replace(nodes=facts.inventory([node]).nodes)
    text = page(simulated(body, world=cluster().changed(world)))
    assert "request 3 example.com/fpga instead of 4 in container main" in text


def test_a_default_is_not_told_twice() -> None:
    limits = {"limits": [{"type": "Container", "default": {"cpu": "50"}, "defaultRequest": {"cpu": "50"}}]}
    meta = {"name": "defaults", "namespace": NS}
    range_ = {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": limits}
    body = pod(container("a", cpu("20")), init=({"name": "proxy", "image": "x", "restartPolicy": "Always"},))
    text = page(simulated(body, world=cluster(range_))).replace("default node-1 of", "default of")
    told = "(70 requested, 50 of them the default of LimitRange defaults, as container proxy requests none)"
    assert told in text
    assert "request 44 cpu in init container proxy, in place of the default of 50 from the LimitRange" in text
