"""What pods take of a node: sums per node, as the scheduler counts them, and the pods themselves.

Upstream: the scheduler's NodeInfo.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from kubectl_dra.model.core import Pod
from kubectl_dra.model.podinfo import PodInfo, PodInfos, pod_info
from kubectl_dra.model.requests import Amounts, HostPort, add_to, sum_of
from kubectl_dra.model.terms import AffinityTerm

_KEY: Final = attrgetter("key")
TERMINAL: Final = frozenset({"Succeeded", "Failed"})
_NO_TERMS: Final[Mapping[AffinityTerm, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """Sums over the pods of one node: number of pods, requested amounts, taken host ports (ip, protocol, port).

    ``repels``: the required anti-affinity of the pods, and how many of them have it. ``placed``: the pods, each with
    what plugins read of it. ``non_zero``: cpu and memory as they count for scoring.
    """

    pods: int = 0
    requests: Mapping[str, int] = field(default_factory=dict)
    ports: frozenset[HostPort] = frozenset()
    repels: Mapping[AffinityTerm, int] = field(default_factory=lambda: _NO_TERMS)
    placed: tuple[PodInfo, ...] = ()
    non_zero: Mapping[str, int] = field(default_factory=dict)

    def plus(self, other: NodeUsage) -> NodeUsage:
        """Both together."""
        repels = _added(self.repels, other.repels) if other.repels else self.repels
        return NodeUsage(
            self.pods + other.pods,
            sum_of((self.requests, other.requests)),
            self.ports | other.ports,
            repels,
            tuple(sorted(self.placed + other.placed, key=_KEY)),
            sum_of((self.non_zero, other.non_zero)),
        )

    def minus(self, pod: NodeUsage) -> NodeUsage:
        """Without one of the pods.

        As upstream, a port is free then even if another pod that stays has it, too.
        """
        requests = {name: value - pod.requests.get(name, 0) for name, value in self.requests.items()}
        left = {each: count - pod.repels.get(each, 0) for each, count in self.repels.items()}
        repels = {each: count for each, count in left.items() if count > 0}
        gone = {each.key for each in pod.placed}
        placed = tuple(each for each in self.placed if each.key not in gone)
        non_zero = {name: value - pod.non_zero.get(name, 0) for name, value in self.non_zero.items()}
        return NodeUsage(self.pods - pod.pods, requests, self.ports - pod.ports, repels, placed, non_zero)


def usage_of(info: PodInfo) -> NodeUsage:
    """What one pod takes of its node."""
    shape = info.shape
    repels = dict.fromkeys(shape.terms.required_anti_affinity, 1) or _NO_TERMS
    return NodeUsage(1, shape.requests, shape.ports, repels, (info,), shape.non_zero)


def pod_usage(pod: Pod) -> NodeUsage:
    """The same of a pod as it was read; what an unfinished resize still holds or already got counts too."""
    return usage_of(pod_info(pod))


def is_terminal(pod: Pod) -> bool:
    """Whether the pod no longer takes anything."""
    return pod.status.phase in TERMINAL


def usage_by_node(pods: Iterable[Pod], infos: PodInfos | None = None) -> dict[str, NodeUsage]:
    """Sums per node name over all bound pods that are not finished.

    Who reads pods in several parts hands over the same ``infos`` for all of them.
    """
    infos = PodInfos() if infos is None else infos
    placed: dict[str, list[PodInfo]] = {}
    for pod in pods:
        if pod.spec.node_name and not is_terminal(pod):
            placed.setdefault(pod.spec.node_name, []).append(infos.of(pod))
    return {node: sum_of_pods(infos) for node, infos in placed.items()}


def sum_of_pods(infos: Collection[PodInfo]) -> NodeUsage:
    """What pods of one node take together; the pods in order of their names, in whatever order they became known."""
    infos = sorted(infos, key=_KEY)
    requests: Amounts = {}
    non_zero: Amounts = {}
    ports: set[HostPort] = set()
    repels: dict[AffinityTerm, int] = {}
    for info in infos:
        add_to(requests, info.shape.requests)
        add_to(non_zero, info.shape.non_zero)
        ports.update(info.shape.ports)
        for each in set(info.shape.terms.required_anti_affinity):
            repels[each] = repels.get(each, 0) + 1
    return NodeUsage(len(infos), requests, frozenset(ports), repels or _NO_TERMS, tuple(infos), non_zero)


def _added(a: Mapping[AffinityTerm, int], b: Mapping[AffinityTerm, int]) -> Mapping[AffinityTerm, int]:
    return {each: a.get(each, 0) + b.get(each, 0) for each in {**a, **b}}
