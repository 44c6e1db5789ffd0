"""Pods of one kind share one attempt and its explanation.

Two pods are of one kind when everything that the scheduler's attempt reads of them and of their claims is equal: the
pod's spec apart from the names of its claims, and per claim either its spec or, once it is allocated, the very same
claim. What differs between them is how their claims are called.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from kubectl_dra.allocation.errors import AllocationError
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis import classic
from kubectl_dra.diagnosis.explain.attempt import attempt
from kubectl_dra.diagnosis.explain.causes import ExplainedCauses, explain
from kubectl_dra.diagnosis.explain.renaming import ClaimNames, Renaming
from kubectl_dra.diagnosis.gates.quota import are_read, limits_claims
from kubectl_dra.diagnosis.pod.judgement import Judgement, judge, lacking_admin_label, reworded
from kubectl_dra.diagnosis.pod.preempting import preemption_of
from kubectl_dra.diagnosis.records import Preemption, Verdict
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podinfo import volumes_of
from kubectl_dra.model.podneeds import may_evict
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.terms import NO_TERMS, terms_of
from kubectl_dra.scheduler.claims import is_reserved_for, known_extended_claims
from kubectl_dra.scheduler.extended import asked, served_resources, virtual_claim
from kubectl_dra.scheduler.on_the_way import taken_to_wait
from kubectl_dra.scheduler.snapshot import Snapshot

#: Beyond so many kinds nothing more is remembered: pods that differ so much have little in common.
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Examination:
    """What one attempt gave and why. ``errors`` are those behind the texts of the explanation.

    ``taken_to_wait``: nominated pods that no node would fit beside, if they were being bound already.
    """

    judgement: Judgement
    explanation: ExplainedCauses
    errors: Mapping[str, AllocationError] = field(default_factory=dict)
    preemption: Preemption | None = None
    taken_to_wait: tuple[Key, ...] = ()


class _Known(msgspec.Struct, frozen=True):
    examination: Examination
    claims: tuple[ResourceClaim, ...]


@derived()
def examined(state: ClusterState) -> dict[Hashable, _Known]:
    """The kinds of pods of a state that were examined.

    Nothing that a state keeps may hold the state itself: it would stay in memory until the garbage collector looks
    through everything, which in the terminal UI it hardly ever does.
    """
    return {}


class Examiner:
    """Examines pods of one ClusterState, each kind once; ``known`` are those that were examined before."""

    def __init__(self, state: ClusterState, known: dict[Hashable, _Known] | None = None) -> None:
        self._state = state
        self._known = {} if known is None else known

    def examine(self, pod: Pod, claims: Sequence[ResourceClaim]) -> Examination:
        """The attempt of a pod with its existing ``claims``, those of its entries in their order."""
        kind = kind_of(self._state, pod, claims)
        known = self._known.get(kind) if kind is not None else None
        if known is not None:
            return self._renamed(known, pod, claims)
        found = self._examine(pod, claims)
        # Where no node was looked at, nothing is saved.
        if kind is not None and found.explanation.groups and len(self._known) < _REMEMBERED:
            self._known[kind] = _Known(found, self._with_made_up(pod, claims))
        return found

    def _examine(self, pod: Pod, claims: Sequence[ResourceClaim]) -> Examination:
        if classic.concerns(claims):
            tried = classic.attempt(self._state, pod, claims)
            judgement = classic.judge(self._state, pod, tried)
        else:
            tried = attempt(self._state, pod, claims)
            judgement = judge(self._state, pod, tried)
        explanation = explain(self._state, pod, tried, judgement)
        preemption = None
        if judgement.verdict is Verdict.UNSCHEDULABLE and tried.engine is not None and not classic.concerns(claims):
            preemption = preemption_of(tried.engine)
        waiting = taken_to_wait(tried.engine) if tried.engine is not None and not classic.concerns(claims) else ()
        return Examination(judgement, explanation, explanation.errors, preemption, waiting)

    def _renamed(self, known: _Known, pod: Pod, claims: Sequence[ResourceClaim]) -> Examination:
        mine = self._with_made_up(pod, claims)
        pairs = ((key_of(a.metadata), key_of(b.metadata)) for a, b in zip(known.claims, mine, strict=True))
        names = ClaimNames({theirs: own for theirs, own in pairs if theirs != own})
        found = known.examination
        judgement = reworded(self._state, found.judgement, pod, claims, names)
        if not names.claims:
            return replace(found, judgement=judgement)
        renaming = Renaming(names, found.errors, mine, self._state.inventory.classes, self._state.features.minor)
        return replace(found, judgement=judgement, explanation=found.explanation.renamed(renaming))

    def _with_made_up(self, pod: Pod, claims: Sequence[ResourceClaim]) -> tuple[ResourceClaim, ...]:
        """The claims and the one that the scheduler may make up for extended resources."""
        return (*claims, virtual_claim(pod, (), served_resources(self._state)))


@derived("usage", read=True)
def priorities(state: ClusterState) -> frozenset[int]:
    return frozenset(pod.shape.priority for usage in (state.usage or {}).values() for pod in usage.placed)


def kind_of(state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim]) -> Hashable | None:
    """Equal for pods of one kind; None for a pod about which something is known that concerns it alone."""
    features = state.features
    if classic.concerns(claims):
        return None
    if pod.status.nominated_node_name or (key_of(pod.metadata), pod.metadata.uid) in known_extended_claims(state):
        return None
    if any(claim.status.reserved_for and is_reserved_for(pod, claim, features) for claim in claims):
        return None
    if len({key_of(claim.metadata) for claim in claims}) < len(claims):
        return None
    served = served_resources(state)
    makes_claim = any(name in served for name in asked(pod))
    if makes_claim and limits_claims(state.inventory.quotas.values(), pod):
        return None
    charged = makes_claim and are_read(state, pod.metadata.namespace)
    if any(volume.ephemeral is not None for volume in pod.spec.volumes):
        return None
    counts = state.nominated or may_evict(pod, priorities(state))
    # Of most volumes nothing is read, and the name of the one with the pod's token is its own.
    spec = msgspec.structs.replace(
        pod.spec, resource_claims=(), volumes=volumes_of(pod), priority=pod.spec.priority if counts else None
    )
    return _content(spec), tuple(_claims(claims)), lacking_admin_label(state, pod), charged, _place(state, pod)


def _place(state: ClusterState, pod: Pod) -> Hashable:
    """What other pods, and volumes, make of the pod: its namespace and labels where anybody looks at them."""
    snapshot, namespace, labels = Snapshot(state), pod.metadata.namespace, pod.metadata.labels
    terms = [term for pods in snapshot.nominated.values() for each in pods for term in each.shape.terms.all]
    asks = bool(pod.spec.topology_spread_constraints) or terms_of(pod) != NO_TERMS or bool(volumes_of(pod))
    if asks or terms or not snapshot.complete("Namespace"):
        return namespace, _content(labels)
    own = snapshot.labels_of_namespace(namespace)
    return frozenset(term for term in snapshot.anti_affinity if term.matches(namespace, labels, own))


def _claims(claims: Sequence[ResourceClaim]) -> Iterator[Hashable]:
    """Per claim what is read of it."""
    for claim in claims:
        yield key_of(claim.metadata) if claim.status.allocation is not None else _content(claim.spec)


def _content(value: object) -> Hashable:
    """A value by its content. Maps that differ in the order of their keys differ, which is safe."""
    if isinstance(value, msgspec.Struct):
        return type(value), tuple(_content(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, dict):
        return tuple((key, _content(each)) for key, each in value.items())
    if isinstance(value, tuple):
        return tuple(map(_content, value))
    return bytes(value) if isinstance(value, msgspec.Raw) else _hashable(value)


def _hashable(value: object) -> Hashable:
    assert isinstance(value, Hashable)  # noqa: S101 - texts, numbers and quantities are left
    return value
