"""A node attaches only so many volumes: the end of the pod that has one there makes room for another."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts
from tests.kit.clock import CLOCK

DISK = "disk.example.com"


def stored(name: str) -> list[dict[str, Any]]:
    """A claim and its volume."""
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "ml", "uid": name}}
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}  # type: ignore[index]
    claim["spec"] = {"volumeName": f"pv-{name}", "accessModes": ["ReadWriteMany"]}
    source = {"driver": DISK, "volumeHandle": name}
    ref = {"kind": "PersistentVolumeClaim", "namespace": "ml", "name": name, "uid": name}
    spec = {"csi": source, "accessModes": ["ReadWriteMany"], "claimRef": ref}
    return [claim, {"kind": "PersistentVolume", "metadata": {"name": f"pv-{name}"}, "spec": spec}]


def attachment(name: str, node: str) -> dict[str, Any]:
    spec = {"attacher": DISK, "nodeName": node, "source": {"persistentVolumeName": f"pv-{name}"}}
    return {"kind": "VolumeAttachment", "metadata": {"name": f"{name}-{node}"}, "spec": spec}


def using(pod: str, volume: str, **fields: Any) -> dict[str, Any]:
    return build.pod(pod, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": volume}}], **fields)


def cluster(*more: dict[str, Any]) -> ClusterState:
    """Two nodes for one volume each; ``a`` is attached on node-1, where pod ``a`` uses it, and on node-2."""
    drivers = [{"name": DISK, "nodeID": "x", "allocatable": {"count": 1}}]
    limits = [{"kind": "CSINode", "metadata": {"name": f"node-{n}"}, "spec": {"drivers": drivers}} for n in (1, 2)]
    attached = [attachment("a", "node-1"), attachment("a", "node-2")]
    objects = [*stored("a"), *stored("b"), *limits, *attached, using("a", "a", node_name="node-1", phase="Running")]
    pod = using("pod", "b", claims=["claim"])
    devices = [build.device_class(), build.slice_("node-1", build.device("gpu-0")), build.claim("claim")]
    nodes = [build.node("node-1"), build.node("node-2")]
    found = facts.inventory([*devices, *nodes, *objects, *more, pod])
    return ClusterState(found, facts.evidence(), features(), CLOCK)


def code_without(world: ClusterState, *pods: str) -> Code:
    changed = world.changed(without_pods({Key("ml", name) for name in pods})(world.inventory))
    return Diagnoser(changed).pod(Key("ml", "pod")).causes[0].code


def test_the_end_of_the_only_pod_with_the_volume_detaches_it() -> None:
    world = cluster()
    assert Diagnoser(world).pod(Key("ml", "pod")).causes[0].code is Code.VOLUME_LIMIT
    assert code_without(world, "a") is Code.FITS_NOW
    # Elsewhere it stays attached.
    after = without_pods({Key("ml", "a")})(world.inventory)
    assert list(after.storage.attachments) == ["a-node-2"]


def test_a_volume_that_another_pod_there_uses_stays() -> None:
    world = cluster(using("other", "a", node_name="node-1", phase="Running"))
    assert code_without(world, "a") is Code.VOLUME_LIMIT
    assert code_without(world, "a", "other") is Code.FITS_NOW


@pytest.mark.parametrize("node", ["node-2", ""])
def test_a_pod_that_uses_it_elsewhere_keeps_nothing_here(node: str) -> None:
    assert code_without(cluster(using("other", "a", node_name=node)), "a") is Code.FITS_NOW
