"""Claims that all copies of a pod use, where each of them might be meant to have its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.base import ReportRecord

#: Of more users the rest is a number.
_NAMED: Final = 20
_Users = tuple[ObjectRef, Sequence["CommonClaim"]]


class CommonClaim(ReportRecord, frozen=True):
    """A claim by its ``name`` with its ``devices``, once they are allocated; ``local``: only some nodes reach them.

    ``others``: other objects of the files whose pods use it, the first of them, and how many ``more`` there are.
    Upstream: plugins/dynamicresources, Filter: the node selector of an allocation binds every pod that uses the claim.
    """

    name: str
    devices: int = 0
    device_class: str = ""
    local: bool = False
    others: tuple[ObjectRef, ...] = ()
    more: int = 0


def shared_claims(state: ClusterState, pod: Pod) -> Iterator[CommonClaim]:
    """The claims that ``pod`` names itself, and so every copy of it; ``state`` has the copies."""
    for entry in pod.spec.resource_claims:
        name = entry.resource_claim_name
        if name is None:
            continue
        claim = state.inventory.claims.get(Key(pod.metadata.namespace, name))
        found = claim.status.allocation if claim is not None else None
        exactly = [each.exactly for each in claim.spec.devices.requests] if claim is not None else []
        classes = {each.device_class_name if each is not None else "" for each in exactly}
        yield CommonClaim(
            name,
            len(found.devices.results) if found is not None else 0,
            next(iter(classes)) if len(classes) == 1 else "",
            found is not None and found.node_selector is not None,
        )


def with_others(users: Sequence[_Users]) -> Iterator[tuple[CommonClaim, ...]]:
    """The claims that each of several objects uses, with the other ones that use them."""
    by_name: dict[Key, dict[ObjectRef, None]] = {}
    for ref, claims in users:
        for each in claims:
            by_name.setdefault(Key(ref.namespace, each.name), {})[ref] = None
    for ref, claims in users:
        yield tuple(_with_others(each, ref, by_name[Key(ref.namespace, each.name)]) for each in claims)


def _with_others(claim: CommonClaim, user: ObjectRef, users: Collection[ObjectRef]) -> CommonClaim:
    others = tuple(islice((one for one in users if one != user), _NAMED))
    return msgspec.structs.replace(claim, others=others, more=len(users) - 1 - len(others))
