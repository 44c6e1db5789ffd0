"""Owners of other API groups, which no list holds: in snapshots unless these are redacted, and in any other file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.source.file import load_file
from tests.kit.fake_api import Answer, FakeApi, serve_cluster, write_kubeconfig
from tests.live.conftest import api, no_proxies  # noqa: F401 - fixtures

_TEMPLATE: Final = {"spec": {"containers": [{"name": "main", "env": [{"name": "TOKEN", "value": "secret"}]}]}}
_SET: Final = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "train", "namespace": "ml", "uid": "u"},
    "spec": {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": _TEMPLATE}}}]},
}
_POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "train-a-0",
        "namespace": "ml",
        "uid": "p",
        "ownerReferences": [
            {"apiVersion": _SET["apiVersion"], "kind": "JobSet", "name": "train", "uid": "u", "controller": True}
        ],
    },
    "spec": {"containers": [{"name": "main"}]},
    "status": {"phase": "Pending"},
}
_KEY: Final = ("JobSet", "ml", "train")


def test_a_live_snapshot_holds_them_without_what_may_be_secret(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    serve_cluster(api, [_POD])
    api.routes["/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets/train"] = Answer(_SET)
    taken, again = tmp_path / "taken.json", tmp_path / "again.json"
    assert run(["snapshot", "-o", str(taken), "--kubeconfig", str(write_kubeconfig(tmp_path, api.url))]) == 0
    assert run(["snapshot", "-o", str(again), "--from", str(taken)]) == 0
    capfd.readouterr()
    for path in (taken, again):
        owner = load_file(str(path))[0].workloads[_KEY]
        assert [job.name for job in owner.spec.replicated_jobs] == ["a"]
        assert "secret" not in path.read_text(encoding="utf-8")
    redacted = tmp_path / "redacted.json"
    assert run(["snapshot", "--redact", "-o", str(redacted), "--from", str(taken)]) == 0
    assert load_file(str(redacted))[0].workloads == {}
    assert "train" not in redacted.read_text(encoding="utf-8")


def test_they_count_in_plain_files(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [_POD, _SET]}), encoding="utf-8")
    assert _KEY in load_file(str(path))[0].workloads
