"""A snapshot answers as the cluster does from which it was taken: every report, field by field."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.e2e.situations import bring_about, cases

pytestmark = pytest.mark.controlplane
_CASES: Final = ("all-taken", "match-attribute", "node-taint", "extended-resource-asks-for-too-many")
# What tells from where and when facts are, and the flags that were given.
_OF_THE_SOURCE: Final = ("read", "steps", "origin", "time", "resourceVersion", "age", "note", "server", "assumed")


def _without_source(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_source(each) for key, each in value.items() if key not in _OF_THE_SOURCE}
    return [_without_source(each) for each in value] if isinstance(value, list) else value


def _report(plane: ControlPlane, *words: str) -> Any:
    command = [str(plane.kubectl), "dra", *words, "-o", "json"]
    done = subprocess.run(command, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{words}\n{done.stderr}"
    return _without_source(json.loads(done.stdout))


@pytest.mark.parametrize("name", _CASES)
def test_every_command_answers_the_same(plane: ControlPlane, client: Client, tmp_path: Path, name: str) -> None:
    case = cases()[name]
    bring_about(client, case)
    snapshot = tmp_path / "snapshot.json"
    taken = [str(plane.kubectl), "dra", "snapshot"]
    snapshot.write_bytes(subprocess.run(taken, env=plane_environment(plane), capture_output=True, check=True).stdout)
    manifest = tmp_path / "claim.yaml"
    claims = [body for body in case.objects if body["kind"].startswith("ResourceClaim")][:1]
    body = {"apiVersion": "resource.k8s.io/v1", **claims[0]} if claims else None
    commands = [
        ("why-pending", "pod/pod", "-n", case.namespace, "--remedies"),
        ("why-pending", "-A"),
        ("get", "pools"),
        ("get", "devices"),
        ("get", "claims", "-A"),
        ("get", "classes"),
        ("describe-pool",),
    ]
    if body is not None:
        body["metadata"] = {**body["metadata"], "name": "another", "namespace": case.namespace}
        manifest.write_text(json.dumps(body), encoding="utf-8")
        commands.append(("simulate", "-f", str(manifest), "-n", case.namespace))
    for words in commands:
        assert _report(plane, *words) == _report(plane, *words, "--from", str(snapshot)), words
