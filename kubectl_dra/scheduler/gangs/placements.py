"""Topology constraints: the sets of nodes on which the group is tried, and which of those that fit is the best.

Upstream: podGroupSchedulingPlacementAlgorithm, plugins topologyaware, podgrouppodscount, and NodeResourcesFit's
ScorePlacement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.requests import non_zero_requests
from kubectl_dra.scheduler.framework import MAX_SCORE
from kubectl_dra.scheduler.gangs.group import Gang
from kubectl_dra.scheduler.gangs.trial import GangTrial, GroupStatus, Run, run
from kubectl_dra.scheduler.plugins.node_resources_fit import SCORED, allocatable_of
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import StatusCode

NO_PLACEMENT = "no feasible placements found"


class DomainError(ValueError):
    """Raised where the pods that have a node are not in one domain."""


class GangPlacement(msgspec.Struct, frozen=True):
    """The best run, and by name of the placement all runs. Without a topology constraint the name is empty.

    ``tied``: other placements are as good.
    """

    trial: GangTrial
    all: Mapping[str, GangTrial] | None = None
    tied: bool = False

    @property
    def nearest(self) -> GangTrial:
        """The run itself if it fits, else that with most pods placed, which lacks the least: what people are told."""
        if self.trial.status.code is not StatusCode.UNSCHEDULABLE:
            return self.trial
        return max((self.all or {}).values(), key=lambda each: len(each.placed), default=self.trial)


def schedule(gang: Gang, world: Snapshot, shared: Run) -> tuple[GangPlacement, Snapshot]:
    """Run the algorithm once, or once for each value of the label that the nodes have to share.

    A group that has enough pods on nodes already fails, too, if none of the others fits.
    """
    placed, world = _schedule(gang, world, shared)
    trial = placed.trial
    if trial.status.code is StatusCode.SUCCESS and not trial.placed:
        placed = replace(placed, trial=replace(trial, status=GroupStatus(StatusCode.UNSCHEDULABLE, named=True)))
    return placed, world


def _schedule(gang: Gang, world: Snapshot, shared: Run) -> tuple[GangPlacement, Snapshot]:
    if not gang.snapshot.features.topology_aware_workloads:
        trial, world = run(gang, world, tuple(world.nodes), shared)
        return GangPlacement(trial), world
    try:
        sets = placements(gang, world)
    except DomainError as failed:
        text = f"cannot determine domain for already scheduled pods: {failed}"
        return GangPlacement(GangTrial(GroupStatus(StatusCode.ERROR, (text,)))), world
    if not sets:
        return GangPlacement(GangTrial(GroupStatus(StatusCode.UNSCHEDULABLE, (NO_PLACEMENT,)))), world
    trials: dict[str, GangTrial] = {}
    for name, nodes in sets.items():
        trial, world = run(gang, world, nodes, shared)
        trials[name] = trial
        if trial.status.code in (StatusCode.ERROR, StatusCode.UNKNOWN):
            return GangPlacement(trial, trials), world
    fitting = {name: trial for name, trial in trials.items() if trial.status.code is StatusCode.SUCCESS}
    if not fitting:
        return _none_fits(trials), world
    best = _best(gang, world, {name: sets[name] for name in fitting}, fitting)
    return GangPlacement(fitting[best[0]], trials, tied=len(best) > 1), world


def placements(gang: Gang, world: Snapshot) -> Mapping[str, Sequence[str]]:
    """The nodes of each domain, by its name; all nodes if the group asks for no topology. Raises DomainError."""
    nodes = world.nodes
    key = gang.group.topology_key
    if key is None:
        return {"": tuple(nodes)}
    required = _domain(gang, world, key)
    found: dict[str, list[str]] = {}
    for name, node in nodes.items():
        value = node.labels.get(key)
        if value is not None and required in (None, value):
            found.setdefault(value, []).append(name)
    return found


def _domain(gang: Gang, world: Snapshot, key: str) -> str | None:
    """The domain in which the group is already; None if it is in none."""
    found: str | None = None
    for pod, name in gang.scheduled:
        node = world.nodes.get(name)
        if node is None:
            raise DomainError(f'getting node for pod {pod.key}: nodeinfo not found for node name "{name}"')
        domain = node.labels.get(key)
        if domain is None:
            raise DomainError(f"no topology domain found for pod {pod.key}")
        if found not in (None, "", domain):
            raise DomainError(f"more than 1 domain found for pod group: {found}, {domain}")
        found = domain
    return found


def _none_fits(trials: Mapping[str, GangTrial]) -> GangPlacement:
    """Upstream tells of any of them; of the first here."""
    first = next(iter(trials.values()))
    text = f"0/{len(trials)} placements are available, first placement status: {first.status.cause}"
    return GangPlacement(GangTrial(GroupStatus(StatusCode.UNSCHEDULABLE, (text,), named=True), first.tried), trials)


def _best(
    gang: Gang, world: Snapshot, sets: Mapping[str, Sequence[str]], fitting: Mapping[str, GangTrial]
) -> tuple[str, ...]:
    """That with most pods placed and least room left, both weighing the same; ties are broken at random upstream."""
    if len(fitting) == 1:
        return tuple(fitting)
    counts = {name: len(gang.scheduled) + len(trial.placed) for name, trial in fitting.items()}
    most = max(counts.values())
    totals = {
        name: _used(world, sets[name], trial) + counts[name] * MAX_SCORE // most for name, trial in fitting.items()
    }
    best = max(totals.values())
    return tuple(name for name in totals if totals[name] == best)


def _used(world: Snapshot, nodes: Sequence[str], trial: GangTrial) -> int:
    """MostAllocated over all nodes of a placement, with the pods that came there."""
    shares = []
    for resource in SCORED:
        requested = sum(non_zero_requests(each.pod, pod_level=False)[resource] for each in trial.placed)
        total = 0
        for name in nodes:
            node = world.nodes[name]
            if allocatable := allocatable_of(node.node, resource):
                total += allocatable
                requested += node.usage.non_zero.get(resource, 0)
        if total:
            shares.append(min(requested, total) * MAX_SCORE // total)
    return sum(shares) // len(shares) if shares else 0
