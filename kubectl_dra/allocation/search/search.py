"""The exhaustive first-fit search over one node: same order, same answer, same step count as the real allocator.

Upstream: allocateOne and allocateDevice. Upstream recurses; here the levels are an explicit stack, so that depth is no
limit and the walk can pause when its allowance of steps is used up, and go on later. A frame on the stack is what one
of upstream's calls would still have to do when those below it find nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

from kubectl_dra.allocation.checks.capacity import Amounts
from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.constraints import Held, make
from kubectl_dra.allocation.checks.draws import Draw, Draws
from kubectl_dra.allocation.checks.requests import MAX_RESULTS, Request
from kubectl_dra.allocation.errors import Aborted, ConstraintRefusesAll
from kubectl_dra.allocation.input.candidates import Candidate


class Level(NamedTuple):
    """One entry into the search: option is None while no alternative of ``firstAvailable`` is chosen."""

    claim: int
    request: int
    option: int | None
    device: int
    start: int


class End(Enum):
    """How a level ended: all claims have their devices, or none; ``TOO_MANY`` also skips the device chosen last."""

    FOUND = auto()
    FAILED = auto()
    TOO_MANY = auto()


ROOT: Final = Level(0, 0, None, 0, 0)


class Frame(ABC):
    """A level to come back to. ``after`` says how the search goes on when what follows it is a dead end."""

    __slots__ = ("search",)

    def __init__(self, search: Search) -> None:
        self.search = search

    @abstractmethod
    def after(self, end: End) -> Level | End:
        """Go on with the next possibility, or leave the stack with a dead end of its own."""


class ClaimEnd(Frame):
    """Too many devices in a later claim are a plain failure here: other choices may leave room there."""

    __slots__ = ()

    def after(self, end: End) -> End:
        """Fail."""
        self.search.leave()
        return End.FAILED


class Alternatives(Frame):
    """The subrequests of ``firstAvailable``, tried in order."""

    __slots__ = ("exceeded", "level", "option", "options")

    def __init__(self, search: Search, level: Level, options: int) -> None:
        super().__init__(search)
        self.level = level
        self.option = 0
        self.options = options
        self.exceeded = True

    def after(self, end: End) -> Level | End:
        """Try the next one; that all were too many is told upwards."""
        if end is End.FAILED:
            self.exceeded = False
        self.option += 1
        if self.option < self.options:
            return Level(self.level.claim, self.level.request, self.option, 0, 0)
        self.search.leave()
        return End.TOO_MANY if self.exceeded else End.FAILED


class Forced(Frame):
    """A device of an ``All`` request: there is no other choice."""

    __slots__ = ()

    def after(self, end: End) -> End:
        self.search.take_back()
        self.search.leave()
        return end


class Pick(Frame):
    """One device of an ``ExactCount`` request: the candidates in order."""

    __slots__ = ("level", "position", "request")

    def __init__(self, search: Search, level: Level, request: Request) -> None:
        super().__init__(search)
        self.level = level
        self.request = request
        self.position = 0

    def advance(self, start: int) -> Level | End:
        """Place the next acceptable candidate from ``start`` on."""
        position = self.search.pick(self.request, start)
        if position is None:
            self.search.leave()
            return End.FAILED
        self.position = position
        claim, request, option, device, _ = self.level
        return Level(claim, request, option, device + 1, self.search.next_position(position))

    def after(self, end: End) -> Level | End:
        """Give the device back and try those behind it."""
        self.search.take_back()
        if end is End.TOO_MANY:
            self.search.leave()
            return end
        return self.advance(self.position + 1)


class Placement:
    """One chosen device and what has to be undone when the search takes it back."""

    __slots__ = ("amounts", "constraints", "drawn", "position", "request")

    def __init__(self, request: Request, position: int) -> None:
        self.request = request
        self.position = position
        self.amounts: Amounts | None = None
        self.drawn: Draw | None = None
        self.constraints = 0


Oracle = Callable[["Search", Level], int | None]


class Search:
    """One attempt on one node. ``needed`` is the number of devices per request, ``listed`` the devices of ``All``."""

    def __init__(self, checks: Checks, needed: Sequence[int], listed: dict[int, list[int]]) -> None:
        self.checks = checks
        self.needed = needed
        self.listed = listed
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
            [c for spec in plan.claim.spec.devices.constraints if (c := make(spec, lists)) is not None]
            for plan in self._claims
        ]
        self._taken = [0] * len(self.candidates)
        self._shares: dict[int, list[Amounts]] = {}
        self._results = [0] * len(self._claims)
        # Per request and position: whether the device may serve, None while not known.
        self._verdicts: list[list[bool | None]] = [[None] * len(self.candidates) for _ in checks.plan.requests]
        self._worthwhile: list[list[int] | None] = [None] * len(checks.plan.requests)
        self._settled = [False] * len(checks.plan.requests)
        self.draws = Draws(checks)
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
                if following is End.FOUND:
                    return True
                if not self._stack:
                    return False
                following = self._stack[-1].after(following if isinstance(following, End) else End.FAILED)
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

    def _enter(self, level: Level) -> Level | End:
        claim, position, option, device, start = level
        if claim >= len(self._claims):
            return End.FOUND
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
            return End.FAILED
        missing = self.needed[request.number] - device
        if missing <= 0:
            return Level(claim, position + 1, None, 0, 0)
        if missing > MAX_RESULTS - self._results[claim]:
            return End.TOO_MANY
        if request.takes_all:
            return self._force(level, request)
        pick = Pick(self, level, request)
        self._stack.append(pick)
        return pick.advance(start)

    def _force(self, level: Level, request: Request) -> Level | End:
        position = self.listed[request.number][level.device]
        self.looks += 1
        refused = self.checks.refuses(request, self.candidates[position]) or self._is_taken(request, position)
        if refused or not self._place(request, position, must=True):
            return End.FAILED
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
        return self._shares.get(position, ())

    def held(self, claim: int) -> tuple[Held, ...]:
        """What the constraints of a claim hold."""
        return tuple(constraint.state() for constraint in self._constraints[claim])

    def next_position(self, position: int) -> int:
        """Where the next device of the same request is searched from."""
        return 0 if self._restart else position + 1

    # --- candidates -------------------------------------------------------------------------------------------------

    def pick(self, request: Request, start: int) -> int | None:
        """Place the first acceptable candidate from ``start`` on, None if there is none. Raises :class:`Aborted`."""
        verdicts, taken = self._verdicts[request.number], self._taken
        for position in self._open(request, start):
            self.looks += 1
            if taken[position] and self._is_taken(request, position):
                continue
            serves = verdicts[position]
            if serves is None:
                self.reach = max(self.reach, position)
                serves = verdicts[position] = not self.checks.rejects(request, self.candidates[position])
            if serves and self._place(request, position, must=False):
                return position
        self.reach = len(self.candidates)
        return None

    def _open(self, request: Request, start: int) -> Sequence[int]:
        """The positions from ``start`` on that are worth a look: all, or those not ruled out already."""
        known = self._worthwhile[request.number]
        if known is None or (not start and not self._settled[request.number]):
            verdicts = self._verdicts[request.number]
            known = self._worthwhile[request.number] = [p for p, serves in enumerate(verdicts) if serves is not False]
            self._settled[request.number] = None not in verdicts
        return known[bisect_left(known, start) :] if start else known

    def _is_taken(self, request: Request, position: int) -> bool:
        taken = self._taken[position]
        return bool(taken) and not (request.admin and not taken >> request.claim_index & 1)

    def _place(self, request: Request, position: int, must: bool) -> bool:
        candidate = self.candidates[position]
        placement = Placement(request, position)
        if not must and not self._has_capacity(request, candidate):
            return False
        if candidate.device.consumes_counters and not self._is_shared(candidate):
            placement.drawn = self.draws.take(candidate)
            if placement.drawn is None:
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
        if placement.drawn is not None:
            self.draws.give_back(placement.drawn)

    # --- capacity, constraints --------------------------------------------------------------------------------------

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
        return amounts.lacking(used) is None

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
                return False
            placement.constraints += 1
        return True
