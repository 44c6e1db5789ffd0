"""Whether a fresh node of a group would take a pod: the group's template joins the cluster, and the pod is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import edited
from kubectl_dra.diagnosis.autoscaling.records import Doubt, GroupVerdict
from kubectl_dra.diagnosis.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Cause, NodeGroup, NodeOutcome
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate, like
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory

#: Labels by which providers and autoscalers tell what group a node is of.
GROUP_LABELS: Final = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "cluster.x-k8s.io/deployment-name",
    "cluster.x-k8s.io/set-name",
    "node.kubernetes.io/instance-type",
)


@dataclass(frozen=True, slots=True)
class Group:
    """A group and the template of its nodes; ``like``: the existing node that it is taken from."""

    kind: str
    name: str
    template: NodeTemplate
    doubts: tuple[Doubt, ...] = ()
    size: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    like: str = ""


def of_cluster(inventory: Inventory) -> tuple[Group, ...]:
    """The groups that labels of nodes tell, each like its first node; groups without nodes can't be seen."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, node in inventory.nodes.items():
        label = next((each for each in GROUP_LABELS if node.metadata.labels.get(each)), None)
        if label is not None:
            found.setdefault((label, node.metadata.labels[label]), []).append(name)
    return tuple(
        Group(label, value, like(inventory, names[0], free=True), size=len(names), like=names[0])
        for (label, value), names in sorted(found.items())
    )


def judged(world: ClusterState, pod: Key, groups: Iterable[Group]) -> Iterator[GroupVerdict]:
    """The answer about each group; groups that take the pod come first."""
    found = [_judged(world, pod, group) for group in groups]
    yield from sorted(found, key=lambda each: (not each.fits, Doubt.AT_MAXIMUM in each.doubts, each.kind, each.name))


def _judged(world: ClusterState, pod: Key, group: Group) -> GroupVerdict:
    name = _name(world.inventory, group)
    after = edited(world, group.template.edits(name))
    diagnosis = Diagnoser(after).pod(pod)
    mine = next((each for each in diagnosis.nodes if name in each.nodes), None)
    devices = sum(len(slice_.spec.devices) for slice_ in group.template.slices)
    doubts = list(group.doubts)
    if group.maximum is not None and group.size is not None and group.size >= group.maximum:
        doubts.append(Doubt.AT_MAXIMUM)
    return GroupVerdict(
        group.kind,
        group.name,
        mine.outcome if mine is not None else NodeOutcome.UNDECIDED,
        _renamed(mine, name) if mine is not None else diagnosis.causes,
        tuple(dict.fromkeys(doubts)),
        devices,
        group.size,
        group.minimum,
        group.maximum,
        group.like,
    )


def _name(inventory: Inventory, group: Group) -> str:
    """A name that no node has."""
    name, number = f"new-{group.name}", 0
    while name in inventory.nodes:
        number += 1
        name = f"new-{group.name}-{number}"
    return name


def _renamed(group: NodeGroup, name: str) -> tuple[Cause, ...]:
    return tuple(msgspec.structs.replace(cause, nodes=(name,)) for cause in group.causes)
