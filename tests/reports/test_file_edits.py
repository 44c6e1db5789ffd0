"""Ways out of what stands in files: which file, which field, what to write there."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.output.simulation.page import simulation_page
from kubectl_dra.reports.simulation import Copies, SimulationReport, simulation_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.reports.test_simulated_files import a_pod, cluster, pod_template, simulated, template, thing

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
TOLERATION = [{"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]


def report(*bodies: dict[str, Any], tainted: bool = True) -> SimulationReport:
    """The objects, as if each stood on a line of its own."""
    world = cluster()
    if tainted:
        node = build.node(cpu="64")
        world = cluster({**node, "spec": {"taints": [TAINT]}})
    return simulation_report(world, read_all(sources_of(*bodies), build.NAMESPACE), Copies())


def sources_of(*bodies: dict[str, Any]) -> list[Source]:
    return [
        Source(json.dumps({"apiVersion": "v1", **body}).encode(), "", "", f"app.yaml, line {number}")
        for number, body in enumerate(bodies, 1)
    ]


def page(found: SimulationReport) -> str:
    return "\n".join(simulation_page(found, CLOCK.now(), steps=True))


def said(found: SimulationReport) -> str:
    """The page as one line without colours."""
    return " ".join(re.sub("\x1b\\[[0-9]*m", "", page(found)).split())


def edits(found: SimulationReport) -> list[tuple[str, str, Any]]:
    ways = (way for pod in found.pods if pod.pending is not None for way in pod.pending.remedies)
    made = (step.edit for way in ways for step in way.steps)
    return [(each.at, each.field, each.value) for each in made if each is not None]


def ray() -> dict[str, Any]:
    head = {
        "template": {"spec": {"containers": [{"name": "head", "image": "x"}], "tolerations": [{"operator": "Exists"}]}}
    }
    group = {"groupName": "gpu", "replicas": 1, "template": pod_template("one")}
    return thing("ray.io/v1", "RayCluster", {"headGroupSpec": head, "workerGroupSpecs": [group]})


def spark() -> dict[str, Any]:
    executor = {"instances": 1, "template": pod_template("one")}
    driver = {"tolerations": [{"operator": "Exists"}]}
    return thing("sparkoperator.k8s.io/v1beta2", "SparkApplication", {"driver": driver, "executor": executor})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (ray(), "spec.workerGroupSpecs[0].template.spec.tolerations"),
        (spark(), "spec.executor.template.spec.tolerations"),
        (a_pod("w", templates=["one"]), "spec.tolerations"),
        (thing("batch/v1", "Job", {"template": pod_template("one")}), "spec.template.spec.tolerations"),
        (thing("x.io/v1", "Server", {"predictor": pod_template("one")["spec"]}), "spec.predictor.tolerations"),
    ],
)
def test_a_change_of_pods_is_a_field_of_the_file(body: dict[str, Any], field: str) -> None:
    found = report(template("one"), body)
    assert edits(found) == [("app.yaml, line 2", field, TOLERATION)]
    told = page(found)
    assert "recreate the pod" not in told
    assert f"in app.yaml, line 2 ({body['kind']} w): {field}" in " ".join(told.replace("\n#", "").split())
    assert "\n# tolerations:\n# - key: dedicated\n" in told


def test_a_change_of_a_template_is_the_field_of_its_file() -> None:
    """Nothing of it exists yet, so that nothing is replaced."""
    found = report(template("nine", 9), a_pod("p", templates=["nine"]), tainted=False)
    assert edits(found)[0] == ("app.yaml, line 1", "spec.spec.devices.requests[0].exactly.count", 4)
    told = page(found)
    assert "replaces the template" not in told
    assert "(app.yaml, line 1: ResourceClaimTemplate nine)" in told


def test_a_field_is_that_of_the_version_in_the_file() -> None:
    nine = template("nine", 9)
    (request,) = nine["spec"]["spec"]["devices"]["requests"]
    request |= request.pop("exactly")
    old = {**nine, "apiVersion": "resource.k8s.io/v1beta1"}
    found = report(old, a_pod("p", templates=["nine"]), tainted=False)
    assert edits(found)[0] == ("app.yaml, line 1", "spec.spec.devices.requests[0].count", 4)


def test_what_changes_of_several_requests_is_their_list() -> None:
    whole = template("both", 3)
    (request,) = whole["spec"]["spec"]["devices"]["requests"]
    whole["spec"]["spec"]["devices"]["requests"] = [request, {**request, "name": "more"}]
    ways = edits(report(whole, a_pod("p", templates=["both"]), tainted=False))
    assert ("app.yaml, line 1", "spec.spec.devices.requests[0].exactly.count", 1) in ways
    assert ("app.yaml, line 1", "spec.spec.devices.requests", [request]) in ways


def test_a_change_of_the_pods_and_one_of_their_template_are_both_told() -> None:
    """Neither alone would do."""
    job = thing("batch/v1", "Job", {"template": pod_template("nine")})
    found = report(template("nine", 9), job)
    assert ("app.yaml, line 2", "spec.template.spec.tolerations", TOLERATION) in edits(found)
    assert ("app.yaml, line 1", "spec.spec.devices.requests[0].exactly.count", 4) in edits(found)


def test_the_field_of_a_number_comes_with_its_file() -> None:
    job = thing("batch/v1", "Job", {"parallelism": 6, "completions": 6, "template": pod_template("one")})
    assert "all fit with spec.parallelism: 4 in app.yaml, line 2." in page(report(template("one"), job, tainted=False))


def test_ways_out_leave_the_rest_of_the_files_what_it_takes() -> None:
    """The second Job takes all devices of the other model: they are no way out for the first."""
    other = [build.device(f"l-{number}", attributes={"model": "L40"}) for number in range(2)]
    selector = 'device.attributes["gpu.example.com"].model == "{}"'
    h100 = [build.device(f"h-{number}", attributes={"model": "H100"}) for number in range(2)]
    nodes = [build.node(cpu="64"), build.node("node-2", cpu="64")]
    slices = [build.slice_("node-1", *h100), build.slice_("node-2", *other)]
    there = facts.inventory([build.namespace(), build.device_class(), *nodes, *slices])
    world = ClusterState(there, facts.evidence(), features(), CLOCK)
    first = thing("batch/v1", "Job", {"parallelism": 3, "completions": 3, "template": pod_template("one")})
    second = thing("batch/v1", "Job", {"parallelism": 2, "completions": 2, "template": pod_template("two")}, name="v")
    one, two = template("one", selector=selector.format("H100")), template("two", selector=selector.format("L40"))

    def ways(*bodies: dict[str, Any]) -> str:
        sources = [Source(json.dumps(body).encode()) for body in bodies]
        found = simulation_report(world, read_all(sources, build.NAMESPACE), Copies())
        return page(found)

    way = 'select model == "L40"'
    assert way in ways(one, two, first)
    assert way not in ways(one, two, first, second)


def test_pods_of_a_stage_that_has_ended_are_still_explained() -> None:
    """What waits for them takes nothing from them, and is placed without them."""
    jobs = [
        {"name": "a", "template": {"spec": {"parallelism": 6, "completions": 6, "template": pod_template("one")}}},
        {"name": "b", "template": {"spec": {"template": pod_template("one")}}},
    ]
    jobs[1]["dependsOn"] = [{"name": "a", "status": "Complete"}]
    found = report(
        template("one"), thing("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs}), tainted=False
    )
    assert [(each.role, each.copies) for each in found.pods] == [("a", 4), ("b", 0)]
    assert "all fit with spec.replicatedJobs[0].template.spec.parallelism: 4" in " ".join(page(found).split())


def test_items_of_a_workflow_wait_until_others_have_ended() -> None:
    loop = {"name": "train", "template": "train", "withItems": [1, 2, 3, 4, 5, 6]}
    spec = pod_template("one")["spec"]
    (container,) = spec["containers"]
    train = {"name": "train", "container": container, "resourceClaims": spec["resourceClaims"]}
    main = {"name": "main", "dag": {"tasks": [loop, {"name": "eval", "template": "eval", "depends": "train"}]}}
    listed = [main, {**train, "name": "eval"}, train]
    flow = thing("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "main", "templates": listed})
    found = report(template("one"), flow, tainted=False)
    assert [(each.role, each.wanted, each.copies) for each in found.pods] == [("train", 6, 4), ("eval", 1, 1)]
    told = said(found)
    assert told.startswith("Not everything fits at once: Workflow ml/w, train runs 4 of 6 at a time.")
    assert "4 of 6 copies fit at a time; the next one waits until one of these has ended: " in told
    assert "4 run at a time, and the others start once these have ended" in told


def test_what_never_starts_is_told_before_what_waits_its_turn() -> None:
    loop = {"name": "train", "template": "train", "withItems": [1, 2, 3, 4, 5, 6]}
    train, evaluate = (pod_template(name)["spec"] for name in ("one", "none"))
    leaves = [
        {"name": name, "container": spec["containers"][0], "resourceClaims": spec["resourceClaims"]}
        for name, spec in (("train", train), ("eval", evaluate))
    ]
    main = {"name": "main", "dag": {"tasks": [loop, {"name": "eval", "template": "eval", "depends": "train"}]}}
    flow = thing("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "main", "templates": [main, *leaves]})
    told = said(report(template("one"), flow, tainted=False))
    assert told.startswith(
        "Not everything fits: Workflow ml/w, eval does not: 4 of the Workflow's 7 pods fit; "
        "Workflow ml/w, train runs 4 of 6 at a time."
    )


@pytest.mark.parametrize(
    ("fields", "in_turn"),
    [
        ({"parallelism": 6, "completions": 12}, True),
        ({"parallelism": 6, "completions": 12, "completionMode": "Indexed"}, True),
        ({"parallelism": 6, "completions": 6, "completionMode": "Indexed"}, False),
    ],
)
def test_pods_of_a_job_that_wait_for_none_of_the_others_run_in_turn(fields: dict[str, Any], in_turn: bool) -> None:
    job = thing("batch/v1", "Job", {**fields, "template": pod_template("one")})
    (pod,) = report(template("one"), job, tainted=False).pods
    assert (pod.copies, pod.in_turn) == (4, in_turn)


def test_another_storage_class_is_written_in_the_claim_of_the_files() -> None:
    zoned = [{"matchLabelExpressions": [{"key": "zone", "values": ["b"]}]}]
    mode = {"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}
    there = [
        {"kind": "StorageClass", "metadata": {"name": "zoned"}, **mode, "allowedTopologies": zoned},
        {"kind": "StorageClass", "metadata": {"name": "wide"}, **mode},
    ]
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": build.NAMESPACE},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
            "storageClassName": "zoned",
        },
    }
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    body = {"apiVersion": "v1", **a_pod("p", templates=["one"], volumes=[volume])}
    (pod,) = simulated(claim, template("one"), body, world=cluster(*there)).pods
    assert pod.pending is not None
    edits = [step.edit for way in pod.pending.remedies for step in way.steps if step.edit is not None]
    assert [(each.object.name, each.field, each.value) for each in edits] == [("data", "spec.storageClassName", "wide")]


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_template_that_is_made_from_a_claim_is_shown_whole(version: str) -> None:
    """In the version in which the claim stands in the files, to be written beside it."""
    shared = {"apiVersion": f"resource.k8s.io/{version}", **build.claim("shared", build.request())}
    request = build.request()
    shared["spec"] = {"devices": {"requests": [request if version == "v1" else request | request.pop("exactly")]}}
    bodies = [a_pod(name, claims=["shared"], requests={"cpu": "40"}) for name in ("one", "two")]
    world = cluster(build.node("node-2", cpu="64"), build.slice_("node-2", build.device("gpu-0")))
    found = simulation_report(world, read_all(sources_of(shared, *bodies), build.NAMESPACE), Copies())
    made = [each for each in edits(found) if not each[1]]
    ((at, _, new),) = made
    assert (at, new["apiVersion"]) == ("app.yaml, line 1", f"resource.k8s.io/{version}")
    assert new["metadata"] == {"name": "shared", "namespace": build.NAMESPACE}
    assert new["spec"]["spec"]["devices"]["requests"] == shared["spec"]["devices"]["requests"]
    told = page(found)
    assert "# new, beside app.yaml, line 1: ResourceClaimTemplate shared\n# ---\n# apiVersion: resource.k8s.io/" in told
    assert re.search("\n# +deviceClassName: gpu.example.com\n", told)
    assert "\n---" not in told


def test_the_selector_of_a_class_of_the_files_is_corrected_there() -> None:
    """As the key of the manifest: the whole name as a domain, and the type of the value as a name."""
    wrong = f"device.attributes['{build.DRIVER}/model'].string == 'A100'"
    own = build.device_class("whole", selectors=[{"cel": {"expression": wrong}}])
    a100 = build.device("gpu-0", attributes={"model": "A100"})
    world = cluster(build.node("node-2", cpu="64"), build.slice_("node-2", a100), devices=0)
    bodies = [{"apiVersion": "resource.k8s.io/v1", **own}, template("one", cls="whole"), a_pod("p", templates=["one"])]
    found = simulation_report(world, read_all(sources_of(*bodies), build.NAMESPACE), Copies())
    right = f"device.attributes['{build.DRIVER}'].model == 'A100'"
    ((at, field, value),) = edits(found)
    assert (at, field, value.replace('"', "'")) == ("app.yaml, line 1", "spec.selectors[0].cel.expression", right)
    told = said(found)
    assert f"it reads string in the domain {build.DRIVER}/model, which no device has (that device has model)" in told
    assert "DeviceClass whole selects no device, and fails on 1 device." in told
    assert "kubectl patch" not in told
