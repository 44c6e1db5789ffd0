"""Causes of nodes that a plugin before DynamicResources rejects: what it has against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.attempt import NodeResult, Rejection
from kubectl_dra.diagnosis.explain.company import company_causes
from kubectl_dra.diagnosis.explain.volumes import volume_causes, volume_problems
from kubectl_dra.diagnosis.records import (
    Cause,
    ExtendedResource,
    KeptAway,
    LabelOnNodes,
    NodeSelection,
    NodeShortage,
    NodeTaint,
    PluginText,
    TakenPorts,
)
from kubectl_dra.model.core import Node
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.scheduler import reasons
from kubectl_dra.scheduler.extended import served_resources
from kubectl_dra.scheduler.plugins.node_ports import port_text
from kubectl_dra.scheduler.resource_names import is_extended_resource

_FILTER_CODES: Final = {
    "NodeName": Code.NODE_NAME,
    "NodeUnschedulable": Code.NODE_UNSCHEDULABLE,
    "TaintToleration": Code.NODE_TAINTS,
    "NodeAffinity": Code.NODE_AFFINITY,
    "NodePorts": Code.NODE_PORTS,
    "NodeResourcesFit": Code.NODE_RESOURCES,
}
OTHER_CODES: Final = {
    reasons.PluginSubject.NODES: Code.OTHER_PLUGIN,
    reasons.PluginSubject.VOLUMES: Code.VOLUMES,
    reasons.PluginSubject.TOPOLOGY: Code.TOPOLOGY,
    reasons.PluginSubject.OTHER: Code.OTHER_PLUGIN,
}


def rejection_causes(
    world: ClusterState, plugin: str, nodes: Sequence[tuple[Node, NodeResult]], names: tuple[str, ...]
) -> Iterator[Cause]:
    """What a plugin has against nodes that it rejects alike; ``names`` are all of these, ``nodes`` those looked at."""
    rejection = nodes[0][1].rejection
    if rejection is None:
        yield Cause(_FILTER_CODES[plugin], nodes=names)
    elif rejection.taint is not None:
        yield Cause(Code.NODE_TAINTS, NodeTaint(taint_text(rejection.taint)), nodes=names)
    elif rejection.ports:
        yield Cause(Code.NODE_PORTS, TakenPorts(tuple(map(port_text, rejection.ports))), nodes=names)
    elif rejection.kept_away_by:
        yield Cause(Code.KEPT_AWAY, KeptAway(rejection.kept_away_by), nodes=names)
    elif rejection.lacks:
        yield from _lacks(world, nodes, rejection, names)
    elif volume_problems(rejection.detail):
        yield from volume_causes(rejection.detail, names)
    elif plugin in _FILTER_CODES:
        wishes = rejection.unmatched
        detail = NodeSelection(wishes, tuple(_nowhere(world, wishes))) if wishes else None
        yield Cause(_FILTER_CODES[plugin], detail, nodes=names)
    else:
        known = tuple(company_causes(world, rejection.detail, names))
        yield from known or _in_their_words(rejection, names)


def _nowhere(world: ClusterState, wishes: Sequence[str]) -> Iterator[LabelOnNodes]:
    """Labels of the node selector (``KEY=VALUE``) that no node has with that value."""
    for wish in wishes:
        label, equals, wanted = wish.partition("=")
        if equals and " " not in label:
            found = {node.metadata.labels.get(label) for node in world.inventory.nodes.values()} - {None}
            if wanted not in found:
                yield LabelOnNodes(label, tuple(sorted(value for value in found if value is not None)))


def _in_their_words(rejection: Rejection, names: tuple[str, ...]) -> Iterator[Cause]:
    code = OTHER_CODES[reasons.kind_of(rejection.plugin)]
    return (Cause(code, PluginText(rejection.plugin, text), nodes=names) for text in rejection.texts)


def _lacks(
    world: ClusterState, nodes: Sequence[tuple[Node, NodeResult]], rejection: Rejection, names: tuple[str, ...]
) -> Iterator[Cause]:
    for position, lack in enumerate(rejection.lacks):
        if is_extended_resource(lack.resource) or "/" in lack.resource:
            unserved = _unserved(world, lack.resource)
            if unserved is not None:
                yield Cause(Code.EXTENDED_RESOURCE_UNSERVED, unserved, nodes=names)
                continue
        name, closest = min(
            (
                (node.metadata.name, result.rejection.lacks[position])
                for node, result in nodes
                if result.rejection is not None
            ),
            key=lambda pair: pair[1].requested - (pair[1].allocatable - pair[1].used),
        )
        detail = NodeShortage(lack.resource, closest.requested, closest.used, closest.allocatable, name)
        yield Cause(Code.NODE_RESOURCES, detail, nodes=names)


def _unserved(world: ClusterState, resource: str) -> ExtendedResource | None:
    """The resource, if neither a class nor any node offers it."""
    if resource in served_resources(world):
        return None
    if any(resource in node.status.allocatable for node in world.inventory.nodes.values()):
        return None
    return ExtendedResource(resource, similar=similar(resource, served_resources(world)))
