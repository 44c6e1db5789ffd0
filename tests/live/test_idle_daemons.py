"""The DaemonSets of a live cluster are read where no driver publishes what a pod asks for, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.fake_api import FakeApi, chunk_of, serve_cluster, write_kubeconfig
from tests.output.pending.test_idle_daemons import daemon_set

LIST = "/apis/apps/v1/daemonsets"


def answer(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str], *more: dict[str, Any]) -> str:
    pod, claim = build.pod(claims=["claim"]), build.claim("claim")
    serve_cluster(api, [build.node(), build.device_class(), build.namespace(), pod, claim, *more])
    flags = ["--kubeconfig", str(write_kubeconfig(tmp_path, api.url)), "-n", build.NAMESPACE, "--color", "never"]
    assert run(["why-pending", "pod/pod", *flags]) == 0
    return " ".join("".join(capfd.readouterr()).split())


def test_the_daemon_set_that_runs_nowhere_is_named(
    api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    api.serve_foreign("apps", "v1", daemonsets=[daemon_set(nodeSelector={"example.com/gpu": "true"})])
    text = answer(api, tmp_path, capfd)
    assert "runs on no node: no node matches example.com/gpu=true." in text


def test_the_pod_of_the_driver_that_cannot_pull_its_image_is_named(
    api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It has no claims, so that lists of pods leave it out."""
    made = daemon_set()
    meta, labels = made["metadata"], made["spec"]["template"]["metadata"]["labels"]
    name, namespace = f"{meta['name']}-7xk2p", meta["namespace"]
    own = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": meta["name"], "uid": meta["uid"], "controller": True}
    pull = {
        "name": "c",
        "ready": False,
        "state": {"waiting": {"reason": "ImagePullBackOff"}},
    }
    plugin = build.pod(name, node_name=build.node()["metadata"]["name"], phase="Pending")
    plugin["metadata"] |= {"namespace": namespace, "labels": labels, "ownerReferences": [own]}
    plugin["status"]["containerStatuses"] = [pull]
    api.serve_foreign("apps", "v1", daemonsets=[made])
    api.routes[f"/api/v1/namespaces/{namespace}/pods"] = lambda request: chunk_of(request, "Pod", [plugin], "v1")
    text = answer(api, tmp_path, capfd, plugin)
    assert "Correct the name of the image" in text
    assert f"The driver does not run: {name} (ImagePullBackOff)." in text
    assert f"Why it does not run: kubectl describe pod/{name} -n {namespace}" in text
    assert "kubectl logs" not in text  # it never ran, and has none


def test_daemon_sets_that_may_not_be_read(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    api.serve_foreign("apps", "v1", daemonsets=[])
    api.forbid(LIST)
    assert "no driver publishes devices for class gpu.example.com" in answer(api, tmp_path, capfd)


def test_where_devices_are_published_nobody_asks(
    api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answer(api, tmp_path, capfd, build.slice_("node-1", build.device("gpu-0")))
    assert not api.asked(LIST)
