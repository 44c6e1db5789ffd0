"""What to do about a scheduler that puts pods on nodes without allocating their claims: its switch, or another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.records import BoundBy
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.reports.invocations import changing, kubectl, of
from kubectl_dra.reports.pending.pending import PendingReport

#: Upstream: volcano, pkg/scheduler/plugins/predicates (DynamicResourceAllocationEnable, off by default).
_VOLCANO: Final = Safe(
    "A cluster administrator can turn on DRA in Volcano: in ConfigMap volcano-scheduler-configmap give plugin "
    "predicates the argument predicate.DynamicResourceAllocationEnable: true, and restart volcano-scheduler."
)
_KUBERNETES: Final = Safe(
    "A cluster administrator has to start kube-scheduler with feature gate DynamicResourceAllocation and with plugin "
    "DynamicResources in its profile."
)
_OTHER: Final = (
    "{} has to support DRA and have it turned on, which its documentation says; where it can't, remove schedulerName "
    "from the template of the pod, so that the default scheduler places it and allocates."
)


def allocating_advice(report: PendingReport, bound: BoundBy) -> Safe:
    """Who can make the scheduler allocate, and that the pod has to be made anew then."""
    match bound.scheduler:
        case "volcano":
            first = _VOLCANO
        case name if name == DEFAULT_SCHEDULER:
            first = _KUBERNETES
        case name:
            first = fmt(_OTHER, name)
    owner = report.owner
    again = fmt("{} {} makes it again", owner.kind, owner.name) if owner is not None else Safe("and create it again")
    return fmt("{} Then delete the pod{}{}.", first, Safe(": " if owner is not None else ", "), again)


def allocating_commands(report: PendingReport, address: Address) -> Iterator[Safe]:
    """The commands for it, of a scheduler whose names are known."""
    detail = report.causes[0].detail
    if not isinstance(detail, BoundBy):
        return
    steps = [kubectl("delete", of("pod", report.pod.name, report.pod.namespace))] if report.owner is not None else []
    if detail.scheduler == "volcano":
        where = "volcano-system"
        edit = kubectl("edit", of("configmap", "volcano-scheduler-configmap", where))
        steps = [edit, kubectl("rollout", "restart", of("deployment", "volcano-scheduler", where)), *steps]
    for words in steps:
        yield from command_line("  {}", changing(words, address))
