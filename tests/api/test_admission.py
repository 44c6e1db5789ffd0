"""Admission's checks against what the real API server said of the same objects, word for word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.validate import validate
from kubectl_dra.model.evidence import BadObject
from tests.api.recorded import rows
from tests.kit.state import decoded
from tests.oracle.admission.cases import cases

LABEL = "resource.kubernetes.io/admin-access"
SCENARIOS = Path(__file__).parents[1] / "scenarios"
# Not an error of the object: the recorded server has this alpha field's gate off.
GATE_OFF = "spec.partitionTypeAttribute: Forbidden"


def test_every_changed_object_gets_the_servers_errors() -> None:
    recorded = rows("admission.jsonl.gz")
    differing = {}
    for (name, obj), row in zip(cases(), recorded, strict=True):
        assert name == row["id"]
        found = decode_any(json.dumps(obj).encode())
        expected = {error.replace("Invalid value: null", "Invalid value: []") for error in row["errors"]} - {GATE_OFF}
        if isinstance(found, BadObject):
            assert not obj["metadata"].get("name") and expected, (name, found)
            continue
        assert found is not None
        lacking = "" if obj["metadata"].get("namespace") == "admin" else LABEL
        ours = {str(error) for error in validate(defaulted(found[1]), lacking=lacking, alpha=True)}
        # A record can't tell an absent list from an empty one, which the server prints as null and [].
        ours = {error.replace("Invalid value: null", "Invalid value: []") for error in ours}
        if ours != expected:
            differing[name] = sorted(ours ^ expected)
    assert not differing


def test_cases_are_judged_both_ways() -> None:
    recorded = rows("admission.jsonl.gz")
    assert sum(not row["errors"] for row in recorded) > 1000
    assert sum(bool(row["errors"]) for row in recorded) > 3000


@pytest.mark.one_in(4)
@pytest.mark.parametrize("file", ["alloc.jsonl.gz", "alloc_probes.jsonl.gz"])
def test_objects_of_the_allocators_rows(file: str) -> None:
    kinds = {
        "slices": ("ResourceSlice", "slice"),
        "classes": ("DeviceClass", "class"),
        "claims": ("ResourceClaim", "claim"),
        "allocatedClaims": ("ResourceClaim", "claim"),
    }
    differing = {}
    for row in rows(file):
        ours = set()
        for field, (kind, word) in kinds.items():
            for obj in row.get(field) or ():
                record = defaulted(decoded(obj, "resource.k8s.io/v1", kind)[1])
                ours |= {f"{word} {obj['metadata']['name']}: {error}" for error in validate(record)}
        if ours != set(row.get("apiErrors", ())):
            differing[row["id"]] = sorted(ours ^ set(row.get("apiErrors", ())))
    assert not differing


@pytest.mark.parametrize("scenario", ["32-admin-access-rejected", "57-too-many-devices-rejected"])
def test_objects_that_a_real_server_refused(scenario: str) -> None:
    rejected = json.loads((SCENARIOS / scenario / "result.json").read_text(encoding="utf-8"))["rejected"]
    messages = {entry["object"]: entry["message"] for entry in rejected}
    seen = set()
    for obj in yaml.safe_load_all((SCENARIOS / scenario / "objects.yaml").read_text(encoding="utf-8")):
        if not obj or obj["kind"] not in ("ResourceClaim", "ResourceClaimTemplate"):
            continue
        key = f"{obj['kind']}/{obj['metadata']['name']}"
        seen.add(key)
        errors = ", ".join(map(str, validate(defaulted(decoded(obj)[1]), lacking=LABEL)))
        expected = messages.get(key, "").partition(" is invalid: ")[2]
        assert errors == expected, key
    assert messages.keys() <= seen
