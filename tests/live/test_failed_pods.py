"""Pods that a node did not take have failed, and lists of all pods leave these out: they are read to explain others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.fake_api import FakeApi, serve_cluster, write_kubeconfig

WORDS = "Pod was rejected: Allocate failed due to rpc error: no rdma port, which is unexpected"
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "asr-5c", "uid": "set", "controller": True}


def member(name: str, *, phase: str = "Pending", reason: str = "", owned: bool = True) -> dict[str, Any]:
    pod = build.pod(name, claims=["held"], phase=phase, node_name="node-1" if reason else "")
    pod["metadata"] |= {"ownerReferences": [OWNER] if owned else [], "creationTimestamp": "2026-01-01T00:00:00Z"}
    pod["status"] |= {"reason": reason, "message": WORDS} if reason else {}
    return pod


def cluster(*others: dict[str, Any]) -> list[dict[str, Any]]:
    objects = [build.node(), build.device_class(), build.claim("held"), member("asr-9"), *others]
    versions = {"ResourceClaim": "resource.k8s.io/v1", "DeviceClass": "resource.k8s.io/v1"}
    return [{"apiVersion": versions.get(each["kind"], "v1"), **each} for each in objects]


def told(api: FakeApi, folder: Path, capfd: pytest.CaptureFixture[str], *words: str, **more: Any) -> str:
    reason = "UnexpectedAdmissionError"
    failed = [member(f"asr-{number}", phase="Failed", reason=reason) for number in (1, 2)]
    crashed = member("crashed", phase="Failed")
    serve_cluster(api, cluster(*failed, crashed, member("alone", owned=False)), **more)
    assert run([*words, "--kubeconfig", str(write_kubeconfig(folder, api.url)), "--color", "never"]) == 0
    return " ".join(capfd.readouterr().out.split())


def asked(api: FakeApi) -> list[str]:
    found = [each for each in api.requests if each.query.get("fieldSelector") == "status.phase=Failed"]
    return [each.path for each in found]


def test_the_overview_names_them(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = told(api, tmp_path, capfd, "why-pending", "-A")
    assert "2 pods with device claims were not taken by their nodes: DRA-618 UnexpectedAdmissionError: 2 pods" in text
    assert asked(api) == ["/api/v1/pods"]


def test_a_pod_is_told_what_became_of_its_siblings(
    api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = told(api, tmp_path, capfd, "why-pending", "asr-9", "-n", "ml")
    lead = (
        "2 other pods of its ReplicaSet asr-5c were not taken by node-1 (UnexpectedAdmissionError, the newest created"
    )
    assert lead in text
    assert "no rdma port, which is unexpected." in text.partition(lead)[2]
    assert asked(api) == ["/api/v1/namespaces/ml/pods"]


def test_a_bare_pod_has_none(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "not taken" not in told(api, tmp_path, capfd, "why-pending", "alone", "-n", "ml")
    assert not asked(api)
