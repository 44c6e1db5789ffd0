"""What pods lack and a broken file of the same call may have: the file comes first, not another object of the name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run

POD = """apiVersion: v1
kind: Pod
metadata: {name: eval}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: h100}]
  containers: [{name: eval, image: x, resources: {claims: [{name: gpu}]}}]
"""
TEMPLATE = """apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: h100}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.example.com
"""
QUOTED = (
    TEMPLATE
    + """          selectors:
          - cel:
              expression: "device.attributes["gpu.example.com"].model == 'H100'"
"""
)
BROKEN = TEMPLATE + "   selectors: []\n"


def simulated(folder: Path, capfd: pytest.CaptureFixture[str], *more: str, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    run(["simulate", "-f", str(folder), "-n", "ml", "--from", "demo", *more])
    # Where lines break depends on how long the name of the folder is.
    return " ".join(capfd.readouterr().out.split()).replace("a. yaml", "a.yaml")


def test_a_file_that_is_no_yaml_is_named_and_no_template_is_to_be_created(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = simulated(tmp_path, capfd, a=BROKEN, b=POD)
    assert 'it needs ResourceClaimTemplate "h100", which does not exist' in text
    assert "ResourceClaimTemplate ml/h100 may be in " in text
    assert "a.yaml, which could not be read: correct that first." in text
    assert "create the ResourceClaimTemplate" not in text
    assert "Create the template" not in text
    assert "DRA-112" in text


@pytest.mark.parametrize("other", [None, "image: {tag: v1}\n"])
def test_where_all_manifests_were_read_it_is_to_be_created(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], other: str | None
) -> None:
    """Values of a chart hold no object, however often they lie beside manifests."""
    text = simulated(tmp_path, capfd, b=POD, **({"values": other} if other else {}))
    assert 'create the ResourceClaimTemplate "h100"' in text
    assert "could not be read" not in text


def test_an_object_of_the_files_that_the_server_does_not_take_is_not_to_be_created(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    head = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gold}\n"
    gold = head + "spec: {extendedResourceName: gold}\n"
    text = simulated(tmp_path, capfd, a=TEMPLATE.replace("gpu.example.com", "gold"), b=POD, c=gold)
    assert "The files have DeviceClass gold, but not as the server takes it (see above): correct that first." in text
    assert "create the DeviceClass" not in text


def test_a_document_has_who_may_have_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found: dict[str, Any] = json.loads(simulated(tmp_path, capfd, "-o", "json", a=BROKEN, b=POD))
    (holder,) = found["pods"][0]["unreadHolders"]
    assert holder["object"] == {"kind": "ResourceClaimTemplate", "namespace": "ml", "name": "h100"}
    assert [Path(each).name for each in holder["files"]] == ["a.yaml"]


def test_quotes_inside_of_quotes_are_read_as_they_are_meant(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """kubectl apply refuses the file; what would become of it once it is corrected is what is asked."""
    (tmp_path / "a.yaml").write_text(QUOTED, encoding="utf-8")
    (tmp_path / "b.yaml").write_text(POD, encoding="utf-8")
    words = ("simulate", "-f", str(tmp_path), "-n", "ml", "--from", "demo")
    assert run(words) == 1
    out, err = capfd.readouterr()
    told = " ".join(out.split())
    assert told.startswith("Not as written: ")
    assert "a.yaml is not valid YAML (quotes inside of quotes), so that kubectl apply refuses it." in told
    assert "Pod ml/eval fits." in told
    assert "may be in" not in told
    assert "the value of expression stands in double quotes" in err
    run((*words, "-o", "json"))
    found = json.loads(capfd.readouterr().out)
    assert found["fits"] == "No"
    assert [Path(each).name for each in found["readAsMeant"]] == ["a.yaml"]


def test_lint_finds_what_else_is_wrong_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = QUOTED.replace("model == 'H100'", "model = 'H100'")
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    run(["lint", "-f", str(tmp_path / "a.yaml"), "-o", "json"])
    codes = [each["code"] for each in json.loads(capfd.readouterr().out)["findings"]]
    assert sorted(codes) == ["selector", "unreadable"]
