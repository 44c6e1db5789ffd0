"""The allocator's checks of single devices, each asked on its own and told with its evidence.

Only what holds whatever else the attempt chooses; constraints are in ``grouping``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from kubectl_dra.allocation.checks.capacity import Amounts, largest_allowed
from kubectl_dra.allocation.checks.checks import Checks
from kubectl_dra.allocation.checks.counters import PoolCounters
from kubectl_dra.allocation.checks.requests import Request
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input.candidates import Candidate
from kubectl_dra.allocation.input.taints import Narrowing, selects, selects_everything
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.claim.reserved import fails, held_for
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import SUPPOSED, HeldFor, ObjectRef, Removal, Short, StageName
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.quantity import Format, Quantity
from kubectl_dra.model.resource import Device, DeviceTaint
from kubectl_dra.model.supposed import SupposedTaint, is_supposed
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.selectors.compiling import clauses_of
from kubectl_dra.selectors.evaluate import Outcome

Check = Callable[[Candidate], Removal | None]
_NANO: Final = -9
_PUBLISHED: Final = 12


class DeviceChecks:
    """The checks of one request on one node; every check gives the reason for leaving a device out, or None."""

    def __init__(self, state: ClusterState, checks: Checks, request: Request) -> None:
        self._state = state
        self._checks = checks
        self._request = request
        self._counters: dict[PoolId, PoolCounters] = {}
        self._listed = self._enumerated()

    def stages(self) -> Iterator[tuple[StageName, Check]]:
        """The checks behind the class, in the order of the funnel."""
        yield StageName.SELECTORS, self._selectors
        yield StageName.NODE, self._node
        yield StageName.FEATURES, self._features
        yield StageName.TAINTS, self._taints
        yield StageName.UNUSED, self._unused
        yield StageName.CAPACITY, self._capacity
        yield StageName.COUNTERS, self._counter

    def _enumerated(self) -> frozenset[int] | None:
        """The positions that ``All`` means; None for other modes, and where that can't be said."""
        if not self._request.takes_all:
            return None
        try:
            return frozenset(self._checks.enumerate(self._request))
        except Aborted:
            return None

    # --- which devices are meant --------------------------------------------------------------------------------------

    def _selectors(self, candidate: Candidate) -> Removal | None:
        decision = self._checks.selection.decision(self._request, candidate)
        if decision.outcome not in (Outcome.NO, Outcome.ERROR):
            return None
        # It fails only on devices that the search never looks at, because they are in use: free, they end the attempt.
        detail = self._checks.selection.detail(self._request, candidate)
        clause = clauses_of(self._request.selectors[decision.selector].expression)[detail.clause]
        values = [reading.text for reading in detail.readings if reading.field]
        return Removal(StageName.SELECTORS, clause.text, source=(values[0] or "") if len(values) == 1 else "")

    def _node(self, candidate: Candidate) -> Removal | None:
        if self._listed is not None and candidate.position not in self._listed:
            return self._why_not_listed(candidate)
        if self._checks.unbindable(candidate) is not None:
            return None
        try:
            return Removal(StageName.NODE, "otherNode") if self._checks.unselected(self._request, candidate) else None
        except Aborted:
            return None

    def _why_not_listed(self, candidate: Candidate) -> Removal:
        short = self._capacity(candidate)
        return Removal(StageName.NODE, "otherNode") if short is None else replace(short, stage=StageName.NODE)

    def _features(self, candidate: Candidate) -> Removal | None:
        lacking = self._checks.unbindable(candidate) or self._checks.unsupported(candidate)
        if lacking is None:
            return None
        return Removal(StageName.FEATURES, lacking.feature, source="node" if lacking.on_node else "")

    # --- which can be had ---------------------------------------------------------------------------------------------

    def _taints(self, candidate: Candidate) -> Removal | None:
        taint = self._checks.tainted(self._request, candidate)
        if taint is None or self._can_never_give(candidate):
            return None
        rule, since = self._rule_of(taint, candidate), taint.time_added or ""
        everywhere = bool(rule) and selects_everything(self._state.inventory.taint_rules[rule])
        rule = SUPPOSED if isinstance(taint, SupposedTaint) else rule
        return Removal(StageName.TAINTS, taint_text(taint), source=rule, since=since, everywhere=everywhere)

    def _rule_of(self, taint: DeviceTaint, candidate: Candidate) -> str:
        """The DeviceTaintRule that set the taint; empty for the driver's own."""
        at = (candidate.pool.id.driver, candidate.pool.id.pool, candidate.device.name)
        narrowing = Narrowing(self._state.inventory.classes)
        for name, rule in self._state.inventory.taint_rules.items():
            if rule.spec.taint == taint and selects(rule, *at) and narrowing.admits(rule, at[0], candidate.device):
                return name
        return ""

    def _unused(self, candidate: Candidate) -> Removal | None:
        if candidate.state is None or not self._checks.in_use(self._request, candidate):
            return None
        if self._can_never_give(candidate):
            return None
        holders = candidate.state.holders
        users = ", ".join(self._users(holders))
        held_for, since = self._held_for(holders), self._deleted(holders)
        if held_for is HeldFor.USED and (end := self._end_of_users(holders)):
            held_for, since = HeldFor.ENDING, end
        elif held_for is HeldFor.USED and self._fail(holders):
            held_for = HeldFor.FAILING
        owner = self._owner(holders) if held_for is HeldFor.USED else None
        return Removal(StageName.UNUSED, _names(holders), source=users, held_for=held_for, since=since, owner=owner)

    def _owner(self, claims: list[Key]) -> ObjectRef | None:
        """The topmost controller of the pod that uses the claims; None for several, or one that nothing makes.

        Pods of files have one that stands in for what the files say.
        """
        keys = [Key(*text.split("/", 1)) for text in self._users(claims)]
        pod = self._state.inventory.pods.get(keys[0]) if len(keys) == 1 else None
        if pod is None or is_supposed(pod):
            return None
        return Owners(self._state.inventory).named(pod)

    def _deleted(self, claims: list[Key]) -> str:
        """Since when all of the claims are being deleted; empty where one is not."""
        known = (self._state.inventory.claims.get(key) for key in claims)
        times = [(claim.metadata.deletion_timestamp or "") if claim is not None else "" for claim in known]
        return max(times) if times and all(times) else ""

    def _end_of_users(self, claims: list[Key]) -> str:
        """By when the last pod that uses the claims should have ended; empty where one is not being deleted."""
        times = [(pod.metadata.deletion_timestamp or "") if pod is not None else "" for pod in self._pods(claims)]
        return max(times) if times and all(times) else ""

    def _fail(self, claims: list[Key]) -> bool:
        """Whether no pod that uses the claims runs."""
        pods = self._pods(claims)
        return bool(pods) and all(pod is not None and fails(pod) for pod in pods)

    def _pods(self, claims: list[Key]) -> list[Pod | None]:
        """The pods that use the claims; None for what else does, and for the users of a claim that is not known."""
        inventory = self._state.inventory
        known = [inventory.claims.get(key) for key in claims]
        uids = [user.uid for claim in known if claim is not None for user in claim.status.reserved_for]
        return [*map(inventory.pods_by_uid.get, uids), *(None for claim in known if claim is None)]

    def _held_for(self, claims: list[Key]) -> HeldFor:
        """What all of the claims come to; one that is not known may be used."""
        known = self._state.inventory.claims
        found = {held_for(self._state, known[key]) if key in known else HeldFor.USED for key in claims}
        order = (HeldFor.USED, HeldFor.EMPTY_GROUP, HeldFor.FINISHED, HeldFor.GONE, HeldFor.NOBODY)
        return next((each for each in order if each in found), HeldFor.USED)

    def _users(self, claims: list[Key]) -> Iterator[str]:
        for key in claims:
            claim = self._state.inventory.claims.get(key)
            if claim is not None:
                for consumer in claim.status.reserved_for:
                    yield f"{key.namespace}/{consumer.name}"

    def _can_never_give(self, candidate: Candidate) -> bool:
        """Whether a device lacks the capacity even if nothing uses it: then it does not matter who does."""
        if not self._request.capacity or not self._checks.features.consumable_capacity:
            return False
        try:
            amounts = self._checks.amounts(self._request, candidate)
        except Aborted:
            return False
        return amounts.missing is not None or amounts.violated is not None or amounts.lacking({}) is not None

    def _capacity(self, candidate: Candidate) -> Removal | None:
        if not self._checks.features.consumable_capacity:
            return None
        try:
            amounts = self._checks.amounts(self._request, candidate)
        except Aborted:
            return None
        if amounts.missing is not None:
            published = ", ".join(sorted(candidate.device.capacity)[:_PUBLISHED])
            return Removal(StageName.CAPACITY, amounts.missing, source=published)
        if amounts.violated is not None:
            capacity = candidate.device.capacity[amounts.violated]
            needs, most = amounts.quantities[amounts.violated], largest_allowed(capacity.request_policy)
            left = str(most) if most is not None and most.cmp(needs) < 0 else ""
            short = Short(str(needs), left, str(capacity.value))
            return Removal(StageName.CAPACITY, amounts.violated, source="policy", short=short)
        removal = _too_little(amounts, candidate)
        if removal is None or removal.short is None:
            return removal
        asked = (self._request.capacity or {}).get(removal.reason)
        rounded = str(asked) if asked is not None and asked.cmp(Quantity.parse(removal.short.needs)) < 0 else ""
        users = tuple(self._users(list(candidate.state.holders))) if candidate.state is not None else ()
        short = replace(removal.short, requested=rounded, users=users)
        return replace(removal, short=short)

    def _counter(self, candidate: Candidate) -> Removal | None:
        device, state = candidate.device, candidate.state
        # A shareable device pays its counters with its first share.
        shared = candidate.shareable and state is not None and (state.shared or bool(state.consumed))
        if not device.consumes_counters or shared or not self._checks.features.partitionable_devices:
            return None
        pool = candidate.pool
        counters = self._counters.get(pool.id)
        if counters is None:
            counters = self._counters[pool.id] = self._checks.counters(pool)
        shortage = counters.shortage(counters.consumption(device))
        if shortage is None:
            return None
        counter_set, counter, needs, left, _ = shortage
        declared = pool.counter_sets[counter_set].counters[counter].value if pool.counter_sets else Quantity(0)
        users = tuple(dict.fromkeys(self._users_of_counter(pool.id, counter_set, counter)))
        short = Short(_text(needs, declared.format), _text(left, declared.format), str(declared), users=users)
        return Removal(StageName.COUNTERS, f"{counter_set}/{counter}", (), str(pool.id), short)

    def _users_of_counter(self, pool: PoolId, counter_set: str, counter: str) -> Iterator[str]:
        """The pods whose devices draw on one counter of the set."""
        held = self._state.allocated.pool(pool.driver, pool.pool)
        for _, device in self._state.published(pool) if held else ():
            state = held.get(device.name)
            if state is not None and _draws(device, counter_set, counter):
                yield from self._users(list(state.holders))


# --- evidence -------------------------------------------------------------------------------------------------------


def _draws(device: Device, counter_set: str, counter: str) -> bool:
    """Whether a device uses any of the counter; an amount of 0 takes nothing from others."""
    found = (each.counters.get(counter) for each in device.consumes_counters if each.counter_set == counter_set)
    return any(each is not None and each.value.cmp(Quantity(0)) > 0 for each in found)


def _too_little(amounts: Amounts, candidate: Candidate) -> Removal | None:
    """The first capacity of which allocated claims leave too little."""
    state = candidate.state
    lacking = amounts.lacking(state.consumed if state is not None else {})
    if lacking is None:
        return None
    name, needs, left = lacking
    total = next(total for need, _, total in amounts.needs if need == name)
    style = candidate.device.capacity[name].value.format
    short = Short(_text(needs, style), _text(left, style), _text(total, style))
    return Removal(StageName.CAPACITY, name, (), _names(state.holders if state is not None else ()), short)


def _text(nanos: int, style: Format) -> str:
    return str(Quantity(nanos, _NANO, style))


def _names(keys: tuple[Key, ...] | list[Key]) -> str:
    return ", ".join(map(str, keys))
