"""The API server's code still gives the recorded answers, and accepts what conversion makes of old manifests."""

from __future__ import annotations

import json

import pytest

from kubectl_dra.api.convert import convert
from tests.api.recorded import rows
from tests.api.test_convert import CLASSIC, PROTOTYPE, sources
from tests.oracle.admission.canonical import digest
from tests.oracle.admission.cases import cases
from tests.oracle.admission.record import answers

pytestmark = pytest.mark.go


def test_recorded_errors_and_conversions() -> None:
    asked = list(zip(cases(), rows("admission.jsonl.gz"), strict=True))[::10]
    created = answers({"op": "create", "object": obj} for (_, obj), _ in asked)
    older = answers({"op": "convert", "to": "resource.k8s.io/v1beta1", "object": obj} for (_, obj), _ in asked)
    for (_, row), errors, old in zip(asked, created, older, strict=True):
        assert sorted(errors.get("errors", [])) == sorted(row["errors"]), row["id"]
        assert "object" not in old or digest(old["object"]) == row["v1beta1"], row["id"]


@pytest.mark.parametrize("text", [CLASSIC, PROTOTYPE], ids=["v1alpha2", "prototype"])
def test_the_server_accepts_what_old_manifests_become(text: str) -> None:
    objects = [json.loads(data) for conversion in convert(sources(text)) for data in conversion.objects]
    assert objects
    created = answers({"id": obj["metadata"]["name"], "op": "create", "object": obj} for obj in objects)
    assert [(answer["id"], answer["errors"]) for answer in created if "errors" in answer] == []
    assert not any("fault" in answer for answer in created)
