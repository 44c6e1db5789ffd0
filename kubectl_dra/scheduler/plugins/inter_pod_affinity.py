"""InterPodAffinity: what a pod asks of the company it has, and what pods that are there ask of it.

Upstream: plugins/interpodaffinity (filtering.go, scoring.go; a required affinity of pods that are there counts 1,
hardPodAffinityWeight). Matching pods are counted once per attempt, by label of their node,
from the snapshot's groups of pods alike; then come the scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from kubectl_dra.model.podinfo import PodInfo, PodShape
from kubectl_dra.model.terms import AffinityTerm, selects
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import MAX_SCORE, PASS, Cycle, Plugin, PodsMatter, PreFilterResult
from kubectl_dra.scheduler.snapshot import AlikePods, NodeInfo, Snapshot
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, unknown, unresolvable, unschedulable
from kubectl_dra.scheduler.tally import LabelTally

AFFINITY_TEXT: Final = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY_TEXT: Final = "node(s) didn't match pod anti-affinity rules"
EXISTING_TEXT: Final = "node(s) didn't satisfy existing pods anti-affinity rules"
_HARD_WEIGHT: Final = 1
Weighted = tuple[int, AffinityTerm]


class Unmet(msgspec.Struct, frozen=True):
    """Which of the pod's own terms a node does not meet; ``anti``: those of its anti-affinity."""

    terms: tuple[AffinityTerm, ...]
    anti: bool = False


class RepellingPods(msgspec.Struct, frozen=True):
    """By which labels of the node pods that are there keep the pod away."""

    keys: tuple[str, ...]


class MatchingPods(msgspec.Struct):
    """Matching pods by label of their node.

    ``existing``: pods whose anti-affinity keeps the pod away; ``affinity``: pods that meet all terms of the pod's
    affinity; ``anti``: pods that its anti-affinity is about. ``namespace_labels`` are those of the pod's namespace.
    """

    required: tuple[AffinityTerm, ...]
    anti_terms: tuple[AffinityTerm, ...]
    namespace_labels: Mapping[str, str]
    existing: LabelTally
    affinity: LabelTally
    anti: LabelTally

    def clone(self) -> MatchingPods:
        """A copy whose figures can be changed."""
        figures = self.existing.clone(), self.affinity.clone(), self.anti.clone()
        return MatchingPods(self.required, self.anti_terms, self.namespace_labels, *figures)


class InterPodAffinity(Plugin):
    """``spec.affinity.podAffinity`` and ``podAntiAffinity`` of both sides."""

    name: ClassVar[str] = "InterPodAffinity"
    pods: ClassVar[PodsMatter] = PodsMatter.EITHER_WAY
    weight: ClassVar[int] = 2

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Count who matches whom, over all nodes of the cluster."""
        snapshot, shape = cycle.snapshot, cycle.info.shape
        if problems := shape.terms.problems:
            text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
            return PreFilterResult(unresolvable(f"parsing pod: {text}"))
        own = snapshot.labels_of_namespace(shape.namespace)
        state = MatchingPods(
            tuple(resolved(snapshot, term) for term in shape.terms.required_affinity),
            tuple(resolved(snapshot, term) for term in shape.terms.required_anti_affinity),
            own,
            _existing(snapshot, shape, own),
            LabelTally(),
            LabelTally(),
        )
        if _needs_namespaces(snapshot, shape):
            return PreFilterResult(unknown("Namespace"))
        if not (state.existing or state.required or state.anti_terms):
            return PreFilterResult(SKIP)
        if state.required or state.anti_terms:
            if not snapshot.complete("Pod"):
                return PreFilterResult(unknown("Pod"))
            _count_own(snapshot, state)
        cycle.write(state)
        return PASS

    def reads(self, cycle: Cycle) -> kinds.Reading:
        """The labels by which terms say what is near."""
        state = cycle.read(MatchingPods)
        keys = [term.topology_key for term in (*state.required, *state.anti_terms)]
        return kinds.labels(list(dict.fromkeys((*keys, *state.existing.keys))))

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """The pod's affinity, its anti-affinity, then that of pods that are there."""
        state, labels = cycle.read(MatchingPods), node.labels
        if not _has_company(cycle, state, labels):
            return unresolvable(AFFINITY_TEXT, detail=Unmet(tuple(_missing(state, labels))))
        if state.anti and (broken := tuple(t for t in state.anti_terms if state.anti.at(t.topology_key, labels) > 0)):
            return unschedulable(ANTI_AFFINITY_TEXT, detail=Unmet(broken, anti=True))
        if state.existing and (keys := state.existing.keys_at(labels)):
            return unschedulable(EXISTING_TEXT, detail=RepellingPods(keys))
        return SUCCESS

    def minds(self, cycle: Cycle, shape: PodShape) -> bool:
        """A pod that a term of the pod is about, or one that keeps the pod away."""
        state, snapshot, own = cycle.read(MatchingPods), cycle.snapshot, cycle.info.shape
        repelled = shape.terms.required_anti_affinity
        return (
            any(term.matches(own.namespace, own.labels, state.namespace_labels) for term in repelled)
            or _matches_all(state.required, shape, snapshot)
            or any(_matches(term, shape, snapshot) for term in state.anti_terms)
        )

    def add_pod(self, cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
        _change(cycle, pod.shape, node, 1)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
        _change(cycle, pod.shape, node, -1)

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """Preferred terms of both sides: 0 to 100 per node, in their order; SKIP where nobody prefers anything."""
        worth = _worth(cycle)
        if not worth:
            return SKIP
        raw = [_sum_of(worth, node.labels) for node in nodes]
        least, most = min(raw), max(raw)
        if least == most:
            return [0] * len(raw)
        return [int(MAX_SCORE * ((each - least) / (most - least))) for each in raw]


def _needs_namespaces(snapshot: Snapshot, shape: PodShape) -> bool:
    """Whether labels of namespaces decide that were not read."""
    if snapshot.complete("Namespace"):
        return False
    terms = shape.terms
    if any(term.namespace_selector for term in (*terms.required_affinity, *terms.required_anti_affinity)):
        return True
    blind = shape.namespace not in snapshot.inventory.namespaces
    return blind and any(term.needs_labels_of(shape.namespace) for term in snapshot.anti_affinity)


def resolved(snapshot: Snapshot, term: AffinityTerm) -> AffinityTerm:
    """A term of the pod that is placed, its selector of namespaces replaced by the names of those that exist.

    Upstream: mergeAffinityTermNamespacesIfNotEmpty; an empty selector stays, as it takes namespaces without an object.
    """
    if not term.namespace_selector:
        return term
    found = (
        name
        for name, namespace in snapshot.inventory.namespaces.items()
        if selects(term.namespace_selector, namespace.metadata.labels)
    )
    return AffinityTerm(term.topology_key, term.namespaces.union(found), term.selector)


def _add(tally: LabelTally, term: AffinityTerm, labels: Mapping[str, str], number: int) -> None:
    value = labels.get(term.topology_key)
    if value is not None:
        tally.add(term.topology_key, value, number)


def _existing(snapshot: Snapshot, shape: PodShape, own: Mapping[str, str]) -> LabelTally:
    found = LabelTally()
    for term, pairs in snapshot.anti_affinity.items():
        if term.matches(shape.namespace, shape.labels, own):
            for (key, value), number in pairs.items():
                found.add(key, value, number)
    return found


def _count_own(snapshot: Snapshot, state: MatchingPods) -> None:
    for placed in snapshot.placed:
        shape = placed.shape
        hits = [(state.anti, term) for term in state.anti_terms if _matches(term, shape, snapshot)]
        if _matches_all(state.required, shape, snapshot):
            hits += [(state.affinity, term) for term in state.required]
        if hits:
            for name, number in placed.nodes.items():
                labels = snapshot.nodes[name].labels
                for tally, term in hits:
                    _add(tally, term, labels, number)


def _matches(term: AffinityTerm, shape: PodShape, snapshot: Snapshot) -> bool:
    """The pod's terms name their namespaces, so that labels of namespaces play no part any more."""
    return term.matches(shape.namespace, shape.labels, snapshot.labels_of_namespace(shape.namespace))


def _matches_all(terms: Iterable[AffinityTerm], shape: PodShape, snapshot: Snapshot) -> bool:
    """Whether one pod meets all terms; where there are none, nobody does."""
    found = False
    for term in terms:
        if not _matches(term, shape, snapshot):
            return False
        found = True
    return found


def _has_company(cycle: Cycle, state: MatchingPods, labels: Mapping[str, str]) -> bool:
    if not state.required:
        return True
    if any(term.topology_key not in labels for term in state.required):
        return False
    if state.affinity:
        return all(state.affinity.at(term.topology_key, labels) > 0 for term in state.required)
    # The first pod of a series may come anywhere.
    return _matches_all(state.required, cycle.info.shape, cycle.snapshot)


def _missing(state: MatchingPods, labels: Mapping[str, str]) -> Iterable[AffinityTerm]:
    for term in state.required:
        if state.affinity.at(term.topology_key, labels) <= 0:
            yield term


def _change(cycle: Cycle, shape: PodShape, node: NodeInfo, delta: int) -> None:
    state, snapshot, own = cycle.read(MatchingPods), cycle.snapshot, cycle.info.shape
    for term in shape.terms.required_anti_affinity:
        if term.matches(own.namespace, own.labels, state.namespace_labels):
            _add(state.existing, term, node.labels, delta)
    if _matches_all(state.required, shape, snapshot):
        for term in state.required:
            _add(state.affinity, term, node.labels, delta)
    for term in state.anti_terms:
        if _matches(term, shape, snapshot):
            _add(state.anti, term, node.labels, delta)


# --- scores: what the pod prefers, and what pods that are there prefer or require -------------------------------------


def _sum_of(worth: Mapping[str, Mapping[str, int]], labels: Mapping[str, str]) -> int:
    return sum(values.get(labels[key], 0) for key, values in worth.items() if key in labels)


def _worth(cycle: Cycle) -> dict[str, dict[str, int]]:
    """Key of a label to value to what it is worth."""
    snapshot, own = cycle.snapshot, cycle.info.shape
    terms = own.terms
    mine: list[Weighted] = [(weight, resolved(snapshot, term)) for weight, term in terms.preferred_affinity]
    mine += [(-weight, resolved(snapshot, term)) for weight, term in terms.preferred_anti_affinity]
    found: dict[str, dict[str, int]] = {}
    for placed in snapshot.placed if mine else snapshot.placed_with_terms:
        shape = placed.shape
        labels = snapshot.labels_of_namespace(shape.namespace)
        hits = [each for each in mine if each[1].matches(shape.namespace, shape.labels, labels)]
        hits += _theirs(shape, own, snapshot.labels_of_namespace(own.namespace))
        if hits:
            _reward(found, cycle, placed, hits)
    return found


def _theirs(shape: PodShape, own: PodShape, labels: Mapping[str, str]) -> Iterator[Weighted]:
    terms = shape.terms
    yield from _matching([(_HARD_WEIGHT, term) for term in terms.required_affinity], own, labels)
    yield from _matching(terms.preferred_affinity, own, labels)
    yield from _matching([(-weight, term) for weight, term in terms.preferred_anti_affinity], own, labels)


def _matching(terms: Sequence[Weighted], own: PodShape, labels: Mapping[str, str]) -> Iterator[Weighted]:
    return (each for each in terms if each[1].matches(own.namespace, own.labels, labels))


def _reward(found: dict[str, dict[str, int]], cycle: Cycle, placed: AlikePods, hits: Sequence[Weighted]) -> None:
    for name, number in placed.nodes.items():
        labels = cycle.snapshot.nodes[name].labels
        for weight, term in hits:
            value = labels.get(term.topology_key)
            if value is not None:
                values = found.setdefault(term.topology_key, {})
                values[value] = values.get(value, 0) + weight * number
