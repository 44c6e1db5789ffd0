"""How objects of the files change the cluster: its nodes and slices, what classes select, whom taints hit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import DeviceClass, DeviceTaintRule, ResourceSlice
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.find import devices_of
from kubectl_dra.reports.simulation.existing import existing
from kubectl_dra.reports.simulation.records import ClassEffect, Effects, TaintEffect
from kubectl_dra.reports.taints.taint_hits import DeviceChange, hits


def effects(before: ClusterState, after: ClusterState, objects: Sequence[Planned]) -> Effects:
    """What ``objects`` make of the cluster ``before``; ``after`` has them."""
    nodes = [each for each in objects if each.kind == "Node" and each.record is not None]
    slices = [each for each in objects if each.kind == "ResourceSlice" and each.record is not None]
    replaced = [each.name for each in (*nodes, *slices) if existing(before.inventory, each) is not None]
    return Effects(
        nodes=tuple(each.name for each in nodes),
        slices=tuple(each.name for each in slices),
        replaced=tuple(replaced),
        classes=tuple(_classes(before, after, objects)),
        taints=tuple(_taint(after, each.record) for each in objects if isinstance(each.record, DeviceTaintRule)),
        unknown_nodes=tuple(_unknown_nodes(after, slices)),
        empty_nodes=tuple(each.name for each in nodes if isinstance(each.record, Node) and _is_empty(each.record)),
    )


def _unknown_nodes(after: ClusterState, slices: Sequence[Planned]) -> Iterable[str]:
    """Nodes that slices name and that are not there, where all are known."""
    if not after.evidence.complete("Node"):
        return ()
    named = (each.record.spec.node_name for each in slices if isinstance(each.record, ResourceSlice))
    return dict.fromkeys(name for name in named if name and name not in after.inventory.nodes)


def _is_empty(node: Node) -> bool:
    """Whether a node says of no pod that there is room: kubelets write that, and nobody by hand."""
    pods = node.status.allocatable.get("pods")
    return pods is None or pods.unscaled == 0


def _classes(before: ClusterState, after: ClusterState, objects: Sequence[Planned]) -> Iterable[ClassEffect]:
    classes = {each.name: each.record for each in objects if isinstance(each.record, DeviceClass)}
    old = [before.inventory.classes[name] for name in classes if name in before.inventory.classes]
    counted = {row.name: row.totals.devices for row in class_rows(old, before)}
    for row in class_rows(classes.values(), after):
        yield ClassEffect(row.name, row.totals.devices, counted.get(row.name), row.problem or "")


def _taint(world: ClusterState, rule: DeviceTaintRule) -> TaintEffect:
    devices = [id_ for pool in world.pools for id_ in devices_of(pool, world) if world.selects(rule, id_)]
    held = (id_ for id_ in world.inventory.holdings_by_device if world.selects(rule, id_))
    name = rule.metadata.name
    changes = [DeviceChange(id_, (), (rule.spec.taint,), frozenset({name})) for id_ in dict.fromkeys((*devices, *held))]
    return TaintEffect(name, len(devices), hits(changes, world))
