"""Every generation: no field is lost between reading and writing; v1beta1 becomes what the real server makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.encode import encode
from kubectl_dra.api.generations import UnsupportedVersionError
from kubectl_dra.model.classic import ClassicResourceClaim, classic_of
from kubectl_dra.model.resource import ResourceClaim
from tests.api.recorded import rows
from tests.kit.state import decoded
from tests.oracle.admission.canonical import canonical, digest
from tests.oracle.admission.cases import cases

pytestmark = pytest.mark.one_in(4)


EVERY_FIELD = rows("every_field.jsonl.gz")
PROTOTYPE: list[dict[str, Any]] = [
    {
        "apiVersion": "devmgmtproto.k8s.io/v1alpha1",
        "kind": "DeviceClass",
        "metadata": {"name": "foozer"},
        "spec": {
            "driver": "example.com-foozer",
            "deviceType": "gpu",
            "constraints": "device.model == 'foozer-1000'",
            "adminAccess": True,
            "configs": [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "c"}],
        },
    },
    {
        "apiVersion": "devmgmtproto.k8s.io/v1alpha1",
        "kind": "DeviceClass",
        "metadata": {"name": "by-go"},
        "spec": {"Driver": "example.com-foozer", "DeviceType": "gpu"},
    },
    {
        "apiVersion": "devmgmtproto.k8s.io/v1alpha1",
        "kind": "DeviceClaim",
        "metadata": {"name": "claim", "namespace": "default"},
        "spec": {
            "matchAttributes": ["numa"],
            "claims": [
                {
                    "deviceClass": "foozer",
                    "constraints": "device.memory > 3",
                    "requests": {"count": "2", "memory": "4Gi"},
                    "limits": {"count": "4"},
                    "matchAttributes": ["model"],
                    "configs": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c"}],
                },
                {"oneOf": [{"deviceType": "gpu"}, {"deviceClass": "barzer"}]},
            ],
        },
        "status": {
            "classConfigs": [{"a": 1}],
            "claimConfigs": [{"b": 2}],
            "allocations": [
                {"devicePoolName": "p", "deviceName": "d", "allocations": [{"name": "memory", "allocation": "4Gi"}]}
            ],
            "deviceStatuses": [
                {
                    "devicePoolName": "p",
                    "deviceName": "d",
                    "conditions": [{"type": "Ready", "status": "True", "reason": "r", "message": "m"}],
                    "deviceIP": "10.0.0.1",
                    "deviceIPs": [{"ip": "10.0.0.1"}],
                    "deviceInfo": [{"c": 3}],
                    "allocations": [{"name": "memory", "allocation": "4Gi"}],
                }
            ],
            "podNames": ["pod"],
        },
    },
    {
        "apiVersion": "devmgmtproto.k8s.io/v1alpha1",
        "kind": "DevicePool",
        "metadata": {"name": "pool"},
        "spec": {
            "nodeName": "node",
            "driver": "example.com-foozer",
            "attributes": [{"name": "vendor", "stringValue": "example.com"}],
            "resources": [{"name": "memory", "capacity": "40Gi", "blockSize": "1Gi"}],
            "devices": [
                {
                    "name": "dev",
                    "attributes": [
                        {"name": "index", "intValue": 1},
                        {"name": "size", "quantityValue": "10Gi"},
                        {"name": "version", "semVerValue": "1.2.3"},
                    ],
                    "requests": {"memory": "20Gi"},
                    "resources": [{"name": "vfs", "capacity": "8", "blockSize": "2"}],
                }
            ],
        },
        "status": {"availableDevices": 1},
    },
]
ALL_OBJECTS = [row["object"] for row in EVERY_FIELD] + PROTOTYPE


def _id(obj: dict[str, Any]) -> str:
    return f"{obj['apiVersion']} {obj['kind']} {obj['metadata']['name']}"


@pytest.mark.parametrize("obj", ALL_OBJECTS, ids=_id)
def test_every_field_is_kept(obj: dict[str, Any]) -> None:
    kind, record = decoded(obj)
    assert json.loads(encode(record, kind, obj["apiVersion"])) == obj


def test_every_generation_has_every_kind() -> None:
    seen = {(row["release"], row["object"]["apiVersion"].partition("/")[2]) for row in EVERY_FIELD}
    assert seen == {
        ("1.37", "v1"),
        ("1.37", "v1beta2"),
        ("1.37", "v1beta1"),
        ("1.37", "v1alpha3"),
        ("1.33", "v1alpha3"),
        ("1.31", "v1alpha3"),
        ("1.30", "v1alpha2"),
    }


def test_v1_as_v1beta1_is_what_the_server_converts_it_to() -> None:
    compared, differing = 0, []
    for (name, obj), row in zip(cases(), rows("admission.jsonl.gz"), strict=True):
        if "v1beta1" not in row or not obj["metadata"].get("name"):
            continue
        kind, record = decoded(obj)
        ours = encode(record, kind, "resource.k8s.io/v1beta1")
        compared += 1
        if digest(json.loads(ours)) != row["v1beta1"]:
            differing.append(name)
        spec = obj["spec"]
        # v1beta1 can't tell these from unset ones; the server refuses them anyway.
        if spec.get("nodeName") != "" and spec.get("allNodes") is not False:
            back = encode(decoded(json.loads(ours))[1], kind)
            assert canonical(json.loads(back)) == canonical(json.loads(encode(record, kind))), name
    assert compared > 4000
    assert not differing


def test_v1beta1_becomes_the_v1_of_the_server() -> None:
    recorded = rows("conversion.jsonl.gz")
    assert len(recorded) > 100
    for row in recorded:
        kind, record = decoded(row["from"])
        assert canonical(json.loads(encode(record, kind))) == canonical(row["to"]), row["from"]


def test_v1beta1_always_writes_basic() -> None:
    slice_ = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}
    kind, record = decoded(slice_ | {"spec": {"driver": "d", "devices": [{"name": "a"}]}})
    devices = json.loads(encode(record, kind, "resource.k8s.io/v1beta1"))["spec"]["devices"]
    assert devices == [{"name": "a", "basic": {}}]


def test_a_version_without_the_kind_is_refused() -> None:
    rule = next(obj for obj in ALL_OBJECTS if obj["kind"] == "DeviceTaintRule")
    kind, record = decoded(rule)
    with pytest.raises(UnsupportedVersionError, match=r"no DeviceTaintRule in apiVersion resource\.k8s\.io/v1beta1,"):
        encode(record, kind, "resource.k8s.io/v1beta1")


def test_old_claims_as_v1_say_nothing_of_their_past() -> None:
    for obj in ALL_OBJECTS:
        kind, record = decoded(obj)
        if kind.api_version == "resource.k8s.io/v1":
            made = json.loads(encode(record, kind, kind.api_version))
            assert set(made) <= {"apiVersion", "kind", "metadata", "spec", "status"}


def test_only_claims_of_controllers_are_classic() -> None:
    base = {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "ResourceClaim", "metadata": {"name": "c"}}
    assert type(decoded(base)[1]) is ResourceClaim
    assert isinstance(decoded(base | {"spec": {"controller": "d"}})[1], ClassicResourceClaim)
    claim = decoded(base | {"status": {"deallocationRequested": True}})[1]
    assert isinstance(claim, ResourceClaim)
    classic = classic_of(claim)
    assert classic is not None and classic.deallocation_requested
