"""DefaultPreemption: whether evicting pods of lower priority would make room, on which node, and which pods.

Upstream: plugins/defaultpreemption and framework/preemption. Devices play a part only as they are: what a victim holds
stays taken while its node is tried (see ``plugins/dynamic_resources.py``).

What the PostFilter plugins say once no node fits. Upstream: RunPostFilterPlugins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.model.core import Pod
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.attempt import Attempt
from kubectl_dra.scheduler.dry_run import DryRun, Eviction
from kubectl_dra.scheduler.framework import Cycle
from kubectl_dra.scheduler.gangs.units import eviction_priority
from kubectl_dra.scheduler.plugins import dynamic_resources
from kubectl_dra.scheduler.plugins.dynamic_resources import DynamicResources
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import Status, StatusCode, error, unschedulable
from kubectl_dra.scheduler.victims import earliest_start

PREFIX: Final = "preemption: "
NEVER: Final = "not eligible due to preemptionPolicy=Never."
TERMINATING: Final = "not eligible due to a terminating pod on the nominated node."
NOT_HELPFUL: Final = "Preemption is not helpful for scheduling"
PLACEMENT: Final = "found a potential placement for pod on node {}, preempting {} victims"
_NEVER: Final = "Never"
_BUDGET: Final = "PodDisruptionBudget"
# minCandidateNodesAbsolute and minCandidateNodesPercentage of the default configuration.
_FEWEST_CANDIDATES: Final = 100
_PERCENT: Final = 10
# Upstream adds it to every priority, so that many victims of low priority are worse than few.
_SHIFT: Final = 2**31


class PreemptionResult(msgspec.Struct, frozen=True):
    """What the plugin says, and why.

    ``candidates``: nodes on which it would help, with the victims. ``nominated``: one of these becomes the pod's
    nominated node; none if it does not help. ``tried``: what is still in the way on other nodes with all pods of lower
    priority gone. ``unsure``: kinds that were not read and may change the
    choice. ``awaited``: pods that it has evicted from the pod's nominated node, and that have not ended yet.
    """

    status: Status
    candidates: Mapping[str, Eviction] = msgspec.field(default_factory=dict)
    nominated: tuple[str, ...] = ()
    tried: Mapping[str, Status] = msgspec.field(default_factory=dict)
    unsure: tuple[str, ...] = ()
    awaited: tuple[PodInfo, ...] = ()


def preempt(found: Attempt, *, whatever_policy: bool = False) -> PreemptionResult:
    """What preemption does for a pod for which an attempt found no node; ``whatever_policy``: if the pod let it."""
    cycle = found.cycle
    refused = _not_eligible(cycle, found.status_of, whatever_policy=whatever_policy)
    if refused:
        awaited = tuple(_evicted(cycle)) if refused == TERMINATING else ()
        return PreemptionResult(unschedulable(PREFIX + refused), awaited=awaited)
    # Where not everything was known, what is in the way may be something else.
    run = _dry_run(cycle, found.refused, None if found.unsure else found.status_of)
    if run.candidates:
        return _chosen(cycle, run)
    errors = list(dict.fromkeys(status.message for status in run.tried.values() if status.code is StatusCode.ERROR))
    if errors:
        text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        return PreemptionResult(error(PREFIX + text), tried=run.tried)
    return PreemptionResult(unschedulable(PREFIX + _histogram(cycle, run.tried)), tried=run.tried, unsure=run.unsure)


def _not_eligible(cycle: Cycle, status_of: Callable[[str], Status], *, whatever_policy: bool) -> str:
    """Why the pod may not evict others; empty if it may."""
    if declines(cycle.pod) and not whatever_policy:
        return NEVER
    name = cycle.pod.status.nominated_node_name
    if not name or status_of(name).code is StatusCode.UNRESOLVABLE:
        return ""
    return TERMINATING if any(True for _ in _evicted(cycle)) else ""


def declines(pod: Pod) -> bool:
    """Whether a pod evicts nobody, by its own policy or that of its PriorityClass, which the API server copied."""
    return pod.spec.preemption_policy == _NEVER


def _evicted(cycle: Cycle) -> Iterator[PodInfo]:
    """The pods of lower priority on the nominated node that are evicted already."""
    node = cycle.snapshot.nodes.get(cycle.pod.status.nominated_node_name)
    snapshot, own = cycle.snapshot, cycle.info.shape.priority
    for pod in node.pods if node is not None else ():
        if pod.shape.preempted and eviction_priority(snapshot, pod) < own:
            yield pod


class _Run(msgspec.Struct):
    candidates: dict[str, Eviction] = msgspec.field(default_factory=dict)
    tried: dict[str, Status] = msgspec.field(default_factory=dict)
    unsure: tuple[str, ...] = ()


def _dry_run(cycle: Cycle, nodes: Sequence[NodeInfo], status_of: Callable[[str], Status] | None) -> _Run:
    """Node by node, until enough candidates are found; upstream begins at a random one."""
    found = _Run()
    enough = max(_FEWEST_CANDIDATES, len(nodes) * _PERCENT // 100)
    run = DryRun(cycle, tuple(cycle.snapshot.inventory.budgets.values()))
    unsure: set[str] = set()
    for place, node in enumerate(nodes):
        if place % enough == 0:
            _look_for_devices(cycle, nodes[place : place + enough])
        result = run.on(node, status_of(node.name) if status_of is not None else None)
        unsure.update(result.unsure)
        if result.candidate is None:
            found.tried[node.name] = result.status
            continue
        found.candidates[node.name] = result.candidate
        if len(found.candidates) >= enough and any(not each.violations for each in found.candidates.values()):
            break
    found.unsure = tuple(sorted(unsure))
    return found


def _look_for_devices(cycle: Cycle, nodes: Sequence[NodeInfo]) -> None:
    """What DynamicResources says does not depend on pods, and is cheaper for many nodes at once."""
    if DynamicResources.name in cycle.skipped:
        return
    priority, snapshot = cycle.info.shape.priority, cycle.snapshot
    occupied = [node for node in nodes if any(eviction_priority(snapshot, pod) < priority for pod in node.pods)]
    if occupied:
        DynamicResources().filter_all(cycle, occupied)


def _chosen(cycle: Cycle, run: _Run) -> PreemptionResult:
    best = _best(run.candidates)
    text = PLACEMENT.format(best[0], len(run.candidates[best[0]].victims))
    read = cycle.snapshot.evidence.complete(_BUDGET)
    unsure = run.unsure if read else tuple(sorted({*run.unsure, _BUDGET}))
    return PreemptionResult(Status(StatusCode.SUCCESS, (PREFIX + text,)), run.candidates, best, run.tried, unsure)


def _best(candidates: Mapping[str, Eviction]) -> tuple[str, ...]:
    """The nodes that are left after all rules; upstream takes any of them."""
    rules: tuple[Callable[[Eviction], float], ...] = (
        lambda each: each.violations,
        lambda each: each.victims[0].shape.priority,
        lambda each: sum(victim.shape.priority + _SHIFT for victim in each.victims),
        lambda each: len(each.victims),
        lambda each: -earliest_start(each.victims),
    )
    left = list(candidates)
    for rule in rules:
        least = min(rule(candidates[name]) for name in left)
        left = [name for name in left if rule(candidates[name]) == least]
    return tuple(left)


def _histogram(cycle: Cycle, tried: Mapping[str, Status]) -> str:
    total = len(cycle.snapshot.nodes)
    reasons = [text for status in tried.values() for text in status.reasons]
    return fit_error.fit_error(total, [*reasons, *[NOT_HELPFUL] * (total - len(tried))])


class AfterFilter(msgspec.Struct, frozen=True):
    """What the PostFilter plugins say together; ``preemption`` None: it was not its turn."""

    message: str
    preemption: PreemptionResult | None = None


def post_filter(found: Attempt) -> AfterFilter:
    """DynamicResources, then DefaultPreemption: the first that fails or succeeds says it alone."""
    devices = dynamic_resources.post_filter(found.cycle)
    if devices.code is not StatusCode.UNSCHEDULABLE:
        return AfterFilter(devices.message)
    preemption = preempt(found)
    said = preemption.status
    reasons = (*devices.reasons, *said.reasons) if said.code is StatusCode.UNSCHEDULABLE else said.reasons
    return AfterFilter(", ".join(reasons), preemption)
