"""Where devices can be used: one node, nodes that a selector picks, all nodes, or set per device.

API fields: ``nodeName``, ``nodeSelector``, ``allNodes``, ``perDeviceNodeSelection`` of slices and devices, and
``status.allocation.nodeSelector`` of claims, where an absent one means every node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from kubectl_dra.allocation.input import nodes
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement
from kubectl_dra.model.resource import Device, ResourceSlice
from kubectl_dra.reports.base import ReportRecord

_NAME_FIELD = nodes.NAME_FIELD
_OPERATORS = {"In": "in", "NotIn": "notin", "Gt": ">", "Lt": "<"}


class ScopeKind(StrEnum):
    """How the nodes are named."""

    NODE = "node"
    SELECTOR = "selector"
    ALL = "all"
    PER_DEVICE = "perDevice"
    NONE = "none"  # no field that this version knows: the scheduler ignores the slice
    MIXED = "mixed"  # slices of one pool differ


class Scope(ReportRecord, frozen=True):
    """The nodes that can use something.

    ``node`` is set for one node, ``selector`` (and its ``expression`` in kubectl's notation) for a selector.
    ``nodes`` is how many of the cluster's nodes match; None where nodes were not read or the selector is unparsable.
    """

    kind: ScopeKind
    node: str = ""
    selector: NodeSelector | None = None
    expression: str = ""
    nodes: int | None = None


def slice_scope(slice_: ResourceSlice, state: ClusterState) -> Scope:
    """Where the devices of a slice can be used."""
    spec = slice_.spec
    if spec.node_name or spec.all_nodes or spec.node_selector is not None:
        return _scope(spec.node_name, spec.all_nodes, spec.node_selector, state)
    return Scope(ScopeKind.PER_DEVICE if spec.per_device_node_selection else ScopeKind.NONE)


def device_scope(device: Device, slice_: ResourceSlice, state: ClusterState) -> Scope:
    """Where one device can be used: its own fields where its slice leaves that to the devices."""
    of_slice = slice_scope(slice_, state)
    if of_slice.kind is not ScopeKind.PER_DEVICE:
        return of_slice
    return _scope(device.node_name, device.all_nodes, device.node_selector, state)


def claim_scope(selector: NodeSelector | None, state: ClusterState) -> Scope:
    return _scope(None, selector is None, selector, state)


def usable_on(node: str, scope: Scope, state: ClusterState) -> bool:
    """Whether something with this scope can be used on a node; a selector needs the node to have been read."""
    if scope.kind is ScopeKind.NODE:
        return scope.node == node
    if scope.kind is ScopeKind.ALL:
        return True
    if scope.selector is None:
        return False
    return node in (state.matching_nodes(scope.selector) or ())


def nodes_of(scope: Scope, state: ClusterState) -> Collection[str]:
    """The nodes that could use something, of those that were read."""
    if scope.kind is ScopeKind.NODE:
        return [scope.node]
    if scope.kind is ScopeKind.ALL:
        return state.inventory.nodes
    return (state.matching_nodes(scope.selector) or ()) if scope.selector is not None else ()


@derived("slices")
def places_on_nodes(state: ClusterState) -> bool:
    """Whether it depends on nodes where a published device can be used: slices of one node name it.

    Each frame of the terminal UI asks, of thousands of slices.
    """
    return any(not slice_.spec.node_name for slice_ in state.inventory.slices.values())


def joint_scope(scopes: Iterable[Scope]) -> Scope:
    """One scope for several slices; ``mixed`` where they differ."""
    different = set(scopes)
    if not different:
        return Scope(ScopeKind.NONE)
    return different.pop() if len(different) == 1 else Scope(ScopeKind.MIXED)


def _scope(node: str | None, all_nodes: bool | None, selector: NodeSelector | None, state: ClusterState) -> Scope:
    known, inventory = state.evidence.complete("Node"), state.inventory
    if node:
        return Scope(ScopeKind.NODE, node=node, nodes=int(node in inventory.nodes) if known else None)
    if all_nodes:
        return Scope(ScopeKind.ALL, nodes=len(inventory.nodes) if known else None)
    if selector is None:
        return Scope(ScopeKind.NONE)
    single = _single_node(selector)
    if single is not None:
        return Scope(ScopeKind.NODE, single, selector, nodes=int(single in inventory.nodes) if known else None)
    matching = state.matching_nodes(selector)
    return Scope(
        ScopeKind.SELECTOR, "", selector, selector_text(selector), len(matching) if matching is not None else None
    )


def _single_node(selector: NodeSelector) -> str | None:
    """The node of a selector that only names one, which is how the scheduler writes it for local devices."""
    if len(selector.node_selector_terms) != 1:
        return None
    term = selector.node_selector_terms[0]
    if term.match_expressions or len(term.match_fields) != 1:
        return None
    field = term.match_fields[0]
    named = field.key == _NAME_FIELD and field.operator == "In" and len(field.values) == 1
    return field.values[0] if named else None


def selector_text(selector: NodeSelector) -> str:
    """A node selector in kubectl's notation; terms are joined by ``or``."""
    terms = (
        ",".join(map(requirement_text, (*term.match_expressions, *term.match_fields))) or "nothing"
        for term in selector.node_selector_terms
    )
    return " or ".join(terms)


def requirement_text(requirement: NodeSelectorRequirement) -> str:
    """One condition: ``KEY=VALUE``, ``KEY in (A,B)``, ``KEY`` or ``!KEY``."""
    key, operator, values = requirement.key, requirement.operator, requirement.values
    if operator == "Exists":
        return key
    if operator == "DoesNotExist":
        return f"!{key}"
    if operator == "In" and len(values) == 1:
        return f"{key}={values[0]}"
    if operator == "NotIn" and len(values) == 1:
        return f"{key}!={values[0]}"
    listed = ",".join(values)
    return f"{key} {_OPERATORS.get(operator, operator)} {listed if operator in ('Gt', 'Lt') else f'({listed})'}"
