"""What is done for a group that does not fit: claims are freed, others are evicted.

Upstream: RunPodGroupPostFilterPlugins; PodGroupPostFilter of dynamicresources and defaultpreemption.
"""

from __future__ import annotations

from typing import Final

import msgspec

from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.scheduling import PodGroupResourceClaim
from kubectl_dra.scheduler.claims import is_reserved_for
from kubectl_dra.scheduler.fit_error import NO_STATE
from kubectl_dra.scheduler.gangs.group import Gang
from kubectl_dra.scheduler.gangs.preemption import GroupPreemption, preempt
from kubectl_dra.scheduler.gangs.trial import GroupStatus, Run
from kubectl_dra.scheduler.plugins.dynamic_resources import StateData
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import StatusCode

COMPLETED: Final = "deallocation and deletion of ResourceClaims completed"
DEALLOCATED: Final = "deallocation of PodGroup ResourceClaim completed"
UNRESERVED: Final = "ResourceClaim unreserved for PodGroup"


class _FailedError(Exception):
    """Ends the plugin with an error."""


class After(msgspec.Struct, frozen=True):
    """What the plugins say together; ``preemption`` None: it was not its turn."""

    status: GroupStatus
    preemption: GroupPreemption | None = None


def post_filter(gang: Gang, world: Snapshot, shared: Run) -> After:
    """DynamicResources, then DefaultPreemption: the first that is done or fails for good says it alone."""
    try:
        devices = _free_claims(gang, shared)
    except _FailedError as failed:
        return After(_failed("DynamicResources", str(failed)))
    if devices.code is not StatusCode.UNSCHEDULABLE:
        return After(devices)
    found = preempt(gang, world, shared)
    if found.status.code is StatusCode.ERROR:
        return After(_failed("DefaultPreemption", found.status.message), found)
    if found.status.code is not StatusCode.UNSCHEDULABLE:
        return After(found.status, found)
    return After(GroupStatus(StatusCode.UNSCHEDULABLE, (*devices.reasons, *found.status.reasons)), found)


def _failed(plugin: str, text: str) -> GroupStatus:
    return GroupStatus(StatusCode.ERROR, (f'error in "{plugin}" PodGroupPostFilter plugins: {text}',))


def _free_claims(gang: Gang, shared: Run) -> GroupStatus:
    """What DynamicResources does; it says so even where that is nothing."""
    features = gang.snapshot.features
    if features.topology_aware_workloads and gang.group.spec.scheduling_constraints is not None:
        return GroupStatus(StatusCode.UNSCHEDULABLE)
    if not shared.devices:
        raise _FailedError(NO_STATE)
    known = [(pod, shared.devices.get(key_of(pod.metadata))) for pod in gang.tried]
    nothing = any(
        state is not None and not state.idle(pod) and not (state.left_over is not None and state.statuses)
        for pod, state in known
    )
    if nothing and features.workload_resource_claims and not gang.scheduled:
        done = _free_group_claims(gang, shared)
        if done is not None:
            return done
    return GroupStatus(StatusCode.UNSCHEDULABLE, (COMPLETED,))


def _free_group_claims(gang: Gang, shared: Run) -> GroupStatus | None:
    if any(_is_idle(gang, claim) for state in shared.devices.values() for claim in _in_the_way(state)):
        return GroupStatus(StatusCode.UNSCHEDULABLE, (DEALLOCATED,))
    for entry in gang.group.spec.resource_claims:
        claim = _claim_of(gang, entry)
        if claim is None or claim.status.allocation is None:
            continue
        if is_reserved_for(gang.tried[0], claim, gang.snapshot.features):
            return GroupStatus(StatusCode.UNRESOLVABLE, (UNRESERVED,))
    return None


def _in_the_way(state: StateData) -> list[ResourceClaim]:
    positions = sorted({i for found in state.nodes.values() for i in found.unavailable})
    return [state.claims[i] for i in positions]


def _is_idle(gang: Gang, claim: ResourceClaim) -> bool:
    consumers = [consumer.uid for consumer in claim.status.reserved_for]
    return consumers in ([], [gang.group.metadata.uid])


def _claim_of(gang: Gang, entry: PodGroupResourceClaim) -> ResourceClaim | None:
    """The claim of an entry; None if it needs none or the claim is somebody else's."""
    name = entry.resource_claim_name
    owned = name is None
    if name is None:
        if entry.resource_claim_template_name is None:
            text = f"PodGroup {gang.key}, spec.resourceClaim {entry.name}: none of the supported fields are set"
            raise _FailedError(text)
        recorded = next((s for s in gang.group.status.resource_claim_statuses if s.name == entry.name), None)
        if recorded is None:
            raise _FailedError(f"PodGroup {gang.key}: ResourceClaim not created yet")
        name = recorded.resource_claim_name
        if name is None:
            return None
    key = Key(gang.key.namespace, name)
    claim = gang.snapshot.inventory.claims.get(key)
    if claim is None:
        raise _FailedError(f'could not find ResourceClaim "{key}"')
    controller = claim.metadata.controller
    ours = controller is not None and controller.uid == gang.group.metadata.uid
    return claim if ours or not owned else None
