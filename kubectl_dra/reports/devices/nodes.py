"""Nodes as people who look for devices see them: what each has of every driver, and who holds it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.gone_nodes import meant_by
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.core import Node
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.meta import Condition, is_true
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.reports.base import ReadRecord, ReportRecord, Series, reads_of
from kubectl_dra.reports.devices.advertised import OfferedResource, offered
from kubectl_dra.reports.devices.closed_nodes import closed_nodes
from kubectl_dra.reports.devices.device_list import DeviceFilter, ListedDevice, device_list
from kubectl_dra.reports.devices.open_pool import ListedState, PoolFacts, open_pool
from kubectl_dra.reports.devices.pool import KINDS, PoolSummary, is_troubled, pool_summary
from kubectl_dra.reports.devices.totals import DeviceTally, DeviceTotals
from kubectl_dra.reports.devices.twins import twins
from kubectl_dra.reports.devices.unpublished import AllocatedDevice, unpublished, unpublished_of_node
from kubectl_dra.reports.pending.drivers import plugins
from kubectl_dra.reports.pending.failing_pods import FailingPod, failing_among, starting_among
from kubectl_dra.reports.pending.idle_daemons import IdleDaemonSet
from kubectl_dra.reports.pending.kept_off_drivers import kept_off_node
from kubectl_dra.reports.pending.pressure import PressedNode, pressed_by
from kubectl_dra.reports.pending.unready import UnreadyNode, unready_by
from kubectl_dra.reports.scope import Scope, ScopeKind, device_scope, nodes_of
from kubectl_dra.reports.unread import missing_rights

_NONE: Final = DeviceTally()
_INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"


class DriverDevices(ReportRecord, frozen=True):
    """What one driver publishes that a node can use: for this node only, or ``shared`` with others."""

    driver: str
    totals: DeviceTotals
    shared: DeviceTotals


class NodeSummary(ReportRecord, frozen=True):
    """One node: ``totals`` are of the devices that only this node can use, ``shared`` of those that others can as well,
    as far as nodes were read, ``drivers`` are those of both, and ``by_driver`` the same of each.

    ``ready`` is the status of the condition (``True``, ``False``, ``Unknown``), empty where the node was not read or
    does not say it; ``ready_since``: since when that is so. ``cordoned``: no new pod is placed on it. ``closed``: why
    it takes no new pods, ``cordoned`` or ``notReady``; empty where it does. ``unpublished``: how many devices claims
    have there that no slice has.
    """

    name: str
    ready: str
    ready_since: str
    cordoned: bool
    taints: tuple[str, ...]
    instance_type: str
    drivers: tuple[str, ...]
    totals: DeviceTotals
    shared: DeviceTotals
    created: str
    closed: str
    unpublished: int
    by_driver: tuple[DriverDevices, ...]


class DriverDown(ReportRecord, frozen=True):
    """A driver whose ``pods`` on a node do not run, as far as names tell: it prepares no devices there."""

    driver: str
    pods: tuple[FailingPod, ...]


class NodeReport(NodeSummary, frozen=True):
    """The same with every device that the node can use, also those that it shares with others.

    ``pools`` are those that its devices come from; ``troubled`` are names of pools of the node that are not used.
    ``drivers_down``: drivers of its devices whose pods there do not run; ``kept_off``: those whose DaemonSets do not
    tolerate its taints, so that they publish nothing there. ``allocated``: what claims have on the node
    that is not published, or may not be where slices could not be read. ``offered``: its extended resources, which
    device plugins offer beside drivers. ``misnamed``: names that only slices have, of no node, and that may
    mean this one. ``same_devices_on``: nodes that publish devices with the same uuid, so that both are one machine;
    ``one_left_over``: one of them is not ready.
    ``unready``: taints of it that another program removes when the node is ready; ``pressed``: what it is short of.
    """

    pools: tuple[PoolSummary, ...]
    troubled: tuple[str, ...]
    drivers_down: tuple[DriverDown, ...]
    kept_off: tuple[IdleDaemonSet, ...]
    devices: tuple[ListedDevice, ...]
    allocated: tuple[AllocatedDevice, ...]
    offered: tuple[OfferedResource, ...]
    misnamed: tuple[str, ...]
    same_devices_on: tuple[str, ...]
    one_left_over: bool
    unready: tuple[UnreadyNode, ...]
    pressed: tuple[PressedNode, ...]
    missing: tuple[Missing, ...]
    read: tuple[ReadRecord, ...]


def node_names(state: ClusterState) -> list[str]:
    """The nodes that were read, and those that only slices name, by name."""
    named = (name for name in state.inventory.slices_by_node if name)
    return sorted({*state.inventory.nodes, *named})


def known_nodes(state: ClusterState) -> list[str]:
    """The same with nodes that could not be read, and of which allocations tell."""
    told = () if state.evidence.complete("Node") else (node for node, _, _ in unpublished(state))
    return sorted({*node_names(state), *told})


def node_summaries(state: ClusterState, names: Iterable[str] | None = None) -> tuple[NodeSummary, ...]:
    found = _by_node(state)
    known = state.evidence.complete("ResourceSlice")
    gone = Counter(node for node, _, _ in unpublished(state)) if known else Counter[str]()
    return tuple(
        _summary(name, state, found.get(name) or _OfNode(), gone[name])
        for name in (node_names(state) if names is None else names)
    )


def _summary(name: str, state: ClusterState, found: _OfNode, gone: int) -> NodeSummary:
    node = state.inventory.nodes.get(name, Node())
    by_driver = tuple(
        DriverDevices(driver, *(each.get(driver, _NONE).totals(state.evidence) for each in (found.own, found.shared)))
        for driver in sorted({*found.own, *found.shared})
    )
    ready = next((each for each in node.status.conditions if each.type == "Ready"), Condition())
    return NodeSummary(
        name,
        ready.status,
        ready.last_transition_time or "",
        node.spec.unschedulable,
        tuple(map(taint_text, node.spec.taints)),
        node.metadata.labels.get(_INSTANCE_TYPE, ""),
        tuple(each.driver for each in by_driver),
        _sum(found.own.values()).totals(state.evidence),
        _sum(found.shared.values()).totals(state.evidence),
        node.metadata.creation_timestamp or "",
        closed_nodes(state).get(name, ""),
        gone,
        by_driver,
    )


def _sum(tallies: Iterable[DeviceTally]) -> DeviceTally:
    found = DeviceTally()
    for each in tallies:
        found.plus(each)
    return found


@dataclass(slots=True)
class _OfNode:
    """The devices that a node can use by itself and with others, by their drivers."""

    own: dict[str, DeviceTally] = field(default_factory=dict)
    shared: dict[str, DeviceTally] = field(default_factory=dict)


def placed_devices(state: ClusterState) -> Iterator[tuple[PoolFacts, ListedState, Scope]]:
    """Every published device, and where it can be used."""
    for pool in state.pools:
        opened = open_pool(pool, state)
        for each in opened.listed_states():
            yield opened, each, device_scope(each.device, each.slice, state)


def _by_node(state: ClusterState) -> Mapping[str, _OfNode]:
    found: defaultdict[str, _OfNode] = defaultdict(_OfNode)
    shared: dict[Scope, _OfNode] = {}
    for opened, each, scope in placed_devices(state):
        local = scope.kind is ScopeKind.NODE
        of = found[scope.node] if local else shared.setdefault(scope, _OfNode())
        tally = of.own.setdefault(opened.id.driver, DeviceTally())
        tally.device(each.state, each.tainted, opened.admin_only(each.device))
    for scope, among in shared.items():
        for node in nodes_of(scope, state):
            for driver, tally in among.own.items():
                found[node].shared.setdefault(driver, DeviceTally()).plus(tally)
    return found


def node_report(name: str, state: ClusterState) -> NodeReport:
    """Everything about one node that exists, or that slices name."""
    summary = node_summaries(state, [name])[0]
    devices = tuple(device_list(state, DeviceFilter(node=name)).items)
    of_devices = {PoolId(each.driver, each.pool) for each in devices}
    of_node = {each.spec.pool_id for each in state.inventory.slices_by_node.get(name, ())}
    pools = tuple(Series(lambda: _pools(state, of_devices | of_node)))
    same = twins(state).get(name, ())
    fields = {name: getattr(summary, name) for name in NodeSummary.__struct_fields__}
    return NodeReport(
        **fields,
        pools=pools,
        troubled=tuple(f"{pool.driver}/{pool.pool}" for pool in pools if is_troubled(pool)),
        kept_off=kept_off_node(name, state),
        drivers_down=tuple(_drivers_down(name, {each.driver for each in of_devices | of_node}, state)),
        devices=devices,
        allocated=tuple(unpublished_of_node(name, state)),
        offered=offered(state, name),
        misnamed=tuple(_misnamed(name, state)),
        same_devices_on=same,
        one_left_over=bool(same) and not all(_is_ready(state, each) for each in (name, *same)),
        unready=unready_by(name, summary.taints, state),
        pressed=pressed_by(name, summary.taints, state),
        missing=missing_rights(state.evidence, KINDS),
        read=reads_of(state.evidence),
    )


def _is_ready(state: ClusterState, name: str) -> bool:
    node = state.inventory.nodes.get(name)
    return node is not None and is_true(node.status.conditions, "Ready")


def _misnamed(name: str, state: ClusterState) -> Iterator[str]:
    """``w1.example.com`` for a node ``w1`` and the reverse: drivers that take the host's name for the node's."""
    inventory = state.inventory
    if name in inventory.nodes and state.evidence.complete("Node"):
        names = (other for other in inventory.slices_by_node if other and other not in inventory.nodes)
        yield from (other for other in sorted(names) if name in meant_by([other], [name]))


def _drivers_down(node: str, drivers: Collection[str], state: ClusterState) -> Iterator[DriverDown]:
    # A node without devices may wait for any driver that publishes some elsewhere.
    for driver in sorted(drivers) or sorted({each.driver for each in state.pools}):
        found = plugins(driver, node, state.inventory)
        pods = failing_among(found, state.inventory)
        if not pods and not any(driver == each.spec.driver for each in state.inventory.slices_by_node.get(node, ())):
            pods = starting_among(found, state.inventory)
        if pods:
            yield DriverDown(driver, pods)


def _pools(state: ClusterState, ids: set[PoolId]) -> Iterator[PoolSummary]:
    return (pool_summary(open_pool(pool, state)) for pool in sorted(ids))
