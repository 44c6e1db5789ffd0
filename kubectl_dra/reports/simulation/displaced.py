"""Why pods that have to leave their nodes find no other place, as why-pending would tell of them then."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.whatif import WhatIf
from kubectl_dra.diagnosis.whatif.records import Drain, PodFate, RemoveNode
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import FoundRemedies

#: So many different reasons are told.
_REASONS = 4


class WithoutPlace(ReportRecord, frozen=True):
    """Displaced ``pods`` of which the scheduler says the same; ``pending``: why the first finds no other node."""

    pods: tuple[ObjectRef, ...]
    pending: PendingReport


def without_place(state: ClusterState, found: WhatIf | None) -> tuple[WithoutPlace, ...]:
    """Those that stay pending in the ``state`` as it is supposed, by what the scheduler says of them."""
    if found is None:
        return ()
    by_message: dict[str, list[ObjectRef]] = {}
    for each in found.of(PodFate.PENDING):
        known = state.inventory.pods.get(each.pod.key)
        if known is not None and not known.spec.node_name:
            by_message.setdefault(each.message, []).append(each.pod)
    left = {each.node for each in found.switches if isinstance(each, Drain | RemoveNode)}
    diagnoser = Diagnoser(state)

    def why(pod: ObjectRef) -> PendingReport:
        return _elsewhere(pending_report(diagnoser.pod(pod.key), state, ways=FoundRemedies()), left)

    return tuple(WithoutPlace(tuple(pods), why(pods[0])) for pods in list(by_message.values())[:_REASONS])


def _elsewhere(pending: PendingReport, left: AbstractSet[str]) -> PendingReport:
    """Without what is said of nodes that pods have ``left`` alone, and of events: nobody has seen these pods yet."""
    missing = tuple(each for each in pending.missing if each.kind != "Event")
    pending = msgspec.structs.replace(pending, missing=missing)
    nodes = tuple(group for group in pending.nodes if not left >= {*group.names})
    causes = tuple(each for each in pending.causes if not each.nodes or not left >= {*each.nodes})
    return msgspec.structs.replace(pending, nodes=nodes, causes=causes) if nodes and causes else pending
