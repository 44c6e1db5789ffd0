"""Which pods on nodes have what a pod lacks there, or keep it away: by their owners, on whom a person can act."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import ObjectRef, PodsThere, RepellingTerm
from kubectl_dra.model.core import Pod
from kubectl_dra.model.podinfo import PodInfo, pod_info
from kubectl_dra.model.requests import HostPort, pending_resize
from kubectl_dra.model.supposed import is_supposed
from kubectl_dra.model.terms import AffinityTerm, Requirements, selector_text
from kubectl_dra.scheduler.filtering import nominated_beside
from kubectl_dra.scheduler.plugins.node_ports import conflicts
from kubectl_dra.scheduler.plugins.node_volume_limits import counted_volumes
from kubectl_dra.scheduler.plugins.spread_constraints import SpreadConstraint
from kubectl_dra.scheduler.snapshot import Snapshot

#: Of more nodes nobody acts on the pods one by one.
FEW_NODES: Final = 40
_PODS: Final = 3
_OWNERS: Final = 4
#: The node's name, and a pod on it.
Placed = tuple[str, PodInfo]


def repelling_terms(state: ClusterState, pod: Pod, nodes: Sequence[str]) -> tuple[RepellingTerm, ...]:
    """By which terms pods in the topology domains of the nodes keep the pod away; none where the nodes are many.

    Upstream: plugins/interpodaffinity/filtering.go, getExistingAntiAffinityCounts.
    """
    snapshot, meta = Snapshot(state), pod.metadata
    own = snapshot.labels_of_namespace(meta.namespace)
    found: list[RepellingTerm] = []
    for term in snapshot.anti_affinity if len(nodes) <= FEW_NODES else ():
        if not term.matches(meta.namespace, meta.labels, own):
            continue
        alike = (each.shape for each in snapshot.placed_with_terms if term in each.shape.terms.required_anti_affinity)
        shapes = set(map(id, alike))
        placed = _in_domains(snapshot, nodes, term.topology_key, lambda info: id(info.shape) in shapes)  # noqa: B023
        by = by_owner(state, pod, placed)
        if by:
            labels = _named(term.selector, pod)
            found.append(RepellingTerm(term.topology_key, selector_text(term.selector), labels, by))
    return tuple(found)


def matching(state: ClusterState, pod: Pod, term: AffinityTerm, nodes: Sequence[str]) -> tuple[PodsThere, ...]:
    """The pods in the topology domains of the nodes that a term of the pod's own is about."""
    snapshot = Snapshot(state)

    def about(info: PodInfo) -> bool:
        namespace = info.key.namespace
        return term.matches(namespace, info.shape.labels, snapshot.labels_of_namespace(namespace))

    return by_owner(state, pod, _in_domains(snapshot, nodes, term.topology_key, about))


def spread_over(state: ClusterState, pod: Pod, constraint: SpreadConstraint, node: str) -> tuple[PodsThere, ...]:
    """The pods in the topology domain of the node that a spread constraint of the pod counts."""

    def counts(info: PodInfo) -> bool:
        same = info.key.namespace == pod.metadata.namespace and bool(constraint.selector)
        return same and not info.shape.terminating and constraint.matches(info.shape.labels)

    return by_owner(state, pod, _in_domains(Snapshot(state), [node], constraint.topology_key, counts))


def with_ports(state: ClusterState, pod: Pod, ports: Sequence[HostPort], nodes: Sequence[str]) -> tuple[PodsThere, ...]:
    return by_owner(state, pod, _on(Snapshot(state), nodes, lambda info: any(conflicts(ports, info.shape.ports))))


def with_most(state: ClusterState, pod: Pod, resource: str, node: str) -> tuple[PodsThere, ...]:
    """Who has requested the most of a resource of the node; of a group that is placed together nobody is in the way."""

    def has(info: PodInfo) -> bool:
        return _requested(info, resource) > 0 and not _of_its_group(pod, info)

    snapshot = Snapshot(state)
    coming = ((node, info) for info in filter(has, nominated_beside(snapshot, pod_info(pod), node)))
    placed = chain(_on(snapshot, [node], has), coming)
    return by_owner(state, pod, placed, lambda each: _requested(each[1], resource), resource)


def taken_together(state: ClusterState, pod: Pod, resource: str, excess: Mapping[str, int]) -> tuple[ObjectRef, ...]:
    """The pods of the same group or the same files that got nodes, without which none of these would lack a resource.

    ``excess``: how much more than is left of it the pod requests on each node.
    """
    snapshot, found = Snapshot(state), list[PodInfo]()
    for node, lacking in excess.items() if len(excess) <= FEW_NODES else ():
        its = [each for each in snapshot.nodes[node].pods if _came_with(state, pod, each)]
        if sum(_requested(each, resource) for each in its) < lacking:
            return ()
        found += its
    return tuple(ObjectRef.of("Pod", each.key) for each in found)


def _came_with(state: ClusterState, pod: Pod, info: PodInfo) -> bool:
    other = state.inventory.pods.get(info.key)
    return _of_its_group(pod, info) or (other is not None and is_supposed(other))


def _of_its_group(pod: Pod, info: PodInfo) -> bool:
    group = pod.spec.scheduling_group.pod_group_name if pod.spec.scheduling_group is not None else ""
    return bool(group) and (info.key.namespace, info.shape.group) == (pod.metadata.namespace, group)


def with_volumes(state: ClusterState, pod: Pod, driver: str, node: str) -> tuple[PodsThere, ...]:
    """Whose volumes of a CSI driver are attached to the node."""
    snapshot = Snapshot(state)

    def volumes(info: PodInfo) -> int:
        return list(counted_volumes(snapshot, snapshot.nodes[node], info).values()).count(driver)

    placed = _on(snapshot, [node], lambda info: volumes(info) > 0)
    return by_owner(state, pod, placed, lambda each: volumes(each[1]))


def by_owner(
    state: ClusterState,
    pod: Pod,
    placed: Iterable[Placed],
    amount: Callable[[Placed], int] | None = None,
    resource: str = "",
) -> tuple[PodsThere, ...]:
    """The pods by owner, those with the most first; of many owners the first few. ``resource``: of what."""
    owners, pods = Owners(state.inventory), state.inventory.pods
    groups: dict[ObjectRef, PodsThere] = {}
    for each in placed:
        node, info = each
        ref, other = ObjectRef.of("Pod", info.key), pods.get(info.key)
        owner = owners.named(other) if other is not None else None
        known = groups.get(owner or ref) or PodsThere((), 0, (), owner)
        groups[owner or ref] = msgspec.structs.replace(
            known,
            pods=tuple(sorted((*known.pods, ref), key=lambda each: each.key)[:_PODS]),
            count=known.count + 1,
            nodes=tuple(dict.fromkeys((*known.nodes, node))),
            own=known.own or (other is not None and owners.share_workload(pod, other)),
            amount=known.amount + (amount(each) if amount is not None else 0),
            resizing=known.resizing + (pending_resize(other, resource) if resource and other is not None else 0),
            ending=known.ending + info.shape.terminating,
            coming=known.coming + (other is not None and not other.spec.node_name),
        )
    return tuple(sorted(groups.values(), key=lambda each: (-each.amount, -each.count, each.pods[0].key))[:_OWNERS])


def _requested(info: PodInfo, resource: str) -> int:
    return 1 if resource == "pods" else info.shape.requests.get(resource, 0)


def _on(snapshot: Snapshot, nodes: Sequence[str], wanted: Callable[[PodInfo], bool]) -> Iterator[Placed]:
    for name in nodes if len(nodes) <= FEW_NODES else ():
        yield from ((name, info) for info in snapshot.nodes[name].pods if wanted(info))


def _in_domains(
    snapshot: Snapshot, nodes: Sequence[str], key: str, wanted: Callable[[PodInfo], bool]
) -> Iterator[Placed]:
    """The pods on all nodes that share the value of a label with one of the nodes."""
    known = snapshot.nodes
    values = {known[name].labels.get(key) for name in nodes if name in known} - {None}
    for name, node in known.items() if len(nodes) <= FEW_NODES else ():
        if node.labels.get(key) in values:
            yield from ((name, info) for info in node.pods if wanted(info))


def _named(selector: Requirements | None, pod: Pod) -> tuple[str, ...]:
    labels = pod.metadata.labels
    return tuple(f"{each.key}={labels[each.key]}" for each in selector or () if each.key in labels)
