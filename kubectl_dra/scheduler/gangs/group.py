"""A PodGroup with its pods as the scheduler knows them: those that wait, in their order, and those that have a node.

Upstream: backend/cache/podgroupstate.go, framework/types.go (PodGroupMemberPodsOrderingFunc), validatePodGroup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.snapshot import Snapshot

NEVER: Final = "Never"
_LOWER: Final = "PreemptLowerPriority"
_SCHEDULER, _PRIORITY, _POLICY = "schedulerName", "priority", "preemptionPolicy"


class Difference(NamedTuple):
    """What one pod has in a ``field`` of its spec, and what its group has, or most others; ``by_group``: the former.

    ``text``: the scheduler's words about it.
    """

    pod: Key
    field: str
    value: str
    wanted: str
    text: str = ""
    by_group: bool = False


def queue_order(pod: Pod) -> tuple[int, str, str]:
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
    pods = snapshot.state.inventory.pods_by_group.get(group, ())
    return tuple(sorted((pod for pod in pods if not pod.spec.node_name and not is_terminal(pod)), key=queue_order))


def members_on_nodes(snapshot: Snapshot, group: Key) -> tuple[tuple[PodInfo, str], ...]:
    """The pods of a group that have a node and are not finished, and their nodes."""
    return _on_nodes(snapshot.state).get(group, ())


def priority_of(snapshot: Snapshot, pod: PodInfo) -> int:
    """The priority that protects a pod from being evicted: that of its group if it has one."""
    group = snapshot.inventory.groups.pod_groups.get(Key(pod.key.namespace, pod.shape.group))
    return pod.shape.priority if group is None else group.spec.priority or 0


@dataclass(frozen=True)
class Gang:
    snapshot: Snapshot
    group: PodGroup

    @cached_property
    def key(self) -> Key:
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
        return members_on_nodes(self.snapshot, self.key)

    @property
    def priority(self) -> int:
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
        return next((each.text for each in self._violations()), "")

    def differing(self) -> tuple[Difference, ...]:
        """What the pods have otherwise of the first such thing, each pod once.

        Where nothing but the pods themselves says what all should have, it is what most of them have.
        """
        found = list(self._violations())
        if not found or found[0].by_group:
            return tuple(each for each in found if each.field == found[0].field)
        field = found[0].field
        values = [(key_of(pod.metadata), _value(pod, field)) for pod in self._everyone()]
        usual = Counter(value for _, value in values).most_common(1)[0][0]
        return tuple(Difference(key, field, value, usual) for key, value in values if value != usual)

    def _everyone(self) -> tuple[Pod, ...]:
        pods = self.snapshot.inventory.pods
        return (*self.waiting, *(pods[pod.key] for pod, _ in self.scheduled if pod.key in pods))

    def _violations(self) -> Iterator[Difference]:
        everyone = self._everyone()
        by_group = self.snapshot.features.pod_group_preemption_policy
        scheduler = everyone[0].spec.scheduler_name if everyone else ""
        policy = _policy(self.group.spec.preemption_policy) if by_group else ""
        for pod in everyone:
            if pod.spec.scheduler_name != scheduler:
                text = (
                    "all pods in a single pod group should have the same .spec.schedulerName set, "
                    f'got: "{pod.spec.scheduler_name}" and "{scheduler}"'
                )
                yield Difference(key_of(pod.metadata), _SCHEDULER, pod.spec.scheduler_name, scheduler, text)
            if (pod.spec.priority or 0) != self.priority:
                got, wanted = str(pod.spec.priority or 0), str(self.priority)
                text = (
                    "all pods in a single pod group should have the same priority as the pod group's priority, "
                    f"got {got} and {wanted}"
                )
                yield Difference(key_of(pod.metadata), _PRIORITY, got, wanted, text, by_group=True)
            own = _policy(pod.spec.preemption_policy)
            policy = policy or own
            if own != policy:
                whose = " as the pod group's preemption policy" if by_group else ""
                text = (
                    f"all pods in a single pod group should have the same preemption policy{whose}, "
                    f"got {own} and {policy}"
                )
                yield Difference(key_of(pod.metadata), _POLICY, own, policy, text, by_group=by_group)


def _value(pod: Pod, field: str) -> str:
    return pod.spec.scheduler_name if field == _SCHEDULER else _policy(pod.spec.preemption_policy)


def _policy(text: str | None) -> str:
    return text if text is not None else _LOWER
