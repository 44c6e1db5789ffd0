"""Whatever a conversion drops is named: objects with every field set, and texts that are no Unicode."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.convert import Conversion, convert
from kubectl_dra.api.generations import _MODULES, _shapes
from kubectl_dra.api.sources import Source
from kubectl_dra.commands.app import run
from kubectl_dra.reports.conversion import conversion_report
from tests.every_field import EveryField, leaves

GENERATIONS = [(version, name) for version in _MODULES for name in _shapes(version)]
# Alternative spellings and values of which an object has one, and paths that are named by the resource's name.
ONE_OF_SEVERAL = ("spec.Driver", "spec.DeviceType", ".stringValue", ".intValue", ".semVerValue", ".blockSize")


def _every(version: str, name: str) -> dict[str, Any]:
    shape = _shapes(version)[name]
    tree = {"apiVersion": version, "kind": shape.kind or name, **EveryField().object(shape.struct)}
    tree["metadata"] = {"name": "made"}
    return tree


def _named(path: str, conversion: Conversion) -> bool:
    whole = not conversion.objects and conversion.losses
    below = (loss.path for loss in conversion.losses)
    return bool(whole) or any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in below)


@pytest.mark.parametrize(("version", "name"), GENERATIONS)
def test_every_field_is_carried_over_or_named(version: str, name: str) -> None:
    tree = _every(version, name)
    conversion = convert([Source(json.dumps(tree).encode())])[0]
    assert not conversion.error
    made = b"".join(conversion.objects).decode()
    silent = {
        path
        for path, value in leaves(tree)
        if path.startswith(("spec", "status"))
        and not isinstance(value, bool)
        and str(value) not in made
        and not _named(path, conversion)
    }
    assert {path for path in silent if not path.endswith(ONE_OF_SEVERAL)} == set()


@pytest.mark.parametrize("mode", ["WaitForFirstConsumer", "Immediate"])
def test_the_allocation_mode_of_a_classic_claim_is_named(mode: str) -> None:
    claim = {"apiVersion": "resource.k8s.io/v1alpha2", "kind": "ResourceClaim", "metadata": {"name": "a"}}
    claim["spec"] = {"resourceClassName": "gpu", "allocationMode": mode}  # type: ignore[assignment]
    losses = convert([Source(json.dumps(claim).encode())])[0].losses
    assert [loss.path for loss in losses] == ["spec.allocationMode"]


# --- texts that are no Unicode --------------------------------------------------------------------------------------

HALF = "x\ud800y"
PLACES = ("metadata.name", "metadata.labels.app", "spec.devices.requests[0].name", "spec.note", "kind")


def _claim(place: str, kind: str = "ResourceClaim") -> dict[str, Any]:
    def text(path: str, otherwise: str) -> str:
        return HALF if path == place else otherwise

    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": text("kind", kind),
        "metadata": {"name": text("metadata.name", "a"), "labels": {"app": text("metadata.labels.app", "b")}},
        "spec": {
            "devices": {"requests": [{"name": text("spec.devices.requests[0].name", "r"), "exactly": {}}]},
            "note": text("spec.note", "n"),
            "exact": 1.10,
        },
    }


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["ResourceClaim", "ConfigMap"])
def test_half_a_character_is_replaced_and_named(place: str, kind: str) -> None:
    conversion = convert([Source(json.dumps(_claim(place, kind)).encode())])[0]
    assert any(loss.path == place and "U+FFFD" in loss.reason for loss in conversion.losses)
    assert "\\ud8" not in b"".join(conversion.objects).decode()


def test_what_is_broken_is_named_although_the_manifest_was_corrected_before() -> None:
    claim = _claim("spec.devices.requests[0].name")
    claim["spec"]["devices"]["requests"][0]["deviceClassName"] = "gpu"  # v1 has it below exactly
    report = conversion_report([Source(json.dumps(claim).encode())], "v1")
    assert any(finding.corrected for finding in report.findings[0])
    assert "spec.devices.requests[0].name" in [loss.path for loss in report.conversions[0].losses]
    assert not report.clean


def test_nothing_else_of_the_object_is_touched() -> None:
    written = json.dumps(_claim("metadata.labels.app", "ConfigMap")).replace("1.1}", '1.10, "pair": "\\ud83d\\ude00"}')
    (made,) = convert([Source(written.encode())])[0].objects
    assert made.decode() == written.replace("\\ud800", "\\ufffd")


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_an_object_that_cannot_be_read_is_passed_on(output: str, tmp_path, capfd) -> None:
    claim = _claim("metadata.labels.app") | {"spec": 7}
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(claim), encoding="utf-8")
    assert run(["convert", "-f", str(path), "-o", output]) == 1
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    assert "passed on as it was" in err and "metadata.labels.app: " in err
    assert "spec" in out


@pytest.mark.parametrize("output", ["yaml", "json"])
@pytest.mark.parametrize("place", PLACES)
def test_the_command_says_it_and_ends_well(place: str, output: str, tmp_path, capfd) -> None:
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(_claim(place)), encoding="utf-8")
    assert run(["convert", "-f", str(path), "-o", output]) == 0
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    assert f"{place}: " in err
    assert "fffd" in out.lower() or place == "spec.note"
