"""Other numbers of pods than those that were tried: the fields that make as many as fit, and what may make more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.api.planned import PodPlan
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.api.workloads.templates import MAX_PODS, CountField
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.simulation import counts
from kubectl_dra.reports.simulation.pods import Copies, batch, nodes_of_daemons
from kubectl_dra.reports.simulation.records import Counted, PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial

#: Labels that say what a node has.
_HARDWARE: Final = re.compile(r"gpu|accelerator|nvidia|amd|intel|neuron|tpu|fpga|nic|rdma", re.IGNORECASE)


def starts_from_none(trial: PodTrial) -> bool:
    """Whether it makes no pods yet, so that the one that is tried takes nothing from others."""
    return trial.plan.growth is not None and trial.plan.count is CountSource.UNKNOWN


def with_numbers(done: PodSimulation, before: ClusterState, trial: PodTrial, copies: Copies) -> PodSimulation:
    """What came of a trial, with other numbers of its pods; ``before``: the cluster in which they were placed."""
    if copies.asked or trial.alone:
        return done
    growing = _growing(done, before, trial)
    alone = trial.plan.gang is None and not done.group and not any(each.nodes > 1 for each in trial.plan.spanned)
    in_turn = trial.plan.in_turn and alone and done.lacks and done.copies > 0
    fewer = _fewer(done, trial)
    groups = _groups(trial)
    return msgspec.structs.replace(done, fewer=fewer, growing=growing, in_turn=in_turn, in_groups=groups)


def _groups(trial: PodTrial) -> counts.InGroups | None:
    """The groups whose number counts these pods and others of the same object."""
    number = trial.plan.counted_by
    if sum(_counts(plan, number) for plan in trial.planned.pods) < 2 or not number.pods:
        return None
    path, groups = number.fields[0]
    return counts.InGroups(path, groups, number.pods)


def _fewer(done: PodSimulation, trial: PodTrial) -> counts.FewerPods | None:
    """The fields with which no more are made than fit; of what starts together or not at all, others say that."""
    found = trial.plan.counted_by.lowered(done.copies)
    # Ranks of an Indexed Job wait for each other: with a lower parallelism the first of them would wait for good.
    if trial.planned.kind == "Job" and trial.planned.group:
        return None
    if not (done.lacks and done.copies and found.fields) or done.capped or done.group or done.stuck or done.undecided:
        return None
    return _with_number(trial, found)


def _with_number(trial: PodTrial, found: CountField) -> counts.FewerPods | None:
    """The pods that there are with a lower number; None where they are too few to start."""
    gang, then = trial.plan.gang, [(plan, _copies_then(plan, found)) for plan in trial.planned.pods]
    if gang is not None and not gang.follows and gang.least > sum(copies for _, copies in then):
        return None
    fields = tuple(counts.FieldNumber(path, value) for path, value in found.fields)
    pods = sum(copies for plan, copies in then if _counts(plan, found))
    return counts.FewerPods(fields, pods, trial.planned.origin, tuple(_spanning(trial.plan, then)))


def _counts(plan: PodPlan, lowered: CountField) -> bool:
    """Whether a number that was lowered counts these pods: that of groups counts leaders and workers."""
    return any(path == lowered.fields[0][0] for path, _ in plan.counted_by.fields) if lowered.fields else False


def _copies_then(plan: PodPlan, lowered: CountField) -> int:
    return plan.counted_by.made(lowered.fields[0][1]) if _counts(plan, lowered) else plan.copies or 0


def _spanning(plan: PodPlan, then: Sequence[tuple[PodPlan, int]]) -> Iterator[counts.OtherNumber]:
    """The domains that wait for more nodes than pods are on then: each has a node of its own."""
    for domain in plan.spanned:
        nodes = sum(copies for other, copies in then if domain in other.spanned)
        if nodes < domain.nodes:
            yield counts.OtherNumber(ObjectRef(domain.kind, domain.namespace, domain.name), domain.field, nodes)


def reconciled(
    found: list[PodSimulation],
    trials: Sequence[PodTrial],
    again: Callable[[Sequence[PodTrial], int], Sequence[PodSimulation] | None],
) -> None:
    """Fewer pods of one part of an object leave more to its other parts: each number is that beside those before it.

    ``again``: what comes of other trials, up to one of them; None where that takes too long.
    """
    lowered: dict[ObjectRef, tuple[list[PodTrial], int]] = {}
    for position, (done, trial) in enumerate(zip(list(found), trials, strict=True)):
        if not done.lacks:
            continue
        if done.subject in lowered:
            tried, first = lowered[done.subject]
            then = again(tried, position)
            if then is None:
                continue
            done = _beside_fewer(found, position, trial, first, then[position])
        elif done.in_groups is not None:
            done = found[position] = _fewer_groups(done, trial, trials, again)
        if done.fewer is not None:
            tried, first = lowered.get(done.subject, (list(trials), position))
            lowered[done.subject] = [_with_fewer(each, trial, done.fewer) for each in tried], first


def _fewer_groups(
    done: PodSimulation,
    trial: PodTrial,
    trials: Sequence[PodTrial],
    again: Callable[[Sequence[PodTrial], int], Sequence[PodSimulation] | None],
) -> PodSimulation:
    """With the number of groups that fit whole: pods of those that do not leave their room to others."""
    its = [number for number, other in enumerate(trials) if other.planned is trial.planned]
    low, high, best = 1, (done.in_groups.groups if done.in_groups is not None else 1) - 1, None
    while low <= high:
        middle = (low + high + 1) // 2
        number = CountField(tuple((path, middle) for path, _ in trial.plan.counted_by.fields))
        fewer = _with_number(trial, number)
        then = again([_with_fewer(each, trial, fewer) for each in trials], its[-1]) if fewer is not None else None
        if then is None:
            return done
        fits = not any(then[number].lacks for number in its)
        low, high, best = (middle + 1, high, fewer) if fits else (low, middle - 1, best)
    return msgspec.structs.replace(done, fewer=best)


def _beside_fewer(
    found: list[PodSimulation], position: int, trial: PodTrial, first: int, then: PodSimulation
) -> PodSimulation:
    """A part as it is ``then``, with fewer pods of the ``first`` part; that one tells where nothing lacks any more."""
    fewer = None if not then.lacks else _fewer(then, trial)
    found[position] = msgspec.structs.replace(found[position], fewer=fewer)
    told = found[first].fewer
    if not then.lacks and told is not None:
        heals = msgspec.structs.replace(told, heals=(*told.heals, then.role))
        found[first] = msgspec.structs.replace(found[first], fewer=heals)
    return found[position]


def _with_fewer(trial: PodTrial, about: PodTrial, fewer: counts.FewerPods) -> PodTrial:
    """A trial of the same object with the lowered number, if that counts it."""
    number = CountField(tuple((each.path, each.value) for each in fewer.fields))
    if trial.planned is not about.planned or not _counts(trial.plan, number):
        return trial
    return replace(trial, plan=replace(trial.plan, copies=_copies_then(trial.plan, number)))


def kept_off(
    done: PodSimulation, before: ClusterState, trial: PodTrial, told: Sequence[tuple[Sequence[str], PendingReport]]
) -> PodSimulation:
    """With the nodes of a DaemonSet on which its pods don't fit, by the reason, and what tells the others apart.

    ``told``: the names of the pods that don't fit for one reason, and what is said of the first.
    """
    unsure = done.present or done.undecided or done.capped
    if not (done.lacks and done.nodes and told) or done.counted is not Counted.PER_NODE or unsure:
        return done
    name = trial.plan.pod.metadata.name
    labels = {node: before.inventory.nodes[node].metadata.labels for node in nodes_of_daemons(before, trial.plan.pod)}
    by_pod = {f"{name}-{node}": node for node in labels}
    groups = [(tuple(by_pod[each] for each in pods), pending) for pods, pending in told]
    (nodes, _), *others = groups
    others_too = tuple(counts.ElsewhereOff(each, pending, _telling(each, labels)) for each, pending in others)
    field = f"{trial.plan.spec_at}.nodeSelector"
    return msgspec.structs.replace(done, kept_off=counts.KeptOff(nodes, field, _telling(nodes, labels), others_too))


def _telling(lacking: Sequence[str], labels: Mapping[str, Mapping[str, str]]) -> str:
    """A label that all other nodes have, and none of these; empty if there is none."""
    shared = set.intersection(*(set(labels[name].items()) for name in labels if name not in lacking))
    telling = shared.difference(*(labels[name].items() for name in lacking))
    known = sorted((not _HARDWARE.search(key), len(key), f"{key}={value}") for key, value in telling)
    return known[0][2] if known else ""


def _growing(done: PodSimulation, before: ClusterState, trial: PodTrial) -> counts.Growing | None:
    """What may make more of them, and how many of those fit beside what is placed before them."""
    growth = trial.plan.growth
    if growth is None or trial.held:
        return None
    fit: int | None = done.copies
    if not done.lacks:
        made = batch(before, replace(trial, plan=replace(trial.plan, copies=min(growth.most, MAX_PODS))), Copies())
        placed = place(made.state, made.pods)
        unsure = placed.capped or (placed.failed is not None and bool(done.undecided))
        fit = None if unsure else placed.copies
    if growth.passing and (fit is None or fit >= growth.most or done.lacks):
        return None
    return counts.Growing(growth.by, growth.most, fit, growth.passing)
