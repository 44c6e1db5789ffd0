"""What work requests beyond all that its ClusterQueue can ever have, by Kueue's words: waiting does not end it.

Upstream: kubernetes-sigs/kueue, pkg/scheduler/flavorassigner (fitsResourceQuota, Assignment.Message): one text for each
pod set, flavor and resource; what pod sets before it were given of the flavor counts with its own request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.model.queues import QueuedWorkload

_SET: Final = re.compile(r"couldn't assign flavors to pod set (?P<pods>\S+): ")
_EXCESS: Final = re.compile(
    r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>\S+), previously considered podsets requests "
    r"\((?P<others>[^)]*)\) \+ current podset request \((?P<own>[^)]*)\) > maximum capacity \((?P<most>[^)]*)\)"
)


class QuotaExcess(ReportRecord, frozen=True):
    """Of ``resource`` the work requests ``requested``, and can have ``most`` in ``flavor``: ``lacking`` are too few.

    It is ``pods`` pods of set ``pod_set`` that are too many (0: how many was not read), which request ``own`` of it;
    for ``fitting`` of them there is room. ``single``: the set is all of the work.
    """

    resource: str
    flavor: str
    requested: str
    most: str
    lacking: str
    own: str
    pod_set: str = ""
    pods: int = 0
    fitting: int = 0
    single: bool = False


def excesses(message: str, work: QueuedWorkload | None) -> tuple[QuotaExcess, ...]:
    """One for each flavor and resource that Kueue's words name for the first pod set; empty for any other words."""
    first, *_ = message.split("; ")
    head = _SET.match(first)
    found = list(_EXCESS.finditer(first))
    if head is None or not found or ", ".join(each[0] for each in found) != first[head.end() :]:
        return ()
    sets = work.spec.pod_sets if work is not None else ()
    pods = next((each.count for each in sets if each.name == head["pods"]), 0)
    told = [_told(each, head["pods"], pods, single=len(sets) == 1) for each in found]
    known = tuple(each for each in told if each is not None)
    return known if len(known) == len(told) else ()


def by_flavor(found: Iterable[QuotaExcess]) -> tuple[tuple[QuotaExcess, ...], ...]:
    """What lacks in each flavor, together; the flavors are alternatives.

    Upstream: assignFlavors ends at the first resource group without a flavor, so that all words are about that one.
    """
    groups: dict[str, list[QuotaExcess]] = {}
    for each in found:
        groups.setdefault(each.flavor, []).append(each)
    return tuple(map(tuple, groups.values()))


def _told(match: re.Match[str], pod_set: str, pods: int, *, single: bool) -> QuotaExcess | None:
    try:
        others, own, most = (Quantity.parse(match[name]) for name in ("others", "own", "most"))
    except QuantityError:
        return None
    requested = others.add(own)
    return QuotaExcess(
        match["resource"],
        match["flavor"],
        str(requested),
        match["most"],
        str(requested.sub(most)),
        match["own"],
        pod_set,
        pods,
        _fitting(others, own, most, pods),
        single,
    )


def _fitting(others: Quantity, own: Quantity, most: Quantity, pods: int) -> int:
    """For how many pods of the set there is room beside the others, each with its share of the request."""
    left, request = most.sub(others).at_scale(-3)[0], own.at_scale(-3)[0]
    return max(left * pods // request, 0) if request > 0 else 0
