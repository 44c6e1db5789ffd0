"""Pods of KServe's services: made of the service and the runtime that it names, on one node or several."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.api.workloads.templates import CountField, Growth


def kserve_runtime(kind: str = "ServingRuntime", worker: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    main = {"name": "kserve-container", "image": "s", "resources": {"requests": {"cpu": "8"}, "limits": {"x/gpu": "1"}}}
    own = {} if worker is None else {"workerSpec": {"containers": [{"name": "worker-container", **worker}]}}
    body = {"containers": [main, {"name": "logger", "image": "l"}], **own, **spec}
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "vllm", **({"namespace": "ml"} if kind == "ServingRuntime" else {})},
        "spec": body,
    }


def kserve_service(*, runtime: str = "vllm", **predictor: Any) -> dict[str, Any]:
    model = {"modelFormat": {"name": "huggingface"}, **({"runtime": runtime} if runtime else {})}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "w", "namespace": "ml"},
        "spec": {"predictor": {"model": {**model, **predictor.pop("model", {})}, **predictor}},
    }


def kserve_pods(*bodies: dict[str, Any]) -> list[Any]:
    return list(read_all([Source(json.dumps(each).encode()) for each in bodies], "ml")[-1].pods)


def requested(plan: Any) -> dict[str, str]:
    return {name: str(amount) for name, amount in plan.pod.spec.containers[0].resources.requests.items()}


def test_a_service_of_kserve_has_the_pods_of_its_runtime() -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    taint = [{"key": "gpu", "operator": "Exists"}]
    runtime = kserve_runtime(tolerations=taint, nodeSelector={"pool": "a", "zone": "b"}, resourceClaims=claims)
    model = {"resources": {"requests": {"cpu": "4", "memory": "8Gi"}, "claims": [{"name": "gpu"}]}}
    (plan,) = kserve_pods(
        runtime, kserve_service(model=model, minReplicas=2, maxReplicas=5, nodeSelector={"zone": "c"})
    )
    spec = plan.pod.spec
    assert [each.name for each in spec.containers] == ["kserve-container", "logger"]
    assert requested(plan) == {"cpu": "4", "memory": "8Gi", "x/gpu": "1"}
    assert [each.name for each in spec.containers[0].resources.claims] == ["gpu"]
    assert (spec.node_selector, len(spec.tolerations)) == ({"pool": "a", "zone": "c"}, 1)
    assert [each.resource_claim_template_name for each in spec.resource_claims] == ["one"]
    assert (plan.copies, plan.growth) == (2, Growth("its autoscaler", 5))
    assert plan.counted_by == CountField((("spec.predictor.minReplicas", 2),))
    assert dict(plan.moved)["x/gpu"] == 'spec.predictor.model.resources.limits["x/gpu"]'


def test_a_runtime_of_the_namespace_comes_before_one_of_the_cluster() -> None:
    cluster, own = kserve_runtime("ClusterServingRuntime", nodeSelector={"a": "cluster"}), kserve_runtime()
    (plan,) = kserve_pods(cluster, kserve_service())
    assert plan.pod.spec.node_selector == {"a": "cluster"}
    (plan,) = kserve_pods(cluster, own, kserve_service())
    assert plan.pod.spec.node_selector == {}
    own["metadata"]["namespace"] = "other"
    (plan,) = kserve_pods(cluster, own, kserve_service())
    assert plan.pod.spec.node_selector == {"a": "cluster"}


@pytest.mark.parametrize(
    ("runtime", "said"), [("", "a ServingRuntime that KServe chooses"), ("x", "ServingRuntime x,")]
)
def test_a_service_whose_runtime_is_not_there_is_not_said_to_have_no_part(runtime: str, said: str) -> None:
    sources = [Source(json.dumps(kserve_service(runtime=runtime)).encode())]
    (planned,) = read_all(sources, "ml")
    assert said in planned.untried


NVIDIA = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("head", "worker", "backend", "pods"),
    [
        # pipelineParallelSize 3, tensorParallelSize 2: six GPUs.
        ({}, {}, "", [("head", 1, "1"), ("worker", 5, "1")]),
        ({"requests": {NVIDIA: "2"}}, {"requests": {NVIDIA: "2"}}, "", [("head", 1, "2"), ("worker", 2, "2")]),
        ({"requests": {NVIDIA: "2"}}, {}, "", [("head", 1, "2"), ("worker", 4, "1")]),
        ({}, {"requests": {NVIDIA: "4"}}, "", [("head", 1, "2"), ("worker", 1, "4")]),
        ({"requests": {NVIDIA: "8"}}, {"requests": {NVIDIA: "2"}}, "", [("head", 1, "6")]),
        # Limits alone are not read, and replaced.
        ({"limits": {NVIDIA: "2"}}, {"limits": {NVIDIA: "2"}}, "", [("head", 1, "1"), ("worker", 5, "1")]),
        ({}, {}, "mp", [("head", 1, "2"), ("worker", 2, "2")]),
    ],
)
def test_heads_and_workers_of_a_service_over_several_nodes(
    head: dict[str, Any], worker: dict[str, Any], backend: str, pods: list[tuple[str, int, str]]
) -> None:
    annotations = {"annotations": {"multinode/executor-backend": backend}} if backend else {}
    runtime = kserve_runtime(worker={"image": "w", "resources": worker}, **annotations)
    runtime["spec"]["containers"][0]["resources"] = head
    found = kserve_pods(runtime, kserve_service(workerSpec={"pipelineParallelSize": 3, "tensorParallelSize": 2}))
    assert [(each.role, each.copies, requested(each)[NVIDIA]) for each in found] == pods


@pytest.mark.parametrize(
    ("worker", "said"),
    [(None, "no worker-container"), ({"requests": {NVIDIA: "2"}}, "3 × 2 GPUs are more than 1 of the head")],
)
def test_services_of_which_kserve_makes_no_pods(worker: dict[str, Any] | None, said: str) -> None:
    runtime = kserve_runtime(worker=None if worker is None else {"image": "w", "resources": worker})
    runtime["spec"]["containers"][0]["resources"] = {"requests": {NVIDIA: "1"}}
    service = kserve_service(workerSpec={"pipelineParallelSize": 3, "tensorParallelSize": 2})
    planned = read_all([Source(json.dumps(each).encode()) for each in (runtime, service)], "ml")[-1]
    assert said in planned.untried


def test_a_transformer_has_pods_of_its_own_and_a_stopped_service_none() -> None:
    service = kserve_service()
    service["spec"]["transformer"] = {"minReplicas": 2, "containers": [{"name": "kserve-container", "image": "t"}]}
    found = kserve_pods(kserve_runtime(), service)
    assert [(each.role, each.copies) for each in found] == [("predictor", 1), ("transformer", 2)]
    service["metadata"]["annotations"] = {"serving.kserve.io/stop": "true"}
    assert [each.copies for each in kserve_pods(kserve_runtime(), service)] == [0, 0]


def test_what_describes_pods_or_queues_is_not_said_to_have_no_part() -> None:
    config = {"controller_manager_config.yaml": "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": config}
    bodies = [kserve_runtime(), settings, {**settings, "data": {"a": "b"}}, kserve_service()]
    found = read_all([Source(json.dumps(each).encode()) for each in bodies], "ml")
    assert [each.counts for each in found] == [True, True, False, False]
