"""What helps where only the scheduler's message tells why: against the last of its checks, by what the user may end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.clock import PassingClock
from tests.output.pending.test_heard import pod
from tests.reports.clusters import withheld

MESSAGE = (
    "0/9 nodes are available: 1 node(s) had untolerated taint(s), 3 cannot allocate all claims, 5 Insufficient memory."
)
UNREAD = ("Node", "ResourceSlice", "DeviceClass")


def page(
    capfd: pytest.CaptureFixture[str],
    folder: Path,
    *objects: dict[str, Any],
    message: str = MESSAGE,
    unread: tuple[str, ...] = UNREAD,
    **wish: Any,
) -> str:
    waits = [] if any(each["metadata"]["name"] == "wait" for each in objects) else [pod("wait", message)]
    classes = [] if any(each["kind"] == "DeviceClass" for each in objects) else [build.device_class()]
    items = [*classes, *waits, build.claim("wait", build.request(**wish)), *objects]
    for each in items:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = folder / "cluster.json"
    path.write_text(json.dumps(withheld({"kind": "List", "items": items}, unread)), encoding="utf-8")
    assert run(["why-pending", "wait", "-n", "ml", "--from", str(path), "--color", "never"], PassingClock()) == 0
    return " ".join(capfd.readouterr().out.split())


def holder(name: str, *devices: str, phase: str = "Running", **fields: Any) -> list[dict[str, Any]]:
    held = build.claim(f"{name}-gpu", held=[("node-1", device) for device in devices], by=[name], on="node-1")
    found = build.pod(name, claims=[f"{name}-gpu"], node_name="node-1", phase=phase)
    return [found | {"metadata": {**found["metadata"], **fields}}, held]


def test_nodes_that_lack_devices_alone_are_the_nearest(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """DynamicResources runs last: upstream, apis/config/v1/default_plugins.go."""
    told = page(capfd, tmp_path)
    assert "What usually helps: 3 nodes pass all other checks and only lack free devices, so start there" in told
    assert "Whether the other 6 nodes have any is unknown. Wait until pods that hold such devices end." in told
    assert "Lower the memory request" not in told
    assert "equest fewer" not in told


def test_without_devices_the_last_check_counts(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    message = (
        "0/9 nodes are available: 1 node(s) didn't match pod topology spread constraints, "
        "8 node(s) didn't match Pod's node affinity/selector."
    )
    told = page(capfd, tmp_path, message=message)
    assert "Relax the node selector" not in told
    assert "maxSkew" in told.partition("What usually helps:")[2]


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"count": 2}, "Request fewer devices, or wait until pods that hold such devices end."),
        ({"selector": "true"}, "Request other devices, or wait until"),
        ({"count": 2, "selector": "true"}, "Request fewer devices or others, or wait until"),
    ],
)
def test_less_is_advised_where_there_is_less(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, wish: dict[str, Any], told: str
) -> None:
    assert told in page(capfd, tmp_path, message="0/3 nodes are available: 3 cannot allocate all claims.", **wish)


def test_own_pods_that_hold_devices_come_with_their_command(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    others = build.claim("theirs", namespace="lab", held=[("node-2", "gpu-9")], by=["far"], on="node-2")
    done = holder("done", "gpu-0", "gpu-1", phase="Succeeded")
    told = page(capfd, tmp_path, *holder("notebook", "gpu-2", "gpu-3", "gpu-4"), *done, others)
    finished = f"Pod done of your namespace has finished and still holds 2 devices of class {build.DRIVER} on node-1."
    runs = f"Pod notebook of your namespace holds 3 devices of class {build.DRIVER} on node-1; it has no controller"
    assert f"{finished} To free them: kubectl delete pod/done -n ml" in told
    assert f"{runs} that starts it again. To free them: kubectl delete pod/notebook -n ml" in told
    assert told.index(finished) < told.index(runs)
    assert "pod/far" not in told
    assert "Whether this node passes all other checks is unknown." in told


def test_devices_that_do_not_match_are_no_way_out(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Where slices were read it is known which devices of others would be of use; where not, that this is unknown."""
    wish = {"selector": f'device.attributes["{build.DRIVER}"].model == "H100"'}
    published = build.slice_(
        "node-1",
        build.device("gpu-0", attributes={"model": "L40"}),
        build.device("gpu-1", attributes={"model": "H100"}),
    )
    objects = (*holder("wrong", "gpu-0"), *holder("right", "gpu-1"), published)
    told = page(capfd, tmp_path, *objects, unread=("Node",), **wish)
    assert "kubectl delete pod/right -n ml" in told
    assert "pod/wrong" not in told
    unknown = "Whether these devices match the selectors of its requests is unknown."
    assert unknown not in told
    told = page(capfd, tmp_path, *objects, **wish)
    assert "kubectl delete pod/right -n ml" in told
    assert "kubectl delete pod/wrong -n ml" in told
    assert unknown in told
    assert unknown not in page(capfd, tmp_path, *objects)


def test_the_same_of_an_extended_resource(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    served = build.device_class(extendedResourceName="example.com/gpu")
    waits = pod("wait", "0/2 nodes are available: 2 cannot allocate all claims.")
    waits["spec"]["resourceClaims"] = []
    waits["spec"]["containers"][0]["resources"] = {"requests": {"example.com/gpu": "2"}}
    told = page(capfd, tmp_path, served, waits, *holder("notebook", "gpu-2", "gpu-3"), unread=("Node", "ResourceSlice"))
    assert f"Pod notebook of your namespace holds 2 devices of class {build.DRIVER} on node-1" in told
    assert "What usually helps: Request fewer devices, or wait until pods that hold such devices end." in told


def test_a_pod_that_is_going_is_not_deleted_again(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = page(capfd, tmp_path, *holder("old", "gpu-0", deletionTimestamp="2026-01-01T00:00:00Z"))
    assert "Pod old of your namespace is being deleted and still holds 1 device" in told
    assert "delete pod/old" not in told


def test_who_is_made_again_is_told_so(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
    told = page(capfd, tmp_path, *holder("web-0", "gpu-0", ownerReferences=[owner]))
    assert "on node-1; its StatefulSet starts it again. To free it: kubectl delete pod/web-0 -n ml" in told


def test_a_claim_that_nobody_uses_is_deleted_itself(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    unused = build.claim("left", held=[("node-1", "gpu-0")], on="node-1")
    told = page(capfd, tmp_path, unused)
    assert "Claim left of your namespace is used by no pod and holds 1 device" in told
    assert "kubectl delete resourceclaim/left -n ml" in told


def test_another_pod_of_the_same_workload_is_no_way_out(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
    waits = pod("wait", MESSAGE)
    waits["metadata"]["ownerReferences"] = [owner]
    told = page(capfd, tmp_path, *holder("web-0", "gpu-0", ownerReferences=[owner]), waits)
    assert "pod/web-0" not in told


def partly_read(
    capfd: pytest.CaptureFixture[str], folder: Path, unread: tuple[str, ...], message: str, *objects: dict[str, Any]
) -> str:
    """The page about a pod of a cluster with two nodes of a GPU each, of which some kinds could not be read."""
    names = ("node-1", "node-2")
    nodes = [each for name in names for each in (build.node(name, cpu="96"), build.slice_(name, build.device("gpu-0")))]
    waits = pod("wait", message, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    items = [build.device_class(), waits, build.claim("wait"), *nodes, *objects]
    for each in items:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = folder / "cluster.json"
    whole = withheld({"kind": "List", "items": items}, unread)
    volumes = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment")
    others = ("DeviceTaintRule", "PodGroup", *volumes)
    whole["reads"] += [{"kind": kind, "coverage": "complete"} for kind in others if kind not in unread]
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert run(["why-pending", "wait", "-n", "ml", "--from", str(path), "--color", "never"], PassingClock()) == 0
    return " ".join(capfd.readouterr().out.split())


def volume() -> list[dict[str, Any]]:
    meta = {"name": "data", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {**meta, "namespace": "ml"},
        "spec": {"volumeName": "data", "accessModes": ["ReadWriteOnce"]},
        "status": {"phase": "Bound"},
    }
    return [claim, {"kind": "PersistentVolume", "metadata": {"name": "data"}, "spec": {}}]


def test_devices_that_are_free_by_all_but_unread_rules_are_probably_tainted(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    message = "0/2 nodes are available: 2 cannot allocate all claims."
    told = partly_read(capfd, tmp_path, ("DeviceTaintRule",), message, *volume())
    assert "all 2 have no free gpu.example.com device that satisfies its claim. As far as could be read" in told
    assert "they are free on node-1 and node-2: probably a DeviceTaintRule taints them" in told
    assert "Wait until pods" not in told
    assert "kubectl dra get taints" in told
    message = "0/2 nodes are available: 2 Insufficient memory."
    assert "probably a DeviceTaintRule" not in partly_read(capfd, tmp_path, ("DeviceTaintRule",), message, *volume())


def test_nodes_of_which_all_but_volumes_was_read_are_named(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    elsewhere = "1 node(s) didn't match PersistentVolume's node affinity"
    message = f"0/2 nodes are available: 1 cannot allocate all claims, {elsewhere}."
    unread = ("PersistentVolumeClaim", "PersistentVolume", "CSINode")
    told = partly_read(capfd, tmp_path, unread, message, *holder("notebook", "gpu-0"))
    assert "node-1 passes all other checks and only lacks free devices, so start there." in told
    assert "node-2 has such devices free, but fails a check before." in told
    assert "Whether this node passes all other checks" not in told
