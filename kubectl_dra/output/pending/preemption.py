"""Whom the scheduler evicts, in a paragraph."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import Preemption
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed


def preemption_lines(found: Preemption | None) -> list[Safe]:
    """Whom the scheduler evicts for a pod or group, if that helps."""
    if found is not None and found.unread and not found.nodes and not found.certain:
        text = "Whether the scheduler evicts pods of lower priority for it depends on {}, which could not be read."
        return wrapped(fmt(text, listed(found.unread)))
    if found is None or not found.nodes:
        return []
    victims = counted(len(found.victims), "pod")
    if found.under_way:
        text = "The scheduler has evicted {} of lower priority from {} for this pod: {}. Once {} ended, it tries again."
        return wrapped(fmt(text, victims, found.nodes[0], listed(found.victims), _they_have(found)))
    text = fmt("The scheduler evicts {} of lower priority on {}: {}.", victims, found.nodes[0], listed(found.victims))
    if found.violations:
        text += fmt(" {} of them is protected by a PodDisruptionBudget, which does not prevent it.", found.violations)
    if not found.certain:
        text += Safe(" It may choose others that are equally suitable.")
    return wrapped(text)


def _they_have(found: Preemption) -> Safe:
    return Safe("that has" if len(found.victims) == 1 else "they have")
