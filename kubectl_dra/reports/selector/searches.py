"""Real searches that a failing selector would abort: claims are tried on nodes by the allocator itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.allocation import Answers, Attempt, Budget, Fatal
from kubectl_dra.allocation.errors import AllocationError, SelectorFailed
from kubectl_dra.model.core import Node
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.selector.records import FailingSearch
from kubectl_dra.reports.selector.scoping import Member, Setting
from kubectl_dra.scheduler.allocation_errors import allocation_error
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet

# Enough to name one; a cluster with more classes than that which let a device through is told of the first.
_MAX_TRIED: Final = 8
_AT_ONCE: Final = 256
_CLOSING: Final = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class Behind:
    """How classes stand to devices on which a selector fails.

    Only classes that let some of the devices through that are meant: ``keeping`` let none of the failing ones through,
    ``passing`` some.
    """

    keeping: tuple[str, ...]
    passing: tuple[str, ...]


def behind_classes(setting: Setting, failing: Sequence[Member], meant: Sequence[Member]) -> Behind:
    """Every class that compiles, tried on the failing devices and on those that are meant."""
    keeping: list[str] = []
    passing: list[str] = []
    for name, device_class in setting.classes.items():
        selectors = SelectorSet.of_class(device_class, setting.facts.features.shows_sharing)
        if selectors.problem is not None or not _let_through(selectors, meant):
            continue
        (passing if any(selectors.matches(m.driver, m.device) for m in failing) else keeping).append(name)
    return Behind(tuple(keeping), tuple(passing))


def _let_through(selectors: SelectorSet, members: Iterable[Member]) -> bool:
    """Whether they match any of the devices before they fail on one."""
    outcomes = (selectors.of(member.driver, member.device).outcome for member in members)
    return next((o for o in outcomes if o in (Outcome.MATCHES, Outcome.ERROR)), None) is Outcome.MATCHES


def failing_searches(
    setting: Setting,
    classes: Iterable[str],
    claim_for: Callable[[str], ResourceClaim],
    is_ours: Callable[[SelectorFailed], bool],
    failing: Mapping[DeviceId, tuple[Member, bool]],
) -> Iterator[FailingSearch]:
    """For each class the first node by name on which the search ends with an error that is ours.

    Up to two per class: one that ends at a device that is meant, one that ends at another.
    ``failing``: the devices in scope on which the selectors fail, and whether each is outside of those meant.
    """
    facts = setting.facts
    if not facts.evidence.complete("Node"):
        return
    only = setting.where.node
    known = sorted(facts.inventory.nodes.items())
    nodes = [node for name, node in known if name == only or (only is None and _is_open(node))]
    kinds = {outside for _, outside in failing.values()}
    for name in list(classes)[:_MAX_TRIED]:
        said: set[bool] = set()
        for node, error in _errors(Attempt(setting.cluster, (claim_for(name),)), nodes):
            if isinstance(error, SelectorFailed) and error.device in failing and is_ours(error):
                member, outside = failing[error.device]
                if outside not in said:
                    said.add(outside)
                    message = allocation_error(error)
                    yield FailingSearch(name, node, str(error.device), member.state, outside, message)
            if said == kinds:
                break


def _is_open(node: Node) -> bool:
    """Whether the search comes to the node for a pod without tolerations: TaintToleration is asked before."""
    closing = any(taint.effect in _CLOSING for taint in node.spec.taints)
    return not closing and not node.spec.unschedulable


def _errors(attempt: Attempt, nodes: Sequence[Node]) -> Iterator[tuple[str, AllocationError]]:
    """The errors that end searches, each for the first of nodes alike; nodes are searched some at a time."""
    for start in range(0, len(nodes), _AT_ONCE):
        for group in Answers(attempt, nodes[start : start + _AT_ONCE], Budget()).groups:
            if isinstance(group.outcome, Fatal):
                yield group.nodes[0], group.outcome.error
