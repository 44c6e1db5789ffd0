"""Nodes that publish the same devices: one machine that was reinstalled under another name, its old Node left over.

Told by the attribute ``uuid`` (``DOMAIN/uuid``), which drivers of GPUs publish and which the hardware keeps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.resource import Device

_UUID: Final = "uuid"
#: A uuid on more nodes than this identifies no hardware: drivers of simulated devices publish one everywhere.
_MOST: Final = 20


@derived("slices", "nodes")
def twins(state: ClusterState) -> Mapping[str, tuple[str, ...]]:
    """By node the other nodes that publish a device with the same uuid, as far as these exist and are not many."""
    nodes: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for slice_ in state.inventory.slices.values():
        if slice_.spec.node_name and slice_.spec.node_name in state.inventory.nodes:
            for device in slice_.spec.devices:
                uuid = _uuid(device)
                if uuid:
                    nodes[slice_.spec.driver, uuid][slice_.spec.node_name] = None
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for names in nodes.values():
        for name in names if 1 < len(names) <= _MOST else ():
            found[name] |= {other: None for other in names if other != name}
    return {name: tuple(sorted(others)) for name, others in found.items()}


def one_machine(state: ClusterState) -> tuple[tuple[str, ...], ...]:
    """The nodes that publish the same devices, each set of them once."""
    return tuple(sorted({tuple(sorted((name, *others))) for name, others in twins(state).items()}))


def _uuid(device: Device) -> str:
    for name, attribute in device.attributes.items():
        if name.rpartition("/")[2].lower() == _UUID and attribute.string:
            return attribute.string
    return ""
