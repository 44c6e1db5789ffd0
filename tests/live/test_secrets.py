"""What must stay secret: tokens in logs and errors, and credential plugins that nobody asked for."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.source.demo import CLUSTER
from tests.kit.fake_api import Answer, FakeApi, write_kubeconfig

TOKEN = "s3cr3t-t0ken"
USERS = (
    {"token": TOKEN},
    {"username": "alice", "password": TOKEN},
    {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login", "args": None, "env": None}},
)
CREDENTIAL = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": TOKEN}}


@pytest.fixture(autouse=True)
def _logs_of_this_test_only(monkeypatch):
    monkeypatch.setattr(logging.getLogger("kubectl_dra"), "handlers", [])


def _read(capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What was written, when requests that nobody waits for after an error have ended: they tell in the log, too."""
    for thread in threading.enumerate():
        if "(run)" in thread.name:
            thread.join()
    return capfd.readouterr()


def helper(folder: Path) -> Path:
    """A credential plugin that leaves a trace."""
    trace, script = folder / "trace", folder / "login"
    script.write_text(f"#!/bin/sh\necho run >> {trace}\necho '{json.dumps(CREDENTIAL)}'\n", encoding="utf-8")
    script.chmod(0o755)
    return trace


@pytest.mark.parametrize("user", USERS, ids=["token", "password", "helper"])
def test_no_log_and_no_error_holds_a_token(tmp_path, api: FakeApi, capfd, monkeypatch, user):
    helper(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url, user)))
    for level in range(11):
        run(["get", "claims", "-A", f"-v={level}", "--as", "bob"])
        out, err = _read(capfd)
        assert TOKEN not in out + err
        assert (" 200 in " in err) == (level > 0), err
    assert "GET /apis/resource.k8s.io/" in err
    for status in (401, 403, 500):
        for path in list(api.routes):
            api.routes[path] = Answer({"kind": "Status", "message": "no", "code": status}, code=status)
        assert run(["why-pending", "-A", "-v=9"]) == 1
        out, err = _read(capfd)
        assert TOKEN not in out + err
        assert f" {status} in " in err


def test_answers_from_a_file_run_no_login_helper(tmp_path, api: FakeApi, capfd, monkeypatch):
    trace = helper(tmp_path)
    config = write_kubeconfig(tmp_path, api.url, USERS[2])
    monkeypatch.setenv("KUBECONFIG", str(config))
    (tmp_path / "claim.yaml").write_text(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com}}]}}\n",
        encoding="utf-8",
    )
    manifest = str(tmp_path / "claim.yaml")
    commands = (
        *(["why-pending", "-A"], ["describe-pool"], ["describe-claim", "nb-gpu", "-n", "dev"], ["get", "devices"]),
        *(["test-selector", "true"], ["simulate", "-f", manifest], ["taint-device", "--list"], ["snapshot"]),
        [
            "taint-device",
            "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0",
            "k:NoExecute",
            "--dry-run=client",
        ],
    )
    for source in ("demo", str(CLUSTER)):
        for command in commands:
            assert run([*command, "--from", source, "-v=10"]) == 0, (command, capfd.readouterr())
    assert run(["convert", "-f", manifest, "-v=10"]) == 0
    assert run(["version", "-v=10"]) == 0
    assert not trace.exists()
    assert api.requests == []
    run(["get", "pools"])
    assert trace.exists(), "with a live cluster it is run"
