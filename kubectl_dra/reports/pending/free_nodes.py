"""Where nodes may not be read: on which of those that slices name the devices for a pod's claims are free.

Only devices are asked about: what else a node has against the pod stands in objects that could not be read. The nodes
are supposed, with nothing but their names, and the pod with nothing but its claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import classic
from kubectl_dra.diagnosis.pod.equivalence import Examiner
from kubectl_dra.diagnosis.records import NodeOutcome, PodDiagnosis, Verdict
from kubectl_dra.model.core import Node, NodeStatus, Pod, PodSpec
from kubectl_dra.model.evidence import Evidence, Read
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, ResourceClaim, ResourceSliceSpec
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.extended import asked

_DEVICES: Final = ("ResourceSlice", "DeviceClass", "ResourceClaim")
_RULES: Final = "DeviceTaintRule"
_SHOWN: Final = 20


class FreeNodes(ReportRecord, frozen=True):
    """``count`` nodes on which devices for all claims are free: the first 20 of their ``names``, sorted."""

    names: tuple[str, ...]
    count: int


def free_nodes(diagnosis: PodDiagnosis, state: ClusterState) -> FreeNodes | None:
    """None where nodes were read or devices were not, or where slices tell no names of nodes."""
    pod = state.inventory.pods.get(diagnosis.pod.key)
    if pod is None or diagnosis.verdict is not Verdict.UNKNOWN or state.evidence.complete("Node"):
        return None
    rules = (_RULES,) if state.features.device_taint_rules else ()
    if asked(pod) or not all(map(state.evidence.complete, (*_DEVICES, *rules))):
        return None
    entries = resolve(state.inventory, state.evidence, state.features, pod)
    claims, names = tuple(each.claim for each in entries if each.claim is not None), _named(state.inventory)
    # Of claims of the prototype a driver's controller decides.
    if not names or len(claims) != len(entries) or classic.concerns(claims) or any(map(_reached_by_label, claims)):
        return None
    bare = PodSpec(scheduler_name=pod.spec.scheduler_name, resource_claims=pod.spec.resource_claims)
    pod = msgspec.structs.replace(pod, spec=bare)
    groups = Examiner(_supposed(state, pod, names)).examine(pod, claims).explanation.groups
    found = sorted(name for group in groups if group.outcome is NodeOutcome.FITS for name in group.nodes)
    return FreeNodes(tuple(found[:_SHOWN]), len(found))


def _reached_by_label(claim: ResourceClaim) -> bool:
    """Whether labels of nodes, which nobody could read, say which of them can use what a claim has already."""
    has = claim.status.allocation
    terms = has.node_selector.node_selector_terms if has is not None and has.node_selector is not None else ()
    return any(term.match_expressions for term in terms)


def _named(inventory: Inventory) -> frozenset[str]:
    """All nodes that can use a device; empty where a label decides, which nobody could read, or any node can."""
    found = set[str | None]()
    for each in inventory.slices.values():
        found.update(map(_node_of, _places(each.spec)))
    return frozenset() if None in found else frozenset(filter(None, found))


def _places(spec: ResourceSliceSpec) -> Iterator[ResourceSliceSpec | Device]:
    if spec.per_device_node_selection:
        yield from spec.devices
    elif spec.devices:
        yield spec


def _node_of(place: ResourceSliceSpec | Device) -> str | None:
    return None if place.node_selector is not None or place.all_nodes else place.node_name


def _supposed(state: ClusterState, pod: Pod, names: Iterable[str]) -> ClusterState:
    """A cluster of these nodes, with this pod and no other; devices are held as they are."""
    status = NodeStatus(allocatable={"pods": Quantity.parse("1")})
    nodes = {name: Node(metadata=ObjectMeta(name=name), status=status) for name in names}
    inventory = state.inventory.replace(nodes=nodes, pods={key_of(pod.metadata): pod}, usage={})
    read = tuple(Read(kind) for kind in (*_DEVICES, _RULES, "Node", "Pod", "Namespace"))
    evidence = Evidence(read, server_version=state.evidence.server_version)
    return ClusterState(inventory, evidence, state.features, state.clock, schedulers=state.schedulers)
