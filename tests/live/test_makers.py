"""An object of another project, got by its name from a live cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.commands.test_idle_kinds import EXAMPLE, made
from tests.corpus.shapes import CLUSTERS, NAMESPACE, devices, request, template
from tests.kit.fake_api import Answer, FakeApi, serve_cluster, status, write_kubeconfig

GROUP = "jobset.x-k8s.io"
ROOT = f"/apis/{GROUP}"
PATH = f"{ROOT}/v1alpha2/namespaces/{NAMESPACE}/jobsets/work"


def cluster(api: FakeApi, tmp_path: Path, *, crd: bool = True) -> list[str]:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    serve_cluster(api, [*CLUSTERS["example"](), template(devices(request(EXAMPLE))), namespace])
    if crd:
        version = {"groupVersion": f"{GROUP}/v1alpha2", "version": "v1alpha2"}
        resources = [{"name": "jobsets", "kind": "JobSet", "namespaced": True, "verbs": ["get"]}]
        api.routes[ROOT] = lambda _: Answer({"kind": "APIGroup", "versions": [version], "preferredVersion": version})
        api.routes[f"{ROOT}/v1alpha2"] = lambda _: Answer({"kind": "APIResourceList", "resources": resources})
    return ["--kubeconfig", str(write_kubeconfig(tmp_path, api.url)), "-n", NAMESPACE, "--color", "never"]


def answer(capfd: pytest.CaptureFixture[str], flags: list[str], code: int = 0) -> str:
    assert run(["why-pending", "jobset/work", *flags]) == code
    return " ".join("".join(capfd.readouterr()).split())


def test_a_suspended_one(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flags = cluster(api, tmp_path)
    api.routes[PATH] = lambda _: Answer(made("JobSet"))
    text = answer(capfd, flags)
    assert "JobSet demo/work is suspended: it has no pods until spec.suspend is false." in text
    assert "one of its pods would fit now" in text


def test_one_that_is_not_there(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = answer(capfd, cluster(api, tmp_path), 1)
    assert 'jobsets.jobset.x-k8s.io "work" not found in namespace "demo"' in text


def test_a_cluster_without_the_kind(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = answer(capfd, cluster(api, tmp_path, crd=False), 1)
    assert "does not serve jobsets.jobset.x-k8s.io" in text


def test_one_that_may_not_be_read(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flags = cluster(api, tmp_path)
    api.forbid(PATH, 'jobsets.jobset.x-k8s.io "work" is forbidden: User "u" cannot get resource "jobsets"')
    assert 'User "u" cannot get resource "jobsets"' in answer(capfd, flags, 1)


def test_the_runtime_of_a_train_job_is_got_too(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    group = "trainer.kubeflow.org"
    version = {"groupVersion": f"{group}/v1alpha1", "version": "v1alpha1"}
    flags = cluster(api, tmp_path)
    api.routes[f"/apis/{group}"] = lambda _: Answer(
        {"kind": "APIGroup", "versions": [version], "preferredVersion": version}
    )
    names = [{"name": name} for name in ("trainjobs", "clustertrainingruntimes")]
    root = f"/apis/{group}/v1alpha1"
    api.routes[root] = lambda _: Answer({"kind": "APIResourceList", "resources": names})
    job: dict[str, Any] = {
        "apiVersion": f"{group}/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "tune", "namespace": NAMESPACE},
        "spec": {"suspend": True, "runtimeRef": {"name": "torch"}},
    }
    sets = made("JobSet")["spec"]["replicatedJobs"]
    runtime = {"kind": "ClusterTrainingRuntime", "metadata": {"name": "torch"}}
    runtime = {"apiVersion": f"{group}/v1alpha1", **runtime, "spec": {"template": {"spec": {"replicatedJobs": sets}}}}
    api.routes[f"{root}/namespaces/{NAMESPACE}/trainjobs/tune"] = lambda _: Answer(job)
    api.routes[f"{root}/clustertrainingruntimes/torch"] = lambda _: Answer(runtime)
    assert run(["why-pending", "trainjob/tune", *flags, "-o", "json"]) == 0
    (found,) = json.loads(capfd.readouterr().out)["items"]
    assert (found["verdict"], found["fits"]) == ("Suspended", "Yes")


def test_words_in_a_path_are_quoted(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flags = cluster(api, tmp_path)
    api.routes[f"{ROOT}/v1alpha2/namespaces/{NAMESPACE}/jobsets/a%3Fb"] = lambda _: status(404, "not there")
    assert run(["why-pending", "jobset/a?b", *flags]) == 1
    assert "not found" in capfd.readouterr().err
