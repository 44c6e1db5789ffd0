"""A PodGroup with its pods as the scheduler knows them: those that wait, in their order, and those that have a node.

Upstream: backend/cache/podgroupstate.go, framework/types.go (PodGroupMemberPodsOrderingFunc), validatePodGroup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.cluster.state import DEFAULT_SCHEDULER
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.snapshot import Snapshot

NEVER: Final = "Never"
_LOWER: Final = "PreemptLowerPriority"


@derived("pods")
def _waiting(state: ClusterState) -> Mapping[Key, tuple[Pod, ...]]:
    found: dict[Key, list[Pod]] = {}
    for pod in state.inventory.pods.values():
        group = pod.spec.scheduling_group
        if group is not None and not pod.spec.node_name and not is_terminal(pod):
            found.setdefault(Key(pod.metadata.namespace, group.pod_group_name), []).append(pod)
    return {key: tuple(sorted(pods, key=_order)) for key, pods in found.items()}


def _order(pod: Pod) -> tuple[int, str, str]:
    """Priority, then who came first into the queue; attempts, which go before that, can't be read."""
    return -(pod.spec.priority or 0), pod.metadata.creation_timestamp or "", pod.metadata.name


@derived("nodes", "usage", read=True)
def _on_nodes(state: ClusterState) -> Mapping[Key, tuple[tuple[PodInfo, str], ...]]:
    found: dict[Key, list[tuple[PodInfo, str]]] = {}
    for node, usage in (state.usage or {}).items():
        for pod in usage.placed:
            if pod.shape.group:
                found.setdefault(Key(pod.key.namespace, pod.shape.group), []).append((pod, node))
    return {key: tuple(pods) for key, pods in found.items()}


def members_waiting(snapshot: Snapshot, group: Key) -> tuple[Pod, ...]:
    """The pods of a group that have no node, those that are being deleted and other schedulers' included."""
    return _waiting(snapshot.state).get(group, ())


def members_on_nodes(snapshot: Snapshot, group: Key) -> tuple[tuple[PodInfo, str], ...]:
    """The pods of a group that have a node and are not finished, and their nodes."""
    return _on_nodes(snapshot.state).get(group, ())


def priority_of(snapshot: Snapshot, pod: PodInfo) -> int:
    """The priority that protects a pod from being evicted: that of its group if it has one."""
    group = snapshot.inventory.groups.pod_groups.get(Key(pod.key.namespace, pod.shape.group))
    return pod.shape.priority if group is None else group.spec.priority or 0


@dataclass(frozen=True)
class Gang:
    """One group in one snapshot."""

    snapshot: Snapshot
    group: PodGroup

    @cached_property
    def key(self) -> Key:
        """Namespace and name."""
        return key_of(self.group.metadata)

    @cached_property
    def waiting(self) -> tuple[Pod, ...]:
        """The pods in the scheduler's queue, in the order in which they are tried."""
        profiles = self.snapshot.state.schedulers
        pods = members_waiting(self.snapshot, self.key)
        return tuple(pod for pod in pods if (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in profiles)

    @cached_property
    def tried(self) -> tuple[Pod, ...]:
        """Those of them that a cycle is about: the others are being deleted."""
        return tuple(pod for pod in self.waiting if pod.metadata.deletion_timestamp is None)

    @cached_property
    def scheduled(self) -> tuple[tuple[PodInfo, str], ...]:
        """The pods that have a node, and which."""
        return members_on_nodes(self.snapshot, self.key)

    @property
    def priority(self) -> int:
        """The priority of the group."""
        return self.group.spec.priority or 0

    @property
    def known(self) -> int:
        """How many pods there are, whatever scheduler they are for."""
        return len(members_waiting(self.snapshot, self.key)) + len(self.scheduled)

    @property
    def preempts(self) -> bool:
        """Whether it may evict others: by its own policy where that feature is on, else by that of all its pods."""
        if self.snapshot.features.pod_group_preemption_policy:
            return self.group.spec.preemption_policy != NEVER
        return all(pod.spec.preemption_policy != NEVER for pod in self.tried)

    def violation(self) -> str:
        """Why the pods can't be a group: the first thing that one of them has otherwise; empty if nothing."""
        return next(self._violations(), "")

    def _violations(self) -> Iterator[str]:
        pods = self.snapshot.inventory.pods
        on_nodes = (pods[pod.key] for pod, _ in self.scheduled if pod.key in pods)
        everyone = (*self.waiting, *on_nodes)
        by_group = self.snapshot.features.pod_group_preemption_policy
        scheduler = everyone[0].spec.scheduler_name if everyone else ""
        policy = _policy(self.group.spec.preemption_policy) if by_group else ""
        for pod in everyone:
            if pod.spec.scheduler_name != scheduler:
                yield (
                    "all pods in a single pod group should have the same .spec.schedulerName set, "
                    f'got: "{pod.spec.scheduler_name}" and "{scheduler}"'
                )
            if (pod.spec.priority or 0) != self.priority:
                yield (
                    "all pods in a single pod group should have the same priority as the pod group's priority, "
                    f"got {pod.spec.priority or 0} and {self.priority}"
                )
            own = _policy(pod.spec.preemption_policy)
            policy = policy or own
            if own != policy:
                whose = " as the pod group's preemption policy" if by_group else ""
                yield (
                    f"all pods in a single pod group should have the same preemption policy{whose}, "
                    f"got {own} and {policy}"
                )


def _policy(text: str | None) -> str:
    return text if text is not None else _LOWER
