"""Pods on every node that take all devices there, where a monitor would look at them with admin access.

Upstream: pkg/features, DRAAdminAccess, which is on by default from 1.34 on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.remedies.records import Action, DeletePod
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.model.admin_access import lacking_label
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.pending.renewal import TakesAll

_GATE: Final = "DRAAdminAccess"


def taking_all(state: ClusterState, actions: Sequence[Action]) -> Iterator[TakesAll]:
    """Of the DaemonSets whose pods would be deleted, those that request all devices for themselves."""
    for action in actions:
        owner = action.recreated_by if isinstance(action, DeletePod) and action.frees else None
        pod = state.inventory.pods.get(action.pod.key) if isinstance(action, DeletePod) else None
        if owner is None or owner.kind != DAEMON_SET or pod is None:
            continue
        claims = state.inventory.claims_by_user.get(pod.metadata.uid, ())
        if any(map(_takes_all, claims)):
            gate = "" if state.features.admin_access else _GATE
            yield TakesAll(owner, _missing_label(state, owner.namespace), gate)


def _takes_all(claim: ResourceClaim) -> bool:
    exactly = (request.exactly for request in claim.spec.devices.requests)
    return any(e is not None and e.allocation_mode == "All" and not e.admin_access for e in exactly)


def _missing_label(state: ClusterState, name: str) -> str:
    namespace = state.inventory.namespaces.get(name)
    return lacking_label(namespace.metadata.labels if namespace is not None else {}, state.features)
