"""Sentences about a pod of a StatefulSet that is made from an older template than the StatefulSet has now."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import shortened
from kubectl_dra.reports.invocations import changing, kubectl, of
from kubectl_dra.reports.pending.pending import PendingReport


def older_sentence(report: PendingReport) -> Safe | None:
    """Behind the cause, without a full stop."""
    found = report.older_template
    if found is None:
        return None
    text = "It was created from an older template of its {} {}, which does not replace it by itself"
    then = (
        fmt("; created from the current template, it would fit on {}", shortened(found.nodes))
        if found.nodes
        else Safe("")
    )
    return fmt(text, found.workload.kind, found.workload.name) + then


def older_lines(report: PendingReport, address: Address) -> Iterator[Safe]:
    """What would be in its way as the present template makes it, and how it is made again."""
    found = report.older_template
    if found is None:
        return
    if found.then is not None:
        text = "Created from the current template of {} {}, it would not fit either: {}."
        yield from wrapped(fmt(text, found.workload.kind, found.workload.name, main_reason(found.then)))
    again = kubectl("delete", of("pod", report.pod.name, report.pod.namespace))
    yield from command_line("To recreate it from the current template: {}", changing(again, address))
