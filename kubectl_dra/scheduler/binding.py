"""Whether devices that are allocated may be bound: the conditions that drivers attach to them.

Upstream: the dynamicresources plugin's isClaimReadyForBinding and isClaimTimeout.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.features import Features
from kubectl_dra.model.held import device_of
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.resource import AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim


class BindingProblem(ReportRecord, frozen=True, tag_field="type", tag=True):
    """Binding conditions of one allocated device: waited for, failed, or over time; ``met`` are True already.

    ``reason`` and ``message``: of the one that failed, or of the first that is waited for and says why.
    """

    device: str
    waiting_for: tuple[str, ...] = ()
    failed: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""
    met: tuple[str, ...] = ()


class Readiness(msgspec.Struct, frozen=True):
    """Whether the devices of an allocated claim may be bound; ``failed`` ends the waiting, ``waiting`` may still do."""

    waiting: tuple[BindingProblem, ...] = ()
    failed: BindingProblem | None = None


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
        device = str(device_of(result))
        status = _status_of(claim, result)
        failure = _failure(status, result)
        # A failure behind a device that is not ready is only seen once that device is.
        if failure is not None and not waiting:
            return Readiness(
                failed=BindingProblem(
                    device, (), failure.type, failure.reason, failure.message, failure.last_transition_time or ""
                )
            )
        missing = tuple(name for name in result.binding_conditions if not _is_true(status, name))
        if missing:
            waiting.append(_waiting(device, status, missing, result.binding_conditions, since))
    return Readiness(tuple(waiting))


def _waiting(
    device: str,
    status: AllocatedDeviceStatus | None,
    missing: tuple[str, ...],
    conditions: Sequence[str],
    since: str | None,
) -> BindingProblem:
    known = (found for name in missing if (found := _condition(status, name)) is not None)
    telling = next((each for each in known if each.reason or each.message), Condition())
    met = tuple(name for name in conditions if name not in missing)
    return BindingProblem(device, missing, "", telling.reason, telling.message, since or "", met)


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
    allocated = parse_time(allocation.allocation_timestamp)
    return allocated is not None and allocated + timeout < now


def unusable(
    claim: ResourceClaim, features: Features, now: datetime | None, timeout: timedelta
) -> BindingProblem | None:
    """Why an allocated claim is given up on every node: its devices failed to bind, or took too long."""
    if not features.device_binding_and_status or claim.status.allocation is None:
        return None
    state = readiness(claim)
    problem = state.failed
    if problem is None and state.waiting and timed_out(claim, now, timeout):
        problem = state.waiting[0]
    return problem


def said_while_waiting(claim: str, problem: BindingProblem) -> str:
    """What the attempt that waited for the devices ended with, as far as it tells whose they are (PreBind, from 1.37).

    The next attempt gives them up, in other words.
    """
    if problem.failed:
        return f"device binding failed: claim={claim}, reason={problem.reason}, "
    return "device binding timeout: "
