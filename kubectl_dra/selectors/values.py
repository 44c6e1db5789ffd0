"""The values that devices have: how often each is there, for completion and for the look at one attribute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from kubectl_dra.cel.check.types import BOOL, INT, QUANTITY, SEMVER, STRING, Type, list_of
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.resource import DeviceAttribute
from kubectl_dra.selectors.catalog import Named, PublishedDevice, published_value


class Distribution(msgspec.Struct, frozen=True):
    """The values of one attribute or capacity, the most frequent first; ``lacking`` devices don't have it.

    ``values`` pairs the text of a value with the devices that have it; ``distinct`` counts all of them.
    """

    field: str
    domain: str
    name: str
    type: str
    values: tuple[tuple[str, int], ...]
    distinct: int
    lacking: int


class ValueIndex:
    """Values by field (``attributes`` or ``capacity``), domain and name; each is counted when it is asked for."""

    def __init__(self, members: Iterable[PublishedDevice]) -> None:
        self._members = tuple(members)
        self._literals: dict[Named, Counter[str]] = {}

    def literals(self, name: Named) -> Mapping[str, int]:
        """The values as CEL literals, with the number of devices that have them."""
        found = self._literals.get(name)
        if found is None:
            found = self._literals[name] = Counter(self._each(name, value_source, _quantity_literal))
        return found

    def distribution(self, name: Named, limit: int = 20) -> Distribution:
        """The values as people read them."""
        counts = Counter(self._each(name, attribute_text, str))
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        sample = next((a for m in self._members if (a := _attribute(m, name)) is not None), None)
        type_ = type_text(QUANTITY if name[0] == "capacity" else type_of(sample))
        lacking = len(self._members) - counts.total()
        return Distribution(*name, type_, tuple(ranked[:limit]), len(ranked), lacking)

    def _each(
        self, name: Named, of_attribute: Callable[[DeviceAttribute], str], of_capacity: Callable[[str], str]
    ) -> Iterable[str]:
        for member in self._members:
            if name[0] == "capacity":
                capacity = published_value(member.device.capacity, member.driver, *name[1:])
                if capacity is not None:
                    yield of_capacity(str(capacity.value))
            elif (attribute := _attribute(member, name)) is not None:
                yield of_attribute(attribute)


def _attribute(member: PublishedDevice, name: Named) -> DeviceAttribute | None:
    return published_value(member.device.attributes, member.driver, *name[1:])


def type_of(attribute: DeviceAttribute | None) -> Type | None:
    """The CEL type of an attribute's value; None if it is unknown."""
    if attribute is None:
        return None
    kinds = (
        (attribute.string, STRING),
        (attribute.version, SEMVER),
        (attribute.int_value, INT),
        (attribute.bool_value, BOOL),
        (attribute.strings, list_of(STRING)),
        (attribute.versions, list_of(SEMVER)),
        (attribute.ints, list_of(INT)),
        (attribute.bools, list_of(BOOL)),
    )
    return next((type_ for value, type_ in kinds if value is not None), None)


def type_text(type_: Type | None) -> str:
    """A type in a few letters: ``string``, ``semver``, ``quantity``, ``list(int)``."""
    if type_ is None:
        return "?"
    inner = f"({', '.join(map(type_text, type_.params))})" if type_.params else ""
    name = type_.name.rpartition(".")[2].lower() if type_.name else type_.kind
    return name + inner


def value_source(attribute: DeviceAttribute) -> str:
    """The value as CEL writes it; empty for lists."""
    if attribute.string is not None:
        return string_source(attribute.string)
    if attribute.version is not None:
        return f"semver({string_source(str(attribute.version))})"
    if attribute.int_value is not None:
        return str(attribute.int_value)
    return attribute_text(attribute)


def _quantity_literal(text: str) -> str:
    return f"quantity({string_source(text)})"
