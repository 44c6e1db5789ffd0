"""Steps of hopeless searches, computed instead of walked.

A failing search visits every acceptable combination of devices once, whatever their order, so devices that are alike
for all that follows need not be told apart: combinations are counted by kind. That turns days of walking into
milliseconds and gives the same step count. It holds only if every part of an acceptable set is acceptable, and if no
error can end the search early; :class:`NotApplicableError` says where that is not given, and the plain walk has to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb, factorial
from typing import Final

import msgspec

from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.constraints import Held, Members, common
from kubectl_dra.allocation.checks.groups import Shared
from kubectl_dra.allocation.checks.requests import MAX_RESULTS, Request
from kubectl_dra.allocation.search.equivalence import DeviceGroups, NotApplicableError, Offer, SearchStage, Traits
from kubectl_dra.allocation.search.search import Level, Search

# --- what the search holds ------------------------------------------------------------------------------------------

# Of a dedicated device the claims that took it (a bit each), of a shareable one what was taken of each capacity.
History = int | tuple[int, ...]
UNTOUCHED: Final = 0
Key = tuple[int, History]


class Joint(msgspec.Struct, frozen=True):
    """What several devices hold together: values of the claim's constraints, counters and groups per pool."""

    held: tuple[Held, ...] = ()
    used: tuple[tuple[int, tuple[int, ...]], ...] = ()
    joined: tuple[tuple[int, str, Shared], ...] = ()


class CountingState(msgspec.Struct, frozen=True):
    """How many devices of each class have each history, and what all chosen devices hold together."""

    devices: frozenset[tuple[Key, int]]
    joint: Joint


class Counting:
    """Counts for one search on one node. Raises :class:`NotApplicableError` if that can't be done."""

    def __init__(
        self, checks: Checks, needed: Sequence[int], listed: Mapping[int, list[int]], combinations: int
    ) -> None:
        self.checks = checks
        self.needed = needed
        self.listed = listed
        self.spent = 0
        self._allowed = combinations
        self._memo: dict[tuple[int, CountingState], int | None] = {}
        # The first implementation tries a combination in every order.
        every = checks.features.implementation == "stable"
        self._orders = [factorial(size) if every else 1 for size in range(MAX_RESULTS + 1)]
        self._kinds = DeviceGroups(checks, needed, listed)
        self._stages = self._kinds.stages

    # --- the question -----------------------------------------------------------------------------------------------

    def dead_steps(self, search: Search, level: Level) -> int | None:
        """Steps from entering ``level`` until it has failed; None if there is a solution below it."""
        if level.claim >= len(self.checks.plan.claims):
            return None
        number = self._kinds.first[level.claim] + level.request
        stage = self._stages[number]
        state, eligible = self._snapshot(search, level, stage)
        if stage.choice is None or (stage.choice.alternatives and level.option is None):
            return self._entry(number, state)
        option = level.option or 0
        return self._form(number, option, state, level.device, eligible)

    def _snapshot(self, search: Search, level: Level, stage: SearchStage) -> tuple[CountingState, dict[Key, int]]:
        """The state that the search is in, and the devices from ``level.start`` on."""
        devices: dict[Key, int] = {}
        eligible: dict[Key, int] = {}
        for position, kind in enumerate(stage.kind_at):
            if kind is None:
                continue
            history = self._history(search, position)
            if not self._matters(stage, kind, history):
                continue
            key = (kind, history)
            devices[key] = devices.get(key, 0) + 1
            if position >= level.start:
                eligible[key] = eligible.get(key, 0) + 1
        return CountingState(frozenset(devices.items()), self._joint(search, level.claim)), eligible

    def _history(self, search: Search, position: int) -> History:
        shares = search.shares(position)
        if not shares:
            return search.taken(position)
        amounts = [[amount for _, amount, _ in share.needs] for share in shares]
        return tuple(map(sum, zip(*amounts, strict=True)))

    def _joint(self, search: Search, claim: int) -> Joint:
        used = []
        joined = []
        for number, pool in enumerate(self.checks.pools):
            counters, groups = search.draws.of(pool)
            if counters is not None and any(counters.used):
                used.append((number, tuple(counters.used)))
            if groups is not None:
                before = self._kinds.groups(number).shared
                changed = [(number, n, s) for n, s in sorted(groups.shared.items()) if before.get(n) != s]
                joined += changed
        return Joint(search.held(claim), tuple(used), tuple(joined))

    @staticmethod
    def _matters(stage: SearchStage, kind: int, history: History) -> bool:
        """A dedicated device that was taken is of interest to admin access only."""
        return stage.admin_from_here or history == UNTOUCHED or stage.kinds[kind].traits.shareable

    # --- the answer -------------------------------------------------------------------------------------------------

    def _entry(self, number: int, state: CountingState) -> int | None:
        """Steps from entering a stage; None if there is a solution."""
        if number >= len(self._stages):
            return None
        key = (number, state)
        if key not in self._memo:
            self._memo[key] = self._steps(number, state)
        return self._memo[key]

    def _steps(self, number: int, state: CountingState) -> int | None:
        stage = self._stages[number]
        if stage.choice is None:
            return _plus(1, self._entry(number + 1, self._next_claim(number, state)))
        if not stage.choice.alternatives:
            return self._form(number, 0, state, 0, dict(state.devices))
        total: int | None = 1
        for option in range(len(stage.choice.options)):
            total = _plus(total, self._form(number, option, state, 0, dict(state.devices)))
            if total is None:
                return None
        return total

    def _next_claim(self, number: int, state: CountingState) -> CountingState:
        claim = self._stages[number].claim + 1
        constraints = len(self._kinds.constraints[claim]) if claim < len(self._kinds.constraints) else 0
        joint = Joint((None,) * constraints, state.joint.used, state.joint.joined)
        return self._advance(number, dict(state.devices), joint)

    def _advance(self, number: int, devices: Mapping[Key, int], joint: Joint) -> CountingState:
        """The state at the next stage, with the classes of that stage."""
        if number + 1 >= len(self._stages):
            return CountingState(frozenset(), joint)
        kinds, following = self._stages[number].kinds, self._stages[number + 1]
        moved: dict[Key, int] = {}
        for (kind, history), count in devices.items():
            successor = kinds[kind].following
            if count and successor is not None and self._matters(following, successor, history):
                key = (successor, history)
                moved[key] = moved.get(key, 0) + count
        return CountingState(frozenset(moved.items()), joint)

    def _form(
        self, number: int, option: int, state: CountingState, chosen: int, eligible: Mapping[Key, int]
    ) -> int | None:
        """Steps from entering one form of a request with ``chosen`` devices already chosen."""
        choice = self._stages[number].choice
        assert choice is not None  # noqa: S101 - callers handle the end of a claim
        request = choice.options[option]
        if request.takes_all:
            return self._all(number, option, request, state, chosen)
        missing = self.needed[request.number] - chosen
        if missing <= 0:
            return _plus(1, self._entry(number + 1, self._advance(number, dict(state.devices), state.joint)))
        total, complete = self._combine(number, option, request, state, missing, eligible)
        for following, weight in complete.items():
            below = self._entry(number + 1, following)
            if below is None:
                return None
            total += weight * below
        return total

    def _all(self, number: int, option: int, request: Request, state: CountingState, chosen: int) -> int | None:
        devices, joint, steps = dict(state.devices), state.joint, 1
        size = len(self.listed[request.number])
        places: dict[int, Key] = {}
        for key in devices:
            offer = self._stages[number].kinds[key[0]].offers[option]
            if offer is not None and offer.place is not None:
                places[offer.place] = key
        if not size and self.checks.features.all_means_one_at_least:
            return steps
        for place in range(chosen, size):
            taken = self._take(number, option, request, joint, places.get(place))
            if taken is None:
                return steps
            key, history, joint = taken
            devices[key] -= 1
            moved = (key[0], history)
            devices[moved] = devices.get(moved, 0) + 1
            steps += 1
        return _plus(steps, self._entry(number + 1, self._advance(number, devices, joint)))

    def _take(
        self, number: int, option: int, request: Request, joint: Joint, key: Key | None
    ) -> tuple[Key, History, Joint] | None:
        if key is None:
            return None
        kind = self._stages[number].kinds[key[0]]
        offer = kind.offers[option]
        if offer is None or (not kind.traits.shareable and not _free(request, key[1])):
            return None
        drawn = self._draw(kind.traits, key[1], joint)
        if drawn is None:
            return None
        held = self._hold(request, offer, drawn.held)
        if held is None:
            raise NotApplicableError("a constraint refuses a device of All")
        history = _taken(request, offer, kind.traits, key[1])
        return None if history is None else (key, history, Joint(held, drawn.used, drawn.joined))

    # --- combinations -----------------------------------------------------------------------------------------------

    def _combine(
        self,
        number: int,
        option: int,
        request: Request,
        state: CountingState,
        missing: int,
        eligible: Mapping[Key, int],
    ) -> tuple[int, dict[CountingState, int]]:
        """Steps of this level alone, and how often each state comes out of it."""
        groups = list(self._groups_of(number, option, request, eligible))
        total, seen = 1, 0
        complete: dict[CountingState, int] = {}
        stack: list[tuple[int, int, int, Joint, tuple[tuple[int, int], ...]]] = [(0, 0, 1, state.joint, ())]
        while stack:
            first, size, weight, joint, picked = stack.pop()
            for index in range(first, len(groups)):
                group = groups[index]
                extended: Joint | None = joint
                for count in range(1, min(group.count, missing - size) + 1):
                    extended = self._extend(request, group, extended)
                    if extended is None:
                        break
                    seen += 1
                    ways = weight * comb(group.count, count)
                    total += ways * self._orders[size + count]
                    now = (*picked, (index, count))
                    if size + count < missing:
                        stack.append((index + 1, size + count, ways, extended, now))
                    else:
                        following = self._chosen(number, state, groups, now, extended)
                        complete[following] = complete.get(following, 0) + ways * self._orders[missing]
            self._spend(seen)
            seen = 0
        return total, complete

    def _spend(self, combinations: int) -> None:
        self.spent += combinations
        if self.spent > self._allowed:
            raise NotApplicableError("too many combinations")

    def _groups_of(self, number: int, option: int, request: Request, eligible: Mapping[Key, int]) -> Iterator[_Group]:
        kinds = self._stages[number].kinds
        for key, count in eligible.items():
            kind = kinds[key[0]]
            offer = kind.offers[option]
            if offer is None or (not kind.traits.shareable and not _free(request, key[1])):
                continue
            history = _taken(request, offer, kind.traits, key[1])
            if history is not None:
                yield _Group(key, count, offer, kind.traits, (key[0], history))

    def _extend(self, request: Request, group: _Group, joint: Joint | None) -> Joint | None:
        """What is held together with one more device of the group, None if that is not acceptable."""
        drawn = self._draw(group.traits, group.key[1], joint) if joint is not None else None
        if drawn is None or not group.offer.values:
            return drawn
        held = self._hold(request, group.offer, drawn.held)
        return None if held is None else Joint(held, drawn.used, drawn.joined)

    def _chosen(
        self,
        number: int,
        state: CountingState,
        groups: Sequence[_Group],
        picked: Sequence[tuple[int, int]],
        joint: Joint,
    ) -> CountingState:
        devices = dict(state.devices)
        for index, count in picked:
            group = groups[index]
            devices[group.key] -= count
            devices[group.moved] = devices.get(group.moved, 0) + count
        return self._advance(number, devices, joint)

    def _hold(self, request: Request, offer: Offer, held: tuple[Held, ...]) -> tuple[Held, ...] | None:
        if not offer.values:
            return held
        result = list(held)
        for index, value in zip(request.applying, offer.values, strict=True):
            constraint = self._kinds.constraints[request.claim_index][index]
            joined = _join(value, result[index], constraint is not None and constraint.distinct)
            if joined is None:
                return None
            result[index] = joined
        return tuple(result)

    def _draw(self, traits: Traits, history: History, joint: Joint) -> Joint | None:
        if not traits.pays or (traits.shareable and history != UNTOUCHED):
            return joint
        joined = self._join_groups(traits, joint.joined) if traits.groups else joint.joined
        if joined is None:
            return None
        counters = self._kinds.counters(traits.pool)
        used = dict(joint.used)
        own = list(used.get(traits.pool) or (0,) * len(counters.available))
        for counter, amount in traits.consumption:
            own[counter] += amount
        if any(amount > available for amount, available in zip(own, counters.available, strict=True)):
            return None
        used[traits.pool] = tuple(own)
        return Joint(joint.held, tuple(sorted(used.items())), joined)

    def _join_groups(
        self, traits: Traits, joined: tuple[tuple[int, str, Shared], ...]
    ) -> tuple[tuple[int, str, Shared], ...] | None:
        state = {(pool, name): shared for pool, name, shared in joined}
        before = self._kinds.groups(traits.pool).shared
        for name, groups in traits.groups:
            present = state.get((traits.pool, name)) or before.get(name)
            if present is not None and not present.admits(groups):
                return None
            state[traits.pool, name] = Shared(groups or None) if present is None else present.joined(groups)
        return tuple((*key, shared) for key, shared in sorted(state.items(), key=lambda item: item[0]))


class _Group(msgspec.Struct, frozen=True):
    """Devices that the request at hand can't tell apart; ``moved`` is where a chosen one goes."""

    key: Key
    count: int
    offer: Offer
    traits: Traits
    moved: Key


def _plus(steps: int | None, more: int | None) -> int | None:
    return None if steps is None or more is None else steps + more


def _free(request: Request, history: History) -> bool:
    """Whether a dedicated device with this history may be taken."""
    assert isinstance(history, int)  # noqa: S101 - dedicated
    return not (history >> request.claim_index & 1 if request.admin else history)


def _taken(request: Request, offer: Offer, traits: Traits, history: History) -> History | None:
    """The history after taking the device, None if too little is left of it."""
    if not traits.shareable:
        assert isinstance(history, int)  # noqa: S101 - dedicated
        return history | 1 << request.claim_index
    before = history if isinstance(history, tuple) else (0,) * len(offer.amounts)
    after = tuple(a + b for a, b in zip(before, offer.amounts, strict=True))
    return after if all(a <= left for a, left in zip(after, traits.left, strict=True)) else None


def _join(value: Members, held: Held, distinct: bool) -> Held:
    """What a constraint holds after one more value, None if it refuses."""
    if not distinct:
        return value if held is None else common(held, value)  # type: ignore[arg-type]
    taken: frozenset[Members] = held or frozenset()  # type: ignore[assignment]
    return taken | {value} if all(common(other, value) is None for other in taken) else None
