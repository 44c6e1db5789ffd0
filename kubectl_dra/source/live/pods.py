"""Pods as they come in: those that matter to claims are kept, of all others only what they take of their node.

So memory does not grow with the pods of a cluster, only with its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from sys import intern
from typing import Any

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podinfo import PodInfo, PodInfos
from kubectl_dra.model.podneeds import in_group
from kubectl_dra.model.usage import NodeUsage, is_terminal, usage_by_node
from kubectl_dra.source.live.sharing import Sharer, kept


class PodTracker:
    """Takes chunks of a list of pods, and remembers of each what it takes, so that it can be taken away again."""

    def __init__(
        self,
        named: frozenset[Key],
        keep_all: bool,
        known: Callable[[Key], Any],
        sharer: Sharer,
        whole_nodes: frozenset[str] = frozenset(),
    ) -> None:
        self.kept: list[Record] = []
        self.usage: dict[str, NodeUsage] = {}
        self.taken: dict[Key, tuple[str, PodInfo]] = {}
        self._named = named
        self._keep_all = keep_all
        self._known = known
        self._sharer = sharer
        self._whole_nodes = whole_nodes

    def add(self, records: Iterable[Record]) -> None:
        """Take one chunk."""
        for pod in records:
            if isinstance(pod, Pod):
                key = _shared_key(pod)
                if self._keep_all or key in self._named or matters(pod, self._whole_nodes):
                    self.kept.append(kept(pod, self._known, self._sharer))
                if place := taken_by(pod, self._sharer):
                    self.taken[key] = place


class PodReducer:
    """Takes chunks of a list of pods: ``kept`` as the list has them, ``usage`` over all pods, kept ones included."""

    def __init__(
        self,
        named: frozenset[Key] = frozenset(),
        keep_all: bool = False,
        whole_nodes: frozenset[str] = frozenset(),
    ) -> None:
        self.kept: list[Record] = []
        self.usage: dict[str, NodeUsage] = {}
        self._named = named
        self._keep_all = keep_all
        self._whole_nodes = whole_nodes
        self._infos = PodInfos()

    def add(self, records: Iterable[Record]) -> None:
        """Take one chunk."""
        pods = [record for record in records if isinstance(record, Pod)]
        self.kept += [
            pod
            for pod in pods
            if self._keep_all or matters(pod, self._whole_nodes) or key_of(pod.metadata) in self._named
        ]
        add_usage(self.usage, usage_by_node(pods, self._infos))


def taken_by(pod: Pod, sharer: Sharer) -> tuple[str, PodInfo] | None:
    """The node of a pod and what plugins read of it there; None if it takes nothing."""
    if not pod.spec.node_name or is_terminal(pod):
        return None
    return intern(pod.spec.node_name), sharer.pod(pod)


def _shared_key(pod: Pod) -> Key:
    return Key(intern(pod.metadata.namespace), pod.metadata.name)


def add_usage(total: dict[str, NodeUsage], more: Mapping[str, NodeUsage]) -> None:
    """Add sums per node to ``total``."""
    for node, usage in more.items():
        total[node] = total[node].plus(usage) if node in total else usage


def matters(pod: Pod, whole_nodes: frozenset[str] = frozenset()) -> bool:
    """Whether a pod has claims or a group, or waits for a node: what becomes free there, others may take first.

    Every pod on ``whole_nodes`` matters.
    """
    if (
        pod.spec.node_name in whole_nodes
        or pod.spec.resource_claims
        or in_group(pod)
        or pod.status.extended_resource_claim_status is not None
    ):
        return True
    return not pod.spec.node_name and not is_terminal(pod)
