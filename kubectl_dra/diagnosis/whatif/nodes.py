"""A node like another one: the node, its slices and what would run there at once, under names of their own.

Slices that a node does not publish itself (``allNodes``, node selectors) are not copied: the new node sees them by its
labels, as the old one does. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

import msgspec

from kubectl_dra.cluster.edits import Edit, Put
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Node, Pod, PodSpec, Taint
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectMeta
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.resource import AllocationResult, Device, ResourceClaim, ResourceSlice
from kubectl_dra.model.storage import CsiNode
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.claims import claims_of

#: A static pod of the kubelet carries this on its mirror in the API.
MIRROR: Final = "kubernetes.io/config.mirror"
#: What the cluster itself taints a node with for a state that a new node has not.
_CONDITIONS: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "DeletionCandidateOfClusterAutoscaler",
)
_DAEMON_SET: Final = "DaemonSet"


def stays_with_node(pod: Pod) -> bool:
    """Whether a pod belongs to its node: a DaemonSet's, or the mirror of a static one. No drain moves it."""
    controller = pod.metadata.controller
    return MIRROR in pod.metadata.annotations or (controller is not None and controller.kind == _DAEMON_SET)


@dataclass(frozen=True, slots=True)
class NodeTemplate:
    """What makes a node: with it come ``slices``, and ``pods`` that run on every such node with their ``claims``.

    ``where`` names the pattern, for people.
    """

    where: str
    node: Node
    slices: tuple[ResourceSlice, ...] = ()
    pods: tuple[Pod, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()
    csi: CsiNode | None = None

    def edits(self, name: str) -> Iterator[Edit]:
        """The objects of a new node with this name."""
        pools = {
            (s.spec.driver, s.spec.pool.name): renamed_for(s.spec.pool.name, self.node.metadata.name, name)
            for s in self.slices
        }
        yield Put("Node", _renamed_node(self.node, name))
        for slice_ in self.slices:
            yield Put("ResourceSlice", _renamed_slice(slice_, name, pools))
        for claim in self.claims:
            yield Put("ResourceClaim", _renamed_claim(claim, name, pools))
        for pod in self.pods:
            yield Put("Pod", _renamed_pod(pod, name))
        if self.csi is not None:
            yield Put("CSINode", msgspec.structs.replace(self.csi, metadata=ObjectMeta(name=name)))


def like(inventory: Inventory, name: str, *, free: bool = False) -> NodeTemplate:
    """The template of a node like an existing one, which must be there.

    Taints of a passing state (cordoned, not ready) and everything that could run elsewhere are left behind. ``free``:
    without any taint of the node or of its devices, and without the pods that DaemonSets and the kubelet put there.
    """
    node = inventory.nodes[name]
    taints = () if free else tuple(t for t in node.spec.taints if not t.key.startswith(_CONDITIONS))
    slices = tuple(_fresh(slice_, free) for slice_ in _slices(inventory, name))
    pods = () if free else tuple(_daemons(inventory, name))
    claims = tuple(claim for pod in pods for claim in claims_of(pod, inventory) if _is_own(pod, claim))
    return NodeTemplate(name, _with_taints(node, taints), slices, pods, claims, inventory.storage.csi_nodes.get(name))


def new_names(like_: str, number: int, taken: Collection[str]) -> tuple[str, ...]:
    """Names for new nodes and devices: ``NAME-new-1`` and so on, those that are taken left out."""
    names = (f"{like_}-new-{each}" for each in count(1))
    return tuple(islice((name for name in names if name not in taken), number))


def _slices(inventory: Inventory, node: str) -> Iterator[ResourceSlice]:
    """The slices of a node's own pools that the scheduler reads: those of the newest generation."""
    mine = inventory.slices_by_node.get(node, ())
    for pool in dict.fromkeys(s.spec.pool_id for s in mine):
        yield from (slice_ for slice_ in inventory.newest(pool) if slice_.spec.node_name == node)


def _fresh(slice_: ResourceSlice, free: bool) -> ResourceSlice:
    if not free or not any(device.taints for device in slice_.spec.devices):
        return slice_
    devices = tuple(msgspec.structs.replace(device, taints=()) for device in slice_.spec.devices)
    return with_spec(slice_, devices=devices)


def _daemons(inventory: Inventory, node: str) -> Iterator[Pod]:
    on_node = (pod for pod in inventory.pods.values() if pod.spec.node_name == node and not is_terminal(pod))
    return (pod for pod in on_node if stays_with_node(pod))


def _is_own(pod: Pod, claim: ResourceClaim) -> bool:
    """Whether every such pod has a claim of its own like this one."""
    controller = claim.metadata.controller
    return controller is not None and controller.uid == pod.metadata.uid


def _with_taints(node: Node, taints: tuple[Taint, ...]) -> Node:
    return with_spec(node, taints=taints, unschedulable=False)


# --- new names ------------------------------------------------------------------------------------------------------


def renamed_for(name: str, before: str, after: str) -> str:
    """A name that belongs to a node (of a pool, a slice), for another node."""
    return name.replace(before, after) if before and before in name else f"{name}-{after}"


def _renamed_node(node: Node, name: str) -> Node:
    labels = dict(node.metadata.labels)
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    meta = ObjectMeta(name=name, uid=f"new-{name}", labels=labels, annotations=node.metadata.annotations)
    return msgspec.structs.replace(node, metadata=meta)


def _renamed_slice(slice_: ResourceSlice, node: str, pools: dict[tuple[str, str], str]) -> ResourceSlice:
    spec = slice_.spec
    pool = msgspec.structs.replace(spec.pool, name=pools[spec.driver, spec.pool.name])
    meta = ObjectMeta(name=renamed_for(slice_.metadata.name, spec.node_name or "", node))
    devices = tuple(_renamed_device(device, spec.node_name, node) for device in spec.devices)
    spec = msgspec.structs.replace(spec, pool=pool, node_name=node, devices=devices)
    return msgspec.structs.replace(slice_, metadata=meta, spec=spec)


def _renamed_device(device: Device, before: str | None, after: str) -> Device:
    if device.node_name and device.node_name == before:
        return msgspec.structs.replace(device, node_name=after)
    return device


def _renamed_pod(pod: Pod, node: str) -> Pod:
    own = pod.metadata
    meta = msgspec.structs.replace(own, name=f"{own.name}-{node}", uid=f"{own.uid}-{node}")
    spec: PodSpec = msgspec.structs.replace(pod.spec, node_name=node)
    statuses = tuple(
        msgspec.structs.replace(s, resource_claim_name=f"{s.resource_claim_name}-{node}")
        if s.resource_claim_name
        else s
        for s in pod.status.resource_claim_statuses
    )
    status = msgspec.structs.replace(pod.status, resource_claim_statuses=statuses)
    return msgspec.structs.replace(pod, metadata=meta, spec=spec, status=status)


def _renamed_claim(claim: ResourceClaim, node: str, pools: dict[tuple[str, str], str]) -> ResourceClaim:
    own = claim.metadata
    owners = tuple(
        msgspec.structs.replace(o, name=f"{o.name}-{node}", uid=f"{o.uid}-{node}") for o in own.owner_references
    )
    meta = msgspec.structs.replace(own, name=f"{own.name}-{node}", uid=f"{own.uid}-{node}", owner_references=owners)
    users = tuple(
        msgspec.structs.replace(u, name=f"{u.name}-{node}", uid=f"{u.uid}-{node}") for u in claim.status.reserved_for
    )
    allocation = claim.status.allocation
    if allocation is not None:
        allocation = _renamed_allocation(allocation, node, pools)
    status = msgspec.structs.replace(claim.status, allocation=allocation, reserved_for=users)
    return msgspec.structs.replace(claim, metadata=meta, status=status)


def _renamed_allocation(allocation: AllocationResult, node: str, pools: dict[tuple[str, str], str]) -> AllocationResult:
    results = tuple(
        msgspec.structs.replace(result, pool=pools.get((result.driver, result.pool), result.pool))
        for result in allocation.devices.results
    )
    selector = allocation.node_selector
    if selector is not None:
        field = NodeSelectorRequirement("metadata.name", "In", (node,))
        selector = NodeSelector((NodeSelectorTerm(match_fields=(field,)),))
    devices = msgspec.structs.replace(allocation.devices, results=results)
    return msgspec.structs.replace(allocation, devices=devices, node_selector=selector)


def gone_with(inventory: Inventory, node: str) -> Iterator[tuple[str, Key]]:
    """Kind and key of what goes with a node besides its pods: the slices of its own pools, and its CSINode."""
    for slice_ in inventory.slices_by_node.get(node, ()):
        yield "ResourceSlice", key_of(slice_.metadata)
    if node in inventory.storage.csi_nodes:
        yield "CSINode", Key("", node)
