"""One scheduling attempt of one pod: PreFilter, Filter, scores, and what follows from them.

Upstream: schedule_one.go (schedulePod, findNodesThatFitPod, prioritizeNodes).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.core import Pod
from kubectl_dra.model.podinfo import pod_info
from kubectl_dra.scheduler import filtering
from kubectl_dra.scheduler.framework import Cycle, Plugin
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
from kubectl_dra.scheduler.status import Status, StatusCode, error


@dataclass(frozen=True)
class Attempt:
    """What PreFilter and Filter said. ``filtered``: of the nodes that were looked at, in the snapshot's order."""

    cycle: Cycle
    selection: filtering.PreFiltered
    filtered: filtering.Filtered = field(default_factory=filtering.Filtered)

    @property
    def stop(self) -> Status | None:
        return self.selection.stop

    @cached_property
    def verdicts(self) -> Mapping[str, filtering.NodeVerdict]:
        """By node. An error is that of the first node of its kind: :meth:`status_of` has those of all."""
        return self.filtered.by_name()

    @cached_property
    def feasible(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.filtered.where(lambda each: each.status.ok and not each.unsure))

    @cached_property
    def open(self) -> tuple[str, ...]:
        """The nodes that may fit, if what could not be decided does not keep the pod away."""
        return tuple(node.name for node in self.filtered.where(lambda each: each.status.ok and bool(each.unsure)))

    @cached_property
    def errors(self) -> Mapping[str, Status]:
        """The nodes on which a plugin failed."""
        failed = self.filtered.where(lambda each: each.status.code is StatusCode.ERROR)
        return {node.name: self.status_of(node.name) for node in failed}

    @property
    def unsure(self) -> bool:
        """Whether some plugin could not decide something."""
        return bool(self.selection.unsure) or any(verdict.unsure for verdict in self.filtered.verdicts)

    @cached_property
    def refused(self) -> Sequence[NodeInfo]:
        """The nodes on which evicting pods may help, in the snapshot's order."""
        known = self.cycle.snapshot.nodes
        if self.stop is not None:
            return tuple(known.values()) if self.stop.code is StatusCode.UNSCHEDULABLE else ()
        found = self.filtered.where(lambda each: each.status.code is StatusCode.UNSCHEDULABLE)
        names = {node.name for node in found}
        return [node for name, node in known.items() if name in names] if found else ()

    def status_of(self, node: str) -> Status:
        """What was said of a node; of one that was not looked at, what is said of all those."""
        if node in self.verdicts:
            return self.verdicts[node].status.on(self.cycle.snapshot.nodes[node].node)
        return self.stop if self.stop is not None else self.selection.absent


def attempt(
    snapshot: Snapshot, pod: Pod, plugins: Sequence[Plugin] = (), among: Collection[str] | None = None
) -> Attempt:
    """Try to find a node for ``pod``.

    With ``plugins`` these run instead of the default profile's. ``among``: only these nodes are filtered, beside the
    whole cluster.
    """
    cycle = Cycle(pod, pod_info(pod), snapshot, plugins=plugins)
    selection = filtering.pre_filter(cycle)
    if selection.stop is not None:
        return Attempt(cycle, selection)
    filtered = filtering.filter_nodes(cycle, *_looked_at(snapshot, selection.nodes, among))
    nominated = snapshot.nodes.get(pod.status.nominated_node_name)
    if nominated is not None and (among is None or nominated.name in among):
        selection, filtered = _try_nominated(cycle, nominated, selection, filtered)
    return Attempt(cycle, selection, filtered)


def _looked_at(
    snapshot: Snapshot, chosen: Collection[str] | None, among: Collection[str] | None
) -> tuple[Sequence[NodeInfo], Sequence[int] | None]:
    """The nodes, with their places where they are not all."""
    known = snapshot.nodes
    if chosen is None and among is None:
        return tuple(known.values()), None
    names = [name for name in (known if among is None else among) if name in known]
    if chosen is not None:
        names = [name for name in names if name in chosen]
    return list(map(known.__getitem__, names)), list(map(snapshot.places.__getitem__, names))


def _try_nominated(
    cycle: Cycle, node: NodeInfo, selection: filtering.PreFiltered, filtered: filtering.Filtered
) -> tuple[filtering.PreFiltered, filtering.Filtered]:
    """With what is said of the nominated node, which is tried first, whatever PreFilter says, and taken if it fits.

    An error of it is only logged where PreFilter leaves it out. Its refusal goes into the set that the text of the
    nodes left out is made from afterwards. Upstream: evaluateNominatedNode, which shares that set with the Diagnosis.
    """
    known = filtered.by_name().get(node.name)
    tried = known or filtering.filter_node(cycle, node)
    if tried.status.code is StatusCode.ERROR:
        return selection, filtered
    if known is None:
        filtered = filtered.plus(node, tried)
    if not tried.status.ok and selection.nodes is not None:
        selection = replace(selection, refused_by=tried.status.plugin)
    return selection, filtered


class Scores(msgspec.Struct, frozen=True):
    """Totals by node, where there was a choice, and the nodes with the best one; ``failed`` ends the attempt."""

    best: tuple[str, ...]
    totals: Mapping[str, int] = msgspec.field(default_factory=dict)
    failed: Status | None = None


def scores(found: Attempt) -> Scores:
    """Which of the nodes that fit the scheduler chooses; a nominated one is taken without looking further."""
    cycle, feasible = found.cycle, found.feasible
    nominated = cycle.pod.status.nominated_node_name
    if nominated in feasible:
        return Scores((nominated,))
    if len(feasible) < 2:
        return Scores(feasible)
    nodes = [cycle.snapshot.nodes[name] for name in feasible]
    totals = [0] * len(nodes)
    for plugin in cycle.plugins or PLUGINS:
        if not plugin.weight:
            continue
        given = plugin.score(cycle, nodes)
        if isinstance(given, Status):
            if given.code is StatusCode.ERROR:
                return Scores((), failed=error(f'running PreScore plugin "{plugin.name}": {given.message}'))
            continue
        totals = [total + plugin.weight * each for total, each in zip(totals, given, strict=True)]
    best = max(totals)
    chosen = tuple(name for name, total in zip(feasible, totals, strict=True) if total == best)
    return Scores(chosen, dict(zip(feasible, totals, strict=True)))


def visiting_order(nodes: Sequence[NodeInfo], start: int = 0) -> list[str]:
    """The order in which nodes are looked at: zone by zone in turn, inside a zone as they came.

    Upstream: backend/cache/node_tree.go. The order in which nodes came can't be read; theirs is taken.
    """
    zones: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        zones.setdefault(_zone(node), []).append(node.name)
    longest = max(map(len, zones.values()), default=0)
    order = [names[i] for i in range(longest) for names in zones.values() if i < len(names)]
    start %= max(len(order), 1)
    return order[start:] + order[:start]


def _zone(node: NodeInfo) -> tuple[str, str]:
    labels = node.labels
    zone = labels.get("topology.kubernetes.io/zone") or labels.get("failure-domain.beta.kubernetes.io/zone", "")
    region = labels.get("topology.kubernetes.io/region") or labels.get("failure-domain.beta.kubernetes.io/region", "")
    return region, zone
