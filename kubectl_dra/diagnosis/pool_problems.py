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
from kubectl_dra.model.resource import ResourceSlice


def causes(
    found: Iterable[Rejection], index: SliceIndex, checks: Checks, requests: Sequence[Request], invalid_blamed: bool
) -> Iterator[Cause]:
    """Causes for the pools that matter to one of ``requests``; all invalid ones if the scheduler blames them."""
    for rejection in found:
        cause = _cause(rejection)
        if cause is None:
            continue
        code, pool, detail = cause
        if (invalid_blamed and code is Code.POOL_INVALID) or _matter(index.of_pool(pool), checks, requests):
            yield Cause(code, detail)
    for used in checks.pools:
        outdated = [s for s in index.of_pool(used.id) if s.spec.pool.generation < used.generation]
        if used.usable and outdated and _matter(outdated, checks, requests):
            older = max(s.spec.pool.generation for s in outdated)
            yield Cause(Code.POOL_OUTDATED, PoolProblem(str(used.id), older, detail=f"generation {used.generation}"))


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


def _matter(slices: Iterable[ResourceSlice], checks: Checks, requests: Sequence[Request]) -> bool:
    """Whether any device of the slices would pass the selectors of a request."""
    for slice_ in slices:
        spec = slice_.spec
        stand_in = Pool(PoolId(spec.driver, spec.pool.name), spec.pool.generation, 0, 0, [slice_])
        for device in spec.devices:
            candidate = Candidate(-1, stand_in, slice_, device, None, False)
            if any(_selected(checks, request, candidate) for request in requests):
                return True
    return False


def _selected(checks: Checks, request: Request, candidate: Candidate) -> bool:
    try:
        return checks.selection.refusing(request, candidate) is None
    except Aborted:
        return True
