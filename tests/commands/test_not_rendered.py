"""Charts and other Go templates that nobody rendered: said so, in the first line, whatever the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_dra.commands.app import run

BEGINS = '{{- if .Values.on }}\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: "x"}\n{{- end }}\n'
VALUE = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Name }}\n"
COMMANDS = (["simulate", "--from", "demo"], ["convert"], ["test-selector", "--from", "demo"], ["lint"])


def told(capfd: pytest.CaptureFixture[str], path: Path, *words: str) -> str:
    assert run([*words, "-f", str(path), "--color", "never"]) == 1
    return "".join(capfd.readouterr())


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("text", [BEGINS, VALUE, f"\ufeff{BEGINS}", BEGINS.replace("\n", "\r\n")])
def test_a_template_is_called_one(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], text: str
) -> None:
    path = tmp_path / "chart.yaml"
    path.write_bytes(text.encode())
    first = told(capfd, path, *words).splitlines()[0]
    assert "a template that is not rendered yet, with {{ … }} in it" in first
    assert "JSON" not in first


@pytest.mark.parametrize("words", COMMANDS[:3], ids=lambda words: words[0])
def test_several_that_are_all_broken_are_no_file_without_pods(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, words: list[str]
) -> None:
    path = tmp_path / "several.yaml"
    path.write_text(f"{VALUE}---\n{VALUE}", encoding="utf-8")
    text = told(capfd, path, *words)
    assert "nothing could be read: 2 problems, each named above" in text
    assert "no object of the files" not in text


def test_json_is_still_json(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"kind": "Pod",}', encoding="utf-8")
    assert "template" not in told(capfd, path, "simulate", "--from", "demo")


@pytest.mark.parametrize("name", ["values.yaml", "values-prod.yaml", "prod.values.yml", "Chart.yaml"])
def test_values_of_a_chart_are_no_objects(capfd: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("replicas: 3\nresourceClaims: [{name: gpu}]\n", encoding="utf-8")
    text = told(capfd, path, "simulate", "--from", "demo")
    assert "is not a Kubernetes object" in text
    assert "values of a chart are no objects: helm template CHART" in text
