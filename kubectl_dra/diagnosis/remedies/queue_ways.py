"""What ends the waiting in a queue of Kueue: work that ends, or more quota. Kueue decides, so nothing is tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.gates.cohorts import quota_field
from kubectl_dra.diagnosis.gates.queues import FlavorQuota, Queued, short_of_quota
from kubectl_dra.diagnosis.gates.quota_excess import by_flavor
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
        for lacks in by_flavor(waits.excesses):
            rows = [(row, each.lacking) for each in lacks if (row := waits.quota_of(each)) is not None]
            yield from _raised(case, waits, *rows) if len(rows) == len(lacks) else ()
        return
    yield Candidate(RemedyKind.WAIT, (Wait(f"{CLUSTER_QUEUE}{waits.cluster_queue}"),), _WAIT_COST)
    yield from _raised(case, waits, short)


def _raised(case: Case, waits: Queued, *rows: tuple[FlavorQuota, str]) -> Iterator[Candidate]:
    """All of these quotas at once, each by so much."""
    queue = case.state.inventory.queues.cluster_queues.get(waits.cluster_queue)
    actions = []
    for row, more in rows:
        field = quota_field(queue, row.flavor, row.resource) if queue is not None else ""
        if not field:
            return
        after = str(Quantity.parse(row.nominal).add(Quantity.parse(more)))
        actions.append(RaiseNominalQuota(waits.cluster_queue, row.resource, row.flavor, field, row.nominal, after))
    yield Candidate(RemedyKind.RAISE_QUOTA, tuple(actions), _RAISE_COST)
