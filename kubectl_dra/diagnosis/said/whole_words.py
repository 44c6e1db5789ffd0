"""What the scheduler's message says by itself, where the objects that it speaks of could not be read.

Errors that end an attempt name their object: the claim and the device of a selector, the quota that forbids a claim.
What nodes are rejected for is often a field of the pod, and another pod of its namespace may be whom it collides with.
Upstream: allocator_stable.go (selectorsMatch), plugin/pkg/admission/resourcequota, defaultpreemption.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.makers import said_shortages
from kubectl_dra.diagnosis.gates.quota import with_users
from kubectl_dra.diagnosis.records import Cause, FatalError, GroupShortage, ObjectRef, Observed, Preemption
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key, key_of
from kubectl_dra.model.requests import host_ports
from kubectl_dra.model.terms import AffinityTerm, selector_text, terms_of
from kubectl_dra.scheduler import binder
from kubectl_dra.scheduler.plugins import (
    inter_pod_affinity,
    node_affinity,
    node_ports,
    pod_topology_spread,
    volume_restrictions,
    volume_zone,
)
from kubectl_dra.scheduler.plugins.spread_constraints import constraints_of
from kubectl_dra.scheduler.preemption import TERMINATING
from kubectl_dra.scheduler.storage import used_claims

_SELECTOR: Final = re.compile(
    r'running "DynamicResources" filter plugin: (?P<owner>(?:claim (?P<namespace>[^/\s]+)/|class )(?P<name>[^\s:]+)): '
    r"selector #(?P<selector>\d{1,9}) on device (?P<device>\S+): CEL runtime error: (?P<detail>.*)",
    re.DOTALL,
)
#: Upstream: schedule_one_podgroup.go; GangScheduling's PlacementFeasible.
_GANG: Final = re.compile(
    r"pod group is unschedulable, minCount \((?P<least>\d{1,9})\) cannot be satisfied: (?P<placed>\d{1,9}) scheduled, "
    r"\d+ remaining"
)
#: What the scheduler adds to a missing key.
_HINT: Final = ". consider using CEL optional chaining"
_AT_MOST: Final = 3
K = TypeVar("K")
#: ``NAME on NODE``, and the pod's key.
_User = tuple[str, Key]
_Users = Mapping[K, Sequence[_User]]
#: Upstream: component-helpers/storage/volume, AnnSelectedNode.
_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_ONE_POD: Final = "ReadWriteOncePod"
_HARD: Final = "DoNotSchedule"
#: Labels that controllers give their pods, which nobody writes into a term.
_MADE: Final = (
    *("pod-template-hash", "controller-revision-hash", "/pod-name", "/pod-index", "controller-uid"),
    *("job-completion-index", "pod-template-generation"),
)


def causes(state: ClusterState, pod: Pod, seen: Observed | None) -> Iterator[Cause]:
    """What ends every attempt, by the words alone."""
    if seen is None or seen.status != "False":
        return
    found = _SELECTOR.match(seen.message)
    if found is not None:
        of_class = found["namespace"] is None
        claim = None if of_class else ObjectRef.of("ResourceClaim", Key(found["namespace"], found["name"]))
        detail = found["detail"].partition(_HINT)[0].strip()
        error = FatalError(seen.message, found["device"], int(found["selector"]), found["owner"], detail=detail)
        yield Cause(Code.CLASS_SELECTOR_FAILS if of_class else Code.SELECTOR_FAILS, error, claim)
    namespace, features = pod.metadata.namespace, state.features
    for each in said_shortages(seen.message):
        yield Cause(Code.QUOTA_EXCEEDED, with_users(each, namespace, state.inventory, features))
    yield from _of_group(state, pod, seen)


def _of_group(state: ClusterState, pod: Pod, seen: Observed) -> Iterator[Cause]:
    """How many of the pods that start together find a node; those that have one already are among them."""
    group, found = group_key(pod), _GANG.match(seen.message)
    if group is None or found is None:
        return
    least, placed = int(found["least"]), int(found["placed"])
    waiting = sum(not each.spec.node_name for each in state.inventory.pods_by_group.get(group, ()))
    shortage = GroupShortage(ObjectRef.of("PodGroup", group), least, 0, placed, max(waiting, least))
    yield Cause(Code.POD_GROUP_UNPLACED, shortage)


def beside(state: ClusterState, pod: Pod, found: Iterable[Cause], seen: Observed | None) -> tuple[Cause, ...]:
    """What else was found, behind what the words say; that the API server refused something says less than they."""
    said = tuple(causes(state, pod, seen))
    return (*said, *(each for each in found if not said or each.code is not Code.API_ERROR_AT_BINDING))


def under_way(pod: Pod, seen: Observed | None) -> Preemption | None:
    """That pods on the node that it is nominated for are being ended for it; which ones is not known."""
    node = pod.status.nominated_node_name
    if not node or seen is None or seen.status != "False" or TERMINATING not in seen.message:
        return None
    return Preemption(TERMINATING, (node,), under_way=True)


def of_pod(state: ClusterState, pod: Pod, text: str) -> tuple[str, tuple[str, ...]]:
    """Which field of the pod a node does not meet, and pods of its namespace (``NAME on NODE``) that take it."""
    match text:
        case node_affinity.TEXT:
            if _requires_affinity(pod):
                return "", ()  # either may be what these nodes do not match
            return ", ".join(f"{key}={value}" for key, value in sorted(pod.spec.node_selector.items())), ()
        case node_ports.TEXT:
            ports = sorted({(protocol, port) for _, protocol, port in host_ports(pod)})
            taken = ((pod.metadata.namespace, *port) for port in ports)
            text = ", ".join(f"{port}/{protocol}" for protocol, port in ports)
            return text, _others(_port_users(state), pod, taken)
        case volume_restrictions.CLAIM_IN_USE:
            names = _alone(state, pod)
            volumes = (Key(pod.metadata.namespace, name) for name in names)
            return ", ".join(sorted(names)), _others(_volume_users(state), pod, volumes)
        case binder.NODE_CONFLICT | volume_zone.CONFLICT | "node(s) had volume node affinity conflict":
            return " or ".join(_bound(state, pod)), ()
        case pod_topology_spread.UNEVEN:
            return _spread(state, pod)
        case inter_pod_affinity.AFFINITY_TEXT:
            return _terms(terms_of(pod).required_affinity), ()
        case inter_pod_affinity.ANTI_AFFINITY_TEXT:
            avoided = terms_of(pod).required_anti_affinity
            return _terms(avoided), _others(
                _meant(state, pod.metadata.namespace, avoided, lambda other: _is_meant(avoided, other)), pod, (True,)
            )
        case inter_pod_affinity.EXISTING_TEXT:
            return _repelled(state, pod)
    return "", ()


def _spread(state: ClusterState, pod: Pod) -> tuple[str, tuple[str, ...]]:
    """Its only hard constraint, and who counts for it; of several it may be any."""
    hard = constraints_of(pod, _HARD)
    if len(hard) != 1:
        return "", ()
    (only,) = hard
    counted = _meant(state, pod.metadata.namespace, only, lambda other: only.matches(other.metadata.labels))
    return f"maxSkew {only.max_skew} over {only.topology_key}", _others(counted, pod, (True,))


def _repelled(state: ClusterState, pod: Pod) -> tuple[str, tuple[str, ...]]:
    """The labels by which others know the pod, and those of its namespace that it may not be beside."""
    labels = {key: value for key, value in pod.metadata.labels.items() if not key.endswith(_MADE)}
    wish = ", ".join(f"{key}={value}" for key, value in sorted(labels.items())) if len(labels) <= _AT_MOST else ""
    repelling = _repelling(state).get(pod.metadata.namespace, {})
    found = (name for terms, names in repelling.items() if _is_meant(terms, pod) for name in names)
    return wish, tuple(sorted(found)[:_AT_MOST])


def _terms(terms: Iterable[AffinityTerm]) -> str:
    return ", ".join(f"{selector_text(each.selector)} per {each.topology_key}" for each in terms)


def _is_meant(terms: Iterable[AffinityTerm], other: Pod) -> bool:
    """Whether one of the terms is about this pod, whatever labels its namespace has."""
    namespace, labels = other.metadata.namespace, other.metadata.labels
    return any(not each.needs_labels_of(namespace) and each.matches(namespace, labels, {}) for each in terms)


@derived("pods")
def _repelling(state: ClusterState) -> Mapping[str, Mapping[tuple[AffinityTerm, ...], Sequence[str]]]:
    """By namespace the terms of required anti-affinity there are, and pods (``NAME on NODE``) that have them.

    Pods of one workload have the same, and each of many that wait is asked about.
    """
    found: dict[str, dict[tuple[AffinityTerm, ...], list[str]]] = {}
    for key, pod in state.inventory.pods.items():
        if pod.spec.node_name and (terms := terms_of(pod).required_anti_affinity):
            found.setdefault(key.namespace, {}).setdefault(terms, []).append(f"{key.name} on {pod.spec.node_name}")
    return {
        namespace: {terms: sorted(names)[:_AT_MOST] for terms, names in there.items()}
        for namespace, there in found.items()
    }


@derived("pods")
def _selected(_state: ClusterState) -> dict[object, _Users[bool]]:
    """Whom a selector of a namespace takes, or terms mean: pods of one workload have the same."""
    return {}


def _meant(state: ClusterState, namespace: str, by: object, takes: Callable[[Pod], bool]) -> _Users[bool]:
    """The pods of a namespace that ``takes``; ``by`` tells what is asked from what else is."""
    known = _selected(state)
    if (namespace, by) not in known:
        known[namespace, by] = _users(
            state, lambda pod: (True,) if pod.metadata.namespace == namespace and takes(pod) else ()
        )
    return known[namespace, by]


def _requires_affinity(pod: Pod) -> bool:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    return affinity is not None and affinity.required_during_scheduling_ignored_during_execution is not None


def _alone(state: ClusterState, pod: Pod) -> frozenset[str]:
    """Its claims for a volume that one pod at a time may use, as far as they were read; else all of its claims."""
    stored, namespace = state.inventory.storage.claims, pod.metadata.namespace
    names = frozenset(used_claims(pod.spec.volumes))
    known = {name: stored.get(Key(namespace, name)) for name in names}
    of_one = {name for name, claim in known.items() if claim is not None and _ONE_POD in claim.spec.access_modes}
    return frozenset(of_one) or names


def _bound(state: ClusterState, pod: Pod) -> Iterator[str]:
    """Its claims with a volume, which the nodes do not reach: any of them, where there are several."""
    for name in sorted(set(used_claims(pod.spec.volumes))):
        claim = state.inventory.storage.claims.get(Key(pod.metadata.namespace, name))
        if claim is not None and claim.spec.volume_name:
            node = claim.metadata.annotations.get(_SELECTED_NODE, "")
            made = f", made for node {node}" if node else ""
            yield f"{name} (volume {claim.spec.volume_name}{made})"


@derived("pods")
def _port_users(state: ClusterState) -> _Users[tuple[str, str, int]]:
    """By namespace, protocol and number of a host port."""
    return _users(
        state, lambda pod: ((pod.metadata.namespace, protocol, port) for _, protocol, port in host_ports(pod))
    )


@derived("pods")
def _volume_users(state: ClusterState) -> _Users[Key]:
    return _users(state, lambda pod: (Key(pod.metadata.namespace, name) for name in used_claims(pod.spec.volumes)))


def _users(state: ClusterState, taken: Callable[[Pod], Iterable[K]]) -> _Users[K]:
    """Pods that have a node by what they take, as many of each as are named of another pod."""
    found: dict[K, list[_User]] = {}
    for key, pod in state.inventory.pods.items():
        if pod.spec.node_name:
            for each in set(taken(pod)):
                found.setdefault(each, []).append((f"{key.name} on {pod.spec.node_name}", key))
    return {each: sorted(users)[: _AT_MOST + 1] for each, users in found.items()}


def _others(users: _Users[K], pod: Pod, taken: Iterable[K]) -> tuple[str, ...]:
    found = {user for each in taken for user in users.get(each, ())}
    return tuple(text for text, key in sorted(found) if key != key_of(pod.metadata))[:_AT_MOST]
