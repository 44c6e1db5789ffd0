"""One scheduling attempt of one pod: PreFilter, Filter, scores, and what follows from them.

Upstream: schedule_one.go (schedulePod, findNodesThatFitPod, prioritizeNodes).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.core import Pod
from kubectl_dra.model.podinfo import pod_info
from kubectl_dra.scheduler.filtering import NodeVerdict, PreFiltered, filter_node, filter_nodes, pre_filter
from kubectl_dra.scheduler.framework import Cycle, Plugin
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
from kubectl_dra.scheduler.status import Status, StatusCode, error


@dataclass(frozen=True)
class Attempt:
    """What PreFilter and Filter said. ``verdicts``: of the nodes that were looked at, in the snapshot's order."""

    cycle: Cycle
    selection: PreFiltered
    verdicts: Mapping[str, NodeVerdict] = field(default_factory=dict)

    @property
    def stop(self) -> Status | None:
        """Why no node was looked at."""
        return self.selection.stop

    @cached_property
    def feasible(self) -> tuple[str, ...]:
        """The nodes that fit for sure."""
        return tuple(name for name, each in self.verdicts.items() if each.status.ok and not each.unsure)

    @cached_property
    def open(self) -> tuple[str, ...]:
        """The nodes that may fit, if what could not be decided does not keep the pod away."""
        return tuple(name for name, each in self.verdicts.items() if each.status.ok and each.unsure)

    @cached_property
    def errors(self) -> Mapping[str, Status]:
        """The nodes on which a plugin failed."""
        return {name: each.status for name, each in self.verdicts.items() if each.status.code is StatusCode.ERROR}

    def status_of(self, node: str) -> Status:
        """What was said of a node; of one that was not looked at, what is said of all those."""
        if node in self.verdicts:
            return self.verdicts[node].status
        return self.stop if self.stop is not None else self.selection.absent


def attempt(
    snapshot: Snapshot, pod: Pod, plugins: Sequence[Plugin] = (), among: Collection[str] | None = None
) -> Attempt:
    """Try to find a node for ``pod``.

    With ``plugins`` these run instead of the default profile's. ``among``: only these nodes are filtered, beside the
    whole cluster.
    """
    cycle = Cycle(pod, pod_info(pod), snapshot, plugins=plugins)
    selection = pre_filter(cycle)
    if selection.stop is not None:
        return Attempt(cycle, selection)
    chosen = selection.nodes
    names = list(snapshot.nodes) if among is None else [name for name in among if name in snapshot.nodes]
    if chosen is not None:
        names = [name for name in names if name in chosen]
    nodes = list(map(snapshot.nodes.__getitem__, names))
    verdicts = dict(zip(names, filter_nodes(cycle, nodes), strict=True))
    nominated = snapshot.nodes.get(pod.status.nominated_node_name)
    if nominated is not None and (among is None or nominated.name in among):
        selection = _try_nominated(cycle, nominated, selection, verdicts)
    return Attempt(cycle, selection, verdicts)


def _try_nominated(
    cycle: Cycle, node: NodeInfo, selection: PreFiltered, verdicts: MutableMapping[str, NodeVerdict]
) -> PreFiltered:
    """Add what is said of the nominated node, which is tried first, whatever PreFilter says, and taken if it fits.

    An error of it is only logged where PreFilter leaves it out. Its refusal goes into the set that the text of the
    nodes left out is made from afterwards. Upstream: evaluateNominatedNode, which shares that set with the Diagnosis.
    """
    tried = verdicts.get(node.name) or filter_node(cycle, node)
    if tried.status.code is StatusCode.ERROR:
        return selection
    verdicts[node.name] = tried
    if tried.status.ok or selection.nodes is None:
        return selection
    return replace(selection, refused_by=tried.status.plugin)


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
