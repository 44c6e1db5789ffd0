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


def test_the_pod_of_the_driver_that_crashed_while_it_published_is_named(
    api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Half of its slices are there; the pod may only run on that node, and other nodes have devices."""
    made = daemon_set()
    meta, labels = made["metadata"], made["spec"]["template"]["metadata"]["labels"]
    own = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": meta["name"], "uid": meta["uid"], "controller": True}
    name, namespace = f"{meta['name']}-7xk2p", meta["namespace"]
    ended = {"terminated": {"exitCode": 2, "reason": "Error", "message": "panic: index out of range"}}
    plugin = build.pod(name, node_name="node-1", phase="Running")
    plugin["metadata"] |= {"namespace": namespace, "labels": labels, "ownerReferences": [own]}
    crash = {"waiting": {"reason": "CrashLoopBackOff"}}
    plugin["status"]["containerStatuses"] = [
        {"name": "c", "ready": False, "restartCount": 7, "state": crash, "lastState": ended}
    ]
    half = build.slice_("node-1", build.device("gpu-0"))
    half["spec"]["pool"] |= {"generation": 2, "resourceSliceCount": 2}
    host = "kubernetes.io/hostname"
    nodes = [build.node(each, labels={host: each}) for each in ("node-1", "node-2")]
    pod = build.pod(claims=["claim"], nodeSelector={host: "node-1"})
    api.serve_foreign("apps", "v1", daemonsets=[made])
    api.routes[f"/api/v1/namespaces/{namespace}/pods"] = lambda request: chunk_of(request, "Pod", [plugin], "v1")
    whole = build.slice_("node-2", build.device("gpu-0"))
    objects = [*nodes, build.device_class(), build.namespace(), half, whole, pod, build.claim("claim"), plugin]
    serve_cluster(api, objects)
    flags = ["--kubeconfig", str(write_kubeconfig(tmp_path, api.url)), "-n", build.NAMESPACE, "--color", "never"]
    assert run(["why-pending", "pod/pod", *flags]) == 0
    text = " ".join("".join(capfd.readouterr()).split())
    assert (
        f"it may only run on nodes with {host}=node-1, but pool {build.DRIVER}/node-1 is incomplete: 1 of its 2 "
        "ResourceSlices (generation 2) is published, so none of its devices can be allocated. The free "
        f"{build.DRIVER} devices are on node-2."
    ) in text
    assert "CrashLoopBackOff, 7 restarts: panic: index out of range" in text
    assert f"kubectl logs pod/{name} -n {namespace}" in text


def test_daemon_sets_that_may_not_be_read(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    api.serve_foreign("apps", "v1", daemonsets=[])
    api.forbid(LIST)
    assert "no driver publishes devices for class gpu.example.com" in answer(api, tmp_path, capfd)


def test_where_devices_are_published_nobody_asks(
    api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answer(api, tmp_path, capfd, build.slice_("node-1", build.device("gpu-0")))
    assert not api.asked(LIST)
