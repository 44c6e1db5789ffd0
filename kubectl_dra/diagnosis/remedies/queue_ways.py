"""What ends the waiting in a queue of Kueue: work that ends, or more quota. Kueue decides, so nothing is tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.gates.cohorts import quota_field
from kubectl_dra.diagnosis.gates.queues import FlavorQuota, Queued, short_of_quota
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.records import RaiseNominalQuota, RemedyKind, Wait
from kubectl_dra.model.quantity import Quantity

_WAIT_COST: Final = 0
_RAISE_COST: Final = 55
#: What ``Wait.for_whom`` begins with.
CLUSTER_QUEUE: Final = "ClusterQueue "


def queue_ways(case: Case, waits: Queued) -> Iterator[Candidate]:
    """Both, where Kueue's words say how much of which quota is missing; more quota where no end of work is enough."""
    short = short_of_quota(waits)
    if short is None:
        for each in waits.excesses:
            row = next((row for row in waits.quota if (row.resource, row.flavor) == (each.resource, each.flavor)), None)
            yield from _raised(case, waits, row, each.lacking) if row is not None else ()
        return
    yield Candidate(RemedyKind.WAIT, (Wait(f"{CLUSTER_QUEUE}{waits.cluster_queue}"),), _WAIT_COST)
    yield from _raised(case, waits, *short)


def _raised(case: Case, waits: Queued, row: FlavorQuota, more: str) -> Iterator[Candidate]:
    queue = case.world.inventory.queues.cluster_queues.get(waits.cluster_queue)
    field = quota_field(queue, row.flavor, row.resource) if queue is not None else ""
    if field:
        after = str(Quantity.parse(row.nominal).add(Quantity.parse(more)))
        action = RaiseNominalQuota(waits.cluster_queue, row.resource, row.flavor, field, row.nominal, after)
        yield Candidate(RemedyKind.RAISE_QUOTA, (action,), _RAISE_COST)
