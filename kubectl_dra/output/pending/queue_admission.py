"""The words about a pod that Kueue has admitted: its quota stays in use, and Kueue may choose another node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command, fmt
from kubectl_dra.output.words import listed, plural
from kubectl_dra.reports.invocations import changing, kubectl, of
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.queue_admission import QueueAdmission

_AGAIN: Final = (
    "Kueue chose {}, and does not count devices that pods outside its queues hold. To let it choose again (this evicts "
    "all pods of the Workload, and it may choose the same node):"
)
_EVICTED: Final = (
    "Devices that become free now do not help this pod: Kueue has to admit its Workload again first. Resolve what "
    "ended the admission."
)
_FLAVOR: Final = (
    "Kueue put it on {} {}, and adds the node labels of a flavor to the node selector of the pods, however often they "
    "are created. For another flavor, create the {} again with a node selector in its pod template that only nodes of "
    "that flavor match, or have the order of flavors in ClusterQueue {} changed."
)
_WAITING: Final = (Verdict.UNSCHEDULABLE, Verdict.SCHEDULABLE)


def evicted_clause(report: PendingReport) -> Safe | None:
    """Behind ``Pod X is pending``: that Kueue has taken its admission back; None where it has not."""
    found = report.admission
    if found is None or not found.evicted or report.verdict not in _WAITING:
        return None
    name = found.workload.name if found.workload is not None else ""
    words = fmt(": {}", found.words.rstrip(". ")) if found.words else Safe("")
    return fmt(", and Kueue has evicted its Workload {} ({}{}), which ends this pod", name, found.evicted, words)


def by_flavor(found: QueueAdmission | None) -> Safe:
    """Behind where a pod may run: that Kueue chose so, by adding to its node selector; empty where it has not."""
    if found is None or not found.flavors or found.assigned:
        return Safe("")
    return fmt(", as Kueue put it on {} {}", Safe(plural("flavor", len(found.flavors))), listed(found.flavors))


def admission_lines(report: PendingReport, address: Address) -> Iterator[Safe]:
    """What waiting costs, and how Kueue is made to choose again; nothing for a pod that fits now."""
    found = report.admission
    if evicted_clause(report) is not None:
        yield from wrapped(Safe(_EVICTED))
        return
    if found is None or report.verdict is not Verdict.UNSCHEDULABLE:
        return
    if found.cluster_queue and found.owner is not None:
        text = "Kueue has admitted {} {}: its quota in ClusterQueue {} stays in use while it waits."
        yield from wrapped(fmt(text, found.owner.kind, found.owner.name, found.cluster_queue))
    if found.flavors and not found.assigned and found.owner is not None and _selects(report):
        noun = Safe(plural("flavor", len(found.flavors)))
        yield from wrapped(fmt(_FLAVOR, noun, listed(found.flavors), found.owner.kind, found.cluster_queue))
    if not (found.assigned and found.workload is not None):
        return
    target = of("workload.kueue.x-k8s.io", found.workload.name, found.workload.namespace)
    lines = []
    for active in ("false", "true"):
        patch = f'{{"spec":{{"active":{active}}}}}'
        lines.append(command(changing(kubectl("patch", target, "--type=merge", "-p", patch), address) or ()))
    if target is None or None in lines:
        return
    yield from wrapped(fmt(_AGAIN, found.assigned))
    yield from (fmt("  {}", line) for line in lines if line is not None)


def _selects(report: PendingReport) -> bool:
    """Whether the node selector, to which Kueue adds, keeps the pod from nodes."""
    return any(cause.code is Code.NODE_AFFINITY for cause in report.causes)
