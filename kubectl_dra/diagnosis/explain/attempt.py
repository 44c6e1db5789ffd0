"""One simulated scheduling attempt of one pod, as explanations read it: what happened on which node, and why.

The attempt itself is the scheduler's (``kubectl_dra.scheduler``); here its statuses become results that tell nodes
apart as a reader would. What the words and the verdict are is decided elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Final

import msgspec
from msgspec import structs

from kubectl_dra.allocation.errors import AllocationError
from kubectl_dra.allocation.input.nodes import NAME_FIELD
from kubectl_dra.allocation.outcome import Fatal, Outcome
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain import binding, pre_filter
from kubectl_dra.diagnosis.explain.funnel import NodeExplanation
from kubectl_dra.diagnosis.explain.renaming import ClaimNames
from kubectl_dra.diagnosis.records import Cause, NodeOutcome
from kubectl_dra.model.classic import is_searched
from kubectl_dra.model.core import Node, Pod, Taint
from kubectl_dra.model.features import NEWEST_MINOR
from kubectl_dra.model.requests import HostPort
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler import attempt as engine
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.allocation_errors import allocation_error
from kubectl_dra.scheduler.filtering import NodeVerdict
from kubectl_dra.scheduler.fit_error import DYNAMIC_RESOURCES
from kubectl_dra.scheduler.framework import Plugin
from kubectl_dra.scheduler.plugins.dynamic_resources import (
    LEFT_OVER,
    UNAVAILABLE,
    DevicesOnNode,
    StateData,
    devices_on,
    idle_claims,
)
from kubectl_dra.scheduler.plugins.inter_pod_affinity import RepellingPods
from kubectl_dra.scheduler.plugins.node_affinity import NodeAffinity, names_in_terms, required_terms
from kubectl_dra.scheduler.plugins.node_resources_fit import Lack
from kubectl_dra.scheduler.search import Searched
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import Status, StatusCode

_SAME_NAMES: Final = ClaimNames()
#: What can't be checked without knowing the pods on a node.
NEED_PODS: Final = ("NodePorts", "NodeResourcesFit", "InterPodAffinity")


class Rejection(msgspec.Struct, frozen=True):
    """A node that a plugin rejects: its reasons as they are counted, and what exactly is in the way.

    ``detail`` is what the plugin itself tells, where no other field says it. ``named``: PreFilter left the node out, as
    the pod's affinity names others.
    """

    plugin: str
    texts: tuple[str, ...]
    taint: Taint | None = None
    unmatched: tuple[str, ...] = ()
    ports: tuple[HostPort, ...] = ()
    lacks: tuple[Lack, ...] = ()
    kept_away_by: tuple[str, ...] = ()
    detail: object = None
    named: bool = False


class NodeResult(msgspec.Struct, frozen=True):
    """What happens on a node; nodes with equal results belong together.

    ``texts`` are the reasons as they are counted. ``unavailable`` are positions of claims. ``searched`` None: there was
    nothing to allocate, or what is needed for that could not be read. ``explanation``: what is known without a search.
    ``failure``: the text of an error of another plugin. ``unread``: what plugins could not decide.
    """

    outcome: NodeOutcome
    plugin: str = ""
    texts: tuple[str, ...] = ()
    rejection: Rejection | None = None
    unavailable: tuple[int, ...] = ()
    extended: tuple[str, ...] = ()
    searched: Searched | None = None
    timed_out: bool = False
    explanation: NodeExplanation | None = None
    failure: str = ""
    unread: tuple[Status, ...] = ()

    def on(self, node: Node) -> NodeResult:
        """The same on another node that is alike, with the devices there."""
        if self.searched is None:
            return self
        own = self.searched.on(node)
        return self if own is self.searched else structs.replace(self, searched=own)

    @property
    def outcome_of_search(self) -> Outcome | None:
        """What the search said of nodes alike."""
        return self.searched.shared if self.searched is not None else None

    @property
    def error(self) -> AllocationError | None:
        """The error that this node raises; None where it ran out of time, or another plugin failed."""
        own = self.searched.own if self.searched is not None and not self.timed_out else None
        return own.error if isinstance(own, Fatal) else None

    def error_text(self, names: ClaimNames = _SAME_NAMES, minor: int = NEWEST_MINOR) -> str:
        """The text of the error that this node raises, in the words of Kubernetes 1.``minor``."""
        if self.failure:
            return self.failure
        error = self.error
        if error is not None:
            return allocation_error(names.error(error), minor)
        assert self.searched is not None  # noqa: S101 - only a search raises errors
        return f"node {self.searched.node}: timed out trying to allocate devices"

    def error_message(self, names: ClaimNames = _SAME_NAMES, minor: int = NEWEST_MINOR) -> str:
        """The same as the scheduler writes it into the condition."""
        return self.failure or fit_error.filter_error(self.error_text(names, minor))


class AlikeNodes(msgspec.Struct, frozen=True):
    """Nodes on which the same happens, in their order; ``places`` are those in the Inventory's order.

    ``result`` is that of the first, where devices have names.
    """

    result: NodeResult
    nodes: Sequence[Node]
    places: Sequence[int]

    def by(self, values: Sequence[Hashable]) -> Iterator[AlikeNodes]:
        """Those with the same value, in the order of the first of each."""
        found: dict[Hashable, list[int]] = {}
        for index, value in enumerate(values):
            found.setdefault(value, []).append(index)
        for own in found.values():
            nodes = [self.nodes[index] for index in own]
            yield AlikeNodes(self.result.on(nodes[0]), nodes, [self.places[index] for index in own])


def sorted_by(results: Sequence[NodeResult], at: Sequence[int], nodes: Sequence[Node]) -> Sequence[AlikeNodes]:
    """The nodes by their results; ``at``: which of these each has."""
    places: list[list[int]] = [[] for _ in results]
    for place, number in enumerate(at):
        places[number].append(place)
    found = (pair for pair in zip(results, places, strict=True) if pair[1])
    ordered = sorted(found, key=lambda pair: pair[1][0])
    return [AlikeNodes(result, list(map(nodes.__getitem__, own)), own) for result, own in ordered]


def names_of(alike: Iterable[AlikeNodes]) -> tuple[str, ...]:
    """The names of all these nodes, in the Inventory's order."""
    groups = tuple(alike)
    if len(groups) == 1:
        return tuple([node.metadata.name for node in groups[0].nodes])
    found = [
        (place, node.metadata.name) for each in groups for place, node in zip(each.places, each.nodes, strict=True)
    ]
    found.sort(key=itemgetter(0))
    return tuple([name for _, name in found])


def each_of(alike: Iterable[AlikeNodes]) -> Iterator[tuple[Node, NodeResult]]:
    """Node by node, in the Inventory's order, with the names of devices there."""
    found = [(place, node, each.result) for each in alike for place, node in zip(each.places, each.nodes, strict=True)]
    found.sort(key=itemgetter(0))
    return ((node, result.on(node)) for _, node, result in found)


@dataclass(frozen=True)
class PodAttempt:
    """The whole attempt. ``claims`` are the pod's existing claims in order; ``extended`` the left-over or made-up one.

    ``alike`` has every node of the cluster, in the order of the first ones, unless ``stop`` ended the attempt before.
    ``engine`` is the scheduler's own view of it.
    """

    claims: tuple[ResourceClaim, ...]
    left_over: ResourceClaim | None
    stop: pre_filter.PreFilterStop | None
    alike: tuple[AlikeNodes, ...] = ()
    not_checked: tuple[str, ...] = ()
    failed_bindings: tuple[Cause, ...] = ()
    engine: engine.Attempt | None = None

    @property
    def to_allocate(self) -> tuple[ResourceClaim, ...]:
        """The claims for which the scheduler has to find devices."""
        return tuple(filter(is_searched, self.claims))

    @property
    def unread(self) -> tuple[Status, ...]:
        """What plugins could not decide, about the pod or on any node."""
        found = {status: None for each in self.alike for status in each.result.unread}
        return tuple(found)

    @property
    def texts(self) -> Counter[str]:
        """How many nodes have each of the reasons that are counted."""
        found: Counter[str] = Counter()
        for each in self.alike:
            for text in each.result.texts:
                found[text] += len(each.nodes)
        return found

    @cached_property
    def results(self) -> tuple[tuple[Node, NodeResult], ...]:
        """What happens on every node, in the Inventory's order."""
        return tuple(each_of(self.alike))

    def idle(self, pod: Pod) -> list[int]:
        """Positions of claims that are in the way on some node and that nobody else uses."""
        return idle_claims(pod, self.claims, (i for each in self.alike for i in each.result.unavailable))

    def nodes(self, outcome: NodeOutcome) -> list[tuple[Node, NodeResult]]:
        return list(each_of(each for each in self.alike if each.result.outcome is outcome))

    def fitting(self, name: str) -> tuple[Node, NodeResult]:
        """One of the nodes that fit: to name the devices on each of thousands takes longer than the attempt."""
        fits = (each for each in self.alike if each.result.outcome is NodeOutcome.FITS)
        return next((node, each.result.on(node)) for each in fits for node in each.nodes if node.metadata.name == name)

    def names(self, outcome: NodeOutcome) -> tuple[str, ...]:
        return names_of(each for each in self.alike if each.result.outcome is outcome)

    def number(self, outcome: NodeOutcome) -> int:
        return sum(len(each.nodes) for each in self.alike if each.result.outcome is outcome)


def attempt(
    state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], among: Collection[str] | None = None
) -> PodAttempt:
    """Try to schedule ``pod`` with its existing ``claims``, those of its entries in their order."""
    return Attempting(state, pod, claims, among).run()


class Attempting:
    """One attempt under way; generations that have other rules run other :attr:`plugins`.

    ``among``: only these nodes are tried, beside the whole cluster.
    """

    def __init__(
        self, state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], among: Collection[str] | None = None
    ) -> None:
        self.state = state
        self.pod = pod
        self.claims = tuple(claims)
        self.among = among

    @property
    def plugins(self) -> Sequence[Plugin]:
        """The plugins to run; empty for those of the default profile."""
        return ()

    def run(self) -> PodAttempt:
        return self.of(engine.attempt(Snapshot(self.state), self.pod, self.plugins, self.among))

    def of(self, found: engine.Attempt) -> PodAttempt:
        """The whole of an attempt that the scheduler has made on this cluster."""
        state = found.cycle.states.get(StateData)
        devices = state if isinstance(state, StateData) else StateData()
        if found.stop is not None:
            after = isinstance(state, StateData)
            stop = pre_filter.stop_of(self.state, found.stop, self.claims, reached_devices=after)
            return PodAttempt(self.claims, devices.left_over, stop, engine=found)
        alike = tuple(self._results(found))
        known = self.state.usage is not None
        failed = tuple(self._failed_bindings(devices))
        return PodAttempt(self.claims, devices.left_over, None, alike, () if known else NEED_PODS, failed, found)

    def _failed_bindings(self, devices: StateData) -> Sequence[Cause]:
        state = self.state
        claims = (self.claims[index] for index in devices.unusable if index < len(self.claims))
        causes = (binding.unusable(c, state.features, state.observed_at, state.binding_timeout) for c in claims)
        return [cause for cause in causes if cause is not None]

    def _results(self, found: engine.Attempt) -> Sequence[AlikeNodes]:
        """The nodes that were looked at by what was said of them, and all others."""
        filtered, nodes = found.filtered, self.state.inventory.nodes
        unread = found.selection.unsure
        results = []
        for place, verdict in zip(filtered.kinds.first, filtered.verdicts, strict=True):
            first = filtered.nodes[place]
            results.append(self._result(verdict, devices_on(found.cycle, first.name), unread))
        if len(filtered.nodes) == len(nodes) and self.among is None:
            return sorted_by(results, filtered.kinds.at, tuple(nodes.values()))
        known = {node.name: kind for node, kind in zip(filtered.nodes, filtered.kinds.at, strict=True)}
        order = Snapshot(self.state).places
        names = (
            sorted(filter(nodes.__contains__, self.among), key=order.__getitem__) if self.among is not None else nodes
        )
        plugins = found.selection.plugins
        texts = found.selection.absent.reasons if self.state.features.counts_preselection else ()
        left_out = NodeResult(
            NodeOutcome.REJECTED, plugins[-1] if plugins else "", texts, self._by_name(plugins, texts)
        )
        at = [known.get(name, len(results)) for name in names]
        return sorted_by([*results, left_out], at, [nodes[name] for name in names])

    def _by_name(self, plugins: Sequence[str], texts: tuple[str, ...]) -> Rejection | None:
        """What keeps a pod off all nodes but those that its affinity names, as it keeps one off that has another label.

        None for a pod of a DaemonSet, whose controller names the one node that it is for.
        """
        owner, names = self.pod.metadata.controller, names_in_terms(required_terms(self.pod))
        if not plugins or plugins[-1] != NodeAffinity.name or not names or (owner and owner.kind == "DaemonSet"):
            return None
        wish = f"{NAME_FIELD} In [{' '.join(sorted(names))}]"
        return Rejection(NodeAffinity.name, texts, unmatched=(wish,), named=True)

    def _result(self, verdict: NodeVerdict, devices: DevicesOnNode | None, unread: tuple[Status, ...]) -> NodeResult:
        status, unread = verdict.status, (*unread, *verdict.unsure)
        if isinstance(status.detail, NodeResult):
            return status.detail
        on_node = devices or DevicesOnNode()
        searched, extended = on_node.searched, on_node.extended
        if status.code is StatusCode.ERROR:
            if status.plugin != DYNAMIC_RESOURCES:
                return NodeResult(NodeOutcome.FATAL, status.plugin, failure=status.message)
            late = on_node.timed_out
            return NodeResult(
                NodeOutcome.FATAL, DYNAMIC_RESOURCES, extended=extended, searched=searched, timed_out=late
            )
        if status.ok and unread:
            own = next((each.detail for each in unread if isinstance(each.detail, NodeResult)), None)
            if own is not None:
                return own
            return NodeResult(
                NodeOutcome.UNDECIDED, unread[-1].plugin, extended=extended, searched=searched, unread=unread
            )
        if status.ok:
            return NodeResult(NodeOutcome.FITS, extended=extended, searched=searched)
        if status.plugin != DYNAMIC_RESOURCES:
            rejection = _rejection(status)
            return NodeResult(NodeOutcome.REJECTED, status.plugin, status.reasons, rejection, unread=unread)
        held = status.reasons in ((LEFT_OVER,), (UNAVAILABLE,))
        outcome = NodeOutcome.CLAIM_UNAVAILABLE if held else NodeOutcome.CANNOT_ALLOCATE
        unavailable = on_node.unavailable
        return NodeResult(
            outcome, DYNAMIC_RESOURCES, status.reasons, None, unavailable, extended, searched, unread=unread
        )


def _rejection(status: Status) -> Rejection:
    plugin, texts, detail = status.plugin, status.reasons, status.detail
    match plugin, detail:
        case _, Taint():
            return Rejection(plugin, texts, taint=detail)
        case _, RepellingPods():
            return Rejection(plugin, texts, kept_away_by=detail.keys)
        case "NodePorts", tuple():
            return Rejection(plugin, texts, ports=detail)
        case "NodeResourcesFit", tuple():
            return Rejection(plugin, texts, lacks=detail)
        case "NodeAffinity", tuple():
            return Rejection(plugin, texts, unmatched=detail)
    return Rejection(plugin, texts, detail=detail)
