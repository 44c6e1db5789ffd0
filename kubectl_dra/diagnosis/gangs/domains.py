"""Whether pods fit into one domain of a node label, for programs that choose a domain by rules of their own.

Each domain is tried as for a PodGroup with that topology constraint, on its nodes alone and with nothing else that
waits: no rule of another program can place more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import missing
from kubectl_dra.diagnosis.pod.placing import added
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, SchedulingGroup
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.scheduling import (
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSpec,
    TopologyConstraint,
)
from kubectl_dra.scheduler.gangs.group import Gang
from kubectl_dra.scheduler.gangs.placements import placements
from kubectl_dra.scheduler.gangs.trial import GangTrial, Run, run
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import StatusCode

#: More pods are not tried, over all domains together.
_TRIED: Final = 4_000


@dataclass(frozen=True, slots=True)
class DomainRoom:
    """How many of the pods find a node in one domain; ``message``: the scheduler's words on the first that does not."""

    name: str
    pods: int
    message: str = ""


def domain_rooms(state: ClusterState, label: str, pods: Sequence[Pod]) -> tuple[DomainRoom, ...] | None:
    """Every domain of a label; None where that can't be told, or takes too long.

    ``pods`` of one namespace are to be created, in the order in which they are tried.
    """
    if not pods or any(each.decides for each in missing(state.evidence, needs.POD, pods[0].metadata.namespace)):
        return None
    gang = _gang(state, label, pods)
    domains = placements(gang, gang.snapshot)
    if len(gang.tried) < len(pods) or len(domains) * len(pods) > _TRIED:
        return None
    found = []
    for name, nodes in domains.items():
        trial, _ = run(gang, gang.snapshot, nodes, Run())
        if trial.status.code is StatusCode.UNKNOWN:
            return None
        found.append(DomainRoom(name, len(trial.placed), _refusal(trial)))
    return tuple(found)


def _gang(state: ClusterState, label: str, pods: Sequence[Pod]) -> Gang:
    """The pods as a group of which any number will do, so that all of them are tried."""
    meta = ObjectMeta(name=f"{pods[0].metadata.name}-in-one-domain", namespace=pods[0].metadata.namespace)
    constraints = PodGroupSchedulingConstraints(topology=(TopologyConstraint(key=label),))
    group = PodGroup(metadata=meta, spec=PodGroupSpec(scheduling_constraints=constraints))
    inventory = state.inventory
    for pod in pods:
        member = with_spec(pod, scheduling_group=SchedulingGroup(meta.name))
        inventory = added(inventory, member, extended=state.features.extended_resource)
    groups = inventory.groups
    known = {**groups.pod_groups, key_of(meta): group}
    inventory = inventory.replace(groups=type(groups)(known, groups.workloads, groups.composites))
    return Gang(Snapshot(state.changed(inventory)), group)


def _refusal(trial: GangTrial) -> str:
    return next((each.status.message for each in trial.tried if not each.node), "")
