"""Manifests that mix generations, as they stand on the web: each mistake is named, and the correction is accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.lint import lint
from kubectl_dra.api.validate import validate
from tests.api.test_generations import ALL_OBJECTS
from tests.kit.state import decoded

INLINE = "resource.k8s.io/v1 has it under exactly; inline it is v1beta1's form"
CLAIM = (
    "apiVersion: resource.k8s.io/{version}\nkind: ResourceClaim\nmetadata: {{name: c, namespace: n}}\nspec: {spec}\n"
)


def _claim(version: str, spec: str) -> str:
    return CLAIM.format(version=version, spec=spec)


def _lint(text: str) -> tuple[list[str], dict[str, Any] | None]:
    found = lint(json.dumps(yaml.safe_load(text)).encode())
    return [str(f) for f in found.findings], None if found.corrected is None else json.loads(found.corrected)


CASES: dict[str, tuple[str, list[str], dict[str, Any] | None]] = {
    "flat fields under v1": (
        _claim("v1", "{devices: {requests: [{name: r, deviceClassName: gpu, count: 2}]}}"),
        [
            f"spec.devices.requests[0].deviceClassName: {INLINE}",
            f"spec.devices.requests[0].count: {INLINE}",
        ],
        {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2}}]}},
    ),
    "values in the case of another language": (
        _claim(
            "v1",
            "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: all, tolerations:"
            " [{key: k, operator: exists, effect: no-schedule}]}}, {name: s, firstAvailable: [{name: t,"
            " deviceClassName: gpu, allocationMode: exact_count}]}]}}",
        ),
        [
            'spec.devices.requests[0].exactly.allocationMode: "all" is written All',
            'spec.devices.requests[0].exactly.tolerations[0].operator: "exists" is written Exists',
            'spec.devices.requests[0].exactly.tolerations[0].effect: "no-schedule" is written NoSchedule',
            'spec.devices.requests[1].firstAvailable[0].allocationMode: "exact_count" is written ExactCount',
        ],
        {
            "devices": {
                "requests": [
                    {
                        "name": "r",
                        "exactly": {
                            "deviceClassName": "gpu",
                            "allocationMode": "All",
                            "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
                        },
                    },
                    {
                        "name": "s",
                        "firstAvailable": [{"name": "t", "deviceClassName": "gpu", "allocationMode": "ExactCount"}],
                    },
                ]
            }
        },
    ),
    "a value that is none of the API's": (
        _claim("v1", "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: some}}]}}"),
        [],
        None,
    ),
    "exactly under v1beta1": (
        _claim("v1beta1", "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]}}"),
        [
            "spec.devices.requests[0].exactly: resource.k8s.io/v1beta1 has its fields directly in the request;"
            " exactly is v1's form"
        ],
        {"devices": {"requests": [{"name": "r", "deviceClassName": "gpu", "count": 2}]}},
    ),
    "classic class under v1": (
        _claim("v1", "{resourceClassName: gpu, parametersRef: {kind: ConfigMap, name: x}}"),
        [
            "spec.resourceClassName: is of v1alpha2; resource.k8s.io/v1 has devices.requests[].exactly.deviceClassName,"
            " and a DeviceClass in place of the ResourceClass",
            "spec.parametersRef: is of v1alpha2; resource.k8s.io/v1 has devices.config[].opaque",
        ],
        {"devices": {"requests": [{"name": "request-0", "exactly": {"deviceClassName": "gpu"}}]}},
    ),
    "devices under v1alpha2": (
        _claim("v1alpha2", "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}"),
        ["spec.devices: v1alpha2 has resourceClassName instead; it is resource.k8s.io/v1 that has devices"],
        {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
    ),
    "a version that never was": (
        _claim("v1beta3", "{devices: {requests: [{name: r, deviceClassName: gpu}]}}"),
        [
            "apiVersion: there is no ResourceClaim in resource.k8s.io/v1beta3; resource.k8s.io/v1 has it",
            f"spec.devices.requests[0].deviceClassName: {INLINE}",
        ],
        {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
    ),
    "a slip of the pen": (
        _claim("v1", "{devices: {requests: [{name: r, exactly: {deviceClasName: gpu}}]}}"),
        [
            "spec.devices.requests[0].exactly.deviceClasName: resource.k8s.io/v1 has no such field;"
            " the server drops it; did you mean deviceClassName?"
        ],
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_claims(name: str) -> None:
    text, findings, spec = CASES[name]
    found, corrected = _lint(text)
    assert found == findings
    assert (corrected is None) == (spec is None)
    if corrected is not None:
        assert corrected["spec"] == spec
        assert [str(error) for error in validate(defaulted(decoded(corrected)[1]))] == []
        assert lint(json.dumps(corrected).encode()).findings == ()


def test_a_template_without_the_inner_spec() -> None:
    text = _claim("v1", "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}")
    found, corrected = _lint(text.replace("kind: ResourceClaim", "kind: ResourceClaimTemplate"))
    assert found == ["spec.devices: a template has the claim's spec under spec.spec"]
    assert corrected is not None
    assert corrected["spec"]["spec"]["devices"]["requests"][0]["name"] == "r"


def test_devices_of_another_version() -> None:
    slice_ = "apiVersion: resource.k8s.io/{}\nkind: ResourceSlice\nmetadata: {{name: s}}\nspec: {{devices: [{}]}}\n"
    nested = "{name: d, basic: {capacity: {memory: {value: 1Gi}}}}"
    flat = "{name: d, capacity: {memory: 1Gi}, attributes: {a: {int: 1}}}"
    found, corrected = _lint(slice_.format("v1", nested))
    assert found == [
        "spec.devices[0].basic: resource.k8s.io/v1 has its fields directly in the device; basic is v1beta1's form"
    ]
    assert corrected is not None
    assert corrected["spec"]["devices"] == [{"name": "d", "capacity": {"memory": {"value": "1Gi"}}}]
    found, corrected = _lint(slice_.format("v1beta1", flat))
    assert [line.partition(": ")[0] for line in found] == [
        "spec.devices[0].capacity.memory",
        "spec.devices[0].capacity",
        "spec.devices[0].attributes",
    ]
    assert corrected is not None
    basic = {"capacity": {"memory": {"value": "1Gi"}}, "attributes": {"a": {"int": 1}}}
    assert corrected["spec"]["devices"] == [{"name": "d", "basic": basic}]
    _, corrected = _lint(slice_.format("v1alpha3", nested))
    assert corrected is not None
    assert corrected["spec"]["devices"] == [{"name": "d", "basic": {"capacity": {"memory": "1Gi"}}}]


def test_a_pods_nested_source() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "source": {"resourceClaimName": "c"}}]  # type: ignore[index]
    found = lint(json.dumps(pod).encode())
    assert [str(f) for f in found.findings] == [
        "spec.resourceClaims[0].source: its names stand directly in the entry since 1.31; newer servers drop it"
    ]
    assert found.corrected is not None
    assert json.loads(found.corrected)["spec"]["resourceClaims"] == [{"name": "gpu", "resourceClaimName": "c"}]


def test_a_resource_class_under_v1() -> None:
    found, corrected = _lint(
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClass, metadata: {name: gpu}, driverName: d.example.com}"
    )
    assert found == [
        "kind: ResourceClass is of v1alpha2; resource.k8s.io/v1 has DeviceClass, which selects devices by CEL"
    ]
    assert corrected is not None
    assert (corrected["apiVersion"], corrected["kind"]) == ("resource.k8s.io/v1", "DeviceClass")


@pytest.mark.parametrize("obj", ALL_OBJECTS, ids=lambda obj: f"{obj['apiVersion']} {obj['kind']}")
def test_objects_of_one_generation_have_no_findings(obj: dict[str, Any]) -> None:
    found = lint(json.dumps(obj).encode())
    assert found.findings == ()
    assert found.corrected is None


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"1", b"{", b"\xff", b'{"kind":1}', b'{"apiVersion":"v1","kind":"Pod","spec":3}']
)
def test_what_is_no_manifest_has_no_findings(data: bytes) -> None:
    assert lint(data).findings == ()
