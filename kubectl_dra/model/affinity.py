"""What a pod asks of nodes and of other pods: affinity, and spreading over topologies.

Of a pod that is stored, the API server has merged ``matchLabelKeys`` and ``mismatchLabelKeys`` into the selectors.
"""

from __future__ import annotations

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import LabelSelector, NodeSelector, NodeSelectorTerm


class PreferredSchedulingTerm(Record, frozen=True):
    """``preferredDuringSchedulingIgnoredDuringExecution[]`` of the node affinity."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Record, frozen=True):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(Record, frozen=True):
    """A term about other pods; a selector that is None takes nothing, an empty one everything."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Record, frozen=True):
    """``preferredDuringSchedulingIgnoredDuringExecution[]`` of an affinity or anti-affinity to pods."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Record, frozen=True):
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(Record, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Record, frozen=True):
    """``spec.topologySpreadConstraints[]``. Policies and ``min_domains`` that are None have the scheduler's default."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
