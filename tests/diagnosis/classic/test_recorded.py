"""Situations recorded from real control planes of 1.30 and 1.31: the words are the scheduler's, so is the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.diagnose import diagnose_pod
from kubectl_dra.diagnosis.fit_message import without_preemption
from kubectl_dra.diagnosis.records import Agreement, PodDiagnosis, Verdict
from kubectl_dra.model.features import features
from kubectl_dra.source.file import load_file

RECORDED = Path(__file__).parents[2] / "generations" / "recorded"
FILES = sorted(RECORDED.glob("1.3[01]/*.json"))
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
}


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def diagnose(path: Path) -> PodDiagnosis:
    inventory, evidence = load_file(str(path))
    assert evidence.server_version is not None
    assert not evidence.bad_objects
    key = next(key for key in inventory.pods if key.name == "pod")
    return diagnose_pod(inventory, evidence, features(evidence.server_version[1]), key)


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
