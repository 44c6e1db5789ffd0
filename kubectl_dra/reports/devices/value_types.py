"""Attributes of one name that devices of a pool publish with several types."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_dra.model.resource import DeviceAttribute
from kubectl_dra.reports.devices.attributes import short_name

if TYPE_CHECKING:
    from kubectl_dra.reports.devices.pool import DeviceRecord

_TEXT: Final = "string"


def with_types(devices: tuple[DeviceRecord, ...], driver: str) -> tuple[DeviceRecord, ...]:
    """The records of a pool, in which texts are quoted where other devices have the attribute with another type."""
    quoted = _quoted_texts((each.attributes for each in devices), driver)
    told = ((each, _with_quotes(each.values, each.attributes, driver, quoted)) for each in devices)
    return tuple(msgspec.structs.replace(each, values=values) for each, values in told) if quoted else devices


def _quoted_texts(devices: Iterable[Mapping[str, DeviceAttribute]], driver: str) -> frozenset[str]:
    """The attributes by short name that are texts on some of the devices and of other types on others.

    Texts of these are quoted: a selector tells ``"4"`` and ``4`` apart.
    """
    kinds: dict[str, set[str]] = {}
    for attributes in devices:
        for name, attribute in attributes.items():
            kinds.setdefault(short_name(name, driver), set()).add(_kind(attribute))
    return frozenset(name for name, types in kinds.items() if len(types) > 1 and _TEXT in types)


def _with_quotes(
    values: Mapping[str, str], attributes: Mapping[str, DeviceAttribute], driver: str, quoted: Container[str]
) -> dict[str, str]:
    """The values of one device with the texts of ``quoted`` attributes in quotes."""
    texts = {name for name, each in attributes.items() if _kind(each) == _TEXT and short_name(name, driver) in quoted}
    labels = texts | {short_name(name, driver) for name in texts} - set(attributes)
    return {name: json.dumps(value, ensure_ascii=False) if name in labels else value for name, value in values.items()}


def _kind(attribute: DeviceAttribute) -> str:
    return next((name for name in attribute.__struct_fields__ if getattr(attribute, name) is not None), "")
