"""Remedies that give back devices: idle claims, pods and what their deletion really releases.

Deleting a pod releases a claim if the pod owns it, or is its last consumer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.reserved import fails, never_ends
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.workloads import resolve_workload
from kubectl_dra.diagnosis.records import ClaimElsewhere, Funnel, NodeOutcome, ObjectRef, StageName
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.actions import ScaleDown
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.records import DeleteClaim, DeletePod, Remedy, RemedyKind, Wait
from kubectl_dra.diagnosis.remedies.scalable import SCALED, is_scaled_back, loses_volumes
from kubectl_dra.diagnosis.remedies.trial import Trials
from kubectl_dra.diagnosis.whatif.nodes import MIRROR
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import ResourceClaim

_MAX_NODES: Final = 8
#: Of pods that are given more to end (30 s by default), when is told.
_LONG_GRACE: Final = timedelta(minutes=1)
_MAX_PODS: Final = 6
_MAX_SINGLE: Final = 12
_PAIR_NODES: Final = 3
_POD_COST: Final = 60
#: Less than deleting a pod that runs: nobody misses one that does not.
_STOP_COST: Final = 58
#: Workloads that can be scaled to no pods.
#: What deleting a pod that the cluster itself needs costs: more than anything else.
CRITICAL_COST: Final = 100
SYSTEM_CRITICAL: Final = 2_000_000_000  # priority class system-cluster-critical


@dataclass(frozen=True, slots=True)
class _Release:
    """A pod, the devices that its deletion releases, and its shares of devices that others use as well."""

    pod: Pod
    devices: tuple[str, ...]
    shares: tuple[str, ...] = ()


def candidates(case: Case, trials: Trials) -> Iterator[Candidate]:
    """Idle claims, then per node the pods that have to go."""
    yield from _idle_claims(case)
    for node in near_nodes(case):
        yield from _pods_of_node(case, trials, node)
    yield from _consumers(case)


def near_nodes(case: Case) -> Sequence[str]:
    """Nodes on which devices are what is missing, the nearest first."""
    groups = [group for group in case.diagnosis.nodes if group.outcome is NodeOutcome.CANNOT_ALLOCATE]
    held = [group for group in groups if any(_selected(report.funnel) for report in group.requests)]
    return [name for group in held for name in group.nodes[:_MAX_NODES]][:_MAX_NODES]


def _selected(funnel: Funnel | None) -> bool:
    """Whether any device passes the selectors."""
    return funnel is not None and funnel.stage(StageName.SELECTORS).count > 0


# --- who holds devices ----------------------------------------------------------------------------------------------


def holders(state: ClusterState, node: str) -> Iterator[ResourceClaim]:
    """Claims that hold devices which the node sees, not only with admin access."""
    by_node = state.inventory.slices_by_node
    keys: dict[Key, None] = {}
    for slice_ in (*by_node.get(node, ()), *by_node.get("", ())):
        held = state.allocated.pool(slice_.spec.driver, slice_.spec.pool.name)
        for device in slice_.spec.devices if held else ():
            if device.name in held:
                keys |= dict.fromkeys(held[device.name].holders)
    return (state.inventory.claims[key] for key in keys)


def devices_of(claim: ResourceClaim, *, shared: bool = True) -> tuple[str, ...]:
    """What it holds; ``shared``: with devices of which it has only a share."""
    allocation = claim.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    return tuple(
        str(DeviceId(result.driver, result.pool, result.device))
        for result in results
        if shared or result.share_id is None
    )


def _shares_of(claim: ResourceClaim) -> Iterator[str]:
    """``20Gi memory of gpu-0``: what it takes of devices that others may use as well."""
    allocation = claim.status.allocation
    for result in allocation.devices.results if allocation is not None else ():
        if result.share_id is not None:
            amounts = [f"{amount} {name}" for name, amount in sorted(result.consumed_capacity.items())]
            yield f"{' and '.join(amounts) or 'its share'} of {result.device}"


def _counters_of(case: Case, devices: Iterable[str]) -> Iterator[str]:
    """``20Gi memory of gpu-0-mem``: what partitions draw on the counters that are short."""
    details = (cause.detail for cause in case.causes(Code.COUNTERS_EXHAUSTED))
    stages = [detail.stage(StageName.COUNTERS) for detail in details if isinstance(detail, Funnel)]
    short = {removal.reason for stage in stages for removal in stage.removed}
    for name in devices:
        found = case.state.device(name)
        for consumed in found[1].consumes_counters if found is not None else ():
            counters = sorted(consumed.counters.items())
            told = [(key, counter) for key, counter in counters if f"{consumed.counter_set}/{key}" in short]
            amounts = [f"{counter.value} {key}" for key, counter in told]
            if amounts:
                yield f"{' and '.join(amounts)} of {consumed.counter_set}"


def _idle_claims(case: Case) -> Iterator[Candidate]:
    idle = {
        key_of(claim.metadata): claim
        for node in near_nodes(case)
        for claim in holders(case.state, node)
        if not claim.status.reserved_for
    }
    for key, claim in idle.items():
        action = DeleteClaim(ObjectRef.of("ResourceClaim", key), devices_of(claim))
        yield Candidate(RemedyKind.DELETE_IDLE_CLAIM, (action,), 15, (changes.without_claims({key}),))


# --- pods -----------------------------------------------------------------------------------------------------------


def _pods_of_node(case: Case, trials: Trials, node: str) -> Iterator[Candidate]:
    """Each pod that would be enough, else the fewest pods that are."""
    releases = sorted(_releases(case.state, node), key=_first_to_go)
    spared = {case.diagnosis.pod.key, *case.keep}
    releases = [each for each in releases if key_of(each.pod.metadata) not in spared and not _stays(case, each.pod)]
    going = [release for release in releases if release.pod.metadata.deletion_timestamp]
    releases = [release for release in releases if release not in going and not case.is_of_same_workload(release.pod)]
    if going and _enough(trials, going, node):
        yield _ending(case.state, going, node)
        return
    alone = [release for release in releases[:_MAX_SINGLE] if _enough(trials, [release], node)]
    short = any(True for _ in case.causes(Code.CAPACITY_TOO_SMALL))
    for release in alone:
        stopped = _stopping(case, release, node)
        if stopped is not None:
            yield stopped
            continue
        # Beside whole devices, shares are of use only where capacity is short.
        told = release.shares if short or not release.devices else ()
        yield _ending(case.state, [replace(release, shares=(*told, *_counters_of(case, release.devices)))], node)
    if not alone and releases:
        together = _smallest(trials, releases, node)
        if together:
            yield _ending(case.state, together, node)


def _stopping(case: Case, release: _Release, node: str) -> Candidate | None:
    """The workload of a pod that does not run, where none of its pods does: a new one would fail as well."""
    why, owner = fails(release.pod), case.owners.restarting(key_of(release.pod.metadata))
    found = to_scale(case, owner.ref) if why and owner is not None else None
    if found is None or owner is None:
        return None
    ref, (replicas, pods), inventory = owner.ref, found, case.state.inventory
    keys = [key_of(pod.metadata) for pod in pods]
    if key_of(release.pod.metadata) not in keys or not all(map(fails, pods)):
        return None
    held = (
        device for pod in pods for claim in released_by(inventory, pod) for device in devices_of(claim, shared=False)
    )
    refs = tuple(ObjectRef.of("Pod", key) for key in keys[:_MAX_PODS])
    action = ScaleDown(ref, replicas, refs, tuple(held), why)
    return Candidate(RemedyKind.FREE_DEVICES, (action,), _STOP_COST, (changes.without_pods(set(keys)),), only=(node,))


def to_scale(case: Case, owner: ObjectRef) -> tuple[int, Sequence[Pod]] | None:
    """Replicas and pods of a workload that may be scaled to none; None for others, or where pods are to stay."""
    inventory = case.state.inventory
    found = inventory.workloads.get((owner.kind, owner.namespace, owner.name)) if owner.kind in SCALED else None
    pods = resolve_workload(inventory, owner.kind, owner.key) if found is not None else ()
    if found is None or any(key_of(pod.metadata) in case.keep for pod in pods):
        return None
    if loses_volumes(found) or is_scaled_back(inventory, owner, 0):
        return None
    return 1 if found.spec.replicas is None else found.spec.replicas, pods


def _first_to_go(release: _Release) -> tuple[bool, int, Key]:
    """System-critical pods last, then by the number of devices."""
    critical = (release.pod.spec.priority or 0) >= SYSTEM_CRITICAL
    return critical, -len(release.devices), key_of(release.pod.metadata)


def _releases(state: ClusterState, node: str) -> Iterator[_Release]:
    inventory, pods = state.inventory, dict[Key, Pod]()
    for claim in holders(state, node):
        for consumer in claim.status.reserved_for:
            pod = inventory.pods_by_uid.get(consumer.uid)
            # The kubelet makes the mirror of a static pod anew, whoever deletes it.
            if pod is not None and MIRROR not in pod.metadata.annotations:
                pods[key_of(pod.metadata)] = pod
    for pod in pods.values():
        released = list(released_by(inventory, pod))
        devices = tuple(device for claim in released for device in devices_of(claim, shared=False))
        shares = tuple(share for claim in released for share in _shares_of(claim))
        if devices or shares:
            yield _Release(pod, devices, shares)


def released_by(inventory: Inventory, pod: Pod) -> Iterator[ResourceClaim]:
    """Claims that only this pod keeps."""
    for claim in inventory.claims_by_user.get(pod.metadata.uid, ()):
        if claim.metadata.namespace == pod.metadata.namespace and claim.status.allocation is not None:
            left = changes.after_deletion(claim, {pod.metadata.uid})
            if left is None or left.status.allocation is None:
                yield claim


def _enough(trials: Trials, releases: Sequence[_Release], node: str) -> bool:
    if trials.exhausted:
        return False
    keys = {key_of(release.pod.metadata) for release in releases}
    return trials.sample(changes.without_pods(keys), nodes=(node,)).fits


def _smallest(trials: Trials, releases: Sequence[_Release], node: str) -> list[_Release]:
    """Pods that together are enough, none of which can stay."""
    chosen: list[_Release] = []
    for release in releases[:_MAX_PODS]:
        chosen.append(release)
        if _enough(trials, chosen, node):
            break
    else:
        return []
    for release in list(chosen):
        fewer = [other for other in chosen if other is not release]
        if fewer and _enough(trials, fewer, node):
            chosen = fewer
    return chosen


def _ending(state: ClusterState, releases: Sequence[_Release], node: str) -> Candidate:
    """Without these pods; what is being deleted already is waited for: to delete it again changes nothing."""
    gone = tuple(changes.without_pods({key_of(release.pod.metadata)}) for release in releases)
    actions, only = tuple(_end_of(state, release) for release in releases), (node,) if node else ()
    pods = [release.pod for release in releases if not release.pod.metadata.deletion_timestamp]
    if not pods:
        return Candidate(RemedyKind.WAIT, actions, 0, gone, only=only)
    critical = any((pod.spec.priority or 0) >= SYSTEM_CRITICAL for pod in pods)
    base = _STOP_COST if all(map(fails, pods)) else _POD_COST
    cost = (CRITICAL_COST if critical else base) + 3 * len(pods)
    return Candidate(RemedyKind.FREE_DEVICES, actions, cost, gone, only=only)


def _stays(case: Case, pod: Pod) -> bool:
    """Whether it is in vain to delete a pod, or to wait for one that is being deleted."""
    return never_ends(case.state.inventory, pod)


def spares_the_system(inventory: Inventory, first: Iterable[Remedy]) -> bool:
    """Whether the cheapest ways out delete no pod that the cluster itself needs: where one does, nothing else helps."""
    for remedy in first:
        deleted = (inventory.pods.get(each.pod.key) for each in remedy.actions if isinstance(each, DeletePod))
        critical = any(pod is not None and (pod.spec.priority or 0) >= SYSTEM_CRITICAL for pod in deleted)
        if critical or (len(remedy.actions) == 1 and remedy.cost >= CRITICAL_COST):
            return False
    return True


def wait_for_end(state: ClusterState, key: Key) -> Wait:
    """Of a pod that is being deleted already; where its grace is long, until when."""
    pod = state.inventory.pods.get(key)
    until = parse_time(pod.metadata.deletion_timestamp) if pod is not None else None
    text = f"pod {key}, which is being deleted"
    if until is None or until - state.now < _LONG_GRACE:
        return Wait(text)
    return Wait(f"{text} and has until {until:%Y-%m-%dT%H:%M:%SZ}")


def _end_of(state: ClusterState, release: _Release) -> DeletePod | Wait:
    key = key_of(release.pod.metadata)
    if release.pod.metadata.deletion_timestamp:
        return wait_for_end(state, key)
    return DeletePod(ObjectRef.of("Pod", key), release.devices, amounts=release.shares)


def _consumers(case: Case) -> Iterator[Candidate]:
    """The other consumers of an allocated claim that is in the way: without them it can be allocated anew."""
    inventory = case.state.inventory
    for cause in case.causes(Code.CLAIM_ELSEWHERE):
        claim = case.claim_of(cause)
        if claim is None or not isinstance(cause.detail, ClaimElsewhere):
            continue
        uids = [consumer.uid for consumer in claim.status.reserved_for]
        pods = [pod for uid in uids if (pod := inventory.pods_by_uid.get(uid)) is not None]
        if any(key_of(pod.metadata) in case.keep or case.is_of_same_workload(pod) for pod in pods):
            continue
        if any(_stays(case, pod) for pod in pods):
            continue
        if pods and len(pods) == len(uids) <= _MAX_PODS:
            yield _ending(case.state, [_Release(pod, devices_of(claim)) for pod in pods], "")


def single_pods(case: Case) -> Iterator[Candidate]:
    """Each pod that holds devices on a near node, whether or not it would be enough: for two changes together."""
    for node in near_nodes(case)[:_PAIR_NODES]:
        releases = sorted(_releases(case.state, node), key=_first_to_go)
        for release in releases[:_PAIR_NODES]:
            spared = key_of(release.pod.metadata) in case.keep or _stays(case, release.pod)
            spared = spared or bool(release.pod.metadata.deletion_timestamp)
            if not spared and not case.is_of_same_workload(release.pod):
                yield _ending(case.state, [release], node)
