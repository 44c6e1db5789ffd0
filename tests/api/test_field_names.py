"""Fields in another case: renamed in their place, where the right one is not there; below them, others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.lint import Mistake, lint

POD = {
    "apiversion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {
        "restartpolicy": "Never",
        "resourceclaims": [{"name": "gpu", "resourceclaimtemplatename": "t"}],
        "containers": [{"name": "c", "image": "x", "resources": {"Claims": [{"name": "gpu"}]}}],
    },
}
CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c"},
    "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceclassname": "gpu.example.com"}}]}},
}


def linted(body: dict[str, Any]) -> tuple[list[str], Any]:
    found = lint(json.dumps(body).encode())
    assert all(each.corrected and each.code is Mistake.MISPLACED for each in found.findings)
    return [each.path for each in found.findings], json.loads(found.corrected or b"null")


def test_a_manifest_in_small_letters() -> None:
    paths, right = linted(POD)
    assert paths == [
        "apiversion",
        "spec.restartpolicy",
        "spec.resourceclaims",
        "spec.containers[0].resources.Claims",
        "spec.resourceClaims[0].resourceclaimtemplatename",
    ]
    entry = {"name": "gpu", "resourceClaimTemplateName": "t"}
    assert right["apiVersion"] == "v1"
    assert right["spec"]["restartPolicy"] == "Never"
    assert right["spec"]["resourceClaims"] == [entry]
    assert right["spec"]["containers"][0]["resources"]["claims"] == [{"name": "gpu"}]
    assert list(right["spec"]) == ["restartPolicy", "resourceClaims", "containers"]


def test_a_claim() -> None:
    paths, right = linted(CLAIM)
    assert paths == ["spec.devices.requests[0].exactly.deviceclassname"]
    assert right["spec"]["devices"]["requests"][0]["exactly"] == {"deviceClassName": "gpu.example.com"}


def test_where_both_are_there_the_right_one_stays() -> None:
    spec = {**POD["spec"], "restartPolicy": "Always"}  # type: ignore[dict-item]
    found = lint(json.dumps({**POD, "spec": spec}).encode())
    wrong = [each for each in found.findings if each.path == "spec.restartpolicy"]
    assert [(each.corrected, each.code) for each in wrong] == [(False, Mistake.UNKNOWN_FIELD)]
    assert json.loads(found.corrected or b"")["spec"]["restartPolicy"] == "Always"


@pytest.mark.parametrize("key", ["labels", "nodeSelector", "limits"])
def test_keys_that_are_no_fields_keep_their_case(key: str) -> None:
    """Labels, selectors and resources have names of their own, of which each case is another one."""
    body: dict[str, Any] = json.loads(json.dumps({**POD, "apiVersion": "v1"}))
    del body["apiversion"]
    body["spec"] = {"containers": [{"name": "c", "image": "x", "resources": {}}]}
    holders = {
        "labels": body["metadata"],
        "nodeSelector": body["spec"],
        "limits": body["spec"]["containers"][0]["resources"],
    }
    holders[key][key] = {"Name": "1", "name": "1", "CPU": "1"}
    assert lint(json.dumps(body).encode()).findings == ()
