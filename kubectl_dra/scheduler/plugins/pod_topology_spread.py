"""PodTopologySpread: how unevenly pods may be spread over the values of a node label.

Upstream: plugins/podtopologyspread (filtering.go). Pods are counted once per attempt and value of the label, from the
snapshot's groups of pods alike; scoring is in ``pod_topology_spread_score``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from kubectl_dra.model.podinfo import PodInfo, PodShape
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PodsMatter, PreFilterResult
from kubectl_dra.scheduler.plugins import pod_topology_spread_score
from kubectl_dra.scheduler.plugins.spread_constraints import Inclusion, SpreadConstraint, constraints_of, has_all_keys
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, unknown, unresolvable, unschedulable
from kubectl_dra.scheduler.tally import Domains

MISSING_LABEL: Final = "node(s) didn't match pod topology spread constraints (missing required label)"
UNEVEN: Final = "node(s) didn't match pod topology spread constraints"


class Skew(msgspec.Struct, frozen=True):
    """A node that would be too full: the constraint, and the pods of its domain beside the fewest of any domain.

    ``domains``: how many there are, where they are fewer than there have to be, so that the fewest count as none.
    """

    constraint: SpreadConstraint
    value: str
    count: int
    fewest: int
    domains: int | None = None


class SpreadState(msgspec.Struct):
    """The hard constraints of a pod with their domains, and whether the pod counts itself."""

    constraints: tuple[SpreadConstraint, ...]
    domains: list[Domains]
    itself: tuple[bool, ...]
    inclusion: Inclusion

    def clone(self) -> SpreadState:
        """A copy whose domains can be changed."""
        return SpreadState(self.constraints, [each.clone() for each in self.domains], self.itself, self.inclusion)


class PodTopologySpread(Plugin):
    """``spec.topologySpreadConstraints``."""

    name: ClassVar[str] = "PodTopologySpread"
    pods: ClassVar[PodsMatter] = PodsMatter.EITHER_WAY
    weight: ClassVar[int] = 2

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Count pods per domain, over all nodes of the cluster."""
        constraints = constraints_of(cycle.pod, "DoNotSchedule")
        if not constraints:
            return PreFilterResult(SKIP)
        if not cycle.snapshot.complete("Pod"):
            return PreFilterResult(unknown("Pod"))
        inclusion = Inclusion(cycle.pod, cycle.features)
        domains = [Domains(counts) for counts in _counts(cycle, constraints, inclusion)]
        labels = cycle.pod.metadata.labels
        cycle.write(SpreadState(constraints, domains, tuple(each.matches(labels) for each in constraints), inclusion))
        return PASS

    def reads(self, cycle: Cycle) -> kinds.Reading:
        """The labels over whose values pods are spread."""
        return kinds.labels([each.topology_key for each in cycle.read(SpreadState).constraints])

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """The domain of the node would not have too many more pods than the emptiest one."""
        state = cycle.read(SpreadState)
        for constraint, domains, itself in zip(state.constraints, state.domains, state.itself, strict=True):
            value = node.labels.get(constraint.topology_key)
            if value is None:
                return unresolvable(MISSING_LABEL, detail=constraint)
            count, fewest = domains.count(value), domains.fewest(constraint.min_domains)
            if count + itself - fewest > constraint.max_skew:
                number = len(domains) if len(domains) < constraint.min_domains else None
                return unschedulable(UNEVEN, detail=Skew(constraint, value, count, fewest, number))
        return SUCCESS

    def minds(self, cycle: Cycle, shape: PodShape) -> bool:
        """A pod that a constraint is about."""
        same = shape.namespace == cycle.pod.metadata.namespace
        return same and any(each.matches(shape.labels) for each in cycle.read(SpreadState).constraints)

    def add_pod(self, cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
        _change(cycle, pod, node, 1)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
        _change(cycle, pod, node, -1)

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """Domains with few pods are good."""
        return pod_topology_spread_score.score(cycle, nodes)


def _change(cycle: Cycle, pod: PodInfo, node: NodeInfo, delta: int) -> None:
    """Unlike counting, this neither leaves out pods that are terminating nor takes an empty selector for none."""
    state = cycle.read(SpreadState)
    if pod.key.namespace != cycle.pod.metadata.namespace or not has_all_keys(node.labels, state.constraints):
        return
    for constraint, domains in zip(state.constraints, state.domains, strict=True):
        if constraint.matches(pod.shape.labels) and state.inclusion.counts(constraint, node):
            domains.add(node.labels[constraint.topology_key], delta)


def _counts(cycle: Cycle, constraints: Sequence[SpreadConstraint], inclusion: Inclusion) -> list[dict[str, int]]:
    """Pods per constraint and value; a domain of nodes without such pods has 0."""
    values: list[dict[str, str]] = [{} for _ in constraints]
    for name, node in cycle.snapshot.nodes.items():
        if has_all_keys(node.labels, constraints):
            for constraint, of_constraint in zip(constraints, values, strict=True):
                if inclusion.counts(constraint, node):
                    of_constraint[name] = node.labels[constraint.topology_key]
    return [_count(cycle, constraint, of) for constraint, of in zip(constraints, values, strict=True)]


def _count(cycle: Cycle, constraint: SpreadConstraint, values: Mapping[str, str]) -> dict[str, int]:
    counts = dict.fromkeys(values.values(), 0)
    for nodes in constraint.pods(cycle.snapshot, cycle.pod.metadata.namespace):
        for name, number in nodes.items():
            value = values.get(name)
            if value is not None:
                counts[value] += number
    return counts
