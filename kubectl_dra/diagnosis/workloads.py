"""Who owns a pod, and which pods a workload has: ownerReferences followed upwards, whatever the kinds are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta, OwnerReference
from kubectl_dra.scheduler.claims import controller_of

_DEPTH = 8  # longer chains are loops


@dataclass(frozen=True, slots=True)
class Owner:
    """One owner in a chain; ``known`` if the object itself was read, so that the chain can go on."""

    ref: ObjectRef
    uid: str
    known: bool


def owners(inventory: Inventory, pod: Pod) -> tuple[Owner, ...]:
    """The controllers of a pod, nearest first: ReplicaSet, Deployment …"""
    return tuple(_chain(inventory, pod.metadata))


def _chain(inventory: Inventory, metadata: ObjectMeta) -> Iterator[Owner]:
    namespace = metadata.namespace
    for _ in range(_DEPTH):
        reference = controller_of(metadata)
        if reference is None:
            return
        parent = _lookup(inventory, namespace, reference)
        yield Owner(ObjectRef(reference.kind, namespace, reference.name), reference.uid, parent is not None)
        if parent is None:
            return
        metadata = parent


def _lookup(inventory: Inventory, namespace: str, reference: OwnerReference) -> ObjectMeta | None:
    found = inventory.workloads.get((reference.kind, namespace, reference.name))
    if found is None or (reference.uid and found.metadata.uid and found.metadata.uid != reference.uid):
        return None
    return found.metadata


def resolve_workload(inventory: Inventory, kind: str, key: Key) -> tuple[Pod, ...]:
    """The pods of a workload, in order of their names; empty if it has none, or if its parts were not read."""
    wanted = inventory.workloads.get((kind, key.namespace, key.name))
    uid = wanted.metadata.uid if wanted is not None else ""
    pods = (pod for pod in inventory.pods.values() if pod.metadata.namespace == key.namespace)
    found = (pod for pod in pods if any(_is(owner, kind, key, uid) for owner in owners(inventory, pod)))
    return tuple(sorted(found, key=lambda pod: key_of(pod.metadata)))


def _is(owner: Owner, kind: str, key: Key, uid: str) -> bool:
    return (owner.ref.kind, owner.ref.name) == (kind, key.name) and (not uid or not owner.uid or owner.uid == uid)


def recreated_by(inventory: Inventory, pod: Pod) -> ObjectRef | None:
    """The topmost known controller, which makes a new pod when this one is deleted."""
    chain = owners(inventory, pod)
    return chain[-1].ref if chain else None
