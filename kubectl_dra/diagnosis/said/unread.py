"""That data which decides could not be read, with what is known all the same: the scheduler's word, devices in use.

Who of the waiting pod's own namespace has devices of its classes: what its owner may end without asking anybody. Which
devices are in use for sure, where slices could not be read: what the claims that were read have been given.

What the scheduler's message says of nodes that could not be read here: its reasons one by one. Upstream:
framework/types.go, FitError. A node stands in it with every reason of the first plugin that rejects it, so that the
numbers may add up to more than there are nodes; DynamicResources comes behind all other plugins (the order is that of
apis/config/v1/default_plugins.go).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.claim.claim_verdicts import selected_names
from kubectl_dra.diagnosis.claim.reserved import fails, held_for
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import (
    AllocatedOnNode,
    Cause,
    DeviceUser,
    HeardReason,
    HeldFor,
    Missing,
    MissingEvidence,
    ObjectRef,
    Observed,
    OwnHolder,
)
from kubectl_dra.diagnosis.said import whole_words
from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import class_names, forms
from kubectl_dra.model.held import results_of
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimSpec
from kubectl_dra.scheduler.fit_error import parse_fit_error
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.reasons import plugin_of
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet, placed

_MOST: Final = 3
#: Those that have no use for their devices come first; those that are going need no help.
_ORDER: Final = (HeldFor.NOBODY, HeldFor.GONE, HeldFor.FINISHED, HeldFor.FAILING, HeldFor.USED, HeldFor.ENDING)
#: Of more nodes the rest is one number, and of more users none is named: every pod that waits has them in its report.
_NODES: Final = 4
_USERS: Final = 16
#: Upstream: plugins/noderesources/fit.go, fitsRequest.
_INSUFFICIENT: Final = "Insufficient "


def cause(
    state: ClusterState,
    pod: Pod,
    missing: Iterable[Missing],
    seen: Observed | None,
    claims: Sequence[ResourceClaim],
    unreadable: Iterable[str] = (),
) -> Cause:
    """``claims`` are those of the pod, ``unreadable`` the names of those that may not be read."""
    decisive = tuple(each for each in missing if each.decides)
    used = allocated(state, pod.metadata.namespace, (claim.spec for claim in claims), _replicas(state, pod))
    said = MissingEvidence(decisive, *reasons(state, pod, seen), used, _own_holders(state, pod, claims))
    said = msgspec.structs.replace(said, claims=tuple(unreadable))
    return Cause(Code.EVIDENCE_MISSING, said)


def _replicas(state: ClusterState, pod: Pod) -> frozenset[str]:
    """The other pods of its controller."""
    maker = pod.metadata.controller
    if maker is None:
        return frozenset()
    pods = ((each.metadata, each.metadata.controller) for each in state.inventory.pods.values())
    return frozenset(str(key_of(meta)) for meta, other in pods if other is not None and other.uid == maker.uid)


def _own_holders(state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim]) -> tuple[OwnHolder, ...]:
    """The first few, those that need their devices least first; none of its own workload, which makes them again."""
    own = {claim.metadata.uid for claim in claims}
    held = _allocated(state).get(pod.metadata.namespace, ())
    workload = Owners(state.inventory).restarting(key_of(pod.metadata))
    wanted = _Wanted(state, claims)
    found = [each for claim in held if claim.metadata.uid not in own for each in _holders(state, claim, wanted)]
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


class _Wanted:
    """Which devices of other claims would be of use: those of a class that requests name, and match their selectors."""

    def __init__(self, state: ClusterState, claims: Sequence[ResourceClaim]) -> None:
        self._state = state
        self._requests: dict[str, list[SelectorSet]] = {}
        for _, form in (form for claim in claims for form in forms(claim.spec)):
            selectors = SelectorSet(placed(form.selectors, None), state.features.shows_sharing)
            self._requests.setdefault(form.device_class_name, []).append(selectors)

    def may_be(self, device_class: str, id_: DeviceId) -> bool:
        """Whether a request may take it, as far as its attributes could be read."""
        named, requests = self._state.named(id_), self._requests.get(device_class, ())
        if not named:
            return bool(requests)
        return any(each.of(id_.driver, named[0][1]).outcome is not Outcome.NO for each in requests)


def _holders(state: ClusterState, claim: ResourceClaim, wanted: _Wanted) -> Iterator[OwnHolder]:
    """Who has to go for the devices of one claim; nobody whose end would not be enough."""
    there = [name for name, device in given(claim) if wanted.may_be(name, device)]
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


def allocated(
    state: ClusterState, namespace: str, specs: Iterable[ResourceClaimSpec], replicas: frozenset[str]
) -> tuple[AllocatedOnNode, ...]:
    """The devices of the classes that ``specs`` name, node by node; the users in ``namespace`` come first.

    ``replicas``: the pods of the same controller. Nothing where slices were read: then it is counted which of their
    devices are free.
    """
    if state.evidence.complete("ResourceSlice"):
        return ()
    classes = tuple(dict.fromkeys(name for spec in specs for name in class_names(spec)))
    found = [
        AllocatedOnNode(node, name, len(devices), _users(devices, namespace, replicas))
        for (node, name), devices in _by_node(state).items()
        if name in classes
    ]
    found.sort(key=lambda each: (-each.devices, each.node, each.device_class))
    first, rest = found[:_NODES], found[_NODES:]
    more = {each.node for each in rest} - {each.node for each in first}
    others = [AllocatedOnNode("", "", sum(each.devices for each in rest), (), len(more))] if rest else []
    return (*first, *others)


def _users(
    devices: Mapping[DeviceId, frozenset[str]], namespace: str, replicas: frozenset[str]
) -> tuple[DeviceUser, ...]:
    own, users = f"{namespace}/", Counter(user for found in devices.values() for user in found)
    most = sorted(users.items(), key=lambda each: (not each[0].startswith(own), -each[1], each[0]))
    return tuple(DeviceUser(name, number, name in replicas) for name, number in most[:_USERS])


@derived("claims")
def _by_node(state: ClusterState) -> Mapping[tuple[str, str], Mapping[DeviceId, frozenset[str]]]:
    """Who has which devices, by node and class; shares of one are one; those that several nodes reach are left out."""
    found: dict[tuple[str, str], dict[DeviceId, frozenset[str]]] = {}
    for claim in state.inventory.claims.values():
        allocation = claim.status.allocation
        nodes = selected_names(allocation.node_selector) if allocation is not None else ()
        if len(nodes) == 1:
            for name, device in given(claim):
                there = found.setdefault((nodes[0], name), {})
                there[device] = there.get(device, frozenset()) | {_user(claim)}
    return found


def given(claim: ResourceClaim) -> Iterator[tuple[str, DeviceId]]:
    """The class of each device that it was given to keep others away from, and the device."""
    named = {name: form.device_class_name for name, form in forms(claim.spec)}
    for each in results_of(claim):
        if not each.admin_access and each.request in named:
            yield named[each.request], DeviceId(each.driver, each.pool, each.device)


def _user(claim: ResourceClaim) -> str:
    """The pod that it is reserved for; the claim itself where there are several or none."""
    reserved = claim.status.reserved_for
    return f"{claim.metadata.namespace}/{reserved[0].name if len(reserved) == 1 else claim.metadata.name}"


def reasons(state: ClusterState, pod: Pod, seen: Observed | None) -> tuple[tuple[HeardReason, ...], int]:
    """The reasons, those of the most nodes first, and how many nodes there were; empty without such a message."""
    said = parse_fit_error(seen.message) if seen is not None and seen.status == "False" else None
    if said is None:
        return (), 0
    if said.pre_filter:
        return (HeardReason(said.pre_filter, said.nodes, plugin_of(said.pre_filter), of_all=True),), said.nodes
    most = sorted(said.reasons.items(), key=lambda each: (-each[1], each[0]))
    return tuple(_reason(state, pod, text, number) for text, number in most), said.nodes


def nearest(heard: Sequence[HeardReason]) -> HeardReason:
    """The reason of the plugin that runs last: nodes that are rejected for it have passed all checks before.

    Whatever else there is has passed fewer, and nobody knows whether it would pass the later ones.
    """
    order = {plugin.name: place for place, plugin in enumerate(PLUGINS)}
    return max(heard, key=lambda each: order.get(each.plugin, -1))


def _reason(state: ClusterState, pod: Pod, text: str, nodes: int) -> HeardReason:
    resource = text.removeprefix(_INSUFFICIENT) if text.startswith(_INSUFFICIENT) else ""
    requested = pod_requests(pod).get(resource, 0) if resource else 0
    wish, users = whole_words.of_pod(state, pod, text)
    return HeardReason(text, nodes, plugin_of(text), resource, requested, wish=wish, users=users)
