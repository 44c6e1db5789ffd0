"""Who of the waiting pod's own namespace has devices of its classes: what its owner may end without asking anybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.claim.claim_verdicts import selected_names
from kubectl_dra.diagnosis.claim.reserved import fails, held_for
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import HeldFor, ObjectRef, OwnHolder
from kubectl_dra.diagnosis.said.allocated import given
from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaim

_MOST: Final = 3
#: Those that have no use for their devices come first; those that are going need no help.
_ORDER: Final = (HeldFor.NOBODY, HeldFor.GONE, HeldFor.FINISHED, HeldFor.FAILING, HeldFor.USED, HeldFor.ENDING)


def own_holders(state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim]) -> tuple[OwnHolder, ...]:
    """The first few, those that need their devices least first; none of its own workload, which makes them again."""
    classes = {name for claim in claims for name in class_names(claim.spec)}
    own = {claim.metadata.uid for claim in claims}
    held = _allocated(state).get(pod.metadata.namespace, ())
    workload = Owners(state.inventory).restarting(key_of(pod.metadata))
    found = [each for claim in held if claim.metadata.uid not in own for each in _holders(state, claim, classes)]
    if workload is not None:
        found = [each for each in found if each.again != workload.ref]
    return tuple(sorted(found, key=lambda each: (_ORDER.index(each.held_for), -each.devices, each.holder.name))[:_MOST])


@derived("claims")
def _allocated(state: ClusterState) -> Mapping[str, Sequence[ResourceClaim]]:
    """The claims that have devices, by namespace."""
    found: dict[str, list[ResourceClaim]] = {}
    for claim in state.inventory.claims.values():
        if claim.status.allocation is not None:
            found.setdefault(claim.metadata.namespace, []).append(claim)
    return found


def _holders(state: ClusterState, claim: ResourceClaim, classes: set[str]) -> Iterator[OwnHolder]:
    """Who has to go for the devices of one claim; nobody whose end would not be enough."""
    there = [name for name, _ in given(claim) if name in classes]
    allocation, consumers = claim.status.allocation, claim.status.reserved_for
    nodes = selected_names(allocation.node_selector) if allocation is not None else ()
    if not there or len(nodes) != 1 or len(consumers) > 1:
        return
    why = held_for(state, claim)
    if why in (HeldFor.NOBODY, HeldFor.GONE):
        yield OwnHolder(ObjectRef.of_claim(claim), there[0], len(there), nodes[0], why)
        return
    user = state.inventory.pods_by_uid.get(consumers[0].uid)
    if user is None:
        return
    if user.metadata.deletion_timestamp is not None:
        why = HeldFor.ENDING
    elif why is HeldFor.USED and fails(user):
        why = HeldFor.FAILING
    owner = Owners(state.inventory).restarting(key_of(user.metadata)) if why is not HeldFor.FINISHED else None
    ref = ObjectRef.of("Pod", key_of(user.metadata))
    yield OwnHolder(ref, there[0], len(there), nodes[0], why, owner.ref if owner is not None else None)
