"""Names out of a file or the demo cluster, for ``--from``: the same tables that :class:`Kubectl` reads live."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from kubectl_dra.commands.completion.cache import Rows
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.source import load
from kubectl_dra.source.errors import SourceError
from kubectl_dra.source.spec import DEMO, STDIN, SourceSpec

# Beyond this a file takes longer to read than anyone waits for a TAB.
_BYTES: Final = 4_000_000


class Recorded:
    """Tables of a snapshot. ``values`` are the options typed so far, by their long name."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._file = values["--from"][-1]
        self._namespace = values.get("--namespace", ["default"])[-1]
        self._everywhere = "--all-namespaces" in values

    def config(self, *_words: str) -> Rows:
        """A file has no contexts."""
        return []

    def table(self, resource: str, *flags: str, namespaced: bool = False) -> Rows:
        """Names, and the column that describes them as in kubectl's tables where there is one."""
        if namespaced and self._everywhere:
            return []
        return list(self._rows(resource, "--field-selector=status.phase=Pending" in flags))

    def taints(self) -> Rows:
        rules = self._inventory.taint_rules.items()
        return [[rule.spec.taint.key, rule.spec.taint.value, rule.spec.taint.effect, name] for name, rule in rules]

    def slices(self, driver: str = "") -> Rows:
        """As :meth:`Tables.slices`, and always all."""
        specs = (each.spec for each in self._inventory.slices.values() if driver in ("", each.spec.driver))
        rows = ((spec.driver, spec.pool.name, spec.node_name or "") for spec in specs)
        return [list(row) for row in dict.fromkeys(rows)]

    def devices(self, driver: str = "", pool: str = "") -> Rows:
        """As :meth:`Tables.devices`, and always all."""
        return [row for row in _devices(self._inventory, driver) if pool in ("", row[1])]

    @cached_property
    def _inventory(self) -> Inventory:
        """Empty where the file can't be read: completion complains about nothing."""
        try:
            if self._file == STDIN or (self._file != DEMO and os.path.getsize(self._file) > _BYTES):
                return Inventory()
            return load(SourceSpec(file=self._file))[0]
        except (SourceError, OSError):
            return Inventory()

    def _rows(self, resource: str, pending: bool) -> Iterator[list[str]]:
        inventory = self._inventory
        match resource.partition(".")[0]:
            case "pods":
                pods = [pod for pod in inventory.pods.values() if pod.metadata.namespace == self._namespace]
                yield from ([pod.metadata.name] for pod in pods if not pending or pod.status.phase == "Pending")
            case "resourceclaims":
                yield from ([key.name] for key in inventory.claims if key.namespace == self._namespace)
            case "podgroups":
                yield from ([key.name] for key in inventory.groups.pod_groups if key.namespace == self._namespace)
            case "deviceclasses":
                yield from ([name] for name in inventory.classes)
            case "devicetaintrules":
                yield from ([name] for name in inventory.taint_rules)
            case "nodes":
                yield from ([name] for name in inventory.nodes)
            case "namespaces":
                namespaces = {key.namespace for key in (*inventory.pods, *inventory.claims)}
                yield from ([name] for name in sorted({*namespaces, *inventory.namespaces}))
            case plural:
                for kind, namespace, name in inventory.workloads:
                    if namespace == self._namespace and f"{kind.lower()}s" == plural:
                        yield [name]


def _devices(inventory: Inventory, driver: str) -> Iterator[list[str]]:
    from kubectl_dra.model.attributes import attribute_text

    for each in inventory.slices.values():
        if driver and each.spec.driver != driver:
            continue
        for device in each.spec.devices:
            where = [each.spec.driver, each.spec.pool.name, device.name]
            yield [*where, "", "", ""]
            for name, attribute in device.attributes.items():
                yield [*where, "attributes", _qualified(name, each.spec.driver), attribute_text(attribute)]
            for name, capacity in device.capacity.items():
                yield [*where, "capacity", _qualified(name, each.spec.driver), str(capacity.value)]


def _qualified(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"
