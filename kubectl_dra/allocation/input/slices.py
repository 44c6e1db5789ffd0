"""One slice and one node: whether the slice exists for this scheduler, and whether it is for the node.

Upstream: the first part of GatherPools, and NodeMatches.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from kubectl_dra.allocation.errors import Aborted, NodeSelectorUnparsable
from kubectl_dra.allocation.input import nodes
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import Device, ResourceSlice

Condition = Callable[[Node], bool]
_CONSUMED: Final = attrgetter("consumes_counters")


def unsupported(slice_: ResourceSlice, features: Features) -> bool:
    """Whether the slice uses a feature that is off, so that it does not exist for the allocator."""
    spec = slice_.spec
    if not features.partitionable_devices and (spec.per_device_node_selection is not None or spec.shared_counters):
        return True
    return not features.compatibility_groups and uses_groups(slice_)


def uses_groups(slice_: ResourceSlice) -> bool:
    return any(c.compatibility_groups for consumed in map(_CONSUMED, slice_.spec.devices) for c in consumed)


def relevant(slice_: ResourceSlice, node: Node, features: Features) -> bool:
    """Whether the slice is for the node. Raises :class:`Aborted` for a node selector that can't be parsed."""
    spec = slice_.spec
    # The first implementation takes slices with counters along wherever they are.
    if spec.shared_counters and features.implementation == "stable":
        return True
    if spec.node_name:
        return spec.node_name == node.metadata.name
    condition = condition_of(slice_)
    return condition is not None and condition(node)


def condition_of(slice_: ResourceSlice) -> Condition | None:
    """Which nodes a slice without nodeName is for; None if it has no known node selection, an extension of the future.

    The condition raises :class:`Aborted` for a node selector that can't be parsed.
    """
    spec = slice_.spec
    if spec.all_nodes:
        return everywhere
    if spec.node_selector is not None:
        return _Selected(slice_.metadata.name, spec.node_selector)
    if spec.per_device_node_selection:
        return lambda node: any(_selects(device, slice_, node) for device in spec.devices)
    return None


def everywhere(_: Node) -> bool:
    """The condition of ``allNodes``."""
    return True


class _Selected:
    """A node selector, parsed once; equal ones are equal conditions."""

    def __init__(self, slice_name: str, selector: NodeSelector) -> None:
        self._slice_name = slice_name
        self._selector = selector
        self._parsed = nodes.parse(selector)

    def __call__(self, node: Node) -> bool:
        if self._parsed.problems:
            check_selector(self._selector, self._slice_name)
        return self._parsed.matches(node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Selected) and self._parsed is other._parsed

    def __hash__(self) -> int:
        return hash(id(self._parsed))


def device_on_node(device: Device, node: Node) -> bool:
    """Whether a device of a slice with per-device node selection is for the node; ignores unparsable selectors."""
    if device.node_name:
        return device.node_name == node.metadata.name
    if device.all_nodes:
        return True
    return device.node_selector is not None and nodes.matches(device.node_selector, node)


def check_selector(selector: NodeSelector, slice_name: str | None, device: Device | None = None) -> None:
    """Raise :class:`Aborted` if a node selector can't be parsed."""
    if problems := nodes.parse(selector).problems:
        raise Aborted(NodeSelectorUnparsable(selector, problems, slice_name, device))


def _selects(device: Device, slice_: ResourceSlice, node: Node) -> bool:
    if not device.node_name and not device.all_nodes and device.node_selector is not None:
        check_selector(device.node_selector, slice_.metadata.name, device)
    return device_on_node(device, node)
