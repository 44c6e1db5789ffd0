"""Kinds that only resource.k8s.io/v1alpha2 has: every command says what they are, and what takes their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_dra.commands.app import run

CLASSIC = """\
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClass
metadata: {name: gpu.example.com}
driverName: gpu.example.com
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClassParameters
metadata: {name: big, namespace: demo}
filters: [{driverName: gpu.example.com, namedResources: {selector: 'attributes.bool["big"]'}}]
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaimParameters
metadata: {name: two, namespace: demo}
driverRequests:
- {driverName: gpu.example.com, requests: [{namedResources: {selector: 'attributes.bool["big"]'}}]}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaim
metadata: {name: c, namespace: demo}
spec:
  resourceClassName: gpu.example.com
  parametersRef: {apiGroup: resource.k8s.io, kind: ResourceClaimParameters, name: two}
"""
INSTEAD = {
    "ResourceClass gpu.example.com": "a DeviceClass takes its place",
    "ResourceClassParameters demo/big": "the DeviceClass takes over its content",
    "ResourceClaimParameters demo/two": "the claims and templates that refer to it take over its content",
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "classic.yaml"
    file.write_text(CLASSIC, encoding="utf-8")
    return str(file)


def told(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run([*words, "--color", "never"]) == code
    return " ".join("".join(capfd.readouterr()).split())


def test_lint_names_each_and_what_takes_its_place(capfd: pytest.CaptureFixture[str], path: str) -> None:
    text = told(capfd, "lint", "-f", path)
    gone = "apiVersion: resource.k8s.io/v1alpha2 is gone since Kubernetes 1.31"
    for name, instead in INSTEAD.items():
        assert f"{name}: {gone}; {instead} [old-version]" in text
    assert f"ResourceClaim demo/c: {gone} [old-version]" in text


def test_test_selector_leads_to_convert(capfd: pytest.CaptureFixture[str], path: str) -> None:
    text = told(capfd, "test-selector", "-f", path, "--from", "demo", code=1)
    assert "of resource.k8s.io/v1alpha2 can't be tried on today's devices" in text
    assert "kubectl dra convert -f FILE | kubectl dra test-selector -f -" in text


@pytest.mark.parametrize("word", ["resourceclasses", "resourceclaimparameters", "resourceclassparameters"])
def test_get_says_who_lists_them(capfd: pytest.CaptureFixture[str], path: str, word: str) -> None:
    text = told(capfd, "get", word, "-o", "yaml", "--from", path, code=2)
    assert f"get has no list of {word}, which only resource.k8s.io/v1alpha2 has" in text
    assert f"try: see the objects in {path}" in text
    assert "did you mean" not in text


def test_classes_without_them_are_not_all(capfd: pytest.CaptureFixture[str], path: str) -> None:
    text = told(capfd, "get", "classes", "--from", path)
    assert "note: left out 1 ResourceClass of resource.k8s.io/v1alpha2" in text


def test_a_snapshot_has_all_of_them(capfd: pytest.CaptureFixture[str], path: str) -> None:
    text = told(capfd, "snapshot", "--from", path)
    for kind in ("ResourceClass", "ResourceClassParameters", "ResourceClaimParameters"):
        assert f'"kind": "{kind}"' in text


def test_convert_names_each(capfd: pytest.CaptureFixture[str], path: str) -> None:
    text = told(capfd, "convert", "-f", path)
    assert "lost: ResourceClassParameters demo/big: v1 has no parameter objects" in text
    assert "lost: ResourceClaimParameters demo/two: v1 has no parameter objects" in text


def test_simulate_refuses_each(capfd: pytest.CaptureFixture[str], path: str) -> None:
    text = told(capfd, "simulate", "-f", path, "--from", "demo", "--exit-code", code=3)
    for name in INSTEAD:
        assert f"{name} would be refused: no matches for kind" in text
    assert "Nothing was tried" in text
