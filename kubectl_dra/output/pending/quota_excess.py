"""The words about work that requests more than its ClusterQueue can ever have: by how much, and what is less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.gates.queues import Queued
from kubectl_dra.diagnosis.gates.quota_excess import QuotaExcess
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.invocations import changing, kubectl, of

#: Of amounts in such units nothing is divided by pods.
_AMOUNTS: Final = ("cpu", "memory", "ephemeral-storage", "hugepages-")


def excess_reason(found: Queued) -> Safe:
    """``it requests 8 nvidia.com/gpu (2 pods × 4), and ClusterQueue q can have at most 6 (flavor l40s)``."""
    first = found.excesses[0]
    alike = first.own == first.requested and first.pods > 1
    share = _share(first) if alike else ""
    parts = fmt(" ({} × {})", _pods(first), share) if share else Safe("")
    where = fmt("ClusterQueue {}", found.cluster_queue) if found.cluster_queue else Safe("its ClusterQueue")
    most = [fmt("{} (flavor {})", each.most, each.flavor) for each in found.excesses]
    text = "it requests {} {}{}, and {} can have at most {}"
    return fmt(text, first.requested, first.resource, parts, where, listed(most, "or"))


def _share(excess: QuotaExcess) -> str:
    """What one pod of the set requests; empty where that is not a whole number."""
    number = Quantity.parse(excess.own).as_int64()
    whole = not excess.resource.startswith(_AMOUNTS) and excess.pods and number is not None
    return str(number // excess.pods) if whole and number is not None and number % excess.pods == 0 else ""


def excess_lines(found: Queued, work: ObjectRef | None, address: Address, *, numbered: bool = False) -> Iterator[Safe]:
    """Fewer pods at a time, less for each of them, or more quota; ``work`` is None where no command can change it.

    ``numbered``: more quota stands below among the ways out, where the queue was read.
    """
    best = max(found.excesses, key=lambda each: (each.fitting, -Quantity.parse(each.lacking).at_scale(-3)[0]))
    yield from wrapped(Safe("Waiting does not help. Any one of these does:"), indent=2)
    if best.fitting and best.single:
        yield from _fewer_pods(best, work, address)
    others = Quantity.parse(best.requested).sub(Quantity.parse(best.own))
    left = Quantity.parse(best.most).sub(others).at_scale(0)[0]
    if _share(best) and left >= best.pods:
        whose = Safe(" for each of its pods" if best.pods > 1 else "")
        text = "- create it again with a request of at most {} {}{}"
        yield from _item(fmt(text, left // best.pods, best.resource, whose))
    if numbered and any((row.resource, row.flavor) == (best.resource, best.flavor) for row in found.quota):
        return
    queue = fmt("ClusterQueue {}", found.cluster_queue) if found.cluster_queue else Safe("its ClusterQueue")
    text = "- have whoever manages {} raise its nominalQuota of {} (flavor {}) {}"
    yield from _item(fmt(text, queue, best.resource, best.flavor, _raise(found, best)))


def _fewer_pods(excess: QuotaExcess, work: ObjectRef | None, address: Address) -> Iterator[Safe]:
    share = _share(excess)
    less = fmt(" (it requests {} then)", excess.fitting * int(share)) if share else Safe("")
    if work is None or work.kind != "Job":
        yield from _item(fmt("- create it again with {} in place of {}{}", excess.fitting, _pods(excess), less))
        return
    text = "- have {} of its {} run at a time{}, if they do not need each other:"
    yield from _item(fmt(text, excess.fitting, _pods(excess), less))
    patch = f'{{"spec":{{"parallelism":{excess.fitting}}}}}'
    words = kubectl("patch", of("job", work.name, work.namespace), "--type=merge", "-p", patch)
    yield from command_line("      {}", changing(words, address))


def _pods(excess: QuotaExcess) -> Safe:
    return counted(excess.pods, "pod")


def _item(text: Safe) -> Iterator[Safe]:
    yield from wrapped(text, indent=6, first=4)


def _raise(found: Queued, excess: QuotaExcess) -> Safe:
    """Kueue's words have what a queue can borrow in them, too: from what, only the queue itself says."""
    place = excess.resource, excess.flavor
    row = next((row for row in found.quota if (row.resource, row.flavor) == place), None)
    if row is None:
        return fmt("by {}", excess.lacking)
    more = Quantity.parse(row.nominal).add(Quantity.parse(excess.lacking))
    return fmt("from {} to {}", row.nominal, str(more))
