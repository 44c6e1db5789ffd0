"""What constraints leave of each request: the largest set that one value (or distinct values) allows.

A bound, not a search: every constraint is looked at alone. With it a reader sees "3 of 4 in one domain".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.requests import ClaimPlan, Plan, Request
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input.candidates import Candidate
from kubectl_dra.diagnosis.records import Funnel, ValueCount

#: How many devices have a value; the key is the value's type and the value.
Members = Mapping[tuple[str, object], int]
_VALUES: Final = 8


def with_constraints(plan: Plan, checks: Checks, funnels: Mapping[int, Funnel]) -> dict[int, Funnel]:
    """The funnels with ``best`` and ``constraint`` of the constraint that leaves the least."""
    found = dict(funnels)
    by_id = {str(candidate.id): candidate for candidate in checks.candidates}
    for claim in plan.claims:
        requests = [option for choice in claim.choices for option in choice.options]
        for index in range(len(claim.claim.spec.devices.constraints)):
            applying = [request for request in requests if index in request.applying]
            for number, best in _best(claim, checks, applying, index, by_id, funnels).items():
                known = found[number]
                if known.best is None or best < known.best:
                    distinct = claim.claim.spec.devices.constraints[index].match_attribute is None
                    attribute, request = _attribute(claim, index), plan.requests[number]
                    left = [by_id[device] for device in known.left]
                    members = _members(checks, request, attribute, left)
                    found[number] = msgspec.structs.replace(
                        known,
                        best=best,
                        constraint=attribute,
                        distinct=distinct,
                        values=_values(members, _lacking(checks, request, attribute, left)),
                    )
    return found


def _best(
    claim: ClaimPlan,
    checks: Checks,
    requests: Sequence[Request],
    index: int,
    by_id: Mapping[str, Candidate],
    funnels: Mapping[int, Funnel],
) -> dict[int, int]:
    """The most devices per request under one constraint."""
    attribute = _attribute(claim, index)
    counts: dict[int, Members] = {}
    for request in requests:
        left = (by_id[device] for device in funnels[request.number].left)
        counts[request.number] = _members(checks, request, attribute, left)
    if claim.claim.spec.devices.constraints[index].match_attribute is None:
        return {number: len(values) for number, values in counts.items()}
    return _matching(requests, counts, funnels)


def _attribute(claim: ClaimPlan, index: int) -> str:
    constraint = claim.claim.spec.devices.constraints[index]
    return constraint.match_attribute or constraint.distinct_attribute or ""


def _members(checks: Checks, request: Request, attribute: str, devices: Iterable[Candidate]) -> Members:
    """How many of the devices have each value."""
    counts: dict[tuple[str, object], int] = {}
    for candidate in devices:
        try:
            value = checks.value(request, attribute, candidate)
        except Aborted:
            continue
        if value is None or value.members is None:
            continue
        kind, members = value.members
        for member in members:
            counts[kind, member] = counts.get((kind, member), 0) + 1
    return counts


def _values(members: Members, lacking: int) -> tuple[ValueCount, ...]:
    """The values of a constraint's attribute, the most frequent first."""
    counts: dict[tuple[str, str], int] = {}
    for (kind, value), number in members.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        counts[text, kind] = counts.get((text, kind), 0) + number
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    found = tuple(ValueCount(value, number, type=kind) for (value, kind), number in ranked[:_VALUES])
    return (*found, ValueCount("", lacking, published=False)) if lacking else found


def _lacking(checks: Checks, request: Request, attribute: str, devices: Iterable[Candidate]) -> int:
    """How many of the devices do not have the attribute."""
    return sum(not _members(checks, request, attribute, (candidate,)) for candidate in devices)


def _matching(
    requests: Sequence[Request], counts: Mapping[int, Members], funnels: Mapping[int, Funnel]
) -> dict[int, int]:
    """The counts under the value with which the requests together lack the least."""
    values = {value for members in counts.values() for value in members}
    # Alternatives of one request do not need devices at the same time.
    needed = {r.number: funnels[r.number].needed for r in requests if r.parent is None}
    if not values:
        return dict.fromkeys(counts, 0)

    def lack(value: tuple[str, object]) -> tuple[int, int]:
        short = sum(max(0, need - counts[number].get(value, 0)) for number, need in needed.items())
        return short, -sum(members.get(value, 0) for members in counts.values())

    best = min(sorted(values, key=repr), key=lack)
    return {number: members.get(best, 0) for number, members in counts.items()}
