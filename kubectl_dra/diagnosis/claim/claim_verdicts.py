"""The state of one claim, who uses it, and what it waits for.

Upstream: the resource claim controller (syncClaim, isPodDone) and the columns of ``kubectl get resourceclaims``.

Devices that claims hold although their driver does not publish them any more. The scheduler does not look at the
devices of an allocation again, so a pod gets its node and the kubelet fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.diagnosis.claim.reserved import is_gone
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.binding import waiting_causes
from kubectl_dra.diagnosis.gates.gates import owner_of
from kubectl_dra.diagnosis.pod import missing, needs
from kubectl_dra.diagnosis.records import (
    Cause,
    ClaimDiagnosis,
    ClaimVerdict,
    Consumers,
    MissingEvidence,
    Negotiation,
    ObjectRef,
    VanishedDevices,
)
from kubectl_dra.model.classic import IMMEDIATE, classic_of
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Coverage, Evidence, pool_fields
from kubectl_dra.model.features import Features
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import AllocationResult, ResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.claims import is_reserved_for

_POD: str = "Pod"
_READ = frozenset({Coverage.COMPLETE, Coverage.NOT_SERVED})


def kept_by_finalizers(claim: ResourceClaim) -> Consumers | None:
    """What the deletion of a claim waits for, if it is being deleted."""
    going = claim.metadata.deletion_timestamp is not None
    return Consumers(finalizers=claim.metadata.finalizers) if going else None


def diagnose(inventory: Inventory, evidence: Evidence, features: Features, claim: ResourceClaim) -> ClaimDiagnosis:
    """Everything about one claim that needs no search; why pods that wait for it do not run is not told here."""
    key = key_of(claim.metadata)
    pods = inventory.pods_by_claim.get(key, ())
    allocation = claim.status.allocation
    pods_known = evidence.users_known(key.namespace)
    return ClaimDiagnosis(
        ObjectRef.of("ResourceClaim", key),
        verdict(claim),
        tuple(_causes(inventory, evidence, features, claim, pods, pods_known)),
        consumers=tuple(ObjectRef.of_consumer(key.namespace, consumer) for consumer in claim.status.reserved_for),
        waiting_pods=tuple(ObjectRef.of(_POD, key_of(pod.metadata)) for pod in pods if _waits(pod)),
        owner=owner_of(claim),
        devices=tuple(map(str, devices_of(claim))),
        usable_on=selected_names(allocation.node_selector if allocation is not None else None),
        certainty=missing.certainty(evidence),
        missing=missing.missing(evidence, needs.CLAIM, key.namespace),
    )


def verdict(claim: ResourceClaim) -> ClaimVerdict:
    """The state: a deleted claim that still holds devices is ``Deleting``."""
    if claim.metadata.deletion_timestamp is not None:
        return ClaimVerdict.DELETING
    if claim.status.allocation is None:
        return ClaimVerdict.PENDING
    if claim.status.reserved_for:
        return ClaimVerdict.RESERVED
    return ClaimVerdict.UNRESERVED if _is_wasted(claim, claim.status.allocation) else ClaimVerdict.ALLOCATED


def _is_wasted(claim: ResourceClaim, allocation: AllocationResult) -> bool:
    """Whether an allocation that nobody uses holds something; one that was made without any pod is meant to."""
    classic = classic_of(claim)
    if classic is None:
        return bool(allocation.devices.results)
    return classic.allocation_mode != IMMEDIATE


def _causes(
    inventory: Inventory,
    evidence: Evidence,
    features: Features,
    claim: ResourceClaim,
    pods: tuple[Pod, ...],
    pods_known: bool,
) -> Iterator[Cause]:
    ref = ObjectRef.of_claim(claim)
    present, gone = _consumers(inventory, claim, pods_known)
    yield from _of_driver(inventory, claim, ref)
    gone_devices = vanished(inventory, evidence, claim)
    if gone_devices is not None:
        yield gone_devices
    match verdict(claim):
        case ClaimVerdict.DELETING:
            kept = Consumers(present, gone, claim.metadata.finalizers)
            yield Cause(Code.CLAIM_KEPT_BY_CONSUMERS, kept, claim=ref)
        case ClaimVerdict.PENDING if not _immediate(inventory, claim):
            if not any(not is_terminal(pod) for pod in pods):
                if pods_known:
                    yield Cause(Code.CLAIM_WAITS_FOR_POD, claim=ref)
                yield from _pods_unread(evidence, ref)
        case ClaimVerdict.UNRESERVED if not _deallocating(claim):
            yield Cause(Code.CLAIM_UNUSED, claim=ref)
        case ClaimVerdict.RESERVED:
            if features.device_binding_and_status and not any(_runs_with(pod, claim, features) for pod in pods):
                yield from waiting_causes(claim)
    if gone and claim.metadata.deletion_timestamp is None:
        yield Cause(Code.CONSUMER_GONE, Consumers(present, gone), claim=ref)


def _pods_unread(evidence: Evidence, ref: ObjectRef) -> Iterator[Cause]:
    """That pods which could not be read may use the claim, and tell why it waits."""
    if not evidence.complete(_POD, ref.namespace):
        unread = tuple(each for each in missing.missing(evidence, needs.CLAIM, ref.namespace) if each.kind == _POD)
        yield Cause(Code.EVIDENCE_MISSING, MissingEvidence(unread), claim=ref)


def _of_driver(inventory: Inventory, claim: ResourceClaim, ref: ObjectRef) -> Iterator[Cause]:
    """What the driver of a classic claim is expected to do, whatever pods do."""
    classic = classic_of(claim)
    if classic is None:
        return
    class_ = inventory.classic.classes.get(classic.resource_class_name)
    driver = classic.driver_name or classic.allocation_controller or classic.controller
    detail = Negotiation(driver or (class_.driver_name if class_ is not None else ""))
    if classic.deallocation_requested:
        yield Cause(Code.DEALLOCATION_REQUESTED, detail, ref)
    elif verdict(claim) is ClaimVerdict.PENDING and _immediate(inventory, claim):
        yield Cause(Code.IMMEDIATE_NOT_ALLOCATED, detail, ref)


def _deallocating(claim: ResourceClaim) -> bool:
    classic = classic_of(claim)
    return classic is not None and classic.deallocation_requested


def _immediate(inventory: Inventory, claim: ResourceClaim) -> bool:
    """Whether the driver allocates the claim without any pod; with structured parameters nobody does."""
    classic = classic_of(claim)
    if classic is None or classic.allocation_mode != IMMEDIATE:
        return False
    class_ = inventory.classic.classes.get(classic.resource_class_name)
    return class_ is None or not class_.structured_parameters


def _consumers(
    inventory: Inventory, claim: ResourceClaim, pods_known: bool
) -> tuple[tuple[ObjectRef, ...], tuple[ObjectRef, ...]]:
    """Consumers that are there (or may be), and pods that are gone, replaced or finished."""
    namespace = claim.metadata.namespace
    present: list[ObjectRef] = []
    gone: list[ObjectRef] = []
    for consumer in claim.status.reserved_for:
        ref = ObjectRef.of_consumer(namespace, consumer)
        (gone if pods_known and is_gone(inventory, namespace, consumer) else present).append(ref)
    return tuple(present), tuple(gone)


def _waits(pod: Pod) -> bool:
    return pod.status.phase in ("", "Pending")


def _runs_with(pod: Pod, claim: ResourceClaim, features: Features) -> bool:
    return bool(pod.spec.node_name) and is_reserved_for(pod, claim, features)


def selected_names(selector: NodeSelector | None) -> tuple[str, ...]:
    """The node names that an allocation's selector allows, if it names nodes."""
    if selector is None:
        return ()
    fields = (field for term in selector.node_selector_terms for field in term.match_fields)
    return tuple(
        value for field in fields if (field.key, field.operator) == ("metadata.name", "In") for value in field.values
    )


def vanished(inventory: Inventory, evidence: Evidence, claim: ResourceClaim) -> Cause | None:
    """The devices of an allocated claim that are known to be published no more; None where there are none."""
    gone = tuple(id_ for id_ in devices_of(claim) if is_vanished(inventory, evidence, id_))
    if not gone:
        return None
    pools = tuple(dict.fromkeys(str(id_.pool_id) for id_ in gone if id_.pool_id not in inventory.slices_by_pool))
    detail = VanishedDevices(tuple(map(str, gone)), pools)
    return Cause(Code.DEVICE_VANISHED, detail, claim=ObjectRef.of_claim(claim))


def is_unpublished(inventory: Inventory, device: DeviceId) -> bool:
    """Whether no slice of the newest generation has the device; one that was not read, or is to come, may have it."""
    return not inventory.named(device)


def is_vanished(inventory: Inventory, evidence: Evidence, device: DeviceId) -> bool:
    """Whether certainly nothing publishes a device any more."""
    pool = device.pool_id
    if not is_unpublished(inventory, device):
        return False
    if evidence.within(pool_fields(pool)).coverage("ResourceSlice") not in _READ:
        return False
    slices = inventory.newest(pool)
    # A pool that is being updated may publish it in a slice that is not there yet.
    return not slices or len(slices) == max(each.spec.pool.resource_slice_count for each in slices)
