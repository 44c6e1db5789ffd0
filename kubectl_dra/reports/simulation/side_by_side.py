"""How many copies fit, counted by nodes that are alike instead of copy by copy, where both give the same number.

Of pods that are alike, none of which plays a part for those on other nodes, each node takes as many as it takes alone.
"""

from __future__ import annotations

from typing import Final

import msgspec

from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.filling import fill
from kubectl_dra.diagnosis.capacity.shape import Shape, waiting
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation.pods import Copies, batch
from kubectl_dra.reports.simulation.records import NodeCopies, PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial

#: Beside what is found here, others say of these how many are made, and when.
_COUNTED: Final = frozenset({CountSource.STATED, CountSource.ASSUMED})


def is_plain(trial: PodTrial) -> bool:
    """Whether all of its pods are made at once, by rules that are all looked at here."""
    plan = trial.plan
    beside = plan.gang or plan.growth or plan.domains or plan.spanned or plan.volume_claims
    return plan.count in _COUNTED and not (beside or trial.alone or trial.held or trial.scheduler)


def counted(state: ClusterState, trial: PodTrial, before: PodSimulation) -> PodSimulation | None:
    """What comes of a trial alone in another cluster than ``before``; None where copies have to be placed for that."""
    namespace = trial.plan.pod.metadata.namespace
    limited = any(each.metadata.namespace == namespace for each in state.inventory.quotas.values())
    if before.wanted is None or before.fits is not Fits.NO or before.group or limited or not is_plain(trial):
        return None
    made = batch(state, trial, Copies(1))
    pod = next(iter(made.pods))
    copy = waiting(made.state, Shape(pod, {}))
    if copy.problem is not None:
        return None
    filled = fill(copy)
    sure = filled.judgement.verdict is Verdict.SCHEDULABLE or not filled.copies
    if not (sure and filled.groups and filled.side_by_side) or filled.more_may_fit:
        return None
    nodes = (NodeCopies(name, filled.counts[name]) for name in state.inventory.nodes if filled.counts.get(name))
    copies = min(filled.copies, before.wanted)
    return msgspec.structs.replace(before, copies=copies, capped=False, nodes=tuple(nodes))
