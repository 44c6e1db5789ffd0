"""Scores of PodTopologySpread: soft constraints, or the two that every scheduler has for pods of a workload.

Upstream: plugins/podtopologyspread (scoring.go, plugin.go systemDefaultConstraints).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.scheduler.framework import MAX_SCORE, Cycle
from kubectl_dra.scheduler.in_tree import ZONE
from kubectl_dra.scheduler.plugins.default_selector import default_selector
from kubectl_dra.scheduler.plugins.spread_constraints import Inclusion, SpreadConstraint, constraints_of, has_all_keys
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, Status

_SKEW_OF_HOSTS: Final = 3
_SKEW_OF_ZONES: Final = 5


def score(cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
    """0 to 100 per node, in their order; SKIP where there is nothing to spread."""
    own = bool(cycle.pod.spec.topology_spread_constraints)
    constraints = constraints_of(cycle.pod, "ScheduleAnyway") if own else _defaults(cycle)
    if not constraints:
        return SKIP
    # With its own constraints, a node without one of the labels is out of the question.
    taking_part = [i for i, node in enumerate(nodes) if not own or has_all_keys(node.labels, constraints)]
    sums = dict.fromkeys(taking_part, 0.0)
    inclusion = Inclusion(cycle.pod, cycle.features)
    for constraint in constraints:
        values = {i: nodes[i].labels.get(constraint.topology_key) for i in taking_part}
        counts = _counts(cycle, constraint, constraints if own else (), inclusion, values, nodes)
        weight = math.log(_domains(constraint, values) + 2)
        for i, value in values.items():
            if value is not None:
                sums[i] += counts[i] * weight + (constraint.max_skew - 1)
    return _normalised([_rounded(sums[i]) if i in sums else None for i in range(len(nodes))])


def _defaults(cycle: Cycle) -> tuple[SpreadConstraint, ...]:
    selector = default_selector(cycle.snapshot, cycle.pod)
    if not selector:
        return ()
    return SpreadConstraint(HOSTNAME, _SKEW_OF_HOSTS, selector), SpreadConstraint(ZONE, _SKEW_OF_ZONES, selector)


def _domains(constraint: SpreadConstraint, values: Mapping[int, str | None]) -> int:
    """How many domains the nodes make; of hostnames upstream counts the nodes."""
    if constraint.topology_key == HOSTNAME:
        return len(values)
    return len({value if value is not None else "" for value in values.values()})


def _counts(
    cycle: Cycle,
    constraint: SpreadConstraint,
    needed: Sequence[SpreadConstraint],
    inclusion: Inclusion,
    values: Mapping[int, str | None],
    nodes: Sequence[NodeInfo],
) -> dict[int, int]:
    """Pods in the domain of each node: on the node itself for hostnames, else on all nodes that count."""
    snapshot = cycle.snapshot
    on_node: dict[str, int] = {}
    for placed in constraint.pods(snapshot, cycle.pod.metadata.namespace):
        for name, number in placed.items():
            on_node[name] = on_node.get(name, 0) + number
    if constraint.topology_key == HOSTNAME:
        return {i: on_node.get(nodes[i].name, 0) for i in values}
    in_domain: dict[str, int] = {}
    for name, number in on_node.items():
        node = snapshot.nodes[name]
        if has_all_keys(node.labels, needed) and inclusion.counts(constraint, node):
            value = node.labels.get(constraint.topology_key, "")
            in_domain[value] = in_domain.get(value, 0) + number
    return {i: in_domain.get(value, 0) if value is not None else 0 for i, value in values.items()}


def _rounded(value: float) -> int:
    """Half away from zero, as Go's math.Round; nothing here is negative."""
    return math.floor(value + 0.5)


def _normalised(raw: Sequence[int | None]) -> list[int]:
    known = [each for each in raw if each is not None]
    least, most = min(known, default=0), max(known, default=0)
    if most == 0:
        return [0 if each is None else MAX_SCORE for each in raw]
    return [0 if each is None else MAX_SCORE * (most + least - each) // most for each in raw]
