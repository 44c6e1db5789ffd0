"""Whether the quota of a ClusterQueue has room for work that does not exist yet: now, later, or never.

Kueue gives each set of pods one flavor of each resource group that covers what it requests, and admits all sets of a
workload at once. Upstream: kubernetes-sigs/kueue, pkg/scheduler/flavorassigner (fitsResourceQuota,
checkFlavorForPodSets); the order in which it tries flavors decides which it takes, not whether one may ever do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.diagnosis.gates.cohorts import Share, cohort_of, quota_field, share
from kubectl_dra.diagnosis.gates.flavor_choice import PlannedSet, choice, covered_by, requests_of, suits
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.queues import ClusterQueue, QueueObjects, ResourceGroup
from kubectl_dra.model.requests import quantity_of

#: Choices of flavors; with more of them it is unknown.
_MOST_CHOICES: Final = 20_000
#: Parts that are admitted one by one; more are not tried.
_MOST_UNITS: Final = 64
_NEVER_ENDS_OTHERS: Final = ("", "Never")


class Admits(StrEnum):
    """Whether Kueue starts work: ``Unread`` where the queue, or how it counts devices, was not read."""

    YES = "Yes"
    NO = "No"
    UNKNOWN = "Unknown"
    UNREAD = "Unread"


class Room(StrEnum):
    """When the quota has room."""

    NOW = "Now"
    LATER = "Later"  # it is in use by others
    SOME = "Some"  # never for all of its pods at a time
    NEVER = "Never"  # it requests more than the queue can ever have
    UNKNOWN = "Unknown"


class QuotaPart(ReportRecord, frozen=True):
    """What the pods of one set request of a resource: ``copies`` times ``each``; ``classes``: of devices, whose."""

    role: str
    copies: int
    each: str
    classes: tuple[str, ...] = ()


class Smaller(ReportRecord, frozen=True):
    """With ``field`` at ``value`` the work requests ``requested``, for which there is room; ``now``: at once."""

    field: str
    value: int
    requested: str
    now: bool


class MoreQuota(ReportRecord, frozen=True):
    """The quota of a ``flavor`` with which there would be room; ``field``: where it stands in the ClusterQueue."""

    flavor: str
    field: str
    before: str
    after: str


class QueueRoom(ReportRecord, frozen=True):
    """Whether a queue has room for ``requested`` of ``resource``, which is what it lacks most; empty if nothing.

    ``most``: what it can have with nothing in use, empty where that is not known; ``nominal`` of it is its own, the
    rest what ``cohort`` lends it, no more than ``borrowing_limit`` where that is set. ``unused``: what is left now.
    ``flavors``: all pods of a set get one of these. ``uncovered``: the queue has no quota of this resource.
    ``may_evict``: Kueue may end other work for it. ``smaller`` and ``more``: changes that give it room.
    ``units``: so many parts of the work are admitted one by one, and ``at_a_time`` of them have room at the same time.
    ``untried``: there are more ways to spread it over flavors than are tried; ``lending_unknown``: what a cohort lends
    is not known. ``starts``: Kueue starts it at once with so many of its pods; 0 where with all of them, or not.
    """

    room: Room
    resource: str = ""
    requested: str = ""
    parts: tuple[QuotaPart, ...] = ()
    most: str = ""
    nominal: str = ""
    unused: str = ""
    cohort: str = ""
    borrowing_limit: str = ""
    flavors: tuple[str, ...] = ()
    uncovered: bool = False
    may_evict: bool = False
    smaller: Smaller | None = None
    more: MoreQuota | None = None
    units: int = 1
    at_a_time: int = 0
    untried: bool = False
    lending_unknown: bool = False
    starts: int = 0


@dataclass(frozen=True, slots=True)
class _Quotas:
    objects: QueueObjects
    queue: ClusterQueue
    shares: dict[tuple[str, str], Share] = field(default_factory=dict)
    untried: list[str] = field(default_factory=list)

    def share(self, flavor: str, resource: str) -> Share:
        if (flavor, resource) not in self.shares:
            self.shares[flavor, resource] = share(self.objects, self.queue, flavor, resource)
        return self.shares[flavor, resource]

    def most(self, flavor: str, resource: str) -> int | None:
        return self.share(flavor, resource).most

    def unused(self, flavor: str, resource: str) -> int | None:
        return self.share(flavor, resource).unused

    def certain(self, flavor: str, resource: str) -> int:
        """What is unused for sure: what is not known of a cohort may be nothing."""
        found = self.share(flavor, resource)
        return found.own if found.unused is None else found.unused


#: What there is of a resource in a flavor; None: unlimited.
_Amounts = Callable[[str, str], int | None]


def queue_room(
    objects: QueueObjects, queue: ClusterQueue, sets: Sequence[PlannedSet], units: int = 1, *, undeclared: Room
) -> QueueRoom:
    """Room for all ``sets`` at once, and that ``units`` times, where these are admitted one by one.

    ``undeclared``: when there is room for what the queue has no quota of at all.
    """
    quotas = _Quotas(objects, queue)
    lacks = next(_uncovered(queue, sets), None)
    if lacks is not None and undeclared is not Room.NOW:
        return _lacking(undeclared, lacks, sets)
    least = [replace(each, copies=min(each.copies, each.least)) for each in sets]
    whole = [replace(each, copies=each.copies * units) for each in sets]
    ever = _number(quotas, least, units, quotas.most)
    if ever < units:
        short = _short(quotas, least * (min(ever, _MOST_UNITS) + 1), quotas.most) or _short(quotas, whole, quotas.most)
        return _told(quotas, Room.SOME if ever else Room.NEVER, short, whole, units, ever)
    now = _number(quotas, least, units, quotas.unused)
    if now < units:
        short = _short(quotas, least * (min(now, _MOST_UNITS) + 1), quotas.unused) or _short(
            quotas, whole, quotas.unused
        )
        return _told(quotas, Room.LATER, short, whole, units, now)
    chosen = choice(objects, queue, sets, units)
    if chosen is not None and chosen.reduced:
        told = _told(quotas, Room.NOW, _short(quotas, sets, quotas.unused), sets, units, 0)
        return msgspec.structs.replace(told, starts=sum(chosen.copies), smaller=None)
    quotas.untried.clear()
    if _number(quotas, sets, units, quotas.certain) >= units and not quotas.untried:
        return QueueRoom(Room.NOW)
    unknown = any(each.unused is None for each in quotas.shares.values())
    return QueueRoom(Room.UNKNOWN, untried=bool(quotas.untried), lending_unknown=unknown)


def _number(quotas: _Quotas, sets: Sequence[PlannedSet], units: int, amounts: _Amounts) -> int:
    """How many of the ``units`` have room; where too many would have to be tried, all are said to have, as untried."""
    if len(sets) == 1 and units > 1:
        return min(units, *(_of_alike(quotas, group, sets[0], amounts, units) for group in _groups(quotas)))
    if units > 1 and (number := _in_one_flavor(quotas, sets, amounts, units)) is not None:
        return number
    low, high = 0, min(units, _MOST_UNITS)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _short(quotas, list(sets) * middle, amounts) is None else (low, middle - 1)
    if low < _MOST_UNITS or units == low:
        return low
    quotas.untried.append(quotas.queue.metadata.name)
    return units


def _in_one_flavor(quotas: _Quotas, sets: Sequence[PlannedSet], amounts: _Amounts, most: int) -> int | None:
    """How many units have room where each set has one flavor to choose from; None where one has several."""
    total = Counter[tuple[str, str]]()
    for group in _groups(quotas):
        for pods in sets:
            requests = requests_of(pods, covered_by(group))
            flavors = [e.name for e in group.flavors if suits(quotas.objects.flavors.get(e.name), pods.pod)]
            if requests and len(flavors) != 1:
                return None
            total.update({(flavors[0], name): number for name, number in requests.items()})
    rooms = ((amounts(*place), number) for place, number in total.items())
    return min([most, *(max(there, 0) // number for there, number in rooms if there is not None)])


def _of_alike(quotas: _Quotas, group: ResourceGroup, unit: PlannedSet, amounts: _Amounts, most: int) -> int:
    """How many units that are alike, each of one set, the flavors of a group have room for together."""
    requests = requests_of(unit, covered_by(group))
    found = 0
    for flavor in group.flavors if requests else ():
        if suits(quotas.objects.flavors.get(flavor.name), unit.pod):
            rooms = ((amounts(flavor.name, name), number) for name, number in requests.items())
            found += min(
                (max(there, 0) // number if there is not None else most for there, number in rooms), default=most
            )
    return found if requests else most


def _groups(quotas: _Quotas) -> Sequence[ResourceGroup]:
    return quotas.queue.spec.resource_groups


def _uncovered(queue: ClusterQueue, sets: Sequence[PlannedSet]) -> Iterator[str]:
    covered = {name for group in queue.spec.resource_groups for name in covered_by(group)}
    return (name for each in sets for name, number in each.requests.items() if number and name not in covered)


def _short(quotas: _Quotas, sets: Sequence[PlannedSet], amounts: _Amounts) -> tuple[str, tuple[str, ...]] | None:
    """A resource of which no choice of flavors has enough, and its flavors; None where there is enough."""
    for group in _groups(quotas):
        covered = covered_by(group)
        names = [name for each in sets for name in requests_of(each, covered)]
        if _have_room(quotas, group, sets, covered, amounts):
            continue
        # One alone is the reason, mostly.
        for name in dict.fromkeys(names):
            if not _have_room(quotas, group, sets, frozenset((name,)), amounts):
                return name, tuple(each.name for each in group.flavors)
        return next(iter(names), ""), tuple(each.name for each in group.flavors)
    return None


def _have_room(
    quotas: _Quotas, group: ResourceGroup, sets: Sequence[PlannedSet], covered: frozenset[str], amounts: _Amounts
) -> bool:
    """Whether some choice of a flavor for each set has enough of what is ``covered``; True with too many choices."""
    wanted = [(each, requests) for each in sets if (requests := requests_of(each, covered))]
    budget = [_MOST_CHOICES]

    def place(index: int, used: Counter[tuple[str, str]]) -> bool:
        if index == len(wanted):
            return True
        pods, requests = wanted[index]
        for flavor in group.flavors:
            budget[0] -= 1
            if budget[0] < 0:
                quotas.untried.append(flavor.name)
                return True
            if not suits(quotas.objects.flavors.get(flavor.name), pods.pod):
                continue
            after = used + Counter({(flavor.name, name): number for name, number in requests.items()})
            rooms = ((after[flavor.name, name], amounts(flavor.name, name)) for name in requests)
            if all(there is None or number <= there for number, there in rooms) and place(index + 1, after):
                return True
        return False

    return place(0, Counter())


# --- what is told -----------------------------------------------------------------------------------------------------


def _lacking(room: Room, resource: str, sets: Sequence[PlannedSet]) -> QueueRoom:
    return QueueRoom(
        room, resource, str(quantity_of(resource, _total(sets, resource))), _parts(sets, resource), uncovered=True
    )


def _told(
    quotas: _Quotas,
    room: Room,
    short: tuple[str, tuple[str, ...]] | None,
    sets: Sequence[PlannedSet],
    units: int,
    at_a_time: int,
) -> QueueRoom:
    resource, names = short if short is not None else ("", ())
    flavors = [name for name in names if any(suits(quotas.objects.flavors.get(name), each.pod) for each in sets)]
    shares = [quotas.share(name, resource) for name in flavors]
    known = [
        (each.most, each.unused, name, each)
        for name, each in zip(flavors, shares, strict=True)
        if each.most is not None and each.unused is not None
    ]
    most, unused, flavor, best = max(known, key=lambda each: each[:2], default=(0, 0, "", None))
    limit, total = best.borrowing_limit if best is not None else None, _total(sets, resource)
    nominal = best.nominal if best is not None else 0
    # Units get flavors one by one: the rest of them has to fit into the one that is raised.
    lacking = total - most if units == 1 or not at_a_time else total // units * (units - at_a_time)
    after = str(quantity_of(resource, nominal + max(0, lacking)))
    field = quota_field(quotas.queue, flavor, resource) if total > most else ""
    return QueueRoom(
        room,
        resource,
        str(quantity_of(resource, total)),
        _parts(sets, resource),
        str(quantity_of(resource, most)) if len(known) == len(shares) else "",
        str(quantity_of(resource, nominal)),
        str(quantity_of(resource, max(0, unused))),
        cohort_of(quotas.queue),
        str(quantity_of(resource, limit)) if limit is not None and cohort_of(quotas.queue) else "",
        tuple(flavors),
        may_evict=may_evict(quotas.queue),
        smaller=_smaller(quotas, resource, sets) if units == 1 else None,
        more=MoreQuota(flavor, field, str(quantity_of(resource, nominal)), after) if field else None,
        units=units,
        at_a_time=at_a_time,
    )


def may_evict(queue: ClusterQueue) -> bool:
    """Whether Kueue may end other work to admit some of this queue (upstream: ClusterQueuePreemption)."""
    found = queue.spec.preemption
    if found is None:
        return False
    within = found.borrow_within_cohort.policy if found.borrow_within_cohort is not None else ""
    policies = (found.within_cluster_queue, found.reclaim_within_cohort, within)
    return any(policy not in _NEVER_ENDS_OTHERS for policy in policies)


def _smaller(quotas: _Quotas, resource: str, sets: Sequence[PlannedSet]) -> Smaller | None:
    """The largest number of the set that requests most of a resource, with which all of them have room."""
    index = max(range(len(sets)), key=lambda number: _total((sets[number],), resource))
    pods = sets[index]
    field, each = pods.scale

    def tried(value: int) -> list[PlannedSet]:
        return [*sets[:index], replace(pods, copies=value * each), *sets[index + 1 :]]

    low, high = 0, pods.copies // each - 1 if field else 0
    while low < high:
        middle = (low + high + 1) // 2
        fits = _short(quotas, tried(middle), quotas.most) is None
        low, high = (middle, high) if fits else (low, middle - 1)
    if low < 1:
        return None
    now = _short(quotas, tried(low), quotas.certain) is None
    return Smaller(field, low, str(quantity_of(resource, _total(tried(low), resource))), now)


def _parts(sets: Sequence[PlannedSet], resource: str) -> tuple[QuotaPart, ...]:
    return tuple(
        QuotaPart(
            each.name,
            each.copies,
            str(quantity_of(resource, each.requests.get(resource, 0))),
            tuple(sorted(each.devices.get(resource, {}))),
        )
        for each in sets
        if each.requests.get(resource, 0) * each.copies
    )


def _total(sets: Sequence[PlannedSet], resource: str) -> int:
    return sum(each.requests.get(resource, 0) * each.copies for each in sets)
