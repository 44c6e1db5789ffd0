"""Reservations of claims by pods that are gone, and the command that ends them.

The resource claim controller ends them by itself when it sees the pod go; where it missed that, nobody does. The status
is patched with the position and uid of each, so that the patch fails if something has changed meanwhile. With the last
one goes the allocation, as the controller only gives back what it ends itself.

Upstream: pkg/controller/resourceclaim/controller.go, syncClaim.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.reserved import is_gone
from kubectl_dra.diagnosis.records import HeldFor
from kubectl_dra.diagnosis.remedies.records import EndReservations
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.invocations import Words, changing, kubectl, of, within
from kubectl_dra.scheduler.claims import FINALIZER


def end_of_reservations(claim: ResourceClaim, state: ClusterState) -> Iterator[Words]:
    """The command for the cluster, where there is something to end."""
    words = patch_of_reservations(claim, state)
    command = changing(words, state.evidence.address) if words is not None else None
    if command is not None:
        yield command


def end_of_users(action: EndReservations, state: ClusterState) -> Words | None:
    """The command of a way out; None where names cannot stand in one."""
    if action.held_for is HeldFor.EMPTY_GROUP:
        groups = [of("podgroups.scheduling.k8s.io", name) for name in action.pods]
        return kubectl("delete", *groups, within(action.claim.namespace))
    claim = state.inventory.claims.get(action.claim.key)
    return patch_of_reservations(claim, state) if claim is not None else None


def patch_of_reservations(claim: ResourceClaim, state: ClusterState) -> Words | None:
    """The command, where a reservation is known to be for a pod that is gone and the names can stand in one."""
    meta = claim.metadata
    if not state.evidence.users_known(meta.namespace):
        return None
    reserved = claim.status.reserved_for
    gone = [i for i, consumer in enumerate(reserved) if is_gone(state.inventory, meta.namespace, consumer)]
    patch: list[dict[str, Any]] = []
    # From the end: what is removed moves what comes after it.
    for position in reversed(gone):
        path = f"/status/reservedFor/{position}"
        patch.append({"op": "test", "path": f"{path}/uid", "value": reserved[position].uid})
        patch.append({"op": "remove", "path": path})
    if len(gone) == len(reserved) and claim.status.allocation is not None and FINALIZER in meta.finalizers:
        patch.append({"op": "remove", "path": "/status/allocation"})
    target = of("resourceclaim", meta.name, meta.namespace)
    words = kubectl("patch", target, "--subresource=status", "--type=json", "-p", json.dumps(patch))
    return words if gone else None
