"""Which devices are in use for sure, where slices could not be read: what the claims that were read have been given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.claim.claim_verdicts import selected_names
from kubectl_dra.diagnosis.records import AllocatedOnNode, DeviceUser
from kubectl_dra.model.forms import class_names, forms
from kubectl_dra.model.held import results_of
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimSpec

#: Of more nodes the rest is one number, and of more users none is named: every pod that waits has them in its report.
_NODES: Final = 4
_USERS: Final = 16


def allocated(state: ClusterState, namespace: str, specs: Iterable[ResourceClaimSpec]) -> tuple[AllocatedOnNode, ...]:
    """The devices of the classes that ``specs`` name, node by node; the users in ``namespace`` come first.

    Nothing where slices were read: then it is counted which of their devices are free.
    """
    if state.evidence.complete("ResourceSlice"):
        return ()
    classes = tuple(dict.fromkeys(name for spec in specs for name in class_names(spec)))
    found = [
        AllocatedOnNode(node, name, len(devices), _users(devices, namespace))
        for (node, name), devices in _by_node(state).items()
        if name in classes
    ]
    found.sort(key=lambda each: (-each.devices, each.node, each.device_class))
    first, rest = found[:_NODES], found[_NODES:]
    others = [AllocatedOnNode("", "", sum(each.devices for each in rest), (), len(rest))] if rest else []
    return (*first, *others)


def _users(devices: Mapping[DeviceId, frozenset[str]], namespace: str) -> tuple[DeviceUser, ...]:
    own, users = f"{namespace}/", Counter(user for found in devices.values() for user in found)
    most = sorted(users.items(), key=lambda each: (not each[0].startswith(own), -each[1], each[0]))
    return tuple(DeviceUser(name, number) for name, number in most[:_USERS])


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
