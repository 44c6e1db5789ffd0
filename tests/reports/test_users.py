"""Who uses a claim is not known where no pod was recorded: nobody is called finished or deleted for that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from tests.kit import build

CLAIM = build.claim("held", held=[("node-1", "gpu-0")], by=["user"])


@pytest.mark.parametrize(
    "words",
    [["describe-claim", "held"], ["get", "claims"], ["describe-pool", "node-1"], ["why-pending", "claim/held"]],
    ids=" ".join,
)
def test_a_file_without_pods_calls_no_user_gone(
    words: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    version = "resource.k8s.io/v1"
    items = [{"apiVersion": "v1", **build.node()}, {"apiVersion": "v1", **build.namespace()}]
    items += [{"apiVersion": version, **each} for each in (CLAIM, build.slice_("node-1", build.device("gpu-0")))]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    scope = [] if words[0] == "describe-pool" else ["-n", build.NAMESPACE]
    run([*words, *scope, "--from", str(path), "--color", "never"])
    out = capfd.readouterr().out
    assert "user" in out
    assert not any(word in out for word in ("finished", "deleted", "gone"))
