"""Request policies of shareable capacity: valid values, valid ranges, their default.

Fractional ranges count only where DRAFractionalCapacityRange is on; it is off by default, and values then round up.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.api.admission.errors import Field
from kubectl_dra.model.quantity import MAX_INT64, Quantity
from kubectl_dra.model.resource import CapacityRange, CapacityRequestPolicy

MAX_VALUES: Final = 10


def request_policy(total: Quantity, policy: CapacityRequestPolicy, field: Field) -> None:
    """``requestPolicy`` of a capacity of ``total``."""
    if policy.valid_values and policy.valid_range is not None:
        field.forbidden(
            'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        )
    elif policy.valid_values:
        if policy.default is None:
            field.at("default").required("required when validValues is defined")
        else:
            _values(policy.default, total, policy.valid_values, field.at("validValues"))
    elif policy.valid_range is not None:
        if policy.default is None:
            field.at("default").required("required when validRange is defined")
        else:
            _range(policy.default, total, policy.valid_range, field.at("validRange"))


def _values(default: Quantity, total: Quantity, values: tuple[Quantity, ...], field: Field) -> None:
    for index in range(1, len(values)):
        if values[index - 1].cmp(values[index]) > 0:
            field.index(index).invalid(str(values[index]), "values must be sorted in ascending order")

    def check(value: Quantity, at: Field) -> None:
        if value.cmp(total) > 0:
            at.invalid(str(value), f"option is larger than capacity value: {total}")

    field.items(values, MAX_VALUES, check)
    field.unique(values, MAX_VALUES, whole, lambda value: str(whole(value)))
    # With too many values upstream does not look at any of them.
    if len(values) > MAX_VALUES or all(value.cmp(default) != 0 for value in values):
        field.invalid(str(default), "default value is not valid according to the requestPolicy")


def _range(default: Quantity, total: Quantity, bounds: CapacityRange, field: Field) -> None:
    low, high, step = bounds.min, bounds.max, bounds.step
    if low is None:
        field.at("min").required("required when validRange is defined")
        return
    if low.cmp(total) > 0:
        field.at("min").invalid(str(low), f"min is larger than capacity value: {total}")
    if default.cmp(low) < 0:
        field.at("default").invalid(str(default), f"default is less than min: {low}")
    if high is not None:
        if low.cmp(high) > 0:
            field.at("max").invalid(str(low), f"min is larger than max: {high}")
        if high.cmp(total) > 0:
            field.at("max").invalid(str(high), f"max is larger than capacity value: {total}")
        if default.cmp(high) > 0:
            field.at("default").invalid(str(default), f"default is more than max: {high}")
    if step is not None:
        _step(default, total, low, high, step, field)


def _step(
    default: Quantity, total: Quantity, low: Quantity, high: Quantity | None, step: Quantity, field: Field
) -> None:
    if step.sign <= 0:
        field.at("step").invalid(str(step), "must be greater than zero")
        return
    first = low.add(step)
    if first.cmp(total) > 0:
        field.at("step").invalid(str(step), f"one step {first} is larger than capacity value: {total}")
    named = (("default", default), ("min", low), ("max", high), ("step", step))
    if not all([value is None or _fits(value, field.at(name)) for name, value in named]):  # noqa: C419 - all are noted
        return
    for value in (default, high):
        if value is not None and (whole(value) - whole(low)) % whole(step) != 0:
            field.at("step").invalid(str(value), f"value is not a multiple of a given step ({step}) from ({low})")


def _fits(value: Quantity, field: Field) -> bool:
    if value.sign < 0:
        field.invalid(str(value), "must be greater than or equal to 0")
    elif value.cmp(Quantity(MAX_INT64)) > 0:
        field.invalid(str(value), f"must not be larger than {MAX_INT64}")
    else:
        return True
    return False


def whole(value: Quantity) -> int:
    """``Quantity.Value()``: rounded up."""
    return value.ceil()
