"""Tainted nodes on which a driver publishes nothing, because its DaemonSet does not tolerate the taint.

On other nodes it runs: that it runs nowhere at all is told of in ``idle_daemons``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState, derived, derived_for_each
from kubectl_dra.diagnosis.records import NodeOutcome, ObjectRef, PodDiagnosis, PoolProblem, Verdict
from kubectl_dra.diagnosis.records.nodes import tells_of_node
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.model.core import Node
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.reports.claims.ask import ClaimAsk
from kubectl_dra.reports.pending.drivers import named_by, words_of
from kubectl_dra.reports.pending.idle_daemons import (
    GIVEN,
    Daemons,
    IdleDaemonSet,
    absent_from,
    idle_daemons,
    lacks_drivers,
    marks_of,
    named_after,
    nodes_of_daemons,
    refused_by,
)
from kubectl_dra.scheduler.plugins.taint_toleration import untolerated

_SHOWN: Final = 3
#: Of control planes, which keep all work away.
_ROLES: Final = "node-role.kubernetes.io/"
_INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"


def is_about_drivers(diagnosis: PodDiagnosis, state: ClusterState) -> bool:
    """Whether it matters where drivers' DaemonSets run, which take a list.

    No driver serves the pod, or some node, or one has published a part of its devices.
    """
    in_part = any(isinstance(cause.detail, PoolProblem) for cause in diagnosis.causes)
    return in_part or lacks_drivers(diagnosis.causes) or (_lacks_devices(diagnosis) and _any_has_nothing(state))


@derived("nodes", "slices")
def _any_has_nothing(state: ClusterState) -> bool:
    return any(has_nothing(node, state) for node in state.inventory.nodes.values())


def has_nothing(node: Node, state: ClusterState) -> bool:
    """Whether no driver publishes devices of a node that has a taint which somebody chose, or is like one with some."""
    if state.inventory.slices_by_node.get(node.metadata.name):
        return False
    kind = node.metadata.labels.get(_INSTANCE_TYPE)
    return bool(_chosen(node)) or (bool(kind) and any(kind in kinds for kinds in _types(state).values()))


def drivers_off(diagnosis: PodDiagnosis, asks: Sequence[ClaimAsk], state: ClusterState) -> tuple[IdleDaemonSet, ...]:
    """Drivers without a pod where it matters, else those that are kept off other nodes."""
    found = idle_daemons(diagnosis, asks, state) or tuple(kept_off_drivers(diagnosis, asks, state))
    return found or tuple(_absent_where_alike(diagnosis, asks, state))


def _absent_where_alike(
    diagnosis: PodDiagnosis, asks: Iterable[ClaimAsk], state: ClusterState
) -> Iterator[IdleDaemonSet]:
    """The first driver that has no pod on a node of the same instance type as one where it publishes devices."""
    classes = {(ask.name, each.name): each.device_class for ask in asks for each in ask.requests}
    for group in diagnosis.nodes if _lacks_devices(diagnosis) else ():
        lacking = [each for each in group.requests if each.funnel is not None and not each.funnel.total]
        names = dict.fromkeys(classes.get((each.claim.name, each.request), "") for each in lacking)
        for driver in dict.fromkeys(each for name in names for each in named_by(name, state.inventory)):
            for found in (absent_where_alike(driver, node, state) for node in group.nodes[:_SHOWN]):
                if found is not None:
                    yield found
                    return


def absent_where_alike(driver: str, name: str, state: ClusterState) -> IdleDaemonSet | None:
    """The driver's DaemonSet, where it has no pod on a node like those on which it publishes devices."""
    node = state.inventory.nodes.get(name)
    kind = node.metadata.labels.get(_INSTANCE_TYPE) if node is not None else None
    its = (each.spec.driver == driver for each in state.inventory.slices_by_node.get(name, ()))
    alike = bool(kind) and kind in _types_of(driver, state) and not any(its)
    return absent_from(driver, name, state) if alike else None


def _drivers(state: ClusterState) -> list[str]:
    return sorted({pool.driver for pool in state.pools})


def kept_off_drivers(diagnosis: PodDiagnosis, asks: Iterable[ClaimAsk], state: ClusterState) -> list[IdleDaemonSet]:
    """The DaemonSets of drivers that a pod lacks devices of, with the nodes that may have some."""
    pod = state.inventory.pods.get(diagnosis.pod.key)
    if pod is None or not _lacks_devices(diagnosis) or not state.evidence.complete("ResourceSlice"):
        return []
    classes = dict.fromkeys(each.device_class for ask in asks for each in ask.requests)
    drivers = dict.fromkeys(driver for name in classes for driver in named_by(name, state.inventory))
    tolerations, comparison = pod.spec.tolerations, state.features.toleration_comparison
    found: list[IdleDaemonSet] = []
    for driver in drivers:
        groups: dict[tuple[str, ...], list[Node]] = {}
        for node, daemons, taints in _kept_off(state, driver):
            if _may_have(driver, node, daemons, taints, state):
                groups.setdefault(taints, []).append(node)
        for taints, nodes in groups.items():
            pod_too = any(True for _ in untolerated(nodes[0].spec.taints, tolerations, comparison))
            names = sorted(node.metadata.name for node in nodes)
            found.append(_told(driver, named_after(driver, state)[0], taints, names, pod_too=pod_too))
    return found


def kept_off_node(name: str, state: ClusterState) -> tuple[IdleDaemonSet, ...]:
    """The drivers of the cluster that are kept off one node, or absent from it, and publish nothing there."""
    found: list[IdleDaemonSet] = []
    for driver in _drivers(state):
        for node, daemons, taints in _kept_off(state, driver):
            if node.metadata.name == name:
                found.append(_told(driver, daemons, taints, [name]))
        absent = absent_where_alike(driver, name, state)
        found += [absent] if absent is not None and not any(each.driver == driver for each in found) else []
    return tuple(found)


def _told(
    driver: str, daemons: Daemons, taints: tuple[str, ...], nodes: Sequence[str], *, pod_too: bool = False
) -> IdleDaemonSet:
    shown = tuple(nodes[:_SHOWN])
    return IdleDaemonSet(
        ObjectRef.of(DAEMON_SET, daemons.key),
        taints=taints,
        tainted=shown,
        beside=True,
        driver=driver,
        more=len(nodes) - len(shown),
        pod_too=pod_too,
    )


def _lacks_devices(diagnosis: PodDiagnosis) -> bool:
    tried = any(group.outcome is NodeOutcome.CANNOT_ALLOCATE for group in diagnosis.nodes)
    return diagnosis.verdict is Verdict.UNSCHEDULABLE and tried


def _chosen(node: Node) -> list[str]:
    """The keys of the taints of a node that are not of its state, and not of its role."""
    taints = (each for each in node.spec.taints if each.effect in PREVENTING)
    return [each.key for each in taints if not each.key.startswith(_ROLES) and not tells_of_node(each.key)]


@derived_for_each()
def _kept_off(state: ClusterState, driver: str) -> Sequence[tuple[Node, Daemons, tuple[str, ...]]]:
    """Many pods wait for the same driver, and it takes all DaemonSets and nodes."""
    return tuple(_looked_up(driver, state))


def _looked_up(driver: str, state: ClusterState) -> Iterator[tuple[Node, Daemons, tuple[str, ...]]]:
    """Nodes without devices of the driver that its only DaemonSet selects and whose taints keep its pod away."""
    named = named_after(driver, state)
    if len(named) != 1:
        # Which of several is that for a node is not known.
        return
    (daemons,) = named
    runs_on = nodes_of_daemons(state).get(daemons.key, set())
    for name, node in sorted(state.inventory.nodes.items()):
        its = state.inventory.slices_by_node.get(name, ())
        if not _chosen(node) or name in runs_on or any(each.spec.driver == driver for each in its):
            continue
        taints = refused_by(daemons, node, state) if daemons.is_selected(node) else ()
        if taints and not any(tells_of_node(each) or each.startswith(_ROLES) for each in taints):
            yield node, daemons, taints


def _may_have(driver: str, node: Node, daemons: Daemons, taints: tuple[str, ...], state: ClusterState) -> bool:
    """Whether something tells that a node has the hardware: what selects it, a label, its type, or the taint."""
    words, _ = words_of(driver)
    if any(not GIVEN.match(want.key) for term in daemons.terms for want in daemons.wants(term)):
        return True
    if marks_of(driver, node) or any(word in taint.lower() for taint in taints for word in words):
        return True
    kind = node.metadata.labels.get(_INSTANCE_TYPE)
    return bool(kind) and kind in _types_of(driver, state)


def _types_of(driver: str, state: ClusterState) -> frozenset[str]:
    return _types(state).get(driver, frozenset())


@derived("nodes", "slices")
def _types(state: ClusterState) -> Mapping[str, frozenset[str]]:
    """By driver, the instance types of nodes on which it publishes devices."""
    found: dict[str, set[str]] = {}
    for each in state.inventory.slices.values():
        node = state.inventory.nodes.get(each.spec.node_name or "")
        kind = node.metadata.labels.get(_INSTANCE_TYPE) if node is not None else None
        if kind:
            found.setdefault(each.spec.driver, set()).add(kind)
    return {driver: frozenset(kinds) for driver, kinds in found.items()}
