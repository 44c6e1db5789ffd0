"""Conversion of whole sets of manifests: what they become, and what is named as lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kubectl_dra.api.convert import TARGETS, Conversion, convert
from kubectl_dra.api.kinds import RESOURCE_SLICE
from kubectl_dra.api.sources import Source
from tests.api.test_generations import ALL_OBJECTS
from tests.kit.state import decoded
from tests.oracle.admission.canonical import canonical
from tests.oracle.admission.cases import bases

CLASSIC = """
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClass
metadata: {name: gpu}
driverName: gpu.example.com
structuredParameters: true
parametersRef: {apiGroup: resource.k8s.io, kind: ResourceClassParameters, name: allowed, namespace: system}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClassParameters
metadata: {name: allowed, namespace: system}
vendorParameters: [{driverName: gpu.example.com, parameters: {mode: safe}}]
filters: [{driverName: gpu.example.com, namedResources: {selector: '"runtime.version" in attributes.version'}}]
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaimParameters
metadata: {name: two, namespace: ml}
generatedFrom: {apiGroup: gpu.example.com, kind: GpuConfig, name: two}
shareable: true
driverRequests:
- driverName: gpu.example.com
  vendorParameters: {sharing: false}
  requests:
  - {namedResources: {selector: 'attributes.quantity["memory"].compareTo(quantity("10Gi")) >= 0'}}
  - {vendorParameters: {second: true}, namedResources: {selector: 'attributes.string["model"] == "attributes.x"'}}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaim
metadata: {name: pair, namespace: ml}
spec: {resourceClassName: gpu, parametersRef: {apiGroup: gpu.example.com, kind: GpuConfig, name: two}}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceSlice
metadata: {name: node-a-1}
nodeName: node-a
driverName: gpu.example.com
namedResources:
  instances:
  - {name: gpu.0, attributes: [{name: memory, quantity: 16Gi}, {name: runtime.version, version: 1.2.3}]}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceSlice
metadata: {name: node-a-2}
nodeName: node-a
driverName: gpu.example.com
namedResources: {instances: [{name: gpu-1}]}
"""
PROTOTYPE = """
apiVersion: devmgmtproto.k8s.io/v1alpha1
kind: DeviceClass
metadata: {name: foozer}
spec:
  driver: example.com/foozer
  deviceType: gpu
  constraints: "device.model == 'foozer' && device.size == quantity('10Gi')"
---
apiVersion: devmgmtproto.k8s.io/v1alpha1
kind: DeviceClaim
metadata: {name: claim, namespace: ml}
spec:
  matchAttributes: [numa-node]
  claims: [{deviceType: gpu, requests: {count: 2}}]
---
apiVersion: devmgmtproto.k8s.io/v1alpha1
kind: DevicePool
metadata: {name: node-a-foozer}
spec:
  nodeName: node-a
  driver: example.com/foozer
  resources: [{name: Memory, capacity: 40Gi}]
  devices:
"""


def sources(text: str) -> list[Source]:
    """The objects of a YAML text."""
    return [Source(json.dumps(obj).encode()) for obj in yaml.safe_load_all(text)]


def _objects(conversions: list[Conversion]) -> dict[tuple[str, str], dict[str, Any]]:
    objects = [json.loads(data) for conversion in conversions for data in conversion.objects]
    return {(obj["kind"], obj["metadata"]["name"]): obj for obj in objects}


def _losses(conversions: list[Conversion]) -> dict[str, list[str]]:
    return {f"{c.kind}/{c.name}": [loss.path for loss in c.losses] for c in conversions}


def test_classic_objects_become_objects_that_v1_accepts() -> None:
    conversions = convert(sources(CLASSIC))
    assert [str(error) for c in conversions for error in c.refused] == []
    objects = _objects(conversions)
    assert set(objects) == {
        ("DeviceClass", "gpu"),
        ("ResourceClaim", "pair"),
        ("ResourceSlice", "node-a-1"),
        ("ResourceSlice", "node-a-2"),
    }
    assert objects["DeviceClass", "gpu"]["spec"] == {
        "selectors": [
            {"cel": {"expression": 'device.driver == "gpu.example.com"'}},
            {"cel": {"expression": '"runtime_version" in device.attributes["gpu.example.com"]'}},
        ],
        "config": [{"opaque": {"driver": "gpu.example.com", "parameters": {"mode": "safe"}}}],
    }
    devices = objects["ResourceClaim", "pair"]["spec"]["devices"]
    assert [request["exactly"]["selectors"][0]["cel"]["expression"] for request in devices["requests"]] == [
        'device.capacity["gpu.example.com"]["memory"].compareTo(quantity("10Gi")) >= 0',
        'device.attributes["gpu.example.com"]["model"] == "attributes.x"',
    ]
    assert [(config["requests"], config["opaque"]["parameters"]) for config in devices["config"]] == [
        (["request-1"], {"second": True}),
        (["request-0", "request-1"], {"sharing": False}),
    ]
    first = objects["ResourceSlice", "node-a-1"]["spec"]
    assert first["pool"] == {"name": "node-a", "resourceSliceCount": 2}
    assert first["devices"] == [
        {
            "name": "gpu-0",
            "attributes": {"runtime_version": {"version": "1.2.3"}},
            "capacity": {"memory": {"value": "16Gi"}},
        }
    ]
    assert _losses(conversions)["ResourceSlice/node-a-1"] == [
        "namedResources.instances[0].name",
        "namedResources.instances[0].attributes[1].name",
    ]
    assert _losses(conversions)["ResourceClaim/pair"] == []


def test_list_attributes_are_carried_over_and_named() -> None:
    text = """
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceSlice
metadata: {name: lists}
nodeName: node-a
driverName: gpu.example.com
namedResources: {instances: [{name: gpu-0, attributes: [{name: ok, bool: true}, {name: ints, intSlice: {ints: [1]}}]}]}
"""
    (conversion,) = convert(sources(text))
    (device,) = json.loads(conversion.objects[0])["spec"]["devices"]
    assert device["attributes"] == {"ok": {"bool": True}, "ints": {"ints": [1]}}
    assert [loss.path for loss in conversion.losses] == ["namedResources.instances[0].attributes[1]"]


def test_parameters_that_were_not_read_are_named() -> None:
    claim = sources(CLASSIC)[3]
    (conversion,) = convert([claim])
    assert [loss.path for loss in conversion.losses] == ["spec.parametersRef"]
    assert "GpuConfig two" in conversion.losses[0].reason
    requests = json.loads(conversion.objects[0])["spec"]["devices"]["requests"]
    assert requests == [
        {"name": "request-0", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
    ]


def test_the_prototype_becomes_objects_that_v1_accepts() -> None:
    written = sources(PROTOTYPE)
    devices = [
        {
            "name": f"Dev.{n}",
            "attributes": [{"name": "numa-node", "intValue": n % 2}, {"name": "size", "quantityValue": "10Gi"}],
            "requests": {"Memory": "1Gi"},
        }
        for n in range(70)
    ]
    pool = json.loads(written[2].data)
    pool["spec"]["devices"] = devices
    written[2] = Source(json.dumps(pool).encode())
    conversions = convert(written)
    assert [str(error) for c in conversions for error in c.refused] == []
    objects = _objects(conversions)
    assert [s["cel"]["expression"] for s in objects["DeviceClass", "foozer"]["spec"]["selectors"]] == [
        'device.driver == "example.com.foozer"',
        'device.attributes["example.com.foozer"]["model"] == \'foozer\''
        ' && device.capacity["example.com.foozer"]["size"] == quantity(\'10Gi\')',
    ]
    claim = objects["ResourceClaim", "claim"]["spec"]["devices"]
    assert claim["requests"][0]["exactly"] == {"deviceClassName": "foozer", "allocationMode": "ExactCount", "count": 2}
    assert claim["constraints"] == [{"matchAttribute": "example.com.foozer/numa_node"}]
    slices = [obj["spec"] for (kind, _), obj in objects.items() if kind == "ResourceSlice"]
    assert [len(spec.get("devices", ())) for spec in slices] == [64, 6, 0]
    assert {spec["pool"]["resourceSliceCount"] for spec in slices} == {3}
    assert slices[2]["sharedCounters"] == [{"name": "pool", "counters": {"memory": {"value": "40Gi"}}}]
    assert slices[0]["devices"][3]["consumesCounters"] == [
        {"counterSet": "pool", "counters": {"memory": {"value": "1Gi"}}}
    ]
    lost = _losses(conversions)["DevicePool/node-a-foozer"]
    assert {"spec.driver", "spec.resources[0].name", "spec.devices[0].name"} <= set(lost)


@pytest.mark.parametrize("target", TARGETS)
def test_valid_v1_objects_lose_nothing_in_any_version(target: str) -> None:
    written = [Source(json.dumps(obj).encode()) for obj in bases().values()]
    for (name, obj), conversion in zip(bases().items(), convert(written, target), strict=True):
        (data,) = conversion.objects
        assert name == "rule" or json.loads(data)["apiVersion"] == f"resource.k8s.io/{target}"
        (back,) = convert([Source(data)])
        assert canonical(json.loads(back.objects[0])) == canonical(obj)
        assert back.losses == ()
        no_rules = name == "rule" and target == "v1beta1"
        assert [str(loss) for loss in conversion.losses] == (
            ["v1beta1 has no DeviceTaintRule; it stays v1"] if no_rules else []
        )


@pytest.mark.parametrize("obj", ALL_OBJECTS, ids=lambda obj: f"{obj['apiVersion']} {obj['kind']}")
def test_metadata_is_kept_to_the_letter(obj: dict[str, Any]) -> None:
    metadata = obj["metadata"] | {"managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}], "selfLink": "/x"}
    (conversion,) = convert([Source(json.dumps(obj | {"metadata": metadata}).encode())])
    if not conversion.objects:
        assert conversion.losses
        return
    assert json.loads(conversion.objects[0])["metadata"] == metadata
    assert json.loads(conversion.objects[0])["apiVersion"] in ("resource.k8s.io/v1", "resource.k8s.io/v1alpha3")


@pytest.mark.parametrize("obj", ALL_OBJECTS, ids=lambda obj: f"{obj['apiVersion']} {obj['kind']}")
def test_every_field_of_v1_arrives_or_is_named(obj: dict[str, Any]) -> None:
    """With an unknown field beside it, which is named too."""
    (conversion,) = convert([Source(json.dumps(obj | {"surprise": {"deep": 1}}).encode())])
    assert "surprise" in [loss.path for loss in conversion.losses]
    if obj["apiVersion"] in ("resource.k8s.io/v1", "resource.k8s.io/v1beta2"):
        assert [loss.path for loss in conversion.losses] == ["surprise"]
        assert json.loads(conversion.objects[0])["spec"] == obj["spec"]


def test_a_rule_that_would_hit_more_devices_is_left_out() -> None:
    spec = {"deviceSelector": {"driver": "d", "deviceClassName": "c"}, "taint": {"key": "k", "effect": "NoExecute"}}
    rule = {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": spec,
    }
    (conversion,) = convert([Source(json.dumps(rule).encode())])
    assert conversion.objects == ()
    assert [loss.path for loss in conversion.losses] == ["spec.deviceSelector.deviceClassName"]


def test_a_pods_claims_are_flattened_and_all_else_kept() -> None:
    spec = {
        "resourceClaims": [{"name": "gpu", "source": {"resourceClaimTemplateName": "t"}}],
        "containers": [{"name": "c", "image": "x", "unknownToUs": 1.50}],
    }
    template = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"template": {"spec": spec}},
    }
    (conversion,) = convert([Source(json.dumps(template).encode())])
    made = json.loads(conversion.objects[0])["spec"]["template"]["spec"]
    assert made["resourceClaims"] == [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    assert made["containers"] == spec["containers"]


def test_broken_objects_are_passed_on_and_named() -> None:
    broken = b'{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"devices":3}}'
    good = json.dumps(bases()["class"]).encode()
    first, second = convert([Source(broken), Source(good)])
    assert first.objects == (broken,)
    assert first.error == "spec.devices: expected a list, got the number 3"
    assert second.error == "" and len(second.objects) == 1


def test_named_resources_of_a_node_are_one_pool() -> None:
    kind, record = decoded(
        next(obj for obj in ALL_OBJECTS if obj["apiVersion"].endswith("v1alpha2") and obj["kind"] == "ResourceSlice")
    )
    assert kind is RESOURCE_SLICE
    assert record.spec.pool.name == record.spec.node_name  # type: ignore[attr-defined]


def test_a_broken_item_of_a_typed_list_keeps_what_the_list_says_of_it() -> None:
    data = b'{"metadata": {"name": "pool"}, "spec": {"driver": 3}}'
    source = Source(data, "devmgmtproto.k8s.io/v1alpha1", "DevicePool")
    (conversion,) = convert([source])
    assert (conversion.kind, conversion.name) == ("DevicePool", "pool")
    assert conversion.error == "spec.driver: expected a string, got the number 3"
    assert json.loads(conversion.objects[0]) == {
        "apiVersion": "devmgmtproto.k8s.io/v1alpha1",
        "kind": "DevicePool",
        **json.loads(data),
    }


def test_what_an_object_becomes_does_not_depend_on_the_order_of_the_others() -> None:
    for text in (CLASSIC, PROTOTYPE):
        there, back = convert(sources(text)), convert(sources(text)[::-1])
        assert [(c.objects, c.losses) for c in there] == [(c.objects, c.losses) for c in back[::-1]]
    objects = [Source(json.dumps(each).encode()) for each in ALL_OBJECTS]
    there, back = convert(objects), convert(objects[::-1])
    assert [(c.objects, c.losses) for c in there] == [(c.objects, c.losses) for c in back[::-1]]


@pytest.mark.parametrize("inner", [None, {}, {"labels": {"a": "b"}}])
def test_a_template_gets_no_metadata_that_it_did_not_have(inner: dict[str, Any] | None) -> None:
    request = {"name": "gpu", "deviceClassName": "gpu.example.com"}
    spec: dict[str, Any] = {"spec": {"devices": {"requests": [request]}}}
    if inner is not None:
        spec["metadata"] = inner
    old = {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaimTemplate", "metadata": {"name": "t"}}
    (made,) = [
        json.loads(each)
        for done in convert([Source(json.dumps(old | {"spec": spec}).encode())], "v1")
        for each in done.objects
    ]
    assert made["spec"].get("metadata") == inner
