"""For whom claims hold devices: reservations of pods that are gone stay until the claim controller ends them."""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import HeldFor
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ConsumerReference, ResourceClaim
from kubectl_dra.model.usage import is_terminal


def is_gone(inventory: Inventory, namespace: str, consumer: ConsumerReference) -> bool:
    """Whether a reservation is for a pod that is not there, was replaced under its name, or has finished."""
    if consumer.api_group or consumer.resource != "pods":
        return False
    pod = inventory.pods.get(Key(namespace, consumer.name))
    return pod is None or pod.metadata.uid != consumer.uid or is_terminal(pod)


def held_for(world: ClusterState, claim: ResourceClaim) -> HeldFor:
    """For whom an allocated claim is reserved; used where any consumer is there, or pods are not all known."""
    namespace, consumers = claim.metadata.namespace, claim.status.reserved_for
    if not consumers:
        return HeldFor.NOBODY
    inventory = world.inventory
    known = world.evidence.users_known(namespace)
    if not known or not all(is_gone(inventory, namespace, consumer) for consumer in consumers):
        return HeldFor.USED
    finished = any(consumer.uid in inventory.pods_by_uid for consumer in consumers)
    return HeldFor.FINISHED if finished else HeldFor.GONE
