"""The words about work that requests more than its ClusterQueue can ever have: by how much, and what is less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.gates.queues import Queued
from kubectl_dra.diagnosis.gates.quota_excess import QuotaExcess, by_flavor
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt, safe
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.invocations import changing, kubectl, of

#: Of amounts in such units nothing is divided by pods.
_AMOUNTS: Final = ("cpu", "memory", "ephemeral-storage", "hugepages-")


def excess_reason(found: Queued) -> Safe:
    """``it requests 8 nvidia.com/gpu (2 pods × 4), and ClusterQueue q can have at most 6 (flavor l40s)``.

    Of several resources each number has its resource; what lacks in one flavor lacks together.
    """
    firsts: dict[str, QuotaExcess] = {}
    for each in found.excesses:
        firsts.setdefault(each.resource, each)
    several = len(firsts) > 1
    requested = Safe(" and ").join([_requested(each) for each in firsts.values()])
    where = fmt("ClusterQueue {}", found.cluster_queue) if found.cluster_queue else Safe("its ClusterQueue")
    most = [_most(lacks, named=several) for lacks in by_flavor(found.excesses)]
    return fmt("it requests {}, and {} can have at most {}", requested, where, listed(most, "or"))


def _requested(excess: QuotaExcess) -> Safe:
    alike = excess.own == excess.requested and excess.pods > 1
    share = _share(excess) if alike else ""
    parts = fmt(" ({} × {})", _pods(excess), share) if share else Safe("")
    return fmt("{} {}{}", excess.requested, excess.resource, parts)


def _most(lacks: Sequence[QuotaExcess], *, named: bool) -> Safe:
    """What a flavor has at most of each resource of which it lacks some."""
    amounts = [fmt("{} {}", each.most, each.resource) if named else safe(each.most) for each in lacks]
    return fmt("{} (flavor {})", listed(amounts), lacks[0].flavor)


def _share(excess: QuotaExcess) -> str:
    """What one pod of the set requests; empty where that is not a whole number."""
    number = Quantity.parse(excess.own).as_int64()
    whole = not excess.resource.startswith(_AMOUNTS) and excess.pods and number is not None
    return str(number // excess.pods) if whole and number is not None and number % excess.pods == 0 else ""


def excess_lines(found: Queued, work: ObjectRef | None, address: Address, *, numbered: bool = False) -> Iterator[Safe]:
    """Fewer pods at a time, less for each of them, or more quota; ``work`` is None where no command can change it.

    ``numbered``: more quota stands below among the ways out, where the queue was read.
    """
    best = max(by_flavor(found.excesses), key=_ease)
    yield from wrapped(Safe("Waiting does not help. Any one of these does:"), indent=2)
    if all(each.fitting and each.single for each in best):
        yield from _fewer_pods(best, work, address)
    smaller = [_smaller(each) for each in best]
    if all(smaller):
        whose = Safe(" for each of its pods" if best[0].pods > 1 else "")
        yield from _item(fmt("- create it again with a request of at most {}{}", listed(smaller), whose))
    if numbered and all(found.quota_of(each) is not None for each in best):
        return
    queue = fmt("ClusterQueue {}", found.cluster_queue) if found.cluster_queue else Safe("its ClusterQueue")
    raised = [fmt("of {} (flavor {}) {}", each.resource, each.flavor, _raise(found, each)) for each in best]
    yield from _item(fmt("- have whoever manages {} raise its nominalQuota {}", queue, listed(raised)))


def _ease(lacks: Sequence[QuotaExcess]) -> tuple[int, int, int]:
    """How near a flavor is to being enough: the pods that fit, then what lacks of few resources, and little of them."""
    lacking = sum(Quantity.parse(each.lacking).at_scale(-3)[0] for each in lacks)
    return min(each.fitting for each in lacks), -len(lacks), -lacking


def _smaller(excess: QuotaExcess) -> Safe:
    """The request of each pod with which all of them fit; empty where that is no whole number."""
    others = Quantity.parse(excess.requested).sub(Quantity.parse(excess.own))
    left = Quantity.parse(excess.most).sub(others).at_scale(0)[0]
    fits = _share(excess) and left >= excess.pods
    return fmt("{} {}", left // excess.pods, excess.resource) if fits else Safe("")


def _fewer_pods(lacks: Sequence[QuotaExcess], work: ObjectRef | None, address: Address) -> Iterator[Safe]:
    """As many as fit by all of the resources."""
    excess = min(lacks, key=lambda each: each.fitting)
    amounts = [fmt("{} {}", excess.fitting * int(share), each.resource) for each in lacks if (share := _share(each))]
    if len(lacks) == 1:
        amounts = [safe(str(excess.fitting * int(share))) for share in [_share(excess)] if share]
    less = fmt(" (it requests {} then)", listed(amounts)) if len(amounts) == len(lacks) else Safe("")
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
    row = found.quota_of(excess)
    if row is None:
        return fmt("by {}", excess.lacking)
    more = Quantity.parse(row.nominal).add(Quantity.parse(excess.lacking))
    return fmt("from {} to {}", row.nominal, str(more))
