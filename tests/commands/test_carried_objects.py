"""Objects in objects that go into namespaces of their own: a ManifestWork's manifests stand for themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.corpus.shapes import Object, devices, pod_spec, request, template, workload

EXAMPLE = "gpu.example.com"


def deployment(namespace: str, replicas: int = 1) -> Object:
    made = {"metadata": {"labels": {"app": "w"}}, "spec": pod_spec(templates=["template"])}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "w"}}, "template": made}
    return workload("apps/v1", "Deployment", spec, namespace=namespace)


def carrier(kind: str, spec: Object, version: str = "work.open-cluster-management.io/v1") -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "hub", "namespace": "cluster-1"}, "spec": spec}


def inner(namespace: str = "ml") -> list[Object]:
    return [template(devices(request(EXAMPLE)), namespace=namespace), deployment(namespace)]


def told(
    command: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, *objects: Object, also: Sequence[str] = ()
) -> str:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"kind": "List", "items": list(objects)}), encoding="utf-8")
    run([command, "-f", str(path), "--from", "demo", "--color", "never", *also])
    out, err = capfd.readouterr()
    return " ".join(f"{err} {out}".split())


@pytest.mark.parametrize(
    "body",
    [
        carrier("ManifestWork", {"workload": {"manifests": inner()}}),
        carrier("Work", {"workload": {"manifests": inner()}}, "work.karmada.io/v1alpha1"),
        carrier("ManifestWorkReplicaSet", {"manifestWorkTemplate": {"workload": {"manifests": inner()}}}),
    ],
    ids=lambda body: str(body["kind"]),
)
def test_manifests_stand_in_their_own_namespaces(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, body: dict[str, Any]
) -> None:
    text = told("simulate", capfd, tmp_path, body)
    assert f"note: {body['kind']} hub: the 2 objects in it are read as if they were applied by themselves" in text
    assert "Deployment ml/" in text
    assert "fits." in text
    assert "cluster-1" not in text
    assert "Deployment ml/" in told("capacity", capfd, tmp_path, body)


def test_an_object_alone_may_be_carried(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Upstream: crossplane-contrib/provider-kubernetes, whose objects have no namespace."""
    wrapped = [
        {
            "apiVersion": "kubernetes.crossplane.io/v1alpha2",
            "kind": "Object",
            "metadata": {"name": f"o{number}"},
            "spec": {"forProvider": {"manifest": each}},
        }
        for number, each in enumerate(inner())
    ]
    text = told("simulate", capfd, tmp_path, *wrapped)
    assert "Deployment ml/" in text
    assert "note: Object o1: the object in it is read as if it were applied by itself" in text


def test_what_stays_in_the_namespace_is_told_of_what_holds_it(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    spec = {"components": [{"template": each} for each in inner("cluster-1")]}
    text = told("simulate", capfd, tmp_path, carrier("AppWrapper", spec, "workload.codeflare.dev/v1beta2"))
    assert "AppWrapper cluster-1/hub" in text
    assert "read as if" not in text


def test_a_queue_of_what_makes_objects_counts_wherever_they_go(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """An AppWrapper creates its components when Kueue lets it; without a namespace it goes where -n says."""
    wrapper = carrier(
        "AppWrapper",
        {"suspend": True, "components": [{"template": each} for each in inner()]},
        "workload.codeflare.dev/v1beta2",
    )
    wrapper["metadata"] = {"name": "hub", "labels": {"kueue.x-k8s.io/queue-name": "q"}}
    text = told("simulate", capfd, tmp_path, wrapper, also=("-n", "ml"))
    assert "AppWrapper hub, Deployment work fits if Kueue admits it." in text
    assert "read as if" not in text


@pytest.mark.parametrize(
    ("version", "kind", "spec", "said"),
    [
        (
            "helm.toolkit.fluxcd.io/v2",
            "HelmRelease",
            {"values": {"resources": {"limits": {"nvidia.com/gpu": 1}}, "extraObjects": inner()[:1]}},
            "spec.values.resources.limits has nvidia.com/gpu for its pods; what is made of it can be: helm template",
        ),
        (
            "argoproj.io/v1alpha1",
            "Application",
            {"source": {"helm": {"valuesObject": {"resourceClaims": [{"name": "g"}], "extraManifests": inner()[:1]}}}},
            "argocd app manifests hub",
        ),
    ],
    ids=["helm", "argo"],
)
def test_an_object_among_the_values_of_a_chart_is_not_all_of_it(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, version: str, kind: str, spec: Object, said: str
) -> None:
    text = told("simulate", capfd, tmp_path, carrier(kind, spec, version))
    assert f"{kind} cluster-1/hub was not tried" in text
    assert said in text


def test_references_are_no_objects(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "other"}
    held = {"target": reference, "odd": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$(x)"}}}
    text = told("simulate", capfd, tmp_path, *inner(), carrier("Policy", held, "x.example.com/v1"))
    assert "read as if" not in text


# --- as text ----------------------------------------------------------------------------------------------------------

POD = """apiVersion: v1
kind: Pod
metadata:
  name: worker
spec:
  containers:
  - {name: main, image: x, resources: {claims: [{name: gpu}]}}
  resourceClaims:
  - name: gpu
    resourceClaimTemplateName: NAME
"""


def flow(action: str, manifest: str) -> Object:
    step = {"name": "train", "resource": {"action": action, "manifest": manifest}}
    spec = {"entrypoint": "train", "templates": [step]}
    return workload("argoproj.io/v1alpha1", "Workflow", spec, "flow", namespace="ml")


def config(text: str, **data: str) -> Object:
    meta = {"name": "templates", "namespace": "ml"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"pod.yaml": text, **data}}


def test_a_pod_in_a_config_map_is_tried_in_its_namespace(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As Airflow makes its workers."""
    one = template(devices(request(EXAMPLE)), namespace="ml")
    text = told("simulate", capfd, tmp_path, one, config(POD.replace("NAME", "template"), other="a: b"))
    assert 'note: ConfigMap templates: Pod in data["pod.yaml"], a text, is tried as if created in its namespace' in text
    assert "Pod ml/worker fits." in text
    assert "is not read" not in text
    missing = told("simulate", capfd, tmp_path, one, config(POD.replace("NAME", "tmplate")))
    assert 'Pod ml/worker does not fit: it needs ResourceClaimTemplate "tmplate", which does not exist' in missing


@pytest.mark.parametrize(
    "text",
    [POD + "  nodeSelector: {{ toYaml .Values.nodes }}\n", POD + "  }\n", POD.replace("kind: Pod\n", "")],
    ids=["placeholder", "broken", "no kind"],
)
def test_a_text_that_is_no_manifest_stays_unread(capfd: pytest.CaptureFixture[str], tmp_path: Path, text: str) -> None:
    found = told("simulate", capfd, tmp_path, template(devices(request(EXAMPLE)), namespace="ml"), config(text))
    assert 'ConfigMap ml/templates was not tried: the text in data["pod.yaml"] is about claims' in found


def test_a_text_that_stays_unread_is_told_beside_one_that_is_read(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one = template(devices(request(EXAMPLE)), namespace="ml")
    two = config(POD.replace("NAME", "template"), second=POD.replace("NAME", "{{ .Values.name }}"))
    found = told("simulate", capfd, tmp_path, one, two)
    assert "Pod ml/worker fits." in found
    assert "ConfigMap ml/templates was not tried: the text in data.second is about claims, and is not read" in found


@pytest.mark.parametrize(
    ("name", "unread"), [("'{{workflow.name}}-x'", True), ("{{workflow.name}}-x", True), ("plain", False)]
)
def test_a_step_with_parameters_in_its_names_is_not_tried(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, name: str, *, unread: bool
) -> None:
    manifest = (
        POD.replace("NAME", "template").replace("name: worker", f"name: {name}").replace("image: x", "image: '{{i}}'")
    )
    found = told(
        "simulate", capfd, tmp_path, template(devices(request(EXAMPLE)), namespace="ml"), flow("create", manifest)
    )
    said = "Workflow ml/flow was not tried: the text in train.resource.manifest is about claims, and is not read"
    assert (said in found) is unread
    assert ("Pod ml/plain fits." in found) is not unread
    assert "would be refused" not in found


def test_a_step_that_deletes_makes_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = told("simulate", capfd, tmp_path, flow("delete", POD.replace("NAME", "gone")))
    assert "Pod ml/worker" not in found
    assert "about claims" not in found


def test_what_a_step_of_a_workflow_creates_is_tried_beside_its_pods(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Upstream: argo-workflows, pkg/apis/workflow/v1alpha1 (ResourceTemplate)."""
    container = {"name": "prep", "container": {"image": "x"}}
    made = {"name": "train", "resource": {"action": "create", "manifest": POD.replace("NAME", "template")}}
    spec = {"entrypoint": "prep", "templates": [container, made]}
    flow = workload("argoproj.io/v1alpha1", "Workflow", spec, "flow", namespace="ml")
    text = told("simulate", capfd, tmp_path, template(devices(request(EXAMPLE)), namespace="ml"), flow)
    assert (
        "note: Workflow flow: Pod in train.resource.manifest, a text, is tried as if created in its namespace" in text
    )
    assert "Pod ml/worker fits." in text
    assert "Workflow ml/flow" in text


def test_a_class_in_a_text_has_no_namespace(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = json.dumps({"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]})
    text = f"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: mine}}\nspec: {body}\n---\n{POD}"
    found = told(
        "simulate",
        capfd,
        tmp_path,
        template(devices(request("mine")), namespace="ml"),
        config(text.replace("NAME", "template")),
    )
    assert "DeviceClass in data" in found
    assert "Pod ml/worker fits." in found


def test_convert_writes_what_it_has_read(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told("convert", capfd, tmp_path, carrier("ManifestWork", {"workload": {"manifests": inner()}}))
    assert "kind: ManifestWork" in text or "ManifestWork" in text
    assert "read as if" not in text
