"""How much a ClusterQueue of Kueue can have of a resource in a flavor: its own quota, and what its cohorts lend it.

Upstream: kubernetes-sigs/kueue, pkg/cache/scheduler/resource_node.go (potentialAvailable, available, localQuota,
accumulateFromChild). Amounts are integers, milli-units of cpu, as upstream's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.queues import COHORT, ClusterQueue, QueueObjects, QuotaOfResource, ResourceGroup
from kubectl_dra.model.requests import amount

_NO_QUOTA: Final = QuotaOfResource()
#: With more of them nothing is computed.
_MOST_COHORTS: Final = 200


class Share(msgspec.Struct, frozen=True):
    """``most``: with nothing in use; ``unused``: now. Both None where what its cohort has is not known, and no limit.

    ``nominal`` is its own quota, ``own`` what is left of that; ``borrowing_limit`` is None where it may borrow whatever
    is there.
    """

    nominal: int
    own: int
    borrowing_limit: int | None
    most: int | None
    unused: int | None


@dataclass(frozen=True)
class _Node:
    """A ClusterQueue, or a cohort with all that is in it; of one resource in one flavor."""

    quota: QuotaOfResource
    resource: str
    reserved: int = 0
    below: tuple[_Node, ...] = ()

    @cached_property
    def subtree(self) -> int:
        own = _amount(self.resource, self.quota.nominal_quota) or 0
        return own + sum(each.subtree - each.local for each in self.below)

    @cached_property
    def local(self) -> int:
        """What it does not lend."""
        lends = _amount(self.resource, self.quota.lending_limit)
        return max(0, self.subtree - lends) if lends is not None else 0

    @cached_property
    def usage(self) -> int:
        return self.reserved + sum(max(0, each.usage - each.local) for each in self.below)

    @property
    def borrowing_limit(self) -> int | None:
        return _amount(self.resource, self.quota.borrowing_limit)


def cohort_of(queue: ClusterQueue) -> str:
    """The name of its cohort; empty where it is in none."""
    return queue.spec.cohort_name or queue.spec.cohort


def are_cohorts_known(objects: QueueObjects) -> bool:
    """Whether all queues and cohorts are known that may lend something."""
    return {"ClusterQueue", COHORT} <= objects.complete


def quota_field(queue: ClusterQueue, flavor: str, resource: str) -> str:
    """Where in its spec the quota stands; empty where it has none."""
    for group, each in enumerate(queue.spec.resource_groups):
        for number, quotas in enumerate(each.flavors):
            for index, found in enumerate(quotas.resources):
                if (quotas.name, found.name) == (flavor, resource):
                    return f"resourceGroups[{group}].flavors[{number}].resources[{index}].nominalQuota"
    return ""


def share(objects: QueueObjects, queue: ClusterQueue, flavor: str, resource: str) -> Share:
    """What ``queue`` can have."""
    own = _of_queue(queue, flavor, resource)
    limit = own.borrowing_limit if cohort_of(queue) else 0
    above = _cohorts_above(objects, cohort_of(queue))
    if above is None or (above and not are_cohorts_known(objects)):
        top = own.subtree + limit if limit is not None else None
        return Share(own.subtree, own.subtree - own.usage, limit, top, top - own.usage if top is not None else None)
    chain = [own, *_chain(objects, above, flavor, resource)]
    return Share(own.subtree, own.subtree - own.usage, limit, _potential(chain), _available(chain))


def _potential(chain: Sequence[_Node]) -> int:
    node, *parents = chain
    if not parents:
        return node.subtree
    found = node.local + _potential(parents)
    return found if node.borrowing_limit is None else min(node.subtree + node.borrowing_limit, found)


def _available(chain: Sequence[_Node]) -> int:
    node, *parents = chain
    if not parents:
        return node.subtree - node.usage
    above = _available(parents)
    if node.borrowing_limit is not None:
        stored, used = node.subtree - node.local, max(0, node.usage - node.local)
        above = min(stored - used + node.borrowing_limit, above)
    return max(0, node.local - node.usage) + above


def circle_above(objects: QueueObjects, queue: ClusterQueue) -> tuple[str, ...]:
    """The cohorts above a queue of which each is in the next, and the last in the first; empty where none are.

    Kueue leaves such a queue out, so that nothing is admitted from it (upstream: pkg/cache/scheduler, snapshot.go).
    """
    names = _names_above(objects, cohort_of(queue))
    return names[names.index(names[-1]) : -1] if len(set(names)) < len(names) else ()


def _cohorts_above(objects: QueueObjects, name: str) -> tuple[str, ...] | None:
    """From a cohort up to the root; None for a circle, in which Kueue admits nothing, and for too many of them."""
    if len(objects.cohorts) > _MOST_COHORTS:
        return None
    found = _names_above(objects, name)
    return found if len(set(found)) == len(found) else None


def _names_above(objects: QueueObjects, name: str) -> tuple[str, ...]:
    """From a cohort up to the root, or to the first that occurs again, which is the last one then."""
    found: dict[str, None] = {}
    while name:
        if name in found:
            return (*found, name)
        found[name] = None
        known = objects.cohorts.get(name)
        name = (known.spec.parent_name or known.spec.parent) if known is not None else ""
    return tuple(found)


def _chain(objects: QueueObjects, names: Iterable[str], flavor: str, resource: str) -> Iterator[_Node]:
    return (_of_cohort(objects, name, flavor, resource) for name in names)


def _of_cohort(objects: QueueObjects, name: str, flavor: str, resource: str) -> _Node:
    known = objects.cohorts.get(name)
    quota = _quota(known.spec.resource_groups, flavor, resource) if known is not None else _NO_QUOTA
    below = [
        _of_cohort(objects, each.metadata.name, flavor, resource)
        for each in objects.cohorts.values()
        if (each.spec.parent_name or each.spec.parent) == name
    ]
    queues = (each for each in objects.cluster_queues.values() if cohort_of(each) == name)
    return _Node(quota, resource, 0, (*below, *(_of_queue(each, flavor, resource) for each in queues)))


def _of_queue(queue: ClusterQueue, flavor: str, resource: str) -> _Node:
    used = (
        each.total
        for reservation in queue.status.flavors_reservation
        for each in reservation.resources
        if (reservation.name, each.name) == (flavor, resource)
    )
    return _Node(
        _quota(queue.spec.resource_groups, flavor, resource), resource, _amount(resource, next(used, None)) or 0
    )


def _quota(groups: Iterable[ResourceGroup], flavor: str, resource: str) -> QuotaOfResource:
    found = (
        each
        for group in groups
        for quotas in group.flavors
        for each in quotas.resources
        if (quotas.name, each.name) == (flavor, resource)
    )
    return next(found, _NO_QUOTA)


def _amount(resource: str, quantity: Quantity | None) -> int | None:
    return amount(resource, quantity) if quantity is not None else None
