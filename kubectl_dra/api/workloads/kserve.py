"""Pods of KServe's InferenceService whose model names a ServingRuntime: made of both objects.

Upstream: kserve/kserve, pkg/controller/v1beta1/inferenceservice/components/predictor.go (buildPodSpec,
multiNodeProcess, computeRayNodeAndGPUs), utils/utils.go (MergeRuntimeContainers, MergePodSpec, GetServingRuntime) and
reconcilers/deployment (createRawDeployment, addGPUResourceToDeployment).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, below, group_of, list_at, mapping, number_of, text_at
from kubectl_dra.api.workloads.shape import bare_pod, shaped
from kubectl_dra.api.workloads.templates import MAX_PODS, CountField, CountSource, Expansion, Growth, MadeTemplate

GROUP: Final = "serving.kserve.io"
_RUNTIMES: Final = ("ServingRuntime", "ClusterServingRuntime")
_PREDICTOR: Final = "spec.predictor"
_MODEL: Final = "spec.predictor.model"
_MAIN: Final = "kserve-container"
_WORKER: Final = "worker-container"
_TRANSFORMER: Final = "transformer-container"
_STOPPED: Final = "serving.kserve.io/stop"
_PIPELINE: Final = "pipelineParallelSize"
_TENSOR: Final = "tensorParallelSize"
_BACKEND: Final = "multinode/executor-backend"
#: Upstream: pkg/constants/constants.go, DefaultGPUResourceTypeList.
_GPUS: Final = ("nvidia.com/gpu", "amd.com/gpu", "intel.com/gpu", "habana.ai/gaudi")
#: Of a number of GPUs that any node could have.
_DIGITS: Final = 9
#: What a runtime says of the spec of its pods; lists whose items are merged by their names.
_OF_PODS: Final = ("nodeSelector", "affinity", "tolerations", "schedulerName", "volumes", "resourceClaims")
_BY_NAME: Final = ("volumes", "resourceClaims")


@dataclass(frozen=True, slots=True)
class Served:
    """The pods of a service, or why they are not known, and the ``runtime`` that describes them."""

    pods: Expansion
    runtime: Tree | None = None


def served(tree: Tree, objects: Iterable[Tree]) -> Served | None:
    """The pods of a service with the runtime that it names, or why they are not known; None for other objects.

    A service without that runtime among the ``objects`` may say of its pods no more than their claims.
    """
    model = mapping(at(tree, _PREDICTOR).get("model"))
    if (group_of(tree.get("apiVersion")), tree.get("kind")) != (GROUP, "InferenceService") or not model:
        return None
    name = text_at(model, "runtime")
    runtime = _runtime(name, tree, objects) if name else None
    if runtime is not None:
        return Served(_service(tree, mapping(runtime.get("spec"))), runtime)
    if bare_pod(at(tree, _PREDICTOR)) is not None:
        return None
    what = f"ServingRuntime {name}, which is not among the files" if name else "a ServingRuntime that KServe chooses"
    return Served(Expansion(known=True, untried=f"its pods are described by {what}"))


def describes_pods(tree: Tree) -> bool:
    """Whether it is a runtime, of a namespace or of the cluster."""
    return group_of(tree.get("apiVersion")) == GROUP and tree.get("kind") in _RUNTIMES


def _runtime(name: str, tree: Tree, objects: Iterable[Tree]) -> Tree | None:
    """One of the namespace comes before one of the cluster."""
    own = at(tree, "metadata").get("namespace")
    found: dict[str, Tree] = {}
    for each in objects:
        meta = mapping(each.get("metadata"))
        if describes_pods(each) and meta.get("name") == name:
            kind = str(each.get("kind"))
            # Without a namespace both are meant for the one of the command.
            near = kind != "ServingRuntime" or None in (own, meta.get("namespace")) or meta["namespace"] == own
            found |= {kind: each} if near else {}
    return found.get("ServingRuntime") or found.get("ClusterServingRuntime")


def _service(tree: Tree, runtime: Tree) -> Expansion:
    predictor = at(tree, _PREDICTOR)
    base = next((each for each in _containers(runtime) if each.get("name") == _MAIN), None)
    if base is None:
        return Expansion(known=True, untried=f"its ServingRuntime has no container {_MAIN}, which KServe requires")
    main = {**_merged(base, mapping(predictor.get("model"))), "name": _MAIN}
    others = [each for each in _containers(runtime) if each.get("name") not in (_MAIN, _TRANSFORMER)]
    beside = {text_at(each, "name"): each for each in (*_transformer(runtime), *others, *_containers(predictor))}
    pod = {**_pod(runtime, predictor), "containers": [main, *beside.values()]}
    made = MadeTemplate(_PREDICTOR, {"spec": pod}, role="predictor", spec_at=_PREDICTOR, moved=_moved(main))
    labels = {**mapping(runtime.get("labels")), **mapping(predictor.get("labels"))}
    made = replace(made, body={"metadata": {"labels": labels}, "spec": pod})
    rest = {key: value for key, value in at(tree, "spec").items() if key != "predictor"}
    # A transformer or explainer has pods of its own.
    other = [
        MadeTemplate(each.path, each.body, role=each.path.split(".")[1], copies=each.copies or 1, spec_at=each.path)
        for each in shaped({"spec": rest})
    ]
    worker = mapping(predictor.get("workerSpec"))
    if "workerSpec" not in predictor:
        found = [_scaled(made, predictor), *other]
        found = [replace(found[0], role="")] if not other else found
    else:
        nodes = _nodes(runtime, worker, pod)
        if isinstance(nodes, str):
            return Expansion(known=True, untried=nodes)
        found = [*_group(made, nodes), *other]
    if str(at(tree, "metadata.annotations").get(_STOPPED, "")).lower() == "true":
        found = [replace(each, copies=0) for each in found]
    return Expansion(tuple(found), known=True)


def _transformer(runtime: Tree) -> Iterator[Tree]:
    return (each for each in _containers(runtime) if each.get("name") == _TRANSFORMER)


def _scaled(made: MadeTemplate, predictor: Tree) -> MadeTemplate:
    """With the number of pods that its autoscaler starts from; of one that may go down to none, with one."""
    least, most = (min(number_of(predictor.get(name), 0), MAX_PODS) for name in ("minReplicas", "maxReplicas"))
    copies = max(least, 1)
    growth = Growth("its autoscaler", most) if most > copies else None
    counted = CountField(((f"{_PREDICTOR}.minReplicas", copies),)) if least else CountField()
    return replace(made, copies=copies, counted_by=counted, growth=growth)


# --- pods over several nodes ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Nodes:
    """A head and ``workers`` others with their numbers of GPUs; ``worker`` is the spec of the others' pods."""

    workers: int
    of_head: int
    of_worker: int
    worker: Tree


def _nodes(runtime: Tree, wanted: Tree, head: Tree) -> _Nodes | str:
    """How many pods make up one model server, and with how many GPUs each; or why KServe makes none."""
    spec = mapping(runtime.get("workerSpec"))
    base = next((each for each in _containers(spec) if each.get("name") == _WORKER), None)
    if base is None:
        return f"it has a workerSpec, and its ServingRuntime has no {_WORKER} in its own, which KServe requires"
    own = next(iter(_containers(wanted)), {})
    worker = {**_pod(spec, wanted), "containers": [{**_merged(base, own), "name": _WORKER}]}
    pipeline, tensor = (_size(name, wanted, spec) for name in (_PIPELINE, _TENSOR))
    if mapping(runtime.get("annotations")).get(_BACKEND) == "mp":
        return _Nodes(pipeline - 1, tensor, tensor, worker)
    total, of_head, of_worker = pipeline * tensor, _gpus(head), _gpus(worker)
    if of_worker:
        count = -(-total // of_worker)
        count = 1 if of_head >= total else count
        of_head = of_head or total - of_worker * (count - 1)
        of_head, of_worker = (total, 0) if count == 1 else (of_head, of_worker)
        if total > of_head + of_worker * (count - 1):
            lacking = f"{of_head} of the head and {of_worker} of each of {count - 1} workers"
            return f"KServe makes no pods of it: {pipeline} × {tensor} GPUs are more than {lacking}"
    elif of_head:
        # Workers that say nothing have one each.
        count, of_worker = 1 + max(total - of_head, 0), 1
    else:
        count, of_head, of_worker = total, 1, 1
    return _Nodes(count - 1, of_head, of_worker, worker)


def _size(name: str, wanted: Tree, spec: Tree) -> int:
    return min(number_of(wanted.get(name), number_of(spec.get(name), 1)) or 1, MAX_PODS)


def _group(head: MadeTemplate, nodes: _Nodes) -> Iterator[MadeTemplate]:
    spec = mapping(head.body.get("spec"))
    first = replace(head, role="head", body={**head.body, "spec": _with_gpus(spec, nodes.of_head)})
    yield replace(first, moved=tuple(each for each in head.moved if each[0] not in _GPUS))
    if nodes.workers:
        body = {**head.body, "spec": _with_gpus(nodes.worker, nodes.of_worker)}
        path = f"{_PREDICTOR}.workerSpec"
        made = MadeTemplate(path, body, role="worker", copies=min(nodes.workers, MAX_PODS), spec_at=path)
        sizes = tuple(f"{path}.{name}" for name in (_PIPELINE, _TENSOR))
        yield replace(made, count=CountSource.ASSUMED, assumed=sizes)


def _gpus(pod: Tree) -> int:
    """What the first container requests; limits alone do not count."""
    requests = _amounts(_containers(pod)[0], "requests")
    found = str(next((requests[name] for name in requests if name in _GPUS), 0))
    return min(int(found), MAX_PODS) if found.isdecimal() and len(found) <= _DIGITS else 0


def _with_gpus(pod: Tree, count: int) -> dict[str, Any]:
    first, *others = _containers(pod)
    amounts = {field: _amounts(first, field) for field in ("limits", "requests")}
    named = [name for name in _GPUS if any(str(each.get(name, 0)) != "0" for each in amounts.values())]
    name = named[0] if named else _GPUS[0]
    resources = {
        **mapping(first.get("resources")),
        **{field: {**amounts[field], name: str(count)} for field in amounts},
    }
    return {**pod, "containers": [{**first, "resources": resources}, *others]}


# --- two objects as one -----------------------------------------------------------------------------------------------


def _containers(tree: Tree) -> list[dict[str, Any]]:
    return [each for each in list_at(tree, "containers") if isinstance(each, dict)]


def _amounts(container: Tree, field: str) -> dict[str, Any]:
    return mapping(mapping(container.get("resources")).get(field))


def _pod(runtime: Tree, own: Tree) -> dict[str, Any]:
    """The spec of pods without containers: what the service says comes before what the runtime says."""
    found = {field: runtime[field] for field in _OF_PODS if runtime.get(field)}
    apart = ("containers", "model", "workerSpec", "minReplicas", "maxReplicas", "labels", "annotations")
    for field, value in own.items():
        if field in apart:
            continue
        before = found.get(field)
        if field in _BY_NAME and isinstance(before, list) and isinstance(value, list):
            found[field] = list({text_at(mapping(each), "name"): each for each in (*before, *value)}.values())
        elif isinstance(before, dict) and isinstance(value, dict):
            found[field] = {**before, **value}
        else:
            found[field] = value
    return found


def _merged(base: Tree, own: Tree) -> dict[str, Any]:
    """A container of the runtime with what the service says of it; of its other fields nothing matters here."""
    merged = {field: {**_amounts(base, field), **_amounts(own, field)} for field in ("limits", "requests")}
    claims = list_at(mapping(own.get("resources")), "claims") or list_at(mapping(base.get("resources")), "claims")
    return {**base, "resources": {**merged, **({"claims": claims} if claims else {})}}


def _moved(container: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Where the service says what the container of the model requests."""
    names = {**_amounts(container, "limits"), **_amounts(container, "requests")}
    # The server takes limits of devices for requests, and wants them to be equal.
    return tuple((name, below(f"{_MODEL}.resources.{'limits' if '/' in name else 'requests'}", name)) for name in names)
