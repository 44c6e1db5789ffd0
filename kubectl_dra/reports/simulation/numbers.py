"""Other numbers of pods than those that were tried: the fields that make as many as fit, and what may make more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.api.workloads.templates import MAX_PODS
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.reports.simulation.counts import FewerPods, FieldNumber, Growing, KeptOff, OtherNumber
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
    kept_off = _kept_off(done, before, trial) if done.counted is Counted.PER_NODE else None
    growing = _growing(done, before, trial)
    alone = trial.plan.gang is None and not done.group and not any(each.nodes > 1 for each in trial.plan.spanned)
    in_turn = trial.plan.in_turn and alone and done.lacks and done.copies > 0
    fewer = _fewer(done, trial)
    return msgspec.structs.replace(done, fewer=fewer, growing=growing, kept_off=kept_off, in_turn=in_turn)


def _fewer(done: PodSimulation, trial: PodTrial) -> FewerPods | None:
    """The fields with which no more are made than fit; of what starts together or not at all, others say that."""
    gang, found = trial.plan.gang, trial.plan.counted_by.lowered(done.copies)
    # Ranks of an Indexed Job wait for each other: with a lower parallelism the first of them would wait for good.
    if trial.planned.kind == "Job" and trial.planned.group:
        return None
    if not (done.lacks and done.copies and found.fields) or done.capped or done.group or done.stuck or done.undecided:
        return None
    pods = found.pods * found.fields[0][1]
    others = sum(plan.copies or 0 for plan in trial.planned.pods) - (trial.plan.copies or 0)
    if gang is not None and gang.least > others + pods:
        return None
    fields = tuple(FieldNumber(path, value) for path, value in found.fields)
    return FewerPods(fields, pods, trial.planned.origin, tuple(_spanning(trial, pods)))


def _spanning(trial: PodTrial, pods: int) -> Iterator[OtherNumber]:
    """The domains that wait for more nodes than so many pods are on: each has a node of its own."""
    for domain in trial.plan.spanned:
        plans = (plan for plan in trial.planned.pods if domain in plan.spanned and plan is not trial.plan)
        nodes = pods + sum(plan.copies or 0 for plan in plans)
        if nodes < domain.nodes:
            yield OtherNumber(ObjectRef(domain.kind, domain.namespace, domain.name), domain.field, nodes)


def _kept_off(done: PodSimulation, before: ClusterState, trial: PodTrial) -> KeptOff | None:
    """The nodes of a DaemonSet on which its pods don't fit, and what tells the others apart."""
    if not (done.lacks and done.nodes) or done.present or done.undecided or done.capped:
        return None
    fit = {each.node for each in done.nodes}
    labels = {name: before.inventory.nodes[name].metadata.labels for name in nodes_of_daemons(before, trial.plan.pod)}
    lacking = [name for name in labels if name not in fit]
    shared = set.intersection(*(set(labels[name].items()) for name in fit))
    telling = shared.difference(*(labels[name].items() for name in lacking))
    known = sorted((not _HARDWARE.search(key), len(key), f"{key}={value}") for key, value in telling)
    label = known[0][2] if known else ""
    return KeptOff(tuple(lacking), f"{trial.plan.spec_at}.nodeSelector", label) if lacking else None


def _growing(done: PodSimulation, before: ClusterState, trial: PodTrial) -> Growing | None:
    """What may make more of them, and how many of those fit beside what is placed before them."""
    growth = trial.plan.growth
    if growth is None or trial.held:
        return None
    fit: int | None = done.copies
    if not done.lacks:
        made = batch(before, replace(trial, plan=replace(trial.plan, copies=min(growth.most, MAX_PODS))), Copies())
        placed = place(made.world, made.pods)
        unsure = placed.capped or (placed.failed is not None and bool(done.undecided))
        fit = None if unsure else placed.copies
    if growth.passing and (fit is None or fit >= growth.most or done.lacks):
        return None
    return Growing(growth.by, growth.most, fit, growth.passing)
