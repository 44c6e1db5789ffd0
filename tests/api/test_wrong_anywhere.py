"""Objects of other projects of which the pods are made of several parts: any part may be anything, and is only read."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from tests.api.test_kserve import NVIDIA, kserve_runtime, kserve_service

pytestmark = pytest.mark.one_in(3)

Path = tuple[str | int, ...]
HUGE = int("9" * 4000)
WRONG = (None, [], {}, HUGE, "9" * 5000, "", True, -1, 1.5, [None], {"name": {}}, [{"name": []}], [{"name": 1}], "x")
_CLAIMS = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
_OWN = {"requests": {NVIDIA: "1"}, "claims": [{"name": "gpu"}]}


def service() -> list[dict[str, Any]]:
    worker = {"pipelineParallelSize": 3, "tensorParallelSize": 2, "containers": [{"name": "worker-container"}]}
    found = kserve_service(
        workerSpec=worker, minReplicas=1, maxReplicas=4, model={"resources": _OWN}, resourceClaims=_CLAIMS
    )
    found["spec"]["transformer"] = {"minReplicas": 2, "containers": [{"name": "kserve-container"}]}
    runtime = kserve_runtime(
        worker={"image": "w", "resources": _OWN},
        annotations={"multinode/executor-backend": "ray"},
        labels={"a": "b"},
        volumes=[{"name": "v"}],
        resourceClaims=_CLAIMS,
    )
    return [found, runtime]


def clique_set() -> list[dict[str, Any]]:
    group = {"name": "g", "cliqueNames": ["c"], "replicas": 2, "resourceSharing": [{"name": "one", "namespace": "ml"}]}
    pod = {"containers": [{"name": "a"}]}
    clique = {"name": "c", "spec": {"replicas": 2, "podSpec": pod}, "resourceSharing": [{"name": "own"}]}
    body = {
        "resourceSharing": [{"name": "one", "scope": "PerReplica", "filter": {"childCliqueNames": ["c"]}}],
        "resourceClaimTemplates": [{"name": "own", "templateSpec": {"spec": {"devices": {"requests": []}}}}],
        "podCliqueScalingGroups": [group],
        "cliques": [clique],
    }
    meta = {"name": "p", "namespace": "ml"}
    found = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": meta}
    template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate"}
    request = {"name": "g", "exactly": {"deviceClassName": "c"}}
    return [
        {**found, "spec": {"replicas": 2, "template": body}},
        {**template, "metadata": {**meta, "name": "one"}, "spec": {"spec": {"devices": {"requests": [request]}}}},
    ]


def machine() -> list[dict[str, Any]]:
    domain = {
        "cpu": {"cores": 2, "sockets": HUGE, "threads": 1, "dedicatedCpuPlacement": True},
        "memory": {"guest": "8Gi", "hugepages": {"pageSize": "1Gi"}},
        "resources": {"requests": {"memory": "1Gi", "cpu": "2"}, "limits": {"cpu": "2"}},
        "devices": {"gpus": [{"name": "g", "claimName": "gpu", "requestName": "g"}]},
    }
    spec = {"template": {"spec": {"domain": domain, "resourceClaims": _CLAIMS}}}
    return [{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "v"}, "spec": spec}]


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    yield at
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from paths(part, (*at, key))


def with_value(value: Any, path: Path, new: Any) -> Any:
    changed = copy.deepcopy(value)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return changed


@pytest.mark.parametrize("objects", [service(), clique_set(), machine()], ids=("service", "cliques", "machine"))
def test_any_part_may_be_anything(objects: list[dict[str, Any]]) -> None:
    wrong = cycle(WRONG)
    for path in [each for each in paths(objects) if len(each) > 1]:
        for _ in range(4):
            changed = with_value(objects, path, next(wrong))
            found = read_all([Source(json.dumps(each).encode()) for each in changed], "ml")
            assert len(found) >= len(objects), path
