"""From the results of an attempt to groups of nodes with the same explanation, and to causes merged over all nodes.

Order of causes: what aborts the attempt, then what is in the way on the nodes that come closest.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.allocation.errors import AllocationError
from kubectl_dra.allocation.outcome import Allocated, Fatal, Unsatisfiable
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.claim_verdicts import kept_by_finalizers, selected_names
from kubectl_dra.diagnosis.claim.reserved import nodes_held_in_vain
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain import error_codes, staying
from kubectl_dra.diagnosis.explain.attempt import AlikeNodes, NodeResult, PodAttempt, each_of, names_of
from kubectl_dra.diagnosis.explain.from_words import from_words
from kubectl_dra.diagnosis.explain.funnel import NodeExplainer, NodeExplanation
from kubectl_dra.diagnosis.explain.merging import merged
from kubectl_dra.diagnosis.explain.rejections import rejection_causes
from kubectl_dra.diagnosis.explain.renaming import Renaming
from kubectl_dra.diagnosis.explain.volumes import volume_identity, volume_problems
from kubectl_dra.diagnosis.gates.gates import consumers_of
from kubectl_dra.diagnosis.pod.judgement import Judgement
from kubectl_dra.diagnosis.records import (
    Cause,
    ClaimElsewhere,
    NodeGroup,
    NodeOutcome,
    ObjectRef,
    Observed,
    Retry,
    SearchSize,
    Verdict,
)
from kubectl_dra.diagnosis.said import foreign
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.resource import AllocationResult, ResourceClaim
from kubectl_dra.scheduler.extended import asked, served_resources, virtual_claim
from kubectl_dra.scheduler.plugins.node_resources_fit import allocatable_of
from kubectl_dra.scheduler.plugins.pod_topology_spread import Skew
from kubectl_dra.scheduler.search import Searched, search

_MAX_MESSAGES: Final = 20
#: Nodes of which it is told whether the devices would be there although another plugin rejects them.
_MAX_REJECTED: Final = 2_000
#: Zones of which each is told by itself, and none.
_MAX_DOMAINS: Final = 5
_RETRY_TRIGGERS: Final = ("Node", "ResourceClaim", "DeviceClass", "ResourceSlice")


class _Bucket(msgspec.Struct):
    """Nodes with the same explanation; ``nearness`` orders the causes, larger is nearer to fitting."""

    outcome: NodeOutcome
    plugin: str
    alike: list[AlikeNodes] = msgspec.field(default_factory=list)
    explanation: NodeExplanation | None = None
    devices_fit: bool | None = None
    no_devices: bool = False

    @property
    def first(self) -> NodeResult:
        """What happens on the first of the nodes."""
        return self.alike[0].result

    @property
    def number(self) -> int:
        return sum(len(each.nodes) for each in self.alike)


class ExplainedCauses(msgspec.Struct, frozen=True):
    """What an attempt met on the nodes and what follows; ``errors`` are the typed errors behind fatal texts.

    ``unread``: kinds of objects that plugins had to read.
    """

    groups: tuple[NodeGroup, ...]
    causes: tuple[Cause, ...]
    fitting: tuple[str, ...]
    errors: Mapping[str, AllocationError]
    unread: tuple[str, ...] = ()

    def renamed(self, renaming: Renaming) -> ExplainedCauses:
        """The explanation with other names of claims."""
        groups, causes = tuple(map(renaming.group, self.groups)), tuple(map(renaming.cause, self.causes))
        return ExplainedCauses(groups, causes, self.fitting, self.errors, self.unread)

    def all_causes(self, judgement: Judgement, seen: Observed | None) -> tuple[Cause, ...]:
        """The causes in the order of their importance, with those that only the pod's condition tells."""
        words = tuple(from_words(self.fitting, judgement, seen, self.unread))
        if foreign.refuse_all(judgement, seen) or foreign.have_spoken(judgement, seen):
            return (*words, *self.causes)
        evicted = {node for cause in self.causes if cause.code is Code.EVICTED_AT_ONCE for node in cause.nodes}
        stays = not self.fitting or not evicted.issuperset(self.fitting)
        fits = _fits(self.fitting, judgement, seen) if stays else ()
        return (*judgement.refusals, *fits, *self.causes, *words)


def explain(state: ClusterState, pod: Pod, tried: PodAttempt, judgement: Judgement) -> ExplainedCauses:
    """Groups of nodes, the nearest to fitting first, and their causes."""
    return _Explainer(state, pod, tried).explain(judgement)


class _Explainer:
    def __init__(self, state: ClusterState, pod: Pod, tried: PodAttempt) -> None:
        self.state = state
        self.pod = pod
        self.tried = tried
        self._explanations: dict[tuple[int, str], NodeExplanation] = {}
        self._errors: dict[str, AllocationError] = {}

    def explain(self, judgement: Judgement) -> ExplainedCauses:
        buckets = sorted(self._buckets(judgement), key=_nearness, reverse=True)
        groups = tuple(self._group(bucket) for bucket in buckets)
        causes: list[Cause] = []
        if self.tried.stop is not None:
            # What could not be read may well exist.
            causes += self.tried.stop.causes if self.tried.stop.certain else ()
        elif not self.state.inventory.nodes and judgement.verdict is Verdict.UNSCHEDULABLE:
            causes.append(Cause(Code.NO_NODES))
        causes += merged(cause for group in groups for cause in group.causes)
        causes += (*self._idle(), *staying.fitting(self.state, self.tried))
        fitting = self.tried.names(NodeOutcome.FITS)
        unread = tuple(dict.fromkeys(kind for status in self.tried.unread for kind in status.reasons))
        closest = tuple(_closest(cause, groups) for cause in causes)
        return ExplainedCauses(groups, closest, fitting, self._errors, unread)

    # --- groups -----------------------------------------------------------------------------------------------------

    def _buckets(self, judgement: Judgement) -> Iterable[_Bucket]:
        buckets: dict[Hashable, _Bucket] = {}
        searched = self._devices_on_rejected(judgement)
        devices_fit = any(isinstance(each.shared, Allocated) for each in searched.values())
        both_lack = not devices_fit and self._no_other_has_devices()
        domains = {_domain(each.result) for each in self.tried.alike}
        for alike in self._told_together(searched):
            node, result = alike.nodes[0], alike.result
            rejected = searched.get(node.metadata.name)
            fits = isinstance(rejected.shared, Allocated) if rejected is not None else None
            explanation = self._explain(node, result, rejected if both_lack else None)
            bare = fits is False and rejected is not None and self._is_bare(node, rejected)
            key = (
                result.outcome,
                result.plugin,
                _told(result),
                result.unavailable,
                fits,
                bare,
                _domain(result) if len(domains) <= _MAX_DOMAINS else "",
                explanation and explanation.key,
            )
            bucket = buckets.get(key)
            if bucket is None:
                bucket = buckets[key] = _Bucket(
                    result.outcome, result.plugin, explanation=explanation, devices_fit=fits, no_devices=bare
                )
            bucket.alike.append(alike)
        return buckets.values()

    def _told_together(self, searched: Mapping[str, Searched]) -> Sequence[AlikeNodes]:
        """Nodes of which everything is told together; ``searched``: what else was searched there."""
        in_vain = nodes_held_in_vain(self.state)
        if not (searched or in_vain):
            return self.tried.alike
        found: list[AlikeNodes] = []
        for each in self.tried.alike:
            names = [node.metadata.name for node in each.nodes]
            shared = (searched[name].shared if name in searched else None for name in names)
            # That a pod holds devices in vain is told of its own node.
            found += each.by([(id(of), name in in_vain and name) for of, name in zip(shared, names, strict=True)])
        return sorted(found, key=lambda each: each.places[0])

    def _no_other_has_devices(self) -> bool:
        """Whether no node that was tried has devices of the class: only then it is told what rejected ones lack."""
        tried = (each for each in self.tried.alike if each.result.outcome is NodeOutcome.CANNOT_ALLOCATE)
        there = (self._explain(each.nodes[0], each.result, None) for each in tried)
        return not (any(map(_has_devices, there)) or self.tried.number(NodeOutcome.FITS))

    def _devices_on_rejected(self, judgement: Judgement) -> dict[str, Searched]:
        """What the search for devices finds on nodes that a plugin before DynamicResources rejects."""
        alike = [each for each in self.tried.alike if each.result.rejection is not None]
        if judgement.verdict is not Verdict.UNSCHEDULABLE or sum(len(each.nodes) for each in alike) > _MAX_REJECTED:
            return {}
        rejected = [node for node, _ in each_of(alike)]
        served = served_resources(self.state)
        resources = [name for name in asked(self.pod) if name in served]
        by_dra: dict[tuple[str, ...], list[Node]] = {}
        for node in rejected:
            # Others are a device plugin's there. Upstream: plugins/dynamicresources, filterExtendedResources.
            names = tuple(name for name in resources if not allocatable_of(node, name))
            by_dra.setdefault(names, []).append(node)
        found: dict[str, Searched] = {}
        for names, nodes in by_dra.items():
            claims = [*self.tried.to_allocate, *([virtual_claim(self.pod, names, served)] if names else ())]
            found |= search(self.state.devices, nodes, claims) if claims else {}
        return found

    def _explain(self, node: Node, result: NodeResult, rejected: Searched | None) -> NodeExplanation | None:
        """The funnel of a node where the search found nothing; shared by nodes that share their outcome.

        That a pod holds devices in vain is told of its own node. ``rejected``: what was found on a node that another
        plugin rejects, which is told if it has devices of a class.
        """
        if result.explanation is not None:
            return result.explanation
        if rejected is not None and isinstance(rejected.shared, Unsatisfiable):
            found = self._lacking(node, rejected)
            return found if _has_devices(found) else None
        if result.outcome is not NodeOutcome.CANNOT_ALLOCATE or result.searched is None:
            return None
        return self._lacking(node, result.searched)

    def _is_bare(self, node: Node, searched: Searched) -> bool:
        """Whether a rejected node has no device of any class that is requested: opening it would change nothing."""
        return isinstance(searched.shared, Unsatisfiable) and not _has_devices(self._lacking(node, searched))

    def _lacking(self, node: Node, searched: Searched) -> NodeExplanation:
        outcome = searched.shared
        own = node.metadata.name if node.metadata.name in nodes_held_in_vain(self.state) else ""
        identity = id(outcome), own
        if identity not in self._explanations:
            blamed = isinstance(outcome, Unsatisfiable) and outcome.invalid_pools
            self._explanations[identity] = NodeExplainer(self.state, searched.attempt).explain(node, blamed)
        return self._explanations[identity]

    def _claims(self, result: NodeResult) -> list[ResourceClaim]:
        claims = list(self.tried.to_allocate)
        if result.extended:
            claims.append(virtual_claim(self.pod, result.extended, served_resources(self.state)))
        return claims

    def _group(self, bucket: _Bucket) -> NodeGroup:
        names = names_of(bucket.alike)
        texts: Iterable[str]
        if bucket.outcome is NodeOutcome.FATAL:
            texts = (self._error_text(result) for _, result in islice(each_of(bucket.alike), _MAX_MESSAGES))
        else:
            texts = (text for each in bucket.alike for text in each.result.texts)
        messages = tuple(dict.fromkeys(texts))
        unavailable = sorted({i for each in bucket.alike for i in each.result.unavailable})
        return NodeGroup(
            bucket.outcome,
            names,
            bucket.plugin,
            messages[:_MAX_MESSAGES],
            bucket.explanation.reports if bucket.explanation is not None else (),
            tuple(ObjectRef.of_claim(self.tried.claims[i]) for i in unavailable),
            tuple(self._causes(bucket, names)),
            self._not_checked(bucket),
            # Devices that look free may be in use.
            None if bucket.devices_fit and self.state.blind else bucket.devices_fit,
            bucket.no_devices,
        )

    def _not_checked(self, bucket: _Bucket) -> tuple[str, ...]:
        if bucket.outcome is NodeOutcome.REJECTED:
            return ()
        open_ = (status.plugin for each in bucket.alike for status in each.result.unread)
        return tuple(dict.fromkeys((*self.tried.not_checked, *open_)))

    def _error_text(self, result: NodeResult) -> str:
        text, error = result.error_text(minor=self.state.features.minor), result.error
        if error is not None:
            self._errors[text] = error
        return text

    # --- causes of one group ----------------------------------------------------------------------------------------

    def _causes(self, bucket: _Bucket, names: tuple[str, ...]) -> Iterator[Cause]:
        first = bucket.first
        match bucket.outcome:
            case NodeOutcome.REJECTED:
                yield from rejection_causes(self.state, self.pod, bucket.plugin, bucket.alike, names)
            case NodeOutcome.FATAL:
                yield self._fatal(bucket, names)
            case NodeOutcome.CLAIM_UNAVAILABLE if (left := self.tried.left_over) is not None:
                ref = ObjectRef.of_claim(left)
                yield Cause(Code.EXTENDED_CLAIM_LEFT_OVER, kept_by_finalizers(left), claim=ref, nodes=names)
            case NodeOutcome.CLAIM_UNAVAILABLE:
                yield from self._unavailable(first, names)
            case NodeOutcome.CANNOT_ALLOCATE if bucket.explanation is not None:
                yield from (msgspec.structs.replace(cause, nodes=names) for cause in bucket.explanation.causes)
            case NodeOutcome.UNDECIDED if bucket.explanation is not None:
                yield from (msgspec.structs.replace(cause, nodes=names) for cause in bucket.explanation.causes)
            case NodeOutcome.UNDECIDED if first.searched is not None and not first.unread:
                yield Cause(Code.SEARCH_UNDECIDED, SearchSize(first.searched.shared.steps), nodes=names)

    def _fatal(self, bucket: _Bucket, names: tuple[str, ...]) -> Cause:
        first = bucket.first
        outcome = first.searched.own if first.searched is not None else None
        if isinstance(outcome, Fatal) and not first.timed_out:
            claims = error_codes.by_key(tuple(self._claims(first)))
            minor = self.state.features.minor
            return error_codes.fatal_cause(outcome.error, claims, self.state.inventory.classes, names, minor)
        return Cause(Code.SEARCH_TIMEOUT, SearchSize(outcome.steps if outcome is not None else 0), nodes=names)

    def _unavailable(self, result: NodeResult, names: tuple[str, ...]) -> Iterator[Cause]:
        failed = {cause.claim: cause for cause in self.tried.failed_bindings}
        for index in result.unavailable:
            claim = self.tried.claims[index]
            ref = ObjectRef.of_claim(claim)
            if ref in failed:
                yield msgspec.structs.replace(failed[ref], nodes=names)
                continue
            allocation = claim.status.allocation
            usable = selected_names(allocation.node_selector if allocation is not None else None)
            foreign = allocation is not None and self._are_published_elsewhere(allocation, usable)
            detail = ClaimElsewhere(usable, "", consumers_of(claim), foreign)
            yield Cause(Code.CLAIM_ELSEWHERE, detail, ref, nodes=names)

    def _are_published_elsewhere(self, allocation: AllocationResult, usable: Collection[str]) -> bool:
        drivers = {result.driver for result in allocation.devices.results}
        slices = (each.spec for each in self.state.inventory.slices.values() if each.spec.driver in drivers)
        return any(spec.devices and spec.node_name not in usable for spec in slices)

    # --- causes of the whole attempt ----------------------------------------------------------------------------------

    def _idle(self) -> Iterator[Cause]:
        """Claims that the scheduler will deallocate because they are in the way and nobody else uses them."""
        if self.tried.number(NodeOutcome.FITS):
            return
        for index in self.tried.idle(self.pod):
            yield Cause(Code.CLAIM_IDLE, claim=ObjectRef.of_claim(self.tried.claims[index]))


def _fits(fitting: tuple[str, ...], judgement: Judgement, seen: Observed | None) -> Iterator[Cause]:
    """Why a pod that fits still waits: it is not tried all the time."""
    if judgement.verdict is Verdict.SCHEDULABLE:
        retry = Retry(seen.time if seen is not None else "", _RETRY_TRIGGERS)
        yield Cause(Code.FITS_NOW, retry, nodes=fitting)


def _closest(cause: Cause, groups: Iterable[NodeGroup]) -> Cause:
    """A constraint's cause with the funnel of the node that has the largest set which satisfies it."""
    if cause.code is not Code.CONSTRAINT:
        return cause
    funnels = [
        request.funnel
        for group in groups
        for request in group.requests
        if request.funnel is not None and (request.claim, request.request) == (cause.claim, cause.request)
    ]
    best = max(funnels, key=lambda funnel: -1 if funnel.best is None else funnel.best, default=None)
    return cause if best is None else msgspec.structs.replace(cause, detail=best)


def _has_devices(found: NodeExplanation | None) -> bool:
    """Whether any device of the node is of the class of a request."""
    return found is not None and any(each.funnel is not None and each.funnel.total for each in found.reports)


def _domain(result: NodeResult) -> str:
    """The zone or rack that has as many pods as a spread constraint allows; nodes by themselves are told together."""
    skew = result.rejection.detail if result.rejection is not None else None
    return skew.value if isinstance(skew, Skew) and skew.constraint.topology_key != HOSTNAME else ""


def _told(result: NodeResult) -> Hashable:
    """What tells two nodes apart: the taint, the labels, the resources; of numbers whether there are any."""
    rejection = result.rejection
    if rejection is not None:
        lacking = tuple((lack.resource, bool(lack.allocatable)) for lack in rejection.lacks)
        volumes = tuple(map(volume_identity, volume_problems(rejection.detail)))
        known = rejection.taint, rejection.unmatched, rejection.ports, lacking, rejection.kept_away_by, volumes
        return *known, () if lacking else rejection.texts
    outcome = result.outcome_of_search
    if result.outcome is NodeOutcome.FATAL and not result.timed_out and isinstance(outcome, Fatal):
        error = outcome.error
        names = ("claim", "request", "device_class", "selector", "detail", "attribute", "pool")
        return (type(error).__name__, *(getattr(error, name, None) for name in names))
    return () if result.outcome is NodeOutcome.FATAL else result.texts


_ORDER: Final = {
    NodeOutcome.FATAL: 5,
    NodeOutcome.FITS: 4,
    NodeOutcome.UNDECIDED: 3,
    NodeOutcome.CLAIM_UNAVAILABLE: 2,
    NodeOutcome.CANNOT_ALLOCATE: 1,
    NodeOutcome.REJECTED: 0,
}


def _nearness(bucket: _Bucket) -> tuple[int, tuple[int, ...], bool, bool, int]:
    """Nodes that only lack room for the pod come right after those that abort, fit or hold a claim elsewhere.

    Those that PreFilter excluded come after those that it left: a DaemonSet's pod has one node, and all others say so.
    """
    rank = 2 if bucket.devices_fit else _ORDER[bucket.outcome]
    rejection = bucket.first.rejection
    left = bucket.outcome is not NodeOutcome.REJECTED or not (rejection is None or rejection.named)
    has_all = rejection is None or all(lack.allocatable for lack in rejection.lacks)
    return rank, bucket.explanation.nearness if bucket.explanation is not None else (), left, has_all, bucket.number
