"""A workload whose pods have their nodes and do not all do their work, in a line above their pages."""

from __future__ import annotations

from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted
from kubectl_dra.reports.pending.ailing import AilingWorkload


def ailing_sentence(found: AilingWorkload) -> Safe:
    """``StatefulSet db/vec: 0 of 2 pods ready.``, and when the missing ones are made."""
    number = found.pods if found.wanted is None else found.wanted
    name = fmt("{} {}", found.workload.kind, str(found.workload.key))
    text = fmt("{}: {} of {} ready.", name, found.ready, counted(number, "pod"))
    if not found.one_by_one:
        return text
    rule = (
        "{} It makes a pod again when the old one is gone, and the next only when those before are ready (unless its "
        "podManagementPolicy is Parallel)."
    )
    return fmt(rule, text)
