"""The groups of a cluster: those that objects of autoscalers describe, and those that the labels of nodes tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.diagnosis.autoscaling.groups import ScalableGroup
from kubectl_dra.diagnosis.autoscaling.records import Doubt
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import lacking
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate, like
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceSlice

_OF_POOLS: Final = "karpenter.sh/nodepool"
#: Labels by which providers and autoscalers tell what group a node is of.
GROUP_LABELS: Final = (
    _OF_POOLS,
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "cluster.x-k8s.io/deployment-name",
    "cluster.x-k8s.io/set-name",
    "node.kubernetes.io/instance-type",
)
#: On a node, the name of the machine object that it is of (Cluster API).
_MACHINE_OWNER: Final = ("cluster.x-k8s.io/owner-kind", "cluster.x-k8s.io/owner-name")
_LABELS_OF_KINDS: Final = {
    "NodePool": _OF_POOLS,
    "MachineDeployment": "cluster.x-k8s.io/deployment-name",
    "MachineSet": "cluster.x-k8s.io/set-name",
}
_NODE: Final = needs.BY_KIND["Node"]
_NODE_CLAIM: Final = "NodeClaim"
#: What tells of the nodes of a NodePool beside it.
_DESCRIBING: Final = ("NodeOverlay", "DRAConfig")
_BESIDE_POOLS: Final = (_NODE_CLAIM, *_DESCRIBING)
#: What an autoscaler that copies a node of the group no longer has to guess.
_ANSWERED: Final = frozenset(
    {Doubt.INCOMPLETE_POOL, Doubt.NO_DEVICES, Doubt.NO_ATTRIBUTES, Doubt.CAPACITY_UNKNOWN, Doubt.LABELS_OPEN}
)


def of_cluster(inventory: Inventory, described: Iterable[ScalableGroup] = ()) -> tuple[ScalableGroup, ...]:
    """All groups. A described one that has nodes is like its first node; else as it is described.

    Without descriptions, groups that have no nodes can't be seen.
    """
    nodes = _nodes_by_group(inventory)
    found: list[ScalableGroup] = []
    for group in described:
        mine = nodes.pop((_LABELS_OF_KINDS.get(group.kind, ""), group.name), None)
        found.append(group if not mine else _like_its_nodes(inventory, group, mine))
    known = {_LABELS_OF_KINDS.get(group.kind, "") for group in found}
    for (label, value), names in sorted(nodes.items()):
        # Of nodes whose autoscaler has told its groups, the type of machine is no group as well.
        if label == GROUP_LABELS[-1] and known:
            continue
        template = fresh(inventory, names[0])
        found.append(ScalableGroup(label, value, template, size=len(names), like=names[0]))
    return tuple(found)


def with_unread(
    groups: Iterable[ScalableGroup], evidence: Evidence, missing: Sequence[Missing]
) -> Iterator[ScalableGroup]:
    """The groups with what would tell more of their nodes; ``missing``: the kinds of autoscalers that were not read."""
    beside = tuple(each for each in missing if each.kind in _BESIDE_POOLS)
    uncounted = any(each.kind == _NODE_CLAIM for each in beside)
    nodes = () if evidence.complete(_NODE.kind) else (lacking(evidence, _NODE, ""),)
    for group in groups:
        unread = (*(() if group.like else nodes), *(beside if group.kind == "NodePool" else ()))
        size = None if group.kind == "NodePool" and uncounted else group.size
        if not unread:
            yield group
            continue
        described = not any(each.kind in _DESCRIBING for each in unread)
        doubts = tuple(each for each in group.doubts if described or each is not Doubt.NO_DEVICES)
        yield replace(group, unread=unread, size=size, doubts=doubts)


def _nodes_by_group(inventory: Inventory) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for name, node in sorted(inventory.nodes.items(), key=lambda item: (not _is_usable(item[1]), item[0])):
        of = _group_of(node)
        if of is not None:
            found.setdefault(of, []).append(name)
    return found


def _group_of(node: Node) -> tuple[str, str] | None:
    annotations, labels = node.metadata.annotations, node.metadata.labels
    kind, owner = (annotations.get(key, "") for key in _MACHINE_OWNER)
    label = next((each for each in GROUP_LABELS if labels.get(each)), None)
    if label in (None, GROUP_LABELS[-1]) and kind in _LABELS_OF_KINDS and owner:
        return _LABELS_OF_KINDS[kind], owner
    return (label, labels[label]) if label is not None else None


def _is_usable(node: Node) -> bool:
    return not node.spec.unschedulable and node.metadata.deletion_timestamp is None


def _like_its_nodes(inventory: Inventory, group: ScalableGroup, names: list[str]) -> ScalableGroup:
    """Karpenter goes by what is described also where nodes run, and may choose another type of machine."""
    template = fresh(inventory, names[0])
    if group.kind != "NodePool":
        doubts = tuple(doubt for doubt in group.doubts if doubt not in _ANSWERED)
        return replace(group, template=template, doubts=doubts, like=names[0])
    doubts = tuple(doubt for doubt in group.doubts if doubt is not Doubt.CAPACITY_UNKNOWN)
    described = group.nodes

    def nodes(pod: Pod) -> Iterator[NodeTemplate]:
        yield template
        if described is not None:
            yield from described(pod)

    return replace(group, template=template, doubts=doubts, like=names[0], nodes=nodes)


def fresh(inventory: Inventory, name: str) -> NodeTemplate:
    """A node like an existing one, as it comes: its group's taints, no taints of its devices, DaemonSets' pods.

    Where DaemonSets are known their pods are made from them, so that none is forgotten that is late on that node.
    """
    found = like(inventory, name)
    daemons = any(kind == DAEMON_SET for kind, _, _ in inventory.workloads)
    found = replace(found, slices=tuple(map(_healthy, found.slices)))
    return replace(found, pods=(), claims=()) if daemons else found


def _healthy(slice_: ResourceSlice) -> ResourceSlice:
    devices = tuple(msgspec.structs.replace(device, taints=()) for device in slice_.spec.devices)
    return with_spec(slice_, devices=devices)
