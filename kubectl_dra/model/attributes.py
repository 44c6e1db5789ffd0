"""The values of attributes as people read them."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.model.resource import DeviceAttribute


def attribute_text(attribute: DeviceAttribute) -> str:
    """The value as text; lists in brackets, an attribute of an unknown type as ``?``."""
    for scalar in (attribute.string, attribute.version, attribute.int_value):
        if scalar is not None:
            return str(scalar)
    if attribute.bool_value is not None:
        return str(attribute.bool_value).lower()
    for values in (attribute.strings, attribute.versions, attribute.ints):
        if values is not None:
            return _list_text(map(str, values))
    return _list_text(str(value).lower() for value in attribute.bools) if attribute.bools is not None else "?"


def _list_text(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"
