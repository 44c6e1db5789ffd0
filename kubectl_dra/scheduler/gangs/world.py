"""The cluster while a group is tried: what its pods placed so far take, and what follows from a try that was undone.

Upstream: Snapshot.AssumePod and the Reserve plugins; here nothing is undone, as every step makes another snapshot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Final

import msgspec

from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, StorageObjects, key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.podinfo import PodInfo, pod_info
from kubectl_dra.model.resource import ConsumerReference, ResourceClaim
from kubectl_dra.model.storage import ClaimReference
from kubectl_dra.model.usage import NodeUsage, usage_of
from kubectl_dra.scheduler.attempt import Attempt
from kubectl_dra.scheduler.binder import SELECTED_NODE, BindableVolumes
from kubectl_dra.scheduler.claims import FINALIZER, claim_names
from kubectl_dra.scheduler.extended import CLAIM_NAME
from kubectl_dra.scheduler.plugins.dynamic_resources import StateData, reserved
from kubectl_dra.scheduler.plugins.volume_binding import chosen_volumes
from kubectl_dra.scheduler.snapshot import Snapshot

_EMPTY: Final = NodeUsage()


def with_pod(found: Attempt, node: str) -> Snapshot:
    """The snapshot of an attempt with its pod on a node, where it takes what the attempt found."""
    pod, snapshot = found.cycle.pod, found.cycle.snapshot
    inventory = snapshot.inventory
    there = with_spec(pod, node_name=node)
    allocated = dict(_allocated(found, node))
    changes: dict[str, Any] = {
        "usage": edited(inventory.usage, {node: inventory.usage.get(node, _EMPTY).plus(usage_of(pod_info(pod)))}),
        "pods": edited(inventory.pods, {key_of(pod.metadata): there}),
    }
    if allocated:
        changes["claims"] = edited(inventory.claims, allocated)
    volumes = chosen_volumes(found.cycle, snapshot.nodes[node])
    if volumes.bindings or volumes.provisions:
        changes["storage"] = assumed_volumes(inventory.storage, volumes, node)
    return msgspec.structs.replace(_changed(snapshot, **changes), pending=snapshot.pending | allocated.keys())


def assumed_volumes(storage: StorageObjects, found: BindableVolumes, node: str) -> StorageObjects:
    """Volumes belong to their claims, and claims for which one will be made to the node (AssumePodVolumes)."""
    volumes = dict(storage.volumes)
    for wanted, volume in found.bindings:
        reference = ClaimReference(namespace=wanted.key.namespace, name=wanted.key.name, uid=wanted.claim.metadata.uid)
        volumes[volume.metadata.name] = with_spec(volume, claim_ref=reference)
    claims = dict(storage.claims)
    for provision in found.provisions:
        claim = provision.wanted.claim
        annotations = {**claim.metadata.annotations, SELECTED_NODE: node}
        meta = msgspec.structs.replace(claim.metadata, annotations=annotations)
        claims[provision.wanted.key] = msgspec.structs.replace(claim, metadata=meta)
    return replace(storage, volumes=volumes, claims=claims)


def in_cycle(snapshot: Snapshot, pods: Collection[Pod]) -> Snapshot:
    """Of pods that are out of the queue, as those of the group are, the scheduler knows only that they are nominated.

    They count as pods without any content, of priority 0 (nominatedPodToInfo).
    """
    bare = {
        key_of(pod.metadata): Pod(
            metadata=ObjectMeta(name=pod.metadata.name, namespace=pod.metadata.namespace, uid=pod.metadata.uid),
            status=PodStatus(nominated_node_name=pod.status.nominated_node_name),
        )
        for pod in pods
        if pod.status.nominated_node_name
    }
    return _changed(snapshot, pods=edited(snapshot.inventory.pods, bare)) if bare else snapshot


def without_nominations(snapshot: Snapshot, pods: Collection[Pod]) -> Snapshot:
    """The scheduler forgets where a pod was about to go as soon as it has placed it, even if that is undone."""
    forgotten = {
        key_of(pod.metadata): msgspec.structs.replace(
            pod, status=msgspec.structs.replace(pod.status, nominated_node_name="")
        )
        for pod in pods
        if pod.status.nominated_node_name
    }
    return _changed(snapshot, pods=edited(snapshot.inventory.pods, forgotten)) if forgotten else snapshot


def without_pods(snapshot: Snapshot, pods: Collection[tuple[PodInfo, str]]) -> Snapshot:
    """Without some pods of nodes; what they hold of devices stays taken."""
    before, usage = snapshot.inventory.usage, dict[str, NodeUsage]()
    for pod, node in pods:
        usage[node] = usage.get(node, before[node]).minus(usage_of(pod))
    # Upstream changes a copy: StartMutations takes NodeInfo.Snapshot of what is one already.
    return msgspec.structs.replace(_changed(snapshot, usage=edited(before, usage)), copied=True)


def _changed(snapshot: Snapshot, **changes: Any) -> Snapshot:  # noqa: ANN401
    return msgspec.structs.replace(snapshot, state=snapshot.state.changed(snapshot.inventory.replace(**changes)))


def _allocated(found: Attempt, node: str) -> Iterator[tuple[Key, ResourceClaim]]:
    """The claims that get an allocation when the pod comes to the node; one that is not made yet is its pod's own."""
    devices = found.cycle.states.get(StateData)
    if not isinstance(devices, StateData):
        return
    for claim, allocation in reserved(found.cycle, devices, node):
        if claim.status.allocation is None:
            meta = claim.metadata
            if meta.name == CLAIM_NAME:
                meta = msgspec.structs.replace(meta, name=extended_name(found.cycle.pod))
            status = msgspec.structs.replace(claim.status, allocation=allocation)
            yield key_of(meta), msgspec.structs.replace(claim, metadata=meta, status=status)


def extended_name(pod: Pod) -> str:
    """What the claim for a pod's extended resources is called before it is made."""
    return f"{CLAIM_NAME}/{pod.metadata.name}"


def with_reservations(inventory: Inventory, pod: Pod) -> Inventory:
    """With the claims of a pod reserved for it."""
    user = ConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)
    claims = dict(inventory.claims)
    for name in claim_names(pod).values():
        claim = claims.get(Key(pod.metadata.namespace, name))
        if claim is not None:
            claims[key_of(claim.metadata)] = _reserved_for(claim, user)
    return inventory.replace(claims=claims)


def _reserved_for(claim: ResourceClaim, user: ConsumerReference) -> ResourceClaim:
    status = msgspec.structs.replace(claim.status, reserved_for=(*claim.status.reserved_for, user))
    finalizers = tuple(dict.fromkeys((*claim.metadata.finalizers, FINALIZER)))
    meta = msgspec.structs.replace(claim.metadata, finalizers=finalizers)
    return msgspec.structs.replace(claim, metadata=meta, status=status)
