"""What filtering and scoring of PodTopologySpread share: parsed constraints, and which nodes and pods count.

Upstream: plugins/podtopologyspread (common.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.model.affinity import TopologySpreadConstraint
from kubectl_dra.model.core import Pod, Taint
from kubectl_dra.model.features import Features
from kubectl_dra.model.meta import NodeSelectorRequirement
from kubectl_dra.model.terms import Requirements, requirements_of, selects
from kubectl_dra.scheduler.plugins.node_affinity import RequiredNodeAffinity, required_terms
from kubectl_dra.scheduler.plugins.taint_toleration import untolerated
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot

_HONOR: Final = "Honor"


class SpreadConstraint(msgspec.Struct, frozen=True):
    """One constraint; ``selector`` None selects nothing."""

    topology_key: str
    max_skew: int
    selector: Requirements | None
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the selector takes a pod with these labels."""
        return selects(self.selector, labels)

    def pods(self, snapshot: Snapshot, namespace: str) -> Iterator[Mapping[str, int]]:
        """Pods of the namespace that count, as numbers by node; an empty selector counts none."""
        if not self.selector:
            return
        for placed in snapshot.placed_by_namespace.get(namespace, ()):
            if not placed.shape.terminating and selects(self.selector, placed.shape.labels):
                yield placed.nodes


def constraints_of(pod: Pod, action: str) -> tuple[SpreadConstraint, ...]:
    """The pod's own constraints with ``whenUnsatisfiable`` ``action``."""
    found = (each for each in pod.spec.topology_spread_constraints if each.when_unsatisfiable == action)
    return tuple(_parsed(each, pod.metadata.labels) for each in found)


def _parsed(constraint: TopologySpreadConstraint, labels: Mapping[str, str]) -> SpreadConstraint:
    """``matchLabelKeys`` are added to a selector; the API server has done so, too, since 1.34."""
    selector = requirements_of(constraint.label_selector)
    if selector is not None:
        keys = (key for key in constraint.match_label_keys if key in labels)
        selector += tuple(NodeSelectorRequirement(key, "In", (labels[key],)) for key in keys)
    return SpreadConstraint(
        constraint.topology_key,
        constraint.max_skew,
        selector,
        constraint.min_domains if constraint.min_domains is not None else 1,
        constraint.node_affinity_policy in (None, _HONOR),
        constraint.node_taints_policy == _HONOR,
    )


def has_all_keys(labels: Mapping[str, str], constraints: Iterable[SpreadConstraint]) -> bool:
    """Whether a node has the label of every constraint; only then its pods count for any."""
    return all(each.topology_key in labels for each in constraints)


class Inclusion:
    """Which nodes count for a pod's constraints, by their policies; asked once per node and per list of taints."""

    def __init__(self, pod: Pod, features: Features) -> None:
        self._wanted = RequiredNodeAffinity(pod.spec.node_selector, required_terms(pod))
        self._tolerations = pod.spec.tolerations
        self._comparison = features.toleration_comparison
        self._by_taints: dict[tuple[Taint, ...], bool] = {(): True}

    def counts(self, constraint: SpreadConstraint, node: NodeInfo) -> bool:
        """Whether a node counts for the constraint."""
        if constraint.honors_affinity and not self._wanted.admits(node.node):
            return False
        return not constraint.honors_taints or self._tolerated(node.node.spec.taints)

    def _tolerated(self, taints: tuple[Taint, ...]) -> bool:
        known = self._by_taints.get(taints)
        if known is None:
            known = next(untolerated(taints, self._tolerations, self._comparison), None) is None
            self._by_taints[taints] = known
        return known
