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
    assert "values of a chart are not objects: helm template CHART" in text


# --- whole charts -----------------------------------------------------------------------------------------------------


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    folder = tmp_path / "my app"
    for path, text in {
        "Chart.yaml": "apiVersion: v2\nname: app\nversion: 0.1.0\n",
        "values.yaml": "replicas: 2\n",
        "templates/pod.yaml": VALUE,
        "templates/more.yaml": BEGINS,
        "charts/below/Chart.yaml": "apiVersion: v2\nname: below\nversion: 0.1.0\n",
        "charts/below/templates/pod.yaml": VALUE,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("words", COMMANDS[:3], ids=lambda words: words[0])
@pytest.mark.parametrize("inside", ["", "templates", "templates/pod.yaml", "charts/below/templates"])
def test_a_chart_is_one_error_however_many_of_its_files_are_named(
    capfd: pytest.CaptureFixture[str], chart: Path, words: list[str], inside: str
) -> None:
    lines = told(capfd, chart / inside, *words, *([] if inside.endswith(".yaml") else ["-R"])).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"error: {chart}: a Helm chart that is not rendered yet: ")
    assert lines[1].startswith(f"try:   helm template '{chart}' | kubectl dra {words[0]} -f -")


def test_what_is_no_template_of_a_chart_is_still_read(capfd: pytest.CaptureFixture[str], chart: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: b}]}\n"
    (chart.parent / "pod.yaml").write_text(pod, encoding="utf-8")
    assert run(["simulate", "-R", "-f", str(chart.parent), "--from", "demo", "--color", "never"]) == 1
    out, err = capfd.readouterr()
    assert "Pod default/p fits." in out
    assert err.count("error: ") == 1


def test_a_broken_file_that_a_chart_does_not_render_is_told_by_itself(
    capfd: pytest.CaptureFixture[str], chart: Path
) -> None:
    (chart / "crds").mkdir()
    (chart / "crds" / "broken.yaml").write_text("kind: [\n", encoding="utf-8")
    text = told(capfd, chart, "simulate", "--from", "demo", "-R")
    assert "crds/broken.yaml, document 1" in text
    assert text.count("error: ") == 3  # the last one sums up


def test_a_kustomization_is_called_one(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "kustomization.yaml"
    path.write_text("resources: [pod.yaml]\n", encoding="utf-8")
    text = told(capfd, path, "simulate", "--from", "demo")
    assert f"error: {path}: a kustomization, not an object of a cluster" in text
    assert f"try:   kubectl dra simulate -k {tmp_path} --from demo" in text
