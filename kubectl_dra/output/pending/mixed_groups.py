"""The words about a PodGroup that is refused as a whole, as its pods contradict it, or one another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.records import Differs, GroupError
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import shortened
from kubectl_dra.reports.invocations import kubectl, of, reading

_NAMED: Final = 3
_PRIORITY: Final = "priority"


def mixed_sentence(error: GroupError) -> Safe:
    """What all pods need, and which have something else."""
    whose = Safe("its ") if error.by_group else Safe("one ")
    wanted = fmt(" {}", error.wanted) if error.by_group else Safe("")
    of_class = fmt(" (class {})", error.class_name) if _is_priority(error) and error.class_name else Safe("")
    text = "PodGroup {} is refused as a whole: all of its pods need {}{}{}{}, and {}"
    rest = Safe("") if error.by_group else fmt(" (the others {})", error.wanted)
    return fmt(text, error.group.name, whose, error.field, wanted, of_class, _who(error)) + rest


def _who(error: GroupError) -> Safe:
    """The pods with another value, those with the same one together."""
    alike: dict[Safe, list[str]] = {}
    for each in error.differing:
        alike.setdefault(_has(each, error), []).append(each.pod.name)
    parts = [
        fmt("{} {} {}", shortened(names, _NAMED), Safe("has" if len(names) == 1 else "have"), value)
        for value, names in alike.items()
    ]
    return Safe(", ").join(parts)


def _has(pod: Differs, error: GroupError) -> Safe:
    if not _is_priority(error):
        return fmt("{}", pod.value)
    return fmt(
        "{} ({})", pod.value, fmt("class {}", pod.class_name) if pod.class_name else Safe("no priorityClassName")
    )


def mixed_advice(error: GroupError) -> Safe:
    """What the pods have to be created again with: neither field of a pod can be changed."""
    pods = shortened([each.pod.name for each in error.differing], _NAMED)
    if not _is_priority(error):
        return fmt("Create {} again with {}: {}, in the template that makes it.", pods, error.field, error.wanted)
    with_class = fmt("with priorityClassName: {}", error.class_name) if error.class_name else Safe("")
    how = with_class or Safe("without priorityClassName")
    text = "Create {} again {}, in the template or manifest that makes it: the priority of a pod cannot be changed."
    return fmt(text, pods, how)


def mixed_commands(error: GroupError, address: Address) -> Iterator[Safe]:
    """What shows the first of these pods, with its owner."""
    for each in error.differing[:1]:
        words = kubectl("get", of("pod", each.pod.name, each.pod.namespace), "-o", "yaml")
        yield from command_line("What it is made from, and who makes it: {}", reading(words, address))


def _is_priority(error: GroupError) -> bool:
    return error.field == _PRIORITY
