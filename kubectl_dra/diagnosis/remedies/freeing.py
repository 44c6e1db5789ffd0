"""Remedies that give back devices: idle claims, pods and what their deletion really releases; or add devices.

Deleting a pod releases a claim if the pod owns it, or is its last consumer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from msgspec.structs import replace as replace_fields

from kubectl_dra.cluster.edits import Put
from kubectl_dra.diagnosis import whatif
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.groups import pods_of
from kubectl_dra.diagnosis.records import ClaimElsewhere, Funnel, NodeOutcome, ObjectRef, StageName
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.records import AddDevices, DeleteClaim, DeletePod, RemedyKind, Wait
from kubectl_dra.diagnosis.remedies.trial import Trials
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import Device, ResourceClaim, ResourceSlice
from kubectl_dra.model.storage import CsiNode

_MAX_NODES: Final = 8
_MAX_PODS: Final = 6
_MAX_SINGLE: Final = 12
_PAIR_NODES: Final = 3
_POD_COST: Final = 60
_ADD_COST: Final = 90
_MAX_NODES_ADDED: Final = 16
_MODELS: Final = 4
#: What deleting a pod that the cluster itself needs costs: more than anything else.
CRITICAL_COST: Final = 100
SYSTEM_CRITICAL: Final = 2_000_000_000  # priority class system-cluster-critical
MIRROR: Final = "kubernetes.io/config.mirror"


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


def holders(inventory: Inventory, node: str) -> Iterator[ResourceClaim]:
    """Claims that hold devices which the node sees."""
    seen: set[Key] = set()
    for slice_ in (*inventory.slices_by_node.get(node, ()), *inventory.slices_by_node.get("", ())):
        for device in slice_.spec.devices:
            id_ = DeviceId(slice_.spec.driver, slice_.spec.pool.name, device.name)
            for holding in inventory.holdings_by_device.get(id_, ()):
                key = key_of(holding.claim.metadata)
                if key not in seen and not holding.result.admin_access:
                    seen.add(key)
                    yield holding.claim


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
    """``20Gi memory of gpu-0-mem``: what partitions draw on counters, where those are what lacks."""
    if not any(True for _ in case.causes(Code.COUNTERS_EXHAUSTED)):
        return
    for name in devices:
        device = case.device(name)
        for consumed in device.consumes_counters if device is not None else ():
            amounts = [f"{counter.value} {key}" for key, counter in sorted(consumed.counters.items())]
            yield f"{' and '.join(amounts)} of {consumed.counter_set}"


def _idle_claims(case: Case) -> Iterator[Candidate]:
    inventory = case.world.inventory
    idle = {
        key_of(claim.metadata): claim
        for node in near_nodes(case)
        for claim in holders(inventory, node)
        if not claim.status.reserved_for
    }
    for key, claim in idle.items():
        action = DeleteClaim(ObjectRef.of("ResourceClaim", key), devices_of(claim))
        yield Candidate(RemedyKind.DELETE_IDLE_CLAIM, (action,), 15, (changes.without_claims({key}),))


# --- pods -----------------------------------------------------------------------------------------------------------


def _pods_of_node(case: Case, trials: Trials, node: str) -> Iterator[Candidate]:
    """Each pod that would be enough, else the fewest pods that are."""
    releases = sorted(_releases(case.world.inventory, node), key=_first_to_go)
    spared = {case.diagnosis.pod.key, *case.keep}
    releases = [
        release
        for release in releases
        if key_of(release.pod.metadata) not in spared and not case.is_sibling(release.pod)
    ]
    going = [release for release in releases if release.pod.metadata.deletion_timestamp]
    releases = [release for release in releases if release not in going]
    if going and _enough(trials, going, node):
        yield _waiting(going, node)
        return
    alone = [release for release in releases[:_MAX_SINGLE] if _enough(trials, [release], node)]
    for release in alone:
        yield _deleting([replace(release, shares=(*release.shares, *_counters_of(case, release.devices)))], node)
    if not alone and releases:
        together = _smallest(trials, releases, node)
        if together:
            yield _deleting(together, node)


def _first_to_go(release: _Release) -> tuple[bool, int, Key]:
    """System-critical pods last, then by the number of devices."""
    critical = (release.pod.spec.priority or 0) >= SYSTEM_CRITICAL
    return critical, -len(release.devices), key_of(release.pod.metadata)


def _releases(inventory: Inventory, node: str) -> Iterator[_Release]:
    pods: dict[Key, Pod] = {}
    for claim in holders(inventory, node):
        for consumer in claim.status.reserved_for:
            pod = inventory.pods_by_uid.get(consumer.uid)
            # The kubelet makes the mirror of a static pod anew, whoever deletes it.
            if pod is not None and MIRROR not in pod.metadata.annotations:
                pods[key_of(pod.metadata)] = pod
    for pod in pods.values():
        released = list(_released_by(inventory, pod))
        devices = tuple(device for claim in released for device in devices_of(claim, shared=False))
        shares = tuple(share for claim in released for share in _shares_of(claim))
        if devices or shares:
            yield _Release(pod, devices, shares)


def _released_by(inventory: Inventory, pod: Pod) -> Iterator[ResourceClaim]:
    """Claims that only this pod keeps."""
    for claim in inventory.claims.values():
        if claim.metadata.namespace != pod.metadata.namespace or claim.status.allocation is None:
            continue
        if changes.ends_with(claim, (pod.metadata.uid,)):
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


def _deleting(releases: Sequence[_Release], node: str) -> Candidate:
    actions = tuple(
        DeletePod(ObjectRef.of("Pod", key_of(r.pod.metadata)), r.devices, amounts=r.shares) for r in releases
    )
    critical = any((r.pod.spec.priority or 0) >= SYSTEM_CRITICAL for r in releases)
    cost = (CRITICAL_COST if critical else _POD_COST) + 3 * len(releases)
    gone = tuple(changes.without_pods({key_of(release.pod.metadata)}) for release in releases)
    return Candidate(RemedyKind.FREE_DEVICES, actions, cost, gone, only=(node,) if node else ())


def _waiting(going: Sequence[_Release], node: str) -> Candidate:
    """For pods that are being deleted, whose devices are enough; to delete them again changes nothing."""
    keys = [key_of(release.pod.metadata) for release in going]
    actions = tuple(Wait(f"pod {key}, which is being deleted") for key in keys)
    return Candidate(RemedyKind.WAIT, actions, 0, (changes.without_pods(set(keys)),), only=(node,))


def _consumers(case: Case) -> Iterator[Candidate]:
    """The other consumers of an allocated claim that is in the way: without them it can be allocated anew."""
    inventory = case.world.inventory
    for cause in case.causes(Code.CLAIM_ELSEWHERE):
        claim = inventory.claims.get(cause.claim.key) if cause.claim is not None else None
        if claim is None or not isinstance(cause.detail, ClaimElsewhere):
            continue
        uids = [consumer.uid for consumer in claim.status.reserved_for]
        pods = [pod for uid in uids if (pod := inventory.pods_by_uid.get(uid)) is not None]
        if any(key_of(pod.metadata) in case.keep for pod in pods):
            continue
        if pods and len(pods) == len(uids) <= _MAX_PODS:
            yield _deleting([_Release(pod, devices_of(claim)) for pod in pods], "")


def single_pods(case: Case) -> Iterator[Candidate]:
    """Each pod that holds devices on a near node, whether or not it would be enough: for two changes together."""
    for node in near_nodes(case)[:_PAIR_NODES]:
        releases = sorted(_releases(case.world.inventory, node), key=_first_to_go)
        for release in releases[:_PAIR_NODES]:
            spared = key_of(release.pod.metadata) in case.keep or release.pod.metadata.deletion_timestamp
            if not spared and not case.is_sibling(release.pod):
                yield _deleting([release], node)


# --- more devices ---------------------------------------------------------------------------------------------------


def more_devices(case: Case) -> Iterator[Candidate]:
    """As many more as the nearest node lacks, like one that would do; more where requests compete for them."""
    competing = any(True for _ in case.causes(Code.REQUESTS_COMPETE, Code.CONSTRAINT))
    for _, _, request, funnels in case.funnels():
        if request.allocation_mode != "ExactCount":
            continue
        nearest = min(funnels, key=_lacking)
        model = _model(case.world.inventory, _selected_devices(funnels))
        lacking = max(_lacking(nearest), 1 if competing else 0)
        if model is None or lacking <= 0 or not _can_be_added(case.world.inventory, *model):
            continue
        most = max(lacking, request.count) if competing else lacking
        steps = [_adding(*model, count) for count in range(lacking, most + 1)]
        yield replace(steps[0], steps=tuple(steps[1:]))


def _can_be_added(inventory: Inventory, slice_: ResourceSlice, device: Device) -> bool:
    """Whether a node may get another device like one: machines of a kind come with theirs, and parts of them are none.

    What several pods use at a time are CPUs, memory and the like.
    """
    nodes = {each.spec.node_name for each in inventory.slices.values() if each.spec.driver == slice_.spec.driver}
    return len(nodes) < 2 and not device.allow_multiple_allocations and not device.consumes_counters


def devices_elsewhere(case: Case) -> Iterator[Candidate]:
    """On the first node that has no device of the class as many as the request asks for, like one of another node."""
    slices = case.world.inventory.slices.values()
    models = ((each, device) for each in slices for device in each.spec.devices[:1] if not device.consumes_counters)
    published = list(islice(models, _MODELS))
    empty = {
        group.nodes[0]: None
        for group in case.diagnosis.nodes
        if group.outcome is NodeOutcome.CANNOT_ALLOCATE and group.nodes
        for report in group.requests
        if report.funnel is not None and not report.funnel.total
    }
    for _, _, request, _ in case.funnels():
        count = request.count if request.allocation_mode == "ExactCount" else 1
        for node in list(empty)[:1]:
            steps = [_on_node(*model, count, node) for model in published]
            if steps:
                yield replace(steps[0], steps=tuple(steps[1:]))


def _on_node(slice_: ResourceSlice, device: Device, count: int, node: str) -> Candidate:
    """A pool of its own for the node, with so many devices like one; what taints that one has the others have not."""
    name = f"{slice_.metadata.name}-added-on-{node}"
    more = tuple(
        replace_fields(
            device, name=f"{device.name}-added-{i}", taints=(), node_name=None, node_selector=None, all_nodes=None
        )
        for i in range(count)
    )
    pool = replace_fields(slice_.spec.pool, name=f"added-on-{node}", resource_slice_count=1)
    here = replace_fields(
        slice_.spec, node_name=node, node_selector=None, all_nodes=None, per_device_node_selection=None
    )
    spec = replace_fields(here, pool=pool, devices=more, shared_counters=())
    added = replace_fields(slice_, metadata=replace_fields(slice_.metadata, name=name), spec=spec)

    def change(inventory: Inventory) -> Inventory:
        return inventory.replace(slices={**inventory.slices, name: added})

    like = str(DeviceId(slice_.spec.driver, slice_.spec.pool.name, device.name))
    return Candidate(RemedyKind.ADD_DEVICES, (AddDevices(count, like, node),), _ADD_COST, (change,), only=(node,))


def more_nodes(case: Case) -> Iterator[Candidate]:
    """A node like one of the nearest, where devices or other resources are what lacks; several for a group."""
    short = any(True for _ in case.causes(Code.NODE_RESOURCES))
    groups = [group for group in case.diagnosis.nodes if group.nodes]
    near = [group.nodes[0] for group in groups if short or group.outcome is NodeOutcome.CANNOT_ALLOCATE]
    tainted = {group.nodes[0] for group in groups if any(_has_none_untainted(each.funnel) for each in group.requests)}
    near = [name for name in near if name not in tainted]
    for node in near[:_PAIR_NODES]:
        steps = [_nodes_like(case, node, count) for count in range(1, _most_nodes(case) + 1)]
        yield replace(steps[0], steps=tuple(steps[1:]))


def _has_none_untainted(funnel: Funnel | None) -> bool:
    """Whether taints are why a node has no device, so that nobody wants another node like it."""
    return (
        funnel is not None and bool(funnel.stage(StageName.TAINTS).removed) and not funnel.stage(StageName.TAINTS).count
    )


def _most_nodes(case: Case) -> int:
    """A single pod needs one node; of a group each pod may need one."""
    group = case.pod.spec.scheduling_group
    if group is None:
        return 1
    members = pods_of(case.world, Key(case.pod.metadata.namespace, group.pod_group_name))
    return max(1, min(_MAX_NODES_ADDED, sum(not pod.spec.node_name for pod in members)))


def _nodes_like(case: Case, node: str, count: int) -> Candidate:
    names = whatif.new_names(case.world.inventory, node, count)
    change = _with_nodes(whatif.like(case.world.inventory, node, free=True), names)
    cost = _ADD_COST + count
    return Candidate(RemedyKind.ADD_DEVICES, (whatif.AddNode(node, count, free=True),), cost, (change,), only=names)


def _with_nodes(template: whatif.NodeTemplate, names: Sequence[str]) -> changes.Change:
    """New nodes with what they publish; nothing runs on them yet."""

    def change(inventory: Inventory) -> Inventory:
        nodes, slices = dict(inventory.nodes), dict(inventory.slices)
        csi = dict(inventory.storage.csi_nodes)
        for edit in (edit for name in names for edit in template.edits(name)):
            assert isinstance(edit, Put)  # noqa: S101 - of a node that comes nothing goes
            match edit.record:
                case Node():
                    nodes[edit.key.name] = edit.record
                case ResourceSlice():
                    slices[edit.key.name] = edit.record
                case CsiNode():
                    csi[edit.key.name] = edit.record
        storage = inventory.storage
        if template.csi is not None:
            storage = replace(storage, csi_nodes=csi)
        return inventory.replace(nodes=nodes, slices=slices, storage=storage)

    return change


def unlike(case: Case) -> Iterator[Candidate]:
    """Devices of a class where none exists that would do, so that nothing can be tried."""
    for _, _, request, funnels in case.funnels():
        if not any(True for _ in _selected_devices(funnels)):
            count = request.count if request.allocation_mode == "ExactCount" else 1
            action = AddDevices(count, "", "", request.device_class_name)
            yield Candidate(RemedyKind.ADD_DEVICES, (action,), _ADD_COST)


def _adding(slice_: ResourceSlice, device: Device, count: int) -> Candidate:
    like = str(DeviceId(slice_.spec.driver, slice_.spec.pool.name, device.name))
    change = changes.add_devices(slice_.metadata.name, device, count)
    action = AddDevices(count, like, slice_.spec.node_name or "")
    only = (slice_.spec.node_name,) if slice_.spec.node_name else ()
    return Candidate(RemedyKind.ADD_DEVICES, (action,), _ADD_COST, (change,), only=only)


def _lacking(funnel: Funnel) -> int:
    return funnel.needed - funnel.together


def _selected_devices(funnels: Sequence[Funnel]) -> Iterable[str]:
    """Devices that pass the selectors, on the node that lacks the least first."""
    for funnel in sorted(funnels, key=_lacking):
        yield from funnel.after(StageName.SELECTORS)


def _model(inventory: Inventory, devices: Iterable[str]) -> tuple[ResourceSlice, Device] | None:
    wanted = next(iter(devices), None)
    if wanted is None:
        return None
    for slice_ in inventory.slices.values():
        prefix = f"{slice_.spec.driver}/{slice_.spec.pool.name}/"
        if wanted.startswith(prefix):
            for device in slice_.spec.devices:
                if prefix + device.name == wanted:
                    return slice_, device
    return None
