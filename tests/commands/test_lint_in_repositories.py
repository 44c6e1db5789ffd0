"""What docs/lint.md says to put into a repository does what it says: the pre-commit hook, the steps of the action."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_dra.commands.app import run

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


def block(word: str) -> Any:
    """The YAML of the guide that holds a word."""
    found = [text for text in re.findall(r"```yaml\n(.*?)```", GUIDE, re.S) if word in text]
    return yaml.safe_load(found[0])


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "deploy"
    folder.mkdir()
    for name in ("mistakes.yaml", "two-gpus.yaml"):
        shutil.copy(ROOT / "docs" / "examples" / name, folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_hook_of_the_guide_is_the_one_that_is_defined() -> None:
    (hook,) = block("repos:")["repos"][0]["hooks"]
    assert hook["id"] == HOOK["id"]
    script = shlex.split(HOOK["entry"])[0]
    assert f'{script} = "' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_hook_checks_the_files_that_pre_commit_names(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """pre-commit appends the names of changed files to the entry, and goes by the exit code."""
    words = shlex.split(HOOK["entry"])[1:]
    assert run([*words, "deploy/mistakes.yaml", "deploy/two-gpus.yaml"]) == 1
    assert "deploy/mistakes.yaml:14:17: error: " in capfd.readouterr().out
    assert run([*words, "deploy/two-gpus.yaml"]) == 0


def test_the_steps_of_the_action_annotate_and_leave_a_log(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step fails by the exit code of its shell, as the runner starts it (bash -e)."""
    steps = [
        step["run"] for step in block("runs-on")["jobs"]["dra"]["steps"] if "kubectl-dra lint" in step.get("run", "")
    ]
    assert len(steps) == 2
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    done = [subprocess.run(["bash", "-ec", step], capture_output=True, encoding="utf-8", check=False) for step in steps]
    assert [each.returncode for each in done] == [1, 0], [each.stderr for each in done]
    assert "::error file=deploy/mistakes.yaml,line=14,col=17,title=" in done[0].stdout
    uploaded = block("runs-on")["jobs"]["dra"]["steps"][-1]["with"]["sarif_file"]
    log = json.loads(Path(uploaded).read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0"
    places = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in log["runs"][0]["results"]}
    assert places == {"deploy/mistakes.yaml"}
