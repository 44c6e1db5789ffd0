"""Sentences about requests each of which could be served alone, and not together with the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, Funnel, NoSingleNode, RequestNodes, UnpublishedInConstraint
from kubectl_dra.output.pending.amounts import amount_phrase
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.shortage import taken_note
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.pending.pending import NodeGroupRecord

_NAMES: Final = 3


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
    values = [_values_under(request, funnel, cause) for request, funnel in found.items()]
    return fmt("{}. On {}, {}", text, first.node, Safe(" and ").join(values))


def _values_under(request: str, funnel: Funnel, cause: Cause) -> Safe:
    """``the free gpu devices have pci0000:15 (2 more are in use: nb)``."""
    taken = taken_note(funnel, cause.claim.namespace if cause.claim is not None else "")
    which = fmt("the {}{} devices", Safe("free ") if taken else Safe(""), request)
    have = fmt("have {}", _some_values(funnel)) if _values_of(funnel) else Safe("do not publish it")
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


def _some_values(funnel: Funnel) -> Safe:
    """``a, b, c or 2 others``."""
    values = _values_of(funnel)
    if len(values) <= _NAMES:
        return listed(values, "or")
    return fmt("{} or {}", Safe(", ").join(map(safe, values[:_NAMES])), counted(len(values) - _NAMES, "other"))


def _values_of(funnel: Funnel) -> list[str]:
    return [each.value for each in funnel.values if each.published]


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


def compete(cause: Cause, nodes: Sequence[NodeGroupRecord]) -> Safe:
    """Requests that need the same devices of the closest node."""
    if cause.request:
        return _excluded(cause, nodes)
    requests = [r.request for group in nodes[:1] for r in group.requests]
    if len(requests) < 2:
        return reason_sentence(cause)
    where = nodes[0].names[0]
    return fmt(
        "{} can each be served alone, but not together: on {} they need the same devices", listed(requests), where
    )


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
