"""What pods take of a node: sums per node, as the scheduler counts them, and the pods themselves.

Upstream: the scheduler's NodeInfo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.podinfo import PodInfo, PodInfos, SharedPodInfos, pod_info
from kubectl_dra.model.requests import Amounts, HostPort, add_to, sum_of

_KEY: Final = attrgetter("key")
TERMINAL: Final = frozenset({"Succeeded", "Failed"})
_NO_PORTS: Final[frozenset[HostPort]] = frozenset()


class NodeUsage(msgspec.Struct, frozen=True):
    """Sums over the pods of one node: number of pods, requested amounts, taken host ports (ip, protocol, port).

    ``placed``: the pods, each with what plugins read of it. ``non_zero``: cpu and memory as they count for scoring.
    """

    pods: int = 0
    requests: Mapping[str, int] = msgspec.field(default_factory=dict)
    ports: frozenset[HostPort] = frozenset()
    placed: tuple[PodInfo, ...] = ()
    non_zero: Mapping[str, int] = msgspec.field(default_factory=dict)

    def plus(self, other: NodeUsage) -> NodeUsage:
        return NodeUsage(
            self.pods + other.pods,
            sum_of((self.requests, other.requests)),
            self.ports | other.ports,
            tuple(sorted(self.placed + other.placed, key=_KEY)),
            sum_of((self.non_zero, other.non_zero)),
        )

    def minus(self, pod: NodeUsage) -> NodeUsage:
        """Without one of the pods.

        As upstream, a port is free then even if another pod that stays has it, too.
        """
        requests = {name: value - pod.requests.get(name, 0) for name, value in self.requests.items()}
        gone = {each.key for each in pod.placed}
        placed = tuple(each for each in self.placed if each.key not in gone)
        non_zero = {name: value - pod.non_zero.get(name, 0) for name, value in self.non_zero.items()}
        return NodeUsage(self.pods - pod.pods, requests, self.ports - pod.ports, placed, non_zero)


class Ledger:
    """The sums of one node from which pods go and to which they come, one by one; otherwise like NodeUsage.

    Each change costs what the pod has, whatever else is on the node.
    """

    __slots__ = ("_come", "_gone", "_usage", "pods", "ports", "requests")

    def __init__(self, usage: NodeUsage | Ledger) -> None:
        self._usage = usage
        self._gone: dict[Key, PodInfo] = {}
        self._come: dict[Key, PodInfo] = {}
        self.pods: int = usage.pods
        self.requests: Amounts = dict(usage.requests)
        self.ports: set[HostPort] = set(usage.ports)

    def add(self, pod: PodInfo) -> None:
        if self._gone.pop(pod.key, None) is None:
            self._come[pod.key] = pod
        self.pods += 1
        for name, value in pod.shape.requests.items():
            self.requests[name] = self.requests.get(name, 0) + value
        self.ports |= pod.shape.ports

    def remove(self, pod: PodInfo) -> None:
        """A pod goes, and takes its ports with it as :meth:`NodeUsage.minus` does."""
        if self._come.pop(pod.key, None) is None:
            self._gone[pod.key] = pod
        self.pods -= 1
        for name, value in pod.shape.requests.items():
            self.requests[name] = self.requests.get(name, 0) - value
        self.ports -= pod.shape.ports

    @property
    def placed(self) -> tuple[PodInfo, ...]:
        """The pods that are there, in order of their names."""
        stay = (pod for pod in self._usage.placed if pod.key not in self._gone)
        return tuple(sorted((*stay, *self._come.values()), key=_KEY))

    @property
    def non_zero(self) -> Mapping[str, int]:
        """Cpu and memory as they count for scoring."""
        return self.kept().non_zero

    def kept(self) -> NodeUsage:
        """As it is now, whatever comes or goes later."""
        return replace(sum_of_pods(self.placed), ports=frozenset(self.ports))

    def plus(self, other: NodeUsage) -> NodeUsage:
        """As NodeUsage."""
        return self.kept().plus(other)

    def minus(self, pod: NodeUsage) -> NodeUsage:
        """As NodeUsage."""
        return self.kept().minus(pod)


def usage_of(info: PodInfo) -> NodeUsage:
    """What one pod takes of its node."""
    shape = info.shape
    return NodeUsage(1, shape.requests, shape.ports, (info,), shape.non_zero)


def pod_usage(pod: Pod) -> NodeUsage:
    """The same of a pod as it was read; what an unfinished resize still holds or already got counts too."""
    return usage_of(pod_info(pod))


def is_terminal(pod: Pod) -> bool:
    """Whether the pod no longer takes anything."""
    return pod.status.phase in TERMINAL


def usage_by_node(pods: Iterable[Pod]) -> dict[str, NodeUsage]:
    """Sums per node name over all bound pods that are not finished."""
    shared = SharedPodInfos(PodInfos())
    placed: dict[str, list[PodInfo]] = {}
    for pod in pods:
        if pod.spec.node_name and not is_terminal(pod):
            placed.setdefault(pod.spec.node_name, []).append(shared.of(pod))
    return {node: sum_of_pods(infos) for node, infos in placed.items()}


def sum_of_pods(infos: Collection[PodInfo]) -> NodeUsage:
    """What pods of one node take together; the pods in order of their names, in whatever order they became known."""
    infos = sorted(infos, key=_KEY)
    requests: Amounts = {}
    non_zero: Amounts = {}
    ports: set[HostPort] = set()
    # Replicas have one shape, which is added once.
    shapes = [info.shape for info in infos]
    known = {id(shape): shape for shape in shapes}
    for identity, times in Counter(map(id, shapes)).items():
        shape = known[identity]
        add_to(requests, shape.requests, times)
        add_to(non_zero, shape.non_zero, times)
        ports.update(shape.ports)
    return NodeUsage(len(infos), requests, frozenset(ports) if ports else _NO_PORTS, tuple(infos), non_zero)
