"""The CEL environments of device selectors and what differs between them; the declarations are shared.

The *scheduler* compiles stored expressions with everything that any version and gate ever declared. *Admission* (the
API server) validates new expressions with what its feature gates allow. *Named resources* are those of 1.30, whose
expressions see one map of attributes per type instead of a device.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from kubectl_dra.cel.check.types import (
    ANY,
    BOOL,
    DEVICE,
    DYN,
    INT,
    QUANTITY,
    SEMVER,
    STRING,
    Type,
    list_of,
    map_of,
    unwrapped,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# Only these are values of an attribute; what is any or dyn may turn out to be one.
DERIVED_TYPES = frozenset({BOOL, INT, STRING, ANY, DYN, SEMVER})
# ``attributes.KIND`` of 1.30 (structured/namedresources/cel): a map from names to values of that type.
ATTRIBUTE_KINDS = MappingProxyType(
    {
        "quantity": QUANTITY,
        "bool": BOOL,
        "int": INT,
        "intslice": list_of(INT),
        "string": STRING,
        "stringslice": list_of(STRING),
        "version": SEMVER,
    }
)
_DEVICE = MappingProxyType({"device": DEVICE})
_ATTRIBUTES = MappingProxyType({f"attributes.{kind}": map_of(STRING, of) for kind, of in ATTRIBUTE_KINDS.items()})


@dataclass(frozen=True)
class Environment:
    """Which rules an expression is compiled under.

    ``list_type_attributes`` and ``consumable_capacity`` are the gates DRAListTypeAttributes and DRAConsumableCapacity;
    they only matter for admission.
    """

    kind: Literal["scheduler", "admission", "namedResources"]
    list_type_attributes: bool = False
    consumable_capacity: bool = True

    @cached_property
    def allows_lists(self) -> bool:
        """Attributes may be lists: their values are ``dyn``, ``includes`` exists, derived attributes may be lists."""
        return self.kind == "scheduler" or self.list_type_attributes

    @cached_property
    def attribute_type(self) -> Type:
        """The static type of an attribute's value: ``dyn``, or ``any`` where lists are not known yet."""
        return DYN if self.allows_lists else ANY

    @cached_property
    def device_fields(self) -> Mapping[str, Type]:
        """Fields of the variable ``device`` and their types."""
        fields = {
            "driver": STRING,
            "attributes": map_of(STRING, map_of(STRING, self.attribute_type)),
            "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
        }
        if self.kind == "scheduler" or self.consumable_capacity:
            fields["allowMultipleAllocations"] = BOOL
        return MappingProxyType(fields)

    @cached_property
    def variables(self) -> Mapping[str, Type]:
        """The variables that an expression may name; names with dots are read as a whole."""
        return _ATTRIBUTES if self.kind == "namedResources" else _DEVICE

    def declares(self, requires: str) -> bool:
        """Whether an overload with this ``requires`` exists here."""
        return not requires or (requires == "list-attributes" and self.allows_lists)

    def accepts_output(self, output: Type, derived: bool) -> bool:
        """Whether an expression of this type may be a selector or, if ``derived``, a derived attribute."""
        if self.kind == "namedResources":
            return output == BOOL
        if not derived:
            return unwrapped(output) == BOOL or output == self.attribute_type
        if self.allows_lists and output.kind == "list":
            output = output.params[0]
        return unwrapped(output) in DERIVED_TYPES


SCHEDULER = Environment("scheduler")
NAMED_RESOURCES = Environment("namedResources")
