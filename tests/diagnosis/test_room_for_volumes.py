"""Ways out where no volume is left: one more of a class that provisions none, or a claim for what there is room for.

Upstream: plugins/volumebinding binder.go, findMatchingVolumes and hasEnoughCapacity.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.actions import AddVolume, MoveVolume
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.consequences import note_texts
from kubectl_dra.output.pending.remedies import command_lines, remedy_text
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.remedies import RemedyReport, find_remedies
from tests.diagnosis.test_volumes import DATA, ZONE, claim, storage_class, volume
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.reports.test_renewal import owned

HOST = "kubernetes.io/hostname"
STATIC = storage_class(provisioner="kubernetes.io/no-provisioner")
MADE = storage_class(provisioner="topolvm.io")
DRIVER = {"kind": "CSIDriver", "metadata": {"name": "topolvm.io"}, "spec": {"storageCapacity": True}}


def node(name: str, devices: int = 1) -> list[dict[str, Any]]:
    return [
        build.node(name, labels={HOST: name}),
        build.slice_(name, *[build.device(f"gpu-{number}") for number in range(devices)]),
    ]


def room(name: str, size: str) -> dict[str, Any]:
    topology = {"matchLabels": {HOST: name}}
    meta = {"name": f"room-{name}", "namespace": "kube-system"}
    return {
        "kind": "CSIStorageCapacity",
        "metadata": meta,
        "storageClassName": "s",
        "nodeTopology": topology,
        "capacity": size,
    }


def ways(*objects: dict[str, Any], pod: dict[str, Any] | None = None) -> list[RemedyReport]:
    body = pod or build.pod(claims=["claim"], volumes=[DATA])
    there = facts.inventory([build.device_class(), build.claim(), body, *objects])
    world = ClusterState(there, facts.evidence(), features(), CLOCK)
    key = Key(build.NAMESPACE, body["metadata"]["name"])
    return list(find_remedies(world, Diagnoser(world).pod(key)).remedies)


def of(kind: type[Any], found: list[RemedyReport]) -> list[Any]:
    return [action for each in found for action in each.actions if isinstance(action, kind)]


# --- classes that provision none ------------------------------------------------------------------------------------


def local(**spec: Any) -> dict[str, Any]:
    return claim(storageClassName="s", accessModes=["ReadWriteOnce"], **spec)


def test_one_more_volume_on_any_node_that_lacks_nothing_else() -> None:
    found = ways(*node("node-1"), *node("node-2"), *node("node-3", 0), STATIC, local())
    (action,) = of(AddVolume, found)
    assert action == AddVolume(
        ObjectRef("PersistentVolumeClaim", "ml", "data"), "s", "5Gi", ("ReadWriteOnce",), ("node-1", "node-2")
    )
    (remedy,) = [each for each in found if action in each.actions]
    assert set(remedy.nodes) == {"node-1", "node-2"}
    text = plain(remedy_text(remedy))
    assert text == "add a PersistentVolume of class s with at least 5Gi (ReadWriteOnce) on node-1 or node-2"
    assert not remedy.steps


def test_one_more_volume_on_the_only_node_where_it_is_enough() -> None:
    """The device of node-1 is in use, which nobody can tell before the volume is there."""
    held = build.claim("held", held=[("node-1", "gpu-0")], on="node-1", by=("other",))
    other = build.pod("other", claims=["held"], node_name="node-1", phase="Running")
    found = ways(*node("node-1"), *node("node-2"), held, other, STATIC, local())
    assert [action.nodes for action in of(AddVolume, found)] == [("node-2",)]


@pytest.mark.parametrize(
    ("selector", "number"),
    [
        ({"matchLabels": {"disk": "nvme"}}, 1),
        ({"matchExpressions": [{"key": "disk", "operator": "Exists"}]}, 0),
    ],
)
def test_a_volume_that_the_claim_selects(selector: dict[str, Any], number: int) -> None:
    """Which labels it has to have can be told of an exact selector only."""
    assert len(of(AddVolume, ways(*node("node-1"), STATIC, local(selector=selector)))) == number


@pytest.mark.parametrize(
    ("spec", "demands"),
    [
        ({"selector": {"matchLabels": {"disk": "nvme"}}}, "label disk=nvme"),
        ({"volumeMode": "Block"}, "volumeMode Block"),
        ({"volumeMode": "Filesystem"}, ""),
    ],
)
def test_what_else_the_claim_wants_is_said(spec: dict[str, Any], demands: str) -> None:
    (remedy,) = [each for each in ways(*node("node-1"), STATIC, local(**spec)) if of(AddVolume, [each])]
    also = f", with {demands}," if demands else ""
    assert plain(remedy_text(remedy)) == (
        f"add a PersistentVolume of class s with at least 5Gi (ReadWriteOnce){also} on node-1"
    )


def test_no_volume_is_added_where_devices_are_what_lacks() -> None:
    assert of(AddVolume, ways(*node("node-1", 0), STATIC, local())) == []


# --- drivers that say how much they have left -----------------------------------------------------------------------


def test_a_claim_for_what_is_left_where_the_devices_are() -> None:
    objects = (MADE, DRIVER, room("node-1", "2Gi"), room("node-2", "9Gi"), claim(storageClassName="s"))
    found = ways(*node("node-1"), *node("node-2", 0), *objects)
    (action,) = of(MoveVolume, found)
    assert (action.size, action.former_size, action.storage_class, action.former) == ("2Gi", "5Gi", "s", "")
    (remedy,) = [each for each in found if action in each.actions]
    assert remedy.nodes == ("node-1",)
    text = "recreate PersistentVolumeClaim ml/data, which has no volume yet, with 2Gi instead of 5Gi"
    assert plain(remedy_text(remedy)) == text
    (line,) = map(plain, command_lines(remedy))
    assert '"path": "/spec/resources/requests/storage", "value": "2Gi"' in line
    assert "replace --force" in line


def test_what_is_left_is_rounded_down() -> None:
    objects = (MADE, DRIVER, room("node-1", "2147483647"), claim(storageClassName="s"))
    assert [each.size for each in of(MoveVolume, ways(*node("node-1"), *objects))] == ["2047Mi"]


def test_where_nothing_is_left_no_claim_is_small_enough() -> None:
    objects = (MADE, DRIVER, room("node-1", "0"), claim(storageClassName="s"))
    assert of(MoveVolume, ways(*node("node-1"), *objects)) == []


def test_a_stateful_set_does_not_change_what_it_makes_claims_from() -> None:
    pvc = claim(storageClassName="s")
    pvc["metadata"]["name"] = "data-web-0"
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}
    pod = owned(build.pod("web-0", claims=["claim"], volumes=[volume]), "StatefulSet", "web")
    found = ways(*node("node-1"), MADE, DRIVER, room("node-1", "2Gi"), pvc, pod=pod)
    (remedy,) = [each for each in found if of(MoveVolume, [each])]
    (note,) = map(plain, note_texts(remedy))
    assert note == (
        "of this pod only: volumeClaimTemplates cannot be changed; for the other pods delete StatefulSet web with "
        "--cascade=orphan, and apply it with 2Gi"
    )


# --- volumes of nodes that are gone -----------------------------------------------------------------------------------


def of_node(key: str, value: str) -> list[dict[str, Any]]:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
    spec = {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}
    return [
        claim(storageClassName="s", volumeName="pv"),
        volume(**spec),
        storage_class(provisioner="rancher.io/local-path"),
    ]


def test_the_data_of_a_volume_on_a_node_that_is_gone_is_not_copied() -> None:
    found = ways(*node("node-1"), *of_node(HOST, "node-9"))
    (remedy,) = [each for each in found if of(MoveVolume, [each])]
    text = "if its node never joins again, give up volume pv: delete PersistentVolumeClaim ml/data and create it anew"
    assert plain(remedy_text(remedy)) == text
    assert remedy.nodes == ("node-1",)


@pytest.mark.parametrize(
    ("key", "value", "labels"), [(HOST, "node-2", {HOST: "node-2"}), (ZONE, "b", {HOST: "node-2"})]
)
def test_data_that_a_node_has_or_may_have_again_is_copied(key: str, value: str, labels: dict[str, str]) -> None:
    """A node may join in a zone that has none now."""
    found = ways(*node("node-1"), build.node("node-2", labels={HOST: "node-2"}), *of_node(key, value))
    assert [action.lost for action in of(MoveVolume, found)] == [False]
