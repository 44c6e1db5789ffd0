"""``get`` prints one object per line with whole names, in a pipe and on a terminal of any width."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from tests.kit.pseudo_terminal import pseudo_terminal
from tests.reports.clusters import DEMO

pytestmark = pytest.mark.one_in(4)


#: Names that are longer still than those of the demo cluster.
NAMES = {
    "serve-0-gpus-ppjs4": "llama-3-70b-instruct-vllm-6d4b9c7f5d-n4pt9-gpus-ppjs4",
    "gpu.example.com": "accelerators.gpu.resource.corporation.example.com",
    "ecc-errors": "uncorrectable-memory-errors-reported-by-the-fleet-health-controller",
}
TYPES = ("pools", "devices", "claims", "classes", "taints")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo cluster with long names."""
    text = DEMO.read_text(encoding="utf-8")
    for name, long in NAMES.items():
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", long, text)
    path = tmp_path_factory.mktemp("whole") / "cluster.json"
    path.write_text(text, encoding="utf-8")
    return path


def _to_terminal(columns: int, *words: str) -> str:
    """What a terminal of so many columns is sent."""
    with pseudo_terminal(columns) as (screen, stream), contextlib.redirect_stdout(stream):
        assert sys.stdout.isatty()
        assert run(words) == 0
        return screen.rest(stream).decode().replace("\r\n", "\n")


def _to_pipe(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(words) == 0
    return capfd.readouterr().out


@pytest.fixture(params=[None, 20, 80, 100, 200], ids=lambda width: "pipe" if width is None else f"tty-{width}")
def shown(request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """What a command prints into a pipe, or onto a terminal."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    if request.param is None:
        return lambda *words: _to_pipe(capfd, *words)
    return lambda *words: _to_terminal(request.param, *words)


def _objects(type_: str, cluster: Path, capfd: pytest.CaptureFixture[str]) -> list[tuple[str, ...]]:
    """The names of the JSON, in the order of their columns."""
    found = json.loads(_to_pipe(capfd, "get", type_, "-A", "--from", str(cluster), "-o", "json"))["items"]
    match type_:
        case "pools":
            return [(each["driver"], each["pool"]) for each in found]
        case "devices":
            return [(each["driver"], each["pool"], each["device"]["name"]) for each in found]
        case "claims":
            return [(each["metadata"]["namespace"], each["metadata"]["name"]) for each in found]
        case "taints":
            return [("rule", each["metadata"]["name"]) for each in found]
    return [(each["metadata"]["name"],) for each in found]


@pytest.mark.parametrize("wide", [False, True], ids=["", "wide"])
@pytest.mark.parametrize("type_", TYPES)
def test_every_name_stands_whole_in_one_line(shown, cluster, capfd, type_, wide) -> None:
    objects = _objects(type_, cluster, capfd)
    text = shown("get", type_, "-A", "--from", str(cluster), *(["-o", "wide"] if wide else []))
    header, *lines = text.splitlines()
    # Separated by two spaces or more, for awk -F '  +'.
    rows = [re.split(r" {2,}", line) for line in lines]
    for names in objects:
        cells = [" ".join(names)] if type_ == "taints" else list(names)
        assert len([row for row in rows if _holds(row, cells)]) == 1, names
    drivers = 0
    if type_ == "taints":
        drivers = sum(row[1] == "driver" for row in rows)
        assert drivers
    assert len(lines) == len(objects) + drivers
    assert {len(row) for row in rows} == {len(re.split(r" {2,}", header))}


def _holds(row: list[str], cells: list[str]) -> bool:
    return any(row[start : start + len(cells)] == cells for start in range(2))


@pytest.mark.parametrize("type_", TYPES)
def test_no_headers_leaves_objects_only(shown, cluster, type_) -> None:
    lines = shown("get", type_, "-A", "--from", str(cluster)).splitlines()
    bare = shown("get", type_, "-A", "--from", str(cluster), "--no-headers").splitlines()
    assert [line.split() for line in bare] == [line.split() for line in lines[1:]]


def test_one_class_without_headers_is_one_line(shown, cluster) -> None:
    assert len(shown("get", "class", "any-device", "--from", str(cluster), "--no-headers").splitlines()) == 1


def test_several_names_are_as_many_lines(shown, cluster) -> None:
    pools = ["gke-prod-h100-5f3a2b1c-k4tq", "ip-192-168-153-160.ec2.internal", "rack-7"]
    assert len(shown("get", "pools", *pools, "--from", str(cluster)).splitlines()) == 4


@pytest.mark.parametrize(
    ("columns", "limit"), [(50, 50), (80, 80), (97, 97), (100, 100), (200, 100), (0, 80), (None, 80)]
)
def test_prose_takes_the_width_of_the_terminal(capfd, monkeypatch, columns, limit) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    words = ("why-pending", "pod/trainer-0", "-n", "ml", "--from", "demo")
    text = _to_pipe(capfd, *words) if columns is None else _to_terminal(columns, *words)
    prose = [line for line in text.splitlines() if "device.attributes" not in line and "kubectl " not in line]
    longest = max(map(len, prose))
    assert longest <= limit
    assert longest > limit - 12


@pytest.mark.parametrize("more", [(), ("-o", "wide"), ("-o", "custom-columns=NAME:.name")])
def test_a_selector_of_several_lines_is_one_line(shown, tmp_path, more) -> None:
    content = json.loads(DEMO.read_text(encoding="utf-8"))
    classes = [item for item in content["items"] if item["kind"] == "DeviceClass"]
    selector = next(item for item in classes if item["metadata"]["name"] == "l40.example.com")["spec"]["selectors"][0]
    selector["cel"]["expression"] = selector["cel"]["expression"].replace(" && ", " &&\n  ") + "\n"
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    text = shown("get", "classes", "--from", str(path), *more)
    assert len(text.splitlines()) == len(classes) + 1
    assert "\\u{" not in text
    if more[-1:] == ("wide",):
        assert 'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "L40"' in text
