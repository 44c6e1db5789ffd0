"""The words about a gang of another program none of whose pods is tried, as some of its pods are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.gangs.elsewhere import COSCHEDULING, KUEUE, VOLCANO
from kubectl_dra.diagnosis.records import GangElsewhere
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import plural, shortened
from kubectl_dra.reports.invocations import changing, kubectl, of, reading, within

_NAMED: Final = 5
_LABELS: Final = {each.name: Safe(each.labels[0]) for each in (KUEUE, COSCHEDULING)}
#: What names the group on its pods.
_MARKS: Final = {**_LABELS, VOLCANO.name: Safe(VOLCANO.annotations[0])}
#: Jobs of Volcano, and the label of their pods.
JOBS: Final = "jobs.batch.volcano.sh"
_OF_JOBS: Final = Safe("volcano.sh/job-name")
_TOTAL: Final = Safe(KUEUE.total)


def incomplete_sentence(gang: GangElsewhere) -> Safe:
    """How many pods there are to be, and which exist."""
    number = len(gang.present)
    if gang.system == KUEUE.name:
        queue = fmt(" in queue {}", gang.queue) if gang.queue else Safe("")
        text = "{} holds it{}: it queues pod group {} only when all {} of its pods exist, and {} {}: {}"
        do = Safe("does" if number == 1 else "do")
        return fmt(text, gang.system, queue, gang.name, gang.expected or 0, number, do, shortened(gang.present, _NAMED))
    text = "its group {} needs {} pods at a time, and only {} {}: {}"
    exist = Safe("exists" if number == 1 else "exist")
    says = fmt(". {} says: {}", gang.system, gang.words.rstrip(". ")) if gang.words else Safe("")
    return fmt(text, gang.name, gang.expected or 0, number, exist, shortened(gang.present, _NAMED)) + says


def incomplete_advice(gang: GangElsewhere) -> Safe:
    """What completes the group, or makes it smaller."""
    number = len(gang.present)
    lacking = (gang.expected or 0) - number
    label, pods = _MARKS[gang.system], Safe(plural("pod", lacking))
    if gang.system == KUEUE.name:
        text = (
            "Create {} more {} with the label {}: {} and the same annotations. If {} are enough, delete them and "
            "create all of them again with the annotation {}: {}, which cannot be changed."
        )
        return fmt(text, lacking, pods, label, gang.name, number, _TOTAL, number)
    if gang.job:
        text = (
            "Have Job {} make {} more {} (replicas of its tasks; its events say why one could not be made), or lower "
            "its spec.minAvailable to {}, if the program runs with so few. Until then free devices do not help."
        )
        return fmt(text, gang.job, lacking, pods, number)
    mark = Safe("annotation" if gang.system == VOLCANO.name else "label")
    text = (
        "Create {} more {} with the {} {}: {} (or find out why the controller of its pods has not made them), or "
        "lower spec.minMember of its PodGroup to {}, if the program runs with so few. Until then free devices do not "
        "help."
    )
    return fmt(text, lacking, pods, mark, label, gang.name, number)


def incomplete_commands(gang: GangElsewhere, namespace: str, address: Address) -> Iterator[Safe]:
    """What shows the pods of the group, and what makes it smaller."""
    label, value = (_OF_JOBS, gang.job) if gang.job else (_LABELS.get(gang.system), gang.name)
    named = f"{label}={value}" if label is not None and is_subdomain(value) else None
    words = kubectl("get", "pods", within(namespace), "-l", named) if named is not None else None
    yield from command_line("Its pods: {}", reading(words, address))
    if gang.system != KUEUE.name:
        patch = f'{{"spec":{{"{"minAvailable" if gang.job else "minMember"}":{len(gang.present)}}}}}'
        group = of(JOBS, gang.job, namespace) if gang.job else of(gang.resource, gang.name, namespace)
        smaller = kubectl("patch", group, "--type=merge", "-p", patch) if group is not None else None
        yield from command_line("To lower it: {}", changing(smaller, address))
