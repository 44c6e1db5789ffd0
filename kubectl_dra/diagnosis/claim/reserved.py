"""For whom claims hold devices: reservations of pods that are gone stay until the claim controller ends them."""

from __future__ import annotations

from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.records import HeldFor
from kubectl_dra.model import differences
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ConsumerReference, ResourceClaim
from kubectl_dra.model.usage import is_terminal

#: Upstream: pkg/kubelet/kubelet_pods.go; containers wait so before they are started for the first time.
STARTING: Final = ("ContainerCreating", "PodInitializing")

#: Pods of a node with it that is not ready are deleted by force (upstream: pkg/controller/podgc, gcTerminating).
OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"

#: The API group and resource of the consumers that are PodGroups.
POD_GROUPS: Final = ("scheduling.k8s.io", "podgroups")

#: Each of them is explained on its own, which takes a look at all of its devices.
_NODES: Final = 20


def is_gone(inventory: Inventory, namespace: str, consumer: ConsumerReference) -> bool:
    """Whether a reservation is for a pod that is not there, was replaced under its name, or has finished."""
    if consumer.api_group or consumer.resource != "pods":
        return False
    pod = inventory.pods.get(Key(namespace, consumer.name))
    return pod is None or pod.metadata.uid != consumer.uid or is_terminal(pod)


def is_without_pods(inventory: Inventory, namespace: str, consumer: ConsumerReference) -> bool:
    """Whether a reservation is for a PodGroup that has no unfinished pods, as far as is known of the group itself.

    One that was made anew under the name is another. Upstream: pkg/controller/resourceclaim/controller.go ends the
    reservation only when the PodGroup is gone.
    """
    if (consumer.api_group, consumer.resource) != POD_GROUPS:
        return False
    key = Key(namespace, consumer.name)
    group = inventory.groups.pod_groups.get(key)
    same = group is None or group.metadata.uid == consumer.uid
    return same and all(map(is_terminal, inventory.pods_by_group.get(key, ())))


def is_empty_group(inventory: Inventory, namespace: str, consumer: ConsumerReference) -> bool:
    """The same of a PodGroup that was read."""
    read = Key(namespace, consumer.name) in inventory.groups.pod_groups
    return read and is_without_pods(inventory, namespace, consumer)


def fails(pod: Pod) -> str:
    """Why a pod on its node does not run, ``CrashLoopBackOff``; empty for one that does, or is only starting."""
    running = any(each.state.running is not None for each in pod.status.container_statuses)
    if running or not pod.spec.node_name or is_terminal(pod):
        return ""
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    reasons = (each.state.waiting.reason for each in statuses if each.state.waiting is not None)
    return next((reason for reason in reasons if reason and reason not in STARTING), "")


def never_ends(inventory: Inventory, pod: Pod) -> bool:
    """Whether nothing ends a pod that is deleted: its kubelet has stopped reporting, and nobody else may do it."""
    node = inventory.nodes.get(pod.spec.node_name)
    if node is None:
        return False
    silent = any(each.type == "Ready" and each.status == "Unknown" for each in node.status.conditions)
    return silent and all(taint.key != OUT_OF_SERVICE for taint in node.spec.taints)


def _later_in_vain(found: frozenset[str], before: ClusterState, after: ClusterState) -> frozenset[str] | None:
    """Still none, where no pod that has changed, or uses a claim that has, is one of these."""
    old, new = before.inventory, after.inventory
    pods = new.pods
    changed = [pods[key] for key in differences.changed(old.pods, pods)]
    for key in differences.changed(old.claims, new.claims):
        users = (pods.get(Key(key.namespace, user.name)) for user in new.claims[key].status.reserved_for)
        changed += (pod for pod in users if pod is not None)
    return None if found or any(map(_is_in_vain, changed)) else found


@derived("pods", "claims", later=_later_in_vain)
def nodes_held_in_vain(state: ClusterState) -> frozenset[str]:
    """Nodes on which a pod that should end, or does not run, uses a claim; the first few of them."""
    pods = state.inventory.pods_by_uid
    users = (pods.get(user.uid) for claim in state.inventory.claims.values() for user in claim.status.reserved_for)
    found = (pod for pod in users if pod is not None and _is_in_vain(pod))
    return frozenset(sorted({pod.spec.node_name for pod in found})[:_NODES])


def _is_in_vain(pod: Pod) -> bool:
    return bool(pod.metadata.deletion_timestamp or fails(pod))


def held_for(state: ClusterState, claim: ResourceClaim) -> HeldFor:
    """For whom an allocated claim is reserved; used where any consumer is there, or pods are not all known."""
    namespace, consumers = claim.metadata.namespace, claim.status.reserved_for
    if not consumers:
        return HeldFor.NOBODY
    inventory = state.inventory
    known = state.evidence.users_known(namespace)
    if known and all(is_empty_group(inventory, namespace, consumer) for consumer in consumers):
        return HeldFor.EMPTY_GROUP
    if not known or not all(is_gone(inventory, namespace, consumer) for consumer in consumers):
        return HeldFor.USED
    finished = any(consumer.uid in inventory.pods_by_uid for consumer in consumers)
    return HeldFor.FINISHED if finished else HeldFor.GONE
