"""What a new request without tolerations could do with a device: one state per device, so that totals add up.

The rules are those of ``allocation``; this module only asks them in the order that people care about: who has it, is
it offered at all, is it tainted, do counters of its partition suffice, is something of it left.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kubectl_dra.allocation.checks import capacity
from kubectl_dra.allocation.checks.counters import PoolCounters
from kubectl_dra.allocation.input import allocated
from kubectl_dra.allocation.input.allocated import nano
from kubectl_dra.model.features import Features
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import CapacityRequestPolicy, Device

_ZERO = Quantity.parse("0")


class DeviceState(StrEnum):
    """The states, in the order in which they are decided: the first that holds counts."""

    IN_USE = "inUse"  # held as a whole, or shared with nothing left
    NOT_OFFERED = "notOffered"  # its pool is not ready, or it needs a feature that is off
    TAINTED = "tainted"  # refused without a toleration
    BLOCKED = "blocked"  # the shared counters that it needs are taken by other partitions
    CLOSED = "nodeClosed"  # no node that could use it takes new pods, or there is none
    PARTLY = "partly"  # shared, and something is left
    FREE = "free"


#: What a request without tolerations could get, as a whole or in part.
AVAILABLE: Final = frozenset({DeviceState.FREE, DeviceState.PARTLY})


def feature_missing(device: Device, features: Features) -> str | None:
    """The gate that must be on before the scheduler gives the device away."""
    if device.binding_conditions and not features.device_binding_and_status:
        return "DRADeviceBindingConditions"
    if device.consumes_counters and not features.partitionable_devices:
        return "DRAPartitionableDevices"
    return None


def device_state(
    device: Device,
    held: allocated.DeviceHold | None,
    offered: bool,
    tainted: bool,
    counters: PoolCounters | None,
    closed: bool,
    features: Features,
) -> DeviceState:
    """The state of one device; ``counters`` are those of its pool, None if it has none.

    ``closed``: whether no node takes new pods that could use it.
    """
    if held is not None and (held.dedicated or is_full(device, held, features)):
        return DeviceState.IN_USE
    if not offered or feature_missing(device, features) is not None:
        return DeviceState.NOT_OFFERED
    if tainted:
        return DeviceState.TAINTED
    drained = held is None and counters is not None and bool(device.consumes_counters)
    if drained and counters is not None and counters.shortage(counters.consumption(device)):
        return DeviceState.BLOCKED
    if closed:
        return DeviceState.CLOSED
    return DeviceState.FREE if held is None else DeviceState.PARTLY


def shareable(device: Device, features: Features) -> bool:
    return features.consumable_capacity and bool(device.allow_multiple_allocations)


def is_full(device: Device, held: allocated.DeviceHold, features: Features) -> bool:
    """Whether not even the smallest share that its policies allow is left.

    A device that was shared and is dedicated now is protected by nothing but the same arithmetic. A capacity without
    a policy has no smallest share, nor has one whose policy has a default alone: it is full when it is used up.
    """
    if not device.capacity:
        return False
    least = dict.fromkeys(device.capacity, _ZERO)
    try:
        amounts = capacity.resolve(least, device, features.fractional_capacity_range)
    except capacity.NotComputableError:
        return True
    if amounts.violated is not None or amounts.lacking(held.consumed) is not None:
        return True
    return any(
        amount == 0 < total <= held.consumed.get(name, 0) and _takes_some(device.capacity[name].request_policy)
        for name, amount, total in amounts.needs
    )


def _takes_some(policy: CapacityRequestPolicy | None) -> bool:
    """Whether a request takes some of a capacity that it does not mention: all of it without a policy."""
    return policy is None or policy.default is None or nano(policy.default) > 0


def used_text(amount: int, like: Quantity) -> str:
    """An amount in 1e-9 units as the API would print it, in the format of another quantity."""
    return str(Quantity(amount, allocated.NANO, like.format))


def left_of(device: Device, name: str, held: allocated.DeviceHold | None) -> int:
    """What is left of a capacity, in 1e-9 units; never below zero."""
    consumed = held.consumed.get(name, 0) if held is not None else 0
    return max(0, nano(device.capacity[name].value) - consumed)
