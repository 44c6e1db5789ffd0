"""The words about a group of pods that Kueue does not queue, as some of its pods are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.gangs.elsewhere import KUEUE
from kubectl_dra.diagnosis.records import GangElsewhere
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import plural, shortened
from kubectl_dra.reports.invocations import kubectl, reading, within

_NAMED: Final = 5
_LABEL: Final = Safe(KUEUE.labels[0])
_TOTAL: Final = Safe(KUEUE.total)


def incomplete_sentence(gang: GangElsewhere) -> Safe:
    """How many pods there are to be, and which exist."""
    queue = fmt(" in queue {}", gang.queue) if gang.queue else Safe("")
    text = "{} holds it{}: it queues pod group {} only when all {} of its pods exist, and {} {}: {}"
    number, do = len(gang.present), Safe("does" if len(gang.present) == 1 else "do")
    return fmt(text, gang.system, queue, gang.name, gang.expected or 0, number, do, shortened(gang.present, _NAMED))


def incomplete_advice(gang: GangElsewhere) -> Safe:
    """What completes the group, or makes it smaller."""
    number = len(gang.present)
    lacking = (gang.expected or 0) - number
    text = (
        "Create {} more {} with the label {}: {} and the same annotations. If {} are enough, delete them and create "
        "all of them again with the annotation {}: {}, which cannot be changed."
    )
    return fmt(text, lacking, Safe(plural("pod", lacking)), _LABEL, gang.name, number, _TOTAL, number)


def incomplete_commands(gang: GangElsewhere, namespace: str, address: Address) -> Iterator[Safe]:
    """What shows the pods of the group."""
    named = f"{_LABEL}={gang.name}" if is_subdomain(gang.name) else None
    words = kubectl("get", "pods", within(namespace), "-l", named)
    yield from command_line("Its pods: {}", reading(words, address))
