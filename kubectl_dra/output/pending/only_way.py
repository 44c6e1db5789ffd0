"""What to do in place of all ways out: where what they would change is on its way, or was changed already."""

from __future__ import annotations

from datetime import datetime

from kubectl_dra.diagnosis.codes import Family
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.autoscalers import starting_lines
from kubectl_dra.output.pending.older_template import older_lines
from kubectl_dra.output.pending.queues import admission_lines, evicted_clause
from kubectl_dra.output.safe import Safe
from kubectl_dra.reports.pending.pending import PendingReport


def only_way(report: PendingReport, now: datetime, address: Address) -> list[Safe] | None:
    """None where any way out may be taken."""
    if evicted_clause(report) is not None:
        return list(admission_lines(report, address))
    if report.older_template is not None and report.older_template.nodes:
        return list(older_lines(report, address))
    lacks = report.verdict is Verdict.UNSCHEDULABLE and report.code is not None and report.code.family is Family.DEVICES
    # Where a driver fails, the new node may be the one on which it does.
    return (starting_lines(report.autoscaler, now, address) or None) if lacks and not report.failing else None
