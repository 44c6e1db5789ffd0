"""Ways out for pods whose devices fail on their node, or on the way there: made anew, each is scheduled again.

What is tried is whether the scheduler finds a node; what the driver then does nobody can try.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import BindingProblem, BoundBy, Cause, Health, KubeletText
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, merged, pod_edit
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.own_claim import own_claim
from kubectl_dra.diagnosis.remedies.records import RemedyKind, TaintDevice
from kubectl_dra.diagnosis.said.kubelet import UNHEALTHY, serves_one_pod
from kubectl_dra.model import resource
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.edited import edited
from kubectl_dra.model.held import device_of
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.scheduler.claims import sources

_POD_COST: Final = 30
_TAINT_COST: Final = 50
#: Errors that only a device has.
_OF_A_DEVICE: Final = re.compile(
    r"insufficient resources|device (?:or resource )?(?:is )?busy|no such device|unhealthy|fallen off|\becc\b|\bxid\b",
    re.IGNORECASE,
)
#: What the next partition of the same device lacks as well.
_OF_ITS_PARENT: Final = re.compile(r"insufficient resources", re.IGNORECASE)
#: What may be said of a device, and of anything else: only where the words name the device.
_OF_ANYTHING: Final = re.compile(r"in use|busy|not found|\blost\b", re.IGNORECASE)
#: What the next device would fail for too: its configuration, an object of the API, a right, a network, a connection.
_OF_ALL_DEVICES: Final = re.compile(
    r"decod|unmarshal|unknown field|invalid (?:config|value|param)|host ?network|denied|forbidden|not allowed|"
    r"not permitted|unauthorized|rpc error|deadline exceeded|timed out|[a-z][a-z0-9.-]* \"[^\"]*\" not found",
    re.IGNORECASE,
)
#: Attributes that tell one device from the next, by the ends of their names.
_IDENTIFYING: Final = ("uuid", "guid", "serial", "busid", "address", "ifname")
#: What failed less often may pass by itself.
_OFTEN: Final = 3
TAINT: Final = resource.DeviceTaint(key="unhealthy", effect="NoSchedule")


def candidates(case: Case) -> Iterator[Candidate]:
    """Of a pod that has its node: what is changed while it is made anew."""
    if not case.pod.spec.node_name:
        return
    unhealthy = [each.detail for each in case.diagnosis.causes if isinstance(each.detail, Health)]
    # The kubelet's name of a device may be any text; only what the pod holds can be tainted, and is held no more then.
    mine = {str(device_of(result)) for claim in _claims(case) for result in _results(claim)}
    if broken := dict.fromkeys(each.device for each in unhealthy if each.health == UNHEALTHY and each.device in mine):
        yield _anew(case, reduce(merged, (_avoiding(case, device) for device in broken)))
    for cause in case.diagnosis.causes:
        match cause.code, cause.detail:
            case Code.CLAIM_NOT_ALLOCATED, detail if not isinstance(detail, BoundBy):
                edit = pod_edit(case, "nodeName", case.pod.spec.node_name, "", _POD_COST)
                yield _anew(case, edit)
                return
            case Code.PREPARING, _:
                yield from (_anew(case, each) for each in _named_by_the_container(case))
            case Code.DRIVER_FAILED, KubeletText() as said if serves_one_pod(said):
                yield from (_anew(case, each) for each in _own_claims(case, cause))
            case Code.DRIVER_FAILED, KubeletText() as said if _is_of_the_device(case, case.claim_of(cause), said):
                yield from (_anew(case, each) for each in _other_device(case, cause))


def _is_of_the_device(case: Case, claim: resource.ResourceClaim | None, said: KubeletText) -> bool:
    """Whether the kubelet's trying again does not help, and another device may: the words are about this very one."""
    words = said.detail or said.text
    if said.times < _OFTEN or _OF_ALL_DEVICES.search(words) is not None:
        return False
    if _OF_ITS_PARENT.search(words) is not None and any(each.consumes_counters for each in _devices(case, claim)):
        return False
    if _OF_A_DEVICE.search(words) is not None:
        return True
    return _OF_ANYTHING.search(words) is not None and any(_is_named(name, words) for name in _names(case, claim))


def _is_named(name: str, words: str) -> bool:
    """Whether the words have the name as a whole: gpu-1 is not in gpu-10."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words, re.IGNORECASE) is not None


def _claims(case: Case) -> tuple[resource.ResourceClaim, ...]:
    """The claims that are reserved for the pod."""
    return case.state.inventory.claims_by_user.get(case.pod.metadata.uid, ())


def _results(claim: resource.ResourceClaim | None) -> Sequence[resource.DeviceRequestAllocationResult]:
    """What the claim was given."""
    allocation = claim.status.allocation if claim is not None else None
    return allocation.devices.results if allocation is not None else ()


def _devices(case: Case, claim: resource.ResourceClaim | None) -> Iterator[resource.Device]:
    """The same as it is published."""
    for result in _results(claim):
        for slice_ in case.state.inventory.slices_by_pool.get(PoolId(result.driver, result.pool), ()):
            yield from (device for device in slice_.spec.devices if device.name == result.device)


def _names(case: Case, claim: resource.ResourceClaim | None) -> Iterator[str]:
    """What the claim's devices may be called: their names, and what their attributes tell them apart by."""
    yield from (result.device for result in _results(claim))
    for device in _devices(case, claim):
        yield from _identities(device)


def _identities(device: resource.Device) -> Iterator[str]:
    for name, attribute in device.attributes.items():
        if attribute.string and name.lower().endswith(_IDENTIFYING):
            yield attribute.string


def while_binding(case: Case) -> Iterator[Candidate]:
    """Another device in place of one that could not be attached; the scheduler itself gives the claim back."""
    for cause in case.causes(Code.BINDING_FAILED):
        claim = case.claim_of(cause)
        if claim is not None and isinstance(cause.detail, BindingProblem):
            key = key_of(claim.metadata)
            change = changes.both(_tainted(cause.detail.device), changes.released_claim(key))
            action = TaintDevice(cause.detail.device, str(TAINT.key))
            yield Candidate(RemedyKind.AVOID_DEVICE, (action,), _TAINT_COST, (change,))


def _named_by_the_container(case: Case) -> Iterator[Candidate]:
    """The claims that no container names, named by the only container."""
    spec = case.pod.spec
    if len(spec.containers) + len(spec.init_containers) != 1:
        return
    container = spec.containers[0]
    named = {claim.name for claim in container.resources.claims}
    for entry in spec.resource_claims:
        if entry.name not in named:
            yield pod_edit(case, f"claims[{container.name}]", "", entry.name, _POD_COST)


def _own_claims(case: Case, cause: Cause) -> Iterator[Candidate]:
    name = cause.claim.name if cause.claim is not None else ""
    claim = case.state.inventory.claims.get(Key(case.pod.metadata.namespace, name))
    for entry in case.pod.spec.resource_claims:
        if claim is not None and sources(entry)[0] == name and len(claim.status.reserved_for) > 1:
            yield own_claim(case, entry.name, claim)


def _other_device(case: Case, cause: Cause) -> Iterator[Candidate]:
    """Another device of the class, where the claim has one only, so that it is clear which one fails."""
    results = _results(case.claim_of(cause))
    if len(results) == 1:
        yield _avoiding(case, str(DeviceId(results[0].driver, results[0].pool, results[0].device)))


def _avoiding(case: Case, device: str) -> Candidate:
    action = TaintDevice(device, str(TAINT.key), case.diagnosis.pod, case.workload)
    return Candidate(RemedyKind.AVOID_DEVICE, (action,), _TAINT_COST, (_tainted(device),))


# --- changes --------------------------------------------------------------------------------------------------------


def _anew(case: Case, candidate: Candidate) -> Candidate:
    """The candidate for a pod that is made anew: it has no node, and its claims no devices, before anything else."""
    first, *others = candidate.changes
    again = _in_the_queue(case.diagnosis.pod.key)
    return replace(candidate, changes=(changes.both(again, first), *others))


def _in_the_queue(key: Key) -> Change:
    """The pod without its node, and with claims as new ones, as far as nobody else uses them."""

    def change(inventory: Inventory) -> Inventory:
        pod = inventory.pods[key]
        mine = {key_of(c.metadata): c for c in inventory.claims_by_user.get(pod.metadata.uid, ())}
        left = changes.without_pods({key})(inventory)
        gone = {k: changes.as_new(c) for k, c in mine.items() if k not in left.claims}
        return left.replace(
            pods=changes.put(left.pods, key, with_spec(pod, node_name="")),
            claims=edited(left.claims, gone) if gone else left.claims,
        )

    return change


def _tainted(device: str) -> Change:
    """The device with one taint more."""
    driver, pool, name = DeviceId.of(device)

    def one(each: resource.Device) -> resource.Device:
        return msgspec.structs.replace(each, taints=(*each.taints, TAINT)) if each.name == name else each

    def of_slice(slice_: resource.ResourceSlice) -> resource.ResourceSlice:
        return with_spec(slice_, devices=tuple(map(one, slice_.spec.devices)))

    def change(inventory: Inventory) -> Inventory:
        mine = inventory.slices_by_pool.get(PoolId(driver, pool), ())
        changed = {each.metadata.name: of_slice(each) for each in mine}
        return inventory.replace(slices={**inventory.slices, **changed})

    return change
