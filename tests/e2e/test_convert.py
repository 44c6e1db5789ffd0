"""What ``kubectl dra convert`` writes is accepted by a real server that checks strictly, and means what it meant.

The server's own v1beta1 and v1beta2 forms of objects with every field set are the measure for those two versions; the
generations that no server speaks any more are given as manifests. Nothing stays: creations are dry runs.
"""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from kubectl_dra.api.convert import convert as convert_manifests
from kubectl_dra.api.sources import Source
from tests.api.test_convert import CLASSIC, PROTOTYPE
from tests.controlplane import Client, ControlPlane, binaries
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, object_path
from tests.matrix.cases import cases, minors
from tests.oracle.admission.cases import bases

pytestmark = pytest.mark.controlplane

BETAS: Final = ("v1beta1", "v1beta2")
_GROUP: Final = "resource.k8s.io"
_KINDS: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceTaintRule")
_OF_THE_SERVER: Final = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")
FROM_1_31: Final = """
apiVersion: resource.k8s.io/v1alpha3
kind: DeviceClass
metadata: {name: gpu.example.com}
spec:
  selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]
  config: [{opaque: {driver: gpu.example.com, parameters: {mode: safe}}}]
  suitableNodes: {nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: Exists}]}]}
---
apiVersion: resource.k8s.io/v1alpha3
kind: ResourceClaim
metadata: {name: controlled, namespace: ml}
spec:
  controller: controller.example.com
  devices:
    requests:
    - name: gpus
      deviceClassName: gpu.example.com
      allocationMode: ExactCount
      count: 2
      selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].model == "a100"'}}]
    - {name: monitor, deviceClassName: gpu.example.com, allocationMode: All, adminAccess: false}
    constraints: [{requests: [gpus], matchAttribute: gpu.example.com/numa}]
    config: [{requests: [gpus], opaque: {driver: gpu.example.com, parameters: {sharing: none}}}]
---
apiVersion: resource.k8s.io/v1alpha3
kind: ResourceClaimTemplate
metadata: {name: template, namespace: ml}
spec:
  metadata: {labels: {team: ml}}
  spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.example.com}]}}
---
apiVersion: resource.k8s.io/v1alpha3
kind: ResourceSlice
metadata: {name: node-a-gpu}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: node-a, generation: 3, resourceSliceCount: 1}
  devices:
  - name: gpu-0
    basic:
      attributes: {model: {string: a100}, numa: {int: 0}, shared: {bool: true}, driver: {version: 1.2.3}}
      capacity: {memory: 40Gi}
  - {name: gpu-1, basic: {}}
---
apiVersion: resource.k8s.io/v1alpha3
kind: PodSchedulingContext
metadata: {name: pod, namespace: ml}
spec: {potentialNodes: [node-a]}
---
apiVersion: resource.k8s.io/v1alpha3
kind: DeviceTaintRule
metadata: {name: broken}
spec:
  deviceSelector: {driver: gpu.example.com, pool: node-a, device: gpu-1}
  taint: {key: example.com/broken, effect: NoExecute}
"""
WITH_A_POD: Final = """
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaimTemplate
metadata: {name: template, namespace: ml}
spec: {spec: {resourceClassName: gpu, allocationMode: WaitForFirstConsumer}}
---
apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: ml}
spec:
  containers: [{name: c, image: example.com/app, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, source: {resourceClaimTemplateName: template}}]
"""
OLD: Final = {
    "devmgmtproto": PROTOTYPE,
    "v1alpha2": CLASSIC,
    "v1alpha2 with a pod": WITH_A_POD,
    "v1alpha3": FROM_1_31,
}
# Alpha in 1.37; a server drops the fields of features that are off.
_GATES: Final = {
    "DRADerivedAttributes": True,
    "DRADeviceCompatibilityGroups": True,
    "DRAListTypeAttributes": True,
    "DRANodeAllocatableResources": True,
    "DRAOptionalNodeOperations": True,
    "DRAPartitionableDevicesType": True,
    "DRAResourcePoolStatus": True,
}
Convert = Callable[[list[Object], str], list[Object]]


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane of its own, with every feature of devices."""
    with ControlPlane(binaries(), feature_gates=_GATES) as running:
        for name in ("admin", "ml"):
            labels = {"resource.kubernetes.io/admin-access": "true"}
            metadata = {"name": name, "labels": labels}
            running.client().create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        yield running


@pytest.fixture
def client(plane: ControlPlane) -> Client:
    """The administrator's requests."""
    return plane.client()


@pytest.fixture(scope="module")
def native(plane: ControlPlane) -> dict[str, dict[str, Object]]:
    """Objects with every field set, as the server itself writes them: by version, then by a short name."""
    client = plane.client()
    created = {name: client.create(obj) for name, obj in bases().items()}
    found = {version: _read_back(client, created, version) for version in ("v1", *BETAS)}
    for kind in _KINDS:
        client.clear(f"{_GROUP}/v1", kind)
    return found


def _read_back(client: Client, created: dict[str, Object], version: str) -> dict[str, Object]:
    objects = {}
    for name, obj in created.items():
        if (version, obj["kind"]) == ("v1beta1", "DeviceTaintRule"):
            continue
        meta = obj["metadata"]
        read = client.get(obj["kind"], meta["name"], meta.get("namespace", ""), f"{_GROUP}/{version}")
        assert read is not None
        objects[name] = _as_written(read)
    return objects


def _as_written(obj: Object) -> Object:
    """A manifest as a person would have written it."""
    kept = copy.deepcopy({key: value for key, value in obj.items() if key != "status"})
    kept["metadata"] = {key: value for key, value in kept["metadata"].items() if key not in _OF_THE_SERVER}
    return kept


@pytest.fixture
def convert(plane: ControlPlane, tmp_path: Path) -> Convert:
    """``kubectl dra convert -f FILE --to VERSION``, decoded."""

    def run(objects: list[Object], version: str) -> list[Object]:
        path = tmp_path / "manifests.json"
        path.write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
        command = [str(plane.kubectl), "dra", "convert", "-f", str(path), "--to", version]
        done = subprocess.run(command, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        return list(yaml.safe_load_all(done.stdout))

    return run


def dry_run(client: Client, obj: Object) -> Object:
    """What the server would create; an unknown field is an error."""
    path = object_path(obj["apiVersion"], obj["kind"], obj["metadata"].get("namespace", ""))
    answer: Object = client.request("POST", path, obj, dryRun="All", fieldValidation="Strict")
    return answer


@pytest.mark.parametrize("version", BETAS)
def test_the_servers_own_betas_become_what_it_has_as_v1(
    client: Client, convert: Convert, native: dict[str, dict[str, Object]], version: str
) -> None:
    written = native[version]
    made = convert(list(written.values()), "v1")
    assert {obj["apiVersion"] for obj in made} == {f"{_GROUP}/v1"}
    for name, obj in zip(written, made, strict=True):
        assert _as_written(dry_run(client, obj)) == native["v1"][name]


@pytest.mark.parametrize("version", BETAS)
def test_v1_becomes_what_the_server_has_as_beta(
    client: Client, convert: Convert, native: dict[str, dict[str, Object]], version: str
) -> None:
    written = {name: native["v1"][name] for name in native[version]}
    made = convert(list(written.values()), version)
    assert {obj["apiVersion"] for obj in made} == {f"{_GROUP}/{version}"}
    for name, obj in zip(written, made, strict=True):
        assert _as_written(dry_run(client, obj)) == native[version][name]


@pytest.mark.parametrize("target", ["v1", *BETAS])
@pytest.mark.parametrize("generation", OLD)
def test_older_generations_are_accepted(client: Client, convert: Convert, generation: str, target: str) -> None:
    written: list[Any] = list(yaml.safe_load_all(OLD[generation]))
    made = convert(written, target)
    kinds = {obj["kind"] for obj in made}
    assert kinds <= {*_KINDS, "Pod"}
    for obj in made:
        answer = dry_run(client, obj)
        assert (answer["kind"], answer["metadata"]["name"]) == (obj["kind"], obj["metadata"]["name"])
    # A kind that has an equal today has not vanished.
    assert kinds >= {obj["kind"] for obj in written} & {*_KINDS, "Pod"}


@pytest.mark.parametrize("minor", minors())
def test_what_older_releases_were_tried_with_is_accepted(client: Client, minor: str) -> None:
    """All objects of the cases for control planes of older releases; those of a case refer to each other."""
    created = 0
    for case in cases(minor).values():
        written = [case.dialect.manifest(body, "ml") for body in case.objects]
        for conversion in convert_manifests([Source(json.dumps(obj).encode()) for obj in written]):
            assert (conversion.error, conversion.refused) == ("", ()), (case.name, conversion)
            for data in conversion.objects:
                dry_run(client, json.loads(data))
                created += 1
    assert created > len(cases(minor))
