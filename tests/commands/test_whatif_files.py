"""Nodes and slices of -f that don't go together: said, and no device is told to be where it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from tests.corpus.shapes import Object, devices, pod, request, template

DRIVER = "gpu.acme.com"
NODE: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new-node"}}


def objects() -> list[Object]:
    pool = {"name": "new-node", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": "new-node", "pool": pool, "devices": [{"name": "gpu-0"}]}
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "new-node-gpu"}}
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    cls = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER}}
    return [
        {**head, "spec": spec},
        {**cls, "spec": {"selectors": [selector]}},
        template(devices(request(DRIVER)), namespace="default"),
        pod(namespace="default", templates=["template"]),
    ]


def told(capfd: pytest.CaptureFixture[str], tmp_path: Path, *more: Object) -> str:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"kind": "List", "items": [*objects(), *more]}), encoding="utf-8")
    run(["simulate", "-f", str(path), "--from", "demo", "--color", "never"])
    return " ".join(capfd.readouterr().out.split())


def test_slices_of_a_node_that_is_nowhere(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path)
    assert "new-node: named by slices of the files, and neither in the cluster nor in the files." in text
    assert "until a Node of this name is added with -f" in text


def test_a_node_that_does_not_say_what_it_has(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = told(capfd, tmp_path, NODE)
    assert "new-node: no status.allocatable with pods, so nothing fits onto it" in text
    # cpu-1 of the demo is tainted, and has no device of this driver.
    assert "cpu-1 has the device" not in text
    assert "new-node has the device but no pod slots left" in text


def test_a_whole_node_needs_no_note(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    whole = {**NODE, "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}}}
    text = told(capfd, tmp_path, whole)
    assert "Pod default/pod0 fits. on new-node" in text
    assert "named by slices" not in text
    assert "status.allocatable" not in text
