"""Schedulers before 1.36 go through devices in random order: what depends on it is not predicted, and that is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.commands.app import run

RANDOM = "goes through devices in random order"


@pytest.fixture
def why(capfd, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(["snapshot", "--from", "demo"]) == 0
    demo = json.loads(capfd.readouterr().out)

    def ask(version: str, pod: str, *words: str, observed: str | None = None) -> str:
        document: dict[str, Any] = json.loads(json.dumps(demo))
        document["server"]["version"] = version
        for item in document["items"]:
            if observed is not None and item["kind"] == "Pod" and item["metadata"]["name"] == pod:
                item["status"]["conditions"][0]["message"] = observed
                item["metadata"]["resourceVersion"] = "999999999"
        path = tmp_path / "snapshot.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        assert run(["why-pending", pod, "-n", {"nb-2": "dev"}.get(pod, "ml"), "--from", str(path), *words]) == 0
        return " ".join(capfd.readouterr().out.split())

    return ask


@pytest.mark.parametrize(
    ("version", "pod", "said"),
    [
        ("v1.37.1", "nb-2", False),
        ("v1.36.0", "infer-7c9f8d6b54-kcqfk", False),
        ("v1.35.4", "nb-2", True),
        ("v1.34.0", "infer-7c9f8d6b54-kcqfk", True),
        # Nothing fits in whatever order.
        ("v1.34.0", "trainer-0", False),
    ],
)
def test_only_where_it_matters(why, version, pod, said):
    assert (RANDOM in why(version, pod)) is said
    assumed = json.loads(why(version, pod, "-o", "json"))["assumed"]
    expected = [{"kind": "searchOrder", "subject": version[1:5]}] if said else []
    assert [each for each in assumed if each["kind"] == "searchOrder"] == expected


def test_the_implementation_without_order_can_be_chosen(why):
    gates = "DRAConsumableCapacity=false,DRADeviceBindingConditions=false"
    assert RANDOM in why("v1.37.1", "nb-2", "--feature-gates", gates)


def test_an_error_on_another_device_is_no_contradiction(why):
    claim = "ml/infer-7c9f8d6b54-kcqfk-gpu-dm4t4"
    elsewhere = f'running "DynamicResources" filter plugin: claim {claim}: selector #0 on device x/y/z: CEL'
    assert (
        json.loads(why("v1.37.1", "infer-7c9f8d6b54-kcqfk", "-o", "json", observed=elsewhere))["agreement"] == "differs"
    )
    assert (
        json.loads(why("v1.34.0", "infer-7c9f8d6b54-kcqfk", "-o", "json", observed=elsewhere))["agreement"]
        == "unchecked"
    )
