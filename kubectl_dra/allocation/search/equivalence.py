"""Which devices are alike for one request and all that follow it, so that the search need not tell them apart.

Devices of one kind offer the same to every request from there on: the same amounts, the same values under constraints,
the same counters and groups. A device that no later request can use is of no kind and drops out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.constraints import Members, make
from kubectl_dra.allocation.checks.counters import Consumption, PoolCounters
from kubectl_dra.allocation.checks.groups import PoolGroups
from kubectl_dra.allocation.checks.requests import MAX_RESULTS, Choice, Request
from kubectl_dra.allocation.errors import Aborted, UndecidedError
from kubectl_dra.allocation.input.allocated import nano
from kubectl_dra.allocation.input.candidates import Candidate

_MAX_STAGES: Final = 200


class NotApplicableError(Exception):
    """Raised where steps can't be computed by kind."""


class Offer(msgspec.Struct, frozen=True):
    """What a device means to one request: amounts by capacity, values by applying constraint, place in ``All``."""

    amounts: tuple[int, ...]
    values: tuple[Members, ...]
    place: int | None = None


class Traits(msgspec.Struct, frozen=True):
    """What a device is to every request. ``left`` by capacity; ``pays``: takes counters when first chosen."""

    shareable: bool
    left: tuple[int, ...]
    pool: int
    pays: bool
    consumption: Consumption
    groups: tuple[tuple[str, frozenset[str]], ...]


class DeviceGroup(msgspec.Struct, frozen=True):
    """A class of devices at one stage: offers to the requests of the stage, its class at the next, its traits."""

    offers: tuple[Offer | None, ...]
    following: int | None
    traits: Traits


class SearchStage(msgspec.Struct):
    """One request of one claim, or (``choice`` None) the end of a claim; ``kinds`` are numbered from 0."""

    claim: int
    choice: Choice | None
    admin_from_here: bool = False
    kinds: list[DeviceGroup] = msgspec.field(default_factory=list)
    kind_at: list[int | None] = msgspec.field(default_factory=list)


class DeviceGroups:
    """The stages of one search on one node. Raises :class:`NotApplicableError` if steps depend on more than kinds."""

    def __init__(self, checks: Checks, needed: Sequence[int], listed: Mapping[int, list[int]]) -> None:
        self.checks = checks
        self.needed = needed
        self.listed = listed
        self.stages: list[SearchStage] = []
        self.first: dict[int, int] = {}
        self.constraints = [
            [make(spec, False) for spec in plan.claim.spec.devices.constraints] for plan in checks.plan.claims
        ]
        self._counters: dict[int, PoolCounters] = {}
        self._groups: dict[int, PoolGroups] = {}
        self._pools = {id(pool): number for number, pool in enumerate(checks.pools)}
        self._check_limits()
        self._build_stages()

    def counters(self, pool: int) -> PoolCounters:
        """The counters of a pool by its number, as allocated devices leave them."""
        if pool not in self._counters:
            self._counters[pool] = self.checks.counters(self.checks.pools[pool])
        return self._counters[pool]

    def groups(self, pool: int) -> PoolGroups:
        """The compatibility groups of a pool by its number, as allocated devices leave them."""
        if pool not in self._groups:
            self._groups[pool] = self.checks.groups(self.checks.pools[pool])
        return self._groups[pool]

    def _check_limits(self) -> None:
        for claim in self.checks.plan.claims:
            largest = sum(max(self.needed[o.number] for o in choice.options) for choice in claim.choices)
            if largest > MAX_RESULTS:
                raise NotApplicableError("the device limit cuts branches off")

    def _build_stages(self) -> None:
        for claim in self.checks.plan.claims:
            self.first[claim.index] = len(self.stages)
            self.stages += [SearchStage(claim.index, choice) for choice in claim.choices]
            self.stages.append(SearchStage(claim.index, None))
        if len(self.stages) > _MAX_STAGES:
            raise NotApplicableError("too many requests")
        traits = [self._traits(candidate) for candidate in self.checks.candidates]
        following: list[int | None] = [None] * len(traits)
        admin = False
        for stage in reversed(self.stages):
            options = stage.choice.options if stage.choice is not None else ()
            admin = admin or any(option.admin for option in options)
            stage.admin_from_here = admin
            offers = [self._offers(option) for option in options]
            self._classify(stage, offers, following, traits)
            following = stage.kind_at

    @staticmethod
    def _classify(
        stage: SearchStage,
        offers: Sequence[Sequence[Offer | None]],
        following: Sequence[int | None],
        traits: Sequence[Traits],
    ) -> None:
        numbers: dict[DeviceGroup, int] = {}
        for position, trait in enumerate(traits):
            own = tuple(offer[position] for offer in offers)
            if following[position] is None and all(offer is None for offer in own):
                stage.kind_at.append(None)
                continue
            kind = DeviceGroup(own, following[position], trait)
            stage.kind_at.append(numbers.setdefault(kind, len(numbers)))
        stage.kinds = list(numbers)

    def _traits(self, candidate: Candidate) -> Traits:
        state, device = candidate.state, candidate.device
        left: tuple[int, ...] = ()
        if candidate.shareable:
            consumed = state.consumed if state is not None else {}
            left = tuple(nano(device.capacity[n].value) - consumed.get(n, 0) for n in sorted(device.capacity))
        draws = bool(device.consumes_counters) and self.checks.features.partitionable_devices
        pays = draws and not (candidate.shareable and state is not None and state.shared)
        if not pays:
            return Traits(candidate.shareable, left, 0, False, (), ())
        consumption = self.counters(self._pool_number(candidate)).consumption(device)
        if any(amount < 0 for _, amount in consumption):
            raise NotApplicableError("a device gives counters back")
        groups: tuple[tuple[str, frozenset[str]], ...] = ()
        if self.checks.features.compatibility_groups:
            groups = tuple((c.counter_set, frozenset(c.compatibility_groups)) for c in device.consumes_counters)
        return Traits(candidate.shareable, left, self._pool_number(candidate), True, consumption, groups)

    def _pool_number(self, candidate: Candidate) -> int:
        return self._pools[id(candidate.pool)]

    def _offers(self, request: Request) -> list[Offer | None]:
        if request.takes_all:
            places = {position: place for place, position in enumerate(self.listed[request.number])}
            return [self._offer_to_all(request, c, places.get(c.position)) for c in self.checks.candidates]
        if self.needed[request.number] <= 0:
            return [None] * len(self.checks.candidates)
        return [self._offer(request, candidate) for candidate in self.checks.candidates]

    def _offer(self, request: Request, candidate: Candidate) -> Offer | None:
        try:
            if self.checks.rejects(request, candidate):
                return None
            values = self._values(request, candidate)
        except (Aborted, UndecidedError):
            raise NotApplicableError("an evaluation fails") from None
        return None if values is None else Offer(self._amounts(request, candidate), values)

    def _offer_to_all(self, request: Request, candidate: Candidate, place: int | None) -> Offer | None:
        if place is None or self.checks.refuses(request, candidate):
            return None
        try:
            values = self._values(request, candidate)
        except (Aborted, UndecidedError):
            raise NotApplicableError("an evaluation fails") from None
        if values is None:
            raise NotApplicableError("a constraint refuses a device of All")
        if not candidate.shareable and self._is_short(request, candidate):
            if values:
                raise NotApplicableError("a constraint is asked before capacity in All")
            return None
        return Offer(self._amounts(request, candidate), values, place)

    def _is_short(self, request: Request, candidate: Candidate) -> bool:
        return self.checks.features.consumable_capacity and self.checks.short(request, candidate)

    def _amounts(self, request: Request, candidate: Candidate) -> tuple[int, ...]:
        if not candidate.shareable:
            return ()
        return tuple(amount for _, amount, _ in self.checks.amounts(request, candidate).needs)

    def _values(self, request: Request, candidate: Candidate) -> tuple[Members, ...] | None:
        """The values under the constraints that apply, None if one refuses the device whatever else is chosen."""
        values: list[Members] = []
        for index in request.applying:
            constraint = self.constraints[request.claim_index][index]
            value = self.checks.value(request, constraint.attribute, candidate) if constraint is not None else None
            if value is None:
                return None
            if not self.checks.features.list_type_attributes and not value.plain:
                raise NotApplicableError("a value compares differently in other orders")
            if value.members is None:
                return None
            values.append(value.members)
        return tuple(values)
