"""The words about gangs whose pods contradict one another, that name a Workload, or of which some are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kubectl_dra.diagnosis.gangs.elsewhere import COSCHEDULING, KUEUE, VOLCANO
from kubectl_dra.diagnosis.records import Cause, Differs, GangElsewhere, GroupError, WorkloadGang
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.output.pending.made import refused_sentence
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted, did_you_mean, plural, shortened
from kubectl_dra.reports.invocations import changing, kubectl, of, reading, within

_NAMED: Final = 3
_PRIORITY: Final = "priority"
_MISSING_NAMED: Final = 5
_LABELS: Final = {each.name: Safe(each.labels[0]) for each in (KUEUE, COSCHEDULING)}
#: What names the group on its pods.
_MARKS: Final = {**_LABELS, VOLCANO.name: Safe(VOLCANO.annotations[0])}
#: Jobs of Volcano, and the label of their pods.
JOBS: Final = "jobs.batch.volcano.sh"
_OF_JOBS: Final = Safe("volcano.sh/job-name")
_TOTAL: Final = Safe(KUEUE.total)


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


def workload_sentence(gang: WorkloadGang, say: Callable[[Cause], Safe]) -> Safe:
    """What a pod of the gang waits for; ``say`` makes the clause of what is in the way of another pod."""
    name, similar = gang.workload.name, did_you_mean(gang.similar, " (", ")")
    if gang.absent:
        return fmt('it waits for Workload "{}", which does not exist{}', name, similar)
    if not gang.min_count:
        return fmt(
            'its spec.workloadRef names group "{}", which Workload {} does not have{}', gang.group, name, similar
        )
    needs = fmt("{} needs {} at the same time", _named(gang), counted(gang.min_count, "pod"))
    if gang.known < gang.min_count:
        text = fmt("{}, and only {} {}", needs, gang.known, Safe("exists" if gang.known == 1 else "exist"))
        return fmt("{}. {}", text, refused_sentence(gang.refused)) if gang.refused is not None else text
    number = gang.running + gang.placed
    have = Safe("has" if gang.running == 1 else "have")
    running = fmt(" ({} of them already {} one)", gang.running, have) if gang.running else Safe("")
    finds = Safe("finds" if number == 1 else "find")
    text = fmt("{}, and only {} {} a node{}", needs, number, finds, running)
    if gang.lacking is None:
        return text
    if not gang.because:
        return fmt("{}; {} finds none", text, gang.lacking.name)
    return fmt("{}. For {}: {}", text, gang.lacking.name, say(gang.because[0]))


def _named(gang: WorkloadGang) -> Safe:
    replica = fmt(" (replica {})", gang.replica) if gang.replica else Safe("")
    return fmt("group {}{} of Workload {}", gang.group, replica, gang.workload.name)


def workload_advice(gang: WorkloadGang) -> Safe:
    """What completes the gang, or makes it smaller: of a Workload nothing can be changed in place."""
    workload, lacking = gang.workload.name, gang.min_count - gang.known
    if gang.absent or not gang.min_count:
        text = (
            "Create the Workload with this group, or create the pods again with the right names: neither "
            "spec.podGroups of a Workload nor spec.workloadRef of a pod can be changed."
        )
        return Safe(text)
    again = fmt("create Workload {} again with a lower minCount, if the program runs with fewer pods", workload)
    if lacking > 0:
        text = (
            "Create {} more {} that {} this group, or find out why their controller has not (its events say so); or "
            "{}. Until then free devices do not help."
        )
        return fmt(text, lacking, Safe(plural("pod", lacking)), Safe("names" if lacking == 1 else "name"), again)
    text = (
        "Free or add what {} lacks, let each pod need less, or {}. While they wait, pods that find a node hold its "
        "devices for up to 5 minutes. That the scheduler has the feature gate GangScheduling is assumed, as its pods "
        "name a Workload; without it each would start by itself."
    )
    return fmt(text, gang.lacking.name if gang.lacking is not None else Safe("the rest of the group"), again)


def incomplete_sentence(gang: GangElsewhere) -> Safe:
    """How many pods there are to be, and which exist."""
    number = len(gang.present)
    if gang.system == KUEUE.name:
        queue = fmt(" in queue {}", gang.queue) if gang.queue else Safe("")
        text = "{} holds it{}: it queues pod group {} only when all {} of its pods exist, and {} {}: {}"
        do = Safe("does" if number == 1 else "do")
        return fmt(
            text, gang.system, queue, gang.name, gang.expected or 0, number, do, shortened(gang.present, _MISSING_NAMED)
        )
    text = "its group {} needs {} pods at a time, and only {} {}: {}"
    exist = Safe("exists" if number == 1 else "exist")
    says = fmt(". {} says: {}", gang.system, gang.words.rstrip(". ")) if gang.words else Safe("")
    return fmt(text, gang.name, gang.expected or 0, number, exist, shortened(gang.present, _MISSING_NAMED)) + says


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
