"""How many partitions still fit together: the largest set of consumptions within what counters have left.

An exact search over small independent groups with a budget; where the budget ends it, the answer is "at least".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubectl_dra.allocation.checks.counters import Consumption

_BUDGET = 20_000


def largest_set(consumptions: Iterable[Consumption], available: Sequence[int]) -> tuple[int, bool]:
    """Size of the largest set that fits, and whether that is exact (else: at least so many)."""
    if any(amount < 0 for amount in available):
        # One overdrawn counter keeps every counter-consuming device of the pool away.
        return 0, True
    size, exact = 0, True
    for group in _independent(consumptions):
        found, sure = _search(group, available)
        size, exact = size + found, exact and sure
    return size, exact


def fits_together(consumptions: Iterable[Consumption], available: Sequence[int]) -> bool:
    """Whether all of them fit at once."""
    left = list(available)
    for consumption in consumptions:
        for number, amount in consumption:
            left[number] -= amount
    return all(amount >= 0 for amount in left)


def _independent(consumptions: Iterable[Consumption]) -> list[list[Consumption]]:
    """Groups that share no counter; within a group the small ones first."""
    groups: list[tuple[set[int], list[Consumption]]] = []
    for consumption in consumptions:
        numbers, members = {number for number, amount in consumption if amount}, [consumption]
        apart = []
        for group in groups:
            if group[0].isdisjoint(numbers):
                apart.append(group)
            else:
                numbers |= group[0]
                members += group[1]
        groups = [*apart, (numbers, members)]
    return [sorted(members, key=_weight) for _, members in groups]


def _weight(consumption: Consumption) -> tuple[int, Consumption]:
    return sum(amount for _, amount in consumption), consumption


def _search(group: list[Consumption], available: Sequence[int]) -> tuple[int, bool]:
    """Depth first, smallest first: the first dive is the greedy answer, the rest proves or improves it."""
    left = list(available)
    best = steps = 0
    stack: list[tuple[int, int, Consumption]] = [(0, 0, ())]
    while stack:
        index, taken, give_back = stack.pop()
        if index < 0:
            _change(left, give_back, 1)
            continue
        best = max(best, taken)
        steps += 1
        if steps > _BUDGET:
            return best, False
        if index == len(group) or taken + len(group) - index <= best:
            continue
        # The next one may be left out only together with all that are exactly like it.
        stack.append((_after(group, index), taken, ()))
        if all(amount <= left[number] for number, amount in group[index]):
            stack.append((-1, 0, group[index]))
            _change(left, group[index], -1)
            stack.append((index + 1, taken + 1, ()))
    return best, True


def _after(group: list[Consumption], index: int) -> int:
    end = index + 1
    while end < len(group) and group[end] == group[index]:
        end += 1
    return end


def _change(left: list[int], consumption: Consumption, sign: int) -> None:
    for number, amount in consumption:
        left[number] += sign * amount
