"""DaemonSets of drivers that run on no node: why nothing is published, and which labels would make them run.

The API does not say which DaemonSet is a driver's: names tell, as of its pods. Where one runs is what its controller
decides (upstream: pkg/controller/daemon, NodeShouldRunDaemonPod).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.input.nodes import NAME_FIELD
from kubectl_dra.cluster import ClusterState, derived, derived_for_each
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Cause,
    ClassOffer,
    KubeletText,
    NodeGroup,
    NodeOutcome,
    ObjectRef,
    PodDiagnosis,
)
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import NodeSelectorRequirement, NodeSelectorTerm
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import ClaimAsk
from kubectl_dra.reports.pending.drivers import named_by, names_in, words_of
from kubectl_dra.reports.scope import requirement_text
from kubectl_dra.scheduler.daemons import daemon_tolerations
from kubectl_dra.scheduler.plugins.node_affinity import matches, required_terms
from kubectl_dra.scheduler.plugins.taint_toleration import untolerated

_SHOWN: Final = 3
_WITHOUT_DEVICES: Final = frozenset({Code.NO_DEVICE_IN_CLASS, Code.DEVICES_OF_GONE_NODES})
#: A driver runs on other nodes than that where the pod is, or may run.
_ELSEWHERE: Final = (Code.DRIVER_NOT_REGISTERED, Code.DEVICES_FOR_OTHER_NODES)
#: A device plugin is none of DRA's, and its DaemonSet has the same words in its name.
_OF_DRA: Final = re.compile(r"\bdra|kubelet-plugin|resource-driver")
#: Labels that node-feature-discovery sets, and takes away again.
_DISCOVERED: Final = "feature.node.kubernetes.io/"
#: Labels that the kubelet or the cloud provider sets from what a node is.
GIVEN: Final = re.compile(r"(?:(?:beta|node|topology|failure-domain\.beta)\.)?kubernetes\.io/")


class IdleDaemonSet(ReportRecord, frozen=True):
    """A DaemonSet that by its name is the driver's, and has a pod on no node, or none where it matters.

    ``wants``: the labels that no node has, in alternatives, or the taints of ``tainted`` nodes that it does not
    tolerate. ``labels``: ``KEY=VALUE`` pairs with which it would run on ``nodes``, which a label ``marks`` as such that
    may have the hardware; without these it is not known which nodes have it. ``beside``: it runs, and publishes no
    devices of ``driver`` on the ``tainted`` nodes and ``more`` of them, where the pod would have to tolerate the taints
    too (``pod_too``).
    """

    daemon_set: ObjectRef
    wants: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    taints: tuple[str, ...] = ()
    tainted: tuple[str, ...] = ()
    absent_from: str = ""
    runs_on: tuple[str, ...] = ()
    running: int = 0
    beside: bool = False
    driver: str = ""
    more: int = 0
    pod_too: bool = False


def lacks_drivers(causes: Iterable[Cause]) -> bool:
    """Whether no driver publishes what is asked for, or none serves the node, so that it matters which of them run."""
    return any(cause.code in (*_WITHOUT_DEVICES, *_ELSEWHERE) for cause in causes)


def idle_daemons(diagnosis: PodDiagnosis, asks: Iterable[ClaimAsk], state: ClusterState) -> tuple[IdleDaemonSet, ...]:
    """The DaemonSets of drivers that run nowhere, or not where it matters."""
    found = idle_daemon_sets(diagnosis.causes, state)
    return found or absent_daemon_sets(diagnosis.causes, diagnosis.nodes, asks, diagnosis.node, state)


def idle_daemon_sets(causes: Collection[Cause], state: ClusterState) -> tuple[IdleDaemonSet, ...]:
    """Those of the drivers that publish nothing; none where not all nodes were read."""
    if not state.inventory.nodes or not state.evidence.complete("Node"):
        return ()
    drivers = [
        driver
        for cause in causes
        if cause.code in _WITHOUT_DEVICES and isinstance(cause.detail, ClassOffer)
        for driver in named_by(cause.detail.device_class, state.inventory)
    ]
    found = (_idle_of(state, driver) for driver in drivers)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def absent_daemon_sets(
    causes: Collection[Cause], groups: Iterable[NodeGroup], asks: Iterable[ClaimAsk], node: str, state: ClusterState
) -> tuple[IdleDaemonSet, ...]:
    """Those of drivers that run on other nodes than the pod's ``node``, or than those that were tried and have nothing.

    Only where a cause makes that matter, and of one node each.
    """
    # Nodes with devices are there, and their taint is what to tolerate.
    tainted = any(cause.code is Code.NODE_TAINTS for cause in list(causes)[:1])
    if tainted or not lacks_drivers(causes) or not state.evidence.complete("Node"):
        return ()
    wanted = [
        (cause.detail.driver, node)
        for cause in causes
        if cause.code is Code.DRIVER_NOT_REGISTERED and isinstance(cause.detail, KubeletText) and cause.detail.driver
    ]
    if not wanted:
        classes = {(ask.name, each.name): each.device_class for ask in asks for each in ask.requests}
        without = _without_devices(groups)
        wanted = [
            (driver, where)
            for request, where in without.items()
            for driver in named_by(classes.get(request, ""), state.inventory)
        ]
    found = {driver: _absent(state, driver, where) for driver, where in reversed(wanted)}
    return tuple(each for each in found.values() if each is not None)[:1]


def absent_from(driver: str, node: str, state: ClusterState) -> IdleDaemonSet | None:
    """The driver's DaemonSet that runs on other nodes than this one; None where that is not known."""
    return _absent(state, driver, node) if state.evidence.complete("Node") else None


def _without_devices(groups: Iterable[NodeGroup]) -> dict[tuple[str, str], str]:
    """By claim and request of which no node that was tried has a device, the first of these nodes."""
    first, served = dict[tuple[str, str], str](), set[tuple[str, str]]()
    for group in groups:
        for each in group.requests if group.outcome is NodeOutcome.CANNOT_ALLOCATE else ():
            request = each.claim.name, each.request
            first.setdefault(request, group.nodes[0])
            if each.funnel is None or each.funnel.total:
                served.add(request)
    return {request: node for request, node in first.items() if request not in served}


# Many pods wait for the same driver, and it takes all DaemonSets and nodes.
@derived_for_each()
def _absent(state: ClusterState, driver: str, name: str) -> IdleDaemonSet | None:
    """The driver's DaemonSet, if it has pods, and none on that node; one that waits for a node is on it or not."""
    node, nodes = state.inventory.nodes.get(name), nodes_of_daemons(state)
    named = named_after(driver, state) if node is not None else []
    running = [each for each in named if nodes.get(each.key)]
    if node is None or not running or any({name, ""} & nodes[each.key] for each in running):
        return None
    daemons = running[0]
    taints = refused_by(daemons, node, state)
    lacks = [_lacking(daemons, term, node) for term in daemons.terms] if not daemons.is_selected(node) else []
    options = (_settable(each) for each in sorted(lacks, key=_trouble))
    labels = next((each for each in options if each and _would_be_selected(daemons, node, each)), {})
    on = sorted(nodes[daemons.key])
    return IdleDaemonSet(
        ObjectRef.of(DAEMON_SET, daemons.key),
        tuple(" and ".join(map(requirement_text, each)) for each in lacks),
        tuple(f"{key}={value}" for key, value in labels.items()),
        taints=taints,
        tainted=(name,) if taints else (),
        absent_from=name,
        runs_on=tuple(on[:_SHOWN]),
        running=len(on),
    )


def _lacking(daemons: Daemons, term: NodeSelectorTerm, node: Node) -> tuple[NodeSelectorRequirement, ...]:
    """What a node does not have of what one alternative needs."""

    def is_met(want: NodeSelectorRequirement) -> bool:
        fields = (want,) if want.key == NAME_FIELD else ()
        alone = NodeSelectorTerm(match_expressions=() if fields else (want,), match_fields=fields)
        return matches({}, (alone,), node)

    return tuple(want for want in daemons.wants(term) if not is_met(want))


class Daemons(msgspec.Struct, frozen=True):
    """A DaemonSet, and a pod as its controller makes them."""

    key: Key
    pod: Pod
    terms: tuple[NodeSelectorTerm, ...]

    def wants(self, term: NodeSelectorTerm) -> Iterator[NodeSelectorRequirement]:
        """What one alternative needs of a node."""
        for key, value in sorted(self.pod.spec.node_selector.items()):
            yield NodeSelectorRequirement(key, "In", (value,))
        yield from (*term.match_expressions, *term.match_fields)

    def is_selected(self, node: Node) -> bool:
        """Whether the labels of a node will do."""
        return matches(self.pod.spec.node_selector, required_terms(self.pod), node)


@derived_for_each()
def _idle_of(state: ClusterState, driver: str) -> IdleDaemonSet | None:
    """The one that is named after the driver; none where another such runs."""
    found = named_after(driver, state)
    nodes = state.inventory.nodes.values()
    for each in found:
        if each.key in nodes_of_daemons(state):
            return None
        if any(each.is_selected(node) and not refused_by(each, node, state) for node in nodes):
            return None
    return _why(driver, found[0], state) if found else None


@derived("pods")
def nodes_of_daemons(state: ClusterState) -> dict[Key, set[str]]:
    """Where each DaemonSet has pods, empty for one that waits: many pods wait for drivers, and it takes all pods."""
    nodes: dict[Key, set[str]] = {}
    for pod in state.inventory.pods.values():
        for owner in pod.metadata.owner_references:
            if owner.kind == DAEMON_SET:
                nodes.setdefault(Key(pod.metadata.namespace, owner.name), set()).add(pod.spec.node_name)
    return nodes


def named_after(driver: str, state: ClusterState) -> list[Daemons]:
    """The DaemonSets that by their names are a driver's, by name."""
    return sorted(_named_after(driver, state), key=lambda each: each.key)


def _named_after(driver: str, state: ClusterState) -> Iterator[Daemons]:
    """Those whose names have all words of the driver's; its pods' labels and images count."""
    words, joined = words_of(driver)
    for (kind, _, _), workload in state.inventory.workloads.items():
        template = workload.spec.template if isinstance(workload, WorkloadObject) else None
        if kind != DAEMON_SET or template is None:
            continue
        spec = template.spec
        text = names_in(workload.metadata, template.metadata.labels, spec)
        named = joined in text or (words and all(word in text for word in words))
        if named and _OF_DRA.search(text):
            pod = Pod(spec=msgspec.structs.replace(spec, tolerations=daemon_tolerations(spec)))
            yield Daemons(key_of(workload.metadata), pod, required_terms(pod) or (NodeSelectorTerm(),))


def refused_by(daemons: Daemons, node: Node, state: ClusterState) -> tuple[str, ...]:
    """The taints of the node that keep its pod away."""
    comparison = state.features.toleration_comparison
    return tuple(map(taint_text, untolerated(node.spec.taints, daemons.pod.spec.tolerations, comparison)))


def _why(driver: str, daemons: Daemons, state: ClusterState) -> IdleDaemonSet:
    ref, nodes = ObjectRef.of(DAEMON_SET, daemons.key), list(state.inventory.nodes.values())
    selected = [node for node in nodes if daemons.is_selected(node)]
    if selected:
        taints = dict.fromkeys(text for node in selected for text in refused_by(daemons, node, state))
        return IdleDaemonSet(ref, taints=tuple(taints), tainted=_names(selected))
    wants = tuple(" and ".join(map(requirement_text, daemons.wants(term))) for term in daemons.terms)
    labels, chosen = next(_labels(daemons, nodes, state), ({}, []))
    marked = {node.metadata.name: marks for node in chosen if (marks := marks_of(driver, node))}
    return IdleDaemonSet(
        ref,
        wants,
        tuple(f"{key}={value}" for key, value in labels.items()),
        _names([node for node in chosen if node.metadata.name in marked]),
        tuple(dict.fromkeys(mark for marks in marked.values() for mark in marks)),
    )


def _names(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(sorted(node.metadata.name for node in nodes))


def _labels(
    daemons: Daemons, nodes: Sequence[Node], state: ClusterState
) -> Iterator[tuple[Mapping[str, str], list[Node]]]:
    """Labels that somebody may set, fewest first, those that a program takes away again last; with the nodes that
    would then get a pod.
    """
    for wants in sorted((tuple(daemons.wants(term)) for term in daemons.terms), key=_trouble):
        labels = _settable(wants)
        fitting = (node for node in nodes if labels and _would_be_selected(daemons, node, labels))
        chosen = [node for node in fitting if not refused_by(daemons, node, state)]
        if chosen:
            yield labels, chosen


def _settable(wants: Iterable[NodeSelectorRequirement]) -> dict[str, str]:
    """The labels among them that somebody may set."""
    return {
        each.key: each.values[0] if each.values else "true"
        for each in wants
        if each.operator in ("In", "Exists") and each.key != NAME_FIELD and not GIVEN.match(each.key)
    }


def _trouble(wants: Sequence[NodeSelectorRequirement]) -> tuple[bool, int]:
    return any(each.key.startswith(_DISCOVERED) for each in wants), len(wants)


def _would_be_selected(daemons: Daemons, node: Node, labels: Mapping[str, str]) -> bool:
    """Whether more labels are enough; those that the node has stay as they are, as ``kubectl label`` leaves them."""
    metadata = msgspec.structs.replace(node.metadata, labels={**labels, **node.metadata.labels})
    return daemons.is_selected(msgspec.structs.replace(node, metadata=metadata))


def marks_of(driver: str, node: Node) -> tuple[str, ...]:
    """The labels of a node with a word of the driver's name: they may tell of its hardware."""
    words, _ = words_of(driver)
    labels = (f"{key}={value}" for key, value in sorted(node.metadata.labels.items()) if not GIVEN.match(key))
    return tuple(text for text in labels if any(word in text.lower() for word in words))
