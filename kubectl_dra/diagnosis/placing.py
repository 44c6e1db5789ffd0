"""Placing copies of a pod that does not exist yet, one after the other, each taking what the scheduler would give it.

Plugins that are not simulated are taken to admit every node; who asks says so.

Of several fitting nodes the one with the best score is taken, as the scheduler does; of large clusters those nodes are
compared that have the fewest copies so far. Nothing of the Inventory is changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from kubectl_dra.allocation.outcome import Allocated
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import classic, quota
from kubectl_dra.diagnosis.attempt import Attempt, Result, attempt
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import NodeOutcome, PodDiagnosis, Verdict
from kubectl_dra.diagnosis.volume_claims import with_claims_of
from kubectl_dra.model.classic import ClassicResourceClaim, ClassicResourceClaimTemplate
from kubectl_dra.model.core import Node, Pod, PodResourceClaim, PodResourceClaimStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta, OwnerReference
from kubectl_dra.model.resource import (
    AllocationResult,
    ConsumerReference,
    ResourceClaim,
    ResourceClaimStatus,
    ResourceClaimTemplate,
)
from kubectl_dra.model.usage import NodeUsage, pod_usage
from kubectl_dra.scheduler.attempt import scores
from kubectl_dra.scheduler.claims import EXTENDED_CLAIM_ANNOTATION, FINALIZER, resolve, sources
from kubectl_dra.scheduler.extended import virtual_claim
from kubectl_dra.scheduler.gangs.world import assumed_volumes
from kubectl_dra.scheduler.plugins.volume_binding import chosen_volumes

# The codes of what aborts an attempt.
_ABORTS: Final = "DRA-3"
# More nodes than these are not compared for one copy.
_COMPARED: Final = 50
#: Nobody counts copies beyond this; a larger number is "at least".
MAX_COPIES: Final = 500


@dataclass(frozen=True, slots=True)
class Placed:
    """How many copies fit and where. ``failed`` is the diagnosis of the first copy that does not.

    ``world`` has the copies that fit and the one that does not. ``capped``: more might fit.
    """

    world: ClusterState
    nodes: Mapping[str, int] = field(default_factory=dict)
    failed: PodDiagnosis | None = None
    capped: bool = False

    @property
    def copies(self) -> int:
        """The copies that fit."""
        return sum(self.nodes.values())


def place(world: ClusterState, pods: Iterable[Pod]) -> Placed:
    """Place ``pods``, which differ in their names only, in their order until one does not fit."""
    nodes: dict[str, int] = {}
    candidates: list[str] = []
    for number, pod in enumerate(pods):
        if number == MAX_COPIES:
            return Placed(world, nodes, capped=True)
        world = world.changed(added(world.inventory, pod, extended=world.features.extended_resource))
        key = key_of(pod.metadata)
        fitting = _take(world, key, candidates, nodes)
        if fitting is None:
            diagnosis = Diagnoser(world).pod(key)
            if not _gets_devices(diagnosis):
                return Placed(world, nodes, diagnosis)
            candidates = [n for group in diagnosis.nodes if group.outcome is NodeOutcome.FITS for n in group.nodes]
            fitting = _take(world, key, candidates, nodes)
            assert fitting is not None  # noqa: S101 - the diagnosis has just found one
        world = world.changed(bound(world, key, *fitting))
        name = fitting[0].metadata.name
        nodes[name] = nodes.get(name, 0) + 1
    return Placed(world, nodes)


def _gets_devices(diagnosis: PodDiagnosis) -> bool:
    """Whether a copy fits, as far as it is simulated: other plugins may be open."""
    codes = [cause.code for cause in diagnosis.causes]
    if diagnosis.verdict is Verdict.UNKNOWN and codes[:1] == [Code.NOT_SIMULATED]:
        return not any(code.startswith(_ABORTS) for code in codes)
    return diagnosis.verdict is Verdict.SCHEDULABLE


_Fitting = tuple[Node, Result, Attempt]


def _take(world: ClusterState, key: Key, candidates: list[str], taken: Mapping[str, int]) -> _Fitting | None:
    """The candidate with the best score, of several that with the fewest copies; those that do not fit are removed."""
    pod = world.inventory.pods[key]
    entries = resolve(world.inventory, world.evidence, world.features, pod)
    if any(entry.problem is not None for entry in entries):
        return None
    claims = [entry.claim for entry in entries if entry.claim is not None]
    trying = classic.attempt if classic.concerns(claims) else attempt
    while candidates:
        names = sorted(candidates, key=lambda node: taken.get(node, 0))[:_COMPARED]
        tried = trying(world, pod, claims, names)
        fits = {node.metadata.name: (node, result) for node, result in tried.nodes(NodeOutcome.FITS)}
        candidates[:] = [name for name in candidates if name in fits or name not in names]
        if fits:
            name = min(_best(tried, fits), key=lambda node: taken.get(node, 0))
            return (*fits[name], tried)
    return None


def _best(tried: Attempt, fits: Collection[str]) -> Collection[str]:
    """Those of the nodes that fit with the best score."""
    assert tried.engine is not None  # noqa: S101 - nodes were tried
    return [name for name in scores(tried.engine).best if name in fits] or fits


def placed(world: ClusterState, key: Key, among: Collection[str]) -> ClusterState | None:
    """With the pod on the best of these nodes; None where it does not fit on any of them."""
    fitting = _take(world, key, list(among), {})
    return world.changed(bound(world, key, *fitting)) if fitting is not None else None


# --- objects that come into being -------------------------------------------------------------------------------------


def added(inventory: Inventory, pod: Pod, *, extended: bool = True) -> Inventory:
    """With a pod, and with the claims that its templates make; without the template there is no claim.

    A quota may forbid a claim, and then those of later entries are not made either; ``extended`` as in ``quota``.
    """
    claims, quotas = dict(inventory.claims), inventory.quotas
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
            name = f"{pod.metadata.name}-{entry.name}"
            owner = OwnerReference("v1", "Pod", pod.metadata.name, pod.metadata.uid, controller=True)
            meta = ObjectMeta(name=name, namespace=pod.metadata.namespace, uid=name, owner_references=(owner,))
            claims[key_of(meta)] = made_from(template, meta)
            statuses.append(PodResourceClaimStatus(entry.name, name))
    status = msgspec.structs.replace(pod.status, resource_claim_statuses=tuple(statuses))
    made = msgspec.structs.replace(pod, status=status)
    pods = {**inventory.pods, key_of(pod.metadata): made}
    return with_claims_of(inventory, made).replace(pods=pods, claims=claims, quotas=quotas)


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


def made_from(template: ResourceClaimTemplate, meta: ObjectMeta) -> ResourceClaim:
    """The claim that a template makes."""
    spec = template.spec.spec
    if isinstance(template, ClassicResourceClaimTemplate):
        return ClassicResourceClaim(metadata=meta, spec=spec, classic=template.classic)
    return ResourceClaim(metadata=meta, spec=spec)


def bound(world: ClusterState, key: Key, node: Node, result: Result, tried: Attempt) -> Inventory:
    """With the pod on the node, and its claims allocated to it and reserved for it."""
    inventory = world.inventory
    pod = inventory.pods[key]
    outcome = result.searched.own if result.searched is not None else None
    allocations = iter(outcome.allocations if isinstance(outcome, Allocated) else ())
    claims = dict(inventory.claims)
    user = ConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)
    if classic.concerns(tried.claims):
        claims |= classic.allocated(world, pod, tried.claims, node.metadata.name)
    for claim in dict.fromkeys(key_of(claim.metadata) for claim in tried.claims):
        found = claims[claim]
        allocation = found.status.allocation or next(allocations)
        claims[claim] = _reserved(found, allocation, user)
    if result.extended:
        made_up = _made_up(pod, result)
        claims[key_of(made_up.metadata)] = _reserved(made_up, next(allocations), user)
    if tried.engine is not None and pod.spec.volumes:
        cycle = tried.engine.cycle
        volumes = chosen_volumes(cycle, cycle.snapshot.nodes[node.metadata.name])
        inventory = inventory.replace(storage=assumed_volumes(inventory.storage, volumes, node.metadata.name))
    placed = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node.metadata.name))
    usage = inventory.usage.get(node.metadata.name, NodeUsage()).plus(pod_usage(placed))
    return inventory.replace(
        pods={**inventory.pods, key: placed}, claims=claims, usage={**inventory.usage, node.metadata.name: usage}
    )


def _reserved(claim: ResourceClaim, allocation: AllocationResult, user: ConsumerReference) -> ResourceClaim:
    status = ResourceClaimStatus(allocation=allocation, reserved_for=(*claim.status.reserved_for, user))
    meta = msgspec.structs.replace(claim.metadata, finalizers=(*claim.metadata.finalizers, FINALIZER))
    return msgspec.structs.replace(claim, metadata=meta, status=status)


def _made_up(pod: Pod, result: Result) -> ResourceClaim:
    """The claim for extended resources under a name of its own; its requests play no part once it is allocated."""
    claim = virtual_claim(pod, (), {})
    meta = msgspec.structs.replace(
        claim.metadata,
        name=f"{pod.metadata.name}-extended-resources",
        annotations={EXTENDED_CLAIM_ANNOTATION: "true"},
    )
    assert result.extended  # noqa: S101 - asked for by the caller
    return msgspec.structs.replace(claim, metadata=meta)
