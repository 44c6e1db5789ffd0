"""Volumes in a diagnosis: which claim, which volume and where, as causes with codes of their own."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import PodDiagnosis, Verdict, VolumeTrouble
from kubectl_dra.output.pending.reasons import reason_sentence
from tests.diagnosis.test_other_plugins import diagnose
from tests.kit import build

DATA = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
ZONE = "topology.kubernetes.io/zone"


def claim(**spec: Any) -> dict[str, Any]:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if "volumeName" in spec else {}
    return {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": build.NAMESPACE, "annotations": annotations},
        "spec": {"resources": {"requests": {"storage": "5Gi"}}, **spec},
    }


def volume(labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"kind": "PersistentVolume", "metadata": {"name": "pv", "labels": labels or {}}, "spec": spec}


def storage_class(**fields: Any) -> dict[str, Any]:
    return {"kind": "StorageClass", "metadata": {"name": "s"}, "volumeBindingMode": "WaitForFirstConsumer", **fields}


def only(zone: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}


def found(*objects: dict[str, Any]) -> PodDiagnosis:
    """The pod with the volume; node-1 is in zone a and has a device, node-2 is in zone b."""
    nodes = [build.node(f"node-{i}", labels={ZONE: zone}) for i, zone in ((1, "a"), (2, "b"))]
    return diagnose(build.pod(claims=["claim"], volumes=[DATA]), build.claim(), *nodes, *objects)


@pytest.mark.parametrize(
    ("objects", "code", "sentence"),
    [
        ((), Code.VOLUME_CLAIM, "PersistentVolumeClaim ml/data, which its volume data needs, does not exist"),
        (
            (claim(volumeName="pv"),),
            Code.VOLUME_CLAIM,
            "PersistentVolumeClaim ml/data is bound to PersistentVolume pv, which does not exist",
        ),
        (
            (claim(storageClassName="gone"),),
            Code.VOLUME_CLAIM,
            "PersistentVolumeClaim ml/data is not bound, and its StorageClass gone does not exist",
        ),
    ],
)
def test_a_claim_that_can_t_be_used_stops_the_attempt(
    objects: tuple[dict[str, Any], ...], code: Code, sentence: str
) -> None:
    diagnosis = found(*objects)
    assert diagnosis.verdict is Verdict.UNSCHEDULABLE
    assert diagnosis.causes[0].code is code
    assert reason_sentence(diagnosis.causes[0]) == sentence
    assert diagnosis.message
    assert diagnosis.message.endswith(". not found")


@pytest.mark.parametrize(
    ("objects", "code", "sentence"),
    [
        (
            (claim(volumeName="pv"), volume(**only("c"))),
            Code.VOLUME_ELSEWHERE,
            "PersistentVolume pv of PersistentVolumeClaim ml/data cannot be reached from there: it is limited to nodes "
            f"with {ZONE}=c",
        ),
        (
            (claim(volumeName="pv"), volume({ZONE: "c"})),
            Code.VOLUME_ELSEWHERE,
            f"PersistentVolume pv of PersistentVolumeClaim ml/data is in {ZONE}=c",
        ),
        (
            (claim(storageClassName="s"), storage_class(provisioner="kubernetes.io/no-provisioner")),
            Code.NO_VOLUME,
            "no free PersistentVolume there matches PersistentVolumeClaim ml/data, and StorageClass s does not "
            "provision any",
        ),
    ],
)
def test_nodes_that_a_volume_rules_out_are_told_with_the_volume(
    objects: tuple[dict[str, Any], ...], code: Code, sentence: str
) -> None:
    diagnosis = found(*objects)
    assert diagnosis.verdict is Verdict.UNSCHEDULABLE
    (cause,) = [each for each in diagnosis.causes if isinstance(each.detail, VolumeTrouble)]
    assert cause.code is code
    assert cause.nodes == ("node-1", "node-2")
    assert reason_sentence(cause) == sentence


def test_a_volume_that_is_where_the_devices_are_is_no_trouble() -> None:
    diagnosis = found(claim(volumeName="pv"), volume(**only("a")))
    assert Code.NOT_SIMULATED not in [cause.code for cause in diagnosis.causes]
    troubles = [cause for cause in diagnosis.causes if isinstance(cause.detail, VolumeTrouble)]
    assert [cause.nodes for cause in troubles] == [("node-2",)]
