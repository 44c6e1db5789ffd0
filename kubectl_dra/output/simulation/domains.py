"""What is said of pods that another program keeps in one domain of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, plural, shortened
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.stops import DomainFit

_NAMES: Final = 3


def told_once(pods: Iterable[PodSimulation]) -> Iterator[PodSimulation]:
    """Without pods of a group that is told of with others of it: it has no room."""
    told: set[tuple[ObjectRef, DomainFit]] = set()
    for pod in pods:
        small = too_small(pod)
        if small is None or (pod.subject, small) not in told:
            yield pod
        if small is not None:
            told.add((pod.subject, small))


def too_small(pod: PodSimulation) -> DomainFit | None:
    """The first demand that no choice of domains meets."""
    return next((each for each in pod.domains if not each.fits), None)


def too_small_text(name: Safe, found: DomainFit) -> Safe:
    """That pods do not fit into one domain, and how many of them do into the best."""
    size = counted(found.size, "pod")
    if not found.domains:
        return fmt("{} does not fit: {} have to share a value of label {}, which no node has.", name, size, found.label)
    if not found.holding:
        text = "{} does not fit: {} have to be in one {}, and no {} has room for more than {} of them{}."
        best = fmt(" ({})", found.best) if found.pods else Safe("")
        return fmt(text, name, size, found.label, found.label, found.pods, best)
    text = "{} does not fit: each of its {} groups of {} needs a {} of its own, and only {} room for one: {}."
    has = fmt("{} {}", len(found.holding), Safe(plural("has", len(found.holding))))
    return fmt(text, name, found.groups, size, found.label, has, shortened(found.holding, _NAMES))


def domain_lines(pod: PodSimulation) -> Iterator[Safe]:
    """What follows from a demand that is not met, and what remains open of one that is."""
    for found in pod.domains:
        if found.fits:
            yield from wrapped(_open(found), indent=2)
            continue
        yield from wrapped(fmt("{} demands it (annotation {}).", found.program, found.annotation), indent=2)
        if found.message and not found.holding:
            text = "In {} the scheduler would say of the next one: {}"
            yield from wrapped(fmt(text, found.best, found.message), indent=2)
        yield from wrapped(_way_out(found), indent=2)


def _open(found: DomainFit) -> Safe:
    text = "{} of {} values of {} have room for {} together: {}. Which of them {} chooses is not simulated."
    size = counted(found.size, "pod")
    if len(found.holding) == 1:
        text = "{} of {} values of {} has room for {} together: {}. Whether {} chooses it is not simulated."
    names = shortened(found.holding, _NAMES)
    return fmt(text, len(found.holding), found.domains, found.label, size, names, found.program)


def _way_out(found: DomainFit) -> Safe:
    if not found.domains:
        return fmt("Name a label in the annotation that nodes have, or label the nodes with {}.", found.label)
    if found.holding:
        return fmt("Make at most {}, or add nodes to another {}.", counted(len(found.holding), "group"), found.label)
    few = fmt("Make the group at most {}", counted(found.pods, "pod")) if found.pods > 1 else Safe("Make it smaller")
    return fmt("{}, remove the annotation, or add nodes to a {}.", few, found.label)
