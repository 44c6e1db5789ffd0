"""Pods that failed on their node, below the overview of those that wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import ago, counted, shortened
from kubectl_dra.reports.invocations import dra, of, reading
from kubectl_dra.reports.pending.rejected import RejectedPods

_NAMES: Final = 2


def rejected_lines(found: Sequence[RejectedPods], scope: str, now: datetime, address: Address) -> Iterator[Safe]:
    """By reason how many, which, and what the kubelet said of the newest."""
    if not found:
        return
    number = sum(len(each.pods) for each in found)
    verb = Safe("was" if number == 1 else "were")
    whose = Safe("its node" if number == 1 else "their nodes")
    yield fmt("{} with device claims {} not taken by {}:", counted(number, "pod"), verb, whose)
    for each in found:
        names = shortened([ref.name if scope else str(ref.key) for ref in each.pods], _NAMES)
        when = fmt(", the newest created {}", ago(each.created, now)) if each.created else Safe("")
        number_of = counted(len(each.pods), "pod")
        lead = fmt("{} {}: {} ({}){}", Code.KUBELET_REJECTED, each.reason, number_of, names, when)
        yield from wrapped(lead, indent=4, first=2)
        if each.message:
            yield from wrapped(fmt("{}", each.message), indent=4, first=4)
    newest = found[0].pods[0]
    pod = of("pod", newest.name, newest.namespace)
    yield from command_line("more: {}", reading(dra("why-pending", pod), address))
