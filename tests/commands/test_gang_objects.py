"""Gangs of other schedulers: of files they are there, of a cluster they are read where a pod of one waits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.model.gang_objects import QUALIFIED
from tests.commands.test_idle import run
from tests.kit import build

LABEL = "scheduling.x-k8s.io/pod-group"
GROUP = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "PodGroup",
    "metadata": {"name": "gang", "namespace": build.NAMESPACE},
    "spec": {"minMember": 3},
    "status": {"phase": "Pending"},
}


def items(*more: dict[str, Any]) -> list[dict[str, Any]]:
    pod = build.pod("w-0", claims=["claim"])
    pod["metadata"]["labels"] = {LABEL: "gang"}
    v1, core = {"apiVersion": "resource.k8s.io/v1"}, {"apiVersion": "v1"}
    devices = [build.device_class(), build.slice_("node-1", build.device("gpu-0")), build.claim()]
    return [*({**v1, **each} for each in devices), {**core, **build.node()}, {**core, **pod}, *more]


def saved(tmp_path: Path, document: object, name: str = "cluster.json") -> str:
    path = tmp_path / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_of_a_file(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = saved(tmp_path, {"kind": "List", "items": items(GROUP)})
    assert run(["why-pending", "w-0", "-n", build.NAMESPACE, "--from", path, "--color", "never"]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "its group gang needs 3 pods at a time, and only 1 exists: w-0." in out
    assert "DRA-162" in out


def test_a_snapshot_keeps_them(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = saved(tmp_path, {"kind": "List", "items": items(GROUP)})
    for flags in ([], ["--redact"]):
        assert run(["snapshot", "--from", path, *flags]) == 0
        found = json.loads(capfd.readouterr().out)
        again = saved(tmp_path, found, "snapshot.json")
        groups = [each for each in found["items"] if each["kind"] == "PodGroup"]
        assert [(each["spec"]["minMember"], each["status"]["phase"]) for each in groups] == [(3, "Pending")]
        assert run(["why-pending", "-A", "--from", again, "-o", "json"]) == 0
        (pod,) = json.loads(capfd.readouterr().out)["items"]
        assert pod["code"] == "DRA-162"


def test_broken_objects_are_no_gangs(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}, "spec": 3}
    path = saved(tmp_path, {"kind": "List", "items": items({**GROUP, "spec": {"minMember": "x"}}, queue)})
    assert run(["why-pending", "w-0", "-n", build.NAMESPACE, "--from", path, "--color", "never"]) == 0
    assert "DRA-162" not in capfd.readouterr().out
    assert "PodGroup.scheduling.x-k8s.io" in QUALIFIED
