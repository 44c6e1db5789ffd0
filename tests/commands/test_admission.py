"""What simulate and capacity read of a server about pods that are created: only what these pods make matter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.source.demo import CLUSTER
from tests.commands.test_few_rights import said, unfolded
from tests.diagnosis.test_competition import holder, waiting
from tests.diagnosis.test_scaling import replica
from tests.diagnosis.test_scaling import workload as scalable
from tests.kit import build
from tests.kit.fake_api import FakeApi, chunk_of, running, serve_cluster, write_kubeconfig
from tests.output.pending.test_siblings import gpus, member, workload

pytestmark = pytest.mark.one_in(3)

LIMITS = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits", "namespace": "ml"},
    "spec": {"limits": [{"type": "Container", "default": {"cpu": "1000"}}]},
}
KATA = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "1000"}},
}
SCALER = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web", "namespace": "ml"},
    "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "minReplicas": 500, "maxReplicas": 900},
}
POD = {
    "containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "g"}]}}],
    "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "small"}],
}
PATHS = {
    "LimitRange": "/api/v1/namespaces/ml/limitranges",
    "RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses",
    "HorizontalPodAutoscaler": "/apis/autoscaling/v2/namespaces/ml/horizontalpodautoscalers",
}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    """The demo cluster with one object of each kind."""
    monkeypatch.setenv("NO_COLOR", "1")
    with running(FakeApi()) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        served(api)
        yield api


def served(api: FakeApi, *more: Any, refused: tuple[str, ...] = ()) -> None:
    serve_cluster(api, [*json.loads(CLUSTER.read_bytes())["items"], *more], refused)
    api.routes["/apis/apps/v1/deployments"] = lambda request: chunk_of(request, "Deployment", [], "apps/v1")


def written(tmp_path: Path, **spec: Any) -> str:
    """A file with a template and a pod, or a Deployment of it where ``replicas`` are given."""
    replicas, pod = spec.pop("replicas", None), {**POD, **spec}
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "ml"},
        "spec": pod,
    }
    if replicas is not None:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
        body |= {"apiVersion": "apps/v1", "kind": "Deployment"}
        body["spec"] = {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    devices = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "small", "namespace": "ml"},
        "spec": {"spec": {"devices": devices}},
    }
    path = tmp_path / f"new-{len(list(tmp_path.iterdir()))}.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [claim, body]}), encoding="utf-8")
    return str(path)


def read_of(api: FakeApi) -> set[str]:
    return {kind for kind, path in PATHS.items() if api.asked(path)}


def test_only_what_the_pods_make_matter_is_read(api: FakeApi, capfd: Any, tmp_path: Path) -> None:
    for words, kinds in (
        (("simulate", "-f", written(tmp_path)), {"LimitRange"}),
        (("simulate", "-f", written(tmp_path, runtimeClassName="kata")), {"LimitRange", "RuntimeClass"}),
        (("simulate", "-f", written(tmp_path, replicas=1)), {"LimitRange", "HorizontalPodAutoscaler"}),
        (("capacity", "-f", written(tmp_path, replicas=1)), {"LimitRange"}),
        (("capacity", "--class", "gpu.example.com"), set()),
        (("why-pending", "trainer-0", "-n", "ml"), {"LimitRange"}),
    ):
        api.requests.clear()
        said(capfd, *words)
        assert api.asked("/api/v1/nodes")
        assert read_of(api) == kinds, words
        assert not api.asked("/api/v1/limitranges")


def test_bounds_are_read_where_a_pod_may_be_made_anew_with_other_amounts(api: FakeApi, capfd: Any) -> None:
    """It would be deleted for one that is refused."""
    bounds = {**LIMITS, "spec": {"limits": [{"type": "Container", "min": {"cpu": "1000"}}]}}
    wants = {"apiVersion": "v1", **build.pod("wants", requests={"cpu": "2000"})}
    for more, offered in (((), True), ((bounds,), False)):
        served(api, wants, *more)
        api.requests.clear()
        out = unfolded(said(capfd, "why-pending", "wants", "-n", "ml")[1])
        assert read_of(api) == {"LimitRange"}
        assert not api.asked("/api/v1/limitranges")
        assert ("cpu instead of 2k" in out) is offered


@pytest.mark.parametrize(
    ("there", "spec", "told"),
    [
        (LIMITS, {}, "(1000 requested, "),
        (KATA, {"runtimeClassName": "kata"}, "(1000 requested, "),
        (SCALER, {"replicas": 1}, "of 500 copies fit"),
    ],
)
def test_what_the_cluster_has_counts_live_and_in_a_snapshot(
    api: FakeApi, capfd: Any, tmp_path: Path, there: dict[str, Any], spec: dict[str, Any], told: str
) -> None:
    file, snapshot = written(tmp_path, **spec), str(tmp_path / "cluster.json")
    served(api, there)
    assert said(capfd, "snapshot", "-f", snapshot)[0] == 0
    assert there["kind"] in {item["kind"] for item in json.loads(Path(snapshot).read_bytes())["items"]}
    for source in ((), ("--from", snapshot)):
        code, out, _ = said(capfd, "simulate", "-f", file, "--exit-code", *source)
        assert code == 3
        assert told in unfolded(out)
        assert "incomplete" not in out


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("LimitRange", {}),
        ("RuntimeClass", {"runtimeClassName": "kata"}),
        ("HorizontalPodAutoscaler", {"replicas": 1}),
    ],
)
def test_what_is_forbidden_leaves_it_open_and_says_who_can_permit_it(
    api: FakeApi, capfd: Any, tmp_path: Path, kind: str, spec: dict[str, Any]
) -> None:
    served(api, *((KATA,) if kind != "RuntimeClass" else ()), refused=(kind,))
    file = written(tmp_path, **spec)
    code, out, _ = said(capfd, "simulate", "-f", file, "--exit-code")
    assert code == 4
    where = "whole cluster" if kind == "RuntimeClass" else "namespace ml"
    assert out.startswith("This answer is incomplete")
    assert f"{kind} in {'the ' if kind == 'RuntimeClass' else ''}{where}: forbidden for user dev" in unfolded(out)
    assert "kubectl create" in out
    assert "whether it fits is unknown" in unfolded(out)
    # Where it can't matter it is not even read.
    if kind != "LimitRange":
        code, out, _ = said(capfd, "simulate", "-f", written(tmp_path), "--exit-code")
        assert (code, "incomplete" in out) == (0, False)


# --- autoscalers behind advice ----------------------------------------------------------------------------------------


def full(api: FakeApi) -> None:
    """A StatefulSet whose first pod has the only device; and a pod that waits for something else."""
    own = "StatefulSet", "web"
    there = [build.namespace(), build.device_class(), *gpus(1), *member(*own, "web-0", "node-1", "gpu-0")]
    serve_cluster(api, [*there, workload(*own), *member(*own, "pod"), build.pod("other", claims=["none"])])
    scaler = {**SCALER, "spec": {"scaleTargetRef": {"kind": "StatefulSet", "name": "web"}, "maxReplicas": 9}}
    path = PATHS["HorizontalPodAutoscaler"]
    api.serve_foreign("autoscaling", "v2", horizontalpodautoscalers=[])
    api.routes[path] = lambda request: chunk_of(request, "HorizontalPodAutoscaler", [scaler], "autoscaling/v2")


@pytest.mark.parametrize("scaled", [True, False])
def test_what_a_way_out_scales_down_is_not_scaled_back(
    capfd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, scaled: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    both = [*replica("serve-x", "ReplicaSet", "b"), *replica("serve-y", "ReplicaSet", "c")]
    slice_ = build.slice_("node-1", *map(build.device, "abc"))
    rest = [build.namespace(), build.device_class(), build.node(), slice_, *waiting("pod", 1, minute=0)]
    with running(FakeApi()) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        serve_cluster(api, [*rest, scalable("ReplicaSet"), *both, *holder("bare", "a")])
        spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "serve"}, "maxReplicas": 9}
        found = [{**SCALER, "spec": spec}] if scaled else []
        api.serve_foreign("autoscaling", "v2", horizontalpodautoscalers=[])
        path = PATHS["HorizontalPodAutoscaler"]
        api.routes[path] = lambda request: chunk_of(request, "HorizontalPodAutoscaler", found, "autoscaling/v2")
        _, out, _ = said(capfd, "why-pending", "pod/pod", "-n", "ml")
        assert ("scale ReplicaSet ml/serve to 1" in unfolded(out)) is not scaled, out
        assert "autoscalers were not read" not in unfolded(out)
        api.forbid(path)
        _, out, _ = said(capfd, "why-pending", "pod/pod", "-n", "ml")
        assert "autoscalers were not read" in unfolded(out), out


def test_who_would_undo_the_advice_is_read_for_that_advice_alone(
    capfd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with running(FakeApi()) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        full(api)
        _, out, _ = said(capfd, "why-pending", "pod/pod", "-n", "ml")
        assert "HorizontalPodAutoscaler web keeps StatefulSet web at 1 to 9 pods" in unfolded(out), out
        assert '{"spec":{"maxReplicas":1}}' in out
        api.requests.clear()
        said(capfd, "why-pending", "pod/other", "-n", "ml")
        said(capfd, "why-pending", "-n", "ml")
        assert not api.asked(PATHS["HorizontalPodAutoscaler"])
        api.forbid(PATHS["HorizontalPodAutoscaler"])
        _, out, _ = said(capfd, "why-pending", "pod/pod", "-n", "ml")
        assert "Autoscalers were not read: one that scales it would undo that." in unfolded(out)
