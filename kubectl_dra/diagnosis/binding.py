"""After a node was chosen: binding conditions of allocated devices, and what the API server would refuse to write.

Upstream: the dynamicresources plugin's isClaimReadyForBinding, isClaimTimeout and bindClaim; validation of the status
of claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import BindingProblem, Cause, FatalError, ObjectRef
from kubectl_dra.model.classic import classic_of
from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.resource import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
)
from kubectl_dra.scheduler.claims import consumer_limit, is_reserved_for

DEFAULT_TIMEOUT: Final = timedelta(seconds=600)
_ADMIN_REFUSAL: Final = (
    "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label "
    "on the containing namespace"
)


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the devices of an allocated claim may be bound; ``failed`` ends the waiting, ``waiting`` may still do."""

    waiting: tuple[BindingProblem, ...] = ()
    failed: BindingProblem | None = None

    @property
    def ready(self) -> bool:
        """Nothing is waited for and nothing failed."""
        return not self.waiting and self.failed is None


def readiness(claim: ResourceClaim) -> Readiness:
    """The binding conditions of all devices in order; as upstream, the first device that is not ready decides."""
    allocation = claim.status.allocation
    if allocation is None:
        return Readiness()
    waiting: list[BindingProblem] = []
    since = allocation.allocation_timestamp
    for result in allocation.devices.results:
        if not result.binding_conditions:
            continue
        device = str(DeviceId(result.driver, result.pool, result.device))
        status = _status_of(claim, result)
        failure = _failure(status, result)
        # A failure behind a device that is not ready is only seen once that device is.
        if failure is not None and not waiting:
            return Readiness(
                failed=BindingProblem(
                    device, (), failure.type, failure.reason, failure.message, failure.last_transition_time
                )
            )
        missing = tuple(name for name in result.binding_conditions if not _is_true(status, name))
        if missing:
            waiting.append(BindingProblem(device, missing, since=since))
    return Readiness(tuple(waiting))


def _status_of(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    wanted = result.driver, result.pool, result.device
    return next((s for s in claim.status.devices if (s.driver, s.pool, s.device) == wanted), None)


def _failure(status: AllocatedDeviceStatus | None, result: DeviceRequestAllocationResult) -> Condition | None:
    for name in result.binding_failure_conditions:
        condition = _condition(status, name)
        if condition is not None and condition.status == "True":
            return condition
    return None


def _is_true(status: AllocatedDeviceStatus | None, name: str) -> bool:
    condition = _condition(status, name)
    return condition is not None and condition.status == "True"


def _condition(status: AllocatedDeviceStatus | None, name: str) -> Condition | None:
    return next((c for c in status.conditions if c.type == name), None) if status is not None else None


def timed_out(claim: ResourceClaim, now: datetime | None, timeout: timedelta) -> bool:
    """Whether an allocation with binding conditions is older than the time that the scheduler waits."""
    allocation = claim.status.allocation
    if now is None or allocation is None or allocation.allocation_timestamp is None:
        return False
    if not any(result.binding_conditions for result in allocation.devices.results):
        return False
    return parse_time(allocation.allocation_timestamp) + timeout < now


def parse_time(text: str) -> datetime:
    """An RFC 3339 time."""
    return datetime.fromisoformat(text)


def unusable(claim: ResourceClaim, features: Features, now: datetime | None, timeout: timedelta) -> Cause | None:
    """Why an allocated claim is given up on every node: its devices failed to bind, or took too long."""
    if not features.device_binding_and_status or claim.status.allocation is None:
        return None
    state = readiness(claim)
    problem = state.failed
    if problem is None and state.waiting and timed_out(claim, now, timeout):
        problem = state.waiting[0]
    if problem is None:
        return None
    return Cause(Code.BINDING_FAILED, problem, claim=ObjectRef.of("ResourceClaim", key_of(claim.metadata)))


def refused_reservation(pod: Pod, claim: ResourceClaim, features: Features) -> Cause | None:
    """An allocated claim that can't take another consumer."""
    consumers, limit = len(claim.status.reserved_for), consumer_limit(claim, features)
    if consumers < limit or is_reserved_for(pod, claim, features):
        return None
    too_many = f"status.reservedFor: Too many: {consumers + 1}: must have at most {limit} items"
    classic = classic_of(claim)
    # In v1alpha2 the scheduler passes on the server's words as they are.
    patched = classic is not None and bool(classic.resource_class_name)
    where = "" if patched else f"add reservation to claim {key_of(claim.metadata)}: "
    text = f"{where}{_invalid(claim)} {too_many}"
    return Cause(Code.CONSUMERS_FULL, FatalError(text), claim=ObjectRef.of("ResourceClaim", key_of(claim.metadata)))


def refused_admin_access(claim: ResourceClaim, allocation: AllocationResult) -> Cause | None:
    """A new allocation with admin access, to be written in a namespace without the label."""
    results = allocation.devices.results
    index = next((i for i, result in enumerate(results) if result.admin_access), None)
    if index is None:
        return None
    refusal = f"status.allocation.devices.results[{index}].adminAccess: {_ADMIN_REFUSAL}"
    text = f"add allocation and reservation to claim {key_of(claim.metadata)}: {_invalid(claim)} {refusal}"
    detail = FatalError(text)
    return Cause(Code.ADMIN_LABEL_AT_BINDING, detail, claim=ObjectRef.of("ResourceClaim", key_of(claim.metadata)))


def refused_second_entry(pod: Pod, claim: ResourceClaim) -> Cause:
    """Another entry of the pod for a claim that an earlier one has just allocated, or reserved, for it."""
    key = key_of(claim.metadata)
    if claim.status.allocation is None:
        text = f"claim {key} got allocated elsewhere in the meantime"
    else:
        value = f'{{"resource":"pods","name":"{pod.metadata.name}","uid":"{pod.metadata.uid}"}}'
        duplicate = f"status.reservedFor[{len(claim.status.reserved_for) + 1}]: Duplicate value: {value}"
        text = f"add reservation to claim {key}: {_invalid(claim)} {duplicate}"
    return Cause(Code.CLAIM_NAMED_TWICE, FatalError(text), claim=ObjectRef.of("ResourceClaim", key))


def _invalid(claim: ResourceClaim) -> str:
    return f'ResourceClaim.resource.k8s.io "{claim.metadata.name}" is invalid:'


def waiting_causes(claim: ResourceClaim) -> Iterator[Cause]:
    """One cause per device that is waited for."""
    ref = ObjectRef.of("ResourceClaim", key_of(claim.metadata))
    for problem in readiness(claim).waiting:
        yield Cause(Code.BINDING_CONDITIONS, problem, claim=ref)
