"""The work that has the quota of a ClusterQueue: what has to end before other work is admitted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from typing import Final

from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.ids import Key
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.queues import QueuedWorkload, QueueObjects

#: Of more only the number is told.
_NAMED: Final = 5
_NOTHING: Final = Quantity.parse("0")


class QuotaHolder(ReportRecord, frozen=True):
    """Work that has ``amount`` of a quota; ``workload``: Kueue's object for it."""

    kind: str
    namespace: str
    name: str
    workload: str
    amount: str


class QuotaHolders(ReportRecord, frozen=True):
    """Those that have most of a quota, the ``first`` of ``number`` that were read.

    ``rest``: what the ClusterQueue says is reserved and none of them has; empty if nothing.
    """

    first: tuple[QuotaHolder, ...]
    number: int
    rest: str = ""


def holders(objects: QueueObjects, queue: str, flavor: str, resource: str) -> QuotaHolders:
    """Who has some of a resource in a flavor of a ClusterQueue, by how much."""
    used = {key: amount for key, work in objects.workloads.items() if (amount := _used(work, queue, flavor, resource))}

    def more(one: Key, other: Key) -> int:
        return used[other].cmp(used[one])

    found = sorted(sorted(used), key=cmp_to_key(more))
    total = _NOTHING
    for amount in used.values():
        total = total.add(amount)
    cluster = objects.cluster_queues.get(queue)
    reserved = next(
        (
            each.total
            for reservation in (cluster.status.flavors_reservation if cluster is not None else ())
            for each in reservation.resources
            if (reservation.name, each.name) == (flavor, resource)
        ),
        None,
    )
    rest = reserved.sub(total) if reserved is not None else _NOTHING
    first = tuple(QuotaHolder(*_maker(key, objects.workloads[key]), key.name, str(used[key])) for key in found[:_NAMED])
    return QuotaHolders(first, len(found), str(rest) if rest.sign > 0 else "")


def _used(work: QueuedWorkload, queue: str, flavor: str, resource: str) -> Quantity | None:
    """What it has; None where it has nothing. A finished workload, and one that Kueue took its quota from, has none."""
    given = work.status.admission
    over = any(each.type == "Finished" and each.status == "True" for each in work.status.conditions)
    if given is None or given.cluster_queue != queue or over:
        return None
    total = _NOTHING
    for amount in _amounts(work, flavor, resource):
        total = total.add(amount)
    return total if total.sign > 0 else None


def _amounts(work: QueuedWorkload, flavor: str, resource: str) -> Iterator[Quantity]:
    given = work.status.admission
    for each in given.pod_set_assignments if given is not None else ():
        if each.flavors.get(resource) == flavor and resource in each.resource_usage:
            yield each.resource_usage[resource]


def _maker(key: Key, work: QueuedWorkload) -> tuple[str, str, str]:
    meta = work.metadata
    owner = meta.controller or next(iter(meta.owner_references), None)
    return (owner.kind, key.namespace, owner.name) if owner is not None else ("Workload", key.namespace, key.name)
