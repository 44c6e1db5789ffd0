"""``kubectl dra convert`` from the arguments to the streams."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kubectl_dra.commands.app import run

MIXED = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: mixed, namespace: ml}
spec: {devices: {requests: [{name: r, deviceClassName: gpu, oops: 1}]}}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaim
metadata: {name: old}
spec: {resourceClassName: gpu, allocationMode: Immediate}
---
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec: {resourceClaims: [{name: gpu, source: {resourceClaimName: old}}]}
"""


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "manifests.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_manifests_come_out_as_yaml_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "-f", _file(tmp_path, MIXED)]) == 0
    out, err = capsys.readouterr()
    documents = list(yaml.safe_load_all(out))
    assert [(d["apiVersion"], d["kind"]) for d in documents] == [
        ("resource.k8s.io/v1", "ResourceClaim"),
        ("resource.k8s.io/v1", "ResourceClaim"),
        ("v1", "Pod"),
    ]
    assert documents[0]["spec"] == {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    assert documents[2]["spec"]["resourceClaims"] == [{"name": "gpu", "resourceClaimName": "old"}]
    assert err.splitlines() == [
        "corrected: ResourceClaim ml/mixed: spec.devices.requests[0].deviceClassName:"
        " resource.k8s.io/v1 has it under exactly; inline it is v1beta1's form",
        "lost: ResourceClaim ml/mixed: spec.devices.requests[0].oops:"
        " resource.k8s.io/v1 has no such field; the server drops it",
        "lost: ResourceClaim old: spec.allocationMode: v1 allocates when a pod needs the claim, never before",
        "corrected: Pod pod: spec.resourceClaims[0].source:"
        " its names stand directly in the entry since 1.31; newer servers drop it",
    ]


def test_exit_code_says_whether_all_was_carried_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _file(tmp_path, MIXED)
    assert run(["convert", "-f", file, "--exit-code"]) == 3
    capsys.readouterr()
    good = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}}
    assert (
        run(["convert", "-f", _file(tmp_path, json.dumps(good)), "--exit-code", "--to", "v1beta1", "-o", "json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["apiVersion"] == "resource.k8s.io/v1beta1"


def test_json_of_one_object_is_the_object_and_of_several_a_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["convert", "-f", _file(tmp_path, MIXED), "-o", "json", "--output-version", "v1beta1"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["kind"] == "List"
    assert listed["items"][1]["spec"]["devices"]["requests"][0]["deviceClassName"] == "gpu"
    one = _file(tmp_path, MIXED.split("---")[0])
    assert run(["convert", "-f", one, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["metadata"] == {"name": "mixed", "namespace": "ml"}


def test_a_broken_object_is_passed_on_and_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: b}\nspec: {devices: 3}\n"
    assert run(["convert", "-f", _file(tmp_path, broken)]) == 1
    out, err = capsys.readouterr()
    assert yaml.safe_load(out)["spec"] == {"devices": 3}
    assert err == (
        "error: ResourceClaim b is passed on as it was: spec.devices: expected an object, got the number 3\n"
    )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [(["convert"], "nothing to convert"), (["convert", "-f", "x", "--to", "v2"], 'can\'t convert to "v2"')],
)
def test_usage(arguments: list[str], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert f"error: {what}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "file: holds no objects\ntry:   name a file with Kubernetes objects\n"),
        (None, "file: No such file or directory\ntry:   name a file, a folder, an https address, or - for stdin\n"),
    ],
)
def test_nothing_to_read(tmp_path: Path, text: str | None, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert run(["convert", "-f", str(file)]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"error: {tmp_path}/{error}")


def test_names_from_manifests_can_not_act_on_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "a\x1b[2Jb"}}
    assert run(["convert", "-f", _file(tmp_path, json.dumps(hostile | {"spec": {"x\x1b]0;y": 1}}))]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "a\\u{1b}[2Jb" in err
