"""Attribute chains ``root.field[index].?field``: how they are applied and what they cost.

A chain costs 1 for its root and 1 for each qualifier that is reached, the failing one included. From the first ``?``
on, a missing key ends the chain with ``optional.none()`` and costs nothing. Upstream: ``interpreter/attributes.go``.
"""

from __future__ import annotations

from typing import Final

import msgspec

from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.run.device import attribute_value
from kubectl_dra.cel.run.relations import MISSING, look_up
from kubectl_dra.cel.run.state import State, Step
from kubectl_dra.cel.run.values import (
    LISTS,
    MAPS,
    MAX_INT,
    MIN_INT,
    NONE,
    CelError,
    Optional,
    Uint,
    Value,
    go_name,
    list_size,
    type_name,
)

KEY_CLASSES: Final = frozenset({str, int, Uint, bool, float})


class Qualifier(msgspec.Struct, frozen=True):
    """One step of a chain: a constant ``key``, or ``index`` to compute it; ``test`` for the last step of ``has()``."""

    key: Value = None
    index: Step | None = None
    optional: bool = False
    test: bool = False


def invalid_key(key: Value) -> str:
    """The text for a key of a type that nothing can be indexed with."""
    return f"invalid qualifier type: {go_name(key)}"


def qualify(value: Value, key: Value) -> Value:
    """``value[key]``. Raises :class:`CelError` where there is none."""
    kind = value.__class__
    if kind in MAPS:
        found = look_up(value, key)
        if found is not MISSING:
            return found
    elif kind in LISTS:
        index = list_index(key)
        if not 0 <= index < list_size(value):
            raise CelError(f"index out of bounds: {plain(key)}")
        return value[index]
    raise CelError(f"no such key: {plain(key)}")


def qualify_if_present(value: Value, key: Value) -> Value:
    """``value[key]``, or :data:`MISSING`; a key of the wrong type for a list is an error still."""
    kind = value.__class__
    if kind in MAPS:
        return look_up(value, key)
    if kind in LISTS:
        index = list_index(key)
        return value[index] if 0 <= index < list_size(value) else MISSING
    return MISSING


def list_index(key: Value) -> int:
    """The position that a key means in a list; doubles and unsigned numbers must be integers."""
    kind = key.__class__
    if kind is int:
        return int(key)
    if kind is float or kind is Uint:
        # The conversion takes -2^63 for an overflow.
        if (kind is Uint or key.is_integer()) and MIN_INT < key <= MAX_INT:
            return int(key)
        raise CelError(f"unsupported index value {plain(key)} in list")
    raise CelError(f"unsupported index type '{type_name(key)}' in list")


def chain(root: Step, qualifiers: tuple[Qualifier, ...], root_cost: int, wrap_presence: bool) -> Step:
    """The chain as a step. ``wrap_presence``: an optional answer of ``has()`` becomes a bool."""

    def step(state: State) -> Value:
        try:
            value = _apply(state, root(state), qualifiers)
        except CelError:
            state.spend(root_cost)
            raise
        state.spend(root_cost)
        if wrap_presence and value.__class__ is Optional:
            return value is not NONE
        return value

    return step


def _apply(state: State, value: Value, qualifiers: tuple[Qualifier, ...]) -> Value:
    optional = value.__class__ is Optional
    if optional:
        if value is NONE:
            return NONE
        value = value.value
    for qualifier in qualifiers:
        optional = optional or qualifier.optional
        if optional:
            value = _optional_qualifier(state, value, qualifier)
            if value is MISSING:
                return NONE
            state.spend(1)
        else:
            value = _plain_qualifier(state, value, qualifier)
    return Optional(value) if optional else value


def _plain_qualifier(state: State, value: Value, qualifier: Qualifier) -> Value:
    try:
        key = _key(state, qualifier)
        result = _present(value, key) if qualifier.test else qualify(value, key)
    except CelError:
        state.spend(1)
        raise
    state.spend(1)
    return result


def _optional_qualifier(state: State, value: Value, qualifier: Qualifier) -> Value:
    key = _key(state, qualifier)
    found = qualify_if_present(value, key)
    # Upstream's presence test yields no value in this mode, only that there is one.
    return None if qualifier.test and found is not MISSING else found


def _key(state: State, qualifier: Qualifier) -> Value:
    if qualifier.index is None:
        return qualifier.key
    key = qualifier.index(state)
    if key.__class__ not in KEY_CLASSES:
        raise CelError(invalid_key(key))
    return key


def _present(value: Value, key: Value) -> bool:
    return qualify_if_present(value, key) is not MISSING


# --- chains on the device, which nearly all selectors consist of ------------------------------------------------------


def has_plain_names(domain: str, name: str) -> bool:
    """Whether ``domain`` and ``name`` can be looked up as published, because no slash could mean something else."""
    return "/" not in domain and "/" not in name


def device_driver(cost: int) -> Step:
    def step(state: State) -> Value:
        state.cost += cost
        if state.cost > state.limit:
            raise state.overspent()
        return state.device.driver

    return step


def device_field(field: str, cost: int) -> Step:
    """``device.attributes`` or ``device.capacity``."""

    def step(state: State) -> Value:
        state.cost += cost
        if state.cost > state.limit:
            raise state.overspent()
        return state.device.attributes if field == "attributes" else state.device.capacity

    return step


def domain_map(field: str, domain: str, cost: int) -> Step:
    """``device.attributes[domain]`` or ``device.capacity[domain]``."""
    whole = device_field(field, cost)
    return lambda state: whole(state)[domain]


def attribute(domain: str, name: str, cost: int) -> Step:
    """``device.attributes[domain].name`` with both constant."""
    text = f"no such key: {name}"
    qualified = f"{domain}/{name}"

    def step(state: State) -> Value:
        state.cost += cost
        if state.cost > state.limit:
            raise state.overspent()
        device = state.device
        key = name if device.driver == domain and name in device.raw else qualified
        published = device.raw.get(key)
        if published is None:
            raise CelError(text)
        if published.version is not None and key in device.converted:
            return device.converted[key]
        return attribute_value(published)

    return step


def optional_attribute(domain: str, name: str, root_cost: int) -> Step:
    """``device.attributes[domain].?name``."""
    qualified = f"{domain}/{name}"

    def step(state: State) -> Value:
        device = state.device
        published = device.raw.get(name) if device.driver == domain else None
        if published is None:
            published = device.raw.get(qualified)
        state.cost += root_cost + (2 if published is None else 3)
        if state.cost > state.limit:
            raise state.overspent()
        return NONE if published is None else Optional(attribute_value(published))

    return step


def has_attribute(domain: str, name: str) -> Step:
    """``has(device.attributes[domain].name)``."""
    qualified = f"{domain}/{name}"

    def step(state: State) -> bool:
        state.cost += 3
        if state.cost > state.limit:
            raise state.overspent()
        raw = state.device.raw
        return qualified in raw or (name in raw and state.device.driver == domain)

    return step


def capacity(domain: str, name: str, cost: int) -> Step:
    """``device.capacity[domain].name`` with both constant."""
    text = f"no such key: {name}"
    qualified = f"{domain}/{name}"

    def step(state: State) -> Value:
        state.cost += cost
        if state.cost > state.limit:
            raise state.overspent()
        device = state.device
        value = device.quantity(name) if device.driver == domain else None
        if value is None:
            value = device.quantity(qualified)
            if value is None:
                raise CelError(text)
        return value

    return step
