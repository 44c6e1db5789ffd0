"""Gangs of other schedulers in a live cluster: read where a pod of one waits, and no other time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.commands.test_gang_objects import GROUP, items
from tests.kit.fake_api import FakeApi, serve_cluster, write_kubeconfig

PATH = "/apis/scheduling.x-k8s.io"


def live(api: FakeApi, tmp_path: Path, objects: list[dict[str, Any]]) -> list[str]:
    serve_cluster(api, objects)
    api.serve_foreign("scheduling.x-k8s.io", "v1alpha1", podgroups=[GROUP])
    return ["--kubeconfig", str(write_kubeconfig(tmp_path, api.url)), "--color", "never"]


def test_a_gang_that_lacks_pods(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flags = live(api, tmp_path, items())
    assert run(["why-pending", "-A", *flags]) == 0
    asked = [request.path for request in api.requests if request.path.startswith(PATH)]
    assert [path for path in asked if "podgroups" in path] == [f"{PATH}/v1alpha1/podgroups"]
    assert "its group gang needs 3 pods at a time, and only 1 exists: w-0" in " ".join(capfd.readouterr().out.split())


def test_without_the_right_it_says_so(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flags = live(api, tmp_path, items())
    api.forbid(f"{PATH}/v1alpha1/podgroups")
    assert run(["why-pending", "-A", "-o", "json", *flags]) == 0
    assert '"PodGroup.scheduling.x-k8s.io"' in capfd.readouterr().out


def test_no_group_is_asked_for_where_no_pod_has_the_label(api: FakeApi, tmp_path: Path) -> None:
    objects = items()
    for each in objects:
        each["metadata"].pop("labels", None) if each["kind"] == "Pod" else None
    assert run(["why-pending", "-A", *live(api, tmp_path, objects)]) == 0
    assert not [request for request in api.requests if request.path.startswith(PATH)]
