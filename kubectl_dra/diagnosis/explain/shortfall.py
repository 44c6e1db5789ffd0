"""Which step of a funnel leaves a request with too little, and the cause that follows.

The first step that falls below what is needed decides; where every request could be had alone, it is the combination.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.checks.requests import ClaimPlan, Plan, Request
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, Funnel, ObjectRef, Removal, Stage, StageName
from kubectl_dra.model.quantity import Quantity

_CODES: Final = {
    StageName.CLASS: Code.TOO_FEW_DEVICES,
    StageName.SELECTORS: Code.TOO_FEW_DEVICES,
    StageName.NODE: Code.DEVICES_FOR_OTHER_NODES,
    StageName.FEATURES: Code.DEVICES_UNUSABLE,
    StageName.TAINTS: Code.DEVICES_TAINTED,
    StageName.UNUSED: Code.DEVICES_IN_USE,
    StageName.CAPACITY: Code.CAPACITY_TOO_SMALL,
    StageName.COUNTERS: Code.COUNTERS_EXHAUSTED,
}
_NONE_LEFT: Final = {
    StageName.CLASS: Code.NO_DEVICE_IN_CLASS,
    StageName.SELECTORS: Code.SELECTOR_MATCHES_NOTHING,
}
#: Behind all steps of a funnel.
_CONSTRAINT_STEP: Final = 98
_TOGETHER_STEP: Final = 99
_PER_MILLE: Final = 1000
#: The first step at which a node has the devices, and something keeps the request from them.
_MAY_CHANGE: Final = list(StageName).index(StageName.TAINTS)


class Shortfall(msgspec.Struct, frozen=True):
    """A request that cannot be served even alone: the step that breaks it, and how much is there of what is needed."""

    request: Request
    funnel: Funnel
    code: Code
    step: int
    there: int

    @property
    def nearness(self) -> tuple[int, int]:
        """Larger is nearer: how far it gets, then how much of the need is there."""
        return self.step, self.there * _PER_MILLE // max(self.funnel.needed, 1)


def serves(funnel: Funnel) -> bool:
    """Whether a request with this funnel could be had alone."""
    if funnel.all_devices and not funnel.needed:
        return False
    needed = max(funnel.needed, 1)
    return all(stage.count >= needed for stage in funnel.stages) and funnel.together >= needed


def of(request: Request, funnel: Funnel) -> Shortfall | None:
    """What the request lacks; None if it could be had alone."""
    if funnel.needed == 0 and not funnel.all_devices:
        return None
    needed = max(funnel.needed, 1)
    for step, stage in enumerate(funnel.stages):
        if stage.count < needed:
            code = _CODES[stage.name] if stage.count else _NONE_LEFT.get(stage.name, _CODES[stage.name])
            if funnel.all_devices and stage.name not in (StageName.CLASS, StageName.SELECTORS, StageName.NODE):
                code = Code.ALL_MODE_BLOCKED
            elif code is Code.CAPACITY_TOO_SMALL and not stage.count and _is_unobtainable(funnel, stage):
                code = Code.CAPACITY_UNOBTAINABLE
            return Shortfall(request, funnel, code, step, stage.count)
    if funnel.best is not None and funnel.best < needed:
        return Shortfall(request, funnel, Code.CONSTRAINT, _CONSTRAINT_STEP, funnel.best)
    return None


def _is_unobtainable(funnel: Funnel, stage: Stage) -> bool:
    """Whether no device that matches would give the capacity even if nothing used it."""
    earlier = any(funnel.stage(name).removed for name in (StageName.TAINTS, StageName.UNUSED))
    return not earlier and all(map(_never_has, stage.removed))


def _never_has(removal: Removal) -> bool:
    # No name of the capacity, or a policy that does not allow the amount.
    if removal.short is None or removal.source == "policy":
        return True
    return Quantity.parse(removal.short.needs).cmp(Quantity.parse(removal.short.total)) > 0


def causes(shortfalls: Sequence[tuple[Shortfall, ...]], plan: Plan) -> Iterator[Cause]:
    """One cause per request that cannot be served, the hardest first; of alternatives the one that comes nearest."""
    broken = sorted((options for options in shortfalls if options), key=lambda o: max(x.nearness for x in o))
    for options in broken:
        for option in sorted(options, key=lambda each: each.nearness, reverse=True):
            claim = ObjectRef.of("ResourceClaim", option.request.claim)
            yield Cause(option.code, option.funnel, claim, option.request.full_name)
    if not broken:
        yield from _together(plan)


def excluded(plan: Plan, funnels: Mapping[int, Funnel], shareable: Collection[str]) -> Iterator[Cause]:
    """The request of a claim whose every device another one takes, which is for all devices.

    A claim gets each device once, with admin access too, whoever holds the devices. Upstream: the structured
    allocator's deviceInUse. ``shareable``: devices that may be allocated several times.
    """
    for claim in plan.claims:
        request = next(_left_with_nothing(claim, funnels, frozenset(shareable)), None)
        if request is not None:
            yield Cause(Code.REQUESTS_COMPETE, claim=ObjectRef.of("ResourceClaim", claim.key), request=request)


def _left_with_nothing(claim: ClaimPlan, funnels: Mapping[int, Funnel], shareable: frozenset[str]) -> Iterator[str]:
    only = [choice.options[0] for choice in claim.choices if not choice.alternatives]
    may_have = {each.number: frozenset(funnels[each.number].after(StageName.FEATURES)) for each in only}
    for whole in only:
        taken = may_have[whole.number] if whole.takes_all and whole.capacity is None else frozenset()
        for other in only:
            wanted = may_have[other.number]
            if other is not whole and wanted and wanted <= taken and not wanted & shareable:
                yield other.full_name


def _together(plan: Plan) -> Iterator[Cause]:
    """Every request fits alone: a constraint over several of them, or they need the same devices."""
    constrained = [claim for claim in plan.claims if claim.claim.spec.devices.constraints]
    for claim in constrained:
        yield Cause(Code.CONSTRAINT, claim=ObjectRef.of("ResourceClaim", claim.key))
    if not constrained:
        for claim in plan.claims:
            yield Cause(Code.REQUESTS_COMPETE, claim=ObjectRef.of("ResourceClaim", claim.key))


def nearness(shortfalls: Sequence[tuple[Shortfall, ...]]) -> tuple[int, ...]:
    """How near the node comes: whether it has the devices at all, then how many requests lack some, then the hardest.

    Of each request the best alternative counts.
    """
    broken = [max(option.nearness for option in options) for options in shortfalls if options]
    hardest = min(broken, default=(_TOGETHER_STEP, 0))
    return min(hardest[0], _MAY_CHANGE), -len(broken), *hardest
