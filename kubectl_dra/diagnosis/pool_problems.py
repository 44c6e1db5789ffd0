"""Pools that are not used on a node, where devices of theirs are what a request lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_dra.allocation.candidates import Candidate
from kubectl_dra.allocation.causes import Cause as Rejection
from kubectl_dra.allocation.causes import PoolIncomplete, PoolInvalid, PoolObsolete, SliceIgnored
from kubectl_dra.allocation.checks import Checks
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.pools import Pool, SliceIndex
from kubectl_dra.allocation.requests import Request
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, PoolProblem
from kubectl_dra.model.ids import PoolId


def causes(
    found: Iterable[Rejection], index: SliceIndex, checks: Checks, requests: Sequence[Request], invalid_blamed: bool
) -> Iterator[Cause]:
    """Causes for the pools that matter to one of ``requests``; all invalid ones if the scheduler blames them."""
    for rejection in found:
        cause = _cause(rejection)
        if cause is None:
            continue
        code, pool, detail = cause
        if (invalid_blamed and code is Code.POOL_INVALID) or _matters(pool, index, checks, requests):
            yield Cause(code, detail)


def _cause(rejection: Rejection) -> tuple[Code, PoolId, PoolProblem] | None:
    match rejection:
        case PoolIncomplete():
            seen = PoolProblem(str(rejection.pool), rejection.generation, rejection.seen, rejection.expected)
            return Code.POOL_INCOMPLETE, rejection.pool, seen
        case PoolInvalid():
            reason = rejection.reason
            name = f"{reason.counter_set}/{reason.name}" if reason.counter_set else reason.name
            return Code.POOL_INVALID, rejection.pool, PoolProblem(str(rejection.pool), detail=f"{reason.fault} {name}")
        case PoolObsolete():
            detail = PoolProblem(str(rejection.pool), rejection.generation, detail=f"generation {rejection.newer}")
            return Code.POOL_OUTDATED, rejection.pool, detail
        case SliceIgnored():
            detail = PoolProblem(str(rejection.pool), detail=f"{rejection.feature} {rejection.slice_name}")
            return Code.DEVICES_UNUSABLE, rejection.pool, detail
    return None


def _matters(pool: PoolId, index: SliceIndex, checks: Checks, requests: Sequence[Request]) -> bool:
    """Whether any device that the pool has published in any slice would pass the selectors of a request."""
    for slice_ in index.of_pool(pool):
        for device in slice_.spec.devices:
            stand_in = Pool(pool, slice_.spec.pool.generation, 0, 0, [slice_])
            candidate = Candidate(-1, stand_in, slice_, device, None, False)
            if any(_selected(checks, request, candidate) for request in requests):
                return True
    return False


def _selected(checks: Checks, request: Request, candidate: Candidate) -> bool:
    try:
        return checks.selection.refusing(request, candidate) is None
    except Aborted:
        return True
