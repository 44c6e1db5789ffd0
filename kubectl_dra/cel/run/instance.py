"""The variables of named resources (1.30): one map of attributes per type, made from one instance of a slice.

Upstream: structured/namedresources/cel of k8s.io/dynamic-resource-allocation 1.30.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_dra.cel.check.environment import ATTRIBUTE_KINDS
from kubectl_dra.cel.run.device import DeviceValue
from kubectl_dra.cel.run.values import NativeList, QuantityValue, StringMap, Value
from kubectl_dra.model.gotext import quote_rune
from kubectl_dra.model.resource import Device
from kubectl_dra.model.semver import Semver, SemverError

if TYPE_CHECKING:
    from kubectl_dra.model.classic import NamedAttribute, NamedInstance

_NO_DEVICE: Final = Device()


class InstanceValue(DeviceValue):
    """An instance as expressions see it; ``error`` as for a device."""

    __slots__ = ("_instance", "_maps")

    _maps: dict[str, StringMap]

    def __init__(self, instance: NamedInstance) -> None:
        super().__init__("", _NO_DEVICE)
        self._instance = instance

    def prepare(self) -> None:
        """Sort the attributes by type; one with several values is in several maps."""
        self.ready, self.error = True, None
        self._maps = {f"attributes.{kind}": StringMap() for kind in ATTRIBUTE_KINDS}
        for index, attribute in enumerate(self._instance.attributes):
            try:
                self._add(attribute)
            except SemverError as error:
                # The text has the attribute's position printed as a character.
                where = f"attribute {quote_rune(index)}: parse semantic version"
                self.error = f"extract attributes with type version: {where}: {error}"
                return

    def _add(self, attribute: NamedAttribute) -> None:
        values: dict[str, Value] = {
            "quantity": None if attribute.quantity is None else QuantityValue(attribute.quantity, owner=self),
            "bool": attribute.bool_value,
            "int": attribute.int_value,
            "intslice": None if attribute.int_slice is None else NativeList(attribute.int_slice.ints),
            "string": attribute.string,
            "stringslice": None if attribute.string_slice is None else NativeList(attribute.string_slice.strings),
            "version": None if attribute.version is None else Semver.parse(attribute.version),
        }
        for kind, value in values.items():
            if value is not None:
                self._maps[f"attributes.{kind}"][attribute.name] = value

    def variable(self, name: str) -> dict[str, Value]:
        """The attributes of one type."""
        return self._maps[name]
