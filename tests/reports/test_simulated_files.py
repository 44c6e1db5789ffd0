"""Strangers' files in simulate: never "fits" with nothing tried, catalogues one by one, what-if from files."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import features
from kubectl_dra.output.simulation.page import simulation_page
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import (
    Copies,
    Counted,
    Role,
    SimulationReport,
    copies,
    course,
    simulation_report,
)
from tests.kit import build, facts
from tests.kit.clock import CLOCK

NS = build.NAMESPACE
V1 = "resource.k8s.io/v1"


def cluster(*more: dict[str, Any], devices: int = 4, evidence: Evidence | None = None) -> ClusterState:
    gpus = [build.device(f"gpu-{number}") for number in range(devices)]
    there = [build.namespace(), build.device_class(), build.node(cpu="64"), build.slice_("node-1", *gpus), *more]
    return ClusterState(facts.inventory(there), evidence or facts.evidence(), features(), CLOCK)


def simulated(
    *bodies: dict[str, Any], world: ClusterState | None = None, copies: Copies | None = None, together: bool = False
) -> SimulationReport:
    sources = [Source(json.dumps(body).encode()) for body in bodies]
    return simulation_report(world or cluster(), read_all(sources, NS), copies or Copies(), together=together)


def page(report: SimulationReport) -> str:
    text = " ".join(simulation_page(report, CLOCK.now()))
    return " ".join(re.sub("\x1b\\[[0-9;]*m", "", text).split())


def template(name: str, count: int = 1, **fields: Any) -> dict[str, Any]:
    spec = {"devices": {"requests": [build.request(count=count, **fields)]}}
    meta = {"name": name, "namespace": NS}
    return {"apiVersion": V1, "kind": "ResourceClaimTemplate", "metadata": meta, "spec": {"spec": spec}}


def pod_template(template_name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
    entry = {"name": "gpu", "resourceClaimTemplateName": template_name}
    pod_spec = {"containers": [container], "resourceClaims": [entry], "restartPolicy": "Never"}
    return {"spec": pod_spec}


def a_pod(*arguments: Any, **fields: Any) -> dict[str, Any]:
    body = build.pod(*arguments, **fields)
    container = body["spec"]["containers"][0]
    container["image"] = "x"
    if limits := {name: amount for name, amount in container["resources"]["requests"].items() if "/" in name}:
        container["resources"]["limits"] = limits
    return body


def thing(api_version: str, kind: str, spec: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w", "namespace": NS, **meta}, "spec": spec}


MPI = thing(
    "kubeflow.org/v2beta1",
    "MPIJob",
    {
        "mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": {"containers": [{"name": "l", "image": "x"}]}}},
            "Worker": {},
        }
    },
)
MPI["spec"]["mpiReplicaSpecs"]["Worker"] = {"replicas": 2, "template": pod_template("one")}


# --- workloads ------------------------------------------------------------------------------------------------------


def test_a_job_of_another_project_is_tried_role_by_role() -> None:
    report = simulated(template("one"), MPI)
    assert [(each.role, each.wanted, each.copies) for each in report.pods] == [("Launcher", 1, 1), ("Worker", 2, 2)]
    assert report.fits is Fits.YES
    crowded = simulated(template("one", 3), MPI)
    assert [(each.role, each.copies) for each in crowded.pods] == [("Launcher", 1), ("Worker", 1)]
    assert crowded.fits is Fits.NO
    assert "MPIJob ml/w, Worker: 1 of 2 copies fit" in page(crowded)


def test_nodes_that_the_files_own_pods_fill_are_taken_by_these_and_do_not_lack_cpus() -> None:
    """The next copy lacks devices on node-2, which somebody holds; of CPUs there would be enough."""
    own = pod_template("one")
    own["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "40"}
    held = build.claim("c", held=[("node-2", "gpu-0")], on="node-2", by=("other",))
    other = build.pod("other", claims=["c"], node_name="node-2", phase="Running")
    there = [build.node("node-2", cpu="64"), build.slice_("node-2", build.device("gpu-0")), held, other]
    several = [
        each
        for name in ("node-3", "node-4")
        for each in (build.node(name, cpu="64"), build.slice_(name, build.device("gpu-0")))
    ]
    job = thing("batch/v1", "Job", {"parallelism": 4, "completions": 4, "template": own})
    told = page(simulated(template("one"), job, world=cluster(*there, *several, devices=1)))
    assert "Ruled out earlier: node-1, node-3 and node-4 (taken by w-0, w-1, w-2)." in told
    one = page(simulated(template("one"), job, world=cluster(*there, devices=1)))
    assert "Ruled out earlier: node-1 (taken by w-0)." in one


def test_an_unknown_kind_says_what_was_assumed() -> None:
    report = simulated(template("one"), thing("example.com/v1", "Widget", {"size": 3, "template": pod_template("one")}))
    (pod,) = report.pods
    assert (pod.counted, pod.assumed, pod.copies) == (Counted.ASSUMED, ("spec.size",), 3)
    assert "number of pods taken from spec.size" in page(report)


def test_without_a_number_the_answer_is_per_pod_and_no_yes() -> None:
    report = simulated(template("one"), thing("example.com/v1", "Widget", {"template": pod_template("one")}))
    assert report.fits is Fits.UNKNOWN
    assert report.partial
    assert "One pod of Widget ml/w fits; how many it makes is unknown." in page(report)


@pytest.mark.parametrize(
    "body",
    [
        thing("example.com/v1", "Widget", {"a": 1}),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": NS}, "data": {"a": "b"}},
        thing("jobset.x-k8s.io/v1alpha2", "JobSet", {}),
        thing("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "torch"}}),
        build.device_class("other"),
        {"apiVersion": "v1", **build.node("node-2")},
    ],
    ids=lambda body: str(body["kind"]),
)
def test_nothing_tried_is_no_success(body: dict[str, Any]) -> None:
    body = {"apiVersion": V1, **body}
    report = simulated(body)
    assert report.fits is Fits.UNKNOWN
    assert report.partial
    assert "Nothing was tried" in page(report)
    assert report.answered is (body["kind"] in ("DeviceClass", "Node"))


def test_what_only_refers_to_a_workload_is_nothing_to_try() -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    body = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}}
    report = simulated({**body, "spec": {"scaleTargetRef": target, "maxReplicas": 8}})
    assert (report.fits, report.pods) == (Fits.UNKNOWN, ())
    assert "Not involved in scheduling devices: HorizontalPodAutoscaler ml/web." in page(report)


def test_an_object_without_a_name_is_called_by_its_kind() -> None:
    assert "devices: Cluster without a name." in page(simulated({"apiVersion": "kind.x-k8s.io/v1", "kind": "Cluster"}))


@pytest.mark.parametrize(("copies", "told"), [(2, "all 2 copies"), (5, "4 of 5 copies")])
def test_of_a_pod_that_another_scheduler_places_nothing_certain_is_said(copies: int, told: str) -> None:
    spec = {"replicas": copies, "selector": {"matchLabels": {"a": "b"}}}
    pods = pod_template("t")
    pods["spec"] |= {"schedulerName": "volcano", "restartPolicy": "Always"}
    work = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w", "namespace": NS}}
    labelled = {**pods, "metadata": {"labels": {"a": "b"}}}
    report = simulated(template("t"), {**work, "spec": {**spec, "template": labelled}})
    (found,) = report.pods
    assert (report.fits, found.scheduler, found.copies) == (Fits.UNKNOWN, "volcano", min(copies, 4))
    assert report.partial
    assert not report.bad
    first = f"Deployment {NS}/w: scheduler volcano decides; by the rules of the default scheduler "
    assert page(report).startswith(f"{first}{told.removeprefix('all 2 copies') or '2 of 2 copies'} would fit")


def test_the_first_line_has_the_cause() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "w", "namespace": NS}}
    spec = {"parallelism": 5, "completions": 5, "template": pod_template("t")}
    text = page(
        simulated(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}}, template("t"), {**job, "spec": spec}
        )
    )
    assert text.startswith(
        f"Job {NS}/w: 4 of 5 copies fit at a time; the next one waits until one of these has ended: no node"
    )
    assert text.endswith("Not involved in scheduling devices: ConfigMap s.")
    missing = page(simulated({**job, "spec": spec}))
    assert missing.startswith(
        f'Job {NS}/w: 0 of 5 copies fit: it needs ResourceClaimTemplate "t", which does not exist.'
    )


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"nodeSelector": {"pool": "x"}},
            "does not fit: it may only run on nodes with pool=x (no node has the label pool).",
        ),
        ({"resources": {"requests": {"cpu": "999"}}}, "does not fit: node-1 has only "),
    ],
)
def test_of_a_pod_without_devices_nothing_is_said_about_devices(spec: dict[str, Any], told: str) -> None:
    container = {"name": "main", "image": "x", "resources": spec.pop("resources", {})}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": NS}}
    first = page(simulated({**body, "spec": {"containers": [container], **spec}})).partition("This would")[0]
    assert f"Pod {NS}/p {told}" in first
    assert "device" not in first.partition(". ")[0]


def test_files_whose_objects_are_all_refused_do_not_claim_that_there_were_none() -> None:
    old = {**template("t"), "apiVersion": "resource.k8s.io/v1alpha2", "spec": {"spec": {"resourceClassName": "x"}}}
    text = page(simulated(old))
    assert "would be refused: no matches for kind" in text
    assert "kubectl dra convert -f FILE writes" in text
    assert "Nothing was tried: what the files describe can't be created as it is written." in text


def test_an_object_that_makes_pods_that_nobody_knows_keeps_the_answer_open() -> None:
    job = thing("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "torch"}})
    report = simulated(template("one"), job, {"apiVersion": "v1", **a_pod(templates=["one"])})
    assert [each.role for each in report.manifests] == [Role.USED, Role.UNTRIED, Role.TRIED]
    assert report.pods[0].fits is Fits.YES
    assert report.fits is Fits.UNKNOWN


@pytest.mark.parametrize(("on_host", "count"), [(True, 2), (False, 1)])
def test_pods_of_a_daemon_set_on_the_host_network_come_before_the_network(on_host: bool, count: int) -> None:
    """pkg/controller/daemon/util/daemonset_util.go AddOrUpdateDaemonPodTolerations."""
    taint = {"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}
    body = pod_template("one")
    body["metadata"] = {"labels": {"app": "w"}}
    body["spec"] |= {"hostNetwork": on_host, "restartPolicy": "Always"}
    daemons = thing("apps/v1", "DaemonSet", {"selector": {"matchLabels": {"app": "w"}}, "template": body})
    bare = build.node("node-2", cpu="64")
    bare["spec"]["taints"] = [taint]
    world = cluster(bare, build.slice_("node-2", build.device("gpu-0")))
    report = simulated(template("one"), daemons, world=world)
    assert [(each.wanted, each.copies) for each in report.pods] == [(count, count)]


def test_a_compute_domain_gives_its_workload_a_template() -> None:
    domain = {"numNodes": 1, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
    channels = build.device_class("compute-domain-default-channel.nvidia.com")
    report = simulated(
        thing("resource.nvidia.com/v1beta1", "ComputeDomain", domain),
        {"apiVersion": "v1", **a_pod(templates=["channel"])},
        world=cluster(channels),
    )
    assert report.fits is Fits.YES
    assert "is made by the controller of ComputeDomain w" in page(report)
    assert "Not involved in scheduling" not in page(report)


def test_a_node_for_a_channel_has_to_be_in_the_clique_of_the_others() -> None:
    """Upstream: an IMEX channel connects nodes of one NVLink clique."""
    name = "compute-domain-default-channel.nvidia.com"
    body = template("one")
    body["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = name
    domain = {"numNodes": 1, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
    gpu = build.node("node-1", labels={"nvidia.com/gpu.clique": "uuid.1"})
    report = simulated(
        thing("resource.nvidia.com/v1beta1", "ComputeDomain", domain),
        thing("batch/v1", "Job", {"parallelism": 5, "template": pod_template("channel")}),
        world=cluster(build.device_class(name), gpu),
    )
    assert "another such node in the same NVLink clique (nvidia.com/gpu.clique=uuid.1)" in page(report)


def test_fewer_pods_of_a_compute_domain_have_it_wait_for_fewer_nodes() -> None:
    """Upstream: spec.numNodes of a ComputeDomain: no pod of it starts before so many nodes have one."""
    domain = {"numNodes": 5, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
    channels = build.device_class("compute-domain-default-channel.nvidia.com")
    roles = {
        "Master": {"replicas": 1, "template": pod_template("channel")},
        "Worker": {"replicas": 4, "template": pod_template("channel")},
    }
    report = simulated(
        thing("resource.nvidia.com/v1beta1", "ComputeDomain", domain),
        thing("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": roles}),
        world=cluster(channels),
    )
    worker = report.pods[1]
    assert (worker.copies, worker.in_turn) == (3, False)
    fields = "spec.pytorchReplicaSpecs.Worker.replicas: 3, and spec.numNodes: 4 in ComputeDomain w."
    assert f"all fit with {fields}" in page(report)


def test_parts_of_an_object_that_say_no_more_than_their_number_are_named() -> None:
    """Nobody knows whether these fit; what else has a number (bounds of an autoscaler) is no part."""
    worker = {"replicas": 5, "pod": pod_template("one")["spec"]}
    services = {"Front": {"replicas": 1, "kind": "frontend"}, "Decode": {**worker, "replicas": 1}, "Prefill": worker}
    graph = thing("x.io/v1", "Graph", {"services": services, "limits": {"quota": 3}})
    told = page(report := simulated(template("one"), graph))
    assert told.startswith("Not everything fits: Graph ml/w, Prefill does not: 4 of the 6 pods tried fit.")
    assert "Front of Graph ml/w was not tried: nothing in it describes its pods." in told
    worker["replicas"] = 2
    assert simulated(template("one"), graph).fits is Fits.UNKNOWN
    assert report.partial


def test_of_an_object_with_several_kinds_of_pods_the_first_line_tells_how_many_fit_in_all() -> None:
    told = page(simulated(template("one", 3), MPI))
    assert told.startswith("Not everything fits: MPIJob ml/w, Worker does not: 2 of the MPIJob's 3 pods fit.")


def test_copies_do_not_take_the_names_and_devices_of_other_pods() -> None:
    """A Job called like a set whose pods run: what these hold stays theirs."""
    held = [("node-1", f"gpu-{number}") for number in range(3)]
    claim = build.claim("w-0-gpu", build.request(count=3), held=held, on="node-1", by=("w-0",))
    other = build.pod("w-0", claims=["w-0-gpu"], node_name="node-1", phase="Running")
    job = thing("batch/v1", "Job", {"parallelism": 4, "completions": 4, "template": pod_template("one")})
    alone = simulated(template("one"), job, world=cluster())
    beside = simulated(template("one"), job, world=cluster(other, claim))
    assert (alone.pods[0].copies, beside.pods[0].copies) == (4, 1)


def test_an_object_with_several_kinds_of_pods_that_do_not_fit_is_named_once() -> None:
    sizes = {"Launcher": 1, "Worker": 9, "Spare": 9}
    specs = {role: {"replicas": 2, "template": pod_template(f"of-{size}")} for role, size in sizes.items()}
    job = thing("kubeflow.org/v2beta1", "MPIJob", {"mpiReplicaSpecs": specs})
    told = page(simulated(template("of-1", 1), template("of-9", 9), job))
    assert told.startswith("Not everything fits: MPIJob ml/w, Worker and Spare do not: 2 of the MPIJob's 6 pods fit.")


def test_the_verdict_comes_before_what_was_not_tried() -> None:
    application = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a"}}
    told = page(simulated(application, template("one"), {"apiVersion": "v1", **a_pod(templates=["one"])}))
    assert told.startswith("Pod ml/pod fits.")
    assert "Application a was not tried" in told
    assert page(simulated(application)).startswith("Application a was not tried")


def test_suspended_work_is_tried_as_if_it_ran_and_says_so() -> None:
    job = thing("batch/v1", "Job", {"suspend": True, "parallelism": 2, "template": pod_template("one")})
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "user-queue"}
    report = simulated(template("one"), job)
    assert [each.suspended for each in report.manifests] == [False, True]
    assert report.pods[0].copies == 2
    assert "Job ml/w is suspended and waits in queue user-queue until Kueue admits it" in page(report)


# --- catalogues -----------------------------------------------------------------------------------------------------


def test_templates_that_no_pod_uses_are_tried_one_by_one() -> None:
    catalogue = [template(f"t{number}", 3) for number in range(5)]
    report = simulated(*catalogue)
    assert [(each.copies, each.alone) for each in report.pods] == [(1, True)] * 5
    assert report.fits is Fits.YES
    assert "--together" in page(report)
    both = simulated(*catalogue, together=True)
    assert [each.copies for each in both.pods] == [1, 0, 0, 0, 0]
    assert both.fits is Fits.NO


def test_of_equal_entries_of_a_catalogue_one_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[int]()
    real = course.place
    monkeypatch.setattr(course, "place", lambda *given, **named: (tried.append(1), real(*given, **named))[1])
    many = [template(f"t{number}", count=1 + number % 2 * 8) for number in range(40)]
    report = simulated(*many)
    assert len(tried) == 2
    assert [pod.subject.name for pod in report.pods] == [f"t{number}" for number in range(40)]
    assert [pod.fits for pod in report.pods[:4]] == [Fits.YES, Fits.NO, Fits.YES, Fits.NO]
    assert report.pods[2].like is not None
    assert report.pods[2].like.name == "t0"
    assert "The same applies, with other names, to 19 more ResourceClaimTemplates: ml/t3" in page(report)


def test_of_equal_pods_those_after_the_first_that_does_not_fit_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[int]()
    real = course.place
    monkeypatch.setattr(course, "place", lambda *given, **named: (tried.append(1), real(*given, **named))[1])
    pods = []
    for number in range(30):
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{number}", "namespace": NS}}
        pods.append({**body, **pod_template("t")})
    report = simulated(template("t"), *pods)
    assert len(tried) == 5
    assert [pod.copies for pod in report.pods] == [1] * 4 + [0] * 26
    assert report.fits is Fits.NO


def _deployment(name: str, template_name: str, **meta: Any) -> dict[str, Any]:
    labels = {"app": name}
    body = pod_template(template_name)
    del body["spec"]["restartPolicy"]
    body["spec"]["containers"][0] |= {"name": name, "image": f"{name}:1"}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, **body}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": NS}, "spec": spec}


@pytest.mark.parametrize("own", [False, True])
def test_of_equal_workloads_those_after_the_first_that_does_not_fit_are_not_tried(
    monkeypatch: pytest.MonkeyPatch, *, own: bool
) -> None:
    """Each with its own name, labels, image, and maybe its own template; ways out are looked for once."""
    tried, searched = list[int](), list[int]()
    place, ways = course.place, copies.find_remedies
    monkeypatch.setattr(course, "place", lambda *given, **named: (tried.append(1), place(*given, **named))[1])
    monkeypatch.setattr(copies, "find_remedies", lambda *given, **named: (searched.append(1), ways(*given, **named))[1])
    files = [template(f"t{number}") for number in range(30 if own else 1)]
    files += [_deployment(f"d{number}", f"t{number * own}") for number in range(30)]
    report = simulated(*files)
    assert len(searched) == 1
    assert len(tried) < 25
    assert [pod.copies for pod in report.pods] == [1] * 4 + [0] * 26
    assert [pod.subject.name for pod in report.pods if pod.like is None] == [f"d{number}" for number in range(5)]
    text = page(report)
    assert text.count("kubectl dra explain DRA-") == 1
    assert "The same applies, with other names, to 25 more Deployments: ml/d5, ml/d6, ml/d7, ml/d8 +21." in text


def test_workloads_that_request_something_else_are_tried() -> None:
    """A smaller template, another number of pods or a pod that keeps others away: each may end differently."""
    small = [template("four", 4), template("nine", 9), template("one")]
    found = simulated(*small, _deployment("a", "nine"), _deployment("b", "four"), _deployment("c", "one"))
    assert [(pod.copies, pod.like) for pod in found.pods] == [(0, None), (1, None), (0, None)]
    terms = [{"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}]
    away = build.pod("near", node_name="node-1", phase="Running")
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    away["spec"]["affinity"] = {"podAntiAffinity": rule}
    named = build.node(cpu="64", labels={"kubernetes.io/hostname": "node-1"})
    world = cluster(away, named)
    repelled = simulated(template("one"), _deployment("a", "one"), _deployment("b", "one"), world=world)
    assert [(pod.copies, pod.like) for pod in repelled.pods] == [(0, None), (1, None)]


def test_a_template_that_a_pod_uses_is_no_catalogue() -> None:
    report = simulated(template("one", 4), template("other", 4), {"apiVersion": "v1", **a_pod(templates=["one"])})
    assert [(each.subject.kind, each.copies, each.alone) for each in report.pods] == [
        ("Pod", 1, False),
        ("ResourceClaimTemplate", 1, True),
    ]


def test_a_single_template_is_no_catalogue() -> None:
    assert [each.alone for each in simulated(template("one")).pods] == [False]


# --- names, namespaces, versions ------------------------------------------------------------------------------------


def test_a_generated_name_is_made_up() -> None:
    job = thing("batch/v1", "Job", {"template": pod_template("one")})
    job["metadata"] = {"generateName": "sample-", "namespace": NS}
    report = simulated(template("one"), job)
    assert report.fits is Fits.YES
    assert report.manifests[1].generated
    assert report.manifests[1].object.name.startswith("sample-")
    refused = "kubectl apply refuses generateName; use kubectl create -f."
    assert f"the server generates the end of this name. {refused}" in page(report)
    other = {**job, "metadata": {"generateName": "other-", "namespace": NS}}
    several = page(simulated(template("one"), job, other))
    assert several.count(refused) == 1
    assert "the server generates the ends of these names." in several


def test_a_refused_template_is_what_keeps_its_pods() -> None:
    broken = template("one", selector="device.driver ==")
    report = simulated(broken, {"apiVersion": "v1", **a_pod(templates=["one"])})
    assert report.fits is Fits.NO
    assert [ref.name for ref in report.pods[0].blocked] == ["one"]
    assert "Pod ml/pod can't run: ResourceClaimTemplate ml/one would be refused." in page(report)


def test_a_missing_namespace_is_said_once_and_taken_as_created() -> None:
    bodies = [template("one"), {"apiVersion": "v1", **a_pod(templates=["one"])}]
    for body in bodies:
        body["metadata"]["namespace"] = "new"
    report = simulated(*bodies)
    assert report.fits is Fits.YES
    assert report.new_namespaces == ("new",)
    assert page(report).count("Namespace new does not exist") == 1


def test_a_version_that_the_server_does_not_have_is_refused() -> None:
    claim = {"apiVersion": "resource.k8s.io/v1alpha2", "kind": "ResourceClaim", "metadata": {"name": "c"}}
    report = simulated({**claim, "spec": {"resourceClassName": "x"}})
    assert report.fits is Fits.NO
    assert report.manifests[0].refused == ('no matches for kind "ResourceClaim" in version "resource.k8s.io/v1alpha2"',)


def test_fields_that_the_server_drops_are_the_first_line_and_no_fit() -> None:
    claim = {"apiVersion": V1, "kind": "ResourceClaim", "metadata": {"name": "c"}}
    report = simulated({**claim, "spec": {"device": {}, "request": []}})
    assert report.fits is Fits.NO
    assert report.bad
    assert page(report).startswith("Not as written: 2 unknown fields")
    assert report.pods[0].fits is Fits.NO
    assert "fits only without the fields that a server drops" in page(report)


# --- alternatives -----------------------------------------------------------------------------------------------------


def test_which_alternatives_the_copies_get_is_said() -> None:
    """Two copies have the preferred devices, the third has to do with more of the others."""
    big = [build.device(f"big-{n}", attributes={"size": "big"}) for n in range(2)]
    small = [build.device(f"small-{n}", attributes={"size": "small"}) for n in range(4)]
    there = [build.namespace(), build.device_class(), build.node(cpu="64"), build.slice_("node-1", *big, *small)]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)

    def alternative(size: str, count: int) -> dict[str, Any]:
        expression = f'device.attributes["{build.DRIVER}"].size == "{size}"'
        selectors = [{"cel": {"expression": expression}}]
        return {"name": size, "deviceClassName": build.DRIVER, "count": count, "selectors": selectors}

    choice = {"name": "gpu", "firstAvailable": [alternative("big", 1), alternative("small", 2)]}
    chosen = template("one")
    chosen["spec"]["spec"]["devices"]["requests"] = [choice]
    job = thing("batch/v1", "Job", {"parallelism": 3, "template": pod_template("one")})
    report = simulated(chosen, job, world=world)
    assert report.fits is Fits.YES
    assert "request gpu gets alternative big (1 device) 2 times and small (2 devices) 1 time" in page(report)
    job["spec"]["parallelism"] = 1
    assert "request gpu gets its alternative big (1 device), number 1 of 2" in page(simulated(chosen, job, world=world))


# --- priorities, volumes --------------------------------------------------------------------------------------------


def test_a_pod_with_a_priority_class_that_does_not_exist_is_refused() -> None:
    pod = {"apiVersion": "v1", **a_pod(templates=["one"], priorityClassName="high")}
    report = simulated(template("one"), pod)
    assert report.manifests[1].refused == ('pods "pod" is forbidden: no PriorityClass with name high was found',)
    job = thing("batch/v1", "Job", {"template": pod_template("one")})
    job["spec"]["template"]["spec"]["priorityClassName"] = "high"
    report = simulated(template("one"), job)
    assert report.fits is Fits.NO
    assert "PriorityClass high does not exist" in page(report)
    known = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 5}
    assert simulated(template("one"), job, known).fits is Fits.YES
    reads = tuple(read for read in facts.evidence().reads if read.kind != "PriorityClass")
    unread = Evidence((*reads, Read("PriorityClass", coverage=Coverage.FORBIDDEN)))
    assert simulated(template("one"), job, world=cluster(evidence=unread)).fits is Fits.YES


def storage_class(name: str, **annotations: str) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def volume(name: str, storage: str) -> dict[str, Any]:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def test_each_pod_of_a_stateful_set_gets_volumes_of_its_own() -> None:
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "s"}},
        "template": {"metadata": {"labels": {"app": "s"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {**CLAIM_SPEC, "storageClassName": "local"}}],
    }
    body = thing("apps/v1", "StatefulSet", spec)
    volumes = [volume(f"v{number}", "local") for number in range(3)]
    assert simulated(body, storage_class("local"), *volumes).fits is Fits.YES
    report = simulated(body, storage_class("local"), *volumes[:2])
    assert report.pods[0].copies == 2
    assert report.fits is Fits.NO


def test_an_ephemeral_volume_has_a_claim_of_the_default_class() -> None:
    entry = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM_SPEC}}}
    pod = {"apiVersion": "v1", **a_pod(volumes=[entry])}
    default = storage_class("local", **{"storageclass.kubernetes.io/is-default-class": "true"})
    assert simulated(pod, default, volume("v", "local")).fits is Fits.YES
    assert simulated(pod, default, volume("v", "other")).fits is Fits.NO
    assert simulated(pod, default, storage_class("x"), volume("v", "local"), copies=Copies(2)).pods[0].copies == 1


# --- what-if from files ---------------------------------------------------------------------------------------------


def test_nodes_and_slices_of_a_file_are_part_of_the_cluster() -> None:
    job = thing("batch/v1", "Job", {"parallelism": 6, "template": pod_template("one")})
    assert simulated(template("one"), job).pods[0].copies == 4
    more = [
        {"apiVersion": "v1", **build.node("node-2", cpu="64")},
        {"apiVersion": V1, **build.slice_("node-2", build.device("a"), build.device("b"))},
    ]
    report = simulated(template("one"), job, *more)
    assert report.fits is Fits.YES
    assert report.effects.nodes == ("node-2",)
    assert "The cluster is taken with 1 node and 1 ResourceSlice of the files." in page(report)


def test_a_class_says_what_it_selects() -> None:
    narrow = build.device_class(build.DRIVER, selectors=[{"cel": {"expression": "device.driver == 'other'"}}])
    report = simulated({"apiVersion": V1, **narrow})
    (found,) = report.effects.classes
    assert (found.devices.value, found.before.value if found.before else None) == (0, 4)
    assert f"DeviceClass {build.DRIVER} selects no device; the one in the cluster selects 4." in page(report)


def test_a_taint_rule_says_whom_it_hits_and_counts() -> None:
    rule = {
        "apiVersion": V1,
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {
            "deviceSelector": {"driver": build.DRIVER, "device": "gpu-0"},
            "taint": {"key": "k", "effect": "NoExecute"},
        },
    }
    user = build.pod("user", claims=["held"], node_name="node-1", phase="Running")
    world = cluster(build.claim("held", held=[("node-1", "gpu-0")], by=["user"]), user)
    report = simulated(rule, world=world)
    (found,) = report.effects.taints
    assert (found.devices, [hit.pod for hit in found.hits]) == (1, ["user"])
    assert "pod ml/user: evicted now" in page(report)
    free = cluster()
    assert simulated(template("all", 4), world=free).fits is Fits.YES
    assert simulated(template("all", 4), rule, world=free).fits is Fits.NO


def test_two_changes_of_one_template_together() -> None:
    """What is supposed of the claim first is not taken for a template that has changed since."""
    wanted = template("one", 2, selector=f'device.attributes["{build.DRIVER}"].index <= 2')
    nic = build.request("nic", cls="nics", count=2)
    wanted["spec"]["spec"]["devices"]["requests"].append(nic)
    other = 'device.driver == "nic.example.com"'
    nics = build.slice_("node-1", build.device("nic-0"), pool="nics", driver="nic.example.com")
    world = cluster(build.device_class("nics", selectors=[{"cel": {"expression": other}}]), nics)
    job = thing("batch/v1", "Job", {"template": pod_template("one")})
    told = page(simulated(wanted, job, world=world))
    assert "gpu: drop the selector index <= 2, and nic: request 1 device node-1 instead of 2" in told
