"""The negotiation between scheduler and driver: whose turn it is, and what the scheduler writes meanwhile.

Upstream: PreScore, Reserve and PreBind of the dynamicresources plugin of 1.30 and 1.31. The scheduler publishes
potential nodes, drivers answer which are unsuitable, the scheduler selects one, the driver allocates there. What a
driver will answer is not in the API.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.allocation.input import nodes as node_selectors
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.classic.attempt import answer_for
from kubectl_dra.diagnosis.classic.pre_filter import class_nodes, driver_of, scheduling_context
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.attempt import PodAttempt
from kubectl_dra.diagnosis.pod import judgement
from kubectl_dra.diagnosis.pod.judgement import Judgement
from kubectl_dra.diagnosis.records import Cause, Negotiation, NodeOutcome, ObjectRef, Verdict
from kubectl_dra.model.classic import ClassicResourceClaim, PodSchedulingContext
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.scheduler import fit_error

#: PodSchedulingNodeListMaxSize: with more nodes that fit, a random part of them is published.
_MAX_NODES: Final = 128
# A rejection while the decision is written stands alone, one before that is counted for the one node.
_PUBLISHED: Final = "waiting for resource driver"
_WAITING: Final = fit_error.fit_error(1, ["waiting for resource driver to provide information"])
CONTEXT_KIND: Final = "PodSchedulingContext"


def judge(state: ClusterState, pod: Pod, tried: PodAttempt) -> Judgement:
    """The verdict of an attempt with classic claims."""
    waiting = _waiting(state, tried)
    if waiting and tried.stop is None and not state.evidence.complete(CONTEXT_KIND, pod.metadata.namespace):
        return Judgement(Verdict.UNKNOWN)
    found = judgement.judge(state, pod, tried)
    fits = tried.nodes(NodeOutcome.FITS)
    if waiting and fits and not found.fatal and found.verdict is not Verdict.UNKNOWN:
        talk = _Talk(state, pod, tried, waiting)
        messages, causes = tuple(talk.messages()), tuple(talk.causes())
        return Judgement(Verdict.UNSCHEDULABLE, fit_error.UNSCHEDULABLE, messages, len(fits), refusals=causes)
    causes = tuple(_no_common_node(state, pod, tried, waiting))
    return replace(found, refusals=(*found.refusals, *causes)) if causes else found


def _waiting(state: ClusterState, tried: PodAttempt) -> tuple[tuple[int, ClassicResourceClaim], ...]:
    """The claims that a driver's controller has to allocate, with their positions."""
    return tuple(
        (position, claim)
        for position, claim in enumerate(tried.claims)
        if isinstance(claim, ClassicResourceClaim) and claim.status.allocation is None and _by_driver(state, claim)
    )


def _by_driver(state: ClusterState, claim: ClassicResourceClaim) -> bool:
    if claim.classic.controller:
        return True
    class_ = state.inventory.classic.classes.get(claim.classic.resource_class_name)
    return class_ is not None and not class_.structured_parameters


# --- nodes fit --------------------------------------------------------------------------------------------------------


class _Talk(msgspec.Struct, frozen=True):
    """The state of the negotiation about one pod, with the nodes that fit."""

    state: ClusterState
    pod: Pod
    tried: PodAttempt
    waiting: tuple[tuple[int, ClassicResourceClaim], ...]

    @property
    def context(self) -> PodSchedulingContext | None:
        return scheduling_context(self.state, self.pod)

    @property
    def fitting(self) -> frozenset[str]:
        return frozenset(self.tried.names(NodeOutcome.FITS))

    @property
    def own(self) -> int:
        """Claims that the scheduler allocates itself."""
        unallocated = sum(claim.status.allocation is None for claim in self.tried.claims)
        return unallocated - len(self.waiting)

    @property
    def answers(self) -> int:
        return sum(answer_for(self.context, self.pod, position) is not None for position, _ in self.waiting)

    @property
    def selects(self) -> bool:
        """Whether the scheduler selects a node now; upstream counts its own claims as answers."""
        delayed, own = len(self.waiting), self.own
        return (delayed == 1 and own == 0) or (self.answers + own == delayed and own < delayed)

    @property
    def never_selects(self) -> bool:
        """Whether no answer of the drivers can make the scheduler select a node."""
        return 0 < len(self.waiting) <= self.own

    def messages(self) -> Iterator[str]:
        """What the scheduler may write; with a context, it is there because an attempt wrote it and said so."""
        first, second = (_PUBLISHED, _WAITING) if self._publishes() else (_WAITING, _PUBLISHED)
        yield first
        if self.context is not None:
            yield second

    def _publishes(self) -> bool:
        """Whether the next attempt certainly has something new to tell the drivers."""
        context, fitting = self.context, self.fitting
        if context is None:
            return True
        published = context.spec.potential_nodes
        if len(fitting) > _MAX_NODES or not fitting <= frozenset(published):
            return True
        return self.selects and context.spec.selected_node not in fitting

    def causes(self) -> Iterator[Cause]:
        """Whose turn it is, claim by claim; where drivers are silent, nobody waits for anything else."""
        if self.never_selects:
            yield from (self._cause(Code.NEVER_SELECTED, position, claim) for position, claim in self.waiting)
            return
        found = [self._cause(self._turn(position), position, claim) for position, claim in self.waiting]
        yield from [cause for cause in found if cause.code is Code.DRIVER_SILENT] or found

    def _turn(self, position: int) -> Code:
        context = self.context
        if context is None:
            return Code.SCHEDULER_WILL_ASK
        if context.spec.selected_node in self.fitting:
            return Code.DRIVER_ALLOCATES
        if answer_for(context, self.pod, position) is None and not context.spec.selected_node:
            return Code.DRIVER_SILENT
        return Code.SCHEDULER_WILL_ASK

    def _cause(self, code: Code, position: int, claim: ClassicResourceClaim) -> Cause:
        context, answer = self.context, answer_for(self.context, self.pod, position)
        detail = Negotiation(driver_of(self.state, claim))
        if context is not None:
            detail = Negotiation(
                detail.driver,
                context.spec.selected_node,
                context.spec.potential_nodes,
                answer.unsuitable_nodes if answer is not None else (),
                answered=answer is not None,
                since=context.metadata.creation_timestamp or "",
            )
        return Cause(code, detail, ObjectRef.of_claim(claim))


# --- no node fits -----------------------------------------------------------------------------------------------------


def _no_common_node(
    state: ClusterState, pod: Pod, tried: PodAttempt, waiting: Sequence[tuple[int, ClassicResourceClaim]]
) -> Iterator[Cause]:
    """Several claims, each with nodes of its own: that no node is in all of them is the reason."""
    if len(waiting) < 2 or tried.number(NodeOutcome.FITS):
        return
    reached = [node for node, result in tried.results if result.rejection is None and result.explanation is not None]
    suitable = [_suitable(state, pod, position, claim, reached) for position, claim in waiting]
    if all(suitable) and not frozenset.intersection(*suitable):
        yield Cause(Code.NO_COMMON_NODE, nodes=tuple(node.metadata.name for node in reached))


def _suitable(
    state: ClusterState, pod: Pod, position: int, claim: ClassicResourceClaim, reached: Sequence[Node]
) -> frozenset[str]:
    """The nodes that neither the claim's class nor its driver refuses."""
    answer = answer_for(scheduling_context(state, pod), pod, position)
    unsuitable = frozenset(answer.unsuitable_nodes) if answer is not None else frozenset()
    allowed = (n for n in reached if all(node_selectors.matches(s, n) for s in class_nodes(state, claim)))
    return frozenset(node.metadata.name for node in allowed) - unsuitable
