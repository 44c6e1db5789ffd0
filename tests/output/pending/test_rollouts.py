"""A new pod whose Deployment keeps the old one, which has the device, until the new one is ready."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.remedies import command_lines, remedy_text
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit.facts import evidence, inventory
from tests.kit.rollouts import NAME, NAMESPACE, NEW, OLD, daemon_objects, objects
from tests.kit.state import state_of
from tests.output.pending.test_situations import first_line, page_of

POD = f"{NEW}-p0"
COMPLETED = "pv.kubernetes.io/bind-completed"


def report(items: list[dict[str, Any]], pod: str = POD) -> PendingReport:
    world: ClusterState = state_of(inventory(items), evidence())
    found = Diagnoser(world).pod(Key(NAMESPACE, pod))
    return pending_report(found, world, ways=find_remedies(world, found))


def strategy(surge: int, unavailable: int) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def test_the_first_line_says_what_the_pod_waits_for() -> None:
    found = report(objects())
    assert first_line(found) == (
        f"Pod ml/{POD} is pending: the old pod of its own Deployment holds what it needs: {OLD}-0 has gpu-0, and the "
        "rollout ends it only when the new one is ready."
    )
    page = page_of(found)
    assert "1 end the old pod before the new one starts: strategy Recreate" in page
    assert "(no pod of Deployment web runs until the new one is ready)" in page
    assert page.index("strategy Recreate") < page.index("add hardware")
    assert "To go back to the version before instead: kubectl rollout undo deployment/web -n ml" in page


def test_the_only_use_of_a_volume_is_what_the_old_pod_holds() -> None:
    """Both pods have room and a free device; the scheduler's reason is the volume."""
    items = objects()
    for each in items:
        if each["kind"] == "Pod":
            each["spec"]["volumes"] = [{"name": "m", "persistentVolumeClaim": {"claimName": "models"}}]
        if each["kind"] == "ResourceSlice":
            each["spec"]["devices"].append({"name": "gpu-free"})
    modes = {"accessModes": ["ReadWriteOncePod"], "storageClassName": "fast"}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}}
    bound = {"namespace": NAMESPACE, "name": "models", "uid": "u", "kind": "PersistentVolumeClaim"}
    volume["spec"] = {**modes, "claimRef": bound, "csi": {"driver": "d", "volumeHandle": "v"}}
    meta = {"name": "models", "namespace": NAMESPACE, "uid": "u", "annotations": {COMPLETED: "yes"}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta}
    claim["spec"] = {**modes, "volumeName": "pv"}
    found = report([*items, volume, {**claim, "status": {"phase": "Bound"}}])
    assert found.code == "DRA-426"
    assert first_line(found) == (
        f"Pod ml/{POD} is pending: the old pod of its own Deployment holds what it needs: {OLD}-0 has "
        "PersistentVolumeClaim models, which only one pod at a time may use, and the rollout ends it only when the "
        "new one is ready."
    )
    assert "1 end the old pod before the new one starts: strategy Recreate" in page_of(found)


def test_what_an_old_pod_holds_is_not_told_of_other_causes() -> None:
    """Its device is of no use to a pod that lacks processors."""
    items = objects()
    for each in items:
        if each["kind"] == "Pod":
            each["spec"]["containers"][0].setdefault("resources", {})["requests"] = {"cpu": "3"}
        if each["kind"] == "Node":
            each["status"]["allocatable"]["cpu"] = "4"
        if each["kind"] == "ResourceSlice":
            each["spec"]["devices"].append({"name": "gpu-free"})
    found = report(items)
    assert found.code == "DRA-415"
    assert "only 1 of the 3" in first_line(found)
    assert f"{OLD}-0 has gpu-0" not in page_of(found)
    assert "end the old pod before the new one starts: strategy Recreate" in page_of(found)


def test_of_several_replicas_one_goes_at_a_time() -> None:
    found = report(objects(replicas=3, old=3, strategy=strategy(1, 0)))
    assert first_line(found) == (
        f"Pod ml/{POD} is pending: old pods of its own Deployment hold what it needs (1 × gpu.example.com): "
        f"{OLD}-0, {OLD}-1 +1 have 3 devices, and the rollout ends one only when a new one is ready."
    )
    page = page_of(found)
    assert (
        remedy_text(found.remedies[0]) == "end an old pod before the new one is ready: maxSurge=0 and maxUnavailable=1"
    )
    assert "maxSurge=0" in page
    assert "(during the rollout up to 1 of 3 replicas may be missing)" in page


def test_of_a_daemon_set_it_is_the_pod_of_the_same_node() -> None:
    found = report(daemon_objects(3), f"{NAME}-new-0")
    assert first_line(found) == (
        f"Pod ml/{NAME}-new-0 is pending: the old pod of its own DaemonSet holds what it needs: {NAME}-old0-0 has "
        "gpu-0, and the rollout ends it only when the new one is ready."
    )
    assert "(during the rollout up to 1 of 3 pods may be missing)" in page_of(found)
    [line] = command_lines(found.remedies[0])
    words = shlex.split(str(line))
    assert words[:3] == ["kubectl", "patch", f"daemonset/{NAME}"]
    patch = json.loads(words[words.index("-p") + 1])
    assert patch == [{"op": "add", "path": "/spec/updateStrategy", "value": strategy(0, 1)}]


@pytest.mark.parametrize(
    ("items", "value"),
    [
        (objects(), {"type": "Recreate"}),
        (objects(replicas=3, old=3, strategy=strategy(1, 0)), strategy(0, 1)),
    ],
)
def test_the_command_changes_the_strategy(items: list[dict[str, Any]], value: dict[str, Any]) -> None:
    found = report(items)
    assert found.remedies[0].kind == "editRollout"
    [line] = command_lines(found.remedies[0])
    words = shlex.split(str(line))
    assert words[:6] == ["kubectl", "patch", f"deployment/{NAME}", "-n", NAMESPACE, "--type=json"]
    assert json.loads(words[words.index("-p") + 1]) == [{"op": "add", "path": "/spec/strategy", "value": value}]


@pytest.mark.parametrize(
    "items",
    [
        objects(kind="StatefulSet"),
        objects(paused=True),
        objects(strategy={"type": "Recreate"}),
        [item for item in objects() if item["kind"] != "Deployment"],
    ],
)
def test_others_are_not_told_so(items: list[dict[str, Any]]) -> None:
    found = report(items)
    assert first_line(found).startswith(f"Pod ml/{POD} is pending: no node has a free gpu.example.com device")
    page = page_of(found)
    assert "Recreate" not in page
    assert "rollout undo" not in page
