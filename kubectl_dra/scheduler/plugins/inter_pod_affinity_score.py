"""Scores of InterPodAffinity: preferred terms of the pod, and what pods that are there prefer or require.

Upstream: plugins/interpodaffinity (scoring.go); a required affinity of pods that are there counts 1
(hardPodAffinityWeight).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.model.podinfo import PodShape
from kubectl_dra.model.terms import AffinityTerm
from kubectl_dra.scheduler.framework import Cycle
from kubectl_dra.scheduler.scores import MAX_SCORE
from kubectl_dra.scheduler.snapshot import NodeInfo, Placed
from kubectl_dra.scheduler.status import SKIP, Status

_HARD_WEIGHT: Final = 1
Weighted = tuple[int, AffinityTerm]


def score(cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
    """0 to 100 per node, in their order; SKIP where nobody prefers anything."""
    worth = _worth(cycle)
    if not worth:
        return SKIP
    raw = [_sum(worth, node.labels) for node in nodes]
    least, most = min(raw), max(raw)
    if least == most:
        return [0] * len(raw)
    return [int(MAX_SCORE * ((each - least) / (most - least))) for each in raw]


def _sum(worth: Mapping[str, Mapping[str, int]], labels: Mapping[str, str]) -> int:
    return sum(values.get(labels[key], 0) for key, values in worth.items() if key in labels)


def _worth(cycle: Cycle) -> dict[str, dict[str, int]]:
    """Key of a label to value to what it is worth."""
    from kubectl_dra.scheduler.plugins.inter_pod_affinity import resolved

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
            _add(found, cycle, placed, hits)
    return found


def _theirs(shape: PodShape, own: PodShape, labels: Mapping[str, str]) -> Iterator[Weighted]:
    terms = shape.terms
    yield from _matching([(_HARD_WEIGHT, term) for term in terms.required_affinity], own, labels)
    yield from _matching(terms.preferred_affinity, own, labels)
    yield from _matching([(-weight, term) for weight, term in terms.preferred_anti_affinity], own, labels)


def _matching(terms: Sequence[Weighted], own: PodShape, labels: Mapping[str, str]) -> Iterator[Weighted]:
    return (each for each in terms if each[1].matches(own.namespace, own.labels, labels))


def _add(found: dict[str, dict[str, int]], cycle: Cycle, placed: Placed, hits: Sequence[Weighted]) -> None:
    for name, number in placed.nodes.items():
        labels = cycle.snapshot.nodes[name].labels
        for weight, term in hits:
            value = labels.get(term.topology_key)
            if value is not None:
                values = found.setdefault(term.topology_key, {})
                values[value] = values.get(value, 0) + weight * number
