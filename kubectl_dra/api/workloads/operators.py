"""What controllers of some kinds add to the templates of an object: containers of their own, pods that nobody wrote.

KubeRay (ray-operator/controllers/ray/common/{pod,job}.go): an autoscaler beside the head, a container in which workers
wait for the head, the pod or container that submits a job. Grove: ``grove``. Volcano
(pkg/controllers/job/job_controller_util.go, createJobPod; pkg/webhooks/admission/jobs/mutate): pods that name no
scheduler get the job's, by default Volcano's own. MPI operator (pkg/controller/mpi_job_controller.go, syncHandler): a
launcher that waits for its workers. Kubeflow's notebooks (components/notebook-controller, generateStatefulSet) and
KServe's services (pkg/utils, GetForceStopRuntime) have no pods once an annotation stops them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, mapping
from kubectl_dra.api.workloads.grove import cliques
from kubectl_dra.api.workloads.shape import bare_pod
from kubectl_dra.api.workloads.templates import MAX_PODS, CountSource, Growth, MadeTemplate

_Body = dict[str, Any]
_HEAD: Final = "head"
_SUBMITTER: Final = "submitter"
_VOLCANO: Final = "volcano"
_NOTEBOOK_STOPPED: Final = "kubeflow-resource-stopped"
_SERVICE_STOPPED: Final = "serving.kserve.io/stop"
_STATED: Final = CountSource.STATED
_NEW_CLUSTER: Final = "NewCluster"
_UPGRADE: Final = "an upgrade (upgradeStrategy NewCluster runs a second RayCluster beside this one)"
#: Where the spec of a RayCluster stands in each kind, and that of a RayJob if it is one.
_RAY: Final[Mapping[str, tuple[str, str]]] = {
    "RayCluster": ("spec", ""),
    "RayService": ("spec.rayClusterConfig", ""),
    "RayJob": ("spec.rayClusterSpec", "spec"),
    "RayCronJob": ("spec.jobTemplate.rayClusterSpec", "spec.jobTemplate"),
}


def refined(tree: Tree, group: str, kind: str, templates: Iterable[MadeTemplate]) -> Iterator[MadeTemplate]:
    """The templates as the controller of a known kind makes pods of them."""
    found = list(templates)
    change = _REFINING.get(group)
    yield from change(tree, kind, found) if change is not None else found


# --- KubeRay ----------------------------------------------------------------------------------------------------------


def _of_ray(tree: Tree, kind: str, templates: list[MadeTemplate]) -> Iterator[MadeTemplate]:
    if kind not in _RAY:
        yield from templates
        return
    cluster_path, job_path = _RAY[kind]
    cluster, job = at(tree, cluster_path), at(tree, job_path) if job_path else {}
    # A job with a selector is submitted to a cluster that exists.
    made = not job.get("clusterSelector")
    mode = job.get("submissionMode") or "K8sJobMode"
    for each in templates:
        if each.role == _SUBMITTER or (not made and each.path.startswith(cluster_path)):
            continue
        each = _growing(tree, each)
        each = _upgraded(tree, each) if kind == "RayService" else each
        if each.problem:
            yield each
        elif each.role == _HEAD and each.path == f"{cluster_path}.headGroupSpec.template":
            sidecars = [*_autoscaler(cluster), *(_submitting(cluster) if job and mode == "SidecarMode" else ())]
            yield _with_containers(each, "containers", sidecars)
        else:
            yield _with_containers(each, "initContainers", _waiting())
    if job and mode == "K8sJobMode":
        yield from _submitter(cluster, job, job_path, [each for each in templates if each.role == _SUBMITTER])


def _growing(tree: Tree, template: MadeTemplate) -> MadeTemplate:
    """A group of workers with those that an autoscaler may add; of one that starts without any, one is tried.

    Upstream: ray-operator/controllers/ray/utils/util.go (GetWorkerGroupDesiredReplicas): without KubeRay's own
    autoscaler others may set the number.
    """
    group, _, _ = template.path.rpartition(".template")
    spec, _, index = group.removesuffix("]").rpartition(".workerGroupSpecs[")
    groups = at(tree, spec).get("workerGroupSpecs")
    if not index.isdecimal() or not isinstance(groups, list):
        return template
    most, hosts = (groups[int(index)].get(field) for field in ("maxReplicas", "numOfHosts"))
    most = most * (hosts if isinstance(hosts, int) else 1) if isinstance(most, int) else 0
    now, own = template.copies or 0, at(tree, spec).get("enableInTreeAutoscaling") is True
    if most <= now or groups[int(index)].get("suspend") is True or not (own or now == 0):
        return template
    grown = replace(template, growth=Growth("the Ray autoscaler" if own else "an autoscaler", most))
    return grown if now else replace(grown, copies=1, count=CountSource.UNKNOWN)


def _upgraded(tree: Tree, template: MadeTemplate) -> MadeTemplate:
    """With the pods of the second cluster that an upgrade of a RayService makes before the first one goes.

    Upstream: ray-operator/controllers/ray/rayservice_controller.go (isZeroDowntimeUpgradeEnabled): so by default.
    """
    how = at(tree, "spec.upgradeStrategy").get("type", _NEW_CLUSTER)
    if how != _NEW_CLUSTER or template.growth is not None or not template.copies or template.count is not _STATED:
        return template
    return replace(template, growth=Growth(_UPGRADE, 2 * template.copies, passing=True))


def _submitter(cluster: Tree, job: Tree, path: str, written: Iterable[MadeTemplate]) -> Iterator[MadeTemplate]:
    """The pod of the Kubernetes Job that submits a RayJob: as it is written, else a small one with the head's image.

    Of a cluster that only a selector names the image is not known; the scheduler does not need it.
    """
    if "submitterPodTemplate" in job:
        yield from written
        return
    spec = {"containers": list(_submitting(cluster)), "restartPolicy": "Never"}
    yield MadeTemplate(f"{path}.submitterPodTemplate", {"spec": spec}, role=_SUBMITTER)


def _submitting(cluster: Tree) -> Iterator[_Body]:
    requests, limits = {"cpu": "500m", "memory": "200Mi"}, {"cpu": "1", "memory": "1Gi"}
    containers = at(cluster, "headGroupSpec.template.spec").get("containers")
    first = containers[0] if isinstance(containers, list) and containers else None
    image = first.get("image") if isinstance(first, dict) else None
    found = {"image": image} if isinstance(image, str) else {}
    yield {"name": "ray-job-submitter", **found, "resources": {"requests": requests, "limits": limits}}


def _autoscaler(cluster: Tree) -> Iterator[_Body]:
    if cluster.get("enableInTreeAutoscaling") is True:
        amounts = {"cpu": "500m", "memory": "512Mi"}
        own = at(cluster, "autoscalerOptions").get("resources")
        yield {"name": "autoscaler", "resources": own if isinstance(own, dict) else _both(amounts)}


def _waiting() -> Iterator[_Body]:
    yield {"name": "wait-gcs-ready", "resources": _both({"cpu": "200m", "memory": "256Mi"})}


def _both(amounts: Mapping[str, str]) -> _Body:
    return {"requests": dict(amounts), "limits": dict(amounts)}


def _with_containers(template: MadeTemplate, field: str, more: Iterable[_Body]) -> MadeTemplate:
    spec = template.body.get("spec")
    added = list(more)
    if not added or not isinstance(spec, dict):
        return template
    there = spec.get(field)
    given = there if isinstance(there, list) else []
    names = {each.get("name") for each in given if isinstance(each, dict)}
    wanted = [each for each in added if each["name"] not in names]
    return replace(template, body={**template.body, "spec": {**spec, field: [*given, *wanted]}})


# --- Volcano ----------------------------------------------------------------------------------------------------------


def _of_volcano(tree: Tree, kind: str, templates: list[MadeTemplate]) -> Iterator[MadeTemplate]:
    job = at(tree, "spec") if kind == "Job" else {}
    name = job.get("schedulerName") or _VOLCANO
    for each in templates:
        spec = each.body.get("spec")
        if kind != "Job" or not isinstance(name, str) or not isinstance(spec, dict) or spec.get("schedulerName"):
            yield each
        else:
            yield replace(each, body={**each.body, "spec": {**spec, "schedulerName": name}})


# --- Kubeflow ---------------------------------------------------------------------------------------------------------


def _of_kubeflow(tree: Tree, kind: str, templates: list[MadeTemplate]) -> Iterator[MadeTemplate]:
    """In the order in which pods are made; ``runLauncherAsWorker`` changes what they run, not how many there are."""
    waits = kind == "MPIJob" and at(tree, "spec").get("launcherCreationPolicy") == "WaitForWorkersReady"
    ordered = sorted(templates, key=lambda each: waits and each.role == "Launcher")
    stopped = kind == "Notebook" and _NOTEBOOK_STOPPED in _annotations(tree)
    return _stopped(ordered) if stopped else iter(ordered)


def _annotations(tree: Tree) -> Tree:
    return at(tree, "metadata.annotations")


def _stopped(templates: Iterable[MadeTemplate]) -> Iterator[MadeTemplate]:
    return (replace(each, copies=0) for each in templates)


# --- KServe -----------------------------------------------------------------------------------------------------------


def _of_kserve(tree: Tree, kind: str, templates: list[MadeTemplate]) -> Iterator[MadeTemplate]:
    """Workers by the size of their group; of pods whose containers KServe's configurations have, the claims alone."""
    made = [found for each in templates if (found := _server(tree, each)) is not None]
    stopped = str(_annotations(tree).get(_SERVICE_STOPPED, "")).lower() == "true"
    return _stopped(made) if stopped else iter(made)


def _server(tree: Tree, template: MadeTemplate) -> MadeTemplate | None:
    parent, _, _ = template.path.rpartition(".")
    spec, copies = at(tree, parent), template.copies
    if template.role.endswith("worker") and copies is not None:
        workers = _group_size(at(spec, "parallelism")) - 1
        by = replace(template.counted_by, pods=workers)
        template = replace(template, copies=min(copies * workers, MAX_PODS), counted_by=by)
    most, now = at(spec, "scaling").get("maxReplicas"), template.copies or 0
    if isinstance(most, int) and template.counted_by.pods * most > now:
        growth = Growth("its autoscaler", template.counted_by.pods * most)
        template = replace(template, growth=growth)
    pod = mapping(template.body.get("spec"))
    if pod.get("containers"):
        return template
    claims = bare_pod(pod)
    return replace(template, body={"spec": claims}, rest_by="KServe") if claims is not None else None


def _group_size(parallelism: Tree) -> int:
    """Upstream: pkg/apis/serving/v1alpha1/llm_inference_service_types_func.go, GetSize; LeaderWorkerSet's default."""
    data, local, pipeline = (_positive(parallelism.get(name)) for name in ("data", "dataLocal", "pipeline"))
    return max((data or 1) // (local or 1), 1) if data or local else pipeline or 1


def _positive(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


_Refining = Callable[[Tree, str, list[MadeTemplate]], Iterator[MadeTemplate]]
_REFINING: Final[Mapping[str, _Refining]] = {
    "ray.io": _of_ray,
    "grove.io": cliques,
    "batch.volcano.sh": _of_volcano,
    "kubeflow.org": _of_kubeflow,
    "serving.kserve.io": _of_kserve,
}
