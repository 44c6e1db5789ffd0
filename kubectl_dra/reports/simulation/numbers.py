"""Other numbers of pods than those that were tried: the fields that make as many as fit, and what may make more."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.reports.simulation.counts import FewerPods, FieldNumber, Growing
from kubectl_dra.reports.simulation.pods import Copies, batch
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial


def starts_from_none(trial: PodTrial) -> bool:
    """Whether it makes no pods yet, so that the one that is tried takes nothing from others."""
    return trial.plan.growth is not None and trial.plan.count is CountSource.UNKNOWN


def with_numbers(done: PodSimulation, before: ClusterState, trial: PodTrial, copies: Copies) -> PodSimulation:
    """What came of a trial, with other numbers of its pods; ``before``: the cluster in which they were placed."""
    if copies.asked or trial.alone:
        return done
    return msgspec.structs.replace(done, fewer=_fewer(done, trial), growing=_growing(done, before, trial))


def _fewer(done: PodSimulation, trial: PodTrial) -> FewerPods | None:
    """The fields with which no more are made than fit; of what starts together or not at all, others say that."""
    gang, found = trial.plan.gang, trial.plan.counted_by.lowered(done.copies)
    if not (done.lacks and done.copies and found.fields) or done.capped or done.group or done.stuck or done.undecided:
        return None
    pods = found.pods * found.fields[0][1]
    others = sum(plan.copies or 0 for plan in trial.planned.pods) - (trial.plan.copies or 0)
    if gang is not None and gang.least > others + pods:
        return None
    return FewerPods(tuple(FieldNumber(path, value) for path, value in found.fields), pods, trial.planned.origin)


def _growing(done: PodSimulation, before: ClusterState, trial: PodTrial) -> Growing | None:
    """What may make more of them, and how many of those fit beside what is placed before them."""
    growth = trial.plan.growth
    if growth is None or trial.held:
        return None
    fit: int | None = done.copies
    if not done.lacks:
        made = batch(before, replace(trial, plan=replace(trial.plan, copies=growth.most)), Copies())
        placed = place(made.world, made.pods)
        unsure = placed.capped or (placed.failed is not None and bool(done.undecided))
        fit = None if unsure else placed.copies
    return Growing(growth.by, growth.most, fit)
