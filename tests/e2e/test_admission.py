"""What simulate says of LimitRanges and RuntimeClasses is what the real API server does, and then the scheduler."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.kinds import POD
from kubectl_dra.diagnosis.gates.pod_admission import admitted
from kubectl_dra.model.core import Pod
from tests.controlplane import Client, StatusError
from tests.controlplane.client import wait_for
from tests.e2e.conftest import Explain
from tests.e2e.situations import clear, create, node_object, pod_object, scheduled_condition, without_preemption
from tests.kit.state import inventory_of

pytestmark = pytest.mark.controlplane
NAMESPACE = "e2e-admission"
CONTAINERS = {
    "type": "Container",
    "default": {"cpu": "3"},
    "defaultRequest": {"cpu": "2"},
    "max": {"cpu": "8", "memory": "4Gi"},
    "min": {"memory": "64Mi"},
    "maxLimitRequestRatio": {"cpu": "4"},
}
LIMITS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits"},
    "spec": {"limits": [CONTAINERS, {"type": "Pod", "max": {"cpu": "9"}, "maxLimitRequestRatio": {"memory": "2"}}]},
}
RUNTIME: dict[str, Any] = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "1500m"}},
    "scheduling": {
        "nodeSelector": {"kata": "yes"},
        "tolerations": [{"key": "kata", "operator": "Exists", "effect": "NoSchedule"}],
    },
}
PODS: dict[str, dict[str, Any]] = {
    "plain": {},
    "own-requests": {"requests": {"cpu": "1"}},
    "own-limits": {"limits": {"cpu": "1"}},
    "too-much": {"limits": {"cpu": "10", "memory": "5Gi"}, "requests": {"cpu": "10"}},
    "too-little": {"requests": {"memory": "1Mi"}},
    "ratio": {"requests": {"cpu": "500m"}, "limits": {"cpu": "5"}},
    "pod-ratio": {"requests": {"memory": "1Gi"}, "limits": {"memory": "4Gi"}},
    "runtime": {"runtimeClassName": "kata"},
    "no-runtime": {"runtimeClassName": "gvisor"},
    "other-overhead": {"runtimeClassName": "kata", "overhead": {"cpu": "1"}},
    "overhead-alone": {"overhead": {"cpu": "1"}},
    "selector": {"runtimeClassName": "kata", "nodeSelector": {"kata": "no"}},
    "selected": {"runtimeClassName": "kata", "nodeSelector": {"kata": "yes", "a": "b"}},
}


_ADVICE = re.compile(r" \([^()]*\)$")


def container(requests: dict[str, str], limits: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": "main", "image": "x", "resources": {"requests": requests, "limits": limits or {}}, **more}


AMOUNTS: dict[str, dict[str, Any]] = {
    "negative": {"containers": [container({"cpu": "-5"})]},
    "above-its-limit": {"containers": [container({"cpu": "4"}, {"cpu": "2"})]},
    "pages": {"containers": [container({"cpu": "1", "hugepages-2Mi": "2Mi"}, {"hugepages-2Mi": "4Mi"})]},
    "whole-pod": {"containers": [container({"cpu": "3"})], "resources": {"requests": {"cpu": "2500m"}}},
    "beside-a-sidecar": {
        "containers": [container({"memory": "2Gi"})],
        "initContainers": [container({"memory": "1Gi"}, name="proxy", restartPolicy="Always")],
        "resources": {"requests": {"memory": "2560Mi"}},
    },
    "limit-of-the-pod": {"containers": [container({"cpu": "1"}, {"cpu": "6"})], "resources": {"limits": {"cpu": "4"}}},
    "replicas": {"containers": [container({"cpu": "1"})], "replicas": -1},
    "fraction": {"containers": [container({}, {"example.com/gpu": "0.5"})]},
    "no-limit": {"containers": [container({"example.com/gpu": "1"})]},
    "whole-pod-of-devices": {"containers": [container({})], "resources": {"limits": {"example.com/gpu": "1"}}},
    "claims-of-the-pod": {"containers": [container({})], "resources": {"claims": [{"name": "gpu"}]}},
    "alternative": {
        "containers": [
            {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu", "request": "gpu/large"}]}}
        ],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
    },
}


@pytest.fixture(scope="module")
def known() -> set[str]:
    """What was made already."""
    return set()


@pytest.fixture
def objects(client: Client, known: set[str]) -> Iterator[None]:
    """A namespace with limits and a runtime; two nodes, one of them for that runtime."""
    if not known:
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, "")
        create(client, LIMITS, NAMESPACE)
        create(client, RUNTIME, "")
        known.add(NAMESPACE)
    clear(client)
    create(client, node_object("node-1", cpu="1"), "")
    taint = {"key": "kata", "effect": "NoSchedule"}
    create(client, node_object("node-2", cpu="4", labels={"kata": "yes"}, taints=[taint]), "")
    yield
    clear(client)


@pytest.mark.parametrize("name", PODS)
def test_the_server_stores_or_refuses_what_was_foreseen(
    client: Client, explain: Explain, objects: None, tmp_path: Path, name: str
) -> None:
    body = pod_object(name, **PODS[name])
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    report = explain("simulate", "-f", str(path), "-n", NAMESPACE)
    (manifest,) = report["manifests"]
    try:
        stored = create(client, body, NAMESPACE)
    except StatusError as error:
        assert report["fits"] == "No"
        (told,) = manifest["refused"]
        assert json.dumps(told)[1:-1] in str(error)
        return
    assert manifest["refused"] == []
    assert _admitted(body) == _part(_decoded(stored))
    pending = report["pods"][0]["pending"]
    condition = wait_for(lambda: scheduled_condition(client, NAMESPACE, name), "the scheduler has a verdict")
    if pending is None:
        assert condition["status"] == "True"
    else:
        assert pending["message"] == without_preemption(condition["message"])


@pytest.mark.parametrize("name", AMOUNTS)
def test_the_server_refuses_amounts_as_was_foreseen(
    client: Client, explain: Explain, tmp_path: Path, name: str
) -> None:
    labels, spec = {"app": name}, dict(AMOUNTS[name])
    number = spec.pop("replicas", None)
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    if number is not None:
        made = {"metadata": {"labels": labels}, "spec": spec}
        wanted = {"replicas": number, "selector": {"matchLabels": labels}, "template": made}
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": wanted}
    path = tmp_path / "object.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    (manifest,) = explain("simulate", "-f", str(path), "-n", "default")["manifests"]
    with pytest.raises(StatusError) as error:
        create(client, body, "default")
    assert manifest["refused"]
    # What is in parentheses at the end is advice, and a label is told at length.
    said = [_ADVICE.sub("", each).replace("must be a DNS label", "") for each in manifest["refused"]]
    assert [each for each in said if json.dumps(each)[1:-1] not in str(error.value)] == []


def _admitted(body: dict[str, Any]) -> tuple[Any, ...]:
    limits = {**LIMITS, "metadata": {"name": "limits", "namespace": NAMESPACE}}
    pod = _decoded({**body, "metadata": {**body["metadata"], "namespace": NAMESPACE}})
    return _part(admitted(pod, inventory_of([limits, RUNTIME])))


def _part(pod: Pod) -> tuple[Any, ...]:
    """What admission may have changed; the tolerations that every pod gets are not looked at."""
    spec = pod.spec
    amounts = tuple((each.resources.requests, each.resources.limits) for each in spec.containers)
    tolerations = [each for each in spec.tolerations if not each.key.startswith("node.kubernetes.io/")]
    return amounts, spec.overhead, spec.node_selector, tolerations


def _decoded(body: dict[str, Any]) -> Pod:
    pod = defaulted(decode_object(json.dumps(body).encode(), "v1", POD))
    assert isinstance(pod, Pod)
    return pod
