"""Situations recorded from real control planes of 1.30 to 1.34: the words are the scheduler's, so is the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Agreement, PodDiagnosis, Verdict
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import features
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.signs import shown_gates
from kubectl_dra.scheduler.fit_error import without_preemption
from kubectl_dra.source.file import load_file
from tests.kit.state import diagnose_pod

RECORDED = Path(__file__).parent / "recorded"
FILES = sorted(RECORDED.glob("*/*.json"))
CODES = {
    "1.30/all-unsuitable": [Code.NODE_UNSUITABLE],
    "1.30/allocated-for-a-full-node": [Code.DEALLOCATION_REQUESTED],
    "1.30/answer-for-one-of-two-claims": [Code.DRIVER_SILENT, Code.NODE_UNSUITABLE],
    "1.30/class-excludes-every-node": [Code.CLASS_EXCLUDES_NODE],
    "1.30/class-missing": [Code.RESOURCE_CLASS_MISSING],
    "1.30/immediate-allocated-for-a-full-node": [Code.CLAIM_ELSEWHERE, Code.NODE_RESOURCES],
    "1.30/immediate-and-unallocated": [Code.IMMEDIATE_NOT_ALLOCATED],
    "1.30/in-use-and-not-shareable": [Code.CLAIM_NOT_SHAREABLE],
    "1.30/no-answer-for-one-claim": [Code.DRIVER_ALLOCATES, Code.NODE_UNSCHEDULABLE],
    "1.30/no-answer-for-two-claims": [Code.DRIVER_SILENT, Code.DRIVER_SILENT],
    "1.30/no-common-node": [Code.NO_COMMON_NODE, Code.NODE_UNSUITABLE, Code.NODE_UNSUITABLE],
    "1.30/structured-all-taken": [Code.DEVICES_IN_USE],
    "1.30/structured-claim-parameters-missing": [Code.PARAMETERS_MISSING],
    "1.30/structured-class-filter": [Code.NO_DEVICE_IN_CLASS],
    "1.30/structured-generated-parameters-missing": [Code.PARAMETERS_MISSING],
    "1.30/structured-greedy": [Code.REQUESTS_COMPETE],
    "1.30/structured-no-slice": [Code.NO_DEVICE_IN_CLASS],
    "1.30/structured-selector": [Code.SELECTOR_MATCHES_NOTHING],
    "1.30/structured-selector-fails": [Code.NAMED_SELECTOR_FAILS],
    "1.30/structured-too-few": [Code.REQUESTS_COMPETE],
    "1.30/unsuitable-and-too-little-cpu": [Code.NODE_UNSUITABLE, Code.NODE_RESOURCES],
    "1.32/all-of-a-pool-of-two-nodes": [Code.ALL_MODE_POOL],
    "1.32/invalid-pool": [Code.POOL_INVALID, Code.DEVICES_FOR_OTHER_NODES],
    "1.32/invalid-pool-of-another-class": [Code.CLASS_SELECTS_NOTHING],
    "1.32/too-many-devices": [Code.TOO_MANY_DEVICES],
    "1.33/invalid-pool-of-another-class": [Code.POOL_INVALID],
    "1.33/all-of-nothing": [Code.NO_DEVICE_IN_CLASS],
    "1.33/taint-rule": [Code.DEVICES_TAINTED],
    "1.34/invalid-pool-of-another-class": [Code.POOL_INVALID],
    "1.34/no-alternative-fits": [Code.TOO_FEW_DEVICES, Code.TOO_FEW_DEVICES],
    "1.34/taint-of-the-driver": [Code.DEVICES_TAINTED],
}


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def diagnose(path: Path) -> PodDiagnosis:
    return diagnosed(*load_file(str(path)))


def diagnosed(inventory: Inventory, evidence: Evidence) -> PodDiagnosis:
    assert evidence.server_version is not None
    assert not evidence.bad_objects
    key = next(key for key in inventory.pods if key.name == "pod")
    minor = evidence.server_version[1]
    return diagnose_pod(inventory, evidence, features(minor, shown=shown_gates(inventory, minor)), key)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_words_are_the_schedulers(path: Path) -> None:
    found = diagnose(path)
    assert found.agreement is Agreement.AGREES
    seen = found.observed
    if seen is not None and seen.status == "False":
        assert without_preemption(seen.message) in found.alternatives
        assert found.reason == seen.reason
    else:
        assert found.verdict in (Verdict.PREPARING, Verdict.GATED)


@pytest.mark.parametrize("name", list(CODES))
def test_the_reasons(name: str) -> None:
    assert [cause.code for cause in diagnose(RECORDED / f"{name}.json").causes] == CODES[name]


# The pod was bound there. Until 1.34 a pool is what its node sees of it, whatever else is missing.
BOUND = [
    *(
        f"{minor}/{name}"
        for minor in ("1.32", "1.33", "1.34")
        for name in ("fits", "count-from-an-incomplete-pool", "newer-generation-elsewhere")
    ),
    "1.31/fits",
    "1.31/count-from-an-incomplete-pool",
    "1.31/invalid-pool",
    "1.31/all-of-nothing",
    "1.32/all-of-nothing",
]


@pytest.mark.parametrize("name", BOUND)
def test_what_was_bound_would_be_again(name: str, tmp_path: Path) -> None:
    snapshot = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    allocated = [_as_created(item) for item in snapshot["items"]]
    assert any(allocated)
    path = tmp_path / "before.json"
    path.write_text(json.dumps(snapshot), encoding="utf-8")
    assert diagnose(path).verdict is Verdict.SCHEDULABLE


def _as_created(item: dict[str, Any]) -> bool:
    """Take back what scheduler and kubelet wrote; whether that was an allocation."""
    if item["kind"] not in ("Pod", "ResourceClaim"):
        return False
    item["spec"].pop("nodeName", None)
    return "allocation" in item.pop("status", {})
