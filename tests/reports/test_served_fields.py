"""Pods that name a PodGroup on a server that serves none: the field is dropped, and that is said first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.corpus.shapes import Object, pod, workload
from tests.kit import build

GROUP = {"podGroupName": "gang"}


def grouped(kind: str) -> Object:
    if kind == "Pod":
        return pod("p", "default", schedulingGroup=GROUP)
    template = {"spec": {"containers": [{"name": "c", "image": "x"}], "schedulingGroup": GROUP}}
    jobs = [{"name": "w", "replicas": 2, "template": {"spec": {"template": template}}}]
    return workload("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs})


def gang(version: str) -> Object:
    spec = {"schedulingPolicy": {"gang": {"minCount": 6}}}
    return {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": "PodGroup",
        "metadata": {"name": "gang"},
        "spec": spec,
    }


def simulated(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, *objects: Object, source: str = "demo", code: int = 3
) -> tuple[str, dict[str, Any]]:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"kind": "List", "items": objects}), encoding="utf-8")
    words = ["simulate", "-f", str(path), "--from", source, "--exit-code", "--color", "never"]
    assert run(words) == code
    text = " ".join(capfd.readouterr().out.split())
    run([*words, "-o", "json"])
    return text, json.loads(capfd.readouterr().out)


@pytest.mark.parametrize("kind", ["Pod", "JobSet"])
def test_a_gang_on_a_server_without_gangs_does_not_fit_as_written(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, kind: str
) -> None:
    text, report = simulated(capfd, tmp_path, grouped(kind), gang("v1beta1"))
    assert text.startswith("Not as written: 1 field of features that this server does not have, which it drops")
    assert "this server has no PodGroups (feature gate GenericWorkload): each pod is placed by itself" in text
    assert 'PodGroup default/gang would be refused: no matches for kind "PodGroup"' in text
    assert "kubectl dra convert" not in text
    (found,) = (each for each in report["manifests"] if each["object"]["kind"] == kind)
    assert (report["fits"], found["findings"][0]["code"]) == ("No", "unserved-field")


def test_a_group_that_is_not_there_at_all(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, report = simulated(capfd, tmp_path, grouped("Pod"))
    assert report["fits"] == "No"


def test_a_list_says_nothing_of_its_server(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.json"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    node["status"] = {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "20"}}  # type: ignore[assignment]
    cluster.write_text(json.dumps({"kind": "List", "items": [node]}), encoding="utf-8")
    text, report = simulated(capfd, tmp_path, grouped("JobSet"), gang("v1beta1"), source=str(cluster), code=3)
    assert "Not as written" not in text
    # Two pods of a gang of six: the group decides.
    assert report["fits"] == "No"
    assert report["supposedGates"] == ["GenericWorkload"]
    told = "Taken as on, because the files need it: feature gate GenericWorkload, off by default in Kubernetes 1.37."
    assert f"{told} Without GenericWorkload the server takes no PodGroups." in text
    run(["simulate", "-f", str(tmp_path / "a.json"), "--from", str(cluster), "--feature-gates", "GenericWorkload=true"])
    assert "Taken as on" not in capfd.readouterr().out


def listed(tmp_path: Path, version: str, kubelet: str) -> str:
    """A cluster of one node as kubectl lists it, its slice and class in a version of resource.k8s.io."""
    path = tmp_path / "cluster.json"
    node = {**build.node(), "apiVersion": "v1"}
    node["status"]["nodeInfo"] = {"kubeletVersion": kubelet}
    device = {"name": "gpu-0", "basic": {}} if version == "v1beta1" else {"name": "gpu-0"}
    ours = [
        {**each, "apiVersion": f"resource.k8s.io/{version}"} for each in (build.device_class(), build.slice_("node-1"))
    ]
    ours[1]["spec"] = {**ours[1]["spec"], "devices": [device]}
    path.write_text(json.dumps({"kind": "List", "items": [node, *ours]}), encoding="utf-8")
    return str(path)


def template(version: str) -> Object:
    asked = {"name": "r", "deviceClassName": build.DRIVER}
    request = asked if version == "v1beta1" else {"name": "r", "exactly": {"deviceClassName": build.DRIVER}}
    spec = {"spec": {"devices": {"requests": [request]}}}
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "default"},
        "spec": spec,
    }


USER = pod("p", "default", resourceClaims=[{"name": "c", "resourceClaimTemplateName": "t"}])


def test_a_list_in_beta_versions_is_of_a_server_without_the_stable_one(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """kubectl lists what the server prefers, which is v1 since 1.34."""
    source = listed(tmp_path, "v1beta1", "v1.33.4")
    text, report = simulated(capfd, tmp_path, template("v1"), USER, source=source)
    assert 'no matches for kind "ResourceClaimTemplate" in version "resource.k8s.io/v1"' in text
    assert (
        "kubectl dra convert -f FILE --to v1beta1 writes the manifest in the version that Kubernetes 1.33 has." in text
    )
    assert "As if that were fixed: Pod default/p fits." in text
    assert [each["fits"] for each in report["then"]] == ["Yes"]


@pytest.mark.parametrize(
    ("version", "kubelet", "written"),
    [("v1", "v1.33.4", "v1"), ("v1beta1", "v1.33.4", "v1beta1"), ("v1beta1", "v1.36.0", "v1")],
)
def test_versions_that_the_server_of_a_list_may_have_are_not_refused(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, version: str, kubelet: str, written: str
) -> None:
    source = listed(tmp_path, version, kubelet)
    text, _ = simulated(capfd, tmp_path, template(written), USER, source=source, code=0)
    assert text.startswith("Pod default/p fits.")


def test_of_a_version_that_is_gone_the_pods_are_told_as_if_it_were_converted(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = listed(tmp_path, "v1", "v1.36.0")
    text, _ = simulated(capfd, tmp_path, template("v1alpha3"), USER, source=source)
    assert "kubectl dra convert -f FILE writes the manifest in the version that servers have now." in text
    assert "As if that were fixed: Pod default/p fits." in text
