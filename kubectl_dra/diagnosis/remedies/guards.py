"""Selectors that fail on a device, rewritten so that they say no instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kubectl_dra.cel import SCHEDULER, CompileError, compile_expression
from kubectl_dra.diagnosis.records import FatalError
from kubectl_dra.diagnosis.world import World
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.resource import DeviceAttribute

_NO_SUCH_KEY: Final = re.compile(r"no such key: (?P<key>[A-Za-z_][A-Za-z0-9_]*)")
_DEFAULTS: Final = (
    ("string", '""'),
    ("int_value", "0"),
    ("bool_value", "false"),
    ("version", 'semver("0.0.0")'),
)


def guarded(world: World, error: FatalError) -> Iterator[str]:
    """Rewritten selectors that compile, the preferred one first; empty for failures that no guard helps against."""
    match = _NO_SUCH_KEY.search(error.detail)
    if match is None:
        return
    key = match["key"]
    corrected = _renamed(world, error.expression, key)
    for text in (*corrected, *_with_default(world, error.expression, key), _with_has(error.expression, key)):
        if text and text != error.expression and _compiles(text):
            yield text


def _renamed(world: World, expression: str, key: str) -> Iterator[str]:
    """With the name of an attribute or capacity that exists and looks like the one that does not."""
    for other in similar(key, _names(world)):
        yield re.sub(rf"\b{re.escape(key)}\b", other, expression)


def _names(world: World) -> set[str]:
    devices = (device for slice_ in world.inventory.slices.values() for device in slice_.spec.devices)
    keys = (name for device in devices for name in (*device.attributes, *device.capacity))
    return {key.rpartition("/")[2] for key in keys}


def _with_default(world: World, expression: str, key: str) -> Iterator[str]:
    """``.?key.orValue(default)`` where the attribute is read by its name."""
    default = _default_of(world, key)
    access = re.compile(rf'(device\.attributes\["[^"]*"\])\.{re.escape(key)}\b(?!\s*\()')
    if default is not None and access.search(expression):
        yield access.sub(rf"\1.?{key}.orValue({_escaped(default)})", expression)


def _escaped(replacement: str) -> str:
    return replacement.replace("\\", "\\\\")


def _with_has(expression: str, key: str) -> str:
    """``has(…) && (expression)``."""
    access = re.search(rf'device\.(?:attributes|capacity)\["[^"]*"\]\.{re.escape(key)}\b', expression)
    return f"has({access[0]}) && ({expression})" if access is not None else ""


def _default_of(world: World, key: str) -> str | None:
    """A default of the type that the attribute has on devices that have it."""
    for slice_ in world.inventory.slices.values():
        for device in slice_.spec.devices:
            for name, attribute in device.attributes.items():
                if name.rpartition("/")[2] == key:
                    return _default(attribute)
    return None


def _default(attribute: DeviceAttribute) -> str | None:
    return next((text for field, text in _DEFAULTS if getattr(attribute, field) is not None), None)


def _compiles(expression: str) -> bool:
    try:
        compile_expression(expression, SCHEDULER)
    except CompileError:
        return False
    return True
