"""The order of the simulated filters, and what one pod asks of them.

Upstream: the default plugins of the scheduler's configuration: NodeName, NodeUnschedulable, TaintToleration,
NodeAffinity, NodePorts, NodeResourcesFit, and of InterPodAffinity the anti-affinity of pods that are there; the first
that rejects a node ends it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kubectl_dra.diagnosis.nodefilters import affinity, ports, repelled, resources, taints
from kubectl_dra.diagnosis.nodefilters.repelled import NOBODY, Repelled
from kubectl_dra.model.core import Node, Pod, Taint, Toleration
from kubectl_dra.model.meta import NodeSelectorTerm
from kubectl_dra.model.requests import HostPort, host_ports, pod_requests
from kubectl_dra.model.usage import NodeUsage, pod_usage

_NO_USAGE: Final = NodeUsage()
NODE_NAME: Final = "NodeName"
NODE_AFFINITY: Final = "NodeAffinity"
#: What can't be checked without knowing the pods on a node.
NEED_PODS: Final = ("NodePorts", "NodeResourcesFit", repelled.PLUGIN)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A node that a plugin rejects: its reasons as they are counted, and what exactly is in the way."""

    plugin: str
    texts: tuple[str, ...]
    taint: Taint | None = None
    unmatched: tuple[str, ...] = ()
    ports: tuple[HostPort, ...] = ()
    lacks: tuple[resources.Lack, ...] = ()
    kept_away_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """All that the filters read of a pod; ``by_class`` are extended resources that DeviceClasses serve."""

    node_name: str
    tolerations: tuple[Toleration, ...]
    node_selector: Mapping[str, str]
    terms: tuple[NodeSelectorTerm, ...] | None
    ports: tuple[HostPort, ...]
    amounts: Mapping[str, int]
    by_class: frozenset[str]

    @staticmethod
    def of(pod: Pod, served: Iterable[str]) -> Request:
        """What ``pod`` asks for; ``served`` are all resource names that classes serve."""
        amounts = resources.counted(pod_requests(pod))
        return Request(
            pod.spec.node_name,
            pod.spec.tolerations,
            pod.spec.node_selector,
            affinity.required_terms(pod),
            tuple(host_ports(pod)),
            amounts,
            frozenset(amounts).intersection(served),
        )


class NodeFilters:
    """The filters of one pod over many nodes.

    ``usage`` None: the pods on nodes are not known. ``away``: from where their anti-affinity keeps the pod.
    ``names_taints``: the reasons name the taint, as until 1.33.
    """

    def __init__(
        self,
        request: Request,
        usage: Mapping[str, NodeUsage] | None,
        nominated: Iterable[Pod] = (),
        *,
        away: Repelled = NOBODY,
        names_taints: bool = False,
    ) -> None:
        self._request = request
        self._away = away
        self._names_taints = names_taints
        self._usage = usage
        self._nominated = _by_node(nominated)
        self._by_taints: dict[tuple[Taint, ...], Taint | None] = {(): None}

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Plugins whose verdict is not final because pods on nodes are not known."""
        return NEED_PODS if self._usage is None else ()

    def reject(self, node: Node) -> Rejection | None:
        """The first rejection of ``node``, None if all filters pass."""
        return self._by_spec(node) or self._by_pods(node) or self._kept_away(node)

    def _by_spec(self, node: Node) -> Rejection | None:
        request = self._request
        if request.node_name and request.node_name != node.metadata.name:
            return Rejection(NODE_NAME, (affinity.NODE_NAME_TEXT,))
        if taints.is_cordoned(node, request.tolerations):
            return Rejection("NodeUnschedulable", (taints.UNSCHEDULABLE_TEXT,))
        taint = self._untolerated(node.spec.taints)
        if taint is not None:
            text = taints.UNTOLERATED_ONE.format(taint) if self._names_taints else taints.UNTOLERATED_TEXT
            return Rejection("TaintToleration", (text,), taint=taint)
        if not affinity.matches(request.node_selector, request.terms, node):
            unmatched = tuple(affinity.unmatched(request.node_selector, request.terms, node))
            return Rejection(NODE_AFFINITY, (affinity.AFFINITY_TEXT,), unmatched=unmatched)
        return None

    def _untolerated(self, found: tuple[Taint, ...]) -> Taint | None:
        if found not in self._by_taints:
            self._by_taints[found] = next(taints.untolerated(found, self._request.tolerations), None)
        return self._by_taints[found]

    def _by_pods(self, node: Node) -> Rejection | None:
        request, usage = self._request, self._usage_of(node.metadata.name)
        if request.ports and (taken := tuple(ports.conflicts(request.ports, usage.ports))):
            return Rejection("NodePorts", (ports.TEXT,), ports=taken)
        found = tuple(resources.lacks(request.amounts, node, usage, request.by_class))
        return Rejection("NodeResourcesFit", tuple(lack.text for lack in found), lacks=found) if found else None

    def _kept_away(self, node: Node) -> Rejection | None:
        nominated = self._nominated.get(node.metadata.name, _NO_USAGE).repels
        if not (self._away.pairs or nominated):
            return None
        keys = tuple(dict.fromkeys(self._away.keys(node, nominated)))
        return Rejection(repelled.PLUGIN, (repelled.TEXT,), kept_away_by=keys) if keys else None

    def _usage_of(self, node: str) -> NodeUsage:
        usage = self._usage.get(node, _NO_USAGE) if self._usage is not None else _NO_USAGE
        nominated = self._nominated.get(node)
        return usage.plus(nominated) if nominated is not None else usage


def preselected(request: Request) -> tuple[frozenset[str] | None, str]:
    """The nodes that are filtered at all (None: every one) and the plugin that says so.

    Pods of a DaemonSet name their node that way. An empty set means that the terms of the affinity contradict
    themselves: then nothing is filtered.
    """
    if request.node_name:
        return frozenset((request.node_name,)), NODE_NAME
    return affinity.names_in_terms(request.terms), NODE_AFFINITY


def _by_node(pods: Iterable[Pod]) -> dict[str, NodeUsage]:
    """What pods that are about to get a node take there."""
    sums: dict[str, NodeUsage] = {}
    for pod in pods:
        node = pod.status.nominated_node_name
        sums[node] = sums.get(node, _NO_USAGE).plus(pod_usage(pod))
    return sums
