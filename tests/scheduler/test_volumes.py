"""The four plugins of volumes against answers of the real scheduler, and what the answers don't cover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.framework import Cycle, Plugin
from kubectl_dra.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from kubectl_dra.scheduler.plugins.volume_binding import VolumeBinding
from kubectl_dra.scheduler.plugins.volume_restrictions import VolumeRestrictions
from kubectl_dra.scheduler.plugins.volume_zone import VolumeZone
from kubectl_dra.scheduler.status import Status, StatusCode
from kubectl_dra.scheduler.storage import VolumeReason
from tests.scheduler.rows import FILTERS, Row, cycle_of, rows_of, snapshot_of

PLUGINS: Final[tuple[Plugin, ...]] = (VolumeRestrictions(), NodeVolumeLimits(), VolumeBinding(), VolumeZone())
NAMES: Final = tuple(plugin.name for plugin in PLUGINS)
ROWS: Final = tuple(rows_of("volumes.jsonl.gz"))
Json = Mapping[str, Any]


# --- recorded -------------------------------------------------------------------------------------------------------


def pre_filter(cycle: Cycle) -> tuple[str, Status] | None:
    for plugin in PLUGINS:
        status = plugin.pre_filter(cycle).status
        if status.code is StatusCode.SKIP:
            cycle.skipped.add(plugin.name)
        elif not status.ok:
            return plugin.name, status
    return None


def rejection(cycle: Cycle, node: str, until: str) -> tuple[str, Status] | None:
    """What the first of our plugins says that comes no later than ``until``."""
    for plugin in PLUGINS:
        if plugin.name not in cycle.skipped and (not until or FILTERS.index(plugin.name) <= FILTERS.index(until)):
            status = plugin.filter(cycle, cycle.snapshot.nodes[node])
            if not status.ok:
                return plugin.name, status
    return None


def as_recorded(said: tuple[str, Status] | None) -> Json | None:
    if said is None:
        return None
    plugin, status = said
    prefix = f'running "{plugin}" filter plugin: ' if status.code is StatusCode.ERROR else ""
    return {"plugin": plugin, "code": status.code.value, "reasons": sorted(prefix + text for text in status.reasons)}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_real_scheduler_says_the_same(row: Row) -> None:
    snapshot = snapshot_of(row)
    for expected in row["expect"]:
        cycle = cycle_of(snapshot, expected["pod"])
        said = as_recorded(pre_filter(cycle))
        wanted = expected.get("preFilter")
        assert said == (wanted if wanted is not None and wanted["plugin"] in NAMES else None)
        for node in () if wanted is not None else snapshot.nodes:
            refused = expected.get("perNode", {}).get(node, {})
            ours = as_recorded(rejection(cycle, node, refused.get("plugin", "")))
            assert ours == (refused if refused.get("plugin") in NAMES else None), node


def test_the_recorded_rows_have_every_reason() -> None:
    seen = {
        text.removeprefix(f'running "{status["plugin"]}" filter plugin: ').split('"')[0].split("default/")[0]
        for row in ROWS
        for expected in row["expect"]
        for status in (expected.get("preFilter"), *expected.get("perNode", {}).values())
        if status is not None and status.get("plugin") in NAMES
        for text in status["reasons"]
    }
    assert {text for text in seen if not text.endswith("CSI driver is not installed on the node")} >= {
        "PVC ",
        "could not translate pv: failed to get region from zones: zone in unexpected format, expected: "
        "{locale}-{region}-{zone}, got: weird",
        "could not translate pv: kind(Dedicated) is not supported in csi migration",
        "node(s) did not have enough free storage",
        "node(s) didn't find available persistent volumes to bind",
        "node(s) didn't match PersistentVolume's node affinity",
        "node(s) exceed max volume count",
        "node(s) had no available disk",
        "node(s) had no available volume zone",
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another "
        "pod",
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
        "persistentvolume ",
        "persistentvolumeclaim ",
        "pod has unbound immediate PersistentVolumeClaims",
        "waiting for ephemeral volume controller to create the persistentvolumeclaim ",
    }


# --- what is in the way ---------------------------------------------------------------------------------------------


def meta(name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "uid": f"uid-{name}", **({"namespace": namespace} if namespace else {}), **more}


def pod(name: str, *claims: str, node: str = "", namespace: str = "a") -> dict[str, Any]:
    volumes = [{"name": f"v-{claim}", "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return {"metadata": meta(name, namespace), "spec": {"nodeName": node, "volumes": volumes}}


def claim(name: str, volume: str = "", namespace: str = "a", **spec: Any) -> dict[str, Any]:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    asks = {"volumeName": volume, "resources": {"requests": {"storage": "5Gi"}}, **spec}
    return {"metadata": meta(name, namespace, annotations=annotations), "spec": asks, "status": {"phase": "Bound"}}


def volume(name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": meta(name, labels=labels or {}),
        "spec": {"capacity": {"storage": "10Gi"}, "csi": {"driver": "d.example.com", "volumeHandle": name}, **spec},
        "status": {"phase": "Available"},
    }


def only_on(key: str, *values: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    return {"required": {"nodeSelectorTerms": [term]}}


def row(**lists: list[Any]) -> dict[str, Any]:
    nodes = [{"metadata": meta(name, labels={"zone": zone})} for name, zone in (("n1", "z1"), ("n2", "z2"))]
    return {"nodes": nodes, "pods": [pod("p", "c")], **lists}


def problems(content: Row, node: str = "n1", **options: Any) -> Any:
    """The details of what is said first."""
    cycle = cycle_of(snapshot_of(content, **options), "a/p")
    said = pre_filter(cycle) or rejection(cycle, node, "")
    assert said is not None
    return said[1].detail


def test_a_volume_that_is_elsewhere_is_named_with_where_it_is() -> None:
    content = row(
        persistentvolumeclaims=[claim("c", "pv")],
        persistentvolumes=[volume("pv", nodeAffinity=only_on("zone", "z2"))],
    )
    (problem,) = problems(content)
    assert (problem.reason, problem.entry, problem.claim, problem.volume, problem.wanted) == (
        VolumeReason.VOLUME_UNREACHABLE,
        "v-c",
        Key("a", "c"),
        "pv",
        ("zone In [z2]",),
    )
    cycle = cycle_of(snapshot_of(content), "a/p")
    assert pre_filter(cycle) is None
    assert rejection(cycle, "n2", "") is None


def test_zones_are_named() -> None:
    zone = "topology.kubernetes.io/zone"
    content = row(persistentvolumeclaims=[claim("c", "pv")], persistentvolumes=[volume("pv", {zone: "z2__z3"})])
    content["nodes"][0]["metadata"]["labels"][zone] = "z1"
    (problem,) = problems(content)
    assert problem.reason is VolumeReason.VOLUME_ZONE
    assert problem.wanted == (f"{zone}=z2", f"{zone}=z3")


def test_who_uses_a_claim_is_named() -> None:
    content = row(
        persistentvolumeclaims=[claim("c", "pv", accessModes=["ReadWriteOncePod"])],
        persistentvolumes=[volume("pv")],
        pods=[pod("p", "c"), pod("user", "c", node="n2"), pod("other", "c", node="n2", namespace="b")],
    )
    (problem,) = problems(content)
    assert (problem.reason, problem.users) == (VolumeReason.CLAIM_IN_USE, (Key("a", "user"),))


def test_limits_are_numbers() -> None:
    content = row(
        persistentvolumeclaims=[claim("c", "pv"), claim("d", "pw")],
        persistentvolumes=[volume("pv"), volume("pw")],
        pods=[pod("p", "c"), pod("user", "d", node="n1")],
        csinodes=[
            {"metadata": meta("n1"), "spec": {"drivers": [{"name": "d.example.com", "allocatable": {"count": 1}}]}}
        ],
    )
    (problem,) = problems(content)
    assert problem.reason is VolumeReason.TOO_MANY
    assert (problem.about, problem.used, problem.asked, problem.limit) == ("d.example.com", 1, 1, 1)
    cycle = cycle_of(snapshot_of(content), "a/p")
    assert pre_filter(cycle) is None
    assert rejection(cycle, "n2", "") is None


def waiting(**storage_class: Any) -> dict[str, Any]:
    provisioned = {"provisioner": "d.example.com", "volumeBindingMode": "WaitForFirstConsumer", **storage_class}
    return row(
        persistentvolumeclaims=[claim("c", storageClassName="s")],
        storageclasses=[{"metadata": meta("s"), **provisioned}],
    )


def test_what_a_class_lacks_is_named() -> None:
    allowed = [{"matchLabelExpressions": [{"key": "zone", "values": ["z2"]}]}]
    (problem,) = problems(waiting(allowedTopologies=allowed))
    assert (problem.reason, problem.about, problem.wanted) == (
        VolumeReason.TOPOLOGY_NOT_ALLOWED,
        "s",
        ("zone in (z2)",),
    )
    (problem,) = problems(waiting(provisioner="kubernetes.io/no-provisioner"))
    assert (problem.reason, problem.about) == (VolumeReason.NOTHING_TO_BIND, "s")
    immediate = waiting(volumeBindingMode="Immediate")
    assert [each.reason for each in problems(immediate)] == [VolumeReason.CLAIM_UNBOUND]
    assert [each.reason for each in problems({**immediate, "storageclasses": []})] == [VolumeReason.CLASS_MISSING]


def test_space_is_a_number() -> None:
    content = waiting()
    content["csidrivers"] = [{"metadata": meta("d.example.com"), "spec": {"storageCapacity": True}}]
    content["csistoragecapacities"] = [
        {"metadata": meta("x", "b"), "storageClassName": "s", "nodeTopology": {}, "capacity": "4Gi"},
        {"metadata": meta("y", "b"), "storageClassName": "s", "capacity": "40Gi"},
    ]
    (problem,) = problems(content)
    assert (problem.reason, problem.asked, problem.limit) == (VolumeReason.NO_SPACE, 5 << 30, 4 << 30)


# --- what was not read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("PersistentVolumeClaim", row()),
        ("PersistentVolume", row(persistentvolumeclaims=[claim("c", "pv")])),
        ("StorageClass", row(persistentvolumeclaims=[claim("c", storageClassName="s")])),
        ("CSINode", row(persistentvolumeclaims=[claim("c", "pv")], persistentvolumes=[volume("pv")])),
        ("CSIDriver", row(persistentvolumeclaims=[claim("c", "pv")], persistentvolumes=[volume("pv")])),
    ],
)
def test_what_was_not_read_decides_nothing(kind: str, content: Row) -> None:
    cycle = cycle_of(snapshot_of(content, unread=(kind,)), "a/p")
    said = pre_filter(cycle) or rejection(cycle, "n1", "")
    assert said is not None
    assert (said[1].code, said[1].reasons) == (StatusCode.UNKNOWN, (kind,))


# --- scores ---------------------------------------------------------------------------------------------------------


def scores(content: Row, **options: Any) -> Any:
    cycle = cycle_of(snapshot_of(content, **options), "a/p")
    assert pre_filter(cycle) is None
    return VolumeBinding().score(cycle, list(cycle.snapshot.nodes.values()))


def test_loose_volumes_score_better() -> None:
    content = waiting(provisioner="kubernetes.io/no-provisioner")
    content["persistentvolumes"] = [
        volume("small", storageClassName="s", nodeAffinity=only_on("zone", "z1"), capacity={"storage": "6Gi"}),
        volume("large", storageClassName="s", nodeAffinity=only_on("zone", "z2"), capacity={"storage": "20Gi"}),
    ]
    # 5 of 6 and 5 of 20 are used: 83 and 25 %.
    assert scores(content) == [17, 75]
    assert scores(content, minor=36).code is StatusCode.SKIP


def test_capacity_of_a_driver_scores() -> None:
    content = waiting()
    content["csidrivers"] = [{"metadata": meta("d.example.com"), "spec": {"storageCapacity": True}}]
    content["csistoragecapacities"] = [
        {
            "metadata": meta(name, "b"),
            "storageClassName": "s",
            "nodeTopology": {"matchLabels": {"zone": zone}},
            "capacity": capacity,
        }
        for name, zone, capacity in (("x", "z1", "10Gi"), ("y", "z2", "100Gi"))
    ]
    assert scores(content) == [50, 95]


def test_pods_without_claims_score_nothing() -> None:
    content = row(pods=[pod("p")])
    assert scores(content) == [0, 0]


# --- victims and nominated pods -------------------------------------------------------------------------------------


def test_a_victim_s_use_of_a_name_counts_in_any_namespace() -> None:
    content = row(
        persistentvolumeclaims=[claim("c", "pv", accessModes=["ReadWriteOncePod"])],
        persistentvolumes=[volume("pv")],
        pods=[pod("p", "c"), pod("user", "c", node="n2"), pod("other", "c", node="n1", namespace="b")],
    )
    cycle = cycle_of(snapshot_of(content), "a/p")
    assert pre_filter(cycle) is None
    plugin, node = PLUGINS[0], cycle.snapshot.nodes["n1"]
    trial = cycle.clone()
    plugin.remove_pod(trial, node.pods[0], node)
    assert plugin.filter(trial, node).ok
    assert not plugin.filter(cycle, node).ok
    plugin.add_pod(trial, node.pods[0], node)
    assert not plugin.filter(trial, node).ok
