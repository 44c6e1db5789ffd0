"""Sentences about requests each of which could be served alone, and not together with the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, Funnel, NoSingleNode, RequestNodes, UnpublishedInConstraint, ValueCount
from kubectl_dra.output.pending.amounts import amount_phrase
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.shortage import taken_note, typed
from kubectl_dra.output.pending.wanted import Asks
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.pending.nodes import NodeGroupRecord
from kubectl_dra.scheduler.extended import CLAIM_NAME

_NAMES: Final = 3
#: A driver chooses the type of what it publishes, and the API has no conversion (allocator, matchAttributeConstraint).
_NEVER: Final = Safe(
    "; values of different types never match, so a driver has to publish another type, or the constraint has to go"
)
#: A constraint is over every device of its requests (allocator, matchAttributeConstraint).
_PER_PAIR: Final = Safe(
    ". One constraint is over all of them: where only pairs have to share it, make one request of each, and one "
    "constraint, per pair"
)


def no_single_node(found: NoSingleNode) -> Safe:
    """Each request is served somewhere, and nowhere all of them."""
    parts = [amount_phrase(request, free=True) for request in found.requests]
    word = Safe("both ") if len(parts) == 2 else Safe("")
    where = Safe("; ").join([_where(request) for request in found.requests])
    return fmt("no single node has {}{}: {}", word, Safe(" and ").join(parts), where)


def _where(request: RequestNodes) -> Safe:
    nodes = [fmt("{} ({} free)", each.node, each.free) for each in request.nodes]
    more = fmt(" and {} more", request.more) if request.more else Safe("")
    return fmt("{} is available on {}{}", request.request, Safe(", ").join(nodes), more)


def constraint_over(cause: Cause, nodes: Sequence[NodeGroupRecord]) -> Safe:
    """A constraint over requests each of which could be served alone."""
    found = constrained(cause, nodes)
    if not found:
        return reason_sentence(cause)
    first = next(iter(found.values()))
    name = safe(first.constraint.rpartition("/")[2])
    relation = Safe("differ in") if first.distinct else Safe("have the same")
    text = fmt("no node has free devices for {} that {} {}", listed(list(found)), relation, name)
    total = sum(each.needed for each in found.values())
    if not first.distinct and total > len(found):
        # Of several that a request asks for all are meant, not one of each request.
        asked = listed([fmt("{} {}", each.needed, request) for request, each in found.items()])
        text = fmt("no node has free devices for {}, all {} with the same {}", asked, total, name)
    if first.distinct and (few := _too_few_values(list(found.values()), total)) is not None:
        return fmt("{}: {} different values are needed, and on {} {}", text, total, first.node, few)
    unlike = not first.distinct and _unlike(list(found.values()))
    values = [_values_under(request, funnel, cause, unlike=unlike) for request, funnel in found.items()]
    more = _NEVER if unlike else _pairs(list(found.values()))
    return fmt("{}. On {}, {}{}", text, first.node, Safe(" and ").join(values), more)


def _too_few_values(funnels: Sequence[Funnel], needed: int) -> Safe | None:
    """What the devices have of the attribute in which they are to differ; None where there are enough values."""
    found = list({(each.type, each.value): each for funnel in funnels for each in _values_of(funnel)}.values())
    if not found or len(found) >= needed:
        return None
    devices = len({each for funnel in funnels for each in funnel.left})
    has = Safe("the only free device has") if devices == 1 else fmt("{} free devices have", devices)
    return fmt("{} {}: {}", has, len(found), listed([safe(each.value) for each in found]))


def _pairs(funnels: Sequence[Funnel]) -> Safe:
    """How a constraint over all devices of several requests is written where pairs of them were meant."""
    numbers = {funnel.needed for funnel in funnels}
    several = len(numbers) == 1 and 1 not in numbers and len(funnels) > 1 and not funnels[0].distinct
    return _PER_PAIR if several else Safe("")


def _unlike(funnels: Sequence[Funnel]) -> bool:
    """Whether the requests have values of different types only, which no constraint takes for the same."""
    types = [{each.type for each in funnel.values if each.published} for funnel in funnels]
    return all(types) and not set.intersection(*types)


def _values_under(request: str, funnel: Funnel, cause: Cause, *, unlike: bool) -> Safe:
    """``the free gpu devices have pci0000:15 (2 more are in use: nb)``."""
    taken = taken_note(funnel, cause.claim.namespace if cause.claim is not None else "")
    which = fmt("the {}{} devices", Safe("free ") if taken else Safe(""), request)
    have = (
        fmt("have {}", _typed_values(funnel) if unlike else _some_values(funnel))
        if _values_of(funnel)
        else Safe("do not publish it")
    )
    return fmt("{} {}{}", which, have, taken)


def constraint_tells_all(causes: Sequence[Cause], nodes: Sequence[NodeGroupRecord]) -> bool:
    """Whether the sentence about a constraint over several requests says all that their tables would."""
    first = causes[0] if causes else None
    if first is None or first.code is not Code.CONSTRAINT:
        return False
    if isinstance(first.detail, UnpublishedInConstraint):
        return True
    if len(nodes) != 1:
        return False
    found = constrained(first, nodes)
    return len(found) > 1 and not any(stage.removed for funnel in found.values() for stage in funnel.stages)


def _typed_values(funnel: Funnel) -> Safe:
    """``0 or 1 (int)``, ``"0" or "1" (string)``."""
    found = _values_of(funnel)
    kinds = dict.fromkeys(each.type for each in found)
    of_kinds = [fmt("{} ({})", _some([typed(each) for each in found if each.type == kind]), kind) for kind in kinds]
    return listed(of_kinds, "or")


def _some_values(funnel: Funnel) -> Safe:
    return _some([safe(each.value) for each in _values_of(funnel)])


def _some(values: Sequence[Safe]) -> Safe:
    """``a, b, c or 2 others``."""
    if len(values) <= _NAMES:
        return listed(values, "or")
    return fmt("{} or {}", Safe(", ").join(values[:_NAMES]), counted(len(values) - _NAMES, "other"))


def _values_of(funnel: Funnel) -> list[ValueCount]:
    return [each for each in funnel.values if each.published]


def constrained(cause: Cause, nodes: Sequence[NodeGroupRecord]) -> dict[str, Funnel]:
    """The requests under the constraint of a cause, with their funnels on the closest node."""
    for group in nodes:
        found = {
            request.request: request.funnel
            for request in group.requests
            if request.claim == cause.claim and request.funnel is not None and request.funnel.constraint
        }
        if found:
            return found
    return {}


def compete(cause: Cause, nodes: Sequence[NodeGroupRecord], asks: Asks) -> Safe:
    """Requests that need the same devices of the closest node."""
    if cause.request:
        return _excluded(cause, nodes)
    asked = [r for group in nodes[:1] for r in group.requests]
    alike = len({r.request for r in asked}) < len(asked)
    # With a slash they would be alternatives of one request.
    twice = {each.request for each in asked if each.claim.name != CLAIM_NAME} if alike else ()
    requests = [f"{r.request} (claim {asks.entry(r.claim)})" if r.request in twice else r.request for r in asked]
    if len(requests) < 2:
        return reason_sentence(cause)
    where, found = nodes[0].names[0], [r.funnel for r in nodes[0].requests if r.funnel is not None]
    left = {frozenset(funnel.left) for funnel in found}
    alternatives = any("/" in each.request for each in asked)
    if alternatives or len(found) < len(requests) or len(left) > 1 or any(funnel.all_devices for funnel in found):
        text = "{} can each be served alone, but not together: on {} they need the same devices"
        return fmt(text, listed(requests), where)
    has, needed = len(left.pop()), sum(funnel.needed for funnel in found)
    for each in asks.extended:
        if each.init_container and set(requests) == set(each.requests) and needed > has:
            others = listed([fmt("container {}", c) for c in each.requests.values() if c != each.init_container])
            text = "init container {} needs {} {} (with those of {}), and no node has {}: {} has {}"
            words = each.init_container, each.init_count, each.resource, others, needed, where
            return fmt(text, *words, counted(has, "device"))
    if needed <= has or any(asks.of(r.claim, r.request).capacity for r in nodes[0].requests):
        # Enough devices by number: their counters, or the capacity of a shared one, are what does not suffice.
        text = (
            "{} can each be served alone, but not together: on {} their devices draw on the same hardware, and not "
            "enough of it is left for all of them"
        )
        return fmt(text, listed(requests), where)
    text = "{} need {} devices together, and no node has as many: {} has {} for all of them"
    return fmt(text, listed(requests), needed, where, counted(has, "device")) + _twice(nodes[0])


def _twice(group: NodeGroupRecord) -> Safe:
    """Where a claim and an extended resource are for the same devices, one of them may be left from before."""
    named = [each.request for each in group.requests if each.claim.name == CLAIM_NAME]
    if not named or len(named) == len(group.requests):
        return Safe("")
    return fmt(". If one device was meant, drop {}, which is requested beside the claim", listed(named))


def _excluded(cause: Cause, nodes: Sequence[NodeGroupRecord]) -> Safe:
    """A request, and one for all devices of the same claim that leaves it none, on a node where that is so."""
    group = next((group for group in nodes if set(group.names) & set(cause.nodes)), None)
    requests = [
        request.request
        for request in (group.requests if group is not None else ())
        if request.claim == cause.claim
        and (request.request == cause.request or (request.funnel is not None and request.funnel.all_devices))
    ]
    if group is None or len(requests) < 2:
        return reason_sentence(cause)
    text = "{} cannot be served together: on {} they need the same devices, and a claim gets each device only once"
    return fmt(text, listed(requests), group.names[0])
