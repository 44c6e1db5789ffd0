"""Placing copies of a pod that does not exist yet, one after the other, each taking what the scheduler would give it.

Plugins that are not simulated are taken to admit every node; who asks says so.

Of several fitting nodes the one with the best score is taken, as the scheduler does. Where more fit than it compares,
which depends on where it begins, those are compared that have the fewest copies so far. Nothing of the Inventory is
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from kubectl_dra.allocation.outcome import Allocated
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import classic
from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.explain.attempt import NodeResult, PodAttempt, attempt
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.pod import choice
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.volume_claims import with_claims_of, with_shared_volumes
from kubectl_dra.diagnosis.records import BeingBound, Cause, NodeOutcome, PodDiagnosis, QuotaShortage, Verdict
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.classic import ClassicResourceClaim, ClassicResourceClaimTemplate
from kubectl_dra.model.core import Node, Pod, PodResourceClaim, PodResourceClaimStatus
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta, OwnerReference
from kubectl_dra.model.resource import (
    AllocationResult,
    ConsumerReference,
    ResourceClaim,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from kubectl_dra.model.usage import NodeUsage, pod_usage
from kubectl_dra.scheduler.claims import EXTENDED_CLAIM_ANNOTATION, FINALIZER, claim_names, resolve, sources
from kubectl_dra.scheduler.extended import served_resources, virtual_claim
from kubectl_dra.scheduler.gangs.world import assumed_volumes
from kubectl_dra.scheduler.on_the_way import may_be_being_bound, supposed_being_bound
from kubectl_dra.scheduler.plugins.volume_binding import chosen_volumes

# Where more nodes fit than the scheduler compares, so many of those with the fewest copies are compared here.
_COMPARED: Final = 50
_HARD: Final = "DoNotSchedule"
# Where copies may make nodes fit, all nodes are tried for the next one, so many in total: some seconds.
_EFFORT: Final = 100_000
#: Nobody counts copies beyond this; a larger number is "at least".
MAX_COPIES: Final = 500


@dataclass(frozen=True, slots=True)
class PlacedCopies:
    """How many copies fit and where. ``failed`` is the diagnosis of the first copy that does not, ``failures`` are all.

    ``state`` has the copies that fit and the one that does not. ``capped``: more might fit. ``compared``: more nodes
    fit than the scheduler compares, which are so many; 0 where it compares all. ``example``: not all nodes were tried
    again for each copy, though it may have made some of them fit, so that the scheduler may prefer others.
    """

    state: ClusterState
    nodes: Mapping[str, int] = field(default_factory=dict)
    failed: PodDiagnosis | None = None
    capped: bool = False
    compared: int = 0
    example: bool = False
    failures: tuple[PodDiagnosis, ...] = ()

    @property
    def copies(self) -> int:
        return sum(self.nodes.values())


def place(state: ClusterState, pods: Iterable[Pod], *, per_node: bool = False) -> PlacedCopies:
    """Place ``pods``, which differ in their names only, in their order until one does not fit.

    ``per_node``: each belongs to a node of its own, so that those after one that does not fit are tried as well.
    """
    return _Placing(state).run(pods, per_node=per_node)


class _Placing:
    """Copies placed so far: ``candidates`` are nodes on which the last one fitted, or had not been tried any more."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._nodes: dict[str, int] = {}
        self._candidates: list[str] = []
        self._compared = 0
        self._example = False
        self._effort = _EFFORT

    def run(self, pods: Iterable[Pod], *, per_node: bool) -> PlacedCopies:
        failed: list[PodDiagnosis] = []
        for number, pod in enumerate(pods):
            if number == MAX_COPIES:
                return self._placed(*failed, capped=True)
            key = key_of(pod.metadata)
            over = shortages_of_new(self._state, pod)
            made = added(self._state.inventory, pod, extended=self._state.features.extended_resource)
            self._state = self._state.changed(made)
            if over:
                return self._placed(refused_by_quota(self._state, key, over))
            fitting = self._fitting(pod, key)
            if isinstance(fitting, PodDiagnosis):
                failed.append(fitting)
                if per_node:
                    continue
                return self._placed(fitting)
            if _own_claim_is_refused(self._state, pod, *fitting[1:]):
                return self._placed(Diagnoser(self._state).pod(key))
            self._state = self._state.changed(bound(self._state, key, *fitting))
            name = fitting[0].metadata.name
            self._nodes[name] = self._nodes.get(name, 0) + 1
        return self._placed(*failed)

    def _placed(self, *failed: PodDiagnosis, capped: bool = False) -> PlacedCopies:
        first = failed[0] if failed else None
        return PlacedCopies(self._state, self._nodes, first, capped, self._compared, self._example, failed)

    def _fitting(self, pod: Pod, key: Key) -> _Fitting | PodDiagnosis:
        """Where the next copy goes, or why nowhere."""
        self._effort -= len(self._state.inventory.nodes)
        opened = bool(self._nodes) and _opens_nodes(pod)
        everywhere = opened and self._effort >= 0
        self._example = self._example or (opened and not everywhere)
        if everywhere:
            self._candidates = list(self._state.inventory.nodes)
        fitting = _take(self._state, key, self._candidates, self._nodes, every=everywhere)
        if fitting is None:
            diagnosis = Diagnoser(self._state).pod(key)
            if not _gets_devices(diagnosis):
                return diagnosis
            fits = (group for group in diagnosis.nodes if group.outcome is NodeOutcome.FITS)
            self._candidates = [name for group in fits for name in group.nodes]
            fitting = _take(self._state, key, self._candidates, self._nodes)
            assert fitting is not None  # noqa: S101 - the diagnosis has just found one
        self._compared = self._compared or choice.compared(self._state, len(self._candidates))
        return fitting


def _opens_nodes(pod: Pod) -> bool:
    """Whether a copy may make nodes fit that did not: it raises the least of the sums that others are held against."""
    return any(each.when_unsatisfiable == _HARD for each in pod.spec.topology_spread_constraints)


def being_bound(
    state: ClusterState, pod: Pod, nodes: Mapping[str, int], again: Callable[[ClusterState], int]
) -> BeingBound | None:
    """Who makes the copies of ``pod`` on ``nodes`` fewer if they are being bound there; ``again`` counts anew."""
    pods = may_be_being_bound(state, pod)
    told = tuple(sorted(str(key_of(each.metadata)) for each in pods if nodes.get(each.status.nominated_node_name)))
    if not told:
        return None
    copies = again(supposed_being_bound(state, pods, pod))
    return BeingBound(told, copies) if copies < sum(nodes.values()) else None


def shortages_of_new(state: ClusterState, pod: Pod) -> tuple[QuotaShortage, ...]:
    """The limits of quotas that a pod would exceed if it were created now; none for one that exists."""
    if key_of(pod.metadata) in state.inventory.pods:
        return ()
    return quota.pod_shortages(state, pod)


def refused_by_quota(state: ClusterState, key: Key, over: Iterable[QuotaShortage]) -> PodDiagnosis:
    """What is said of a pod of ``state`` that the API server does not let come into being."""
    causes = tuple(Cause(Code.QUOTA_EXCEEDED, shortage) for shortage in over)
    found = Diagnoser(state).pod(key)
    return msgspec.structs.replace(found, verdict=Verdict.GATED, causes=causes, claims=(), nodes=())


def _own_claim_is_refused(state: ClusterState, pod: Pod, result: NodeResult, tried: PodAttempt) -> bool:
    """Whether a quota forbids the claim that the scheduler makes for the pod's extended resources."""
    if not (result.extended and tried.left_over is None and state.inventory.quotas):
        return False
    made_up = virtual_claim(pod, result.extended, served_resources(state))
    return bool(quota.own_claim_shortages(state.inventory.quotas.values(), made_up))


def _gets_devices(diagnosis: PodDiagnosis) -> bool:
    """Whether a copy fits, as far as it is simulated: other plugins may be open."""
    codes = [cause.code for cause in diagnosis.causes]
    if diagnosis.verdict is Verdict.UNKNOWN and codes[:1] == [Code.NOT_SIMULATED]:
        return not any(code.family is Family.ABORTED for code in codes)
    return diagnosis.verdict is Verdict.SCHEDULABLE


_Fitting = tuple[Node, NodeResult, PodAttempt]


def _take(
    state: ClusterState, key: Key, candidates: list[str], taken: Mapping[str, int], *, every: bool = False
) -> _Fitting | None:
    """The candidate with the best score, of several that with the fewest copies; those that do not fit are removed.

    ``every``: all are tried, however many.
    """
    pod = state.inventory.pods[key]
    entries = resolve(state.inventory, state.evidence, state.features, pod)
    if any(entry.problem is not None for entry in entries):
        return None
    claims = [entry.claim for entry in entries if entry.claim is not None]
    trying = classic.attempt if classic.concerns(claims) else attempt
    while candidates:
        # Of more than the scheduler compares, those with the fewest copies.
        some = _COMPARED if choice.compared(state, len(candidates)) and not every else len(candidates)
        names = sorted(candidates, key=lambda node: taken.get(node, 0))[:some]
        tried = trying(state, pod, claims, names)
        fits = frozenset(tried.names(NodeOutcome.FITS))
        left_out = frozenset(names) - fits
        candidates[:] = [name for name in candidates if name not in left_out]
        if fits:
            name = min(choice.best(tried), key=lambda node: taken.get(node, 0))
            return (*tried.fitting(name), tried)
    return None


def placed(state: ClusterState, key: Key, among: Collection[str]) -> ClusterState | None:
    """With the pod on the best of these nodes; None where it does not fit on any of them."""
    fitting = _take(state, key, list(among), {})
    return state.changed(bound(state, key, *fitting)) if fitting is not None else None


# --- objects that come into being -------------------------------------------------------------------------------------


def added(inventory: Inventory, pod: Pod, *, extended: bool = True) -> Inventory:
    """With a pod, and with the claims that its templates make; without the template there is no claim.

    Both are charged to quotas. One may forbid a claim, and then those of later entries are not made either;
    ``extended`` as in ``quota``.
    """
    claims: dict[Key, ResourceClaim] = {}
    quotas = quota.charged(inventory.quotas, pod.metadata.namespace, quota.pod_usage(pod), pod)
    statuses = []
    for entry in pod.spec.resource_claims:
        shared = _shared_claim(inventory, pod, entry)
        if shared is not None:
            statuses.append(PodResourceClaimStatus(entry.name, shared))
            continue
        template = inventory.templates.get(Key(pod.metadata.namespace, sources(entry)[1] or ""))
        if template is not None:
            charge = quota.usage(template.spec.spec, inventory.classes, extended)
            if any(quota.exceeded(quotas.values(), pod.metadata.namespace, charge)):
                break
            quotas = quota.charged(quotas, pod.metadata.namespace, charge)
            made = made_for(template, entry.name, reference_to(pod))
            claims[key_of(made.metadata)] = made
            statuses.append(PodResourceClaimStatus(entry.name, made.metadata.name))
    status = msgspec.structs.replace(pod.status, resource_claim_statuses=tuple(statuses))
    there = msgspec.structs.replace(pod, status=status)
    pods = edited(inventory.pods, {key_of(pod.metadata): there})
    return with_claims_of(inventory, there).replace(pods=pods, claims=edited(inventory.claims, claims), quotas=quotas)


def _shared_claim(inventory: Inventory, pod: Pod, entry: PodResourceClaim) -> str | None:
    """The claim of the pod's group for an entry of the same name and source (controller resourceclaim)."""
    own = pod.spec.scheduling_group
    group = inventory.groups.pod_groups.get(Key(pod.metadata.namespace, own.pod_group_name)) if own else None
    if group is None or entry.resource_claim_template_name is None:
        return None
    shares = any(
        (each.name, each.resource_claim_template_name) == (entry.name, entry.resource_claim_template_name)
        for each in group.spec.resource_claims
    )
    made = (each.resource_claim_name for each in group.status.resource_claim_statuses if each.name == entry.name)
    return next(made, None) if shares else None


def with_made(inventory: Inventory, key: Key, entry: str, template: ResourceClaimTemplate) -> Inventory:
    """With the claim that a template makes for an entry of a pod which is there; no quota is charged for it."""
    pod = inventory.pods[key]
    made = made_for(template, entry, reference_to(pod))
    statuses = (*pod.status.resource_claim_statuses, PodResourceClaimStatus(entry, made.metadata.name))
    status = msgspec.structs.replace(pod.status, resource_claim_statuses=statuses)
    return inventory.replace(
        claims=edited(inventory.claims, {key_of(made.metadata): made}),
        pods=edited(inventory.pods, {key: msgspec.structs.replace(pod, status=status)}),
    )


def as_claimed(
    pod: Pod, claim_of: Callable[[str], ResourceClaim | None]
) -> Iterator[tuple[Key, ResourceClaimTemplate]]:
    """The templates that a pod names, with what its claims say which were made from them."""
    names = claim_names(pod)
    for entry in pod.spec.resource_claims:
        template, claim = sources(entry)[1], claim_of(names.get(entry.name, ""))
        if template and claim is not None:
            spec = ResourceClaimTemplateSpec(spec=claim.spec)
            yield Key(pod.metadata.namespace, template), ResourceClaimTemplate(spec=spec)


def reference_to(pod: Pod) -> OwnerReference:
    """The pod as the owner of what is made for it."""
    return OwnerReference("v1", "Pod", pod.metadata.name, pod.metadata.uid, controller=True)


def made_for(template: ResourceClaimTemplate, entry: str, owner: OwnerReference) -> ResourceClaim:
    """The claim that a template makes for an entry of its owner; the server adds some letters to the name."""
    spec, name = template.spec.spec, f"{owner.name}-{entry}"
    meta = ObjectMeta(name=name, namespace=template.metadata.namespace, uid=name, owner_references=(owner,))
    if isinstance(template, ClassicResourceClaimTemplate):
        return ClassicResourceClaim(metadata=meta, spec=spec, classic=template.classic)
    return ResourceClaim(metadata=meta, spec=spec)


def bound(state: ClusterState, key: Key, node: Node, result: NodeResult, tried: PodAttempt) -> Inventory:
    """With the pod on the node, and its claims allocated to it and reserved for it."""
    inventory = state.inventory
    pod = inventory.pods[key]
    outcome = result.searched.own if result.searched is not None else None
    allocations = iter(outcome.allocations if isinstance(outcome, Allocated) else ())
    claims: dict[Key, ResourceClaim] = {}
    user = ConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)
    if classic.concerns(tried.claims):
        claims |= classic.allocated(state, pod, tried.claims, node.metadata.name)
    for claim in dict.fromkeys(key_of(claim.metadata) for claim in tried.claims):
        found = claims.get(claim) or inventory.claims[claim]
        allocation = found.status.allocation or next(allocations)
        claims[claim] = _reserved(found, allocation, user)
    if result.extended:
        made_up = _made_up(pod, result)
        claims[key_of(made_up.metadata)] = _reserved(made_up, next(allocations), user)
        charge = quota.usage(virtual_claim(pod, result.extended, served_resources(state)).spec, {}, extended=False)
        inventory = inventory.replace(quotas=quota.charged(inventory.quotas, pod.metadata.namespace, charge))
    if tried.engine is not None and pod.spec.volumes:
        cycle = tried.engine.cycle
        volumes = chosen_volumes(cycle, cycle.snapshot.nodes[node.metadata.name])
        storage = assumed_volumes(inventory.storage, volumes, node.metadata.name)
        inventory = inventory.replace(storage=with_shared_volumes(storage, volumes))
    placed = with_spec(pod, node_name=node.metadata.name)
    usage = inventory.usage.get(node.metadata.name, NodeUsage()).plus(pod_usage(placed))
    return inventory.replace(
        pods=edited(inventory.pods, {key: placed}),
        claims=edited(inventory.claims, claims),
        usage=edited(inventory.usage, {node.metadata.name: usage}),
    )


def _reserved(claim: ResourceClaim, allocation: AllocationResult, user: ConsumerReference) -> ResourceClaim:
    status = ResourceClaimStatus(allocation=allocation, reserved_for=(*claim.status.reserved_for, user))
    meta = msgspec.structs.replace(claim.metadata, finalizers=(*claim.metadata.finalizers, FINALIZER))
    return msgspec.structs.replace(claim, metadata=meta, status=status)


def _made_up(pod: Pod, result: NodeResult) -> ResourceClaim:
    """The claim for extended resources under a name of its own; its requests play no part once it is allocated."""
    claim = virtual_claim(pod, (), {})
    meta = msgspec.structs.replace(
        claim.metadata,
        name=f"{pod.metadata.name}-extended-resources",
        annotations={EXTENDED_CLAIM_ANNOTATION: "true"},
    )
    assert result.extended  # noqa: S101 - asked for by the caller
    return msgspec.structs.replace(claim, metadata=meta)
