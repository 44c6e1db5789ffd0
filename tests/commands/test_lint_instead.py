"""What lint tells to write in place of selectors that are refused or fail: it compiles, and was tried on devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_dra.commands.app import run
from tests.kit import build

DOMAIN = f'device.attributes["{build.DRIVER}"]'
GPU = {
    "name": "gpu-0",
    "attributes": {"model": {"string": "H100"}, "driverVersion": {"version": "1.2.3"}},
    "capacity": {"mem": {"value": "80Gi"}},
}
MISTAKES = {
    f'device.capacity["{build.DRIVER}"].mem >= quantity("40Gi")': (
        "selector",
        f'device.capacity["{build.DRIVER}"].mem.compareTo(quantity("40Gi")) >= 0',
    ),
    f'{DOMAIN}.model == "H100" and {DOMAIN}.model != "L4"': (
        "selector",
        f'{DOMAIN}.model == "H100" && {DOMAIN}.model != "L4"',
    ),
    f'device.attributes["{build.DRIVER}/model"] == "H100"': ("selector", f'{DOMAIN}.model == "H100"'),
    f'{DOMAIN}.driverVersion >= "1.0"': (
        "selector-error-on-device",
        f'{DOMAIN}.driverVersion.compareTo(semver("1.0.0")) >= 0',
    ),
}


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)


def written(*expressions: str) -> None:
    selectors = [{"cel": {"expression": each}} for each in expressions]
    exactly = {"deviceClassName": "gpu.example.com", "selectors": selectors}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpu", "namespace": "ml"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
    }
    Path("claim.yaml").write_text(yaml.safe_dump(claim), encoding="utf-8")
    body = {"apiVersion": "resource.k8s.io/v1", **build.slice_("node-1", GPU)}
    own = {"apiVersion": "resource.k8s.io/v1", **build.device_class()}
    items = [body, own, {"apiVersion": "v1", **build.node()}]
    Path("cluster.json").write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")


def found(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    run(["lint", "-f", "claim.yaml", *arguments, "-o", "json"])
    findings: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["findings"]
    return [each for each in findings if each["code"].startswith("selector")]


@pytest.mark.parametrize("expression", MISTAKES)
def test_the_corrected_selector_stands_beside_the_mistake(expression: str, capfd: pytest.CaptureFixture[str]) -> None:
    rule, instead = MISTAKES[expression]
    written(expression)
    (finding,) = found(capfd, "--devices", "cluster.json")
    assert finding["code"] == rule
    assert finding["instead"] == {"expression": instead, "matching": 1, "devices": 1}
    run(["lint", "-f", "claim.yaml", "--devices", "cluster.json"])
    line = next(each for each in capfd.readouterr().out.splitlines() if f"[{rule}]" in each)
    text = line.partition("; write instead (matches 1 of 1 device): ")[2].removesuffix(f" [{rule}]")
    assert yaml.safe_load(text) == {"expression": instead}
    # As it is told, nothing is wrong with it.
    written(instead)
    assert not found(capfd, "--devices", "cluster.json")


def test_quotes_in_a_selector_are_those_of_yaml(capfd: pytest.CaptureFixture[str]) -> None:
    written(f"device.attributes['{build.DRIVER}/model'] == 'H100'")
    run(["lint", "-f", "claim.yaml", "--devices", "cluster.json"])
    out = capfd.readouterr().out
    text = out.partition("(matches 1 of 1 device): ")[2].partition(" [selector]")[0]
    assert yaml.safe_load(text)["expression"].replace("'", '"') == f'{DOMAIN}.model == "H100"'


def test_of_several_selectors_each_has_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    broken = [each for each, (rule, _) in MISTAKES.items() if rule == "selector"]
    written(f'{DOMAIN}.model != "L4"', *broken)
    told = {each["path"]: each["instead"] for each in found(capfd, "--devices", "cluster.json")}
    place = "spec.devices.requests[0].exactly.selectors[{}].cel.expression"
    assert set(told) == {place.format(number) for number in (1, 2, 3)}


def test_without_devices_nothing_is_made_up(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is told to match where nothing was tried."""
    written(f'device.capacity["{build.DRIVER}"].mem >= quantity("40Gi")')
    (finding,) = found(capfd)
    assert finding["instead"] is None or finding["instead"]["devices"] == 0
    written(f'{DOMAIN}.model == "H100"')
    assert not found(capfd, "--devices", "cluster.json")
