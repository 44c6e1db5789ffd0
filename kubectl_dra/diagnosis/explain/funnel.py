"""Why a search found nothing on a node: per request the devices that each check leaves, and what takes the others.

The checks are those of the allocator, each asked on its own, so that a device that is in use and tainted is counted
where it falls out first. The order is the one in which a reader asks: which devices are there, then which can be had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

import msgspec
from msgspec.structs import replace

from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.requests import Choice, Request
from kubectl_dra.allocation.input.candidates import Candidate
from kubectl_dra.allocation.input.pools import Gathered, gather
from kubectl_dra.allocation.search.allocator import ClaimSearch
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain import evicting, grouping, pool_problems, shortfall
from kubectl_dra.diagnosis.explain.device_checks import DeviceChecks
from kubectl_dra.diagnosis.explain.shortfall import Shortfall
from kubectl_dra.diagnosis.records import Cause, Funnel, HeldFor, ObjectRef, Removal, RequestReport, Stage, StageName
from kubectl_dra.model.core import Node
from kubectl_dra.selectors.evaluate import Outcome


class NodeExplanation(msgspec.Struct, frozen=True):
    """What happened on a node. Equal ``key``: the same numbers for the same reasons. ``nearness``: larger is nearer."""

    key: Hashable
    reports: tuple[RequestReport, ...]
    causes: tuple[Cause, ...]
    nearness: tuple[int, ...]


class NodeExplainer:
    """Tells the explanations of nodes on which the same claims can't be allocated."""

    def __init__(self, state: ClusterState, attempt: ClaimSearch) -> None:
        self._state = state
        self._attempt = attempt

    def explain(self, node: Node, invalid_pools: bool) -> NodeExplanation:
        """The explanation of one node; ``invalid_pools``: the scheduler blames them."""
        gathered = gather(self._state.devices.index, node)
        checks = self._attempt.checks(node, gathered.pools)
        funnels = {request.number: self._funnel(node, checks, request) for request in self._attempt.plan.requests}
        funnels = grouping.with_constraints(self._attempt.plan, checks, funnels)
        shortfalls = [self._choice(choice, funnels) for claim in self._attempt.plan.claims for choice in claim.choices]
        problems = self._pool_problems(gathered, checks, shortfalls, invalid_pools)
        lacking = [*shortfall.causes(shortfalls, self._attempt.plan)]
        if any(shortfalls):
            shareable = {str(candidate.id) for candidate in checks.candidates if candidate.shareable}
            lacking = [*shortfall.excluded(self._attempt.plan, funnels, shareable), *lacking]
        # Where a pool is left out, that its devices are not there is no reason of its own.
        causes = (*problems, *(cause for cause in lacking if not (problems and cause.code in _NOTHING_THERE)))
        causes = (*causes, *evicting.in_use(self._state, checks, self._attempt.plan.requests, funnels))
        reports = tuple(_report(request, funnels[request.number]) for request in self._attempt.plan.requests)
        return NodeExplanation(_key(funnels.values(), causes), reports, causes, shortfall.nearness(shortfalls))

    def _choice(self, choice: Choice, funnels: dict[int, Funnel]) -> tuple[Shortfall, ...]:
        """What each alternative of a request lacks; empty if one of them could be had alone."""
        options = [shortfall.of(option, funnels[option.number]) for option in choice.options]
        return () if None in options else tuple(option for option in options if option is not None)

    def _pool_problems(
        self, gathered: Gathered, checks: Checks, shortfalls: list[tuple[Shortfall, ...]], invalid_pools: bool
    ) -> tuple[Cause, ...]:
        requests = [option.request for options in shortfalls for option in options]
        index, nodes = self._state.devices.index, self._state.inventory.nodes
        return tuple(pool_problems.causes(gathered, index, checks, requests, invalid_pools, nodes))

    # --- one request --------------------------------------------------------------------------------------------------

    def _funnel(self, node: Node, checks: Checks, request: Request) -> Funnel:
        devices = [c for c in checks.candidates if _in_class(checks, request, c)]
        total, needed, removals = len(devices), request.spec.count, []
        for name, check in DeviceChecks(self._state, checks, request).stages():
            removed: dict[Removal, list[Candidate]] = {}
            left = []
            for candidate in devices:
                reason = check(candidate)
                if reason is None:
                    left.append(candidate)
                else:
                    removed.setdefault(reason, []).append(candidate)
            devices = left
            removals += [replace(reason, devices=_ids(taken)) for reason, taken in removed.items()]
            if name is StageName.NODE and request.takes_all:
                needed = len(devices)
        return Funnel(node.metadata.name, needed, total, tuple(removals), _ids(devices), request.takes_all)


_IN_VAIN = frozenset({HeldFor.ENDING, HeldFor.FAILING})
_NOTHING_THERE = frozenset({Code.NO_DEVICE_IN_CLASS, Code.SELECTOR_MATCHES_NOTHING})


def _in_class(checks: Checks, request: Request, candidate: Candidate) -> bool:
    """Whether the class admits the device; one on which a selector fails counts as in the class."""
    decision = checks.selection.decision(request, candidate)
    return decision.outcome is not Outcome.NO or request.selectors[decision.selector].device_class is None


def _ids(devices: Iterable[Candidate]) -> tuple[str, ...]:
    return tuple(str(candidate.id) for candidate in devices)


def _report(request: Request, funnel: Funnel) -> RequestReport:
    return RequestReport(ObjectRef.of("ResourceClaim", request.claim), request.full_name, funnel)


def _key(funnels: Iterable[Funnel], causes: tuple[Cause, ...]) -> Hashable:
    """Equal for nodes that a reader could not tell apart: numbers and reasons, no names of devices."""
    told = tuple(
        (funnel.needed, funnel.best, tuple((stage.name, stage.count, _reasons(stage)) for stage in funnel.stages))
        for funnel in funnels
    )
    return told, tuple((cause.code, cause.claim, cause.request) for cause in causes)


def _reasons(stage: Stage) -> Hashable:
    # Which claims hold the devices differs from node to node and makes no other explanation, unless in vain.
    if stage.name is StageName.UNUSED:
        vain = sum(len(removal.devices) for removal in stage.removed if removal.held_for in _IN_VAIN)
        return sum(len(removal.devices) for removal in stage.removed), vain
    # Nor do the values that a selector saw.
    told = Counter[Hashable]()
    for r in stage.removed:
        told[r.reason, "" if stage.name is StageName.SELECTORS else r.source, r.short] += len(r.devices)
    return frozenset(told.items())
