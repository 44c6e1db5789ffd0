"""Pods that get devices and that another plugin rejects: what the real scheduler says is known before it speaks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.e2e.conftest import Explain
from tests.e2e.situations import Case, bring_about

pytestmark = pytest.mark.controlplane

_CLUSTER: Final = """
- {kind: DeviceClass, metadata: {name: gpu.example.com}, spec: {}}
- kind: ResourceSlice
  metadata: {name: node-1-gpu}
  spec:
    driver: gpu.example.com
    nodeName: node-1
    pool: {name: node-1, generation: 1, resourceSliceCount: 1}
    devices: [{name: gpu-0}]
- kind: ResourceClaim
  metadata: {name: claim}
  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}
"""
_VOLUME: Final = """
- apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: on-first-use}
  provisioner: kubernetes.io/no-provisioner
  volumeBindingMode: WaitForFirstConsumer
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec:
    storageClassName: on-first-use
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
"""
_TERM: Final = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "elsewhere"}}}
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
# The pod, what else there is, and who rejects it with which code.
_CASES: Final[dict[str, tuple[dict[str, Any], str, str, str]]] = {
    "volume-to-be-bound-on-first-use": (
        {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]},
        _VOLUME,
        "VolumeBinding",
        "DRA-425",
    ),
    "volume-claim-that-is-missing": (
        {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "nothing"}}]},
        "[]",
        "VolumeRestrictions",
        "DRA-423",
    ),
    "spread-over-a-label-that-no-node-has": (
        {
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
            ]
        },
        "[]",
        "PodTopologySpread",
        "DRA-428",
    ),
    "affinity-to-pods-that-are-missing": (
        {"affinity": {"podAffinity": {_REQUIRED: [_TERM]}}},
        "[]",
        "InterPodAffinity",
        "DRA-429",
    ),
}


@pytest.mark.parametrize("name", _CASES)
def test_what_other_plugins_refuse_is_known_before_the_scheduler_speaks(
    plane: ControlPlane, client: Client, explain: Explain, tmp_path: Path, name: str
) -> None:
    pod, more, plugin, code = _CASES[name]
    objects = (*yaml.safe_load(_CLUSTER), *yaml.safe_load(more))
    case = Case(name, {"node-1": {}}, {"claims": ["claim"], **pod}, "", objects)
    condition = bring_about(client, case)
    assert condition is not None
    assert condition["reason"] == "Unschedulable"

    before = tmp_path / "before.json"
    before.write_text(json.dumps(_before_the_scheduler(plane)), encoding="utf-8")
    told = explain("why-pending", "pod/pod", "-n", case.namespace)
    predicted = explain("why-pending", "pod/pod", "-n", case.namespace, "--from", str(before))
    for report in (told, predicted):
        assert (report["verdict"], report["reason"]) == ("Unschedulable", "Unschedulable")
        assert [cause["code"] for cause in report["causes"]] == [code]
        assert condition["message"].startswith(report["message"]), report["message"]
        # A plugin that refuses the pod as a whole looks at no node.
        assert {group["plugin"] for group in report["nodes"]} <= {plugin}
    assert (told["agreement"], predicted["agreement"]) == ("agrees", "unobserved")


def _before_the_scheduler(plane: ControlPlane) -> Any:
    """A snapshot without what the scheduler wrote."""
    command = [str(plane.kubectl), "dra", "snapshot"]
    done = subprocess.run(command, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=True)
    snapshot = json.loads(done.stdout)
    for item in snapshot["items"]:
        if item["kind"] == "Pod":
            item["status"].pop("conditions", None)
    return snapshot
