"""Less of a shared device for each pod of a workload whose request names no amount, so that each takes all of it.

Upstream: structured/internal/incubating/consumable_capacity.go (calculateConsumedCapacity): without a policy the whole
capacity is consumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.input.allocated import nano
from kubectl_dra.diagnosis.records import Funnel, ObjectRef, StageName
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, ClaimEditor, first_of, removals
from kubectl_dra.diagnosis.remedies.records import RemedyKind, RestartPods
from kubectl_dra.diagnosis.remedies.scalable import SCALED, loses_volumes
from kubectl_dra.diagnosis.remedies.shared_claim import Holder, holders
from kubectl_dra.model.edited import edited
from kubectl_dra.model.forms import Form
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import CapacityRequirements, ResourceClaim

_COST: Final = 33
_NANO: Final = 10**9
#: A device is divided by a power of two, twice as often where that is not enough.
_TRIED: Final = 3
#: Smaller parts of a device are of no use to a pod; so many replicas await other devices.
_MOST_PARTS: Final = 64


def candidates(case: Case, editor: ClaimEditor, request: Form, funnels: Sequence[Funnel]) -> Iterator[Candidate]:
    """An amount for the request, where pods of the same workload hold all of the devices by the same template."""
    named = request.capacity.requests if request.capacity is not None else {}
    short: dict[str, set[str]] = {}
    for each in removals(funnels, StageName.CAPACITY):
        if each.short is not None and each.reason not in named:
            short.setdefault(each.reason, set()).update(each.devices)
    template = case.templates.get(editor.key)
    if len(short) != 1 or template is None:
        return
    ((name, devices),) = short.items()
    found = [each for each in holders(case, template) if case.is_sibling(each.pod)]
    shared = {device for each in found for device in _consumed(each.claim, name)}
    owner = case.owners.top(found[0].pod) if shared & devices else None
    total = _whole(case, min(shared & devices), name) if shared & devices else None
    if owner is None or owner.object is None or owner.ref.kind not in SCALED or total is None:
        return
    if loses_volumes(owner.object):
        return
    replicas = 1 if owner.object.spec.replicas is None else owner.object.spec.replicas
    if replicas < 1:
        return  # its pods are about to be deleted, and none is made anew
    least = max(-(-replicas // len(shared)), 2)
    parts = 1 << (least - 1).bit_length()
    restart = RestartPods(owner.ref, ObjectRef.of("Pod", key_of(found[0].pod.metadata)), replicas)
    tried = [parts << step for step in range(_TRIED) if parts << step <= _MOST_PARTS]
    amounts = [amount for each in tried if (amount := _divided(total, each)) is not None]
    yield from first_of([_with(editor, name, amount, restart, found) for amount in amounts])


def _consumed(claim: ResourceClaim, name: str) -> set[str]:
    """The devices of which a claim has taken something of that capacity."""
    return {str(device_of(each)) for each in results_of(claim) if name in each.consumed_capacity}


def _whole(case: Case, device: str, name: str) -> Quantity | None:
    """All of the capacity of a device that has no policy, which would say what else is taken."""
    found = case.state.device(device)
    capacity = found[1].capacity.get(name) if found is not None else None
    return capacity.value if capacity is not None and capacity.request_policy is None else None


def _divided(total: Quantity, parts: int) -> Quantity | None:
    """A whole number that is so much of the total, or nothing."""
    amount, rest = divmod(nano(total), parts * _NANO)
    return Quantity(amount, 0, total.format) if amount and not rest else None


def _with(editor: ClaimEditor, name: str, amount: Quantity, restart: RestartPods, found: Sequence[Holder]) -> Candidate:
    def edit(exactly: Form) -> Form:
        requests = exactly.capacity.requests if exactly.capacity is not None else {}
        return msgspec.structs.replace(exactly, capacity=CapacityRequirements(requests={**requests, name: amount}))

    first = editor.edit(f"capacity.requests[{name}]", "", str(amount), edit, _COST)
    steps = (*first.changes, _taking(name, amount, found))
    return Candidate(RemedyKind.EDIT_CLAIM, (*first.actions, restart), _COST, steps)


def _taking(name: str, amount: Quantity, found: Sequence[Holder]) -> changes.Change:
    """The other pods made anew, where they are now: less than before is left to each."""

    def change(inventory: Inventory) -> Inventory:
        claims = {}
        for each in found:
            allocation = each.claim.status.allocation
            if allocation is not None:
                results = tuple(
                    msgspec.structs.replace(result, consumed_capacity={**result.consumed_capacity, name: amount})
                    if name in result.consumed_capacity
                    else result
                    for result in allocation.devices.results
                )
                devices = msgspec.structs.replace(allocation.devices, results=results)
                then = msgspec.structs.replace(allocation, devices=devices)
                status = msgspec.structs.replace(each.claim.status, allocation=then)
                claims[key_of(each.claim.metadata)] = msgspec.structs.replace(each.claim, status=status)
        return inventory.replace(claims=edited(inventory.claims, claims))

    return change
