"""Attribute values and names as people read them, and what all devices of a set have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.resource import Device


def short_name(name: str, driver: str) -> str:
    """A name without the driver's own domain, which every unqualified name of its devices has anyway."""
    return name.removeprefix(f"{driver}/")


def device_values(device: Device, driver: str) -> dict[str, str]:
    """All attributes and capacities of a device by short name.

    Where a device has ``id`` and ``<driver>/id`` both keep their full names. A capacity that shares its name with an
    attribute is told apart by ``capacity``.
    """
    values: dict[str, str] = {}
    for name, attribute in device.attributes.items():
        short = short_name(name, driver)
        values[short if short == name or short not in device.attributes else name] = attribute_text(attribute)
    for name, capacity in device.capacity.items():
        short = short_name(name, driver)
        label = short if short == name or short not in device.capacity else name
        values[f"{label} capacity" if label in values else label] = str(capacity.value)
    return values


def common_values(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What every row has with the same value, in the order of the first row."""
    if not rows:
        return {}
    first, *others = rows
    return {name: value for name, value in first.items() if all(row.get(name) == value for row in others)}


def varying_names(rows: Sequence[Mapping[str, str]], common: Mapping[str, str]) -> tuple[str, ...]:
    """Names that are not common, those with the fewest different values first (they group, the others identify)."""
    names = {name for row in rows for name in row if name not in common}
    return tuple(sorted(names, key=lambda name: (len({row.get(name) for row in rows}), name)))


def varying_or_all(rows: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """All names of all rows, those with the fewest different values first: the columns of a table that shows all.

    Goes through the rows once and keeps none.
    """
    values: dict[str, set[str]] = {}
    having: Counter[str] = Counter()
    number = 0
    for row in rows:
        number += 1
        having.update(row.keys())
        for name, value in row.items():
            values.setdefault(name, set()).add(value)
    # Not to have it is a value as well.
    return tuple(sorted(values, key=lambda name: (len(values[name]) + (having[name] < number), name)))
