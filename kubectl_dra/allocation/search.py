"""The exhaustive first-fit search over one node: same order, same answer, same step count as the real allocator.

Upstream: allocateOne and allocateDevice. Upstream recurses; here the levels are an explicit stack, so that depth is no
limit and the walk can pause when its allowance of steps is used up, and go on later.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from kubectl_dra.allocation.candidates import Candidate
from kubectl_dra.allocation.capacity import Amounts
from kubectl_dra.allocation.causes import (
    Cause,
    ConstraintRefuses,
    CountersShort,
    IncompatibleGroups,
    TakenEarlier,
)
from kubectl_dra.allocation.checks import Checks
from kubectl_dra.allocation.constraints import Constraint, Held, make
from kubectl_dra.allocation.counters import Consumption, PoolCounters
from kubectl_dra.allocation.errors import Aborted, ConstraintRefusesAll
from kubectl_dra.allocation.frames import (
    FAILED,
    FOUND,
    ROOT,
    TOO_MANY,
    Alternatives,
    ClaimEnd,
    DeadEnd,
    Forced,
    Found,
    Frame,
    Level,
    Pick,
)
from kubectl_dra.allocation.groups import PoolGroups, Undo
from kubectl_dra.allocation.outcome import Observer
from kubectl_dra.allocation.pools import Pool
from kubectl_dra.allocation.requests import MAX_RESULTS, Request


class Placement:
    """One chosen device and what has to be undone when the search takes it back."""

    __slots__ = ("amounts", "charged", "constraints", "joined", "position", "request")

    def __init__(self, request: Request, position: int) -> None:
        self.request = request
        self.position = position
        self.amounts: Amounts | None = None
        self.charged: Consumption | None = None
        self.joined: Undo | None = None
        self.constraints = 0


Oracle = Callable[["Search", Level], int | None]


class Search:
    """One attempt on one node. ``needed`` is the number of devices per request, ``listed`` the devices of ``All``."""

    def __init__(
        self, checks: Checks, needed: Sequence[int], listed: dict[int, list[int]], observer: Observer | None
    ) -> None:
        self.checks = checks
        self.needed = needed
        self.listed = listed
        self.observer = observer
        self.oracle: Oracle | None = None
        self.steps = 0
        self.looks = 0
        self.reach = -1
        self.placements: list[Placement] = []
        self.candidates: list[Candidate] = checks.candidates
        self._claims = checks.plan.claims
        self._restart = checks.features.implementation == "stable"
        self._needs_one = checks.features.all_means_one_at_least
        lists = checks.features.list_type_attributes
        self._constraints = [
            [c for i, spec in enumerate(plan.claim.spec.devices.constraints) if (c := make(i, spec, lists)) is not None]
            for plan in self._claims
        ]
        self._taken = [0] * len(self.candidates)
        self._shares: dict[int, list[Amounts]] = {}
        self._results = [0] * len(self._claims)
        # Per request and position: the cause that rules the device out, True if none does, False while not known.
        self._verdicts: list[list[Cause | bool]] = [[] for _ in checks.plan.requests]
        self._worthwhile: list[list[int] | None] = [None] * len(checks.plan.requests)
        self._settled = [False] * len(checks.plan.requests)
        self._counters: dict[int, PoolCounters] = {}
        self._groups: dict[int, PoolGroups] = {}
        self._stack: list[Frame] = []
        self._next = ROOT

    def run(self, steps: int | None, looks: int) -> bool | None:
        """Search on until ``steps`` or ``looks`` are used up in all: found, none, or None if more are needed.

        Raises :class:`Aborted` where the real allocator gives up.
        """
        while True:
            if (steps is not None and self.steps >= steps) or self.looks >= looks:
                return None
            self.steps += 1
            following = self._enter(self._next)
            while not isinstance(following, Level) or self._is_dead(following):
                if isinstance(following, Found):
                    return True
                if not self._stack:
                    return False
                following = self._stack[-1].after(following if isinstance(following, DeadEnd) else FAILED)
            self._next = following

    def _is_dead(self, level: Level) -> bool:
        """Whether someone can tell that nothing lies below a level; then its steps are counted at once."""
        dead = self.oracle(self, level) if self.oracle is not None else None
        self.steps += dead or 0
        return dead is not None

    def chosen(self, claim: int, request: int) -> int:
        """The alternative of a ``firstAvailable`` request that the solution uses."""
        for frame in self._stack:
            if isinstance(frame, Alternatives) and frame.level[:2] == (claim, request):
                return frame.option
        return 0

    # --- levels -----------------------------------------------------------------------------------------------------

    def _enter(self, level: Level) -> Level | DeadEnd | Found:
        claim, position, option, device, start = level
        if claim >= len(self._claims):
            return FOUND
        choices = self._claims[claim].choices
        if position >= len(choices):
            self._stack.append(ClaimEnd(self))
            return Level(claim + 1, 0, None, 0, 0)
        choice = choices[position]
        if choice.alternatives and option is None:
            frame = Alternatives(self, level, len(choice.options))
            self._stack.append(frame)
            return Level(claim, position, 0, 0, 0)
        request = choice.options[option or 0]
        if request.takes_all and self._needs_one and not self.listed[request.number]:
            return FAILED
        missing = self.needed[request.number] - device
        if missing <= 0:
            return Level(claim, position + 1, None, 0, 0)
        if missing > MAX_RESULTS - self._results[claim]:
            return TOO_MANY
        if request.takes_all:
            return self._force(level, request)
        pick = Pick(self, level, request)
        self._stack.append(pick)
        return pick.advance(start)

    def _force(self, level: Level, request: Request) -> Level | DeadEnd:
        position = self.listed[request.number][level.device]
        self.looks += 1
        refusal = self.checks.refusal(request, self.candidates[position])
        if refusal is not None or self._is_taken(request, position):
            self._observe(refusal)
            return FAILED
        if not self._place(request, position, must=True):
            return FAILED
        self._stack.append(Forced(self))
        return level._replace(device=level.device + 1)

    def leave(self) -> None:
        """Take the frame on top off the stack."""
        self._stack.pop()

    # --- what is chosen so far --------------------------------------------------------------------------------------

    def taken(self, position: int) -> int:
        """The claims that took a dedicated device, a bit each."""
        return self._taken[position]

    def shares(self, position: int) -> Sequence[Amounts]:
        """The shares taken of a device."""
        return self._shares.get(position, ())

    def drawn(self, pool: Pool) -> tuple[PoolCounters | None, PoolGroups | None]:
        """Counters and groups of a pool, if devices that draw on them were tried."""
        return self._counters.get(id(pool)), self._groups.get(id(pool))

    def held(self, claim: int) -> tuple[Held, ...]:
        """What the constraints of a claim hold."""
        return tuple(constraint.state() for constraint in self._constraints[claim])

    def next_position(self, position: int) -> int:
        """Where the next device of the same request is searched from."""
        return 0 if self._restart else position + 1

    # --- candidates -------------------------------------------------------------------------------------------------

    def pick(self, request: Request, start: int) -> int | None:
        """Place the first acceptable candidate from ``start`` on, None if there is none. Raises :class:`Aborted`."""
        verdicts, taken = self._verdicts_of(request), self._taken
        for position in self._open(request, start):
            self.looks += 1
            if taken[position] and self._is_taken(request, position):
                continue
            verdict = verdicts[position]
            if verdict is False:
                self.reach = max(self.reach, position)
                verdict = verdicts[position] = self.checks.rejection(request, self.candidates[position]) or True
            if verdict is not True:
                self._observe(verdict)
            elif self._place(request, position, must=False):
                return position
        self.reach = len(self.candidates)
        return None

    def _open(self, request: Request, start: int) -> Sequence[int]:
        """The positions from ``start`` on that are worth a look: all, or those not ruled out already."""
        if self.observer is not None:
            return range(start, len(self.candidates))
        known = self._worthwhile[request.number]
        if known is None or (not start and not self._settled[request.number]):
            verdicts = self._verdicts_of(request)
            known = self._worthwhile[request.number] = [p for p, v in enumerate(verdicts) if v is True or v is False]
            self._settled[request.number] = False not in verdicts
        return known[bisect_left(known, start) :] if start else known

    def _verdicts_of(self, request: Request) -> list[Cause | bool]:
        verdicts = self._verdicts[request.number]
        if not verdicts:
            verdicts += [False] * len(self.candidates)
        return verdicts

    def _is_taken(self, request: Request, position: int) -> bool:
        taken = self._taken[position]
        if not taken or (request.admin and not taken >> request.claim_index & 1):
            return False
        if self.observer is not None:
            by = tuple(plan.key for plan in self._claims if taken >> plan.index & 1)
            self._observe(TakenEarlier(self.candidates[position].id, request.claim, request.full_name, by))
        return True

    def _observe(self, cause: Cause | bool | None) -> None:
        if self.observer is not None and isinstance(cause, Cause):
            self.observer.rejected(cause)

    def _place(self, request: Request, position: int, must: bool) -> bool:
        candidate = self.candidates[position]
        placement = Placement(request, position)
        if not must and not self._has_capacity(request, candidate):
            return False
        if candidate.device.consumes_counters and not self._is_shared(candidate) and not self._draw(placement):
            return False
        if not self._constrain(placement, must) or (must and not self._has_capacity(request, candidate, first=True)):
            self._undo(placement)
            return False
        if candidate.shareable:
            placement.amounts = self.checks.amounts(request, candidate)
            self._shares.setdefault(position, []).append(placement.amounts)
        else:
            self._taken[position] |= 1 << request.claim_index
        self._results[request.claim_index] += 1
        self.placements.append(placement)
        return True

    def take_back(self) -> None:
        """Undo the device chosen last."""
        placement = self.placements.pop()
        claim = placement.request.claim_index
        self._results[claim] -= 1
        if placement.amounts is None:
            self._taken[placement.position] &= ~(1 << claim)
        else:
            self._shares[placement.position].pop()
        self._undo(placement)

    def _undo(self, placement: Placement) -> None:
        request = placement.request
        for index in reversed(request.applying[: placement.constraints]):
            self._constraints[request.claim_index][index].remove()
        pool = self.candidates[placement.position].pool
        if placement.joined is not None:
            self._pool_groups(pool).leave(placement.joined)
        if placement.charged is not None:
            self._pool_counters(pool).refund(placement.charged)

    # --- capacity, counters, groups, constraints --------------------------------------------------------------------

    def _is_shared(self, candidate: Candidate) -> bool:
        if not candidate.shareable:
            return False
        return (candidate.state is not None and candidate.state.shared) or bool(self._shares.get(candidate.position))

    def _has_capacity(self, request: Request, candidate: Candidate, first: bool = False) -> bool:
        """Whether enough is left next to the attempt's own shares; the rest is settled unless this is ``first``."""
        shares = self._shares.get(candidate.position)
        if not self.checks.features.consumable_capacity or not (first or shares):
            return True
        amounts = self.checks.amounts(request, candidate)
        used: dict[str, int] = dict(candidate.state.consumed) if candidate.state is not None else {}
        for share in shares or ():
            for name, amount, _ in share.needs:
                used[name] = used.get(name, 0) + amount
        lacking = amounts.lacking(used)
        if lacking is not None and self.observer is not None:
            self._observe(self.checks.capacity_short(request, candidate, lacking))
        return lacking is None

    def _draw(self, placement: Placement) -> bool:
        """Join the users of the device's counter sets and take its counters."""
        candidate = self.candidates[placement.position]
        if self.checks.features.compatibility_groups:
            groups = self._pool_groups(candidate.pool)
            placement.joined = groups.join(candidate.device)
            if placement.joined is None:
                self._observe_groups(placement.request, candidate, groups)
                return False
        counters = self._pool_counters(candidate.pool)
        consumption = counters.consumption(candidate.device)
        if not counters.charge(consumption):
            self._observe_counters(placement.request, candidate, counters, consumption)
            self._undo(placement)
            return False
        placement.charged = consumption
        return True

    def _constrain(self, placement: Placement, must: bool) -> bool:
        request = placement.request
        constraints = self._constraints[request.claim_index]
        for index in request.applying:
            constraint = constraints[index]
            candidate = self.candidates[placement.position]
            value = self.checks.value(request, constraint.attribute, candidate)
            if value is None or not constraint.add(value):
                if must:
                    raise Aborted(ConstraintRefusesAll(request.claim, request.name, candidate.id))
                if self.observer is not None:
                    self._observe_constraint(request, candidate, constraint)
                return False
            placement.constraints += 1
        return True

    def _pool_counters(self, pool: Pool) -> PoolCounters:
        found = self._counters.get(id(pool))
        if found is None:
            found = self._counters[id(pool)] = self.checks.counters(pool)
        return found

    def _pool_groups(self, pool: Pool) -> PoolGroups:
        found = self._groups.get(id(pool))
        if found is None:
            found = self._groups[id(pool)] = self.checks.groups(pool)
        return found

    def _observe_groups(self, request: Request, candidate: Candidate, groups: PoolGroups) -> None:
        conflict = groups.conflict(candidate.device) if self.observer is not None else None
        if conflict is not None:
            name, own, present = conflict
            at = (candidate.id, request.claim, request.full_name)
            self._observe(IncompatibleGroups(*at, name, own or None, present.groups))

    def _observe_counters(
        self, request: Request, candidate: Candidate, counters: PoolCounters, consumption: Consumption
    ) -> None:
        shortage = counters.shortage(consumption) if self.observer is not None else None
        if shortage is not None:
            self._observe(CountersShort(candidate.id, request.claim, request.full_name, *shortage))

    def _observe_constraint(self, request: Request, candidate: Candidate, constraint: Constraint) -> None:
        value = self.checks.value(request, constraint.attribute, candidate)
        at = (candidate.id, request.claim, request.full_name)
        seen = None if value is None else value.attribute
        held = constraint.held()
        self._observe(ConstraintRefuses(*at, constraint.index, constraint.attribute, constraint.distinct, held, seen))
