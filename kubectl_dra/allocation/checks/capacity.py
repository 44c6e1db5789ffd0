"""Capacity requests: what amount a device would give, whether its policy allows it, whether enough is left.

Upstream: consumable_capacity.go of the structured allocator. All amounts are compared in exact 1e-9 units; the two
arithmetics that round (milli-units and int64) are those of the scheduler, with its own errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from kubectl_dra.allocation.errors import CapacityFault
from kubectl_dra.allocation.input.allocated import nano
from kubectl_dra.model.quantity import MAX_INT64, Quantity, wrapped
from kubectl_dra.model.resource import CapacityRange, CapacityRequestPolicy, Device, DeviceCapacity

_MILLI: Final = -3
_NO_POLICY: Final = CapacityRequestPolicy()


class NotComputableError(Exception):
    """Raised for an amount that can't be computed; ``capacity`` is its name, ``amount`` the request's text."""

    def __init__(self, capacity: str, fault: CapacityFault, amount: str) -> None:
        super().__init__(capacity, fault, amount)
        self.capacity = capacity
        self.fault = fault
        self.amount = amount


class Amounts(msgspec.Struct, frozen=True):
    """What one request takes of one device: per capacity the quantity, and amount and total in 1e-9 units.

    ``missing`` is a requested capacity that the device does not have, ``violated`` the first capacity whose policy
    refuses the amount; with either, the device is skipped.
    """

    quantities: Mapping[str, Quantity]
    needs: tuple[tuple[str, int, int], ...] = ()
    missing: str | None = None
    violated: str | None = None

    def lacking(self, *consumed: Mapping[str, int]) -> tuple[str, int, int] | None:
        """The first capacity that is too small next to what is consumed: (name, amount, what is left)."""
        for name, amount, total in self.needs:
            left = total - sum(used.get(name, 0) for used in consumed)
            if amount > left:
                return name, amount, left
        return None


_NOTHING: Final = Amounts({})


def resolve(requests: Mapping[str, Quantity] | None, device: Device, fractional: bool) -> Amounts:
    """What ``requests`` take of ``device``. Raises :class:`NotComputableError`, which ends the attempt."""
    capacities = device.capacity
    for name in requests or ():
        if name not in capacities:
            return Amounts({}, missing=name)
    if not capacities:
        return _NOTHING
    quantities: dict[str, Quantity] = {}
    for name in sorted(capacities):
        quantity = _amount(name, (requests or {}).get(name), capacities[name], fractional)
        if quantity.sign < 0:
            raise NotComputableError(name, CapacityFault.NEGATIVE, str(quantity))
        quantities[name] = quantity
    needs = tuple((name, nano(quantity), nano(capacities[name].value)) for name, quantity in quantities.items())
    violated = next((n for n, q in quantities.items() if _violates(q, capacities[n].request_policy, fractional)), None)
    return Amounts(quantities, needs, violated=violated)


# --- the amount -----------------------------------------------------------------------------------------------------


def _amount(name: str, requested: Quantity | None, capacity: DeviceCapacity, fractional: bool) -> Quantity:
    policy = capacity.request_policy or _NO_POLICY
    if requested is None:
        return policy.default if policy.default is not None else capacity.value
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _round_up(name, requested, policy.valid_range, policy.valid_range.min, fractional)
    return next((value for value in policy.valid_values if requested.cmp(value) <= 0), requested)


def _round_up(name: str, requested: Quantity, bounds: CapacityRange, least: Quantity, fractional: bool) -> Quantity:
    if requested.cmp(least) < 0:
        return least
    if bounds.step is None:
        return requested
    if _in_milli(bounds, fractional):
        return _round_up_milli(name, requested, least, bounds.step)
    if nano(requested) > MAX_INT64 * 10**9:
        raise NotComputableError(name, CapacityFault.EXCEEDS_INT64, str(requested))
    start, step = _int64(least), _int64(bounds.step)
    steps = _steps(_int64(requested), start, step)
    if start >= 0 and start + step * steps > MAX_INT64:
        raise NotComputableError(name, CapacityFault.INT64_OVERFLOW, str(requested))
    return Quantity(wrapped(start + step * steps), format=bounds.step.format)


def _round_up_milli(name: str, requested: Quantity, least: Quantity, step: Quantity) -> Quantity:
    value = _milli(requested)
    if value is None:
        raise NotComputableError(name, CapacityFault.NOT_MILLI, str(requested))
    start, width = least.at_scale(_MILLI)[0], step.at_scale(_MILLI)[0]
    steps = _steps(value, start, width)
    # Below zero upstream's guard overflows itself and then always fires.
    if start < 0 or start + width * steps > MAX_INT64:
        raise NotComputableError(name, CapacityFault.MILLI_OVERFLOW, str(requested))
    rounded = start + width * steps
    if rounded % 1000 == 0:
        return Quantity(rounded // 1000, format=step.format)
    return Quantity(rounded, _MILLI, step.format)


def _steps(value: int, start: int, step: int) -> int:
    """Steps from ``start`` up to ``value`` in int64 arithmetic."""
    # A step of zero is refused by the API; upstream would divide by it.
    if step <= 0:
        return 0
    distance = wrapped(value - start)
    quotient = abs(distance) // step
    return (quotient if distance >= 0 else -quotient) + (distance % step != 0)


def _int64(quantity: Quantity) -> int:
    """``Quantity.Value``: rounded away from zero."""
    return wrapped(quantity.ceil())


def _milli(quantity: Quantity) -> int | None:
    """The amount in milli-units if that is exact and fits int64."""
    value, exact = quantity.at_scale(_MILLI)
    return value if exact and -MAX_INT64 - 1 <= value <= MAX_INT64 else None


def _in_milli(bounds: CapacityRange, fractional: bool) -> bool:
    if not fractional:
        return False
    given = [quantity for quantity in (bounds.min, bounds.max, bounds.step) if quantity is not None]
    if any(_milli(quantity) is None for quantity in given):
        return False
    return bounds.step is None or bounds.step.at_scale(_MILLI)[0] >= 1


# --- the policy -----------------------------------------------------------------------------------------------------


def largest_allowed(policy: CapacityRequestPolicy | None) -> Quantity | None:
    """The most that a policy allows one request; None where it sets no bound."""
    if policy is None:
        return None
    values = sorted(policy.valid_values, key=nano)
    return policy.valid_range.max if policy.valid_range is not None else values[-1] if values else None


def _violates(amount: Quantity, policy: CapacityRequestPolicy | None, fractional: bool) -> bool:
    if policy is None:
        return False
    # Upstream compares the structs: same text and format, and a big decimal (a pointer) is never the same.
    if policy.default is not None and amount == policy.default and not amount.big:
        return False
    if policy.valid_range is not None:
        return _outside(amount, policy.valid_range, fractional)
    return bool(policy.valid_values) and all(amount.cmp(value) != 0 for value in policy.valid_values)


def _outside(amount: Quantity, bounds: CapacityRange, fractional: bool) -> bool:
    if bounds.max is not None and amount.cmp(bounds.max) > 0:
        return True
    if bounds.step is None or bounds.min is None:
        return False
    if _in_milli(bounds, fractional):
        value = _milli(amount)
        return value is None or _off_grid(value - bounds.min.at_scale(_MILLI)[0], bounds.step.at_scale(_MILLI)[0])
    return _off_grid(wrapped(_int64(amount) - _int64(bounds.min)), _int64(bounds.step))


def _off_grid(distance: int, step: int) -> bool:
    return step != 0 and distance % step != 0
