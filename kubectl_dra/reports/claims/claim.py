"""describe-claim: where a claim stands, every device it got, what drivers say of it, and who consumes it.

What the driver of a classic claim (v1alpha2, or a controller of v1alpha3) holds and has to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.claim_verdicts import verdict
from kubectl_dra.diagnosis.records import ClaimVerdict, Missing
from kubectl_dra.model import resource
from kubectl_dra.model.classic import ClassicClaim, ResourceHandle, classic_of
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Evidence, pool_fields
from kubectl_dra.model.forms import forms
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.base import FeatureRecord, ReadRecord, ReportRecord, feature_record, raw_or_none, reads_of
from kubectl_dra.reports.claims.ask import ClaimAsk, claim_ask
from kubectl_dra.reports.claims.claim_list import printed_state, waiting_pods
from kubectl_dra.reports.claims.health import Health, health_by_device
from kubectl_dra.reports.devices.holders import Consumer, ConsumerState, consumers_of, pod_state, waiting_reason
from kubectl_dra.reports.scope import Scope, claim_scope
from kubectl_dra.reports.taints.taints import TaintRecord, device_taints
from kubectl_dra.reports.unread import missing_rights
from kubectl_dra.scheduler.claims import claims_of

_MOST_HELD: Final = 8
_MOST_CONDITIONS: Final = 3
#: Characters of what a driver says of a device where it is not asked about the claim.
_LONGEST: Final = 160
POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
KINDS = (
    *("ResourceClaim", "ResourceClaimTemplate", "Pod", "ResourceSlice", "DeviceTaintRule", "DeviceClass", "Node"),
    "ResourceClass",
)


class DriverStatus(ReportRecord, frozen=True):
    """What a driver reports of an allocated device (``status.devices[]``); ``data`` is its own JSON, unread."""

    conditions: tuple[Condition, ...]
    network_data: resource.NetworkDeviceData | None
    data: msgspec.Raw | None


class ResultRecord(ReportRecord, frozen=True):
    """One device, or one share of one, that the claim holds.

    ``published`` says whether a slice of the pool's newest generation still has the device (None: slices not read).
    ``waiting_for`` are binding conditions that are not True yet, ``failed`` failure conditions that are.
    """

    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool
    share_id: str
    consumed_capacity: dict[str, str]
    tolerations: tuple[resource.DeviceToleration, ...]
    binding_conditions: tuple[str, ...]
    binding_failure_conditions: tuple[str, ...]
    waiting_for: tuple[str, ...]
    failed: tuple[str, ...]
    skip_node_operations: tuple[str, ...]
    published: bool | None
    taints: tuple[TaintRecord, ...]
    health: tuple[Health, ...]
    status: DriverStatus | None


class HeldDevice(ReportRecord, frozen=True):
    """What is known of a device that a pod holds (``DRIVER/POOL/DEVICE``): its share, and what its driver reports.

    The driver's own data stands on the page of the claim only: there may be 10 KiB of it for each device, and 32 KiB of
    words in each of eight conditions. Of these the first three are here, those that are not true before others, and
    words of each up to a length.
    """

    device: str
    consumed_capacity: dict[str, str]
    conditions: tuple[Condition, ...]
    network_data: resource.NetworkDeviceData | None


class ConfigRecord(ReportRecord, frozen=True):
    """Opaque configuration: ``source`` is ``FromClass`` or ``FromClaim``; no requests means all of them.

    ``device_class`` is given where the claim is not allocated yet and the class would supply it.
    """

    source: str
    requests: tuple[str, ...]
    device_class: str
    driver: str
    parameters: msgspec.Raw | None


class TemplateUse(ReportRecord, frozen=True):
    """The template that the claim was made from.

    ``name`` is None where the pod that names it is not known; labels and annotations are what it copies to claims.
    """

    entry: str
    name: str
    exists: bool | None
    labels: dict[str, str]
    annotations: dict[str, str]


class DerivedRecord(ReportRecord, frozen=True):
    """An attribute that a request computes with CEL, for constraints only."""

    request: str
    name: str
    expression: str


class ClaimReport(ReportRecord, frozen=True):
    """Everything about one claim. ``printed_state`` is kubectl's STATE; ``as_of`` the time of the facts (RFC 3339)."""

    namespace: str
    name: str
    uid: str
    state: ClaimVerdict
    printed_state: str
    created: str
    deleted: str
    allocated: str
    finalizers: tuple[str, ...]
    owner: str
    template: TemplateUse | None
    asks: ClaimAsk
    derived_attributes: tuple[DerivedRecord, ...]
    classic: ClassicRecord | None
    results: tuple[ResultRecord, ...]
    configs: tuple[ConfigRecord, ...]
    scope: Scope | None
    reserved_for: tuple[Consumer, ...]
    waiting: tuple[Consumer, ...]
    missing: tuple[Missing, ...]
    features: FeatureRecord
    read: tuple[ReadRecord, ...]
    as_of: str


def claim_report(claim: resource.ResourceClaim, state: ClusterState) -> ClaimReport:
    """The report of one claim of the inventory."""
    meta, allocation = claim.metadata, claim.status.allocation
    template = _template_use(claim, state.inventory, state.evidence)
    return ClaimReport(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        state=verdict(claim),
        printed_state=printed_state(claim),
        created=meta.creation_timestamp or "",
        deleted=meta.deletion_timestamp or "",
        allocated=(allocation.allocation_timestamp or "") if allocation is not None else "",
        finalizers=meta.finalizers,
        owner=_owner(claim) or "",
        template=template,
        asks=claim_ask(claim, template.entry if template else "", template.name if template else None),
        derived_attributes=tuple(_derived(claim)),
        classic=_classic_record(claim),
        results=_results(claim, state),
        configs=tuple(_configs(claim, state.inventory)),
        scope=claim_scope(allocation.node_selector, state) if allocation is not None else None,
        reserved_for=consumers_of(claim, state),
        waiting=tuple(map(_waiting, waiting_pods(claim, state.inventory))),
        missing=missing_rights(state.evidence, _kinds_of(claim, state.evidence), meta.namespace),
        features=feature_record(state.features),
        read=reads_of(state.evidence),
        as_of=state.as_of,
    )


def _owner(claim: resource.ResourceClaim) -> str | None:
    owner = claim.metadata.controller
    return f"{owner.kind}/{owner.name}" if owner is not None else None


def _derived(claim: resource.ResourceClaim) -> Iterator[DerivedRecord]:
    for name, form in forms(claim.spec):
        yield from (DerivedRecord(name, each.name, each.expression) for each in form.derived_attributes)


def _waiting(pod: Pod) -> Consumer:
    meta = pod.metadata
    state = pod_state(pod)
    node = pod.spec.node_name if state is not ConsumerState.PENDING else pod.status.nominated_node_name
    return Consumer("", "pods", meta.namespace, meta.name, meta.uid, state, node, waiting_reason(pod))


def _template_use(claim: resource.ResourceClaim, inventory: Inventory, evidence: Evidence) -> TemplateUse | None:
    """Generated claims carry the pod's entry in an annotation; only the owning pod's spec names the template."""
    entry = claim.metadata.annotations.get(POD_CLAIM_ANNOTATION)
    if entry is None:
        return None
    name = _template_name(claim, entry, inventory)
    if name is None:
        return TemplateUse(entry, "", None, {}, {})
    namespace = claim.metadata.namespace
    template = inventory.templates.get(Key(namespace, name))
    if template is None:
        exists = False if evidence.complete("ResourceClaimTemplate", namespace) else None
        return TemplateUse(entry, name, exists, {}, {})
    copied = template.spec.metadata
    return TemplateUse(entry, name, True, dict(copied.labels), dict(copied.annotations))


def _template_name(claim: resource.ResourceClaim, entry: str, inventory: Inventory) -> str | None:
    for owner in claim.metadata.owner_references:
        pod = inventory.pods_by_uid.get(owner.uid) if owner.controller else None
        for source in pod.spec.resource_claims if pod is not None else ():
            if source.name == entry:
                return source.resource_claim_template_name
    return None


def _results(claim: resource.ResourceClaim, state: ClusterState) -> tuple[ResultRecord, ...]:
    records = []
    for result in results_of(claim):
        device_id = device_of(result)
        found = next(iter(state.inventory.named(device_id)), None)
        taints = device_taints(found[1], found[0].spec, state.rules, state.narrowing, state.features) if found else ()
        status = _driver_status(claim, result)
        published = True if found else (False if _slices_known(device_id.pool_id, state.evidence) else None)
        records.append(_result(result, published, taints, health_by_device(state).get(device_id, ()), status))
    return tuple(records)


def held_by(pod: Pod, inventory: Inventory) -> tuple[HeldDevice, ...]:
    """What a pod's claims hold, as far as there is anything to say of it; the first devices of many."""
    pairs = ((claim, result) for claim in claims_of(pod, inventory) for result in results_of(claim))
    found = (_held_device(result, _driver_status(claim, result)) for claim, result in pairs)
    telling = (each for each in found if each.consumed_capacity or each.conditions or each.network_data is not None)
    return tuple(islice(telling, _MOST_HELD))


def _held_device(
    result: resource.DeviceRequestAllocationResult, status: resource.AllocatedDeviceStatus | None
) -> HeldDevice:
    status = status or resource.AllocatedDeviceStatus()
    told = sorted(status.conditions, key=lambda each: each.status == "True")[:_MOST_CONDITIONS]
    return HeldDevice(str(device_of(result)), _amounts(result), tuple(map(_in_short, told)), status.network_data)


def _in_short(condition: Condition) -> Condition:
    type_, reason, message = map(_cut, (condition.type, condition.reason, condition.message))
    return msgspec.structs.replace(condition, type=type_, reason=reason, message=message)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _amounts(result: resource.DeviceRequestAllocationResult) -> dict[str, str]:
    return {name: str(amount) for name, amount in sorted(result.consumed_capacity.items())}


def _slices_known(pool: PoolId, evidence: Evidence) -> bool:
    return evidence.within(pool_fields(pool)).complete("ResourceSlice")


def _kinds_of(claim: resource.ResourceClaim, evidence: Evidence) -> tuple[str, ...]:
    """The kinds that this claim's report needs: of the slices only those of the pools that it holds devices of.

    Devices, their taints and nodes are those of an allocation, classes those of what has none yet.
    """
    unneeded = {"Node", "DeviceTaintRule"} if claim.status.allocation is None else {"DeviceClass"}
    if POD_CLAIM_ANNOTATION not in claim.metadata.annotations:
        unneeded.add("ResourceClaimTemplate")
    if all(_slices_known(PoolId(result.driver, result.pool), evidence) for result in results_of(claim)):
        unneeded.add("ResourceSlice")
    return tuple(kind for kind in KINDS if kind not in unneeded)


def _driver_status(
    claim: resource.ResourceClaim, result: resource.DeviceRequestAllocationResult
) -> resource.AllocatedDeviceStatus | None:
    wanted = (result.driver, result.pool, result.device, result.share_id)
    return next((s for s in claim.status.devices if (s.driver, s.pool, s.device, s.share_id) == wanted), None)


def _result(
    result: resource.DeviceRequestAllocationResult,
    published: bool | None,
    taints: tuple[TaintRecord, ...],
    health: tuple[Health, ...],
    status: resource.AllocatedDeviceStatus | None,
) -> ResultRecord:
    true = {condition.type for condition in status.conditions if condition.status == "True"} if status else set()
    return ResultRecord(
        request=result.request,
        driver=result.driver,
        pool=result.pool,
        device=result.device,
        admin_access=bool(result.admin_access),
        share_id=result.share_id or "",
        consumed_capacity=_amounts(result),
        tolerations=result.tolerations,
        binding_conditions=result.binding_conditions,
        binding_failure_conditions=result.binding_failure_conditions,
        waiting_for=tuple(name for name in result.binding_conditions if name not in true),
        failed=tuple(name for name in result.binding_failure_conditions if name in true),
        skip_node_operations=result.skip_node_operations,
        published=published,
        taints=taints,
        health=health,
        status=DriverStatus(status.conditions, status.network_data, raw_or_none(status.data)) if status else None,
    )


def _configs(claim: resource.ResourceClaim, inventory: Inventory) -> Iterator[ConfigRecord]:
    """What drivers are given; before allocation, what the classes (all alternatives) and the claim would give."""
    if claim.status.allocation is not None:
        for config in claim.status.allocation.devices.config:
            yield _config(config.source, config.requests, None, config.opaque)
        return
    for class_name, requests in _requests_by_class(claim).items():
        device_class = inventory.classes.get(class_name)
        for of_class in device_class.spec.config if device_class is not None else ():
            yield _config("FromClass", requests, class_name, of_class.opaque)
    for of_claim in claim.spec.devices.config:
        yield _config("FromClaim", of_claim.requests, None, of_claim.opaque)


def _requests_by_class(claim: resource.ResourceClaim) -> dict[str, tuple[str, ...]]:
    by_class: dict[str, tuple[str, ...]] = {}
    for ask in claim_ask(claim).requests:
        by_class[ask.device_class] = (*by_class.get(ask.device_class, ()), ask.name)
    return by_class


def _config(
    source: str, requests: tuple[str, ...], device_class: str | None, opaque: resource.OpaqueConfiguration | None
) -> ConfigRecord:
    opaque = opaque or resource.OpaqueConfiguration()
    return ConfigRecord(source, requests, device_class or "", opaque.driver, raw_or_none(opaque.parameters))


class HandleRecord(ReportRecord, frozen=True):
    """``allocation.resourceHandles[]``. ``data_bytes`` is the size of the driver's own data, which is never shown.

    ``node`` and ``instances`` are what structured parameters gave.
    """

    driver: str
    data_bytes: int
    node: str
    instances: tuple[str, ...]


class ClassicRecord(ReportRecord, frozen=True):
    """The classic side of a claim's status. ``driver`` is empty until allocation starts."""

    driver: str
    shareable: bool
    deallocation_requested: bool
    handles: tuple[HandleRecord, ...]


def _classic_record(claim: ResourceClaim) -> ClassicRecord | None:
    """The record of a claim; None for one that only the scheduler decides."""
    classic = classic_of(claim)
    if classic is None:
        return None
    driver = classic.driver_name or classic.allocation_controller
    # Since v1alpha3 every allocation may be shared.
    shareable = classic.shareable or (claim.status.allocation is not None and not classic.resource_class_name)
    return ClassicRecord(driver, shareable, classic.deallocation_requested, _handles(classic))


def _handles(classic: ClassicClaim) -> tuple[HandleRecord, ...]:
    return tuple(map(_handle, classic.resource_handles))


def _handle(handle: ResourceHandle) -> HandleRecord:
    size, structured = len(handle.data.encode(errors="surrogatepass")), handle.structured_data
    if structured is None:
        return HandleRecord(handle.driver_name, size, "", ())
    named = tuple(result.named_resources.name for result in structured.results if result.named_resources is not None)
    return HandleRecord(handle.driver_name, size, structured.node_name, named)
