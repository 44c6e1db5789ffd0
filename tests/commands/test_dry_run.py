"""``--remedy N --dry-run=server``: kubectl tries the commands of a way out on the server, without effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.source.errors import FileError
from kubectl_dra.source.rehearsal import Rehearsed, rehearse
from tests.commands.test_why_pending import call

PATCH = ("kubectl", "patch", "pod/a", "-p", "[]", "--dry-run=client", "-o", "yaml", "--context", "c")
REPLACE = ("kubectl", "replace", "--force", "-f", "-", "--context", "c")


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that notes its words and what it is given, prints an object, and fails where a file says so."""
    body = {"kind": "Pod", "metadata": {"name": "a", "uid": "u", "resourceVersion": "1", "labels": {"x": "y"}}}
    stub = tmp_path / "kubectl"
    stub.write_text(
        f'#!/bin/bash\necho "$@" >> {tmp_path}/words\ncat >> {tmp_path}/given\n'
        f"if [ -e {tmp_path}/fail ]; then echo 'forbidden: no' >&2; exit 1; fi\necho '{json.dumps(body)}'\n",
        encoding="utf-8",
    )
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def words(folder: Path) -> list[str]:
    return (folder / "words").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("command", "tried"),
    [
        ("kubectl delete pod/a -n ml --context c", "delete pod/a -n ml --context c --dry-run=server"),
        ("kubectl uncordon node/a", "uncordon node/a --dry-run=server"),
        (
            "kubectl create job fit-1 -n ml --from=cronjob/fit",
            "create job fit-1-try -n ml --from=cronjob/fit --dry-run=server",
        ),
    ],
)
def test_commands_get_the_flag(kubectl: Path, command: str, tried: str) -> None:
    (done,) = rehearse([tuple(command.split())], None)
    assert (words(kubectl), done.accepted, done.tried) == ([tried], True, True)


def test_what_would_be_replaced_is_created_under_another_name(kubectl: Path) -> None:
    found = rehearse([PATCH, REPLACE], None)
    assert words(kubectl) == [
        "patch pod/a -p [] --dry-run=client -o json --context c",
        "create -f - --context c --dry-run=server -o name",
    ]
    given: dict[str, Any] = json.loads((kubectl / "given").read_text(encoding="utf-8"))
    assert given["metadata"] == {"name": "a-try", "labels": {"x": "y"}}
    assert [done.accepted for done in found] == [True, True]


def test_the_first_refusal_ends_a_step(kubectl: Path) -> None:
    (kubectl / "fail").touch()
    assert rehearse([PATCH, REPLACE], None) == [Rehearsed(PATCH, "forbidden: no", accepted=False)]


def test_what_has_no_dry_run_is_not_tried(kubectl: Path) -> None:
    resume = ("kubectl", "rollout", "resume", "deployment/a")
    assert rehearse([resume], None) == [Rehearsed(resume, tried=False)]
    assert not (kubectl / "words").exists()


def test_without_kubectl_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FileError, match="needs kubectl"):
        rehearse([("kubectl", "delete", "pod/a")], None)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["trainer-0", "-n", "ml", "--dry-run=server"], "--dry-run is about one way out"),
        (["trainer-0", "-n", "ml", "--remedy", "1", "--dry-run=server"], "--dry-run=server needs a live cluster"),
    ],
)
def test_usage(capfd: pytest.CaptureFixture[str], arguments: list[str], what: str) -> None:
    code, out, err = call(capfd, *arguments)
    assert (code, out) == (2, "")
    assert what in err
