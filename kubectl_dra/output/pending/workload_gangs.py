"""Sentences about a gang of Kubernetes 1.35, of which pods name a Workload."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_dra.diagnosis.records import Cause, WorkloadGang
from kubectl_dra.output.pending.made import refused_sentence
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, did_you_mean, plural


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
