"""Expressions of v1alpha2 and of the prototype as v1 selectors: the same conditions over ``device.attributes``.

Only the references to attributes change; literals and everything else stay as written. Upstream:
structured/namedresources/cel of dynamic-resource-allocation 1.30, and pkg/schedule/cel.go of the prototype.
"""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.api.names import AS_WRITTEN, WrittenNames
from kubectl_dra.model.resource import CELSelector, DeviceSelector

_TEXT: Final = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_KEY: Final = rf"\[\s*(?P<key>{_TEXT})\s*\]"
_PROTOTYPE: Final = re.compile(rf"(?P<lookup>\bdevice\b(?!\s*\()(?:\s*\.\s*(?P<name>\w+)|{_KEY})?)|(?P<text>{_TEXT})")
_NAMED: Final = re.compile(
    rf"(?:(?P<asked>{_TEXT})\s+in\s+)?\battributes\.(?P<kind>quantity|bool|intslice|int|stringslice|string|version)\b"
    rf"(?:{_KEY})?|(?P<text>{_TEXT})|(?P<left>\battributes\b)"
)


class UntranslatableError(ValueError):
    """Raised when an expression can't be said in v1; the text says why."""


def written_selector(expression: str) -> DeviceSelector:
    return DeviceSelector(CELSelector(expression))


def prototype_selector(
    expression: str, driver: str, names: WrittenNames = AS_WRITTEN, quantities: frozenset[str] = frozenset()
) -> str:
    """``device.model`` becomes ``device.attributes["DRIVER"]["model"]``, or capacity for the names of ``quantities``.

    Raises :class:`UntranslatableError`.
    """
    if not driver:
        raise UntranslatableError(f"{expression!r} names attributes of an unknown driver")

    def replaced(found: re.Match[str]) -> str:
        if found["text"] is not None:
            return found[0]
        if found["name"] is None and found["key"] is None:
            raise UntranslatableError(f"{expression!r} uses the device other than by attribute")
        name = found["name"] if found["name"] is not None else _content(found["key"])
        field = "capacity" if name in quantities else "attributes"
        return f"{_domain(field, driver, names)}[{quoted(names.attribute(name))}]"

    return _PROTOTYPE.sub(replaced, expression)


def named_resources_selector(expression: str, driver: str, names: WrittenNames = AS_WRITTEN) -> str:
    """``attributes.string["model"]`` becomes ``device.attributes["DRIVER"]["model"]``, quantities become capacity.

    Raises :class:`UntranslatableError`.
    """

    def replaced(found: re.Match[str]) -> str:
        if found["text"] is not None:
            return found[0]
        if found["left"] is not None:
            raise UntranslatableError(f"{expression!r} uses the attributes other than by type and name")
        asked = f"{_renamed(found['asked'], names)} in " if found["asked"] is not None else ""
        key = f"[{_renamed(found['key'], names)}]" if found["key"] is not None else ""
        return asked + _domain("capacity" if found["kind"] == "quantity" else "attributes", driver, names) + key

    return _NAMED.sub(replaced, expression)


def quoted(text: str) -> str:
    """A CEL string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _domain(field: str, driver: str, names: WrittenNames) -> str:
    return f"device.{field}[{quoted(names.driver(driver))}]"


def _renamed(literal: str, names: WrittenNames) -> str:
    return quoted(names.attribute(_content(literal)))


def _content(literal: str) -> str:
    return re.sub(r"\\(.)", r"\1", literal[1:-1])
