"""The DaemonSets of a live cluster are read where no driver publishes what a pod asks for, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.fake_api import FakeApi, serve_cluster, write_kubeconfig
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


def test_daemon_sets_that_may_not_be_read(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    api.serve_foreign("apps", "v1", daemonsets=[])
    api.forbid(LIST)
    assert "no driver publishes devices for class gpu.example.com" in answer(api, tmp_path, capfd)


def test_where_devices_are_published_nobody_asks(
    api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answer(api, tmp_path, capfd, build.slice_("node-1", build.device("gpu-0")))
    assert not api.asked(LIST)
