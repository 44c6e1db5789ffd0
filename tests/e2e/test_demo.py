"""The demo cluster put before the real scheduler: it writes the conditions that the demo carries."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Final

import pytest

from kubectl_dra.source.demo import CLUSTER
from tests.controlplane import Client
from tests.controlplane.client import Object, wait_for
from tests.e2e.situations import clear

pytestmark = pytest.mark.controlplane

ITEMS: Final[list[Object]] = json.loads(CLUSTER.read_bytes())["items"]
_ORDER: Final = (
    *("Namespace", "Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule", "ResourceClaimTemplate"),
    *("ResourceClaim", "Pod"),
)
# The only one that fits: it would change the others' situation.
_FITS: Final = "nb-2"
# Two nodes abort these attempts; the scheduler names whichever it met first.
_EITHER: Final = (("ip-192-168-153-160.ec2.internal/gpu-0", "ip-192-168-171-24.ec2.internal/gpu-3"),)


def bare(item: Object) -> Object:
    """The object as someone would create it."""
    body = copy.deepcopy(item)
    kept = ("name", "namespace", "labels")
    body["metadata"] = {key: value for key, value in body["metadata"].items() if key in kept}
    if body["kind"] in ("Pod", "Namespace", "DeviceTaintRule"):
        body.pop("status", None)
    if body["kind"] == "ResourceClaim" and body["status"].get("reservedFor"):
        # The consumers' uids are not those of the demo; a consumer that no controller knows is left alone.
        one = {"apiGroup": "example.com", "resource": "jobs", "name": "holder", "uid": item["metadata"]["uid"]}
        body["status"]["reservedFor"] = [one]
    return body


def with_own_claims(item: Object) -> Object:
    """A pod whose claims from templates are named directly, because they belong to the demo's pod."""
    body = bare(item)
    made = {s["name"]: s["resourceClaimName"] for s in item["status"].get("resourceClaimStatuses", ())}
    for entry in body["spec"].get("resourceClaims", ()):
        if entry["name"] in made:
            del entry["resourceClaimTemplateName"]
            entry["resourceClaimName"] = made[entry["name"]]
    return body


def waiting() -> Iterator[Object]:
    """The demo's pods that are not bound."""
    return (item for item in ITEMS if item["kind"] == "Pod" and "nodeName" not in item["spec"])


def condition(pod: Object | None) -> Object | None:
    """The PodScheduled condition of a pod."""
    conditions = (pod or {}).get("status", {}).get("conditions", ())
    return next((found for found in conditions if found["type"] == "PodScheduled"), None)


def test_the_real_scheduler_writes_what_the_demo_shows(client: Client) -> None:
    clear(client)
    for kind in _ORDER[:-1]:
        for item in ITEMS:
            if item["kind"] == kind and client.get(kind, item["metadata"]["name"], version=item["apiVersion"]) is None:
                client.create(bare(item))
    pods = {item["metadata"]["name"]: item for item in waiting()}
    for name, item in pods.items():
        if name != _FITS:
            client.create(with_own_claims(item))
    differences = {}
    for name, item in pods.items():
        expected = condition(item)
        if expected is None or name == _FITS:
            continue
        namespace = item["metadata"]["namespace"]
        found = wait_for(lambda n=name, s=namespace: condition(client.get("Pod", n, s)), f"{name} is tried")  # type: ignore[misc]
        allowed = {expected["message"], *(expected["message"].replace(*pair) for pair in _EITHER)}
        if found["reason"] != expected["reason"] or found["message"] not in allowed:
            differences[name] = found
    assert differences == {}
    for name, item in pods.items():
        if condition(item) is None:
            assert condition(client.get("Pod", name, item["metadata"]["namespace"])) is None, name

    client.create(with_own_claims(pods[_FITS]))
    bound = wait_for(
        lambda: (client.get("Pod", _FITS, "dev") or {}).get("spec", {}).get("nodeName"), f"{_FITS} is bound"
    )
    assert bound in ("ip-192-168-153-160.ec2.internal", "ip-192-168-171-24.ec2.internal")
