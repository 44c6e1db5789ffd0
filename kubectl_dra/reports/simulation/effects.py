"""What objects of the files change in the cluster in which everything is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.whatif.daemons import daemon_set_of, open_daemon_sets
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import DeviceClass, DeviceTaintRule, ResourceSlice
from kubectl_dra.model.taint_plan import Hit
from kubectl_dra.model.taint_text import remover_of
from kubectl_dra.reports.base import Count, ReportRecord
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.find import devices_of
from kubectl_dra.reports.simulation.copied_slices import CopiedSlice, copied_slices
from kubectl_dra.reports.simulation.existing import existing, new_nodes
from kubectl_dra.reports.taints.taint_hits import DeviceChange, hits


class ClassEffect(ReportRecord, frozen=True):
    """What a class of the file selects. ``before`` None: the cluster has no class of this name.

    ``failing``: on so many devices its selectors end with an error.
    """

    name: str
    devices: Count
    before: Count | None
    problem: str
    failing: int = 0


class TaintEffect(ReportRecord, frozen=True):
    """Whom a taint rule of the file affects: the devices that it selects, and who holds them."""

    rule: str
    devices: int
    hits: tuple[Hit, ...]


class UnreadyTaint(ReportRecord, frozen=True):
    """A taint of a new node that goes once the node is ready, and who removes it then."""

    node: str
    key: str
    remover: str


class Effects(ReportRecord, frozen=True):
    """How objects of the file change the cluster in which everything was tried.

    ``nodes`` and ``slices`` are those of the file, ``replaced`` those of them that the cluster has as well.
    ``unknown_nodes`` are named by slices of the file, and neither there nor in the cluster; onto ``empty_nodes`` of the
    file nothing fits, because they don't say what they have. ``daemon_sets`` of the cluster have a pod on new nodes of
    the file before anything else is there; of ``open_daemon_sets`` it is not known whether they have. Of
    ``without_slices``, new nodes of the file, no slice is of their own; ``unready`` are taints of new nodes of the file
    that somebody removes once the node is ready. ``copied`` are slices of the file in which a field seems to have been
    left as it was in the slice that they were copied from.
    """

    nodes: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    classes: tuple[ClassEffect, ...] = ()
    taints: tuple[TaintEffect, ...] = ()
    unknown_nodes: tuple[str, ...] = ()
    empty_nodes: tuple[str, ...] = ()
    daemon_sets: tuple[str, ...] = ()
    open_daemon_sets: tuple[str, ...] = ()
    without_slices: tuple[str, ...] = ()
    unready: tuple[UnreadyTaint, ...] = ()
    copied: tuple[CopiedSlice, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.nodes or self.slices or self.classes or self.taints)


def effects(before: ClusterState, after: ClusterState, objects: Sequence[Planned]) -> Effects:
    """What ``objects`` make of the cluster ``before``; ``after`` has them."""
    nodes = [each for each in objects if each.kind == "Node" and each.record is not None]
    slices = [each for each in objects if each.kind == "ResourceSlice" and each.record is not None]
    new = new_nodes(before, objects)
    empty = tuple(_without_slices(after, new))
    copied = copied_slices(before, after, objects, empty)
    daemons = (daemon_set_of(pod) for pod in after.inventory.pods.values() if pod.spec.node_name in new)
    replaced = [each.name for each in (*nodes, *slices) if existing(before.inventory, each) is not None]
    return Effects(
        nodes=tuple(each.name for each in nodes),
        slices=tuple(each.name for each in slices),
        replaced=tuple(replaced),
        classes=tuple(_classes(before, after, objects)),
        taints=tuple(_taint(after, each.record) for each in objects if isinstance(each.record, DeviceTaintRule)),
        unknown_nodes=tuple(_unknown_nodes(after, slices)),
        empty_nodes=tuple(each.name for each in nodes if isinstance(each.record, Node) and _is_empty(each.record)),
        daemon_sets=tuple(dict.fromkeys(str(key) for key in daemons if key is not None)),
        open_daemon_sets=tuple(dict.fromkeys(str(key) for name in new for key in open_daemon_sets(after, name))),
        without_slices=empty,
        unready=tuple(_unready(after, new)),
        copied=copied,
    )


def _unknown_nodes(after: ClusterState, slices: Sequence[Planned]) -> Iterable[str]:
    """Nodes that slices name and that are not there, where all are known."""
    if not after.evidence.complete("Node"):
        return ()
    named = (each.record.spec.node_name for each in slices if isinstance(each.record, ResourceSlice))
    return dict.fromkeys(name for name in named if name and name not in after.inventory.nodes)


def _without_slices(after: ClusterState, new: Iterable[str]) -> Iterable[str]:
    """New nodes without devices of their own, where others have some."""
    by_node = after.inventory.slices_by_node
    known = any(by_node) and after.evidence.complete("ResourceSlice")
    return (name for name in new if not by_node.get(name)) if known else ()


def _unready(after: ClusterState, new: Iterable[str]) -> Iterator[UnreadyTaint]:
    for name in new:
        for taint in after.inventory.nodes[name].spec.taints:
            if (remover := remover_of(taint.key)) is not None:
                yield UnreadyTaint(name, taint.key, remover.name)


def _is_empty(node: Node) -> bool:
    """Whether a node says of no pod that there is room: kubelets write that, and nobody by hand."""
    pods = node.status.allocatable.get("pods")
    return pods is None or pods.unscaled == 0


def _classes(before: ClusterState, after: ClusterState, objects: Sequence[Planned]) -> Iterable[ClassEffect]:
    classes = {each.name: each.record for each in objects if isinstance(each.record, DeviceClass)}
    old = [before.inventory.classes[name] for name in classes if name in before.inventory.classes]
    counted = {row.name: row.totals.devices for row in class_rows(old, before)}
    for row in class_rows(classes.values(), after):
        yield ClassEffect(
            row.name, row.totals.devices, counted.get(row.name), row.problem or "", sum(row.errors.values())
        )


def _taint(state: ClusterState, rule: DeviceTaintRule) -> TaintEffect:
    devices = [id_ for pool in state.pools for id_ in devices_of(pool, state) if state.selects(rule, id_)]
    held = (id_ for id_ in state.inventory.holdings_by_device if state.selects(rule, id_))
    name = rule.metadata.name
    changes = [DeviceChange(id_, (), (rule.spec.taint,), frozenset({name})) for id_ in dict.fromkeys((*devices, *held))]
    return TaintEffect(name, len(devices), hits(changes, state))
