"""TaintToleration: taints of nodes that the pod does not tolerate.

Upstream: plugins/tainttoleration, and Toleration.ToleratesTaint of the core API.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

import msgspec

from kubectl_dra.allocation.input import taints
from kubectl_dra.model.core import Taint, Toleration
from kubectl_dra.model.gotext import parse_int
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult, normalised
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SUCCESS, Status, unresolvable

TEXT: Final = "node(s) had untolerated taint(s)"
TEXT_OF_ONE: Final = "node(s) had untolerated taint {{{0.key}: {0.value}}}"
_AVOIDED: Final = "PreferNoSchedule"
_READING: Final = kinds.Reading(kinds.of_nodes, "taints", lambda nodes: [node.node.spec.taints for node in nodes])


def tolerates(toleration: Toleration, taint: Taint, comparison: bool = False) -> bool:
    """Whether one toleration covers one taint; ``comparison``: the operators Gt and Lt are known, of nodes only."""
    if comparison and toleration.operator in ("Gt", "Lt"):
        meant = toleration.effect in ("", taint.effect) and toleration.key in ("", taint.key)
        return meant and _compares(toleration, taint)
    return taints.tolerates(toleration, taint)


def _compares(toleration: Toleration, taint: Taint) -> bool:
    wanted, found = parse_int(toleration.value), parse_int(taint.value)
    if wanted is None or found is None:
        return False
    return found > wanted if toleration.operator == "Gt" else found < wanted


def tolerated(taint: Taint, tolerations: Sequence[Toleration], comparison: bool) -> bool:
    return any(tolerates(toleration, taint, comparison) for toleration in tolerations)


def untolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration], comparison: bool) -> Iterator[Taint]:
    """The taints that keep a pod away, in the node's order."""
    for taint in taints:
        if taint.effect in PREVENTING and not tolerated(taint, tolerations, comparison):
            yield taint


class _Known(msgspec.Struct):
    """Of each list of taints that some node has, what follows."""

    statuses: dict[tuple[Taint, ...], Status] = msgspec.field(default_factory=lambda: {(): SUCCESS})


class TaintToleration(Plugin):
    """``spec.taints`` of nodes."""

    name: ClassVar[str] = "TaintToleration"
    weight: ClassVar[int] = 3

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Nodes with the same taints share an answer."""
        cycle.write(_Known())
        return PASS

    def reads(self, cycle: Cycle) -> kinds.Reading:
        return _READING

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        taints = node.node.spec.taints
        known = cycle.read(_Known).statuses
        found = known.get(taints)
        if found is None:
            found = known[taints] = self._judge(cycle, taints)
        return found

    def _judge(self, cycle: Cycle, taints: tuple[Taint, ...]) -> Status:
        features = cycle.features
        first = next(untolerated(taints, cycle.pod.spec.tolerations, features.toleration_comparison), None)
        if first is None:
            return SUCCESS
        text = TEXT_OF_ONE.format(first) if features.names_untolerated_taint else TEXT
        return unresolvable(text, detail=first)

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """Few taints that say "better not" are good."""
        usable = [t for t in cycle.pod.spec.tolerations if t.effect in ("", _AVOIDED)]
        comparison = cycle.features.toleration_comparison
        raw = [
            sum(t.effect == _AVOIDED and not tolerated(t, usable, comparison) for t in node.node.spec.taints)
            for node in nodes
        ]
        return normalised(raw, reverse=True)
