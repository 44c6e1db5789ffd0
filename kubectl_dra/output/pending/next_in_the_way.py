"""What comes behind that which is in the way first: whom the scheduler evicts, and what is in the way then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.records import Declined, Preemption
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.invocations import dra, of, reading
from kubectl_dra.reports.pending.awaited import Awaited
from kubectl_dra.reports.pending.still_blocked import StillBlocked

#: What the first line says of pods that make room for another.
EVICTED: Final = "evicted for it on"


def renamed_lines(found: StillBlocked | None) -> Iterator[Safe]:
    """That the attribute that is meant, or the class that is missing, would not do; nothing where it would."""
    if found is not None and found.after:
        text = "With {} in place of {} it would still not fit: {}."
        yield from wrapped(fmt(text, found.after, found.before, main_reason(found)))
    elif found is not None and found.missing:
        text = "Even if {} {} existed, it would not fit: {}."
        kind = Safe("DeviceClass" if len(found.missing) == 1 else "DeviceClasses")
        yield from wrapped(fmt(text, kind, listed(found.missing), main_reason(found)))


def whatever_selected(found: StillBlocked | None) -> Safe | None:
    """What lacks whatever the classes select that could not be read; None where that decides."""
    if found is None or not found.classes:
        return None
    classes = fmt("{} {}", Safe("class" if len(found.classes) == 1 else "classes"), listed(found.classes))
    return fmt("even if {} selected every device, {}", classes, main_reason(found))


def admitted_lines(found: StillBlocked | None) -> Iterator[Safe]:
    """Behind the words about the queue, which say that the pod would find no node: why."""
    if found is not None and not (found.after or found.classes or found.missing):
        yield from wrapped(fmt("What would be in the way then: {}.", main_reason(found)), indent=2)


def awaited_lines(found: Awaited | None, address: Address) -> Iterator[Safe]:
    """Why the pod that is waited for has no node itself, and the command that tells all of it."""
    if found is None:
        return
    if found.blocked is not None:
        yield from wrapped(fmt("{} itself is pending: {}.", str(found.pod.key), main_reason(found.blocked)))
    words = dra("why-pending", of("pod", found.pod.name, found.pod.namespace))
    yield from command_line("What helps that pod: {}", reading(words, address))


def preemption_lines(found: Preemption | None, said: str = "") -> list[Safe]:
    """Whom the scheduler evicts for a pod or group, if that helps; not whom it has, in the line that is ``said``."""
    if found is not None and found.unread and not found.nodes and not found.certain:
        text = "Whether the scheduler evicts pods of lower priority for it depends on {}, which could not be read."
        return wrapped(fmt(text, listed(found.unread)))
    if found is not None and found.declined is not None:
        return wrapped(_declined(found.declined))
    if found is None or not found.nodes:
        return []
    victims = counted(len(found.victims), "pod")
    if found.under_way and not found.victims:
        # Pods of that node could not be read; the first line says that they are being ended.
        return []
    if found.under_way and EVICTED in said and all(name in said for name in found.victims):
        return []
    if found.under_way:
        text = "The scheduler has evicted {} of lower priority from {} for this pod: {}. Once {} ended, it tries again."
        return wrapped(fmt(text, victims, found.nodes[0], listed(found.victims), _they_have(found)))
    text = fmt("The scheduler evicts {} of lower priority on {}: {}.", victims, found.nodes[0], listed(found.victims))
    if found.violations:
        text += fmt(" {} of them is protected by a PodDisruptionBudget, which does not prevent it.", found.violations)
    if not found.certain:
        text += Safe(" It may choose others that are equally suitable.")
    return wrapped(text)


def _declined(found: Declined) -> Safe:
    by = fmt(" (of PriorityClass {})", found.priority_class) if found.priority_class else Safe("")
    text = (
        "Its preemptionPolicy Never{} keeps the scheduler from evicting {} of lower priority on {}: {}. A "
        "PriorityClass of the same value without that policy would let it."
    )
    return fmt(text, by, counted(len(found.victims), "pod"), found.node, listed(found.victims))


def _they_have(found: Preemption) -> Safe:
    return Safe("that has" if len(found.victims) == 1 else "they have")
