"""Pods of lower priority that are nominated for a node: whether they wait, or are being bound, can't be read.

Upstream: since 1.35 (NominatedNodeNameForExpectation) a pod that waits on Permit, or has something to write before it
is bound, is nominated for its node like one that has evicted others (schedule_one.go, nominator.go). The first counts
on the node whatever its priority, the second does not count for pods of higher priority: so it is taken here.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Pod
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podneeds import in_group, uses_storage
from kubectl_dra.scheduler.attempt import Attempt
from kubectl_dra.scheduler.extended import ClassMap, asked, served_resources
from kubectl_dra.scheduler.filtering import about_to_come, filter_beside


def taken_to_wait(found: Attempt) -> tuple[Key, ...]:
    """The pods because of which no node would fit if they were being bound; nothing where some node fits either way."""
    cycle = found.cycle
    bound = {key_of(pod.metadata) for pod in may_be_being_bound(cycle.snapshot.state, cycle.pod)}
    if not bound:
        return ()
    decisive: list[Key] = []
    for name in found.feasible:
        pods = [pod for pod in cycle.snapshot.nominated.get(name, ()) if pod.key in bound]
        node = cycle.snapshot.nodes[name]
        if not pods or filter_beside(cycle, node, (*about_to_come(cycle, node), *pods)).status.ok:
            return ()
        decisive += (pod.key for pod in pods)
    return tuple(sorted(decisive))


def may_be_being_bound(state: ClusterState, pod: Pod) -> tuple[Pod, ...]:
    """Nominated pods of lower priority than ``pod`` for which something is written before they are bound."""
    if not (state.nominated and state.features.nominates_what_is_being_bound):
        return ()
    served, priority = served_resources(state), pod.spec.priority or 0
    return tuple(
        each for each in state.nominated if (each.spec.priority or 0) < priority and _has_to_be_written(served, each)
    )


def supposed_being_bound(state: ClusterState, pods: Iterable[Pod], pod: Pod) -> ClusterState:
    """The cluster in which ``pods`` count on their nodes for ``pod``, whatever their priority was."""
    raised = {
        key_of(each.metadata): replace(each, spec=replace(each.spec, priority=pod.spec.priority)) for each in pods
    }
    return state.changed(state.inventory.replace(pods=edited(state.inventory.pods, raised)))


def _has_to_be_written(served: ClassMap, pod: Pod) -> bool:
    """Whether something is written before the pod is bound, or it waits for others of its group."""
    by_class = any(name in served for name in asked(pod))
    return bool(pod.spec.resource_claims) or by_class or uses_storage(pod) or in_group(pod)
